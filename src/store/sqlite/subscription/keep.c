/* What is kept for subscriptions.
 *
 * A message is removed when its main reader has ended it, the retention of that has passed, and no
 * subscription wants it or knows it any more. As long as one does, the main reader's row stays as it is. Each
 * step looks at a number of rows and goes on behind them the next time, so that many messages that have to be
 * kept do not hide those that can go. */
#include "keep.h"

#include "store/sqlite/admin/dead.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/message/tally.h"

#define CHUNK 1000 /* messages looked at in one transaction */

boxcar_status sqlite_keep_ids(struct sqlite_store *store, int64_t first, int64_t last, int64_t **ret_ids,
                              size_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_WANTED, Q_INT(first), Q_INT(last));
    return sqlite_collect_ids(store, &query, ret_ids, ret_count, err);
}

boxcar_status sqlite_keep_any(struct sqlite_store *store, bool *ret_any, boxcar_error *err) {
    int64_t any = 0;
    TRY(query_find_int(store, S_READER_ANY, &any, err));
    *ret_any = any != 0;
    return BOXCAR_OK;
}

/* ---- a run of messages ---- */

/* Neighbours that one row of the main reader's is about, and those of them that are kept. */
struct run {
    int64_t first, last; /* as far as it is looked at */
    int64_t end;         /* of the row */
    uint8_t owner[16];
    boxcar_time at;
    int64_t *kept;
    size_t kept_count;
};
typedef boxcar_status piece_fn(struct sqlite_store *store, const struct run *run, int64_t first, int64_t last,
                               boxcar_error *err);

static boxcar_status look_into(struct sqlite_store *store, struct run *run, boxcar_error *err) {
    run->last = run->end - run->first < CHUNK ? run->end : run->first + CHUNK - 1;
    return sqlite_keep_ids(store, run->first, run->last, &run->kept, &run->kept_count, err);
}

/* How many of the kept ones, from there on, are neighbours. */
static size_t count_neighbours(const struct run *run, size_t from) {
    size_t end = from + 1;
    while (end < run->kept_count && run->kept[end] == run->kept[end - 1] + 1)
        end++;
    return end - from;
}

static boxcar_status for_kept(struct sqlite_store *store, const struct run *run, piece_fn *stay,
                              boxcar_error *err) {
    for (size_t i = 0, count; i < run->kept_count; i += count) {
        count = count_neighbours(run, i);
        TRY(stay(store, run, run->kept[i], run->kept[i + count - 1], err));
    }
    return BOXCAR_OK;
}

/* *ret_gone: how many those are. */
static boxcar_status for_others(struct sqlite_store *store, const struct run *run, piece_fn *go,
                                int64_t *ret_gone, boxcar_error *err) {
    int64_t next = run->first;
    *ret_gone = 0;
    for (size_t i = 0; i <= run->kept_count; i++) {
        int64_t stop = i < run->kept_count ? run->kept[i] : run->last + 1;
        if (stop > next) {
            TRY(go(store, run, next, stop - 1, err));
            *ret_gone += stop - next;
        }
        next = stop + 1;
    }
    return BOXCAR_OK;
}

/* ---- what is done ---- */

static boxcar_status next_done(struct sqlite_store *store, struct run *ret_run, bool *ret_found,
                               boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_FINISHED_PAST, Q_INT(store->now - store->settings.retention_done_ms * 1000),
                   Q_INT(store->kept_done.at), Q_INT(store->kept_done.work_id));
    *ret_found = query_next(&query);
    if (*ret_found) {
        *ret_run = (struct run){.first = query_get_int(&query, 0),
                                .end = query_get_int(&query, 1),
                                .at = query_get_int(&query, 3)};
        query_get_id(&query, 2, ret_run->owner);
    }
    return query_status(&query, err);
}

static boxcar_status uncount(struct sqlite_store *store, int64_t first, int64_t last, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_RANGE_TOPICS, Q_INT(first), Q_INT(last));
    while (query_next(&query))
        sqlite_tally_add(store, (int)query_get_int(&query, 0), query_get_text(&query, 1), TALLY_DONE,
                         -query_get_int(&query, 2));
    return query_status(&query, err);
}

static boxcar_status remove_done(struct sqlite_store *store, const struct run *run, int64_t first,
                                 int64_t last, boxcar_error *err) {
    (void)run;
    TRY(uncount(store, first, last, err));
    return sqlite_message_remove(store, first, last, err);
}

static boxcar_status write_done(struct sqlite_store *store, const struct run *run, int64_t first,
                                int64_t last, boxcar_error *err) {
    return query_do(store, S_FINISHED_INSERT, err, Q_INT(first), Q_INT(last), Q_ID(run->owner),
                    Q_INT(run->at));
}

