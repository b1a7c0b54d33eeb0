/* Settings: numbers and texts that differ from their defaults, one row each. */
#include "setting.h"

#include "base/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"

boxcar_status pg_settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                               boxcar_error *err) {
    AUTO_PARAMS struct pg_params none = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    struct setting_value_list list = {.arena = ARENA_INIT};
    boxcar_status status = pg_query(pg_store_of(store), PG_SETTINGS, &none, &result, err);

    if (status != BOXCAR_OK)
        return status;
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
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    pg_params_text(&params, value->name);
    if (value->is_default)
        pg_params_null(&params, PG_FLOAT8);
    else
        pg_params_float8(&params, value->number);
    pg_params_text(&params, value->is_default ? BOXCAR_NO_STR : value->text);
    return pg_query(pg_store_of(store), PG_SET, &params, &result, err);
}
