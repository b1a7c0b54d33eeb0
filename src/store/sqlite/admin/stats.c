/* Counters for people: from boxcar_tally, which every transaction keeps. Only what depends on
 * the clock is counted, up to a limit; beyond it the answer is an estimate and says so. */
#include "stats.h"

#include "base/utf8.h"
#include "setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/park.h"

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

/* ---- the counters ---- */

static boxcar_status read_topic(struct sqlite_store *store, struct gathering *gathering, struct query *query,
                                boxcar_error *err) {
    int64_t total = 0;

    for (int kind = 0; kind < TALLY_KINDS; kind++) {
        int64_t count = query_get_int(query, 1 + kind);
        gathering->rows[0].counts[kind] += count;
        total += count;
    }
    if (!gathering->by_topic || total == 0)
        return BOXCAR_OK;
    struct stats_row *row = add_row(store, gathering);
    if (row == NULL)
        return error_no_memory(err);
    for (int kind = 0; kind < TALLY_KINDS; kind++)
        row->counts[kind] = query_get_int(query, 1 + kind);
    return query_copy_text(query, 0, &gathering->list->arena, &row->stats.topic, err);
}

static boxcar_status read_counters(struct sqlite_store *store, struct gathering *gathering,
                                   boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_TALLY_READ);
    bool more = true;
    boxcar_status status = BOXCAR_OK;

    if (add_row(store, gathering) == NULL)
        return error_no_memory(err);
    query_int(&query, gathering->box);
    while (status == BOXCAR_OK && (status = query_step(&query, &more, err)) == BOXCAR_OK && more)
        status = read_topic(store, gathering, &query, err);
    return status;
}

/* The row of a topic; rows are in the order of their topics. */
static struct stats_row *row_of(struct gathering *gathering, boxcar_str topic) {
    for (size_t i = 1; i < gathering->count; i++) {
        if (str_equal(gathering->rows[i].stats.topic, topic))
            return &gathering->rows[i];
    }
    return NULL;
}

/* ---- what depends on the clock ---- */

/* An expired lease counts as ready: the next claim will hand it out. */
static boxcar_status count_expired(struct sqlite_store *store, struct gathering *gathering,
                                   boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STATS_EXPIRED);
    int64_t seen = 0;
    bool more = true;
    boxcar_status status;

    query_int(&query, store->now);
    query_int(&query, COUNT_MAX);
    while ((status = query_step(&query, &more, err)) == BOXCAR_OK && more) {
        seen++;
        if (query_get_int(&query, 0) != (int64_t)gathering->box)
            continue;
        struct stats_row *rows[] = {&gathering->rows[0], row_of(gathering, query_get_text(&query, 1))};
        for (int i = 0; i < 2 && rows[i] != NULL; i++) {
            rows[i]->expired_leases++;
            note_ready_since(rows[i], query_get_int(&query, 2));
        }
    }
    for (size_t i = 0; seen == COUNT_MAX && i < gathering->count; i++)
        note_estimate(&gathering->rows[i], BOXCAR_STATS_READY | BOXCAR_STATS_IN_PROGRESS);
    return status;
}

static boxcar_status count_parked(struct sqlite_store *store, struct gathering *gathering,
                                  const struct stats_row *row, bool ready, int64_t *ret_count,
                                  boxcar_error *err) {
    bool whole = row->stats.topic.data == NULL;
    enum statement statement = ready ? (whole ? S_STATS_PARKED_READY : S_STATS_TOPIC_READY)
                                     : (whole ? S_STATS_PARKED_LATER : S_STATS_TOPIC_LATER);
    AUTO_QUERY struct query query = query_on(store, statement);
    bool found = false;
    boxcar_status status;

    query_int(&query, gathering->box);
    query_int(&query, store->now);
    query_int(&query, COUNT_MAX);
    if (!whole)
        query_text(&query, row->stats.topic);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK)
        *ret_count = found ? query_get_int(&query, 0) : 0;
    return status;
}

/* How many of the open ones are due: counted from the side that is small enough. */
static boxcar_status split_parked(struct sqlite_store *store, struct gathering *gathering,
                                  struct stats_row *row, int64_t *ret_ready, boxcar_error *err) {
    int64_t open = row->counts[TALLY_PARKED], ready = 0, later = 0;
    boxcar_status status = BOXCAR_OK;

    if (open > 0)
        status = count_parked(store, gathering, row, true, &ready, err);
    if (status != BOXCAR_OK || ready < COUNT_MAX) {
        *ret_ready = ready;
        return status;
    }
    status = count_parked(store, gathering, row, false, &later, err);
    if (later == COUNT_MAX)
        note_estimate(row, BOXCAR_STATS_READY | BOXCAR_STATS_WAITING);
    *ret_ready = open - later;
    return status;
}

static boxcar_status note_oldest_parked(struct sqlite_store *store, struct gathering *gathering,
                                        struct stats_row *row, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    for (int state = PARKED_OPEN; status == BOXCAR_OK && state <= PARKED_SUSPECT; state++) {
        bool whole = row->stats.topic.data == NULL, found = false;
        AUTO_QUERY struct query query = query_on(store, whole ? S_STATS_OLDEST_PARKED : S_STATS_OLDEST_TOPIC);
        query_int(&query, gathering->box);
        query_int(&query, state);
        if (!whole)
            query_text(&query, row->stats.topic);
        status = query_step(&query, &found, err);
        boxcar_time oldest = status == BOXCAR_OK && found ? query_get_time(&query, 0) : BOXCAR_TIME_NONE;
        if (oldest != BOXCAR_TIME_NONE && oldest <= store->now)
            note_ready_since(row, oldest);
    }
    return status;
}

