/* Counters for people: from boxcar_tally, which every transaction keeps. Only what depends on
 * the clock is counted, up to a limit; beyond it the answer is an estimate and says so. */
#include <string.h>

#include "admin.h"
#include "base/utf8.h"
#include "setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/subscription/reader.h"
#include "store/sqlite/subscription/subscription.h"

#define COUNT_MAX 10000

/* One row in the making; counters in the order of boxcar_tally's columns. */
struct stats_row {
    boxcar_stats stats;
    int64_t counts[TALLY_KINDS];
    int64_t expired_leases;
    boxcar_time oldest; /* since when something is ready; NONE = nothing is */
    boxcar_time oldest_fresh;
    int64_t behind; /* fresh, but its turn in its stream has not come */
};

struct gathering {
    boxcar_box box;
    bool by_topic;
    struct stats_row *rows; /* row 0 is about the whole box */
    size_t count, capacity;
    struct stats_rows *list;
};

static void note_ready_since(struct stats_row *row, boxcar_time since) {
    if (since != BOXCAR_TIME_NONE && (row->oldest == BOXCAR_TIME_NONE || since < row->oldest))
        row->oldest = since;
}

static struct stats_row *add_row(struct sqlite_store *store, struct gathering *gathering) {
    struct stats_row *rows = arena_make_room(&store->scratch, gathering->rows, gathering->count,
                                             &gathering->capacity, sizeof(*rows));
    if (rows == NULL)
        return NULL;
    gathering->rows = rows;
    struct stats_row *row = &gathering->rows[gathering->count++];
    *row = (struct stats_row){
        .oldest = BOXCAR_TIME_NONE, .oldest_fresh = BOXCAR_TIME_NONE, .stats = {.exact = true}};
    return row;
}

static void note_estimate(struct stats_row *row, unsigned numbers) {
    row->stats.exact = false;
    row->stats.estimated |= numbers;
}

static void note_estimates(struct gathering *gathering, unsigned numbers) {
    for (size_t i = 0; i < gathering->count; i++)
        note_estimate(&gathering->rows[i], numbers);
}

/* ---- the counters ---- */

static boxcar_status read_topic(struct sqlite_store *store, struct gathering *gathering, struct query *query,
                                boxcar_error *err) {
    int64_t counts[TALLY_KINDS], total = 0;
    for (int kind = 0; kind < TALLY_KINDS; kind++) {
        counts[kind] = query_get_int(query, 1 + kind);
        gathering->rows[0].counts[kind] += counts[kind];
        total += counts[kind];
    }
    if (!gathering->by_topic || total == 0)
        return BOXCAR_OK;
    struct stats_row *row = add_row(store, gathering);
    if (row == NULL)
        return error_no_memory(err);
    memcpy(row->counts, counts, sizeof(counts));
    return query_copy_text(query, 0, &gathering->list->arena, &row->stats.topic, err);
}

/* The row of a topic. */
static struct stats_row *row_of(struct gathering *gathering, boxcar_str topic) {
    for (size_t i = 1; i < gathering->count; i++) {
        if (str_equal(gathering->rows[i].stats.topic, topic))
            return &gathering->rows[i];
    }
    return NULL;
}

static int compare_topics(const void *a, const void *b) {
    return str_compare(((const struct stats_row *)a)->stats.topic,
                       ((const struct stats_row *)b)->stats.topic);
}

static boxcar_status read_counters(struct sqlite_store *store, struct gathering *gathering,
                                   boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_TALLY_READ, Q_INT(gathering->box));
    if (add_row(store, gathering) == NULL)
        return error_no_memory(err);
    while (query_next(&query))
        TRY(read_topic(store, gathering, &query, err));
    return query_status(&query, err);
}

/* What a subscription has not met is in no counter: it is counted, up to a limit. */
static boxcar_status count_unread(struct sqlite_store *store, struct gathering *gathering,
                                  boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_UNREAD_TOPICS, Q_INT(gathering->box), Q_INT(COUNT_MAX));
    int64_t seen = 0;
    while (query_next(&query)) {
        int64_t count = query_get_int(&query, 1);
        seen += count;
        gathering->rows[0].counts[TALLY_FRESH] += count;
        struct stats_row *row = gathering->by_topic ? row_of(gathering, query_get_text(&query, 0)) : NULL;
        if (gathering->by_topic && row == NULL) {
            row = add_row(store, gathering);
            if (row == NULL)
                return error_no_memory(err);
            TRY(query_copy_text(&query, 0, &gathering->list->arena, &row->stats.topic, err));
        }
        if (row != NULL)
            row->counts[TALLY_FRESH] += count;
    }
    TRY(query_status(&query, err));
    if (gathering->count > 1)
        qsort(gathering->rows + 1, gathering->count - 1, sizeof(*gathering->rows), compare_topics);
    if (seen < COUNT_MAX)
        return BOXCAR_OK;
    note_estimates(gathering, BOXCAR_STATS_READY | BOXCAR_STATS_WAITING);
    return sqlite_unread_count(store, (int)gathering->box, &gathering->rows[0].counts[TALLY_FRESH], err);
}

