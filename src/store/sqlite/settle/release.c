/* How a lease ends without success, and how a message ends for good: back into the parking
 * lot, or to the dead letters when its attempts are used up. */
#include "release.h"

#include "base/utf8.h"
#include "core/backoff.h"
#include "lease.h"
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
    static const uint8_t none[16];
    struct query query = query_on(store, S_ATTEMPT_INSERT);

    query_int(&query, attempt->work_id);
    query_int(&query, store->now);
    query_int(&query, attempt->retry_count);
    query_text(&query, boxcar_str_of(attempt->outcome));
    query_id(&query, attempt->lease != NULL ? attempt->lease->owner.uuid.bytes : none);
    query_time(&query, attempt->lease != NULL ? attempt->lease->epoch.value : BOXCAR_TIME_NONE);
    query_text(&query, attempt->error);
    return query_run(&query, err);
}

static boxcar_status write_dead(struct sqlite_store *store, const struct burial *burial, boxcar_error *err) {
    struct query query = query_on(store, S_DEAD_INSERT);

    query_int(&query, burial->work_id);
    query_int(&query, burial->box);
    query_text(&query, burial->topic);
    query_int(&query, burial->reason);
    query_int(&query, store->now);
    query_int(&query, burial->retry_count);
    query_int(&query, burial->crash_count);
    query_text(&query, burial->last_error);
    sqlite_tally_add(store, burial->box, burial->topic, TALLY_DEAD, 1);
    return query_run(&query, err);
}

boxcar_status sqlite_bury(struct sqlite_store *store, const struct burial *burial, boxcar_error *err) {
    struct attempt attempt = {.work_id = burial->work_id,
                              .retry_count = burial->retry_count,
                              .outcome = burial->outcome,
                              .lease = burial->lease,
                              .error = burial->error};
    boxcar_status status = write_dead(store, burial, err);

    if (status == BOXCAR_OK && burial->outcome != NULL)
        status = sqlite_attempt_write(store, &attempt, err);
    return status == BOXCAR_OK ? sqlite_join_note_burial(store, burial->work_id, err) : status;
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
    boxcar_status status = sqlite_stream_note_death(store, row, reason, err);

    if (status == BOXCAR_OK)
        status = sqlite_unpark(store, row, NULL, err);
    return status == BOXCAR_OK ? sqlite_bury(store, &burial, err) : status;
}

/* The parked row of a leased message. A message that came fresh from the log has no row yet, no stream and no
 * expiry. If a row is missing, reaping must still work. */
static boxcar_status read_leased(struct sqlite_store *store, const struct lease *lease,
                                 struct parked *ret_row, boxcar_error *err) {
    struct parked row;
    bool found = false;
    boxcar_status status = BOXCAR_OK;

    if (lease->parked)
        status = sqlite_parked_read(store, lease->work_id, &row, &found, err);
    if (!found)
        row = (struct parked){.work_id = lease->work_id,
                              .box = lease->box,
                              .topic = lease->topic,
                              .expires_at = BOXCAR_TIME_NONE,
                              .state = PARKED_LEASED};
    *ret_row = row;
    return status;
}

static boxcar_status read_max_attempts(struct sqlite_store *store, int64_t work_id, int *ret_attempts,
                                       boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MESSAGE_RULES);
    bool found;
    boxcar_status status = sqlite_settings_load(store, err);

    query_int(&query, work_id);
    if (status == BOXCAR_OK)
        status = query_step(&query, &found, err);
    if (status != BOXCAR_OK)
        return status;
    *ret_attempts = store->settings.max_attempts;
    if (found && !query_is_null(&query, 0))
        *ret_attempts = (int)query_get_int(&query, 0);
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

static boxcar_status bury_exhausted(struct sqlite_store *store, const struct lease *lease,
                                    const struct parked *row, boxcar_error *err) {
    struct burial burial = {.work_id = row->work_id,
                            .box = row->box,
                            .topic = row->topic,
                            .reason = BOXCAR_REASON_EXHAUSTED,
                            .retry_count = row->retry_count,
                            .crash_count = row->crash_count,
                            .last_error = row->last_error};
    boxcar_status status = sqlite_stream_note_death(store, row, burial.reason, err);

    if (status == BOXCAR_OK && lease->parked)
        status = sqlite_unpark(store, row, NULL, err);
    return status == BOXCAR_OK ? sqlite_bury(store, &burial, err) : status;
}

