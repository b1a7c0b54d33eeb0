/* Upkeep of what subscriptions know, one after the other. */
#include "base/utf8.h"
#include "keep.h"
#include "reader.h"
#include "store/sqlite/admin/dead.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/claim/claim.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/settle/release.h"

#define CHUNK 1000 /* messages in one transaction */

typedef boxcar_status reader_fn(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err);

/* For each subscription, until CHUNK is reached. */
static boxcar_status for_each(struct sqlite_store *store, reader_fn *step, int64_t *count,
                              boxcar_error *err) {
    int number = 0;
    bool found = true;
    while (*count < CHUNK) {
        int64_t done = 0;
        TRY(sqlite_reader_next(store, &number, &found, err));
        if (!found)
            return BOXCAR_OK;
        TRY(step(store, CHUNK - (int)*count, &done, err));
        *count += done;
    }
    sqlite_reader_leave(store);
    return BOXCAR_OK;
}

boxcar_status sqlite_reader_reap_step(struct sqlite_store *store, struct join_upkeep *done,
                                      boxcar_error *err) {
    return for_each(store, sqlite_reap, &done->count, err);
}

boxcar_status sqlite_reader_expire_step(struct sqlite_store *store, struct join_upkeep *done,
                                        boxcar_error *err) {
    return for_each(store, sqlite_expire, &done->count, err);
}

/* ---- retention ---- */

static boxcar_status forget_run(struct sqlite_store *store, bool *ret_found, int64_t *count,
                                boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_FINISHED_OVERDUE, Q_INT(store->now - store->settings.retention_done_ms * 1000));
    *ret_found = query_next(&query);
    TRY(query_status(&query, err));
    if (!*ret_found)
        return BOXCAR_OK;
    struct query_value first = Q_INT(query_get_int(&query, 0)), last = Q_INT(query_get_int(&query, 1));
    query_end(&query);
    AUTO_QUERY struct query topics = query_with(store, S_RANGE_TOPICS, first, last);
    while (query_next(&topics))
        sqlite_tally_add(store, store->reader->number, query_get_text(&topics, 1), TALLY_DONE,
                         -query_get_int(&topics, 2));
    TRY(query_status(&topics, err));
    TRY(query_do(store, S_ATTEMPT_DELETE, err, first, last));
    *count += last.value.integer - first.value.integer + 1;
    return query_do(store, S_FINISHED_DELETE, err, first);
}

static boxcar_status forget_dead(struct sqlite_store *store, int limit, int64_t *count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(
        store, S_DEAD_OVERDUE, Q_INT(store->now - store->settings.retention_dead_ms * 1000), Q_INT(limit));
    int64_t *ids;
    size_t found;
    TRY(sqlite_collect_ids(store, &query, &ids, &found, err));
    for (size_t i = 0; i < found; i++) {
        bool removed;
        TRY(sqlite_dead_remove(store, ids[i], &removed, err));
        *count += removed;
    }
    return BOXCAR_OK;
}

static boxcar_status forget(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err) {
    bool found = true;
    TRY(sqlite_settings_load(store, err));
    TRY(query_do(store, S_SKIP_SWEEP, err, Q_INT(store->reader->number)));
    while (found && *ret_count < limit)
        TRY(forget_run(store, &found, ret_count, err));
    return *ret_count < limit ? forget_dead(store, limit - (int)*ret_count, ret_count, err) : BOXCAR_OK;
}

boxcar_status sqlite_reader_forget_step(struct sqlite_store *store, struct join_upkeep *done,
                                        boxcar_error *err) {
    return for_each(store, forget, &done->count, err);
}

/* ---- too far behind ---- */

/* What is older, or not beyond that message, is given up. */
struct lag {
    boxcar_time before;
    int64_t up_to, position;
};

static boxcar_status give_up(struct sqlite_store *store, int64_t work_id, boxcar_str topic,
                             boxcar_error *err) {
    struct burial burial = {.work_id = work_id,
                            .box = store->reader->number,
                            .topic = topic,
                            .reason = BOXCAR_REASON_EXPIRED,
                            .outcome = "expired",
                            .error = BOXCAR_STR("given up: the subscription lags behind its max_lag"),
                            .last_error = BOXCAR_STR("given up: the subscription lags behind its max_lag")};
    return sqlite_bury(store, &burial, err);
}

static bool is_lagging(const struct lag *lag, const struct query *row) {
    return query_get_int(row, R_WORK_ID) <= lag->up_to || query_get_int(row, R_CREATED_AT) < lag->before;
}

