/* Settings: numbers and texts that differ from their defaults, one row each. */
#include "admin.h"

#include "base/error.h"
#include "store/postgres/connection/query.h"

boxcar_status pg_settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                               boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    struct setting_value_list list = {.arena = ARENA_INIT};

    TRY(pg_ask(pg_store_of(store), PG_SETTINGS, &result, err));
    list.items = arena_alloc_array(&list.arena, (size_t)PQntuples(result), sizeof(*list.items));
    if (!list.items)
        return error_no_memory(err);
    for (int i = 0; i < PQntuples(result); i++) {
        struct setting_value *value = &list.items[list.count++];

        value->number = pg_get_float8(result, i, 1);
        if (!arena_copy_str(&list.arena, pg_get_text(result, i, 0), &value->name) ||
            !arena_copy_str(&list.arena, pg_get_text(result, i, 2), &value->text)) {
            arena_release(&list.arena);
            return error_no_memory(err);
        }
    }
    *ret_list = list;
    return BOXCAR_OK;
}

boxcar_status pg_setting_write(struct boxcar_store *store, const struct setting_value *value,
                               boxcar_error *err) {
    return pg_do(pg_store_of(store), PG_SET, err, P_TEXT(value->name),
                 value->is_default ? P_NULL(PG_FLOAT8) : P_FLOAT8(value->number),
                 P_TEXT(value->is_default ? BOXCAR_NO_STR : value->text));
}
