/* What the files of deployment share: statements of init's own, the objects that make up a store, and whom to trust. */
#ifndef BOXCAR_STORE_POSTGRES_PG_DEPLOY_H
#define BOXCAR_STORE_POSTGRES_PG_DEPLOY_H

#include "base/arena.h"
#include "base/buf.h"
#include "pg_store.h"

/* pg_deploy.c: one text, tokens filled in. */
boxcar_status pg_deploy_run(struct pg_store *pg, const char *text, boxcar_error *err);
/* One text value of a query, or the absent text; *ret_text is malloc'ed. */
boxcar_status pg_deploy_ask(struct pg_store *pg, const char *text, char **ret_text, boxcar_error *err);

/* pg_objects.c: what a deployed store has. Tables, sequences, types and indexes are read from the migrations, views
 * and functions from the names of their files, so that there is no second list to keep. */
enum pg_object_kind { PG_OBJECT_TABLE, PG_OBJECT_SEQUENCE, PG_OBJECT_TYPE, PG_OBJECT_INDEX, PG_OBJECT_VIEW, PG_OBJECT_FUNCTION };

struct pg_object {
    enum pg_object_kind kind;
    boxcar_str name; /* lent by the embedded texts: letters, digits and underscores */
    boxcar_str text; /* of an index: the statement that makes it */
};

struct pg_object_list {
    struct pg_object *items;
    size_t count;
};

boxcar_status pg_objects_read(struct arena *arena, struct pg_object_list *ret_list, boxcar_error *err);
/* Rows (kind, name) for a FROM clause: ('r', 'message'), ... with the letters of pg_class.relkind, and 't' for a type
 * and 'f' for a function. */
void pg_objects_as_values(struct buf *text, const struct pg_object_list *list);

/* pg_repair.c: makes indexes again that are missing, and refuses a store that has lost a table. *functions: views and
 * functions were made by this very library; false afterwards: some are missing, make them again. */
boxcar_status pg_repair(struct pg_store *pg, bool *functions, boxcar_error *err);
/* Refuses a schema without the table that knows the version but with others of ours. */
boxcar_status pg_check_empty(struct pg_store *pg, boxcar_error *err);

/* pg_trust.c: refuses a schema in which somebody else's code could run, before anything in it is read. Then the rest of
 * the transaction runs with the rights of the schema's owner. */
boxcar_status pg_trust_schema(struct pg_store *pg, boxcar_error *err);

#endif
