/* Repairs parts of a deployed store that were dropped or changed. Views, functions, indexes, constraints and
 * triggers are made again. A table is not: an empty one in its place would hide that its rows are gone. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "objects.h"
#include "steps.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/error.h"

static boxcar_status error_lost(struct pg_store *pg, const struct pg_object *object, boxcar_error *err) {
    return error_set(
        err, BOXCAR_E_STORE,
        "schema \"%s\" has lost the %s %.*s: restore it from a backup, or drop the schema and deploy it anew",
        pg->schema, PG_OBJECT_NAME(object));
}

static void report(struct pg_store *pg, const struct pg_object *object, const char *was) {
    store_log(&pg->base, BOXCAR_LOG_WARN, "deploy", NULL, 0, "the %s %.*s %s and is made again",
              PG_OBJECT_NAME(object), was);
}

/* Rows that came while it was missing can be in the way of a key. */
static boxcar_status error_in_the_way(const struct pg_object *object, const boxcar_error *why,
                                      boxcar_error *err) {
    return error_set(
        err, why->status,
        "the %s %.*s is missing and cannot be made again: %s: remove what is in its way, then run `boxcar "
        "init` again",
        PG_OBJECT_NAME(object), why->message);
}

static boxcar_status make(struct pg_store *pg, const struct pg_object *object, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;
    boxcar_error why = BOXCAR_ERROR_INIT;

    if (object->kind == PG_OBJECT_CONSTRAINT)
        buf_append_format(&text, "alter table :\"schema\".%s add constraint %.*s ", object->table,
                          (int)object->name.len, object->name.data);
    buf_append_str(&text, object->text);
    boxcar_status status = pg_deploy_run_buf(pg, &text, &why);
    if (status == BOXCAR_E_STORE)
        return error_in_the_way(object, &why, err);
    if (status == BOXCAR_OK)
        report(pg, object, "was missing");
    return pg_error_pass(status, &why, err);
}

boxcar_status pg_check_empty(struct pg_store *pg, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct pg_object_list there;

    TRY(pg_objects_find(pg, true, &arena, &there, err));
    if (there.count == 0)
        return BOXCAR_OK;
    return error_set(
        err, BOXCAR_E_STORE,
        "schema \"%s\" has the %s %.*s, but the table store is missing or empty: restore that from a "
        "backup, or use another schema if this is no store",
        pg->schema, PG_OBJECT_NAME(&there.items[0]));
}

boxcar_status pg_explain_absence(struct pg_store *pg, boxcar_status status, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct pg_object_list there, missing;

    if (!err || pg_is_joined(pg) || !pg_error_is(err, "42P01 42883"))
        return status;
    if (pg_objects_find(pg, true, &arena, &there, NULL) != BOXCAR_OK ||
        pg_objects_find(pg, false, &arena, &missing, NULL) != BOXCAR_OK || there.count == 0 ||
        missing.count == 0)
        return status;
    if (pg_object_is_irreplaceable(&missing.items[0]))
        return error_lost(pg, &missing.items[0], err);
    return error_set(err, BOXCAR_E_NOT_DEPLOYED,
                     "schema \"%s\" lacks the %s %.*s: run `boxcar init` as its owner", pg->schema,
                     PG_OBJECT_NAME(&missing.items[0]));
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

    for (size_t i = 0; i < missing->count; i++) {
        const struct pg_object *object = &missing->items[i];
        bool has_file = object->source != NULL;

        if (object->kind == PG_OBJECT_TRIGGER || (has_file && !were_made))
            continue;
        if (has_file)
            report(pg, object, "was missing");
        else
            TRY(make(pg, object, err));
        *functions &= !has_file;
        *mended += 1;
    }
    return BOXCAR_OK;
}

boxcar_status pg_repair(struct pg_store *pg, bool *functions, int *mended, boxcar_error *err) {
    bool were_made = *functions;
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct pg_object_list missing, changed = {.count = 0};

    TRY(pg_objects_find(pg, false, &arena, &missing, err));
    TRY(check_lost(pg, &missing, err));
    TRY(make_missing(pg, &missing, functions, mended, err));
    if (were_made)
        TRY(pg_objects_find_changed(pg, &arena, &changed, err));
    for (size_t i = 0; i < changed.count; i++) {
        report(pg, &changed.items[i], "was changed");
        *functions = false;
        *mended += 1;
    }
    return BOXCAR_OK;
}

boxcar_status pg_repair_triggers(struct pg_store *pg, int *mended, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct pg_object_list missing;

    TRY(pg_objects_find(pg, false, &arena, &missing, err));
    for (size_t i = 0; i < missing.count; i++)
        if (missing.items[i].kind == PG_OBJECT_TRIGGER) {
            TRY(make(pg, &missing.items[i], err));
            *mended += 1;
        }
    return BOXCAR_OK;
}
