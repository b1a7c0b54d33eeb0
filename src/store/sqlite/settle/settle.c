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

boxcar_status sqlite_lease_read(struct sqlite_store *store, int64_t work_id, struct lease *ret_lease,
                                bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_LEASE_READ);
    struct lease lease = {.work_id = work_id};
    bool found = false;
    boxcar_status status;

    query_int(&query, work_id);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK && found) {
        lease.epoch.value = query_get_int(&query, 0);
        query_get_id(&query, 1, lease.owner.uuid.bytes);
        lease.box = (int)query_get_int(&query, 2);
        lease.parked = query_get_int(&query, 3) != 0;
        status = query_copy_text(&query, 4, &store->scratch, &lease.topic, err);
        if (status == BOXCAR_OK)
            status = query_copy_text(&query, 5, &store->scratch, &lease.stream, err);
    }
    if (status != BOXCAR_OK)
        return status;
    *ret_lease = lease;
    *ret_found = found;
    return BOXCAR_OK;
}

boxcar_status sqlite_lease_drop(struct sqlite_store *store, const struct lease *lease, boxcar_error *err) {
    struct query query = query_on(store, S_LEASE_DELETE);

    query_int(&query, lease->work_id);
    sqlite_tally_add(store, lease->box, lease->topic, TALLY_LEASED, -1);
    return query_run(&query, err);
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
    boxcar_status status = BOXCAR_OK;

    *ret_row = (struct parked){.work_id = lease->work_id};
    *ret_earliest = 0;
    if (lease->parked)
        status = sqlite_parked_read(store, lease->work_id, ret_row, &found, err);
    if (status == BOXCAR_OK && found && reason != BOXCAR_REASON_NONE)
        status = sqlite_stream_note_death(store, ret_row, reason, err);
    return status == BOXCAR_OK && found ? sqlite_unpark(store, ret_row, ret_earliest, err) : status;
}

boxcar_status sqlite_lease_ack(struct sqlite_store *store, const struct lease *lease, boxcar_error *err) {
    struct parked row;
    int64_t earliest = 0;
    boxcar_status status = sqlite_lease_drop(store, lease, err);

    if (status == BOXCAR_OK && lease->parked)
        status = unpark_leased(store, lease, BOXCAR_REASON_NONE, &row, &earliest, err);
    if (status == BOXCAR_OK && earliest != 0 && earliest < lease->work_id)
        status = sqlite_stream_note_ack(store, &row, err);
    if (status == BOXCAR_OK && lease->stream.data != NULL)
        status = sqlite_stream_note_straight_ack(store, lease, err);
    sqlite_tally_add(store, lease->box, lease->topic, TALLY_DONE, 1);
    return status;
}

boxcar_status sqlite_lease_fail(struct sqlite_store *store, const struct lease *held, boxcar_reason reason,
                                boxcar_str error, boxcar_error *err) {
    struct lease entered = *held, *lease = &entered;
    struct parked row;
    int64_t earliest;
    boxcar_status status = sqlite_lease_enter_lot(store, lease, err);

    if (status == BOXCAR_OK)
        status = sqlite_lease_drop(store, lease, err);
    if (status == BOXCAR_OK)
        status = unpark_leased(store, lease, reason, &row, &earliest, err);
    if (status != BOXCAR_OK)
        return status;
    error = utf8_cut(error, BOXCAR_ERROR_TEXT_MAX);
    return sqlite_bury(store,
                       &(struct burial){.work_id = lease->work_id,
                                        .box = lease->box,
                                        .topic = lease->topic,
                                        .reason = reason,
                                        .outcome = "failed",
                                        .lease = lease,
                                        .retry_count = row.retry_count,
                                        .crash_count = row.crash_count,
                                        .error = error,
                                        .last_error = error.data != NULL ? error : row.last_error},
                       err);
}

/* ---- the ways ---- */

struct settling {
    boxcar_box box;
    boxcar_owner owner;
    const boxcar_request_part *part;
    boxcar_reason fail_reason;
    const boxcar_settlement *given;
    struct lease lease;
};

typedef boxcar_status settle_fn(struct sqlite_store *store, const struct settling *settling,
                                boxcar_error *err);

static boxcar_status record(struct sqlite_store *store, const struct settling *settling, boxcar_error *err) {
    struct query query = query_on(store, S_STAGE_RECORD);

    query_int(&query, settling->lease.work_id);
    query_int(&query, settling->given->stages);
    return query_run(&query, err);
}

static boxcar_status ack(struct sqlite_store *store, const struct settling *settling, boxcar_error *err) {
    return sqlite_lease_ack(store, &settling->lease, err);
}