static boxcar_status walk(struct sqlite_store *store, struct lag *lag, int limit, int64_t *count,
                          boxcar_error *err) {
    int64_t known_to = 0;
    TRY(query_find_int(store, S_READER_KNOWN, &known_to, err, Q_INT(store->reader->number)));
    AUTO_QUERY struct query query = query_with(store, S_READER_LOOK, Q_INT(lag->position));
    while (*count < limit && query_next(&query) && is_lagging(lag, &query)) {
        bool unread;
        TRY(sqlite_is_unread(store, &query, known_to, &unread, err));
        lag->position = query_get_int(&query, R_WORK_ID);
        if (unread)
            TRY(give_up(store, lag->position, query_get_text(&query, R_TOPIC), err));
        *count += unread;
    }
    return query_status(&query, err);
}

static boxcar_status give_up_unread(struct sqlite_store *store, struct lag *lag, int limit, int64_t *count,
                                    boxcar_error *err) {
    struct query_value number = Q_INT(store->reader->number);
    TRY(query_find_int(store, S_FRONTIER_READ, &lag->position, err, number));
    TRY(walk(store, lag, limit, count, err));
    return query_do(store, S_FRONTIER_MOVE, err, number, Q_INT(lag->position));
}

/* Those that wait on the lot: behind a halt, or wanted by no worker. Their stream goes on without them. */
static boxcar_status give_up_parked(struct sqlite_store *store, boxcar_time before, int limit, int64_t *count,
                                    boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_LAGGING_PARKED, Q_INT(store->reader->number), Q_INT(before), Q_INT(limit));
    int64_t *ids;
    size_t found;
    TRY(sqlite_collect_ids(store, &query, &ids, &found, err));
    for (size_t i = 0; i < found; i++) {
        struct parked row;
        bool parked;
        TRY(sqlite_parked_read(store, ids[i], &row, &parked, err));
        if (!parked)
            continue;
        TRY(sqlite_unpark(store, &row, NULL, err));
        TRY(give_up(store, ids[i], row.topic, err));
        *count += 1;
    }
    return BOXCAR_OK;
}

/* *up_to: the last message of those that are too many; as it is if there are none. */
static boxcar_status find_too_many(struct sqlite_store *store, const struct reader *reader, int64_t *up_to,
                                   boxcar_error *err) {
    int64_t position = 0, end = 0;
    TRY(query_find_int(store, S_FRONTIER_READ, &position, err, Q_INT(reader->number)));
    TRY(query_find_int(store, S_LOG_END, &end, err));
    if (end - position <= reader->max_lag_count) /* without counting those that it wants */
        return BOXCAR_OK;
    return query_find_int(store, S_UNREAD_BEYOND, up_to, err, Q_INT(reader->number),
                          Q_INT(reader->max_lag_count));
}

static boxcar_status limit_lag(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err) {
    const struct reader *reader = store->reader;
    struct lag lag = {.before =
                          reader->max_lag_ms > 0 ? store->now - reader->max_lag_ms * 1000 : BOXCAR_TIME_NONE};
    if (reader->max_lag_ms == 0 && reader->max_lag_count == 0)
        return BOXCAR_OK;
    TRY(sqlite_settings_load(store, err));
    if (reader->max_lag_count > 0)
        TRY(find_too_many(store, reader, &lag.up_to, err));
    if (reader->max_lag_ms > 0)
        TRY(give_up_parked(store, lag.before, limit, ret_count, err));
    return *ret_count < limit ? give_up_unread(store, &lag, limit, ret_count, err) : BOXCAR_OK;
}

boxcar_status sqlite_reader_lag_step(struct sqlite_store *store, struct join_upkeep *done,
                                     boxcar_error *err) {
    return for_each(store, limit_lag, &done->count, err);
}

/* ---- removed ones ---- */

boxcar_status sqlite_reader_vanish_step(struct sqlite_store *store, struct join_upkeep *done,
                                        boxcar_error *err) {
    static const enum statement statements[] = {S_REMOVED_PARKED, S_REMOVED_DEAD, S_REMOVED_FINISHED,
                                                S_REMOVED_ATTEMPTS};
    int64_t number = 0;
    TRY(query_find_int(store, S_REMOVED_NEXT, &number, err));
    if (number == 0)
        return BOXCAR_OK;
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]) && done->count < CHUNK; i++) {
        TRY(query_do(store, statements[i], err, Q_INT(number), Q_INT(CHUNK - done->count)));
        done->count += sqlite3_changes(store->db);
    }
    done->more = true; /* perhaps another one */
    return done->count < CHUNK ? query_do(store, S_REMOVED_READER, err, Q_INT(number)) : BOXCAR_OK;
}