/* Walks a bounded way into the fresh part of the log. What is not met there is younger than the
 * last message met, which serves as an estimate. */
static boxcar_status find_oldest_fresh(struct sqlite_store *store, struct gathering *gathering,
                                       boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STATS_OLDEST_FRESH);
    size_t missing = 0;
    boxcar_time last_met = BOXCAR_TIME_NONE;
    bool more = true;
    boxcar_status status = BOXCAR_OK;

    for (size_t i = 0; i < gathering->count; i++)
        missing += gathering->rows[i].counts[TALLY_FRESH] > 0;
    query_int(&query, gathering->box);
    query_int(&query, COUNT_MAX);
    while (missing > 0 && (status = query_step(&query, &more, err)) == BOXCAR_OK && more) {
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
    return status;
}

/* Fresh messages whose turn has not come, among the first ones. Most stores have no streams. */
static boxcar_status count_behind(struct sqlite_store *store, struct gathering *gathering,
                                  boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STATS_BEHIND);
    int64_t seen = 0;
    bool more = true;
    boxcar_status status = sqlite_settings_load(store, err);

    if (status != BOXCAR_OK || !store->settings.partitions_fixed ||
        gathering->rows[0].counts[TALLY_FRESH] == 0)
        return status;
    query_int(&query, gathering->box);
    query_int(&query, COUNT_MAX);
    while ((status = query_step(&query, &more, err)) == BOXCAR_OK && more) {
        struct stats_row *rows[] = {&gathering->rows[0], row_of(gathering, query_get_text(&query, 0))};

        seen++;
        for (int i = 0; query_get_int(&query, 1) != 0 && i < 2 && rows[i] != NULL; i++)
            rows[i]->behind++;
    }
    for (size_t i = 0; seen == COUNT_MAX && i < gathering->count; i++)
        note_estimate(&gathering->rows[i], BOXCAR_STATS_READY | BOXCAR_STATS_WAITING);
    return status;
}

static boxcar_status finish_row(struct sqlite_store *store, struct gathering *gathering,
                                struct stats_row *row, boxcar_error *err) {
    boxcar_stats *stats = &row->stats;
    int64_t due = 0;
    boxcar_status status = split_parked(store, gathering, row, &due, err);

    if (status == BOXCAR_OK && row->counts[TALLY_PARKED] > 0)
        status = note_oldest_parked(store, gathering, row, err);
    note_ready_since(row, row->oldest_fresh);
    stats->ready = row->counts[TALLY_FRESH] - row->behind + due + row->expired_leases;
    stats->waiting = row->counts[TALLY_PARKED] - due + row->counts[TALLY_BEHIND] + row->behind;
    stats->in_progress = row->counts[TALLY_LEASED] - row->expired_leases;
    stats->done = row->counts[TALLY_DONE];
    stats->failed = row->counts[TALLY_DEAD];
    if (stats->ready > 0 && row->oldest != BOXCAR_TIME_NONE && row->oldest < store->now)
        stats->oldest_ready_age_seconds = (double)(store->now - row->oldest) / 1e6;
    return status;
}

static boxcar_status finish(struct sqlite_store *store, struct gathering *gathering, boxcar_error *err) {
    struct stats_rows *list = gathering->list;
    boxcar_status status = BOXCAR_OK;

    list->items = arena_alloc_array(&list->arena, gathering->count, sizeof(*list->items));
    if (list->items == NULL)
        return error_no_memory(err);
    for (size_t i = 0; status == BOXCAR_OK && i < gathering->count; i++) {
        status = finish_row(store, gathering, &gathering->rows[i], err);
        list->items[i] = gathering->rows[i].stats;
    }
    list->count = gathering->count;
    return status;
}

static boxcar_status gather(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct gathering *gathering = context;
    boxcar_status status;

    arena_release(&gathering->list->arena);
    gathering->count = gathering->capacity = 0;
    status = read_counters(store, gathering, err);
    if (status == BOXCAR_OK)
        status = count_expired(store, gathering, err);
    if (status == BOXCAR_OK)
        status = find_oldest_fresh(store, gathering, err);
    if (status == BOXCAR_OK)
        status = count_behind(store, gathering, err);
    return status == BOXCAR_OK ? finish(store, gathering, err) : status;
}

boxcar_status sqlite_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                           struct stats_rows **ret_list, boxcar_error *err) {
    struct gathering gathering = {
        .box = box, .by_topic = by_topic, .list = calloc(1, sizeof(*gathering.list))};
    boxcar_status status;

    if (gathering.list == NULL)
        return error_no_memory(err);
    status = sqlite_transaction(sqlite_of(store), ACCESS_READ, gather, &gathering, err);
    if (status == BOXCAR_OK) {
        *ret_list = gathering.list;
        return BOXCAR_OK;
    }
    arena_release(&gathering.list->arena);
    free(gathering.list);
    return status;
}
