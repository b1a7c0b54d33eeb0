/* Topics of the same store: copies and acks are one transaction. */
#include "base/error.h"
#include "request/request.h"
#include "visit.h"

static boxcar_status fill(struct arena *arena, struct item *const *items, size_t count,
                          boxcar_new_message_list *ret_messages, boxcar_settlement_list *ret_acks,
                          boxcar_error *err) {
    boxcar_new_message *messages = arena_alloc_array(arena, count, sizeof(*messages));
    boxcar_settlement *acks = arena_alloc_array(arena, count, sizeof(*acks));
    if (!messages || !acks)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        messages[i] = items[i]->copies[0];
        acks[i] = BOXCAR_SETTLEMENT_INIT;
        acks[i].work_id = items[i]->source->work_id;
        acks[i].epoch = items[i]->source->epoch;
    }
    *ret_messages = (boxcar_new_message_list){messages, count};
    *ret_acks = (boxcar_settlement_list){acks, count};
    return BOXCAR_OK;
}

boxcar_status local_send(struct visit *visit, struct item *const *items, size_t count, void *context,
                         boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    struct request request = {.base.owner = visit->forwarding->owner};
    boxcar_request_part *part = request_part_of(&request, visit->route->reader);
    (void)context;
    TRY(fill(&arena, items, count, &request.base.messages[BOXCAR_OUTBOX], &part->settle[BOXCAR_ACK], err));
    part->lease_ms = visit->lease_ms;
    TRY(request_run(visit->store, &request, &result, err));
    visit_count(visit, &result);
    return BOXCAR_OK;
}

boxcar_status local_ack(struct visit *visit, const struct item *item, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    struct request request = {.base.owner = visit->forwarding->owner};
    boxcar_request_part *part = request_part_of(&request, visit->route->reader);
    boxcar_settlement ack = BOXCAR_SETTLEMENT_INIT;
    ack.work_id = item->source->work_id;
    ack.epoch = item->source->epoch;
    part->settle[BOXCAR_ACK] = (boxcar_settlement_list){&ack, 1};
    part->lease_ms = visit->lease_ms;
    return request_run(visit->store, &request, &result, err);
}
