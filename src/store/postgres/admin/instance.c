/* Instances of workers: that they live, and whether work is left for them. */
#include "instance.h"

#include <string.h>

#include "core/names.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/statement/choice.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"

void pg_params_for_instance(struct pg_params *params, const struct instance *instance) {
    pg_params_uuid(params, instance->owner.uuid.bytes);
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

static void read_instance(const PGresult *r, int row, void *item) {
    boxcar_instance *instance = item;

    memset(instance, 0, sizeof(*instance));
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
    box_parse(pg_get_text(r, row, 11), &instance->box);
}

boxcar_status pg_instances(struct boxcar_store *store, struct instance_rows **ret_list, boxcar_error *err) {
    struct pg_params none = PG_PARAMS_INIT;
    PGresult *result = NULL;
    boxcar_status status = pg_query(pg_store_of(store), PG_INSTANCES, &none, &result, err);

    return status == BOXCAR_OK ? PG_INTO_LIST(result, read_instance, ret_list, err) : status;
}

boxcar_status pg_is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                            size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms, bool *ret_drained,
                            boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    boxcar_status status;

    pg_params_int2(&params, box);
    pg_params_topics(&params, topics, topic_count);
    pg_params_interval_ms(&params, horizon_ms);
    pg_params_text(&params, wait_topic);
    status = pg_query(pg_store_of(store), PG_IS_DRAINED, &params, &result, err);
    if (status == BOXCAR_OK)
        *ret_drained = pg_get_bool(result, 0, 0);
    return status;
}
