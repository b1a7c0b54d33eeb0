#include "base/error.h"
#include "pg_choice.h"
#include "pg_store.h"

boxcar_status pg_find(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                      struct boxcar_message_list **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    pg_params_int2(&params, box);
    pg_params_ref(&params, ref);
    status = pg_query(pg_store_of(store), PG_FIND, &params, &result, err);
    if (status != BOXCAR_OK)
        return status;
    if (PQntuples(result) == 0) {
        PQclear(result);
        return error_set(err, BOXCAR_E_NOT_FOUND, "no such message in the %s", boxcar_box_name(box));
    }
    return pg_items_into_list(result, ret_list, err);
}

/* _page knows two more words than there are statuses. */
static boxcar_str status_word(const boxcar_list_options *options) {
    if (!options->by_status)
        return BOXCAR_NO_STR;
    if (options->readiness == BOXCAR_CLAIMABLE)
        return BOXCAR_STR("claimable");
    if (options->readiness == BOXCAR_WAITING)
        return BOXCAR_STR("waiting");
    return boxcar_str_of(boxcar_message_status_name(options->status));
}

boxcar_status pg_page(struct boxcar_store *store, const boxcar_list_options *options,
                      struct boxcar_message_list **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    pg_params_int2(&params, options->box);
    pg_params_text(&params, status_word(options));
    pg_params_topic(&params, options->topic);
    pg_params_after(&params, options->after);
    pg_params_int4(&params, options->limit);
    status = pg_query(pg_store_of(store), PG_PAGE, &params, &result, err);
    return status == BOXCAR_OK ? pg_items_into_list(result, ret_list, err) : status;
}

static void read_attempt(const PGresult *r, int row, void *item) {
    boxcar_attempt *attempt = item;

    attempt->at = pg_get_time(r, row, 0);
    attempt->retry_count = pg_get_int4(r, row, 1);
    attempt->outcome = pg_get_text(r, row, 2);
    pg_get_uuid(r, row, 3, attempt->owner.bytes);
    attempt->epoch.value = pg_get_int8(r, row, 4);
    attempt->error = pg_get_text(r, row, 5);
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

boxcar_status pg_attempts(struct boxcar_store *store, boxcar_work_id work_id,
                          struct boxcar_attempt_list **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    pg_params_int8(&params, work_id.value);
    status = pg_query(pg_store_of(store), PG_ATTEMPTS, &params, &result, err);
    return status == BOXCAR_OK ? PG_INTO_LIST(result, read_attempt, ret_list, err) : status;
}

static void read_stats(const PGresult *r, int row, void *item) {
    boxcar_stats *stats = item;

    stats->topic = pg_get_text(r, row, 0);
    stats->ready = pg_get_int8(r, row, 1);
    stats->waiting = pg_get_int8(r, row, 2);
    stats->in_progress = pg_get_int8(r, row, 3);
    stats->done = pg_get_int8(r, row, 4);
    stats->failed = pg_get_int8(r, row, 5);
    stats->oldest_ready_age_seconds = pg_get_float8(r, row, 6);
    stats->exact = pg_get_bool(r, row, 7);
    stats->estimated = (unsigned)pg_get_int4(r, row, 8);
}

boxcar_status pg_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                       struct boxcar_stats_list **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    pg_params_int2(&params, box);
    pg_params_bool(&params, by_topic);
    status = pg_query(pg_store_of(store), PG_STATS, &params, &result, err);
    if (status == BOXCAR_OK && PQntuples(result) == 0) {
        PQclear(result);
        return pg_malformed(pg_store_of(store), "it counts nothing", err);
    }
    return status == BOXCAR_OK ? PG_INTO_LIST(result, read_stats, ret_list, err) : status;
}
