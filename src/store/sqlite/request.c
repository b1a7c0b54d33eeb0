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
#include "store/sqlite/subscription/reader.h"

#define REMOVE_LEASES_MAX 1000 /* of instances that are gone, in one request */

struct processing {
    const struct request *request;
    struct result result;
    bool claim_only;        /* a later transaction of the same call */
    bool more[BOXES];       /* the claim from this box found nothing yet and goes on */
    bool unfinished[BOXES]; /* `more` before a later transaction */
};

static boxcar_status settle_part(struct sqlite_store *store, struct processing *processing, boxcar_box box,
                                 boxcar_error *err) {
    const struct request *request = processing->request;
    struct result *result = &processing->result;
    boxcar_box reader = request_reader(request, (int)box);
    TRY(sqlite_reader_enter(store, reader, err));
    for (int i = 0; i < BOXCAR_SETTLE_KINDS; i++) {
        boxcar_settle_kind kind = settle_kind_at(i);
        TRY(kind == BOXCAR_RESOLVE ? sqlite_join_resolve(store, request, box, result, err)
                                   : sqlite_settle(store, request, box, kind, result, err));
    }
    if (request->parts[box].reap)
        TRY(sqlite_reap_box(store, reader, &result->parts[box].reaped, err));
    sqlite_reader_leave(store);
    return BOXCAR_OK;
}

static boxcar_status enqueue_and_settle(struct sqlite_store *store, struct processing *processing,
                                        boxcar_error *err) {
    const struct request *request = processing->request;
    if (request->base.partition_count > 0)
        TRY(sqlite_want_partitions(store, request->base.partition_count, err));
    TRY(sqlite_inbox_enqueue(store, request, &processing->result, err));
    TRY(sqlite_enqueue(store, request, &processing->result, err));
    for (int box = 0; box < BOXES; box++)
        TRY(settle_part(store, processing, (boxcar_box)box, err));
    for (size_t i = 0; i < request->instance_count; i++)
        TRY(sqlite_instance_write(store, &request->instances[i], err));
    return request->farewell ? sqlite_instance_delete(store, request->base.owner, err) : BOXCAR_OK;
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
    if (!request->remove_stale || processing->claim_only)
        return BOXCAR_OK;
    /* The owner is not among them: it speaks with this request. */
    TRY(sqlite_instance_sign(store, request->base.owner, SIGN_WITH_WORK, err));
    bool more = true;
    for (int64_t released, left = REMOVE_LEASES_MAX; more && left > 0; left -= released)
        TRY(sqlite_instance_remove_silent(store, request->base.stale_threshold_ms, (int)left, &released,
                                          &more, err));
    return BOXCAR_OK;
}

/* In a later transaction only those that have not found anything yet. */
static boxcar_status claim(struct sqlite_store *store, struct processing *processing, boxcar_box box,
                           boxcar_error *err) {
    bool *more = &processing->more[box];
    if (processing->request->parts[box].claim_size == 0 || (processing->claim_only && !*more))
        return BOXCAR_OK;
    *more = false;
    processing->result.parts[box].claimed_count = 0;
    TRY(sqlite_reader_enter(store, request_reader(processing->request, (int)box), err));
    TRY(sqlite_claim(store, processing->request, box, &processing->result, more, err));
    sqlite_reader_leave(store);
    return BOXCAR_OK;
}

static boxcar_status process(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct processing *processing = context;
    if (processing->claim_only) {
        /* A second try must not leave out a box whose claim was through in the first. */
        memcpy(processing->more, processing->unfinished, sizeof(processing->more));
    } else {
        result_release(&processing->result); /* it may be the second try */
        TRY(enqueue_and_settle(store, processing, err));
    }
    TRY(remove_stale(store, processing, err));
    for (int box = 0; box < BOXES; box++)
        TRY(claim(store, processing, (boxcar_box)box, err));
    for (int box = 0; !processing->claim_only && box < BOXES; box++)
        TRY(sqlite_read_returned(store, processing->request, (boxcar_box)box, &processing->result, err));
    return note_owner(store, processing, err);
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

/* The transactions in which a long claim goes on. What the first one settled or stored is committed and
 * must be reported, and so is what it claimed: then a claim that cannot go on is one that found nothing. */
static boxcar_status continue_claim(struct sqlite_store *store, struct processing *processing, bool committed,
                                    boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;
    size_t claimed = 0;
    processing->claim_only = true;
    for (int box = 0; box < BOXES; box++)
        claimed += processing->result.parts[box].claimed_count;
    while (status == BOXCAR_OK && (processing->more[BOXCAR_OUTBOX] || processing->more[BOXCAR_INBOX])) {
        memcpy(processing->unfinished, processing->more, sizeof(processing->more));
        status = sqlite_transaction(store, ACCESS_WRITE_RELAXED, process, processing, err);
        if (status == BOXCAR_OK)
            sqlite_join_tell_ended(store, &processing->result);
    }
    if (status == BOXCAR_OK || !committed || (claimed == 0 && !is_durable(processing->request)))
        return status;
    /* Messages that an earlier transaction has claimed stay claimed: that one is committed. */
    for (int box = 0; box < BOXES; box++) {
        if (processing->unfinished[box])
            processing->result.parts[box].claimed_count = 0;
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_process(struct boxcar_store *base, const struct request *request,
                             struct result *ret_result, boxcar_error *err) {
    struct sqlite_store *store = sqlite_of(base);
    struct processing processing = {.request = request, .result = {.arena = ARENA_INIT}};
    if (request->instance_count > 0) /* other programs must see a heartbeat */
        TRY(sqlite_follow_name(store, err));
    bool commits = sqlite3_get_autocommit(store->db);
    boxcar_status status = sqlite_transaction(
        store, is_durable(request) ? ACCESS_WRITE : ACCESS_WRITE_RELAXED, process, &processing, err);
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
