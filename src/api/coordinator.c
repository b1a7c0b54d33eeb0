#include <stdio.h>

#include "api/inbox/messages.h"
#include "base/memory.h"
#include "base/options.h"
#include "check.h"
#include "core/limits.h"
#include "flow/coordinator/coordinator.h"

/* ---- options ---- */

static boxcar_status check_between(const char *argument, int64_t value, int64_t min, int64_t max,
                                   boxcar_error *err) {
    if (value >= min && value <= max)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is out of range: give %lld to %lld", argument, (long long)min,
                         (long long)max);
}

static boxcar_status check_strategy(const boxcar_coordinator_options *options, boxcar_error *err) {
    if ((unsigned)options->strategy > BOXCAR_STRATEGY_SIZE)
        return error_invalid(err, "strategy", "strategy is unknown: give one of BOXCAR_STRATEGY_*");
    return BOXCAR_OK;
}

/* Fills in what is left open. A strategy that has no thread does not look at interval_ms. */
static void complete(boxcar_coordinator_options *options) {
    if (options->strategy == BOXCAR_STRATEGY_INTERVAL && options->interval_ms == 0)
        options->interval_ms = BOXCAR_INTERVAL_MS_DEFAULT;
    if (options->strategy == BOXCAR_STRATEGY_IMMEDIATE || options->strategy == BOXCAR_STRATEGY_SCOPED)
        options->interval_ms = 0;
    if (options->queue_max == 0)
        options->queue_max = BOXCAR_QUEUE_MAX_DEFAULT;
    if (options->size == 0)
        options->size =
            BOXCAR_FLUSH_SIZE_DEFAULT < options->queue_max ? BOXCAR_FLUSH_SIZE_DEFAULT : options->queue_max;
}

static boxcar_status read_options(const boxcar_coordinator_options *given,
                                  boxcar_coordinator_options *ret_options, boxcar_error *err) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_status status = options_read(&options, sizeof(options), given, "options", err);

    if (status == BOXCAR_OK && !options.lent && !options.store)
        status = error_invalid(err, "store", "store is missing: give the options of a store, or an open one as lent");
    if (status == BOXCAR_OK)
        status = check_strategy(&options, err);
    if (status == BOXCAR_OK)
        status = check_between("interval_ms", options.interval_ms, 0, BOXCAR_INTERVAL_MS_MAX, err);
    if (status == BOXCAR_OK && options.queue_max > BOXCAR_QUEUE_MAX_MAX)
        status = check_between("queue_max", INT64_MAX, 1, BOXCAR_QUEUE_MAX_MAX, err);
    if (status != BOXCAR_OK)
        return status;
    complete(&options);
    if (options.lent && options.store)
        return error_invalid(err, "lent", "lent and store are both given: give one of them");
    if (options.lent && options.interval_ms > 0)
        return error_invalid(err, "lent",
                             "lent is for one thread, and this strategy has its own: give store");
    if (options.size > options.queue_max)
        return error_invalid(err, "size", "size is larger than the queue: give at most %zu (queue_max)",
                             options.queue_max);
    *ret_options = options;
    return BOXCAR_OK;
}

boxcar_status boxcar_coordinator_new(const boxcar_coordinator_options *options,
                                     boxcar_coordinator **ret_coordinator, boxcar_error *err) {
    boxcar_coordinator_options checked = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_store *store = NULL;
    boxcar_status status = check_given(ret_coordinator, "ret_coordinator", err);

    if (status == BOXCAR_OK)
        status = read_options(options, &checked, err);
    if (status == BOXCAR_OK && boxcar_uuid_is_none(checked.owner.uuid)) {
        checked.owner.uuid = boxcar_uuid_new();
        if (boxcar_uuid_is_none(checked.owner.uuid))
            return error_set(err, BOXCAR_E_UNAVAILABLE, "the system gives no randomness for an owner");
    }
    if (status == BOXCAR_OK && checked.store)
        status = store_open(checked.store, &store, err);
    return status == BOXCAR_OK ? coordinator_start(&checked, store, ret_coordinator, err) : status;
}

boxcar_owner boxcar_coordinator_owner(const boxcar_coordinator *coordinator) {
    return coordinator ? coordinator->owner : (boxcar_owner){0};
}

size_t boxcar_coordinator_queued(boxcar_coordinator *coordinator) {
    return coordinator ? coordinator_queued(coordinator) : 0;
}

/* ---- queueing ---- */

static boxcar_status queue(boxcar_coordinator *coordinator, const struct request *request,
                           uint64_t *ret_ticket, boxcar_error *err) {
    uint64_t ticket = 0;
    boxcar_status status = coordinator_queue(coordinator, request, &ticket, err);

    if (ret_ticket)
        *ret_ticket = ticket;
    return status;
}

static boxcar_status refuse(boxcar_status status, uint64_t *ret_ticket) {
    if (ret_ticket)
        *ret_ticket = 0;
    return status;
}

