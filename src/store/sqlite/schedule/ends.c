/* How open slices end.
 *
 * A slice ends as its message does for the main reader, or for a subscription that takes its topic from that.
 * A message that is gone was not done: when a message that was done is removed, its slice is completed
 * before. A slice whose message its reader has given up has no message any more. */
#include "schedule.h"

/* As S_SLICES_OPEN says it. */
enum end { OPEN, DONE, FAILED };

boxcar_status sqlite_slice_add(struct sqlite_store *store, struct slice_list *list, const struct slice *slice,
                               boxcar_error *err) {
    struct slice *items =
        arena_make_room(&store->scratch, list->items, list->count, &list->capacity, sizeof(*items));
    if (items == NULL)
        return error_no_memory(err);
    list->items = items;
    items[list->count++] = *slice;
    return BOXCAR_OK;
}

struct ended {
    struct slice slice;
    boxcar_time at; /* BOXCAR_TIME_NONE = not well */
};

struct ended_slices {
    struct ended *items; /* in the scratch arena */
    size_t count, capacity;
};

static boxcar_status note_end(struct sqlite_store *store, struct ended_slices *list,
                              const struct query *query, enum end end, boxcar_error *err) {
    struct ended *items =
        arena_make_room(&store->scratch, list->items, list->count, &list->capacity, sizeof(*items));
    if (items == NULL)
        return error_no_memory(err);
    list->items = items;
    items[list->count++] = (struct ended){.slice = {.shard = (int)query_get_int(query, 0),
                                                    .number = query_get_int(query, 1),
                                                    .tries = (int)query_get_int(query, 2)},
                                          .at = end == DONE ? query_get_int(query, 4) : BOXCAR_TIME_NONE};
    return BOXCAR_OK;
}

/* Read first: each that is completed moves in the index. */
static boxcar_status find_ended(struct sqlite_store *store, const struct schedule *schedule,
                                struct ended_slices *list, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_SLICES_OPEN, Q_INT(schedule->id));
    while (query_next(&query)) {
        TRY(sqlite_schedule_check_row(store, &query, "iiiiI", "a shard of a schedule", err));
        enum end end = (enum end)query_get_int(&query, 3);
        if (end != OPEN)
            TRY(note_end(store, list, &query, end, err));
    }
    return query_status(&query, err);
}

boxcar_status sqlite_slices_look(struct sqlite_store *store, const struct schedule *schedule, size_t most,
                                 struct slice_list *failed, boxcar_error *err) {
    struct ended_slices list = {.count = 0};
    TRY(find_ended(store, schedule, &list, err));
    for (size_t i = 0; i < list.count; i++) {
        const struct ended *ended = &list.items[i];
        if (ended->at != BOXCAR_TIME_NONE)
            TRY(query_do(store, S_SLICE_COMPLETE, err, Q_INT(schedule->id), Q_INT(ended->slice.shard),
                         Q_INT(ended->slice.number), Q_INT(ended->at)));
        else if (failed->count < most)
            TRY(sqlite_slice_add(store, failed, &ended->slice, err));
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_slices_settle_range(struct sqlite_store *store, int64_t first, int64_t last,
                                         boxcar_error *err) {
    return query_do(store, S_SLICES_SETTLE, err, Q_INT(first), Q_INT(last), Q_INT(store->now));
}

boxcar_status sqlite_slice_give_up(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    TRY(query_do(store, S_SLICES_SETTLE, err, Q_INT(work_id), Q_INT(work_id), Q_TIME(BOXCAR_TIME_NONE)));
    return query_do(store, S_SLICES_FAIL, err, Q_INT(work_id), Q_INT(work_id));
}

boxcar_status sqlite_slices_complete(struct sqlite_store *store, boxcar_error *err) {
    return query_do(store, S_SLICES_SETTLE, err, Q_INT(0), Q_INT(INT64_MAX), Q_TIME(BOXCAR_TIME_NONE));
}

boxcar_status sqlite_slices_give_up_passed(struct sqlite_store *store, boxcar_error *err) {
    return query_do(store, S_SLICES_FAIL_PASSED, err);
}
