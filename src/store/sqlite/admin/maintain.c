/* Upkeep in small transactions: end joins whose deadline came, count what they missed, release expired
 * leases, bury what has expired, remove what is past its retention. Every step goes along an index and
 * stops at a limit. */
#include "admin.h"
#include "dead.h"
#include "instance.h"
#include "setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/inbox/inbox.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/settle/release.h"
#include "store/sqlite/stream/stream.h"
#include "store/sqlite/subscription/keep.h"

#define CHUNK 1000         /* messages a transaction */
#define CHUNKS_PER_CALL 20 /* of each step */

/* One transaction. A step may leave `more` alone if it has more whenever it has done CHUNK. */
typedef boxcar_status step_fn(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err);

static boxcar_status reap_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err) {
    return sqlite_reap(store, CHUNK, &done->count, err);
}

static boxcar_status waits_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err) {
    return sqlite_join_evaluate_due(store, store->now, CHUNK, &done->count, err);
}

static boxcar_status expire_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err) {
    return sqlite_expire(store, CHUNK, &done->count, err);
}

/* Workers that went without a word, one after the other. */
static boxcar_status silent_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err) {
    return sqlite_instance_remove_silent(store, 0, CHUNK, &done->count, &done->more, err);
}

static boxcar_status sweep_keys_step(struct sqlite_store *store, struct join_upkeep *done,
                                     boxcar_error *err) {
    return sqlite_inbox_sweep(store, CHUNK, &done->count, err);
}

/* ---- what is done ---- */

struct finished_run {
    int64_t first, last;
    uint8_t owner[16];
    boxcar_time at;
};

static boxcar_status next_overdue_run(struct sqlite_store *store, struct finished_run *ret_run,
                                      bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_FINISHED_OVERDUE, Q_INT(store->now - store->settings.retention_done_ms * 1000));
    *ret_found = query_next(&query);
    if (*ret_found) {
        *ret_run = (struct finished_run){.first = query_get_int(&query, 0),
                                         .last = query_get_int(&query, 1),
                                         .at = query_get_int(&query, 3)};
        query_get_id(&query, 2, ret_run->owner);
    }
    return query_status(&query, err);
}

static boxcar_status uncount_range(struct sqlite_store *store, int64_t first, int64_t last,
                                   boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_RANGE_TOPICS, Q_INT(first), Q_INT(last));
    while (query_next(&query))
        sqlite_tally_add(store, (int)query_get_int(&query, 0), query_get_text(&query, 1), TALLY_DONE,
                         -query_get_int(&query, 2));
    return query_status(&query, err);
}

/* Removes the first messages of a run, at most `limit`. */
static boxcar_status purge_run(struct sqlite_store *store, const struct finished_run *run, int64_t limit,
                               int64_t *ret_count, boxcar_error *err) {
    int64_t last = run->last - run->first < limit ? run->last : run->first + limit - 1;
    TRY(uncount_range(store, run->first, last, err));
    TRY(sqlite_message_remove(store, run->first, last, err));
    TRY(query_do(store, S_FINISHED_DELETE, err, Q_INT(run->first)));
    if (last < run->last) /* what is left of a run that was too long for one transaction */
        TRY(query_do(store, S_FINISHED_INSERT, err, Q_INT(last + 1), Q_INT(run->last), Q_ID(run->owner),
                     Q_INT(run->at)));
    *ret_count = last - run->first + 1;
    return BOXCAR_OK;
}

static boxcar_status purge_done_step(struct sqlite_store *store, struct join_upkeep *done,
                                     boxcar_error *err) {
    bool any;
    TRY(sqlite_keep_any(store, &any, err));
    if (any)
        return sqlite_keep_done_step(store, done, err);
    TRY(sqlite_settings_load(store, err));
    while (done->count < CHUNK) {
        struct finished_run run;
        bool found;
        int64_t count;
        TRY(next_overdue_run(store, &run, &found, err));
        if (!found)
            break;
        TRY(purge_run(store, &run, CHUNK - done->count, &count, err));
        done->count += count;
    }
    return BOXCAR_OK;
}

/* ---- what is dead ---- */

static boxcar_status purge_dead_step(struct sqlite_store *store, struct join_upkeep *done,
                                     boxcar_error *err) {
    bool any;
    TRY(sqlite_keep_any(store, &any, err));
    if (any)
        return sqlite_keep_dead_step(store, done, err);
    TRY(sqlite_settings_load(store, err));
    AUTO_QUERY struct query query = query_with(
        store, S_DEAD_OVERDUE, Q_INT(store->now - store->settings.retention_dead_ms * 1000), Q_INT(CHUNK));
    int64_t *ids;
    size_t count;
    TRY(sqlite_collect_ids(store, &query, &ids, &count, err));
    for (size_t i = 0; i < count; i++) {
        bool removed;
        TRY(sqlite_dead_remove(store, ids[i], &removed, err));
        done->count += removed;
    }
    return BOXCAR_OK;
}

/* ---- the round ---- */

/* Topics of which nothing is left, so that topics with ids in them do not pile up; and old evidence. */
static boxcar_status sweep(struct sqlite_store *store, void *context, boxcar_error *err) {
    (void)context;
    TRY(query_do(store, S_TALLY_SWEEP, err));
    TRY(sqlite_stream_sweep(store, err));
    return query_do(store, S_UPKEEP_NOTE, err, Q_INT(store->now));
}

