#include <stdio.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/uuid.h"
#include "check.h"
#include "request/coordinator/coordinator.h"
#include "request/request.h"
#include "store/open.h"

/* ---- options ---- */

/* Fills in what is left open. A strategy that has no thread does not look at interval_ms; on a lent store
 * there is none. */
static void complete(boxcar_coordinator_options *options) {
    if (options->strategy == BOXCAR_STRATEGY_INTERVAL && options->interval_ms == 0)
        options->interval_ms = BOXCAR_INTERVAL_MS_DEFAULT;
    if (options->strategy == BOXCAR_STRATEGY_SIZE && options->interval_ms == 0 && !options->lent)
        options->interval_ms = BOXCAR_SIZE_INTERVAL_MS_DEFAULT;
    if (options->strategy == BOXCAR_STRATEGY_IMMEDIATE || options->strategy == BOXCAR_STRATEGY_SCOPED)
        options->interval_ms = 0;
    if (options->queue_max == 0)
        options->queue_max = BOXCAR_QUEUE_MAX_DEFAULT;
    if (options->size == 0)
        options->size =
            BOXCAR_FLUSH_SIZE_DEFAULT < options->queue_max ? BOXCAR_FLUSH_SIZE_DEFAULT : options->queue_max;
}

/* *options: the defaults. */
static boxcar_status read_options(const boxcar_coordinator_options *given,
                                  boxcar_coordinator_options *options, boxcar_error *err) {
    TRY(options_read(options, sizeof(*options), given, "options", err));
    if (!options->lent && !options->store)
        return error_invalid(err, "store",
                             "store is missing: give the options of a store, or an open one as lent");
    if ((unsigned)options->strategy > BOXCAR_STRATEGY_SIZE)
        return error_invalid(err, "strategy", "strategy is unknown: give one of BOXCAR_STRATEGY_*");
    TRY(limits_check_range(options->interval_ms, "interval_ms", 0, BOXCAR_INTERVAL_MS_MAX, err));
    if (options->queue_max > BOXCAR_QUEUE_MAX_MAX)
        return limits_check_range(INT64_MAX, "queue_max", 1, BOXCAR_QUEUE_MAX_MAX, err);
    TRY(limits_check_partition_count(options->partition_count, err));
    TRY(limits_check_stale_threshold_ms(options->stale_threshold_ms, err));
    complete(options);
    if (options->lent && options->store)
        return error_invalid(err, "lent", "lent and store are both given: give one of them");
    if (options->lent && options->interval_ms > 0)
        return error_invalid(err, "lent",
                             "lent is for one thread, and this strategy has its own: give store");
    if (options->size > options->queue_max)
        return error_invalid(err, "size", "size is larger than the queue: give at most %zu (queue_max)",
                             options->queue_max);
    return uuid_ensure(&options->owner.uuid, "an owner", err);
}

/* By itself: together with operations it would make the store refuse them all. */
static boxcar_status want_partitions(boxcar_store *store, int count, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    const struct request request = {.base.partition_count = count};

    return count > 0 ? request_send(store, &request, &result, err) : BOXCAR_OK;
}

/* NULL: the store is lent. */
static boxcar_status open_store(const boxcar_coordinator_options *options, boxcar_store **ret_store,
                                boxcar_error *err) {
    boxcar_store *opened = NULL;

    if (options->store)
        TRY(store_open(options->store, &opened, err));
    boxcar_status status = want_partitions(opened ? opened : options->lent, options->partition_count, err);
    if (status == BOXCAR_OK)
        *ret_store = opened;
    else
        boxcar_store_close(opened);
    return status;
}

boxcar_status boxcar_coordinator_new(const boxcar_coordinator_options *options,
                                     boxcar_coordinator **ret_coordinator, boxcar_error *err) {
    boxcar_coordinator_options checked = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_store *store;

    TRY(check_given(ret_coordinator, "ret_coordinator", err));
    TRY(read_options(options, &checked, err));
    TRY(open_store(&checked, &store, err));
    return coordinator_start(&checked, store, ret_coordinator, err);
}

boxcar_owner boxcar_coordinator_owner(const boxcar_coordinator *coordinator) {
    return coordinator ? coordinator->owner : (boxcar_owner){0};
}

size_t boxcar_coordinator_queued(boxcar_coordinator *coordinator) {
    return coordinator ? coordinator_queued(coordinator) : 0;
}

/* ---- queueing ---- */

/* Where operations come from. */
struct call {
    boxcar_box box;
    const boxcar_new_message *messages; /* or: */
    boxcar_settle_kind kind;
    const boxcar_settlement *settlements;
    int64_t lease_ms;
};

static void get_operation(const void *from, size_t i, struct operation *ret_operation) {
    const struct call *call = from;

    *ret_operation = (struct operation){.box = call->box,
                                        .message = call->messages ? &call->messages[i] : NULL,
                                        .kind = call->kind,
                                        .settlement = call->settlements ? &call->settlements[i] : NULL,
                                        .lease_ms = call->lease_ms};
}

/* Queued operations have tickets, even if their flush failed. */
static boxcar_status queue(boxcar_coordinator *coordinator, const struct call *call, size_t count,
                           uint64_t *ticket, boxcar_error *err) {
    struct operations operations = {count, get_operation, call};
    uint64_t unwanted;

    return coordinator_queue(coordinator, &operations, ticket ? ticket : &unwanted, err);
}

