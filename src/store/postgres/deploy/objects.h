/* The objects that make up a store, and which of them a schema has. */
#ifndef BOXCAR_STORE_POSTGRES_DEPLOY_OBJECTS_H
#define BOXCAR_STORE_POSTGRES_DEPLOY_OBJECTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "embedded.h"
#include "store/postgres/state.h"

/* objects.c: what a deployed store has. Tables, sequences, types, indexes, triggers and some views are read
 * from the migrations, other views and functions from the names of their files, so that there is no second
 * list to keep. */
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
    boxcar_str text;    /* what makes it, or a constraint's definition; empty: it has a file of its own */
    const char *source; /* that file's text; NULL = none */
    const char *table;  /* of a constraint */
};

struct pg_object_list {
    struct pg_object *items;
    size_t count;
};

/* The view or function that a file of the library makes: it has the file's name, whatever folder that is in.
 */
boxcar_str pg_object_of_file(const struct sql_file *file);
bool pg_is_function_file(const struct sql_file *file);
boxcar_status pg_objects_read(struct arena *arena, struct pg_object_list *ret_list, boxcar_error *err);
/* Rows (kind, name) for a FROM clause: ('r', 'message'), ... with the letters of pg_class.relkind, and 't'
 * for a type, 'c' for a constraint, 'g' for a trigger and 'f' for a function. */
void pg_objects_as_values(struct buf *text, const struct pg_object_list *list);

/* "table", "view" ... */
const char *pg_object_kind_name(enum pg_object_kind kind);
/* Its kind and its name, for "%s %.*s". */
#define PG_OBJECT_NAME(object)                                                                               \
    pg_object_kind_name((object)->kind), (int)(object)->name.len, (object)->name.data

/* constraints.c: the constraints of our tables; the last one has no table. Not read from the migrations,
 * which give most of them no name and change some. A test compares them with a deployed schema. */
struct pg_constraint {
    const char *table;
    const char *name;
    const char *definition;
};
extern const struct pg_constraint PG_CONSTRAINTS[];

/* compare.c: which objects of a store are there, or are not, in the order in which they are read. Looking
 * executes nothing of the schema's, and needs no rights on it. */
boxcar_status pg_objects_find(struct pg_store *pg, bool there, struct arena *arena,
                              struct pg_object_list *ret_found, boxcar_error *err);
/* Functions that are there, but not as this library makes them: body, volatility, whose rights, search_path.
 */
boxcar_status pg_objects_find_changed(struct pg_store *pg, struct arena *arena,
                                      struct pg_object_list *ret_changed, boxcar_error *err);
/* Objects that init does not make again: an empty one in their place would hide that their contents are
 * gone. */
static inline bool pg_object_is_irreplaceable(const struct pg_object *object) {
    return object->kind <= PG_OBJECT_TYPE;
}

#endif