struct stepping {
    step_fn *step;
    struct join_upkeep done;
};

static boxcar_status run_step(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct stepping *stepping = context;
    stepping->done = (struct join_upkeep){0};
    TRY(stepping->step(store, &stepping->done, err));
    stepping->done.more |= stepping->done.count >= CHUNK;
    return BOXCAR_OK;
}

static boxcar_status repeat(struct sqlite_store *store, step_fn *step, int64_t *total, bool *more,
                            boxcar_error *err) {
    struct stepping stepping = {.step = step};
    for (int i = 0; i < CHUNKS_PER_CALL; i++) {
        TRY(sqlite_transaction(store, ACCESS_WRITE, run_step, &stepping, err));
        sqlite_join_log_ended(store);
        *total += stepping.done.count;
        if (!stepping.done.more)
            return BOXCAR_OK;
    }
    *more = true;
    return BOXCAR_OK;
}

/* A step that also looks at what has to stay: it is not repeated for that alone. */
static boxcar_status repeat_purge(struct sqlite_store *store, step_fn *step, int64_t *total, bool *more,
                                  boxcar_error *err) {
    int64_t count = 0;
    bool unfinished = false;
    TRY(repeat(store, step, &count, &unfinished, err));
    *total += count;
    *more |= unfinished && count > 0;
    return BOXCAR_OK;
}

/* What subscriptions know, before the main readers' messages are purged. */
static boxcar_status tend_subscriptions(struct sqlite_store *store, boxcar_maintenance *done,
                                        boxcar_error *err) {
    int64_t nothing = 0;
    TRY(repeat(store, sqlite_reader_vanish_step, &nothing, &done->more, err));
    TRY(repeat(store, sqlite_reader_reap_step, &done->reaped, &done->more, err));
    TRY(repeat(store, sqlite_reader_expire_step, &done->expired, &done->more, err));
    TRY(repeat(store, sqlite_reader_lag_step, &done->expired, &done->more, err));
    TRY(repeat(store, sqlite_reader_forget_step, &nothing, &done->more, err));
    TRY(repeat(store, sqlite_pass_step, &nothing, &done->more, err));
    return repeat_purge(store, sqlite_keep_passed_step, &done->purged_done, &done->more, err);
}

static boxcar_status run_round(struct sqlite_store *store, boxcar_maintenance *ret_maintenance,
                               boxcar_error *err) {
    boxcar_maintenance done = {0};
    int64_t nothing = 0;
    /* Deadlines first: messages that the other steps bury would end those joins, which would then not be
     * counted here. */
    TRY(repeat(store, sqlite_join_time_out_step, &done.timed_out, &done.more, err));
    TRY(repeat(store, sqlite_join_recognize_step, &nothing, &done.more, err));
    TRY(repeat(store, sqlite_join_settle_step, &done.settled, &done.more, err));
    TRY(repeat(store, waits_step, &nothing, &done.more, err));
    TRY(repeat(store, reap_step, &done.reaped, &done.more, err));
    TRY(repeat(store, silent_step, &done.reaped, &done.more, err));
    TRY(repeat(store, expire_step, &done.expired, &done.more, err));
    TRY(tend_subscriptions(store, &done, err));
    TRY(repeat_purge(store, purge_done_step, &done.purged_done, &done.more, err));
    TRY(repeat_purge(store, purge_dead_step, &done.purged_dead, &done.more, err));
    TRY(repeat(store, sqlite_join_purge_step, &done.purged_joins, &done.more, err));
    TRY(repeat(store, sweep_keys_step, &done.purged_keys, &done.more, err));
    TRY(sqlite_transaction(store, ACCESS_WRITE_RELAXED, sweep, NULL, err));
    *ret_maintenance = done;
    return BOXCAR_OK;
}

boxcar_status sqlite_maintain(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                              boxcar_error *err) {
    switch (task) {
    case UPKEEP_ROUND:
        return run_round(sqlite_of(store), &ret_done->round, err);
    case UPKEEP_WAITS:
        return sqlite_evaluate_waits(store, &ret_done->waits, err);
    default:
        return sqlite_audit(sqlite_of(store), task == UPKEEP_REPAIR, &ret_done->audit, err);
    }
}

/* ---- what programs watch ---- */

boxcar_status sqlite_upkeep_look(struct sqlite_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_UPKEEP_READ);
    bool found = query_next(&query);
    TRY(query_status(&query, err));
    *ret_upkeep = (boxcar_upkeep){.has_run = found && !query_is_null(&query, 1)};
    boxcar_time at = found ? query_get_int(&query, ret_upkeep->has_run) : store->now;
    if (store->now > at)
        ret_upkeep->seconds = ((double)store->now - (double)at) / 1e6; /* may be edited by hand */
    return BOXCAR_OK;
}

static boxcar_status look(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct store_facts *facts = context;
    TRY(sqlite_upkeep_look(store, &facts->upkeep, err));
    return sqlite_stream_count_violations(store, -1, INT64_MAX, &facts->violations, err);
}

boxcar_status sqlite_facts(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err) {
    struct store_facts facts = {.violations = 0};
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_READ, look, &facts, err));
    *ret_facts = facts;
    return BOXCAR_OK;
}
