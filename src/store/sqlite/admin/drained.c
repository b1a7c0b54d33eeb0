/* Whether there is nothing left to do. */
#include "instance.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/subscription/reader.h"

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
    struct topic_range range;
    TRY(sqlite_topic_range(store, pattern, &range, err));
    int64_t drained = 0;
    TRY(query_find_int(store, S_IS_DRAINED, &drained, err, Q_INT(drain->box), Q_TEXT(range.low),
                       Q_TEXT(range.high), Q_INT(store->now + drain->horizon_ms * 1000),
                       Q_TEXT(drain->wait_topic), Q_INT(store->now)));
    drain->drained = drained != 0;
    return BOXCAR_OK;
}

static boxcar_status look(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct drain *drain = context;
    drain->drained = true;
    TRY(sqlite_reader_enter(store, drain->box, err));
    if (store->reader != NULL && store->reader->paused) /* nothing of it can be claimed */
        return BOXCAR_OK;
    if (drain->topic_count == 0)
        return look_at_pattern(store, drain, EVERY_TOPIC, err);
    for (size_t i = 0; drain->drained && i < drain->topic_count; i++)
        TRY(look_at_pattern(store, drain, drain->topics[i], err));
    return BOXCAR_OK;
}

boxcar_status sqlite_is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                                size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms,
                                bool *ret_drained, boxcar_error *err) {
    struct drain drain = {.box = box,
                          .topics = topics,
                          .topic_count = topic_count,
                          .wait_topic = wait_topic,
                          .horizon_ms = horizon_ms};
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_READ, look, &drain, err));
    *ret_drained = drain.drained;
    return BOXCAR_OK;
}
