#include "worker/ordered.h"
#include "base/memory.h"
#include "base/options.h"
#include "check.h"
#include "request/coordinator/coordinator.h"

void boxcar_ordered_results_free(boxcar_ordered_results *results) {
    ordered_results_free((struct ordered_results *)results);
}

/* ---- running ---- */

static boxcar_status check_messages(const boxcar_message *const *messages, size_t count, boxcar_error *err) {
    TRY(limits_check_array(messages, count, "messages", "count", "`count` of them", err));
    for (size_t i = 0; i < count; i++)
        if (!messages[i])
            return error_invalid(err, "messages", "messages[%zu] is NULL: give `count` of them", i);
    return BOXCAR_OK;
}

boxcar_status boxcar_ordered_run_messages(const boxcar_message *const *messages, size_t count,
                                          const boxcar_ordered_options *options, boxcar_handler_fn handle,
                                          void *context, boxcar_ordered_results **ret_results,
                                          boxcar_error *err) {
    boxcar_ordered_options checked = BOXCAR_ORDERED_OPTIONS_INIT;

    TRY(check_messages(messages, count, err));
    if (options)
        TRY(options_read(&checked, sizeof(checked), options, "options", err));
    TRY(limits_check_range(checked.concurrency, "concurrency", 1, BOXCAR_CONCURRENCY_MAX, err));
    if (!handle)
        return error_invalid(err, "handle", "handle is NULL: it is required");
    TRY(check_given(ret_results, "ret_results", err));
    return ordered_run(messages, count, checked.concurrency, handle, context, ret_results, err);
}

boxcar_status boxcar_ordered_run(const boxcar_message_list *list, const boxcar_ordered_options *options,
                                 boxcar_handler_fn handle, void *context,
                                 boxcar_ordered_results **ret_results, boxcar_error *err) {
    TRY(check_given(list, "list", err));
    return boxcar_ordered_run_messages(list->items, list->count, options, handle, context, ret_results, err);
}

/* ---- settling ---- */

/* An acked message has ended, so its stages are no longer needed. */
static bool records_stages(const boxcar_ordered_result *result) {
    return result->stages != 0 && result->verdict != BOXCAR_VERDICT_ACK;
}

static boxcar_settlement settlement_of(const boxcar_ordered_result *result) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;

    settlement.work_id = result->message->work_id;
    settlement.epoch = result->message->epoch;
    settlement.delay_ms = result->delay_ms;
    settlement.error = result->error;
    settlement.stages = records_stages(result) ? result->stages : 0;
    return settlement;
}

/* Results as settlements, made before the queue is touched; first the records of stages. */
struct settle_list {
    const boxcar_ordered_results *results;
    boxcar_settlement *settlements;
    size_t *recorded; /* indexes of results whose stages are recorded */
    size_t recorded_count;
};

static void get_result(const void *from, size_t i, struct operation *ret_operation) {
    const struct settle_list *list = from;
    bool records = i < list->recorded_count;
    size_t at = records ? list->recorded[i] : i - list->recorded_count;
    const boxcar_ordered_result *result = list->results->items[at];

    *ret_operation = (struct operation){.kind = records ? BOXCAR_RECORD : (boxcar_settle_kind)result->verdict,
                                        .box = result->message->box,
                                        .settlement = &list->settlements[at]};
}

static bool make_list(struct arena *arena, const boxcar_ordered_results *results, struct settle_list *list) {
    *list = (struct settle_list){.results = results};
    list->settlements = arena_alloc_array(arena, results->count, sizeof(*list->settlements));
    list->recorded = arena_alloc_array(arena, results->count, sizeof(*list->recorded));
    if (!list->settlements || !list->recorded)
        return false;
    for (size_t i = 0; i < results->count; i++) {
        list->settlements[i] = settlement_of(results->items[i]);
        if (records_stages(results->items[i]))
            list->recorded[list->recorded_count++] = i;
    }
    return true;
}

/* A coordinator would settle the delivery of the main reader. */
static boxcar_status check_readers(const boxcar_ordered_results *results, boxcar_error *err) {
    for (size_t i = 0; i < results->count; i++)
        if (results->items[i]->message->reader > BOXCAR_INBOX)
            return error_invalid(err, "results",
                                 "results[%zu] is of a subscription, and coordinators serve main readers: "
                                 "settle it with boxcar_settle()",
                                 i);
    return BOXCAR_OK;
}

static boxcar_status check_owners(const boxcar_coordinator *coordinator,
                                  const boxcar_ordered_results *results, boxcar_error *err) {
    for (size_t i = 0; i < results->count; i++)
        if (!coordinator_is_owner(coordinator, results->items[i]->message->owner))
            return error_invalid(err, "results",
                                 "results[%zu] was not claimed with the coordinator's owner: claim with "
                                 "boxcar_coordinator_flush(), or give the coordinator that owner",
                                 i);
    return BOXCAR_OK;
}

/* Queued operations have tickets, even if their flush failed. */
boxcar_status boxcar_ordered_settle(boxcar_coordinator *coordinator, const boxcar_ordered_results *results,
                                    uint64_t *ticket, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct settle_list list;
    uint64_t first = 0;

    if (ticket)
        *ticket = 0;
    TRY(check_given(coordinator, "coordinator", err));
    TRY(check_given(results, "results", err));
    TRY(check_owners(coordinator, results, err));
    TRY(check_readers(results, err));
    if (!make_list(&arena, results, &list))
        return error_no_memory(err);
    boxcar_settlement_list settlements = {list.settlements, results->count};
    TRY(limits_read_settlements(&arena, BOXCAR_ACK, &settlements, err));
    struct operations operations = {list.recorded_count + results->count, get_result, &list};
    boxcar_status status = coordinator_queue(coordinator, &operations, &first, err);
    if (ticket && first != 0)
        *ticket = first + list.recorded_count;
    return status;
}