boxcar_status boxcar_coordinator_enqueue(boxcar_coordinator *coordinator, boxcar_box box,
                                         const boxcar_new_message *messages, size_t count, uint64_t *ticket,
                                         boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_new_message_list list = {messages, count};

    if (ticket)
        *ticket = 0;
    TRY(check_given(coordinator, "coordinator", err));
    TRY(limits_check_box(box, err));
    TRY(limits_read_new_messages(&arena, box, &list, 0, err));
    return queue(coordinator, &(struct call){.box = box, .messages = list.items}, count, ticket, err);
}

boxcar_status boxcar_coordinator_settle(boxcar_coordinator *coordinator, boxcar_box box,
                                        boxcar_settle_kind kind, const boxcar_settlement *settlements,
                                        size_t count, int64_t lease_ms, uint64_t *ticket, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_settlement_list list = {settlements, count};

    if (ticket)
        *ticket = 0;
    TRY(check_given(coordinator, "coordinator", err));
    TRY(limits_check_box(box, err));
    TRY(limits_check_settle_kind(kind, err));
    if (kind == BOXCAR_RENEW)
        TRY(limits_check_lease_ms(lease_ms, err));
    TRY(limits_read_settlements(&arena, kind, &list, err));
    struct call call = {.box = box, .kind = kind, .settlements = list.items, .lease_ms = lease_ms};
    return queue(coordinator, &call, count, ticket, err);
}

/* ---- flushing ---- */

static boxcar_status read_claim(const boxcar_coordinator *coordinator, boxcar_box box,
                                const boxcar_claimer *given, boxcar_claimer *ret_claimer, boxcar_error *err) {
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;

    TRY(options_read(&claimer, sizeof(claimer), given, "claimer", err));
    if (!boxcar_uuid_is_none(claimer.owner.uuid) && !coordinator_is_owner(coordinator, claimer.owner))
        return error_invalid(err, "owner", "owner is not the coordinator's: leave it none");
    if (claimer.box > BOXCAR_INBOX)
        return error_invalid(
            err, "box", "box is a subscription, and coordinators serve main readers: use boxcar_claim()");
    claimer.owner = coordinator->owner;
    claimer.box = box;
    TRY(limits_check_claim(&claimer, err));
    *ret_claimer = claimer;
    return BOXCAR_OK;
}

static boxcar_status check_asks_nothing(const boxcar_flush_options *options, int box, boxcar_error *err) {
    const char *asked = options->claims[box]                          ? "claims"
                        : options->returns[box] != BOXCAR_RETURN_NONE ? "returns"
                                                                      : NULL;

    if (!asked)
        return BOXCAR_OK;
    return error_invalid(err, asked,
                         "%s are given to a flush that may do nothing: give none, or no best_effort", asked);
}

/* *options: as given; the claims are those in claimers, complete. */
static boxcar_status read_flush_options(const boxcar_coordinator *coordinator,
                                        const boxcar_flush_options *given, boxcar_flush_options *options,
                                        boxcar_claimer claimers[BOXES], boxcar_error *err) {
    if (given)
        TRY(options_read(options, sizeof(*options), given, "options", err));
    for (int box = 0; box < BOXES; box++) {
        const boxcar_claimer *claim = options->claims[box];
        char argument[20];

        snprintf(argument, sizeof(argument), "returns[%d]", box);
        TRY(limits_check_return(options->returns[box], argument, err));
        if (options->best_effort)
            TRY(check_asks_nothing(options, box, err));
        if (!claim)
            continue;
        TRY(error_locate_item(read_claim(coordinator, (boxcar_box)box, claim, &claimers[box], err), "claims",
                              (size_t)box, err));
        options->claims[box] = &claimers[box];
    }
    return BOXCAR_OK;
}

static bool asks(const boxcar_flush_options *options) {
    bool asked = false;

    for (int box = 0; box < BOXES; box++)
        asked = asked || options->claims[box] || options->returns[box] != BOXCAR_RETURN_NONE;
    return asked;
}

boxcar_status boxcar_coordinator_flush(boxcar_coordinator *coordinator, const boxcar_flush_options *options,
                                       boxcar_flush **flush, boxcar_error *err) {
    boxcar_claimer claimers[BOXES];
    boxcar_flush_options read = BOXCAR_FLUSH_OPTIONS_INIT;

    if (flush)
        *flush = NULL;
    TRY(check_given(coordinator, "coordinator", err));
    TRY(read_flush_options(coordinator, options, &read, claimers, err));
    if (!read.best_effort)
        return coordinator_flush(coordinator, asks(&read) ? &read : NULL, flush, err);
    coordinator_flush_at_once(coordinator, flush);
    return BOXCAR_OK;
}

boxcar_status boxcar_coordinator_close(boxcar_coordinator *coordinator, boxcar_error *err) {
    return coordinator ? coordinator_close(coordinator, err) : BOXCAR_OK;
}

void boxcar_coordinator_free(boxcar_coordinator *coordinator) {
    if (coordinator)
        coordinator_free(coordinator);
}
