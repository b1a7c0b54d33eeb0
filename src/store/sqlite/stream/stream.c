/* Streams that stand still, and evidence of messages that were handled out of order.
 *
 * A halted stream is a row in boxcar_stream_halt. It has no open message: all of them are behind until the
 * row is gone, so claims need not know about halts at all. */
#include "stream.h"

#include "base/utf8.h"
#include "core/topic.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/settle/lease.h"

#define EARLIER_LOOK_MAX 100 /* messages that were given back, looked at for one stream of an ack */

/* ---- policies ---- */

boxcar_status sqlite_stream_rules_load(struct sqlite_store *store, boxcar_error *err) {
    struct stream_rules *rules = &store->rules;
    if (rules->loaded)
        return BOXCAR_OK;
    AUTO_QUERY struct query query = query_on(store, S_RULES);
    size_t capacity = 0;
    *rules = (struct stream_rules){0};
    while (query_next(&query)) {
        boxcar_stream_rule *items =
            arena_make_room(&store->scratch, rules->items, rules->count, &capacity, sizeof(*items));
        if (items == NULL)
            return error_no_memory(err);
        rules->items = items;
        rules->items[rules->count].policy = (boxcar_stream_policy)query_get_int(&query, 1);
        TRY(query_copy_text(&query, 0, &store->scratch, &rules->items[rules->count++].pattern, err));
    }
    TRY(query_status(&query, err));
    rules->loaded = true;
    return BOXCAR_OK;
}

static boxcar_status halts(struct sqlite_store *store, boxcar_str stream, bool *ret_halts,
                           boxcar_error *err) {
    const struct stream_rules *rules = &store->rules;
    TRY(sqlite_stream_rules_load(store, err));
    TRY(sqlite_settings_load(store, err));
    ptrdiff_t best = rules->count == 0 ? -1
                                       : topic_best_match(&rules->items[0].pattern, rules->count,
                                                          sizeof(*rules->items), stream);
    *ret_halts =
        (best >= 0 ? rules->items[best].policy : store->settings.stream_policy) == BOXCAR_STREAM_HALT;
    return BOXCAR_OK;
}

/* ---- halts ---- */

boxcar_status sqlite_stream_halt_read(struct sqlite_store *store, struct stream_key key,
                                      struct stream_halt *ret_halt, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_HALT_READ, Q_INT(key.box), Q_TEXT(key.text));
    struct stream_halt halt = {.at = BOXCAR_TIME_NONE};
    TRY(query_step(&query, &halt.found, err));
    if (halt.found) {
        halt.at = query_get_int(&query, 0);
        halt.by = query_get_int(&query, 1);
    }
    *ret_halt = halt;
    return BOXCAR_OK;
}

boxcar_status sqlite_stream_halt_end(struct sqlite_store *store, struct stream_key key, boxcar_error *err) {
    return query_do(store, S_HALT_DELETE, err, Q_INT(key.box), Q_TEXT(key.text));
}

boxcar_status sqlite_stream_note_death(struct sqlite_store *store, const struct parked *row,
                                       boxcar_reason reason, boxcar_error *err) {
    bool halting;
    if (row->stream.data == NULL || reason == BOXCAR_REASON_CANCELLED)
        return BOXCAR_OK;
    TRY(halts(store, row->stream, &halting, err));
    if (!halting)
        return BOXCAR_OK;
    TRY(query_do(store, S_HALT_INSERT, err, Q_INT(row->box), Q_TEXT(row->stream), Q_INT(store->now),
                 Q_INT(row->work_id)));
    if (sqlite3_changes(store->db) > 0)
        stream_log_remember(&store->base, &store->halted, row->box, row->stream, row->work_id);
    return BOXCAR_OK;
}

