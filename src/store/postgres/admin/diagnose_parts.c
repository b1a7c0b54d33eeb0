/* The doctor compares the schema with what this program would deploy, by name. */
#include "base/error.h"
#include "diagnose.h"
#include "store/checkup.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/deploy/objects.h"

#define INIT "boxcar init, as the owner of the schema"

/* Without an index, a constraint or a trigger everything can be called. */
static bool is_needed_to_look(const struct pg_object *object) {
    return object->kind != PG_OBJECT_INDEX && object->kind != PG_OBJECT_CONSTRAINT &&
           object->kind != PG_OBJECT_TRIGGER;
}

static bool sort_missing(const struct pg_object_list *missing, struct schema_parts *parts) {
    bool whole = true;

    for (size_t i = 0; i < missing->count; i++) {
        const struct pg_object *object = &missing->items[i];

        parts_add(pg_object_is_irreplaceable(object) ? &parts->lost : &parts->missing,
                  pg_object_kind_name(object->kind), object->name);
        whole &= !is_needed_to_look(object);
    }
    return whole;
}

boxcar_status pg_check_missing(struct pg_store *pg, struct findings *findings, bool *ret_whole,
                               boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_SCHEMA_PARTS struct schema_parts parts = SCHEMA_PARTS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    struct pg_object_list missing;

    TRY(pg_ask(pg, PG_STORE_INFO, &result, err));
    if (pg_get_int4(result, 0, 0) != STORE_SCHEMA_VERSION) /* a newer store may have other parts */
        return BOXCAR_OK;
    TRY(pg_objects_find(pg, false, &arena, &missing, err));
    *ret_whole = sort_missing(&missing, &parts);
    return checkup_parts(findings, &parts, INIT, err);
}

boxcar_status pg_check_changed(struct pg_store *pg, struct findings *findings, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_SCHEMA_PARTS struct schema_parts parts = SCHEMA_PARTS_INIT;
    struct pg_object_list changed;

    TRY(pg_objects_find_changed(pg, &arena, &changed, err));
    for (size_t i = 0; i < changed.count; i++)
        parts_add(&parts.changed, pg_object_kind_name(changed.items[i].kind), changed.items[i].name);
    return checkup_parts(findings, &parts, INIT, err);
}