/* Fresh messages with topics that subscriptions have taken are none of the main reader's. */
static boxcar_status leave_out_taken(struct sqlite_store *store, struct gathering *gathering,
                                     boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_TALLY_READ, Q_INT(gathering->box));
    int64_t takes = 0;
    TRY(query_find_int(store, S_TAKES_ANY, &takes, err, Q_INT(gathering->box)));
    while (takes != 0 && query_next(&query)) {
        bool taken;
        TRY(sqlite_reader_takes(store, gathering->box, query_get_text(&query, 0), &taken, err));
        struct stats_row *row = row_of(gathering, query_get_text(&query, 0));
        if (taken)
            gathering->rows[0].counts[TALLY_FRESH] -= query_get_int(&query, 1);
        if (taken && row != NULL)
            row->counts[TALLY_FRESH] = 0;
    }
    return query_status(&query, err);
}

/* ---- what depends on the clock ---- */

/* An expired lease counts as ready: the next claim will hand it out. */
static boxcar_status count_expired(struct sqlite_store *store, struct gathering *gathering,
                                   boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_STATS_EXPIRED, Q_INT(store->now), Q_INT(COUNT_MAX));
    int64_t seen = 0;
    for (; query_next(&query); seen++) {
        if (query_get_int(&query, 0) != (int64_t)gathering->box)
            continue;
        struct stats_row *rows[] = {&gathering->rows[0], row_of(gathering, query_get_text(&query, 1))};
        for (int i = 0; i < 2 && rows[i] != NULL; i++) {
            rows[i]->expired_leases++;
            note_ready_since(rows[i], query_get_int(&query, 2));
        }
    }
    if (seen == COUNT_MAX)
        note_estimates(gathering, BOXCAR_STATS_READY | BOXCAR_STATS_IN_PROGRESS);
    return query_status(&query, err);
}

static boxcar_status count_parked(struct sqlite_store *store, struct gathering *gathering,
                                  const struct stats_row *row, bool ready, int64_t *ret_count,
                                  boxcar_error *err) {
    bool whole = str_is_absent(row->stats.topic);
    enum statement statement = ready ? (whole ? S_STATS_PARKED_READY : S_STATS_TOPIC_READY)
                                     : (whole ? S_STATS_PARKED_LATER : S_STATS_TOPIC_LATER);
    AUTO_QUERY struct query query =
        query_with(store, statement, Q_INT(gathering->box), Q_INT(store->now), Q_INT(COUNT_MAX));
    if (!whole)
        query_text(&query, row->stats.topic);
    *ret_count = query_next(&query) ? query_get_int(&query, 0) : 0;
    return query_status(&query, err);
}

/* How many of the open ones are due: counted from the side that is small enough. */
static boxcar_status split_parked(struct sqlite_store *store, struct gathering *gathering,
                                  struct stats_row *row, int64_t *ret_ready, boxcar_error *err) {
    int64_t open = row->counts[TALLY_PARKED], later;
    *ret_ready = 0;
    if (open > 0)
        TRY(count_parked(store, gathering, row, true, ret_ready, err));
    if (*ret_ready < COUNT_MAX)
        return BOXCAR_OK;
    TRY(count_parked(store, gathering, row, false, &later, err));
    if (later == COUNT_MAX)
        note_estimate(row, BOXCAR_STATS_READY | BOXCAR_STATS_WAITING);
    *ret_ready = open - later;
    return BOXCAR_OK;
}

static boxcar_status note_oldest_parked(struct sqlite_store *store, struct gathering *gathering,
                                        struct stats_row *row, boxcar_error *err) {
    bool whole = str_is_absent(row->stats.topic);
    for (int state = PARKED_OPEN; state <= PARKED_SUSPECT; state++) {
        AUTO_QUERY struct query query = query_with(
            store, whole ? S_STATS_OLDEST_PARKED : S_STATS_OLDEST_TOPIC, Q_INT(gathering->box), Q_INT(state));
        if (!whole)
            query_text(&query, row->stats.topic);
        boxcar_time oldest = query_next(&query) ? query_get_time(&query, 0) : BOXCAR_TIME_NONE;
        TRY(query_status(&query, err));
        if (oldest <= store->now)
            note_ready_since(row, oldest);
    }
    return BOXCAR_OK;
}

/* Walks a bounded way into the fresh part of the log. What is not met there is younger than the
 * last message met, which serves as an estimate. */