static boxcar_status abandon(struct sqlite_store *store, const struct settling *settling, boxcar_error *err) {
    struct release how = {
        .outcome = "abandoned", .delay_ms = settling->given->delay_ms, .error = settling->given->error};

    return sqlite_release(store, &settling->lease, &how, err);
}

static boxcar_status defer(struct sqlite_store *store, const struct settling *settling, boxcar_error *err) {
    struct release how = {.delay_ms = settling->given->delay_ms};

    return sqlite_release(store, &settling->lease, &how, err);
}

static boxcar_status fail(struct sqlite_store *store, const struct settling *settling, boxcar_error *err) {
    boxcar_reason given = settling->fail_reason;
    boxcar_reason reason = given != BOXCAR_REASON_NONE ? given : BOXCAR_REASON_REJECTED;

    return sqlite_lease_fail(store, &settling->lease, reason, settling->given->error, err);
}

static boxcar_status renew(struct sqlite_store *store, const struct settling *settling, boxcar_error *err) {
    struct query query = query_on(store, S_LEASE_RENEW);

    query_int(&query, settling->lease.work_id);
    query_int(&query, store->now + request_part_renew_ms(settling->part) * 1000);
    return query_run(&query, err);
}

static settle_fn *const SETTLE[BOXCAR_SETTLE_KINDS] = {
    [BOXCAR_RECORD] = record, [BOXCAR_ACK] = ack,   [BOXCAR_ABANDON] = abandon,
    [BOXCAR_DEFER] = defer,   [BOXCAR_FAIL] = fail, [BOXCAR_RENEW] = renew};

static boxcar_status settle_one(struct sqlite_store *store, struct settling *settling,
                                boxcar_settle_kind kind, struct work_id_list *affected, boxcar_error *err) {
    int64_t work_id = settling->given->work_id.value;
    bool found;
    boxcar_status status = sqlite_lease_read(store, work_id, &settling->lease, &found, err);

    if (status != BOXCAR_OK || !found ||
        !sqlite_lease_is_held(&settling->lease, settling->box, settling->owner, settling->given))
        return status;
    status = SETTLE[kind](store, settling, err);
    if (status == BOXCAR_OK)
        affected->items[affected->count++].value = work_id;
    return status;
}

/* ---- evidence of what was done ---- */

static int compare_ids(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static boxcar_status write_run(struct sqlite_store *store, boxcar_owner owner, int64_t first, int64_t last,
                               boxcar_error *err) {
    struct query query = query_on(store, S_FINISHED_INSERT);

    query_int(&query, first);
    query_int(&query, last);
    query_id(&query, owner.uuid.bytes);
    query_int(&query, store->now);
    return query_run(&query, err);
}

/* One row a run of neighbours: acking what one claim brought costs one row, however much it was. */
static boxcar_status write_runs(struct sqlite_store *store, boxcar_owner owner, const int64_t *ids,
                                size_t count, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    for (size_t start = 0, i = 0; status == BOXCAR_OK && i < count; i++) {
        if (i + 1 < count && ids[i + 1] == ids[i] + 1)
            continue;
        status = write_run(store, owner, ids[start], ids[i], err);
        start = i + 1;
    }
    return status;
}

boxcar_status sqlite_finish(struct sqlite_store *store, boxcar_owner owner, const struct work_id_list *acked,
                            boxcar_error *err) {
    int64_t *ids = arena_alloc_array(&store->scratch, acked->count, sizeof(*ids));
    boxcar_status status;

    if (ids == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < acked->count; i++)
        ids[i] = acked->items[i].value;
    qsort(ids, acked->count, sizeof(*ids), compare_ids);
    status = sqlite_stream_check_acks(store, err);
    if (status == BOXCAR_OK)
        status = sqlite_join_count_done(store, ids, acked->count, err);
    return status == BOXCAR_OK ? write_runs(store, owner, ids, acked->count, err) : status;
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
    boxcar_status status = BOXCAR_OK;

    if (before != NULL && str_equal(before->topic, query_get_text(query, 4)))
        lease->topic = before->topic;
    else
        status = query_copy_text(query, 4, &store->scratch, &lease->topic, err);
    return status == BOXCAR_OK ? query_copy_text(query, 5, &store->scratch, &lease->stream, err) : status;
}

/* *ret_whole: all are held by the owner as it says, and none is parked. */
static boxcar_status read_neighbours(struct sqlite_store *store, const struct settling *settling,
                                     const boxcar_settlement *given, size_t count, struct lease *leases,
                                     bool *ret_whole, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_LEASES_READ);
    boxcar_status status = BOXCAR_OK;
    size_t read = 0;
    bool row = true, held = true;

    query_int(&query, given[0].work_id.value);
    query_int(&query, given[count - 1].work_id.value);
    while (held && read < count && (status = query_step(&query, &row, err)) == BOXCAR_OK && row) {
        struct lease *lease = &leases[read];

        *lease = (struct lease){.work_id = query_get_int(&query, 6),
                                .epoch.value = query_get_int(&query, 0),
                                .box = (int)query_get_int(&query, 2),
                                .parked = query_get_int(&query, 3) != 0};
        query_get_id(&query, 1, lease->owner.uuid.bytes);
        held = lease->work_id == given[read].work_id.value && !lease->parked &&
               sqlite_lease_is_held(lease, settling->box, settling->owner, &given[read]);
        status = held ? read_texts(store, &query, read > 0 ? lease - 1 : NULL, lease, err) : BOXCAR_OK;
        if (status != BOXCAR_OK)
            break;
        read += held;
    }
    *ret_whole = held && read == count;
    return status;
}

