/* Upkeep in small transactions: end joins whose deadline came, count what they missed, release expired
 * leases, bury what has expired, remove what is past its retention. Every step goes along an index and
 * stops at a limit. */
#include "maintain.h"

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

#define CHUNK 1000         /* messages a transaction */
#define CHUNKS_PER_CALL 20 /* of each step */

typedef boxcar_status step_fn(struct sqlite_store *store, int64_t *ret_count, boxcar_error *err);
typedef boxcar_status join_step_fn(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                   boxcar_error *err);

static boxcar_status reap_step(struct sqlite_store *store, int64_t *ret_count, boxcar_error *err) {
    return sqlite_reap(store, CHUNK, ret_count, err);
}

static boxcar_status waits_step(struct sqlite_store *store, int64_t *ret_count, boxcar_error *err) {
    return sqlite_join_evaluate_due(store, store->now, CHUNK, ret_count, err);
}

static boxcar_status expire_step(struct sqlite_store *store, int64_t *ret_count, boxcar_error *err) {
    return sqlite_expire(store, CHUNK, ret_count, err);
}

/* ---- what is done ---- */

struct finished_run {
    int64_t first, last;
    uint8_t owner[16];
    boxcar_time at;
};

static boxcar_status next_overdue_run(struct sqlite_store *store, struct finished_run *ret_run,
                                      bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_FINISHED_OVERDUE);
    boxcar_status status;

    query_int(&query, store->now - store->settings.retention_done_ms * 1000);
    status = query_step(&query, ret_found, err);
    if (status != BOXCAR_OK || !*ret_found)
        return status;
    ret_run->first = query_get_int(&query, 0);
    ret_run->last = query_get_int(&query, 1);
    query_get_id(&query, 2, ret_run->owner);
    ret_run->at = query_get_int(&query, 3);
    return BOXCAR_OK;
}

static boxcar_status uncount_range(struct sqlite_store *store, int64_t first, int64_t last,
                                   boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_RANGE_TOPICS);
    bool row = true;
    boxcar_status status;

    query_int(&query, first);
    query_int(&query, last);
    while ((status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        sqlite_tally_add(store, (int)query_get_int(&query, 0), query_get_text(&query, 1), TALLY_DONE,
                         -query_get_int(&query, 2));
    return status;
}

/* What is left of a run that was too long for one transaction. */
static boxcar_status shorten_run(struct sqlite_store *store, const struct finished_run *run, int64_t first,
                                 boxcar_error *err) {
    struct query query = query_on(store, S_FINISHED_INSERT);

    query_int(&query, first);
    query_int(&query, run->last);
    query_id(&query, run->owner);
    query_int(&query, run->at);
    return query_run(&query, err);
}

static boxcar_status delete_run(struct sqlite_store *store, const struct finished_run *run,
                                boxcar_error *err) {
    struct query query = query_on(store, S_FINISHED_DELETE);

    query_int(&query, run->first);
    return query_run(&query, err);
}

/* Removes the first messages of a run, at most `limit`. */
static boxcar_status purge_run(struct sqlite_store *store, const struct finished_run *run, int64_t limit,
                               int64_t *ret_count, boxcar_error *err) {
    int64_t last = run->last - run->first < limit ? run->last : run->first + limit - 1;
    boxcar_status status = uncount_range(store, run->first, last, err);

    if (status == BOXCAR_OK)
        status = sqlite_message_remove(store, run->first, last, err);
    if (status == BOXCAR_OK)
        status = delete_run(store, run, err);
    if (status == BOXCAR_OK && last < run->last)
        status = shorten_run(store, run, last + 1, err);
    if (status == BOXCAR_OK)
        *ret_count = last - run->first + 1;
    return status;
}

static boxcar_status purge_done_step(struct sqlite_store *store, int64_t *ret_count, boxcar_error *err) {
    boxcar_status status = sqlite_settings_load(store, err);
    int64_t total = 0;

    while (status == BOXCAR_OK && total < CHUNK) {
        struct finished_run run;
        bool found;
        int64_t count = 0;
        status = next_overdue_run(store, &run, &found, err);
        if (status != BOXCAR_OK || !found)
            break;
        status = purge_run(store, &run, CHUNK - total, &count, err);
        total += count;
    }
    if (status == BOXCAR_OK)
        *ret_count = total;
    return status;
}

/* ---- what is dead ---- */

static boxcar_status purge_dead_step(struct sqlite_store *store, int64_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_DEAD_OVERDUE);
    boxcar_status status = sqlite_settings_load(store, err);
    int64_t *ids, total = 0;
    size_t count = 0;

    query_int(&query, store->now - store->settings.retention_dead_ms * 1000);
    query_int(&query, CHUNK);
    if (status == BOXCAR_OK)
        status = sqlite_collect_ids(store, &query, &ids, &count, err);
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++) {
        bool removed = false;
        status = sqlite_dead_remove(store, ids[i], &removed, err);
        total += removed;
    }
    if (status == BOXCAR_OK)
        *ret_count = total;
    return status;
}

static boxcar_status sweep_keys_step(struct sqlite_store *store, int64_t *ret_count, boxcar_error *err) {
    return sqlite_inbox_sweep(store, CHUNK, ret_count, err);
}