static boxcar_status find_oldest_fresh(struct sqlite_store *store, struct gathering *gathering,
                                       boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_STATS_OLDEST_FRESH, Q_INT(gathering->box), Q_INT(COUNT_MAX));
    size_t missing = 0;
    boxcar_time last_met = BOXCAR_TIME_NONE;
    for (size_t i = 0; i < gathering->count; i++)
        missing += gathering->rows[i].counts[TALLY_FRESH] > 0;
    while (missing > 0 && query_next(&query)) {
        last_met = query_get_int(&query, 3);
        if (query_get_int(&query, 0) != (int64_t)gathering->box || query_get_int(&query, 1) == LANE_ASIDE)
            continue;
        struct stats_row *rows[] = {&gathering->rows[0], row_of(gathering, query_get_text(&query, 2))};
        for (int i = 0; i < 2 && rows[i] != NULL; i++) {
            if (rows[i]->oldest_fresh != BOXCAR_TIME_NONE)
                continue;
            rows[i]->oldest_fresh = last_met;
            missing--;
        }
    }
    for (size_t i = 0; i < gathering->count; i++) {
        struct stats_row *row = &gathering->rows[i];
        if (row->counts[TALLY_FRESH] == 0 || row->oldest_fresh != BOXCAR_TIME_NONE)
            continue;
        row->oldest_fresh = last_met;
        note_estimate(row, BOXCAR_STATS_AGE);
    }
    return query_status(&query, err);
}

/* Fresh messages whose turn has not come, among the first ones. Most stores have no streams. */
static boxcar_status count_behind(struct sqlite_store *store, struct gathering *gathering,
                                  boxcar_error *err) {
    TRY(sqlite_settings_load(store, err));
    bool ordered = store->settings.partitions_fixed || store->reader != NULL; /* or not due yet */
    if (!ordered || gathering->rows[0].counts[TALLY_FRESH] == 0)
        return BOXCAR_OK;
    AUTO_QUERY struct query query =
        query_with(store, S_STATS_BEHIND, Q_INT(gathering->box), Q_INT(COUNT_MAX));
    int64_t seen = 0;
    for (; query_next(&query); seen++) {
        struct stats_row *rows[] = {&gathering->rows[0], row_of(gathering, query_get_text(&query, 0))};
        for (int i = 0; query_get_int(&query, 1) != 0 && i < 2 && rows[i] != NULL; i++)
            rows[i]->behind++;
    }
    if (seen == COUNT_MAX)
        note_estimates(gathering, BOXCAR_STATS_READY | BOXCAR_STATS_WAITING);
    return query_status(&query, err);
}

static boxcar_status finish_row(struct sqlite_store *store, struct gathering *gathering,
                                struct stats_row *row, boxcar_error *err) {
    boxcar_stats *stats = &row->stats;
    int64_t due;
    TRY(split_parked(store, gathering, row, &due, err));
    if (row->counts[TALLY_PARKED] > 0)
        TRY(note_oldest_parked(store, gathering, row, err));
    note_ready_since(row, row->oldest_fresh);
    stats->ready = row->counts[TALLY_FRESH] - row->behind + due + row->expired_leases;
    stats->waiting = row->counts[TALLY_PARKED] - due + row->counts[TALLY_BEHIND] + row->behind;
    stats->in_progress = row->counts[TALLY_LEASED] - row->expired_leases;
    stats->done = row->counts[TALLY_DONE];
    stats->failed = row->counts[TALLY_DEAD];
    if (stats->ready > 0 && row->oldest != BOXCAR_TIME_NONE && row->oldest < store->now)
        stats->oldest_ready_age_seconds = (double)(store->now - row->oldest) / 1e6;
    return BOXCAR_OK;
}

static boxcar_status gather(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct gathering *gathering = context;
    struct stats_rows *list = gathering->list;
    list_clear(list);
    gathering->count = gathering->capacity = 0;
    TRY(sqlite_reader_enter(store, gathering->box, err));
    TRY(read_counters(store, gathering, err));
    TRY(store->reader != NULL ? count_unread(store, gathering, err) : leave_out_taken(store, gathering, err));
    TRY(count_expired(store, gathering, err));
    TRY(find_oldest_fresh(store, gathering, err));
    TRY(count_behind(store, gathering, err));
    list->items = arena_alloc_array(&list->arena, gathering->count, sizeof(*list->items));
    if (list->items == NULL)
        return error_no_memory(err);
    for (; list->count < gathering->count; list->count++) {
        struct stats_row *row = &gathering->rows[list->count];
        TRY(finish_row(store, gathering, row, err));
        list->items[list->count] = row->stats;
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                           struct stats_rows **ret_list, boxcar_error *err) {
    struct gathering gathering = {
        .box = box, .by_topic = by_topic, .list = calloc(1, sizeof(*gathering.list))};
    if (gathering.list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, gather, &gathering, err);
    if (status == BOXCAR_OK)
        *ret_list = gathering.list;
    else
        list_free(gathering.list);
    return status;
}
