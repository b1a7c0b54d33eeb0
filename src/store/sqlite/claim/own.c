/* Messages that a request knows already: what it has stored itself, and what its owner holds. */
#include "claim.h"

#include "store/sqlite/message/read.h"
#include "store/sqlite/subscription/reader.h"

/* ---- messages that the request has stored ---- */

/* A message beyond the frontier, which is not leased. It is set aside, so that the claim does not meet it
 * there. */
static boxcar_status take_from_log(struct sqlite_store *store, struct claim *claim, struct query *row,
                                   boxcar_error *err) {
    int64_t work_id = query_get_int(row, M_WORK_ID);
    bool taken;
    TRY(sqlite_claim_fresh(store, claim, row, LEASE_PLAIN, &taken, err));
    query_end(row);
    return query_do(store, S_MESSAGE_SET_ASIDE, err, Q_INT(work_id));
}

/* One that was parked at once: it expires, or is due later. */
static boxcar_status take_from_lot(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                   boxcar_error *err) {
    struct parked parked;
    boxcar_message *taken;
    bool found;
    TRY(sqlite_parked_read(store, work_id, &parked, &found, err));
    if (!found || parked.state != PARKED_OPEN || parked.available_at > store->now)
        return BOXCAR_OK;
    return sqlite_claim_take(store, claim, work_id, PARKED_OPEN, &taken, err);
}

static boxcar_status take_stored(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                 boxcar_error *err) {
    AUTO_QUERY struct query row = query_with(store, S_WINDOW, Q_INT(work_id - 1));
    bool found;
    TRY(query_step(&row, &found, err));
    if (!found || query_get_int(&row, M_WORK_ID) != work_id || !query_is_null(&row, M_STREAM) ||
        !sqlite_claim_wants(claim, query_get_text(&row, M_TOPIC)))
        return BOXCAR_OK;
    int64_t lane = query_get_int(&row, M_LANE);
    bool taken = false; /* by a subscription */
    if (claim->passes)
        TRY(sqlite_reader_takes(store, claim->box, query_get_text(&row, M_TOPIC), &taken, err));
    if (taken)
        return BOXCAR_OK;
    if (lane == LANE_PLAIN && work_id > claim->frontier.position)
        return take_from_log(store, claim, &row, err);
    query_end(&row);
    return lane == LANE_ASIDE ? take_from_lot(store, claim, work_id, err) : BOXCAR_OK;
}

boxcar_status sqlite_claim_stored(struct sqlite_store *store, struct claim *claim,
                                  const boxcar_enqueued *stored, size_t count, boxcar_error *err) {
    for (size_t i = 0; i < count && !sqlite_claim_is_full(claim, sqlite_claim_size(claim)); i++) {
        if (!stored[i].duplicate)
            TRY(take_stored(store, claim, stored[i].work_id.value, err));
    }
    return BOXCAR_OK;
}

/* ---- what its owner holds ---- */

static boxcar_status find_owned(struct sqlite_store *store, boxcar_box box, boxcar_owner owner,
                                int64_t **ret_ids, size_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_LEASES_OF_OWNER, Q_INT(box), Q_ID(owner.uuid.bytes));
    return sqlite_collect_ids(store, &query, ret_ids, ret_count, err);
}

static boxcar_status find_renewed(struct sqlite_store *store, const struct work_id_list *renewed,
                                  int64_t **ret_ids, size_t *ret_count, boxcar_error *err) {
    int64_t *ids = arena_alloc_array(&store->scratch, renewed->count, sizeof(*ids));
    if (ids == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < renewed->count; i++)
        ids[i] = renewed->items[i].value;
    *ret_ids = ids;
    *ret_count = renewed->count;
    return BOXCAR_OK;
}

boxcar_status sqlite_read_returned(struct sqlite_store *store, const struct request *request, boxcar_box box,
                                   struct result *result, boxcar_error *err) {
    struct part_result *part = &result->parts[box];
    size_t count;
    int64_t *ids;
    if (request->parts[box].returns == BOXCAR_RETURN_NONE)
        return BOXCAR_OK;
    TRY(sqlite_reader_enter(store, request_reader(request, (int)box), err));
    if (request->parts[box].returns == BOXCAR_RETURN_OWNED)
        TRY(find_owned(store, request_reader(request, (int)box), request->base.owner, &ids, &count, err));
    else
        TRY(find_renewed(store, &part->settled[BOXCAR_RENEW], &ids, &count, err));
    TRY(sqlite_read_messages(store, ids, count, true, &result->arena, &part->returned, &part->returned_count,
                             err));
    sqlite_reader_leave(store);
    return BOXCAR_OK;
}
