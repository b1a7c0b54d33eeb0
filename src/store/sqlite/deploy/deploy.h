/* Creating the tables and bringing them up to date; comparing the parts of a schema with those of a new
 * store: for deployment and for the doctor. */
#ifndef BOXCAR_STORE_SQLITE_DEPLOY_DEPLOY_H
#define BOXCAR_STORE_SQLITE_DEPLOY_DEPLOY_H

#include "store/finding.h"
#include "store/sqlite/state.h"

boxcar_status sqlite_deploy(struct boxcar_store *store, boxcar_deployment *ret_deployment, boxcar_error *err);
boxcar_status sqlite_check_deployed(struct sqlite_store *store, boxcar_error *err);

/* Missing and changed ones can be made again. A table cannot: an empty one in its place would hide that its
 * rows are gone. Nor can what belongs to a table, without writing the table anew. */
enum part_state { PART_MISSING, PART_CHANGED, PART_LOST };

struct sqlite_part {
    enum part_state state;
    const char *type; /* as sqlite_schema has it */
    const char *name;
    const char *text;    /* the statement that makes it */
    const char *feature; /* what a table has lost, "primary key (box, topic)"; NULL = itself */
};

typedef boxcar_status sqlite_part_fn(struct sqlite_store *store, const struct sqlite_part *part,
                                     void *context, boxcar_error *err);

/* A new store in memory. It is to be closed also if that fails. */
boxcar_status sqlite_model_open(struct sqlite_store *store, sqlite3 **ret_model, boxcar_error *err);
void sqlite_model_close(sqlite3 **model);
#define AUTO_MODEL CLEANUP(sqlite_model_close)

/* Reports every part of the model that the store lacks or has otherwise; ends with the first that is no
 * BOXCAR_OK. In a transaction of the caller's. */
boxcar_status sqlite_compare(struct sqlite_store *store, sqlite3 *model, sqlite_part_fn *report,
                             void *context, boxcar_error *err);

/* repair.c: makes indexes, views and triggers again that are missing or were changed; refuses a file that has
 * lost a table. */
boxcar_status sqlite_repair(struct sqlite_store *store, int *ret_mended, boxcar_error *err);
/* Refuses a file that has tables of ours but does not know their version. */
boxcar_status sqlite_check_empty(struct sqlite_store *store, boxcar_error *err);

/* parts.c: names the parts that are missing, changed or lost. *ret_whole: none that looking needs. */
boxcar_status sqlite_check_parts(struct sqlite_store *store, sqlite3 *model, struct findings *findings,
                                 bool *ret_whole, boxcar_error *err);

#endif
