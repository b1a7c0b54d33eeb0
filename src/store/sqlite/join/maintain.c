/* Upkeep of joins, each step along an index and bounded: deadlines, members whose message had ended before
 * they were attached, joins past their retention. */
#include "join.h"
#include "store/sqlite/admin/setting.h"

#define JOINS_MAX 500    /* ended or removed in a transaction */
#define MEMBERS_MAX 1000 /* settled or removed in a transaction, with their outcomes */

/* ---- deadlines ---- */

static boxcar_status read_overdue(struct sqlite_store *store, boxcar_join *joins, size_t *ret_count,
                                  boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_JOIN_OVERDUE);
    bool row = true;
    boxcar_status status;

    *ret_count = 0;
    query_int(&query, store->now);
    query_int(&query, JOINS_MAX);
    while ((status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        sqlite_join_from_row(&query, &joins[(*ret_count)++]);
    return status;
}

/* Counts joins. Read first: ending them changes the index that is walked. */
boxcar_status sqlite_join_time_out_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                        boxcar_error *err) {
    boxcar_join *joins = arena_alloc_array(&store->scratch, JOINS_MAX, sizeof(*joins));
    size_t count;
    boxcar_status status;

    if (joins == NULL)
        return error_no_memory(err);
    status = read_overdue(store, joins, &count, err);
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++) {
        join_time_out(&joins[i], store->now);
        status = sqlite_join_row_write(store, &joins[i], err);
    }
    if (status == BOXCAR_OK)
        *ret_upkeep = (struct join_upkeep){.count = (int64_t)count, .more = count == JOINS_MAX};
    return status;
}

/* ---- late members ---- */

/* Counts members. */
boxcar_status sqlite_join_settle_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                      boxcar_error *err) {
    int64_t settled, seen;
    boxcar_status status = sqlite_join_settle_some(store, MEMBERS_MAX, &settled, &seen, err);

    if (status == BOXCAR_OK)
        *ret_upkeep = (struct join_upkeep){.count = settled, .more = seen == MEMBERS_MAX};
    return status;
}

/* ---- retention ---- */

static boxcar_status read_over(struct sqlite_store *store, boxcar_join_id *join_ids, size_t *ret_count,
                               boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_JOIN_OVER);
    bool row = true;
    boxcar_status status;

    *ret_count = 0;
    query_int(&query, store->now - store->settings.retention_joins_ms * 1000);
    query_int(&query, JOINS_MAX);
    while ((status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        query_get_id(&query, 0, join_ids[(*ret_count)++].uuid.bytes);
    return status;
}

/* Adds to *count how many went. */
static boxcar_status delete_rows(struct sqlite_store *store, enum statement statement, boxcar_join_id join_id,
                                 int64_t limit, int64_t *count, boxcar_error *err) {
    struct query query = query_on(store, statement);
    boxcar_status status;

    query_id(&query, join_id.uuid.bytes);
    query_int(&query, limit);
    status = query_run(&query, err);
    if (status == BOXCAR_OK)
        *count += sqlite3_changes(store->db);
    return status;
}

static boxcar_status run_on_join(struct sqlite_store *store, enum statement statement, boxcar_join_id join_id,
                                 boxcar_error *err) {
    struct query query = query_on(store, statement);

    query_id(&query, join_id.uuid.bytes);
    return query_run(&query, err);
}

/* Members first, then what became of them; *ret_gone: nothing is left, and the join went with it. */
static boxcar_status purge_one(struct sqlite_store *store, boxcar_join_id join_id, int64_t limit,
                               int64_t *ret_count, bool *ret_gone, boxcar_error *err) {
    boxcar_status status;

    *ret_count = 0;
    *ret_gone = false;
    status = delete_rows(store, S_MEMBERS_DELETE, join_id, limit, ret_count, err);
    if (status == BOXCAR_OK && *ret_count < limit)
        status = delete_rows(store, S_OUTCOMES_DELETE, join_id, limit - *ret_count, ret_count, err);
    if (status != BOXCAR_OK || *ret_count == limit)
        return status;
    status = run_on_join(store, S_WAITS_DELETE, join_id, err);
    if (status == BOXCAR_OK)
        status = run_on_join(store, S_JOIN_DELETE, join_id, err);
    *ret_gone = true;
    return status;
}

/* Counts joins. */
boxcar_status sqlite_join_purge_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                     boxcar_error *err) {
    boxcar_join_id *join_ids = arena_alloc_array(&store->scratch, JOINS_MAX, sizeof(*join_ids));
    int64_t purged = 0, members = 0;
    size_t count = 0, i = 0;
    boxcar_status status;

    if (join_ids == NULL)
        return error_no_memory(err);
    status = sqlite_settings_load(store, err);
    if (status == BOXCAR_OK)
        status = read_over(store, join_ids, &count, err);
    for (; status == BOXCAR_OK && i < count && members < MEMBERS_MAX; i++) {
        int64_t removed = 0;
        bool gone;
        status = purge_one(store, join_ids[i], MEMBERS_MAX - members, &removed, &gone, err);
        members += removed;
        purged += gone;
    }
    if (status == BOXCAR_OK)
        *ret_upkeep =
            (struct join_upkeep){.count = purged, .more = count == JOINS_MAX || purged < (int64_t)count};
    return status;
}
