#include "seam.h"

#include "request/request.h"

boxcar_status seam_begin(boxcar_store *store, boxcar_error *err) {
    return store->ops->transaction(store, TRANSACTION_BEGIN, err);
}

boxcar_status seam_commit(boxcar_store *store, boxcar_error *err) {
    return store->ops->transaction(store, TRANSACTION_COMMIT, err);
}

void seam_roll_back(boxcar_store *store) { (void)store->ops->transaction(store, TRANSACTION_ROLLBACK, NULL); }

bool seam_fail_unhandled(struct fixture *f, struct taken taken) {
    boxcar_settlement settlement = settlement_of(taken);
    struct request request = {.base.owner = f->owner,
                              .own[BOXCAR_OUTBOX].fail_reason = BOXCAR_REASON_NO_HANDLER};
    struct result result = {.arena = ARENA_INIT};
    request.parts[BOXCAR_OUTBOX].settle[BOXCAR_FAIL] = (boxcar_settlement_list){&settlement, 1};
    ASSERT_OK(f, f->store->ops->process(f->store, &request, &result, &f->err));
    bool affected = result.parts[BOXCAR_OUTBOX].settled[BOXCAR_FAIL].count == 1;
    result_release(&result);
    return affected;
}

boxcar_status seam_is_drained(boxcar_store *store, boxcar_box box, const boxcar_str *topics, size_t count,
                              int64_t horizon_ms, bool *ret_drained, boxcar_error *err) {
    return store->ops->is_drained(store, box, topics, count, BOXCAR_NO_STR, horizon_ms, ret_drained, err);
}

void seam_sleep(boxcar_store *store, boxcar_owner owner, bool is_awaited, int64_t longest_ms) {
    struct nap nap = {
        .owner = owner, .boxes[BOXCAR_OUTBOX].awaited = is_awaited, .longest_ms = longest_ms, .wake_fd = -1};
    store->ops->sleep(store, &nap);
}

boxcar_status seam_farewell(boxcar_store *store, boxcar_owner owner, boxcar_error *err) {
    return request_farewell(store, owner, err);
}

void seam_hurry(boxcar_store *store, int64_t call_ms) {
    store->impatient = true;
    store->call_ms = call_ms;
}

boxcar_status seam_upkeep(boxcar_store *store, const _Atomic bool *is_over, boxcar_error *err) {
    struct upkeep_done done;
    store->is_over = is_over;
    boxcar_status status = store->ops->maintain(store, UPKEEP_ROUND, &done, err);
    store->is_over = NULL;
    return status;
}