/* Workers that went without a word, one after the other. */
static boxcar_status silent_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                 boxcar_error *err) {
    return sqlite_instance_remove_silent(store, 0, CHUNK, &ret_upkeep->count, &ret_upkeep->more, err);
}

/* Topics of which nothing is left, so that topics with ids in them do not pile up; and old evidence. */
static boxcar_status note_round(struct sqlite_store *store, boxcar_error *err) {
    struct query query = query_on(store, S_UPKEEP_NOTE);

    query_int(&query, store->now);
    return query_run(&query, err);
}

static boxcar_status sweep(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct query query = query_on(store, S_TALLY_SWEEP);
    boxcar_status status = query_run(&query, err);

    (void)context;
    if (status == BOXCAR_OK)
        status = sqlite_stream_sweep(store, err);
    return status == BOXCAR_OK ? note_round(store, err) : status;
}

/* ---- the round ---- */

/* One of the two: a step whose count says whether there is more, or one of the joins, which says it. */
struct stepping {
    step_fn *step;
    join_step_fn *join_step;
    struct join_upkeep done;
};

static boxcar_status run_step(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct stepping *stepping = context;
    boxcar_status status;

    if (stepping->join_step != NULL)
        return stepping->join_step(store, &stepping->done, err);
    status = stepping->step(store, &stepping->done.count, err);
    stepping->done.more = stepping->done.count >= CHUNK;
    return status;
}

static boxcar_status repeat_step(struct sqlite_store *store, struct stepping stepping, int64_t *total,
                                 bool *more, boxcar_error *err) {
    for (int i = 0; i < CHUNKS_PER_CALL; i++) {
        boxcar_status status = sqlite_transaction(store, ACCESS_WRITE, run_step, &stepping, err);
        if (status != BOXCAR_OK)
            return status;
        sqlite_join_log_ended(store);
        *total += stepping.done.count;
        if (!stepping.done.more)
            return BOXCAR_OK;
    }
    *more = true;
    return BOXCAR_OK;
}

static boxcar_status repeat(struct sqlite_store *store, step_fn *step, int64_t *total, bool *more,
                            boxcar_error *err) {
    return repeat_step(store, (struct stepping){.step = step}, total, more, err);
}

static boxcar_status repeat_join(struct sqlite_store *store, join_step_fn *step, int64_t *total, bool *more,
                                 boxcar_error *err) {
    return repeat_step(store, (struct stepping){.join_step = step}, total, more, err);
}

static boxcar_status run_round(struct sqlite_store *store, boxcar_maintenance *ret_maintenance,
                               boxcar_error *err) {
    boxcar_maintenance done = {0};
    int64_t nothing = 0;
    /* Deadlines first: messages that the other steps bury would end those joins, which would then not be
     * counted here. */
    boxcar_status status = repeat_join(store, sqlite_join_time_out_step, &done.timed_out, &done.more, err);

    if (status == BOXCAR_OK)
        status = repeat_join(store, sqlite_join_recognize_step, &nothing, &done.more, err);
    if (status == BOXCAR_OK)
        status = repeat_join(store, sqlite_join_settle_step, &done.settled, &done.more, err);
    if (status == BOXCAR_OK)
        status = repeat(store, waits_step, &nothing, &done.more, err);
    if (status == BOXCAR_OK)
        status = repeat(store, reap_step, &done.reaped, &done.more, err);
    if (status == BOXCAR_OK)
        status = repeat_join(store, silent_step, &done.reaped, &done.more, err);
    if (status == BOXCAR_OK)
        status = repeat(store, expire_step, &done.expired, &done.more, err);
    if (status == BOXCAR_OK)
        status = repeat(store, purge_done_step, &done.purged_done, &done.more, err);
    if (status == BOXCAR_OK)
        status = repeat(store, purge_dead_step, &done.purged_dead, &done.more, err);
    if (status == BOXCAR_OK)
        status = repeat_join(store, sqlite_join_purge_step, &done.purged_joins, &done.more, err);
    if (status == BOXCAR_OK)
        status = repeat(store, sweep_keys_step, &done.purged_keys, &done.more, err);
    if (status == BOXCAR_OK)
        status = sqlite_transaction(store, ACCESS_WRITE_RELAXED, sweep, NULL, err);
    if (status == BOXCAR_OK)
        *ret_maintenance = done;
    return status;
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
    bool found = false;
    boxcar_status status = query_step(&query, &found, err);
    boxcar_time at;

    if (status != BOXCAR_OK)
        return status;
    *ret_upkeep = (boxcar_upkeep){.has_run = found && !query_is_null(&query, 1)};
    at = found ? query_get_int(&query, ret_upkeep->has_run) : store->now;
    if (store->now > at)
        ret_upkeep->seconds = ((double)store->now - (double)at) / 1e6; /* may be edited by hand */
    return BOXCAR_OK;
}

static boxcar_status look(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct store_facts *facts = context;
    boxcar_status status = sqlite_upkeep_look(store, &facts->upkeep, err);

    return status == BOXCAR_OK ? sqlite_stream_count_violations(store, -1, INT64_MAX, &facts->violations, err)
                               : status;
}

boxcar_status sqlite_facts(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err) {
    struct store_facts facts = {.violations = 0};
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, look, &facts, err);

    if (status == BOXCAR_OK)
        *ret_facts = facts;
    return status;
}