/* Counts the attempt; *ret_exhausted: it was the last one. */
static boxcar_status count_attempt(struct sqlite_store *store, const struct lease *lease,
                                   const struct release *how, struct parked *row, bool *ret_exhausted,
                                   boxcar_error *err) {
    int max_attempts;
    boxcar_status status = read_max_attempts(store, lease->work_id, &max_attempts, err);

    if (status != BOXCAR_OK)
        return status;
    row->retry_count++;
    row->crash_count += how->crashed;
    if (how->error.data != NULL)
        row->last_error = utf8_cut(how->error, BOXCAR_ERROR_TEXT_MAX);
    *ret_exhausted = row->retry_count >= max_attempts;
    return sqlite_attempt_write(store,
                                &(struct attempt){.work_id = lease->work_id,
                                                  .retry_count = row->retry_count,
                                                  .outcome = how->outcome,
                                                  .lease = lease,
                                                  .error = utf8_cut(how->error, BOXCAR_ERROR_TEXT_MAX)},
                                err);
}

boxcar_status sqlite_release(struct sqlite_store *store, const struct lease *held, const struct release *how,
                             boxcar_error *err) {
    struct lease entered = *held, *lease = &entered;
    struct parked row;
    bool exhausted = false;
    boxcar_status status = sqlite_lease_enter_lot(store, lease, err);

    if (status == BOXCAR_OK)
        status = read_leased(store, lease, &row, err);
    if (status == BOXCAR_OK)
        status = sqlite_lease_drop(store, lease, err);
    if (status == BOXCAR_OK && how->outcome != NULL)
        status = count_attempt(store, lease, how, &row, &exhausted, err);
    if (status != BOXCAR_OK)
        return status;
    if (exhausted)
        return bury_exhausted(store, lease, &row, err);
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
    boxcar_status status = sqlite_lease_read(store, work_id, &lease, &found, err);

    return status == BOXCAR_OK && found ? sqlite_release(store, &lease, &how, err) : status;
}

#define BOTH_BOXES (-1)

static boxcar_status reap(struct sqlite_store *store, int box, int limit, int64_t *ret_count,
                          boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_LEASE_EXPIRED);
    int64_t *ids;
    size_t count;
    boxcar_status status;

    query_int(&query, store->now);
    query_int(&query, limit);
    query_int(&query, box);
    status = sqlite_collect_ids(store, &query, &ids, &count, err);
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++)
        status = sqlite_release_expired(store, ids[i], err);
    if (status == BOXCAR_OK)
        *ret_count = (int64_t)count;
    return status;
}

boxcar_status sqlite_reap(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err) {
    return reap(store, BOTH_BOXES, limit, ret_count, err);
}

boxcar_status sqlite_reap_box(struct sqlite_store *store, boxcar_box box, int64_t *ret_count,
                              boxcar_error *err) {
    int64_t total = 0, count;

    do {
        boxcar_status status = reap(store, (int)box, REAP_CHUNK, &count, err);
        if (status != BOXCAR_OK)
            return status;
        total += count;
    } while (count == REAP_CHUNK);
    *ret_count = total;
    return BOXCAR_OK;
}

boxcar_status sqlite_bury_expired(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    struct parked row;
    bool found;
    boxcar_status status = sqlite_parked_read(store, work_id, &row, &found, err);

    if (status != BOXCAR_OK || !found)
        return status;
    return sqlite_bury_parked(store, &row, BOXCAR_REASON_EXPIRED, "expired", err);
}

boxcar_status sqlite_expire(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_PARKED_EXPIRED);
    int64_t *ids;
    size_t count;
    boxcar_status status;

    query_int(&query, store->now);
    query_int(&query, limit);
    status = sqlite_collect_ids(store, &query, &ids, &count, err);
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++)
        status = sqlite_bury_expired(store, ids[i], err);
    if (status == BOXCAR_OK)
        *ret_count = (int64_t)count;
    return status;
}
