/* Upkeep of joins, each step along an index and bounded: deadlines, and joins past their retention. */
#include "join.h"
#include "store/sqlite/admin/setting.h"

#define JOINS_MAX 500    /* ended or removed in a transaction */
#define MEMBERS_MAX 1000 /* removed in a transaction, with their outcomes */

/* ---- deadlines ---- */

static boxcar_status read_overdue(struct sqlite_store *store, boxcar_join *joins, size_t *ret_count,
                                  boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_JOIN_OVERDUE, Q_INT(store->now), Q_INT(JOINS_MAX));
    *ret_count = 0;
    while (query_next(&query))
        sqlite_join_from_row(&query, &joins[(*ret_count)++]);
    return query_status(&query, err);
}

/* Counts joins. Read first: ending them changes the index that is walked. */
boxcar_status sqlite_join_time_out_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                        boxcar_error *err) {
    boxcar_join *joins = arena_alloc_array(&store->scratch, JOINS_MAX, sizeof(*joins));
    if (joins == NULL)
        return error_no_memory(err);
    size_t count;
    TRY(read_overdue(store, joins, &count, err));
    for (size_t i = 0; i < count; i++) {
        join_time_out(&joins[i], store->now);
        TRY(sqlite_join_row_write(store, &joins[i], err));
    }
    *ret_upkeep = (struct join_upkeep){.count = (int64_t)count, .more = count == JOINS_MAX};
    return BOXCAR_OK;
}

/* ---- retention ---- */

static boxcar_status read_over(struct sqlite_store *store, boxcar_join_id *join_ids, size_t *ret_count,
                               boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(
        store, S_JOIN_OVER, Q_INT(store->now - store->settings.retention_joins_ms * 1000), Q_INT(JOINS_MAX));
    *ret_count = 0;
    while (query_next(&query))
        query_get_id(&query, 0, join_ids[(*ret_count)++].uuid.bytes);
    return query_status(&query, err);
}

/* Members first, then what became of them; *ret_gone: nothing is left, and the join went with it. */
static boxcar_status purge_one(struct sqlite_store *store, boxcar_join_id join_id, int64_t limit,
                               int64_t *ret_count, bool *ret_gone, boxcar_error *err) {
    struct query_value id = Q_ID(join_id.uuid.bytes);
    TRY(query_do(store, S_MEMBERS_DELETE, err, id, Q_INT(limit)));
    *ret_count = sqlite3_changes(store->db);
    if (*ret_count < limit) {
        TRY(query_do(store, S_OUTCOMES_DELETE, err, id, Q_INT(limit - *ret_count)));
        *ret_count += sqlite3_changes(store->db);
    }
    *ret_gone = *ret_count < limit;
    if (!*ret_gone)
        return BOXCAR_OK;
    TRY(query_do(store, S_WAITS_DELETE, err, id));
    return query_do(store, S_JOIN_DELETE, err, id);
}

/* Counts joins. */
boxcar_status sqlite_join_purge_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                     boxcar_error *err) {
    boxcar_join_id *join_ids = arena_alloc_array(&store->scratch, JOINS_MAX, sizeof(*join_ids));
    if (join_ids == NULL)
        return error_no_memory(err);
    int64_t purged = 0, members = 0;
    size_t count;
    TRY(sqlite_settings_load(store, err));
    TRY(read_over(store, join_ids, &count, err));
    for (size_t i = 0; i < count && members < MEMBERS_MAX; i++) {
        int64_t removed;
        bool gone;
        TRY(purge_one(store, join_ids[i], MEMBERS_MAX - members, &removed, &gone, err));
        members += removed;
        purged += gone;
    }
    *ret_upkeep =
        (struct join_upkeep){.count = purged, .more = count == JOINS_MAX || purged < (int64_t)count};
    return BOXCAR_OK;
}