static void get_message(const void *from, size_t i, struct operation *ret_operation) {
    const boxcar_new_message *messages = from;

    *ret_operation =
        (struct operation){.box = BOXCAR_OUTBOX, .message = &messages[i]};
}

boxcar_status boxcar_coordinator_enqueue(boxcar_coordinator *coordinator, const boxcar_new_message *message,
                                         uint64_t *ret_ticket, boxcar_error *err) {
    struct request request = {1, get_message, message};
    boxcar_status status = check_given(coordinator, "coordinator", err);

    if (status == BOXCAR_OK)
        status = check_given(message, "message", err);
    if (status == BOXCAR_OK)
        status = limits_check_new_message(message, "", err);
    return status == BOXCAR_OK ? queue(coordinator, &request, ret_ticket, err) : refuse(status, ret_ticket);
}

boxcar_status boxcar_coordinator_enqueue_many(boxcar_coordinator *coordinator,
                                              const boxcar_new_message *messages, size_t count,
                                              uint64_t *ret_ticket, boxcar_error *err) {
    struct request request = {count, get_message, messages};
    boxcar_status status = check_given(coordinator, "coordinator", err);

    if (status == BOXCAR_OK)
        status = limits_check_new_messages(messages, count, err);
    return status == BOXCAR_OK ? queue(coordinator, &request, ret_ticket, err) : refuse(status, ret_ticket);
}

static void get_inbox_message(const void *from, size_t i, struct operation *ret_operation) {
    const struct batch_part *part = from;

    *ret_operation = (struct operation){.box = BOXCAR_INBOX,
                                        .message = &part->messages[i],
                                        .origin = &part->origins[i]};
}

static boxcar_status queue_inbox_messages(boxcar_coordinator *coordinator, const boxcar_new_inbox_message *messages,
                                          size_t count, uint64_t *ret_ticket, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct batch_part part = {.message_count = 0};
    struct request request = {count, get_inbox_message, &part};
    boxcar_status status = inbox_messages_add(&arena, messages, count, &part, err);

    return status == BOXCAR_OK ? queue(coordinator, &request, ret_ticket, err) : refuse(status, ret_ticket);
}

boxcar_status boxcar_coordinator_inbox_enqueue(boxcar_coordinator *coordinator,
                                               const boxcar_new_inbox_message *message, uint64_t *ret_ticket,
                                               boxcar_error *err) {
    boxcar_new_inbox_message said = BOXCAR_NEW_INBOX_MESSAGE_INIT;
    boxcar_status status = check_given(coordinator, "coordinator", err);

    if (status == BOXCAR_OK)
        status = check_given(message, "message", err);
    if (status == BOXCAR_OK)
        status = options_read(&said, sizeof(said), message, "message", err);
    if (status == BOXCAR_OK)
        status = inbox_message_check(&said, err);
    return status == BOXCAR_OK ? queue_inbox_messages(coordinator, &said, 1, ret_ticket, err)
                               : refuse(status, ret_ticket);
}

boxcar_status boxcar_coordinator_inbox_enqueue_many(boxcar_coordinator *coordinator,
                                                    const boxcar_new_inbox_message *messages, size_t count,
                                                    uint64_t *ret_ticket, boxcar_error *err) {
    boxcar_status status = check_given(coordinator, "coordinator", err);

    if (status == BOXCAR_OK)
        status = inbox_messages_check(messages, count, err);
    return status == BOXCAR_OK ? queue_inbox_messages(coordinator, messages, count, ret_ticket, err)
                               : refuse(status, ret_ticket);
}

/* Settlements of one kind. */
struct settle_call {
    boxcar_settle_kind kind;
    boxcar_box box;
    const boxcar_settlement *settlements;
    size_t count;
    int64_t lease_ms; /* renew only */
};

static void get_settlement(const void *from, size_t i, struct operation *ret_operation) {
    const struct settle_call *call = from;

    *ret_operation = (struct operation){.kind = call->kind,
                                        .box = call->box,
                                        .settlement = &call->settlements[i],
                                        .lease_ms = call->lease_ms};
}

static boxcar_status settle(boxcar_coordinator *coordinator, const struct settle_call *call,
                            uint64_t *ret_ticket, boxcar_error *err) {
    struct request request = {call->count, get_settlement, call};
    boxcar_status status = check_given(coordinator, "coordinator", err);

    if (status == BOXCAR_OK)
        status = limits_check_box(call->box, err);
    if (status == BOXCAR_OK && call->kind == BOXCAR_RENEW)
        status = limits_check_lease_ms(call->lease_ms, err);
    if (status == BOXCAR_OK)
        status = limits_check_settlements(call->kind, call->settlements, call->count, err);
    return status == BOXCAR_OK ? queue(coordinator, &request, ret_ticket, err) : refuse(status, ret_ticket);
}

boxcar_status boxcar_coordinator_ack(boxcar_coordinator *coordinator, boxcar_box box,
                                     const boxcar_settlement *settlements, size_t count, uint64_t *ret_ticket,
                                     boxcar_error *err) {
    struct settle_call call = {BOXCAR_ACK, box, settlements, count, 0};

    return settle(coordinator, &call, ret_ticket, err);
}

