/* A request: everything in one transaction, one sync of the disk. A call that failed has changed nothing,
 * because no answer can be lost on the way back: request->base.sent_before makes no difference here. */
#include "request.h"

#include <string.h>

#include "store/sqlite/admin/instance.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/claim/claim.h"
#include "store/sqlite/connection/connection.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/inbox/inbox.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/enqueue.h"
#include "store/sqlite/settle/release.h"
#include "store/sqlite/settle/settle.h"

#define REMOVE_LEASES_MAX 1000 /* of instances that are gone, in one request */

struct processing {
    const struct request *request;
    struct result result;
    bool claim_only;  /* a later transaction of the same call */
    bool more[BOXES]; /* the claim from this box found nothing yet and goes on */
};

static boxcar_status settle_part(struct sqlite_store *store, struct processing *processing, boxcar_box box,
                                 boxcar_error *err) {
    const struct request *request = processing->request;
    boxcar_status status = BOXCAR_OK;

    for (int i = 0; status == BOXCAR_OK && i < BOXCAR_SETTLE_KINDS; i++) {
        boxcar_settle_kind kind = settle_kind_at(i);

        if (kind == BOXCAR_RESOLVE)
            status = sqlite_join_resolve(store, request, box, &processing->result, err);
        else
            status = sqlite_settle(store, request, box, kind, &processing->result, err);
    }
    if (status == BOXCAR_OK && request->parts[box].reap)
        status = sqlite_reap_box(store, box, &processing->result.parts[box].reaped, err);
    return status;
}

static boxcar_status enqueue_and_settle(struct sqlite_store *store, struct processing *processing,
                                        boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (processing->request->base.partition_count > 0)
        status = sqlite_want_partitions(store, processing->request->base.partition_count, err);
    if (status == BOXCAR_OK)
        status = sqlite_inbox_enqueue(store, processing->request, &processing->result, err);
    if (status == BOXCAR_OK)
        status = sqlite_enqueue(store, processing->request, &processing->result, err);
    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++)
        status = settle_part(store, processing, (boxcar_box)box, err);
    for (size_t i = 0; status == BOXCAR_OK && i < processing->request->instance_count; i++)
        status = sqlite_instance_write(store, &processing->request->instances[i], err);
    if (status == BOXCAR_OK && processing->request->farewell)
        status = sqlite_instance_delete(store, processing->request->base.owner, err);
    return status;
}

/* ---- heartbeats ---- */

static bool names_owner(const struct request *request) {
    bool named = request->instance_count > 0;

    for (int box = 0; box < BOXES; box++)
        named = named || request_part_settles(&request->parts[box]) ||
                request->parts[box].returns != BOXCAR_RETURN_NONE;
    return named;
}

/* After the claims: what they found tells whether this transaction writes at all. */
static boxcar_status note_owner(struct sqlite_store *store, const struct processing *processing,
                                boxcar_error *err) {
    const struct request *request = processing->request;
    size_t claimed = 0;
    bool claims = false, settles = !processing->claim_only && names_owner(request);

    for (int box = 0; box < BOXES; box++) {
        claims = claims || request->parts[box].claim_size > 0;
        claimed += processing->result.parts[box].claimed_count;
    }
    if (!settles && !claims)
        return BOXCAR_OK;
    return sqlite_instance_sign(store, request->base.owner,
                                settles || claimed > 0 ? SIGN_WITH_WORK : SIGN_IN_VAIN, err);
}

static boxcar_status remove_stale(struct sqlite_store *store, const struct processing *processing,
                                  boxcar_error *err) {
    const struct request *request = processing->request;
    boxcar_status status = BOXCAR_OK;
    bool more = request->remove_stale && !processing->claim_only;
    int64_t released, left = REMOVE_LEASES_MAX;

    if (more) /* it has just spoken itself */
        status = sqlite_instance_sign(store, request->base.owner, SIGN_WITH_WORK, err);
    while (status == BOXCAR_OK && more && left > 0) {
        status = sqlite_instance_remove_silent(store, request->base.stale_threshold_ms, (int)left, &released,
                                               &more, err);
        left -= released;
    }
    return status;
}

/* In a later transaction only those that have not found anything yet. */
static boxcar_status claim(struct sqlite_store *store, struct processing *processing, boxcar_box box,
                           boxcar_error *err) {
    bool *more = &processing->more[box];

    if (processing->request->parts[box].claim_size == 0 || (processing->claim_only && !*more))
        return BOXCAR_OK;
    *more = false;
    processing->result.parts[box].claimed_count = 0;
    return sqlite_claim(store, processing->request, box, &processing->result, more, err);
}

