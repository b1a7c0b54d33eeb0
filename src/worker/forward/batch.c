/* A batch of messages: what becomes of each. */
#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "request/refusal.h"
#include "request/request.h"
#include "visit.h"

/* When a store refuses so many one after the other and takes none, it may be the store. */
#define SUSPICIOUS 3

/* ---- made ---- */

static int compare_items(const void *a, const void *b) {
    int64_t x = ((const struct item *)a)->source->work_id.value;
    int64_t y = ((const struct item *)b)->source->work_id.value;
    return (x > y) - (x < y);
}

static boxcar_status add_items(const struct visit *visit, const boxcar_message *messages, size_t count,
                               struct batch *batch, boxcar_error *err) {
    for (size_t i = 0; i < count; i++) {
        struct item *item = &batch->items[batch->count];
        *item = (struct item){.source = &messages[i]};
        TRY(copy_make(visit->route, &messages[i], &batch->arena, item, err));
        batch->count++;
    }
    return BOXCAR_OK;
}

boxcar_status batch_make(const struct visit *visit, const struct result *claimed, struct batch *ret_batch,
                         boxcar_error *err) {
    const struct part_result *part = &claimed->parts[request_index(visit->route->reader)];
    *ret_batch = (struct batch){.arena = ARENA_INIT};
    ret_batch->items =
        arena_alloc_array(&ret_batch->arena, part->claimed_count + part->returned_count, sizeof(struct item));
    boxcar_status status = ret_batch->items ? BOXCAR_OK : error_no_memory(err);
    if (status == BOXCAR_OK)
        status = add_items(visit, part->claimed, part->claimed_count, ret_batch, err);
    if (status == BOXCAR_OK)
        status = add_items(visit, part->returned, part->returned_count, ret_batch, err);
    if (status != BOXCAR_OK) {
        batch_release(ret_batch);
        return status;
    }
    qsort(ret_batch->items, ret_batch->count, sizeof(struct item), compare_items);
    batch_hold_streams(ret_batch);
    return BOXCAR_OK;
}

void batch_release(struct batch *batch) { arena_release(&batch->arena); }

/* ---- ends ---- */

/* Without memory for the text, it ends without one. */
void item_end(struct batch *batch, struct item *item, enum item_end end, int64_t delay_ms,
              const char *error) {
    item->end = end;
    item->delay_ms = delay_ms;
    if (!error || !arena_copy_str(&batch->arena, boxcar_str_of(error), &item->error))
        item->error = BOXCAR_NO_STR;
}

static bool stays(const struct item *item) {
    return item->end == ITEM_ABANDON || item->end == ITEM_FAIL || item->end == ITEM_DEFER;
}

static void hold_behind(struct batch *batch, size_t first) {
    const struct item *head = &batch->items[first];
    for (size_t i = first + 1; i < batch->count; i++)
        if (batch->items[i].end == ITEM_SEND &&
            str_equal(batch->items[i].source->stream, head->source->stream))
            item_end(batch, &batch->items[i], ITEM_DEFER, 0, NULL);
}

void batch_hold_streams(struct batch *batch) {
    for (size_t i = 0; i < batch->count; i++)
        if (stays(&batch->items[i]) && !str_is_empty(batch->items[i].source->stream))
            hold_behind(batch, i);
}

void batch_put_off(struct batch *batch, int64_t delay_ms) {
    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].end == ITEM_SEND)
            item_end(batch, &batch->items[i], ITEM_DEFER, delay_ms, NULL);
}

/* ---- sending ---- */

/* A third of a lease is for sending; the rest is for what has begun and for settling. */
bool visit_is_over(const struct visit *visit) {
    return atomic_load(&visit->forwarding->stopping) ||
           clock_ms() - visit->claimed_at_ms > visit->lease_ms / 3;
}

static size_t choose(struct item **items, size_t count, struct item **ret_chosen) {
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i]->end == ITEM_SEND)
            ret_chosen[chosen++] = items[i];
    return chosen;
}

static void put_off(struct batch *batch, struct item **items, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (items[i]->end == ITEM_SEND)
            item_end(batch, items[i], ITEM_DEFER, 0, NULL);
    batch_hold_streams(batch);
}

/* What was refused by a store that seems to be the cause. When it is tried again, others come first. */
static void unrefuse(const struct visit *visit, struct batch *batch, struct item *const *items, int count) {
    for (int i = 0; i < count; i++)
        item_end(batch, items[i], ITEM_DEFER, 2 * visit->next_pause_ms, NULL);
}

static void refuse(struct visit *visit, struct batch *batch, struct item *item, const boxcar_error *err) {
    atomic_fetch_add(&visit->route->stats->failures, 1);
    item_end(batch, item, ITEM_ABANDON, BOXCAR_BACKOFF, err->message);
    batch_hold_streams(batch);
}

