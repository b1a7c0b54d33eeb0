/* Repairs parts of a deployed store that were dropped or changed. Views, functions, indexes, constraints and
 * triggers are made again. A table is not: an empty one in its place would hide that its rows are gone. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "objects.h"
#include "steps.h"
#include "store/postgres/connection/connection.h"

static boxcar_status error_lost(struct pg_store *pg, const struct pg_object *object, boxcar_error *err) {
    return error_set(
        err, BOXCAR_E_STORE,
        "schema \"%s\" has lost the %s %.*s: restore it from a backup, or drop the schema and deploy it anew",
        pg->schema, pg_object_kind_name(object->kind), (int)object->name.len, object->name.data);
}

static void report(struct pg_store *pg, const struct pg_object *object, const char *was) {
    store_log(&pg->base, BOXCAR_LOG_WARN, "deploy", NULL, 0, "the %s %.*s %s and is made again",
              pg_object_kind_name(object->kind), (int)object->name.len, object->name.data, was);
}

static void append_statement(struct buf *text, const struct pg_object *object) {
    if (object->kind == PG_OBJECT_CONSTRAINT)
        buf_append_format(text, "alter table :\"schema\".%s add constraint %.*s ", object->table,
                          (int)object->name.len, object->name.data);
    buf_append_str(text, object->text);
}

/* Rows that came while it was missing can be in the way of a key. */
static boxcar_status error_in_the_way(const struct pg_object *object, const boxcar_error *why,
                                      boxcar_error *err) {
    return error_set(
        err, why->status,
        "the %s %.*s is missing and cannot be made again: %s: remove what is in its way, then run `boxcar "
        "init` again",
        pg_object_kind_name(object->kind), (int)object->name.len, object->name.data, why->message);
}

static boxcar_status make(struct pg_store *pg, const struct pg_object *object, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status;

    append_statement(&text, object);
    if (text.failed)
        return error_no_memory(err);
    status = pg_deploy_run(pg, text.data, &why);
    if (status == BOXCAR_E_STORE)
        return error_in_the_way(object, &why, err);
    if (status != BOXCAR_OK && err)
        *err = why;
    if (status == BOXCAR_OK)
        report(pg, object, "was missing");
    return status;
}

boxcar_status pg_check_empty(struct pg_store *pg, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct pg_object_list list, there;
    boxcar_status status = pg_objects_read(&arena, &list, err);

    if (status == BOXCAR_OK)
        status = pg_objects_find(pg, &list, true, &arena, &there, err);
    if (status != BOXCAR_OK || there.count == 0)
        return status;
    return error_set(
        err, BOXCAR_E_STORE,
        "schema \"%s\" has the %s %.*s, but the table store is missing or empty: restore that from a "
        "backup, or use another schema if this is no store",
        pg->schema, pg_object_kind_name(there.items[0].kind), (int)there.items[0].name.len,
        there.items[0].name.data);
}

boxcar_status pg_explain_absence(struct pg_store *pg, boxcar_status status, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct pg_object_list list, there, missing;
    boxcar_error ignored = BOXCAR_ERROR_INIT;

    if (!err || pg_is_joined(pg) ||
        (strcmp(err->sqlstate, "42P01") != 0 && strcmp(err->sqlstate, "42883") != 0))
        return status;
    if (pg_objects_read(&arena, &list, &ignored) != BOXCAR_OK ||
        pg_objects_find(pg, &list, true, &arena, &there, &ignored) != BOXCAR_OK ||
        pg_objects_find(pg, &list, false, &arena, &missing, &ignored) != BOXCAR_OK || there.count == 0 ||
        missing.count == 0)
        return status;
    if (pg_object_is_irreplaceable(&missing.items[0]))
        return error_lost(pg, &missing.items[0], err);
    return error_set(err, BOXCAR_E_NOT_DEPLOYED,
                     "schema \"%s\" lacks the %s %.*s: run `boxcar init` as its owner", pg->schema,
                     pg_object_kind_name(missing.items[0].kind), (int)missing.items[0].name.len,
                     missing.items[0].name.data);
}

/* Before anything is made, so that nothing is reported which is rolled back then. */
static boxcar_status check_lost(struct pg_store *pg, const struct pg_object_list *missing,
                                boxcar_error *err) {
    for (size_t i = 0; i < missing->count; i++)
        if (pg_object_is_irreplaceable(&missing->items[i]))
            return error_lost(pg, &missing->items[i], err);
    return BOXCAR_OK;
}

/* Objects without a statement of their own come with the functions, triggers after those. */
static boxcar_status make_missing(struct pg_store *pg, const struct pg_object_list *missing, bool *functions,
                                  int *mended, boxcar_error *err) {
    bool were_made = *functions;
    boxcar_status status = BOXCAR_OK;

    for (size_t i = 0; i < missing->count && status == BOXCAR_OK; i++) {
        const struct pg_object *object = &missing->items[i];
        bool has_file = object->source != NULL;

        if (object->kind == PG_OBJECT_TRIGGER || (has_file && !were_made))
            continue;
        if (has_file)
            report(pg, object, "was missing");
        else
            status = make(pg, object, err);
        *functions &= !has_file;
        *mended += 1;
    }
    return status;
}

static boxcar_status look_for_changes(struct pg_store *pg, const struct pg_object_list *list,
                                      struct arena *arena, bool *functions, int *mended, boxcar_error *err) {
    struct pg_object_list changed;
    boxcar_status status = pg_objects_find_changed(pg, list, arena, &changed, err);

    for (size_t i = 0; status == BOXCAR_OK && i < changed.count; i++) {
        report(pg, &changed.items[i], "was changed");
        *functions = false;
        *mended += 1;
    }
    return status;
}

boxcar_status pg_repair(struct pg_store *pg, bool *functions, int *mended, boxcar_error *err) {
    bool were_made = *functions;
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct pg_object_list list, missing;
    boxcar_status status = pg_objects_read(&arena, &list, err);

    if (status == BOXCAR_OK)
        status = pg_objects_find(pg, &list, false, &arena, &missing, err);
    if (status == BOXCAR_OK)
        status = check_lost(pg, &missing, err);
    if (status == BOXCAR_OK)
        status = make_missing(pg, &missing, functions, mended, err);
    if (status == BOXCAR_OK && were_made)
        status = look_for_changes(pg, &list, &arena, functions, mended, err);
    return status;
}

boxcar_status pg_repair_triggers(struct pg_store *pg, int *mended, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct pg_object_list list, missing;
    boxcar_status status = pg_objects_read(&arena, &list, err);

    if (status == BOXCAR_OK)
        status = pg_objects_find(pg, &list, false, &arena, &missing, err);
    for (size_t i = 0; status == BOXCAR_OK && i < missing.count; i++) {
        if (missing.items[i].kind != PG_OBJECT_TRIGGER)
            continue;
        status = make(pg, &missing.items[i], err);
        *mended += 1;
    }
    return status;
}