boxcar_status boxcar_coordinator_abandon(boxcar_coordinator *coordinator, boxcar_box box,
                                         const boxcar_settlement *settlements, size_t count,
                                         uint64_t *ret_ticket, boxcar_error *err) {
    struct settle_call call = {BOXCAR_ABANDON, box, settlements, count, 0};

    return settle(coordinator, &call, ret_ticket, err);
}

boxcar_status boxcar_coordinator_defer(boxcar_coordinator *coordinator, boxcar_box box,
                                       const boxcar_settlement *settlements, size_t count,
                                       uint64_t *ret_ticket, boxcar_error *err) {
    struct settle_call call = {BOXCAR_DEFER, box, settlements, count, 0};

    return settle(coordinator, &call, ret_ticket, err);
}

boxcar_status boxcar_coordinator_fail(boxcar_coordinator *coordinator, boxcar_box box,
                                      const boxcar_settlement *settlements, size_t count,
                                      uint64_t *ret_ticket, boxcar_error *err) {
    struct settle_call call = {BOXCAR_FAIL, box, settlements, count, 0};

    return settle(coordinator, &call, ret_ticket, err);
}

boxcar_status boxcar_coordinator_renew(boxcar_coordinator *coordinator, boxcar_box box,
                                       const boxcar_settlement *settlements, size_t count, int64_t lease_ms,
                                       uint64_t *ret_ticket, boxcar_error *err) {
    struct settle_call call = {BOXCAR_RENEW, box, settlements, count, lease_ms};

    return settle(coordinator, &call, ret_ticket, err);
}

boxcar_status boxcar_coordinator_record_stages(boxcar_coordinator *coordinator, boxcar_box box,
                                               const boxcar_settlement *settlements, size_t count,
                                               uint64_t *ret_ticket, boxcar_error *err) {
    struct settle_call call = {BOXCAR_RECORD, box, settlements, count, 0};

    return settle(coordinator, &call, ret_ticket, err);
}

/* ---- flushing ---- */

static boxcar_status read_claim(const boxcar_coordinator *coordinator, const boxcar_claim_options *given,
                                struct batch_part *ret_part, boxcar_error *err) {
    boxcar_claim_options options = BOXCAR_CLAIM_OPTIONS_INIT;
    boxcar_status status;

    if (!given)
        return BOXCAR_OK;
    status = options_read(&options, sizeof(options), given, "options", err);
    if (status != BOXCAR_OK)
        return status;
    if (!boxcar_uuid_is_none(options.owner.uuid) && !coordinator_is_owner(coordinator, options.owner))
        return error_invalid(err, "owner", "owner is not the coordinator's: leave it none");
    options.owner = coordinator->owner;
    status = limits_check_claim(&options, err);
    if (status != BOXCAR_OK)
        return status;
    *ret_part = (struct batch_part){.claim_size = options.batch_size,
                                    .claim_lease_ms = options.lease_ms,
                                    .claim_bytes = options.batch_bytes,
                                    .topics = options.topics,
                                    .topic_count = options.topic_count};
    return BOXCAR_OK;
}

static boxcar_status read_claims(const boxcar_coordinator *coordinator, const boxcar_flush_options *given,
                                 struct batch_part ret_claims[BOXES], boxcar_error *err) {
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_status status = BOXCAR_OK;

    if (given)
        status = options_read(&options, sizeof(options), given, "options", err);
    if (status != BOXCAR_OK)
        return status;
    status = error_locate(read_claim(coordinator, options.outbox_claim, &ret_claims[BOXCAR_OUTBOX], err),
                          "outbox_claim.", err);
    return status == BOXCAR_OK
               ? error_locate(read_claim(coordinator, options.inbox_claim, &ret_claims[BOXCAR_INBOX], err),
                              "inbox_claim.", err)
               : status;
}

boxcar_status boxcar_coordinator_flush(boxcar_coordinator *coordinator, const boxcar_flush_options *options,
                                       boxcar_flush **ret_flush, boxcar_error *err) {
    struct batch_part claims[BOXES] = {{.claim_size = 0}, {.claim_size = 0}};
    boxcar_status status = check_given(coordinator, "coordinator", err);
    bool claiming;

    if (ret_flush)
        *ret_flush = NULL;
    if (status == BOXCAR_OK)
        status = read_claims(coordinator, options, claims, err);
    if (status != BOXCAR_OK)
        return status;
    claiming = claims[BOXCAR_OUTBOX].claim_size + claims[BOXCAR_INBOX].claim_size > 0;
    return coordinator_flush(coordinator, claiming ? claims : NULL, ret_flush, err);
}

boxcar_status boxcar_coordinator_close(boxcar_coordinator *coordinator, boxcar_error *err) {
    return coordinator ? coordinator_close(coordinator, err) : BOXCAR_OK;
}

void boxcar_coordinator_discard(boxcar_coordinator *coordinator) {
    if (coordinator)
        coordinator_discard(coordinator);
}
