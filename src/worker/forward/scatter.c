/* Scatter and gather: in one transaction a join is started over the copies, and waited for. */
#include <stdlib.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/fanout.h"
#include "core/wait.h"
#include "request/request.h"
#include "store/join_log.h"
#include "visit.h"

#define MESSAGES_MAX 50
#define COPIES_MAX 1000

int scatter_claim_size(const struct route *route) {
    int size = COPIES_MAX / (int)route->destination_count;
    return size < 1 ? 1 : size < MESSAGES_MAX ? size : MESSAGES_MAX;
}

static boxcar_status start(struct visit *visit, struct item *item, boxcar_error *err) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    join.join_id = item->copies[0].join_id;
    join.expected_steps = (int64_t)item->copy_count;
    return visit->store->ops->join_start(visit->store, &join, err);
}

static boxcar_status wait_for(struct visit *visit, struct item *item, boxcar_error *err) {
    AUTO_BUF struct buf payload = BUF_INIT;
    const boxcar_message *source = item->source;
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    struct join_change change = {.ended = false};
    boxcar_enqueued enqueued;
    wait.join_id = item->copies[0].join_id;
    wait.on_complete_topic = visit->route->then_topic;
    wait.on_complete_payload = source->payload;
    if (!str_is_empty(visit->route->else_topic)) {
        wait.on_fail_topic = visit->route->else_topic;
        wait.on_fail_payload = source->payload;
    }
    wait.correlation_id = str_unless_empty(source->correlation_id);
    TRY(fanout_wait_id(visit->route->policy, source->message_id, &wait.message_id, err));
    TRY(wait_format(&wait, &payload, err));
    message.payload = (boxcar_str){payload.data, payload.len};
    message.correlation_id = wait.correlation_id;
    message.causation_id = item->copies[0].causation_id;
    message.message_id = wait.message_id;
    message.max_attempts = WAIT_MAX_ATTEMPTS;
    TRY(visit->store->ops->join_wait(visit->store, wait.join_id, &message, &enqueued, &change, err));
    if (change.ended)
        join_log_ended(visit->store, &change.join, 1);
    return BOXCAR_OK;
}

static boxcar_status store_copies(struct visit *visit, struct item *const *items, size_t count,
                                  struct result *ret_result, boxcar_new_message *messages,
                                  boxcar_settlement *acks, boxcar_error *err) {
    struct request request = {.base.owner = visit->forwarding->owner, .logs_messages_later = true};
    boxcar_request_part *part = request_part_of(&request, visit->route->reader);
    size_t copies = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t n = 0; n < items[i]->copy_count; n++)
            messages[copies++] = items[i]->copies[n];
        acks[i] = BOXCAR_SETTLEMENT_INIT;
        acks[i].work_id = items[i]->source->work_id;
        acks[i].epoch = items[i]->source->epoch;
    }
    part->lease_ms = visit->lease_ms;
    part->settle[BOXCAR_ACK] = (boxcar_settlement_list){acks, count};
    request.base.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, copies};
    return request_run(visit->store, &request, ret_result, err);
}

static boxcar_status store_all(struct visit *visit, struct item *const *items, size_t count,
                               struct result *ret_result, boxcar_new_message *messages,
                               boxcar_settlement *acks, boxcar_error *err) {
    for (size_t i = 0; i < count; i++)
        TRY(start(visit, items[i], err));
    TRY(store_copies(visit, items, count, ret_result, messages, acks, err));
    for (size_t i = 0; i < count; i++)
        TRY(wait_for(visit, items[i], err));
    return BOXCAR_OK;
}

static boxcar_status send(struct visit *visit, struct item *const *items, size_t count, void *context,
                          boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    const struct store_ops *ops = visit->store->ops;
    size_t copies = count * visit->route->destination_count;
    boxcar_new_message *messages = arena_alloc_array(&arena, copies, sizeof(*messages));
    boxcar_settlement *acks = arena_alloc_array(&arena, count, sizeof(*acks));
    (void)context;
    if (!messages || !acks)
        return error_no_memory(err);
    TRY(ops->transaction(visit->store, TRANSACTION_BEGIN, err));
    boxcar_status status = store_all(visit, items, count, &result, messages, acks, err);
    if (status == BOXCAR_OK)
        status = ops->transaction(visit->store, TRANSACTION_COMMIT, err);
    else
        (void)ops->transaction(visit->store, TRANSACTION_ROLLBACK, NULL);
    if (status != BOXCAR_OK)
        return status;
    request_log_messages(visit->store, BOXCAR_OUTBOX, (boxcar_new_message_list){messages, copies},
                         result.parts[BOXCAR_OUTBOX].enqueued);
    visit_count(visit, &result);
    return BOXCAR_OK;
}

/* After a rewind its join may have ended long ago: then there is nothing to do. */
static bool has_ended(struct visit *visit, const struct item *item) {
    const boxcar_join_filter every = BOXCAR_JOIN_FILTER_INIT;
    struct join_rows *rows;
    if (visit->store->ops->join_page(visit->store, &every, item->copies[0].join_id, &rows, NULL) != BOXCAR_OK)
        return false;
    bool ended = rows->count > 0 && rows->items[0].status != BOXCAR_JOIN_PENDING;
    list_free(rows);
    return ended;
}

static boxcar_status send_or_skip(struct visit *visit, struct item *const *items, size_t count, void *context,
                                  boxcar_error *err) {
    boxcar_status status = send(visit, items, count, context, err);
    if (status != BOXCAR_E_CONFLICT || count > 1 || !has_ended(visit, items[0]))
        return status;
    return local_ack(visit, items[0], err);
}

boxcar_status scatter_deliver(struct visit *visit, struct batch *batch, boxcar_error *err) {
    struct item **items = arena_alloc_array(&batch->arena, batch->count, sizeof(*items));
    size_t count = 0;
    if (!items)
        return error_no_memory(err);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].end == ITEM_SEND)
            items[count++] = &batch->items[i];
    visit->has_worked = true; /* the claim */
    return batch_deliver(visit, batch, items, count, ITEM_DONE, send_or_skip, NULL, err);
}
