/* Settling: each id is looked up in its lease, fenced by owner and epoch, and passed over when
 * that does not match. */
#include "settle.h"

#include <string.h>

#include "base/utf8.h"
#include "lease.h"
#include "release.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/stream/stream.h"

/* All but the texts. */
static struct lease read_lease(const struct query *query, int64_t work_id) {
    struct lease lease = {.work_id = work_id,
                          .epoch.value = query_get_int(query, 0),
                          .box = (int)query_get_int(query, 2),
                          .parked = query_get_int(query, 3) != 0};
    query_get_id(query, 1, lease.owner.uuid.bytes);
    return lease;
}

boxcar_status sqlite_lease_read(struct sqlite_store *store, int64_t work_id, struct lease *ret_lease,
                                bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_LEASE_READ, Q_INT(work_id));
    bool found;
    TRY(query_step(&query, &found, err));
    if (found) {
        struct lease lease = read_lease(&query, work_id);
        TRY(query_copy_text(&query, 4, &store->scratch, &lease.topic, err));
        TRY(query_copy_text(&query, 5, &store->scratch, &lease.stream, err));
        *ret_lease = lease;
    }
    *ret_found = found;
    return BOXCAR_OK;
}

boxcar_status sqlite_lease_drop(struct sqlite_store *store, const struct lease *lease, boxcar_error *err) {
    sqlite_tally_add(store, lease->box, lease->topic, TALLY_LEASED, -1);
    return query_do(store, S_LEASE_DELETE, err, Q_INT(lease->work_id));
}

bool sqlite_lease_is_held(const struct lease *lease, boxcar_box box, boxcar_owner owner,
                          const boxcar_settlement *given) {
    return lease->box == (int)box && memcmp(&lease->owner, &owner, sizeof(lease->owner)) == 0 &&
           (given->epoch.value == 0 || given->epoch.value == lease->epoch.value);
}

/* Takes a message that came over the parking lot off it. `reason`: of its death, if it has died. */
static boxcar_status unpark_leased(struct sqlite_store *store, const struct lease *lease,
                                   boxcar_reason reason, struct parked *ret_row, int64_t *ret_earliest,
                                   boxcar_error *err) {
    bool found = false;
    *ret_row = (struct parked){.work_id = lease->work_id};
    *ret_earliest = 0;
    if (lease->parked)
        TRY(sqlite_parked_read(store, lease->work_id, ret_row, &found, err));
    if (!found)
        return BOXCAR_OK;
    if (reason != BOXCAR_REASON_NONE)
        TRY(sqlite_stream_note_death(store, ret_row, reason, err));
    return sqlite_unpark(store, ret_row, ret_earliest, err);
}

boxcar_status sqlite_lease_ack(struct sqlite_store *store, const struct lease *lease, boxcar_error *err) {
    struct parked row;
    int64_t earliest;
    TRY(sqlite_lease_drop(store, lease, err));
    sqlite_tally_add(store, lease->box, lease->topic, TALLY_DONE, 1);
    TRY(unpark_leased(store, lease, BOXCAR_REASON_NONE, &row, &earliest, err));
    if (earliest != 0 && earliest < lease->work_id)
        TRY(sqlite_stream_note_ack(store, &row, err));
    return lease->stream.data != NULL ? sqlite_stream_note_straight_ack(store, lease, err) : BOXCAR_OK;
}

boxcar_status sqlite_lease_fail(struct sqlite_store *store, const struct lease *held, boxcar_reason reason,
                                boxcar_str error, boxcar_error *err) {
    struct lease lease = *held;
    struct parked row;
    int64_t earliest;
    TRY(sqlite_lease_enter_lot(store, &lease, err));
    TRY(sqlite_lease_drop(store, &lease, err));
    TRY(unpark_leased(store, &lease, reason, &row, &earliest, err));
    error = utf8_cut(error, BOXCAR_ERROR_TEXT_MAX);
    struct burial burial = {.work_id = lease.work_id,
                            .box = lease.box,
                            .topic = lease.topic,
                            .reason = reason,
                            .outcome = "failed",
                            .lease = &lease,
                            .retry_count = row.retry_count,
                            .crash_count = row.crash_count,
                            .error = error,
                            .last_error = error.data != NULL ? error : row.last_error};
    return sqlite_bury(store, &burial, err);
}

/* ---- the ways ---- */

