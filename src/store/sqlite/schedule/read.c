/* Listing schedules and their slices. */
#include "base/utf8.h"
#include "schedule.h"
#include "store/sqlite/connection/transaction.h"

struct listing {
    boxcar_str topic, work_key; /* absent = all schedules */
    void *list;
};

/* ---- schedules ---- */

static boxcar_status read_schedule(struct query *query, struct arena *arena, boxcar_schedule *row,
                                   boxcar_error *err) {
    *row = (boxcar_schedule){.every_ms = query_get_int(query, 2),
                             .jitter_ms = query_get_int(query, 3),
                             .shards = (int)query_get_int(query, 4),
                             .created_at = query_get_int(query, 7),
                             .paused_at = query_get_time(query, 8),
                             .open_slices = (int)query_get_int(query, 9),
                             .next_due_at = query_get_time(query, 10)};
    TRY(query_copy_text(query, 0, arena, &row->topic, err));
    TRY(query_copy_text(query, 1, arena, &row->work_key, err));
    TRY(query_copy_text(query, 5, arena, &row->then_topic, err));
    return query_copy_text(query, 6, arena, &row->else_topic, err);
}

static boxcar_status list_schedules(struct sqlite_store *store, void *context, boxcar_error *err) {
    const struct listing *listing = context;
    struct schedule_rows *list = listing->list;
    AUTO_QUERY struct query query =
        query_with(store, S_SCHEDULES, Q_TEXT(listing->topic), Q_TEXT(listing->work_key));
    list_clear(list);
    while (query_next(&query)) {
        TRY(sqlite_schedule_check_row(store, &query, "ttiiiTTiIiI", "a schedule", err));
        boxcar_schedule *row = list_add(list, sizeof(*row));
        if (row == NULL)
            return error_no_memory(err);
        TRY(read_schedule(&query, &list->arena, row, err));
    }
    TRY(query_status(&query, err));
    return !str_is_absent(listing->topic) && list->count == 0
               ? store_refuse_schedule(listing->topic, listing->work_key, err)
               : BOXCAR_OK;
}

boxcar_status sqlite_schedule_read(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                   struct schedule_rows **ret_list, boxcar_error *err) {
    struct schedule_rows *list = calloc(1, sizeof(*list));
    struct listing listing = {.topic = topic, .work_key = work_key, .list = list};
    if (list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, list_schedules, &listing, err);
    if (status == BOXCAR_OK)
        *ret_list = list;
    else
        list_free(list);
    return status;
}

/* ---- slices ---- */

static void read_slice(const struct query *query, boxcar_slice *row) {
    *row = (boxcar_slice){.shard = (int)query_get_int(query, 0),
                          .slice = query_get_int(query, 1),
                          .tries = (int)query_get_int(query, 3),
                          .enqueued_at = query_get_time(query, 4),
                          .completed_at = query_get_time(query, 5),
                          .due_at = query_get_time(query, 6)};
    query_get_id(query, 2, row->message_id.uuid.bytes);
}

static boxcar_status list_slices(struct sqlite_store *store, void *context, boxcar_error *err) {
    const struct listing *listing = context;
    struct slice_rows *list = listing->list;
    int64_t id = 0;
    TRY(query_find_int(store, S_SCHEDULE_FIND, &id, err, Q_TEXT(listing->topic), Q_TEXT(listing->work_key)));
    if (id == 0)
        return store_refuse_schedule(listing->topic, listing->work_key, err);
    AUTO_QUERY struct query query = query_with(store, S_SLICES, Q_INT(id));
    list_clear(list);
    while (query_next(&query)) {
        TRY(sqlite_schedule_check_row(store, &query, "iibiIII", "a shard of the schedule", err));
        boxcar_slice *row = list_add(list, sizeof(*row));
        if (row == NULL)
            return error_no_memory(err);
        read_slice(&query, row);
    }
    return query_status(&query, err);
}

boxcar_status sqlite_schedule_slices(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                     struct slice_rows **ret_list, boxcar_error *err) {
    struct slice_rows *list = calloc(1, sizeof(*list));
    struct listing listing = {.topic = topic, .work_key = work_key, .list = list};
    if (list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, list_slices, &listing, err);
    if (status == BOXCAR_OK)
        *ret_list = list;
    else
        list_free(list);
    return status;
}