boxcar_status sqlite_stream_note_replay(struct sqlite_store *store, struct stream_key key, int64_t work_id,
                                        boxcar_error *err) {
    struct stream_halt halt;
    if (key.text.data == NULL)
        return BOXCAR_OK;
    TRY(sqlite_stream_halt_read(store, key, &halt, err));
    return halt.found && halt.by == work_id ? sqlite_stream_halt_end(store, key, err) : BOXCAR_OK;
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
    int order = str_compare(a->stream, b->stream);
    return order != 0 ? order : (a->box > b->box) - (a->box < b->box);
}

static int compare_acked(const void *left, const void *right) {
    const struct acked *a = left, *b = right;
    int order = compare_streams(a, b);
    return order != 0 ? order : (a->work_id > b->work_id) - (a->work_id < b->work_id);
}

/* Those of one stream, in order. An earlier message of it that was handed out and is unfinished makes them
 * violations. */
static boxcar_status check_stream(struct sqlite_store *store, const struct acked *acked, size_t count,
                                  boxcar_error *err) {
    const struct acked *last = &acked[count - 1];
    int64_t earlier = 0, straight;
    TRY(query_find_int(store, S_STREAM_EARLIER, &earlier, err, Q_INT(last->box), Q_TEXT(last->stream),
                       Q_INT(last->work_id), Q_INT(EARLIER_LOOK_MAX)));
    TRY(sqlite_stream_first_straight(store, (struct stream_key){last->box, last->stream}, last->work_id,
                                     &straight, err));
    if (earlier == 0 || (straight != 0 && straight < earlier))
        earlier = straight;
    for (size_t i = 0; earlier > 0 && i < count; i++) {
        if (acked[i].work_id > earlier)
            TRY(query_do(store, S_VIOLATION_INSERT, err, Q_INT(store->now), Q_INT(acked[i].box),
                         Q_TEXT(acked[i].stream), Q_INT(acked[i].work_id), Q_INT(earlier)));
    }
    return BOXCAR_OK;
}

/* Those that came straight from the log have only such before them; mostly all of these are acked, too. */
static boxcar_status need_check(struct sqlite_store *store, bool *ret_needed, boxcar_error *err) {
    *ret_needed = store->acked.count > 0 && store->acked.from_lot;
    if (store->acked.count == 0 || *ret_needed)
        return BOXCAR_OK;
    AUTO_QUERY struct query query = query_on(store, S_LEASES_STRAIGHT);
    return query_step(&query, ret_needed, err);
}

boxcar_status sqlite_stream_check_acks(struct sqlite_store *store, boxcar_error *err) {
    struct acked_list *acked = &store->acked;
    bool needed;
    TRY(need_check(store, &needed, err));
    if (needed)
        qsort(acked->items, acked->count, sizeof(*acked->items), compare_acked);
    for (size_t start = 0, i = 0; needed && i < acked->count; i++) {
        if (i + 1 < acked->count && compare_streams(&acked->items[i], &acked->items[i + 1]) == 0)
            continue;
        TRY(check_stream(store, &acked->items[start], i + 1 - start, err));
        start = i + 1;
    }
    acked->count = 0;
    acked->from_lot = false;
    return BOXCAR_OK;
}

boxcar_status sqlite_stream_count_violations(struct sqlite_store *store, int box, int64_t limit,
                                             int64_t *ret_count, boxcar_error *err) {
    return query_find_int(store, S_VIOLATION_COUNT, ret_count, err, Q_INT(box), Q_INT(limit));
}

boxcar_status sqlite_stream_count_halted(struct sqlite_store *store, boxcar_box box, int64_t limit,
                                         int64_t *ret_count, boxcar_error *err) {
    return query_find_int(store, S_HALT_COUNT, ret_count, err, Q_INT(box), Q_INT(limit));
}

boxcar_status sqlite_stream_sweep(struct sqlite_store *store, boxcar_error *err) {
    TRY(sqlite_settings_load(store, err));
    return query_do(store, S_VIOLATION_SWEEP, err,
                    Q_INT(store->now - store->settings.retention_dead_ms * 1000));
}
