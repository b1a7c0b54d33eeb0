/* The five ways to settle: one shape, told apart by enum settle_kind. */
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "base/memory.h"
#include "core/limits.h"
#include "flow/prepare.h"
#include "store/join_log.h"
#include "store/store.h"

#define AUTO_RESULT CLEANUP(batch_result_release)

static const char *const EVENTS[SETTLE_KINDS] = {
    [SETTLE_ACK] = "ack",   [SETTLE_ABANDON] = "abandon", [SETTLE_DEFER] = "defer",
    [SETTLE_FAIL] = "fail", [SETTLE_RENEW] = "renew",
};

/* What a caller asks, and where the answer goes. */
struct settle_call {
    enum settle_kind kind;
    boxcar_owner owner;
    const boxcar_settlement *items;
    size_t count;
    int64_t lease_ms; /* renew only */
    boxcar_work_id *ret_affected;
    size_t *ret_affected_count;
};

static bool all_in_store_form(const struct settle_call *call) {
    for (size_t i = 0; i < call->count; i++) {
        if (prepare_is_needed(call->kind, &call->items[i]))
            return false;
    }
    return true;
}

/* Copies the list only if something in it has to change. */
static boxcar_status normalize(struct arena *arena, struct settle_call *call, boxcar_error *err) {
    boxcar_settlement *copies;

    if (all_in_store_form(call))
        return BOXCAR_OK;
    copies = arena_alloc_array(arena, call->count, sizeof(*copies));
    if (!copies)
        return error_no_memory(err);
    memcpy(copies, call->items, call->count * sizeof(*copies));
    for (size_t i = 0; i < call->count; i++)
        prepare_settlement(call->kind, &copies[i]);
    call->items = copies;
    return BOXCAR_OK;
}

static boxcar_status check_call(const boxcar_store *store, const struct settle_call *call,
                                boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_owner(call->owner, err);
    if (status == BOXCAR_OK && call->kind == SETTLE_RENEW)
        status = limits_check_lease_ms(call->lease_ms, err);
    return status == BOXCAR_OK ? limits_check_settlements(call->items, call->count, err) : status;
}

static void log_settled(const boxcar_store *store, const struct settle_call *call, size_t affected) {
    char text[24];
    boxcar_log_field field = {"count", BOXCAR_NO_STR};

    if (!store_logs(store, BOXCAR_LOG_DEBUG))
        return;
    snprintf(text, sizeof(text), "%zu", affected);
    field.value = boxcar_str_of(text);
    store_log(store, BOXCAR_LOG_DEBUG, EVENTS[call->kind], &field, 1, "%s: %zu of %zu messages",
              EVENTS[call->kind], affected, call->count);
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
    struct batch batch = {.owner = call->owner, .parts[BOXCAR_OUTBOX] = {.renew_lease_ms = call->lease_ms}};
    const struct work_id_list *settled = &result.parts[BOXCAR_OUTBOX].settled[call->kind];
    boxcar_status status = normalize(&arena, call, err);

    if (status != BOXCAR_OK)
        return status;
    batch.parts[BOXCAR_OUTBOX].settle[call->kind] = (struct settlement_list){call->items, call->count};
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
    struct settle_call call = {SETTLE_ACK, owner, settlements, count, 0, ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_abandon(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                             size_t count, boxcar_work_id *ret_affected, size_t *ret_affected_count,
                             boxcar_error *err) {
    struct settle_call call = {SETTLE_ABANDON,    owner, settlements, count, 0, ret_affected,
                               ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_defer(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                           size_t count, boxcar_work_id *ret_affected, size_t *ret_affected_count,
                           boxcar_error *err) {
    struct settle_call call = {SETTLE_DEFER, owner, settlements, count, 0, ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_fail(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                          size_t count, boxcar_work_id *ret_affected, size_t *ret_affected_count,
                          boxcar_error *err) {
    struct settle_call call = {SETTLE_FAIL, owner, settlements, count, 0, ret_affected, ret_affected_count};

    return settle(store, call, err);
}

boxcar_status boxcar_renew(boxcar_store *store, boxcar_owner owner, const boxcar_settlement *settlements,
                           size_t count, int64_t lease_ms, boxcar_work_id *ret_affected,
                           size_t *ret_affected_count, boxcar_error *err) {
    struct settle_call call = {SETTLE_RENEW, owner,        settlements,       count,
                               lease_ms,     ret_affected, ret_affected_count};

    return settle(store, call, err);
}