/* The messages go before the row that says that they are done: keys of the inbox look there. */
static boxcar_status purge_done(struct sqlite_store *store, struct run *run, int64_t *ret_gone,
                                boxcar_error *err) {
    TRY(look_into(store, run, err));
    store->kept_done = (struct kept_look){run->at, run->last};
    TRY(for_others(store, run, remove_done, ret_gone, err));
    if (*ret_gone == 0 && run->last == run->end)
        return BOXCAR_OK;
    TRY(query_do(store, S_FINISHED_DELETE, err, Q_INT(run->first)));
    TRY(for_kept(store, run, write_done, err));
    return run->last < run->end ? write_done(store, run, run->last + 1, run->end, err) : BOXCAR_OK;
}

boxcar_status sqlite_keep_done_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err) {
    TRY(sqlite_settings_load(store, err));
    for (int64_t looked_at = 0; looked_at < CHUNK;) {
        struct run run;
        bool found;
        int64_t gone;
        TRY(next_done(store, &run, &found, err));
        if (!found) {
            store->kept_done = (struct kept_look){0};
            return BOXCAR_OK;
        }
        TRY(purge_done(store, &run, &gone, err));
        done->count += gone;
        looked_at += run.last - run.first + 1;
    }
    done->more = true;
    return BOXCAR_OK;
}

/* ---- what is dead ---- */

static boxcar_status purge_dead(struct sqlite_store *store, int64_t work_id, int64_t *count,
                                boxcar_error *err) {
    int64_t *kept;
    size_t kept_count;
    bool removed = false;
    TRY(sqlite_keep_ids(store, work_id, work_id, &kept, &kept_count, err));
    if (kept_count == 0)
        TRY(sqlite_dead_remove(store, work_id, &removed, err));
    *count += removed;
    return BOXCAR_OK;
}

boxcar_status sqlite_keep_dead_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err) {
    TRY(sqlite_settings_load(store, err));
    for (int looked_at = 0; looked_at < CHUNK; looked_at++) {
        AUTO_QUERY struct query query =
            query_with(store, S_DEAD_PAST, Q_INT(store->now - store->settings.retention_dead_ms * 1000),
                       Q_INT(store->kept_dead.at), Q_INT(store->kept_dead.work_id));
        bool found = query_next(&query);
        TRY(query_status(&query, err));
        if (!found) {
            store->kept_dead = (struct kept_look){0};
            return BOXCAR_OK;
        }
        store->kept_dead = (struct kept_look){query_get_int(&query, 1), query_get_int(&query, 0)};
        query_end(&query);
        TRY(purge_dead(store, store->kept_dead.work_id, &done->count, err));
    }
    done->more = true;
    return BOXCAR_OK;
}

/* ---- what the main reader passed over ---- */

static boxcar_status next_passed(struct sqlite_store *store, struct run *ret_run, bool *ret_found,
                                 boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_PASSED_PAST, Q_INT(store->kept_passed.work_id));
    *ret_found = query_next(&query);
    if (*ret_found)
        *ret_run = (struct run){.first = query_get_int(&query, 0), .end = query_get_int(&query, 1)};
    return query_status(&query, err);
}

static boxcar_status remove_passed(struct sqlite_store *store, const struct run *run, int64_t first,
                                   int64_t last, boxcar_error *err) {
    (void)run;
    return sqlite_message_remove(store, first, last, err);
}

static boxcar_status write_passed(struct sqlite_store *store, const struct run *run, int64_t first,
                                  int64_t last, boxcar_error *err) {
    (void)run;
    return query_do(store, S_PASSED_WRITE, err, Q_INT(first), Q_INT(last));
}

static boxcar_status purge_passed(struct sqlite_store *store, struct run *run, int64_t *ret_gone,
                                  boxcar_error *err) {
    TRY(look_into(store, run, err));
    store->kept_passed.work_id = run->last;
    TRY(for_others(store, run, remove_passed, ret_gone, err));
    if (*ret_gone == 0 && run->last == run->end)
        return BOXCAR_OK;
    TRY(query_do(store, S_PASSED_DELETE, err, Q_INT(run->first)));
    TRY(for_kept(store, run, write_passed, err));
    return run->last < run->end ? write_passed(store, run, run->last + 1, run->end, err) : BOXCAR_OK;
}

boxcar_status sqlite_keep_passed_step(struct sqlite_store *store, struct join_upkeep *done,
                                      boxcar_error *err) {
    for (int64_t looked_at = 0; looked_at < CHUNK;) {
        struct run run;
        bool found;
        int64_t gone;
        TRY(next_passed(store, &run, &found, err));
        if (!found) {
            store->kept_passed = (struct kept_look){0};
            return BOXCAR_OK;
        }
        TRY(purge_passed(store, &run, &gone, err));
        done->count += gone;
        looked_at += run.last - run.first + 1;
    }
    done->more = true;
    return BOXCAR_OK;
}
