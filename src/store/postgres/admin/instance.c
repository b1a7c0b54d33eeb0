/* Instances of workers: that they live, and whether work is left for them. */
#include "admin.h"

#include "base/error.h"
#include "core/names.h"
#include "store/postgres/connection/query.h"

void pg_params_for_instance(struct pg_params *params, const struct instance *instance) {
    struct pg_value host = P_TEXT(instance->host.data ? instance->host : BOXCAR_STR(""));

    pg_params_add(params, P_ID(instance->owner));
    if (!instance->no_box)
        pg_params_add(params, P_INT2(instance->box));
    pg_params_add(params, host, P_INT8(instance->pid), P_INT4(instance->concurrency));
    if (instance->no_box)
        return;
    if (instance->topics)
        pg_params_patterns(params, instance->topics, instance->topic_count);
    else
        pg_params_add(params, P_NULL(PG_TEXT_ARRAY), P_NULL(PG_TEXT_ARRAY));
}

static void read_instance(const PGresult *r, int row, void *item) {
    boxcar_instance *instance = item;

    pg_get_uuid(r, row, 0, instance->owner.uuid.bytes);
    instance->host = pg_get_text(r, row, 1);
    instance->pid = pg_get_int8(r, row, 2);
    instance->concurrency = pg_get_int4(r, row, 3);
    instance->started_at = pg_get_time(r, row, 4);
    instance->seen_at = pg_get_time(r, row, 5);
    instance->rank = pg_get_int4(r, row, 6);
    instance->first_partition = pg_get_int4(r, row, 7);
    instance->partition_count = pg_get_int4(r, row, 8);
    instance->leased = pg_get_int8(r, row, 9);
    instance->oldest_lease_at = pg_get_time(r, row, 10);
    instance->box = pg_get_int4(r, row, 12);
}

boxcar_status pg_instances(struct boxcar_store *store, struct instance_rows **ret_list, boxcar_error *err) {
    return pg_ask_list(pg_store_of(store), PG_INSTANCES, read_instance, ret_list, err);
}

boxcar_status pg_is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                            size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms, bool *ret_drained,
                            boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    pg_params_add(&params, P_INT2(box));
    pg_params_topics(&params, topics, topic_count);
    pg_params_add(&params, P_MS(horizon_ms), P_TEXT(wait_topic));
    TRY(pg_query(pg_store_of(store), PG_IS_DRAINED, &params, &result, err));
    *ret_drained = pg_get_bool(result, 0, 0);
    return BOXCAR_OK;
}