struct settling {
    const struct request *request;
    boxcar_box box;    /* the index of the part */
    boxcar_box reader; /* whose it is */
    boxcar_settle_kind kind;
    struct work_id_list *affected;
};

static boxcar_status fail(struct sqlite_store *store, const struct settling *settling,
                          const struct lease *lease, boxcar_str error, boxcar_error *err) {
    boxcar_reason given = settling->request->own[settling->box].fail_reason;
    boxcar_reason reason = given != BOXCAR_REASON_NONE ? given : BOXCAR_REASON_REJECTED;
    return sqlite_lease_fail(store, lease, reason, error, err);
}

static boxcar_status settle_lease(struct sqlite_store *store, const struct settling *settling,
                                  const struct lease *lease, const boxcar_settlement *given,
                                  boxcar_error *err) {
    struct release how = {.delay_ms = given->delay_ms};
    switch (settling->kind) {
    case BOXCAR_ACK:
        return sqlite_lease_ack(store, lease, err);
    case BOXCAR_ABANDON:
        how.outcome = "abandoned";
        how.error = given->error;
        return sqlite_release(store, lease, &how, err);
    case BOXCAR_DEFER:
        return sqlite_release(store, lease, &how, err);
    case BOXCAR_FAIL:
        return fail(store, settling, lease, given->error, err);
    case BOXCAR_RESOLVE: /* sqlite_join_resolve() */
        break;
    case BOXCAR_RENEW: {
        int64_t lease_ms = request_part_renew_ms(&settling->request->parts[settling->box]);
        return query_do(store, S_LEASE_RENEW, err, Q_INT(lease->work_id),
                        Q_INT(store->now + lease_ms * 1000));
    }
    case BOXCAR_RECORD:
        return query_do(store, S_STAGE_RECORD, err, Q_INT(lease->work_id), Q_INT(given->stages));
    }
    return BOXCAR_OK;
}

static boxcar_status settle_one(struct sqlite_store *store, const struct settling *settling,
                                const boxcar_settlement *given, boxcar_error *err) {
    struct lease lease;
    bool found;
    TRY(sqlite_lease_read(store, given->work_id.value, &lease, &found, err));
    if (!found || !sqlite_lease_is_held(&lease, settling->reader, settling->request->base.owner, given))
        return BOXCAR_OK;
    TRY(settle_lease(store, settling, &lease, given, err));
    settling->affected->items[settling->affected->count++] = given->work_id;
    return BOXCAR_OK;
}

/* ---- evidence of what was done ---- */