static boxcar_status delete_neighbours(struct sqlite_store *store, const boxcar_settlement *given,
                                       size_t count, boxcar_error *err) {
    struct query query = query_on(store, S_LEASES_DELETE);

    query_int(&query, given[0].work_id.value);
    query_int(&query, given[count - 1].work_id.value);
    return query_run(&query, err);
}

/* Acks neighbours by one statement instead of two for each. *ret_acked false: nothing was done, they are not
 * all alike. */
static boxcar_status ack_neighbours(struct sqlite_store *store, const struct settling *settling,
                                    const boxcar_settlement *given, size_t count,
                                    struct work_id_list *affected, bool *ret_acked, boxcar_error *err) {
    struct lease *leases = arena_alloc_array(&store->scratch, count, sizeof(*leases));
    boxcar_status status;

    if (leases == NULL)
        return error_no_memory(err);
    status = read_neighbours(store, settling, given, count, leases, ret_acked, err);
    if (status == BOXCAR_OK && *ret_acked)
        status = delete_neighbours(store, given, count, err);
    for (size_t i = 0; status == BOXCAR_OK && *ret_acked && i < count; i++) {
        sqlite_tally_add(store, leases[i].box, leases[i].topic, TALLY_LEASED, -1);
        sqlite_tally_add(store, leases[i].box, leases[i].topic, TALLY_DONE, 1);
        affected->items[affected->count++].value = leases[i].work_id;
        if (leases[i].stream.data != NULL)
            status = sqlite_stream_note_straight_ack(store, &leases[i], err);
    }
    return status;
}

/* An id given twice counts once. Most ways end the lease, so the second finds none. */
static boxcar_status settle_each(struct sqlite_store *store, struct settling *settling,
                                 boxcar_settle_kind kind, struct work_id_list *affected, boxcar_error *err) {
    const boxcar_settlement_list *list = &settling->part->settle[kind];
    boxcar_status status = BOXCAR_OK;

    for (size_t i = 0; status == BOXCAR_OK && i < list->count;) {
        size_t count = kind == BOXCAR_ACK ? count_neighbours(list, i) : 1;
        bool done = false;

        settling->given = &list->items[i];
        if (count >= RUN_LEAST)
            status = ack_neighbours(store, settling, settling->given, count, affected, &done, err);
        for (size_t k = 0; status == BOXCAR_OK && !done && k < count; k++) {
            settling->given = &list->items[i + k];
            status = settle_one(store, settling, kind, affected, err);
        }
        i += count;
    }
    return status;
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
    struct settling settling = {.box = box,
                                .owner = request->base.owner,
                                .part = &request->parts[box],
                                .fail_reason = request->own[box].fail_reason};
    struct work_id_list *affected = &result->parts[box].settled[kind];
    size_t count = settling.part->settle[kind].count;
    boxcar_status status;

    if (count == 0)
        return BOXCAR_OK;
    affected->items = arena_alloc_array(&result->arena, count, sizeof(*affected->items));
    if (affected->items == NULL)
        return error_no_memory(err);
    status = settle_each(store, &settling, kind, affected, err);
    if (status == BOXCAR_OK && kind == BOXCAR_ACK && affected->count > 0)
        status = sqlite_finish(store, request->base.owner, affected, err);
    if (status == BOXCAR_OK && (kind == BOXCAR_RENEW || kind == BOXCAR_RECORD))
        drop_repeated(affected);
    return status == BOXCAR_OK ? sqlite_join_count_buried(store, err) : status;
}
