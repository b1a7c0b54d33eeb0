#include "pg_choice.h"
#include "pg_store.h"

void pg_params_for_instance(struct pg_params *params, const struct instance *instance) {
    pg_params_uuid(params, instance->owner.bytes);
    if (!instance->no_box)
        pg_params_int2(params, instance->box);
    pg_params_text(params, instance->host.data ? instance->host : BOXCAR_STR(""));
    pg_params_int8(params, instance->pid);
    pg_params_int4(params, instance->concurrency);
    if (instance->no_box)
        return;
    if (instance->topics != NULL) {
        pg_params_patterns(params, instance->topics, instance->topic_count);
    } else {
        pg_params_null(params, PG_TEXT_ARRAY);
        pg_params_null(params, PG_TEXT_ARRAY);
    }
}

boxcar_status pg_heartbeat(struct boxcar_store *store, const struct instance *instance, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    pg_params_for_instance(&params, instance);
    return pg_query(pg_store_of(store), PG_HEARTBEAT, &params, &result, err);
}

boxcar_status pg_farewell(struct boxcar_store *store, boxcar_owner owner, boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    pg_params_uuid(&params, owner.bytes);
    pg->rest.until_ms = 0;
    return pg_query(pg, PG_FAREWELL, &params, &result, err);
}
