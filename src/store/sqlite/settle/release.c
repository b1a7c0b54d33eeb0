/* How a lease ends without success, and how a message ends for good: back into the parking
 * lot, or to the dead letters when its attempts are used up. */
#include "release.h"

#include "base/utf8.h"
#include "core/backoff.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/connection.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/stream/stream.h"

#define REAP_CHUNK 1000

boxcar_status sqlite_attempt_write(struct sqlite_store *store, const struct attempt *attempt,
                                   boxcar_error *err) {
    static const struct lease none = {.epoch.value = BOXCAR_TIME_NONE};
    const struct lease *lease = attempt->lease != NULL ? attempt->lease : &none;
    return query_do(store, S_ATTEMPT_INSERT, err, Q_INT(attempt->work_id), Q_INT(store->now),
                    Q_INT(attempt->retry_count), Q_TEXT(boxcar_str_of(attempt->outcome)),
                    Q_ID(lease->owner.uuid.bytes), Q_TIME(lease->epoch.value), Q_TEXT(attempt->error));
}

boxcar_status sqlite_bury(struct sqlite_store *store, const struct burial *burial, boxcar_error *err) {
    TRY(query_do(store, S_DEAD_INSERT, err, Q_INT(burial->work_id), Q_INT(burial->box), Q_TEXT(burial->topic),
                 Q_INT(burial->reason), Q_INT(store->now), Q_INT(burial->retry_count),
                 Q_INT(burial->crash_count), Q_TEXT(burial->last_error)));
    sqlite_tally_add(store, burial->box, burial->topic, TALLY_DEAD, 1);
    if (burial->outcome != NULL) {
        struct attempt attempt = {.work_id = burial->work_id,
                                  .retry_count = burial->retry_count,
                                  .outcome = burial->outcome,
                                  .lease = burial->lease,
                                  .error = burial->error};
        TRY(sqlite_attempt_write(store, &attempt, err));
    }
    return store->reader == NULL ? sqlite_join_note_burial(store, burial->work_id, err) : BOXCAR_OK;
}

boxcar_status sqlite_bury_parked(struct sqlite_store *store, const struct parked *row, boxcar_reason reason,
                                 const char *outcome, boxcar_error *err) {
    struct burial burial = {.work_id = row->work_id,
                            .box = row->box,
                            .topic = row->topic,
                            .reason = reason,
                            .outcome = outcome,
                            .retry_count = row->retry_count,
                            .crash_count = row->crash_count,
                            .last_error = row->last_error};
    TRY(sqlite_stream_note_death(store, row, reason, err));
    if (row->placed)
        TRY(sqlite_unpark(store, row, NULL, err));
    return sqlite_bury(store, &burial, err);
}

/* The parked row of a leased message. A message that came fresh from the log has no row yet, no stream and no
 * expiry. If a row is missing, reaping must still work. */
static boxcar_status read_leased(struct sqlite_store *store, const struct lease *lease,
                                 struct parked *ret_row, boxcar_error *err) {
    bool found = false;
    if (lease->parked)
        TRY(sqlite_parked_read(store, lease->work_id, ret_row, &found, err));
    if (!found)
        *ret_row = (struct parked){.work_id = lease->work_id,
                                   .box = lease->box,
                                   .topic = lease->topic,
                                   .expires_at = BOXCAR_TIME_NONE,
                                   .state = PARKED_LEASED};
    return BOXCAR_OK;
}

static boxcar_time available_after(struct sqlite_store *store, const struct release *how, int attempts) {
    double chance = (double)(sqlite_draw(&store->busy) >> 11) / 9007199254740992.0;
    int64_t delay_ms = how->delay_ms;
    if (delay_ms < 0)
        delay_ms =
            how->outcome == NULL ? 0 : backoff_curve_delay_ms(&store->settings.curve, attempts, chance);
    return store->now + delay_ms * 1000;
}

