/* Streams that stand still, and evidence of messages that were handled out of order.
 *
 * A halted stream is a row in boxcar_stream_halt. It has no open message: all of them are behind until the
 * row is gone, so claims need not know about halts at all. */
#include "stream.h"

#include <string.h>

#include "base/utf8.h"
#include "core/topic.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/settle/lease.h"

#define EARLIER_LOOK_MAX 100 /* messages that were given back, looked at for one stream of an ack */

/* ---- policies ---- */

boxcar_status sqlite_stream_rules_load(struct sqlite_store *store, boxcar_error *err) {
    struct stream_rules *rules = &store->rules;
    AUTO_QUERY struct query query = query_on(store, S_RULES);
    boxcar_status status = BOXCAR_OK;
    size_t capacity = 0;
    bool row = true;

    if (rules->loaded)
        return BOXCAR_OK;
    *rules = (struct stream_rules){0};
    while (status == BOXCAR_OK && (status = query_step(&query, &row, err)) == BOXCAR_OK && row) {
        boxcar_stream_rule *items =
            arena_make_room(&store->scratch, rules->items, rules->count, &capacity, sizeof(*items));
        if (items == NULL)
            return error_no_memory(err);
        rules->items = items;
        rules->items[rules->count].policy = (boxcar_stream_policy)query_get_int(&query, 1);
        status = query_copy_text(&query, 0, &store->scratch, &rules->items[rules->count++].pattern, err);
    }
    rules->loaded = status == BOXCAR_OK;
    return status;
}

static boxcar_status halts(struct sqlite_store *store, boxcar_str stream, bool *ret_halts,
                           boxcar_error *err) {
    const struct stream_rules *rules = &store->rules;
    boxcar_status status = sqlite_stream_rules_load(store, err);
    ptrdiff_t best;

    if (status == BOXCAR_OK)
        status = sqlite_settings_load(store, err);
    if (status != BOXCAR_OK)
        return status;
    best = rules->count == 0
               ? -1
               : topic_best_match(&rules->items[0].pattern, rules->count, sizeof(*rules->items), stream);
    *ret_halts =
        (best >= 0 ? rules->items[best].policy : store->settings.stream_policy) == BOXCAR_STREAM_HALT;
    return BOXCAR_OK;
}

/* ---- halts ---- */

boxcar_status sqlite_stream_halt_read(struct sqlite_store *store, struct stream_key key,
                                      struct stream_halt *ret_halt, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_HALT_READ);
    struct stream_halt halt = {.at = BOXCAR_TIME_NONE};
    boxcar_status status;

    query_int(&query, key.box);
    query_text(&query, key.text);
    status = query_step(&query, &halt.found, err);
    if (status != BOXCAR_OK)
        return status;
    if (halt.found) {
        halt.at = query_get_int(&query, 0);
        halt.by = query_get_int(&query, 1);
    }
    *ret_halt = halt;
    return BOXCAR_OK;
}

boxcar_status sqlite_stream_halt_end(struct sqlite_store *store, struct stream_key key, boxcar_error *err) {
    struct query query = query_on(store, S_HALT_DELETE);

    query_int(&query, key.box);
    query_text(&query, key.text);
    return query_run(&query, err);
}

boxcar_status sqlite_stream_note_death(struct sqlite_store *store, const struct parked *row,
                                       boxcar_reason reason, boxcar_error *err) {
    struct stream_key key = {row->box, row->stream};
    struct query query = query_on(store, S_HALT_INSERT);
    bool halting = false;
    boxcar_status status = BOXCAR_OK;

    if (row->stream.data == NULL || reason == BOXCAR_REASON_CANCELLED)
        return BOXCAR_OK;
    status = halts(store, row->stream, &halting, err);
    if (status != BOXCAR_OK || !halting)
        return status;
    query_int(&query, key.box);
    query_text(&query, key.text);
    query_int(&query, store->now);
    query_int(&query, row->work_id);
    status = query_run(&query, err);
    if (status == BOXCAR_OK && sqlite3_changes(store->db) > 0)
        stream_log_remember(&store->base, &store->halted, key.box, key.text, row->work_id);
    return status;
}

boxcar_status sqlite_stream_note_replay(struct sqlite_store *store, struct stream_key key, int64_t work_id,
                                        boxcar_error *err) {
    struct stream_halt halt;
    boxcar_status status;

    if (key.text.data == NULL)
        return BOXCAR_OK;
    status = sqlite_stream_halt_read(store, key, &halt, err);
    if (status != BOXCAR_OK || !halt.found || halt.by != work_id)
        return status;
    return sqlite_stream_halt_end(store, key, err);
}

/* ---- evidence ---- */

static boxcar_status note_acked(struct sqlite_store *store, struct acked item, boxcar_error *err) {
    struct acked_list *acked = &store->acked;

    struct acked *items =
        arena_make_room(&store->scratch, acked->items, acked->count, &acked->capacity, sizeof(*items));
    if (items == NULL)
        return error_no_memory(err);
    acked->items = items;
    acked->items[acked->count++] = item;
    return BOXCAR_OK;
}

boxcar_status sqlite_stream_note_ack(struct sqlite_store *store, const struct parked *row,
                                     boxcar_error *err) {
    if (row->stream.data == NULL)
        return BOXCAR_OK;
    store->acked.from_lot = true;
    return note_acked(store, (struct acked){row->box, row->stream, row->work_id}, err);
}

