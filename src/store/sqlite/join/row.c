/* One join: its row, and what its end sets going. */
#include <string.h>

#include "join.h"
#include "store/join_log.h"

void sqlite_join_from_row(struct query *query, boxcar_join *ret_join) {
    *ret_join = (boxcar_join){.expected_steps = query_get_int(query, 1),
                              .completed_steps = query_get_int(query, 2),
                              .failed_steps = query_get_int(query, 3),
                              .status = (boxcar_join_status)query_get_int(query, 4),
                              .reason = (boxcar_join_reason)query_get_int(query, 5),
                              .created_at = query_get_int(query, 6),
                              .last_updated_at = query_get_int(query, 7),
                              .deadline = query_get_time(query, 8)};
    query_get_id(query, 0, ret_join->join_id.uuid.bytes);
}

boxcar_status sqlite_join_row_read(struct sqlite_store *store, boxcar_join_id join_id, boxcar_join *ret_join,
                                   bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_JOIN_READ, Q_ID(join_id.uuid.bytes));
    *ret_found = query_next(&query);
    if (*ret_found)
        sqlite_join_from_row(&query, ret_join);
    return query_status(&query, err);
}

boxcar_status sqlite_join_row_need(struct sqlite_store *store, boxcar_join_id join_id, boxcar_join *ret_join,
                                   boxcar_error *err) {
    bool found;
    TRY(sqlite_join_row_read(store, join_id, ret_join, &found, err));
    if (found)
        return BOXCAR_OK;
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(join_id.uuid, text);
    return error_set(err, BOXCAR_E_NOT_FOUND, "there is no join %s", text);
}

boxcar_status sqlite_join_error_ended(boxcar_join_id join_id, boxcar_error *err) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(join_id.uuid, text);
    return error_set(err, BOXCAR_E_CONFLICT, "join %s has ended", text);
}

/* ---- writing ---- */

boxcar_status sqlite_join_row_write(struct sqlite_store *store, const boxcar_join *join, boxcar_error *err) {
    const uint8_t *id = join->join_id.uuid.bytes;
    TRY(query_do(store, S_JOIN_WRITE, err, Q_ID(id), Q_INT(join->completed_steps), Q_INT(join->failed_steps),
                 Q_INT(join->status), Q_INT(join->reason), Q_INT(join->last_updated_at)));
    if (join->status == BOXCAR_JOIN_PENDING)
        return BOXCAR_OK;
    /* Waits that are leased find out by themselves: they are evaluated after this transaction. */
    TRY(query_do(store, S_WAITS_WAKE, err, Q_ID(id), Q_INT(store->now)));
    return ended_list_add(&store->ended, join, err);
}

/* ---- telling ---- */

/* The transaction is committed: that there is no memory for its story must not make it a failure. */
void sqlite_join_tell_ended(struct sqlite_store *store, struct result *result) {
    const struct ended_list *ended = &store->ended;
    size_t count = result->ended_count + ended->count;
    if (ended->count == 0 || !store_logs(&store->base, BOXCAR_LOG_INFO))
        return;
    boxcar_join *items = arena_alloc_array(&result->arena, count, sizeof(*items));
    if (items == NULL)
        return;
    if (result->ended_count > 0)
        memcpy(items, result->ended, result->ended_count * sizeof(*items));
    memcpy(items + result->ended_count, ended->items, ended->count * sizeof(*items));
    result->ended = items;
    result->ended_count = count;
}

void sqlite_join_log_ended(struct sqlite_store *store) {
    join_log_ended(&store->base, store->ended.items, store->ended.count);
}