/* Counts the attempt; *ret_exhausted: it was the last one. */
static boxcar_status count_attempt(struct sqlite_store *store, const struct lease *lease,
                                   const struct release *how, struct parked *row, bool *ret_exhausted,
                                   boxcar_error *err) {
    boxcar_str error = utf8_cut(how->error, BOXCAR_ERROR_TEXT_MAX);
    TRY(sqlite_settings_load(store, err));
    int64_t max_attempts = store->settings.max_attempts; /* unless the message has its own */
    TRY(query_find_int(store, S_MESSAGE_RULES, &max_attempts, err, Q_INT(lease->work_id)));
    row->retry_count++;
    row->crash_count += how->crashed;
    if (error.data != NULL)
        row->last_error = error;
    *ret_exhausted = row->retry_count >= max_attempts;
    struct attempt attempt = {.work_id = lease->work_id,
                              .retry_count = row->retry_count,
                              .outcome = how->outcome,
                              .lease = lease,
                              .error = error};
    return sqlite_attempt_write(store, &attempt, err);
}

boxcar_status sqlite_release(struct sqlite_store *store, const struct lease *held, const struct release *how,
                             boxcar_error *err) {
    struct lease lease = *held;
    struct parked row;
    bool exhausted = false;
    TRY(sqlite_lease_enter_lot(store, &lease, err));
    TRY(read_leased(store, &lease, &row, err));
    TRY(sqlite_lease_drop(store, &lease, err));
    if (how->outcome != NULL)
        TRY(count_attempt(store, &lease, how, &row, &exhausted, err));
    if (exhausted)
        return sqlite_bury_parked(store, &row, BOXCAR_REASON_EXHAUSTED, NULL, err);
    if (how->cleared)
        row.crash_count = 0;
    row.available_at = available_after(store, how, row.retry_count);
    return sqlite_park(store, &row, err);
}

boxcar_status sqlite_release_expired(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    static const struct release how = {
        .outcome = "lease_expired", .crashed = true, .delay_ms = 0, .error = {"lease expired", 13}};
    struct lease lease;
    bool found;
    TRY(sqlite_lease_read(store, work_id, &lease, &found, err));
    return found ? sqlite_release(store, &lease, &how, err) : BOXCAR_OK;
}

#define BOTH_BOXES (-1)

/* Ends the messages that the query names; each as `end` does. */
static boxcar_status end_each(struct sqlite_store *store, struct query *query,
                              boxcar_status (*end)(struct sqlite_store *, int64_t work_id, boxcar_error *),
                              int64_t *ret_count, boxcar_error *err) {
    int64_t *ids;
    size_t count;
    TRY(sqlite_collect_ids(store, query, &ids, &count, err));
    for (size_t i = 0; i < count; i++)
        TRY(end(store, ids[i], err));
    *ret_count = (int64_t)count;
    return BOXCAR_OK;
}

static boxcar_status reap(struct sqlite_store *store, int box, int limit, int64_t *ret_count,
                          boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_LEASE_EXPIRED, Q_INT(store->now), Q_INT(limit), Q_INT(box));
    return end_each(store, &query, sqlite_release_expired, ret_count, err);
}

boxcar_status sqlite_reap(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err) {
    return reap(store, BOTH_BOXES, limit, ret_count, err);
}

boxcar_status sqlite_reap_box(struct sqlite_store *store, boxcar_box box, int64_t *ret_count,
                              boxcar_error *err) {
    int64_t total = 0, count;
    do {
        TRY(reap(store, (int)box, REAP_CHUNK, &count, err));
        total += count;
    } while (count == REAP_CHUNK);
    *ret_count = total;
    return BOXCAR_OK;
}

boxcar_status sqlite_bury_expired(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    struct parked row;
    bool found;
    TRY(sqlite_parked_read(store, work_id, &row, &found, err));
    return found ? sqlite_bury_parked(store, &row, BOXCAR_REASON_EXPIRED, "expired", err) : BOXCAR_OK;
}

boxcar_status sqlite_expire(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_PARKED_EXPIRED, Q_INT(store->now), Q_INT(limit));
    return end_each(store, &query, sqlite_bury_expired, ret_count, err);
}