boxcar_status batch_deliver(struct visit *visit, struct batch *batch, struct item **items, size_t count,
                            enum item_end taken, send_fn *send, void *context, boxcar_error *err) {
    struct refusal_search search = {.end = count};
    struct item **chosen = arena_alloc_array(&batch->arena, count, sizeof(*chosen));
    boxcar_error why = BOXCAR_ERROR_INIT;
    struct item *suspects[SUSPICIOUS];
    int suspect_count = 0;
    if (!chosen)
        return error_no_memory(err);
    for (size_t size; (size = refusal_next(&search)) > 0;) {
        if (visit_is_over(visit)) {
            put_off(batch, items + search.from, count - search.from);
            return BOXCAR_OK;
        }
        size_t sent = choose(items + search.from, size, chosen);
        boxcar_status status = sent > 0 ? send(visit, chosen, sent, context, &why) : BOXCAR_OK;
        if (status == BOXCAR_OK) {
            for (size_t i = 0; i < sent; i++)
                chosen[i]->end = taken;
            visit->has_worked = visit->has_worked || sent > 0;
            refusal_taken(&search, size);
            continue;
        }
        enum refusal kind = refusal_of(status);
        if (kind == REFUSAL_MAYBE && size == 1 && !visit->has_worked)
            suspects[suspect_count++] = chosen[0];
        if (kind == REFUSAL_NONE || suspect_count == SUSPICIOUS) {
            if (!visit->has_worked)
                unrefuse(visit, batch, suspects, suspect_count);
            *err = why;
            return status;
        }
        if (refusal_refused(&search, size))
            refuse(visit, batch, chosen[0], &why);
    }
    return BOXCAR_OK;
}

/* ---- settling ---- */

struct settling {
    boxcar_settlement *items[BOXCAR_SETTLE_KINDS];
    size_t counts[BOXCAR_SETTLE_KINDS];
};

static bool find_kind(const struct item *item, bool with_copies, boxcar_settle_kind *ret_kind) {
    switch (item->end) {
    case ITEM_SEND:
        *ret_kind = with_copies ? BOXCAR_ACK : BOXCAR_DEFER;
        return true;
    case ITEM_SENT:
        *ret_kind = BOXCAR_ACK;
        return true;
    case ITEM_ABANDON:
        *ret_kind = BOXCAR_ABANDON;
        return true;
    case ITEM_FAIL:
        *ret_kind = BOXCAR_FAIL;
        return true;
    case ITEM_DEFER:
        *ret_kind = BOXCAR_DEFER;
        return true;
    case ITEM_DONE:
        break;
    }
    return false;
}

static boxcar_status fill(struct arena *arena, const struct visit *visit, const struct batch *batch,
                          bool with_copies, struct request *request, boxcar_error *err) {
    size_t count = batch ? batch->count : 0, copies = 0;
    boxcar_request_part *part = request_part_of(request, visit->route->reader);
    struct settling settling = {.counts = {0}};
    boxcar_new_message *messages = arena_alloc_array(arena, count, sizeof(*messages));
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        settling.items[kind] = arena_alloc_array(arena, count, sizeof(boxcar_settlement));
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        if (!messages || !settling.items[kind])
            return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const struct item *item = &batch->items[i];
        boxcar_settle_kind kind;
        if (!find_kind(item, with_copies, &kind))
            continue;
        settling.items[kind][settling.counts[kind]++] =
            (boxcar_settlement){.struct_size = sizeof(boxcar_settlement),
                                .work_id = item->source->work_id,
                                .epoch = item->source->epoch,
                                .delay_ms = kind == BOXCAR_DEFER ? item->delay_ms : BOXCAR_BACKOFF,
                                .error = item->error};
        if (with_copies && item->end == ITEM_SEND)
            messages[copies++] = item->copies[0];
    }
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        part->settle[kind] = (boxcar_settlement_list){settling.items[kind], settling.counts[kind]};
    request->base.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, copies};
    return BOXCAR_OK;
}

void visit_count(const struct visit *visit, const struct result *result) {
    const struct part_result *done = &result->parts[request_index(visit->route->reader)];
    int64_t acked = (int64_t)done->settled[BOXCAR_ACK].count;
    atomic_fetch_add(&visit->route->stats->forwarded, acked);
    atomic_fetch_add(&visit->forwarding->forwarded, acked);
}

void visit_shorten(const struct visit *visit, struct boxcar_store *store) {
    if (atomic_load(&visit->forwarding->stopping))
        store->call_ms = FORWARD_CALL_LAST_MS;
}

boxcar_status batch_renew(struct visit *visit, const boxcar_message *messages, size_t count,
                          boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    struct request request = {.base.owner = visit->forwarding->owner};
    boxcar_request_part *part = request_part_of(&request, visit->route->reader);
    boxcar_settlement *items = arena_alloc_array(&arena, count, sizeof(*items));
    if (!items)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        items[i] = BOXCAR_SETTLEMENT_INIT;
        items[i].work_id = messages[i].work_id;
        items[i].epoch = messages[i].epoch;
    }
    part->settle[BOXCAR_RENEW] = (boxcar_settlement_list){items, count};
    part->lease_ms = visit->lease_ms;
    visit_shorten(visit, visit->store);
    return request_run(visit->store, &request, &result, err);
}

boxcar_status batch_settle(struct visit *visit, const struct batch *batch, bool with_copies, int claim_size,
                           struct result *ret_result, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct request request = {.base.owner = visit->forwarding->owner};
    TRY(fill(&arena, visit, batch, with_copies, &request, err));
    boxcar_request_part *part = request_part_of(&request, visit->route->reader);
    part->lease_ms = visit->lease_ms;
    part->claim_size = claim_size;
    part->claim_bytes = visit->source->batch_bytes;
    if (visit->route->may_hold && claim_size > 0)
        part->returns = BOXCAR_RETURN_OWNED;
    visit_shorten(visit, visit->store);
    visit->claimed_at_ms = clock_ms();
    TRY(request_run(visit->store, &request, ret_result, err));
    visit_count(visit, ret_result);
    return BOXCAR_OK;
}
