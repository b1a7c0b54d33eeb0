/* The five ways to settle, in both boxes: one shape, told apart by boxcar_settle_kind. */
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "base/memory.h"
#include "batching.h"
#include "core/limits.h"
#include "flow/prepare.h"
#include "store/join_log.h"
#include "store/store.h"

#define AUTO_RESULT CLEANUP(batch_result_release)

/* What a caller asks, and where the answer goes. */
struct settle_call {
    boxcar_settle_kind kind;
    boxcar_box box;
    boxcar_owner owner;
    const boxcar_settlement *items;
    size_t count;
    int64_t lease_ms; /* renew only */
    boxcar_work_id *ret_affected;
    size_t *ret_affected_count;
};

static bool all_in_store_form(boxcar_settle_kind kind, struct settlement_list list) {
    for (size_t i = 0; i < list.count; i++) {
        if (prepare_is_needed(kind, &list.items[i]))
            return false;
    }
    return true;
}

boxcar_status batching_add_settlements(struct arena *arena, boxcar_settle_kind kind, struct settlement_list list,
                                       struct batch_part *part, boxcar_error *err) {
    boxcar_settlement *copies;

    part->settle[kind] = list;
    if (all_in_store_form(kind, list))
        return BOXCAR_OK;
    copies = arena_alloc_array(arena, list.count, sizeof(*copies));
    if (!copies)
        return error_no_memory(err);
    memcpy(copies, list.items, list.count * sizeof(*copies));
    for (size_t i = 0; i < list.count; i++)
        prepare_settlement(kind, &copies[i]);
    part->settle[kind].items = copies;
    return BOXCAR_OK;
}

static boxcar_status check_call(const boxcar_store *store, const struct settle_call *call,
                                boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_owner(call->owner, err);
    if (status == BOXCAR_OK && call->kind == BOXCAR_RENEW)
        status = limits_check_lease_ms(call->lease_ms, err);
    return status == BOXCAR_OK ? limits_check_settlements(call->kind, call->items, call->count, err) : status;
}

static void log_settled(const boxcar_store *store, const struct settle_call *call, size_t affected) {
    char text[24];
    boxcar_log_field field = {"count", BOXCAR_NO_STR};

    if (!store_logs(store, BOXCAR_LOG_DEBUG))
        return;
    snprintf(text, sizeof(text), "%zu", affected);
    field.value = boxcar_str_of(text);
    store_log(store, BOXCAR_LOG_DEBUG, boxcar_settle_kind_name(call->kind), &field, 1, "%s: %zu of %zu messages",
              boxcar_settle_kind_name(call->kind), affected, call->count);
}

static void report(const struct settle_call *call, const struct work_id_list *affected) {
    if (call->ret_affected && affected->count > 0)
        memcpy(call->ret_affected, affected->items, affected->count * sizeof(*affected->items));
    if (call->ret_affected_count)
        *call->ret_affected_count = affected->count;
}

static boxcar_status process(boxcar_store *store, struct settle_call *call, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_RESULT struct batch_result result = {.arena = ARENA_INIT};
    struct batch batch = {.owner = call->owner};
    struct batch_part *part = &batch.parts[call->box];
    const struct work_id_list *settled = &result.parts[call->box].settled[call->kind];
    struct settlement_list list = {call->items, call->count};
    boxcar_status status = batching_add_settlements(&arena, call->kind, list, part, err);

    if (status != BOXCAR_OK)
        return status;
    part->renew_lease_ms = call->lease_ms;
    status = store->ops->process(store, &batch, &result, err);
    if (status != BOXCAR_OK)
        return status;
    log_settled(store, call, settled->count);
    join_log_ended(store, result.ended, result.ended_count);
    report(call, settled);
    return BOXCAR_OK;
}

static boxcar_status settle(boxcar_store *store, struct settle_call call, boxcar_error *err) {
    static const struct work_id_list nothing = {NULL, 0};
    boxcar_status status = check_call(store, &call, err);

    if (status != BOXCAR_OK)
        return status;
    if (call.count > 0)
        return process(store, &call, err);
    report(&call, &nothing);
    return BOXCAR_OK;
}

boxcar_status boxcar_ack(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                         size_t count, boxcar_work_id *ret_affected, size_t *ret_affected_count,
                         boxcar_error *err) {
    struct settle_call call = {BOXCAR_ACK,   BOXCAR_OUTBOX,     owner, settlements, count, 0,
                               ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_abandon(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                             size_t count, boxcar_work_id *ret_affected, size_t *ret_affected_count,
                             boxcar_error *err) {
    struct settle_call call = {BOXCAR_ABANDON, BOXCAR_OUTBOX,     owner, settlements, count, 0,
                               ret_affected,   ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_defer(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                           size_t count, boxcar_work_id *ret_affected, size_t *ret_affected_count,
                           boxcar_error *err) {
    struct settle_call call = {BOXCAR_DEFER, BOXCAR_OUTBOX,     owner, settlements, count, 0,
                               ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_fail(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                          size_t count, boxcar_work_id *ret_affected, size_t *ret_affected_count,
                          boxcar_error *err) {
    struct settle_call call = {BOXCAR_FAIL,  BOXCAR_OUTBOX,     owner, settlements, count, 0,
                               ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_renew(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                           size_t count, int64_t lease_ms, boxcar_work_id *ret_affected,
                           size_t *ret_affected_count, boxcar_error *err) {
    struct settle_call call = {BOXCAR_RENEW, BOXCAR_OUTBOX, owner,        settlements,
                               count,        lease_ms,      ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_inbox_ack(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                               size_t count, boxcar_work_id *ret_affected, size_t *ret_affected_count,
                               boxcar_error *err) {
    struct settle_call call = {BOXCAR_ACK,   BOXCAR_INBOX,      owner, settlements, count, 0,
                               ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_inbox_abandon(boxcar_store *store, boxcar_owner owner,
                                   const boxcar_settlement *settlements, size_t count,
                                   boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                   boxcar_error *err) {
    struct settle_call call = {BOXCAR_ABANDON, BOXCAR_INBOX,      owner, settlements, count, 0,
                               ret_affected,   ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_inbox_defer(boxcar_store *store, boxcar_owner owner,
                                 const boxcar_settlement *settlements, size_t count,
                                 boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                 boxcar_error *err) {
    struct settle_call call = {BOXCAR_DEFER, BOXCAR_INBOX,      owner, settlements, count, 0,
                               ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_inbox_fail(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                                size_t count, boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                boxcar_error *err) {
    struct settle_call call = {BOXCAR_FAIL,  BOXCAR_INBOX,      owner, settlements, count, 0,
                               ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_inbox_renew(boxcar_store *store, boxcar_owner owner,
                                 const boxcar_settlement *settlements, size_t count, int64_t lease_ms,
                                 boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                 boxcar_error *err) {
    struct settle_call call = {BOXCAR_RENEW, BOXCAR_INBOX, owner,        settlements,
                               count,        lease_ms,     ret_affected, ret_affected_count};

    return settle(store, call, err);
}
