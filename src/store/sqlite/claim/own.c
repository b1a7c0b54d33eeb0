/* Messages that a request knows already: what it has stored itself, and what its owner holds. */
#include "claim.h"

#include "store/sqlite/message/read.h"

/* ---- messages that the request has stored ---- */

/* A message beyond the frontier, which is not leased. It is set aside, so that the claim does not meet it
 * there. */
static boxcar_status take_from_log(struct sqlite_store *store, struct claim *claim, struct query *row,
                                   boxcar_error *err) {
    int64_t work_id = query_get_int(row, M_WORK_ID);
    bool taken;
    boxcar_status status = sqlite_claim_fresh(store, claim, row, false, &taken, err);
    struct query aside;

    query_end(row);
    if (status != BOXCAR_OK)
        return status;
    aside = query_on(store, S_MESSAGE_SET_ASIDE);
    query_int(&aside, work_id);
    return query_run(&aside, err);
}

/* One that was parked at once: it expires, or is due later. */
static boxcar_status take_from_lot(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                   boxcar_error *err) {
    struct parked parked;
    boxcar_message *taken;
    bool found = false;
    boxcar_status status = sqlite_parked_read(store, work_id, &parked, &found, err);

    if (status != BOXCAR_OK || !found || parked.state != PARKED_OPEN || parked.available_at > store->now)
        return status;
    return sqlite_claim_take(store, claim, work_id, PARKED_OPEN, &taken, err);
}

static boxcar_status take_stored(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                 boxcar_error *err) {
    AUTO_QUERY struct query row = query_on(store, S_WINDOW);
    bool found = false;
    boxcar_status status;
    int64_t lane;

    query_int(&row, work_id - 1);
    status = query_step(&row, &found, err);
    if (status != BOXCAR_OK || !found || query_get_int(&row, M_WORK_ID) != work_id ||
        !query_is_null(&row, M_STREAM) || !sqlite_claim_wants(claim, query_get_text(&row, M_TOPIC)))
        return status;
    lane = query_get_int(&row, M_LANE);
    if (lane == LANE_PLAIN && work_id > claim->frontier.position)
        return take_from_log(store, claim, &row, err);
    query_end(&row);
    return lane == LANE_ASIDE ? take_from_lot(store, claim, work_id, err) : BOXCAR_OK;
}

boxcar_status sqlite_claim_stored(struct sqlite_store *store, struct claim *claim,
                                  const boxcar_enqueued *stored, size_t count, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    for (size_t i = 0;
         status == BOXCAR_OK && i < count && !sqlite_claim_is_full(claim, (size_t)claim->part->claim_size);
         i++)
        if (!stored[i].duplicate)
            status = take_stored(store, claim, stored[i].work_id.value, err);
    return status;
}

/* ---- what its owner holds ---- */

static boxcar_status find_owned(struct sqlite_store *store, boxcar_box box, boxcar_owner owner,
                                int64_t **ret_ids, size_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_LEASES_OF_OWNER);

    query_int(&query, box);
    query_id(&query, owner.uuid.bytes);
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
    size_t count = 0;
    int64_t *ids;
    boxcar_status status;

    if (request->parts[box].returns == BOXCAR_RETURN_NONE)
        return BOXCAR_OK;
    if (request->parts[box].returns == BOXCAR_RETURN_OWNED)
        status = find_owned(store, box, request->base.owner, &ids, &count, err);
    else
        status = find_renewed(store, &part->settled[BOXCAR_RENEW], &ids, &count, err);
    if (status != BOXCAR_OK)
        return status;
    return sqlite_read_messages(store, ids, count, true, &result->arena, &part->returned,
                                &part->returned_count, err);
}