static boxcar_status process(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct processing *processing = context;
    boxcar_status status = BOXCAR_OK;

    if (!processing->claim_only) { /* it may be the second try */
        result_release(&processing->result);
        status = enqueue_and_settle(store, processing, err);
    }
    if (status == BOXCAR_OK)
        status = remove_stale(store, processing, err);
    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++)
        status = claim(store, processing, (boxcar_box)box, err);
    for (int box = 0; status == BOXCAR_OK && !processing->claim_only && box < BOXES; box++)
        status = sqlite_read_returned(store, processing->request, (boxcar_box)box, &processing->result, err);
    return status == BOXCAR_OK ? note_owner(store, processing, err) : status;
}

/* Claims and renewals need not survive a power cut: a lost claim leaves its messages ready, and
 * its epoch is never used again because the clock has moved on. They cost no sync of their own. */
static bool box_is_durable(const struct request *request, boxcar_box box) {
    const boxcar_request_part *part = &request->parts[box];

    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++) {
        if (kind != BOXCAR_RENEW && part->settle[kind].count > 0)
            return true;
    }
    return request->base.messages[box].count > 0 || part->reap;
}

static bool is_durable(const struct request *request) {
    return box_is_durable(request, BOXCAR_OUTBOX) || box_is_durable(request, BOXCAR_INBOX) ||
           request->base.partition_count > 0;
}

/* A second try of a later transaction must not leave out the box whose claim was through in the first. */
struct later {
    struct processing *processing;
    bool more[BOXES];
};

static boxcar_status process_later(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct later *later = context;

    memcpy(later->processing->more, later->more, sizeof(later->more));
    return process(store, later->processing, err);
}

/* If a later transaction failed, messages claimed by an earlier one stay claimed: that one is committed. */
static void forget_unfinished(struct processing *processing, const struct later *later) {
    for (int box = 0; box < BOXES; box++) {
        if (later->more[box])
            processing->result.parts[box].claimed_count = 0;
    }
}

/* The transactions in which a long claim goes on. What the first one settled or stored is committed and
 * must be reported, and so is what it claimed: then a claim that cannot go on is one that found nothing. */
static boxcar_status continue_claim(struct sqlite_store *store, struct processing *processing, bool committed,
                                    boxcar_error *err) {
    struct later later = {.processing = processing};
    boxcar_status status = BOXCAR_OK;
    size_t claimed = 0;

    processing->claim_only = true;
    for (int box = 0; box < BOXES; box++)
        claimed += processing->result.parts[box].claimed_count;
    while (status == BOXCAR_OK && (processing->more[BOXCAR_OUTBOX] || processing->more[BOXCAR_INBOX])) {
        memcpy(later.more, processing->more, sizeof(later.more));
        status = sqlite_transaction(store, ACCESS_WRITE_RELAXED, process_later, &later, err);
        if (status == BOXCAR_OK)
            sqlite_join_tell_ended(store, &processing->result);
    }
    if (status == BOXCAR_OK || !committed || (claimed == 0 && !is_durable(processing->request)))
        return status;
    forget_unfinished(processing, &later);
    return BOXCAR_OK;
}

/* Other programs must see a heartbeat, so it goes into the file that has the name now. */
static boxcar_status follow_name(struct sqlite_store *store, const struct request *request,
                                 boxcar_error *err) {
    return request->instance_count > 0 ? sqlite_follow_name(store, err) : BOXCAR_OK;
}

boxcar_status sqlite_process(struct boxcar_store *base, const struct request *request,
                             struct result *ret_result, boxcar_error *err) {
    struct sqlite_store *store = sqlite_of(base);
    struct processing processing = {.request = request, .result = {.arena = ARENA_INIT}};
    enum access access = is_durable(request) ? ACCESS_WRITE : ACCESS_WRITE_RELAXED;
    boxcar_status status = follow_name(store, request, err);
    bool commits = sqlite3_get_autocommit(store->db);

    if (status == BOXCAR_OK)
        status = sqlite_transaction(store, access, process, &processing, err);
    if (status == BOXCAR_OK) {
        sqlite_join_tell_ended(store, &processing.result);
        status = continue_claim(store, &processing, commits, err);
    }
    if (status != BOXCAR_OK) {
        result_release(&processing.result);
        return status;
    }
    for (int box = 0; box < BOXES; box++)
        request_part_trim_returned(&request->parts[box], &processing.result.parts[box]);
    *ret_result = processing.result;
    return BOXCAR_OK;
}