static int compare_ids(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* One row a run of neighbours: acking what one claim brought costs one row, however much it was. */
static boxcar_status write_runs(struct sqlite_store *store, boxcar_owner owner, const int64_t *ids,
                                size_t count, boxcar_error *err) {
    for (size_t start = 0, i = 0; i < count; i++) {
        if (i + 1 < count && ids[i + 1] == ids[i] + 1)
            continue;
        TRY(query_do(store, S_FINISHED_INSERT, err, Q_INT(ids[start]), Q_INT(ids[i]), Q_ID(owner.uuid.bytes),
                     Q_INT(store->now)));
        start = i + 1;
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_finish(struct sqlite_store *store, boxcar_owner owner, const struct work_id_list *acked,
                            boxcar_error *err) {
    int64_t *ids = arena_alloc_array(&store->scratch, acked->count, sizeof(*ids));
    if (ids == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < acked->count; i++)
        ids[i] = acked->items[i].value;
    qsort(ids, acked->count, sizeof(*ids), compare_ids);
    TRY(sqlite_stream_check_acks(store, err));
    if (store->reader == NULL)
        TRY(sqlite_join_count_done(store, ids, acked->count, err));
    return write_runs(store, owner, ids, acked->count, err);
}

/* ---- acks of neighbours ---- */

#define RUN_LEAST 8 /* fewer are as quick one by one */

/* How many from there on have work ids without gaps: mostly what one claim brought. */
static size_t count_neighbours(const boxcar_settlement_list *list, size_t first) {
    size_t end = first + 1;
    while (end < list->count && list->items[end].work_id.value - 1 == list->items[end - 1].work_id.value)
        end++;
    return end - first;
}

/* Topics of neighbours are mostly the same: one copy serves. */
static boxcar_status read_texts(struct sqlite_store *store, struct query *query, const struct lease *before,
                                struct lease *lease, boxcar_error *err) {
    if (before != NULL && str_equal(before->topic, query_get_text(query, 4)))
        lease->topic = before->topic;
    else
        TRY(query_copy_text(query, 4, &store->scratch, &lease->topic, err));
    return query_copy_text(query, 5, &store->scratch, &lease->stream, err);
}

/* *ret_whole: all are held by the owner as it says, and none is parked. */
static boxcar_status read_neighbours(struct sqlite_store *store, const struct settling *settling,
                                     const boxcar_settlement *given, size_t count, struct lease *leases,
                                     bool *ret_whole, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_LEASES_READ, Q_INT(given[0].work_id.value),
                                               Q_INT(given[count - 1].work_id.value));
    size_t read = 0;
    *ret_whole = false;
    for (; read < count && query_next(&query); read++) {
        struct lease *lease = &leases[read];
        *lease = read_lease(&query, query_get_int(&query, 6));
        if (lease->work_id != given[read].work_id.value || lease->parked ||
            !sqlite_lease_is_held(lease, settling->reader, settling->request->base.owner, &given[read]))
            return BOXCAR_OK;
        TRY(read_texts(store, &query, read > 0 ? lease - 1 : NULL, lease, err));
    }
    *ret_whole = read == count;
    return query_status(&query, err);
}

/* Acks neighbours by one statement instead of two for each. *ret_acked false: nothing was done, they are not
 * all alike. */
static boxcar_status ack_neighbours(struct sqlite_store *store, const struct settling *settling,
                                    const boxcar_settlement *given, size_t count, bool *ret_acked,
                                    boxcar_error *err) {
    struct lease *leases = arena_alloc_array(&store->scratch, count, sizeof(*leases));
    if (leases == NULL)
        return error_no_memory(err);
    TRY(read_neighbours(store, settling, given, count, leases, ret_acked, err));
    if (!*ret_acked)
        return BOXCAR_OK;
    TRY(query_do(store, S_LEASES_DELETE, err, Q_INT(given[0].work_id.value),
                 Q_INT(given[count - 1].work_id.value)));
    for (size_t i = 0; i < count; i++) {
        sqlite_tally_add(store, leases[i].box, leases[i].topic, TALLY_LEASED, -1);
        sqlite_tally_add(store, leases[i].box, leases[i].topic, TALLY_DONE, 1);
        settling->affected->items[settling->affected->count++] = given[i].work_id;
        if (leases[i].stream.data != NULL)
            TRY(sqlite_stream_note_straight_ack(store, &leases[i], err));
    }
    return BOXCAR_OK;
}

/* An id given twice counts once. Most ways end the lease, so the second finds none. */
static boxcar_status settle_each(struct sqlite_store *store, const struct settling *settling,
                                 const boxcar_settlement_list *list, boxcar_error *err) {
    for (size_t i = 0, count; i < list->count; i += count) {
        bool done = false;
        count = settling->kind == BOXCAR_ACK ? count_neighbours(list, i) : 1;
        if (count >= RUN_LEAST)
            TRY(ack_neighbours(store, settling, &list->items[i], count, &done, err));
        for (size_t k = 0; !done && k < count; k++)
            TRY(settle_one(store, settling, &list->items[i + k], err));
    }
    return BOXCAR_OK;
}

static void drop_repeated(struct work_id_list *list) {
    size_t kept = 0;
    qsort(list->items, list->count, sizeof(*list->items), compare_ids);
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || list->items[kept - 1].value != list->items[i].value)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

boxcar_status sqlite_settle(struct sqlite_store *store, const struct request *request, boxcar_box box,
                            boxcar_settle_kind kind, struct result *result, boxcar_error *err) {
    const boxcar_settlement_list *list = &request->parts[box].settle[kind];
    struct work_id_list *affected = &result->parts[box].settled[kind];
    struct settling settling = {request, box, request_reader(request, (int)box), kind, affected};
    if (list->count == 0)
        return BOXCAR_OK;
    affected->items = arena_alloc_array(&result->arena, list->count, sizeof(*affected->items));
    if (affected->items == NULL)
        return error_no_memory(err);
    TRY(settle_each(store, &settling, list, err));
    if (kind == BOXCAR_ACK && affected->count > 0)
        TRY(sqlite_finish(store, request->base.owner, affected, err));
    if (kind == BOXCAR_RENEW || kind == BOXCAR_RECORD)
        drop_repeated(affected);
    return store->reader == NULL ? sqlite_join_count_buried(store, err) : BOXCAR_OK;
}