boxcar_status sqlite_stream_note_straight_ack(struct sqlite_store *store, const struct lease *lease,
                                              boxcar_error *err) {
    return note_acked(store, (struct acked){lease->box, lease->stream, lease->work_id}, err);
}

static int compare_streams(const struct acked *a, const struct acked *b) {
    size_t shorter = a->stream.len < b->stream.len ? a->stream.len : b->stream.len;
    int order = memcmp(a->stream.data, b->stream.data, shorter);

    if (order == 0)
        order = (a->stream.len > b->stream.len) - (a->stream.len < b->stream.len);
    return order != 0 ? order : (a->box > b->box) - (a->box < b->box);
}

static int compare_acked(const void *left, const void *right) {
    const struct acked *a = left, *b = right;
    int order = compare_streams(a, b);

    return order != 0 ? order : (a->work_id > b->work_id) - (a->work_id < b->work_id);
}

/* The first message of the stream, before the last one acked, that was handed out and is unfinished; 0 =
 * none. */
static boxcar_status find_earlier(struct sqlite_store *store, const struct acked *last, int64_t *ret_earlier,
                                  boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STREAM_EARLIER);
    bool found = false;
    boxcar_status status;

    query_int(&query, last->box);
    query_text(&query, last->stream);
    query_int(&query, last->work_id);
    query_int(&query, EARLIER_LOOK_MAX);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK)
        *ret_earlier = found ? query_get_int(&query, 0) : 0;
    return status;
}

static boxcar_status write_violation(struct sqlite_store *store, const struct acked *acked, int64_t earlier,
                                     boxcar_error *err) {
    struct query query = query_on(store, S_VIOLATION_INSERT);

    query_int(&query, store->now);
    query_int(&query, acked->box);
    query_text(&query, acked->stream);
    query_int(&query, acked->work_id);
    query_int(&query, earlier);
    return query_run(&query, err);
}

/* Those of one stream, in order. */
static boxcar_status check_stream(struct sqlite_store *store, const struct acked *acked, size_t count,
                                  boxcar_error *err) {
    const struct acked *last = &acked[count - 1];
    int64_t earlier = 0, straight = 0;
    boxcar_status status = find_earlier(store, last, &earlier, err);

    if (status == BOXCAR_OK)
        status = sqlite_stream_first_straight(store, (struct stream_key){last->box, last->stream},
                                              last->work_id, &straight, err);
    if (earlier == 0 || (straight != 0 && straight < earlier))
        earlier = straight;
    for (size_t i = 0; status == BOXCAR_OK && earlier > 0 && i < count; i++) {
        if (acked[i].work_id > earlier)
            status = write_violation(store, &acked[i], earlier, err);
    }
    return status;
}

/* Those that came straight from the log have only such before them; mostly all of these are acked, too. */
static boxcar_status need_check(struct sqlite_store *store, bool *ret_needed, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_LEASES_STRAIGHT);

    *ret_needed = store->acked.count > 0 && store->acked.from_lot;
    return store->acked.count == 0 || *ret_needed ? BOXCAR_OK : query_step(&query, ret_needed, err);
}

boxcar_status sqlite_stream_check_acks(struct sqlite_store *store, boxcar_error *err) {
    struct acked_list *acked = &store->acked;
    bool needed;
    boxcar_status status = need_check(store, &needed, err);

    if (status != BOXCAR_OK || !needed) {
        acked->count = 0;
        return status;
    }
    qsort(acked->items, acked->count, sizeof(*acked->items), compare_acked);
    for (size_t start = 0, i = 0; status == BOXCAR_OK && i < acked->count; i++) {
        if (i + 1 < acked->count && compare_streams(&acked->items[i], &acked->items[i + 1]) == 0)
            continue;
        status = check_stream(store, &acked->items[start], i + 1 - start, err);
        start = i + 1;
    }
    acked->count = 0;
    acked->from_lot = false;
    return status;
}

static boxcar_status read_count(struct query *query, int64_t *ret_count, boxcar_error *err) {
    bool found = false;
    boxcar_status status = query_step(query, &found, err);

    if (status == BOXCAR_OK)
        *ret_count = found ? query_get_int(query, 0) : 0;
    return status;
}

boxcar_status sqlite_stream_count_violations(struct sqlite_store *store, int box, int64_t limit,
                                             int64_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_VIOLATION_COUNT);

    query_int(&query, box);
    query_int(&query, limit);
    return read_count(&query, ret_count, err);
}

boxcar_status sqlite_stream_count_halted(struct sqlite_store *store, boxcar_box box, int64_t limit,
                                         int64_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_HALT_COUNT);

    query_int(&query, box);
    query_int(&query, limit);
    return read_count(&query, ret_count, err);
}

boxcar_status sqlite_stream_sweep(struct sqlite_store *store, boxcar_error *err) {
    struct query query = query_on(store, S_VIOLATION_SWEEP);
    boxcar_status status = sqlite_settings_load(store, err);

    query_int(&query, store->now - store->settings.retention_dead_ms * 1000);
    return status == BOXCAR_OK ? query_run(&query, err) : status;
}
