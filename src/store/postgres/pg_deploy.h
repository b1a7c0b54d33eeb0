/* What the files of deployment share: statements of init's own, the objects that make up a store, and whom to trust. */
#ifndef BOXCAR_STORE_POSTGRES_PG_DEPLOY_H
#define BOXCAR_STORE_POSTGRES_PG_DEPLOY_H

#include "base/arena.h"
#include "base/buf.h"
#include "embedded.h"
#include "pg_store.h"

/* pg_deploy.c: one text, tokens filled in. */
boxcar_status pg_deploy_run(struct pg_store *pg, const char *text, boxcar_error *err);
/* One text value of a query, or the absent text; *ret_text is malloc'ed. */
boxcar_status pg_deploy_ask(struct pg_store *pg, const char *text, char **ret_text, boxcar_error *err);

/* pg_deploy_turn.c: one deployment at a time. Every lock that the transaction waits for, it waits for so long only. */
int64_t pg_deploy_patience_ms(const struct pg_store *pg);
boxcar_status pg_deploy_bound_waits(struct pg_store *pg, boxcar_error *err);
/* Waits for other deployments, until the transaction ends. Not *ret_taken: there is no store yet, so nothing to lock. Then
 * a deployment may collide with another one, and is to be begun anew. In a schema that is trusted. */
boxcar_status pg_deploy_take_turn(struct pg_store *pg, bool *ret_taken, boxcar_error *err);
bool pg_deploy_has_collided(const boxcar_error *why);
/* After the rollback of a deployment that waited for a lock in vain: says who is in the way. Returns the status. */
boxcar_status pg_deploy_name_blockers(struct pg_store *pg, boxcar_status status, boxcar_error *err);

/* pg_deploy_lock.c: takes all tables and views that are there for this transaction alone, as soon as nobody uses them. */
boxcar_status pg_deploy_lock(struct pg_store *pg, boxcar_error *err);

/* pg_objects.c: what a deployed store has. Tables, sequences, types, indexes, triggers and some views are read from the
 * migrations, other views and functions from the names of their files, so that there is no second list to keep. */
enum pg_object_kind {
    PG_OBJECT_TABLE,
    PG_OBJECT_SEQUENCE,
    PG_OBJECT_TYPE,
    PG_OBJECT_INDEX,
    PG_OBJECT_CONSTRAINT,
    PG_OBJECT_TRIGGER,
    PG_OBJECT_VIEW,
    PG_OBJECT_FUNCTION
};

struct pg_object {
    enum pg_object_kind kind;
    boxcar_str name;    /* lent by the embedded texts: letters, digits and underscores */
    boxcar_str text;    /* the statement that makes it, or a constraint's definition; empty: it has a file of its own */
    const char *source; /* that file's text; NULL = none */
    const char *table;  /* of a constraint */
};

struct pg_object_list {
    struct pg_object *items;
    size_t count;
};

/* The view or function that a file of the library makes: it has the file's name, whatever folder that is in. */
boxcar_str pg_object_of_file(const struct sql_file *file);
bool pg_is_function_file(const struct sql_file *file);
boxcar_status pg_objects_read(struct arena *arena, struct pg_object_list *ret_list, boxcar_error *err);
/* Rows (kind, name) for a FROM clause: ('r', 'message'), ... with the letters of pg_class.relkind, and 't' for a type,
 * 'c' for a constraint, 'g' for a trigger and 'f' for a function. */
void pg_objects_as_values(struct buf *text, const struct pg_object_list *list);

/* pg_constraints.c: the constraints of our tables; the last one has no table. Not read from the migrations, which give
 * most of them no name and change some. A test compares them with a deployed schema. */
struct pg_constraint {
    const char *table;
    const char *name;
    const char *definition;
};
extern const struct pg_constraint PG_CONSTRAINTS[];

/* pg_compare.c: which objects are there, or are not, in the order of the list. Looking executes nothing of the
 * schema's, and needs no rights on it. */
boxcar_status pg_objects_find(struct pg_store *pg, const struct pg_object_list *list, bool there, struct arena *arena,
                              struct pg_object_list *ret_found, boxcar_error *err);
/* Functions that are there, but not as this library makes them: body, volatility, whose rights, search_path. */
boxcar_status pg_objects_find_changed(struct pg_store *pg, const struct pg_object_list *list, struct arena *arena,
                                      struct pg_object_list *ret_changed, boxcar_error *err);
/* "table", "view" ... */
const char *pg_object_kind_name(enum pg_object_kind kind);
/* What init does not make again: an empty one in its place would hide that its contents are gone. */
static inline bool pg_object_is_irreplaceable(const struct pg_object *object) { return object->kind <= PG_OBJECT_TYPE; }

/* pg_repair.c: refuses a store that has lost a table; makes indexes, constraints and such again that are missing.
 * *functions: views and functions were made by this very library; false afterwards: some are missing or were changed,
 * make all of them again. Adds what it made, and what is to be made, to *mended. */
boxcar_status pg_repair(struct pg_store *pg, bool *functions, int *mended, boxcar_error *err);
/* What needs functions, and comes after them: triggers. */
boxcar_status pg_repair_triggers(struct pg_store *pg, int *mended, boxcar_error *err);
/* Refuses a schema that has objects of ours but does not know their version. */
boxcar_status pg_check_empty(struct pg_store *pg, boxcar_error *err);
/* When a store could not be asked for its version since something does not exist: names what is missing, if anything of
 * the store is there. Returns the status, which may be another one then. */
boxcar_status pg_explain_absence(struct pg_store *pg, boxcar_status status, boxcar_error *err);

/* pg_trust.c: refuses a schema in which somebody else's code could run, before anything in it is read. Then the rest of
 * the transaction runs with the rights of the schema's owner. */
boxcar_status pg_trust_schema(struct pg_store *pg, boxcar_error *err);

#endif
