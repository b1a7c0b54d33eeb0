/* Whether there is nothing left to do. */
#include "instance.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/read.h"

struct drain {
    boxcar_box box;
    const boxcar_str *topics;
    size_t topic_count;
    boxcar_str wait_topic;
    int64_t horizon_ms;
    bool drained;
};

static boxcar_status look_at_pattern(struct sqlite_store *store, struct drain *drain, boxcar_str pattern,
                                     boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_IS_DRAINED);
    struct topic_range range;
    bool found = false;
    boxcar_status status = sqlite_topic_range(store, pattern, &range, err);

    if (status != BOXCAR_OK)
        return status;
    query_int(&query, drain->box);
    query_text(&query, range.low);
    query_text(&query, range.high);
    query_int(&query, store->now + drain->horizon_ms * 1000);
    query_text(&query, drain->wait_topic);
    query_int(&query, store->now);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK)
        drain->drained = found && query_get_int(&query, 0) != 0;
    return status;
}

static boxcar_status look(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct drain *drain = context;
    boxcar_status status = BOXCAR_OK;

    drain->drained = true;
    if (drain->topic_count == 0)
        return look_at_pattern(store, drain, BOXCAR_STR("*"), err);
    for (size_t i = 0; status == BOXCAR_OK && drain->drained && i < drain->topic_count; i++)
        status = look_at_pattern(store, drain, drain->topics[i], err);
    return status;
}

boxcar_status sqlite_is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                                size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms,
                                bool *ret_drained, boxcar_error *err) {
    struct drain drain = {.box = box,
                          .topics = topics,
                          .topic_count = topic_count,
                          .wait_topic = wait_topic,
                          .horizon_ms = horizon_ms};
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, look, &drain, err);

    if (status == BOXCAR_OK)
        *ret_drained = drain.drained;
    return status;
}
