/* A batch: everything in one transaction, one sync of the disk. A call that failed has changed nothing,
 * because no answer can be lost on the way back: batch->sent_before makes no difference here. */
#include "sqlite_join.h"
#include "sqlite_store.h"

struct processing {
    const struct batch *batch;
    struct batch_result result;
    bool claim_only; /* a later transaction of the same call */
    bool more;
};

static boxcar_status settle_and_enqueue(struct sqlite_store *store, struct processing *processing,
                                        boxcar_error *err) {
    const struct batch *batch = processing->batch;
    boxcar_status status = sqlite_enqueue(store, batch, &processing->result, err);

    for (int kind = 0; status == BOXCAR_OK && kind < SETTLE_KINDS; kind++) {
        if (kind == SETTLE_RESOLVE)
            status = sqlite_join_resolve(store, batch, &processing->result, err);
        else
            status = sqlite_settle(store, batch, (enum settle_kind)kind, &processing->result, err);
    }
    if (status == BOXCAR_OK && batch->reap)
        status = sqlite_reap_all(store, &processing->result.reaped, err);
    return status;
}

static boxcar_status process(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct processing *processing = context;
    boxcar_status status = BOXCAR_OK;

    processing->more = false;
    if (!processing->claim_only) { /* it may be the second try */
        batch_result_release(&processing->result);
        status = settle_and_enqueue(store, processing, err);
    }
    processing->result.claimed_count = 0;
    if (status == BOXCAR_OK && processing->batch->claim_size > 0)
        status = sqlite_claim(store, processing->batch, &processing->result, &processing->more, err);
    return status;
}

/* Claims and renewals need not survive a power cut: a lost claim leaves its messages ready, and
 * its epoch is never used again because the clock has moved on. They cost no sync of their own. */
static bool is_durable(const struct batch *batch) {
    for (int kind = 0; kind < SETTLE_KINDS; kind++) {
        if (kind != SETTLE_RENEW && batch->settle[kind].count > 0)
            return true;
    }
    return batch->message_count > 0 || batch->reap;
}

/* The transactions in which a long claim goes on. What the first one settled or stored is committed and
 * must be reported: then a claim that cannot go on is one that found nothing. */
static boxcar_status go_on(struct sqlite_store *store, struct processing *processing, bool committed,
                           boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    processing->claim_only = true;
    while (status == BOXCAR_OK && processing->more) {
        status = sqlite_transaction(store, ACCESS_WRITE_RELAXED, process, processing, err);
        if (status == BOXCAR_OK)
            sqlite_join_tell_ended(store, &processing->result);
    }
    if (status == BOXCAR_OK || !committed || !is_durable(processing->batch))
        return status;
    processing->result.claimed_count = 0;
    return BOXCAR_OK;
}

boxcar_status sqlite_process(struct boxcar_store *base, const struct batch *batch,
                             struct batch_result *ret_result, boxcar_error *err) {
    struct sqlite_store *store = sqlite_of(base);
    struct processing processing = {.batch = batch, .result = {.arena = ARENA_INIT}};
    enum access access = is_durable(batch) ? ACCESS_WRITE : ACCESS_WRITE_RELAXED;
    bool commits = sqlite3_get_autocommit(store->db);
    boxcar_status status = sqlite_transaction(store, access, process, &processing, err);

    if (status == BOXCAR_OK) {
        sqlite_join_tell_ended(store, &processing.result);
        status = go_on(store, &processing, commits, err);
    }
    if (status != BOXCAR_OK) {
        batch_result_release(&processing.result);
        return status;
    }
    *ret_result = processing.result;
    return BOXCAR_OK;
}
