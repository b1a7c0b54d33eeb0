/* One request, one round trip, up to three transactions.
 *
 * Everything is sent in pipeline mode before the first answer is read. The first transaction
 * enqueues and settles, in both boxes, and is durable; then each box that is claimed from has one that
 * need not be, so it does not hold the claimers' turn through a disk flush. Each ends with a sync of its
 * own: if one fails, the others stand, and only what failed is tried again.
 *
 * A connection that breaks while we wait leaves the outcome unknown. Repeating is safe: message ids
 * are chosen here, so an enqueue that did happen is found again; a settlement is fenced by its
 * lease, and what the first try did is looked up (PG_WAS_SETTLED); a lost claim is given back (claim/lost.c).
 */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "exchange.h"
#include "store/postgres/claim/claim.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/wait.h"

#define TRIES_MAX 50
#define LOSSES_MAX 5     /* answers to claims: perhaps there is no memory for them */
#define ROUNDS_MAX 10000 /* a claim that is told again and again to go on finds nothing */

/* A transaction that failed in the middle is still open. Ours is rolled back here; the caller's is left to
 * the caller. libpq knows the state of the transaction only after the last sync. */
static void end_failed_transaction(struct pg_store *pg, boxcar_error *err) {
    if (PQtransactionStatus(pg->conn) != PQTRANS_INERROR)
        return;
    err->must_roll_back = pg_is_joined(pg);
    if (!pg_is_joined(pg))
        PQclear(pg_run_text(pg, "rollback"));
}

/* After a request that could not be sent whole (no memory): its first part must not be answered later. Our
 * own connection is given up, so that no part takes effect. On a connection with the caller's transaction,
 * the answers are read and dropped. */
static void leave_pipeline(struct pg_store *pg) {
    if (!pg_is_joined(pg)) {
        pg_disconnect(pg);
        return;
    }
    bool ended = !PQpipelineSync(pg->conn);
    while (!ended && pg_is_connected(pg)) {
        AUTO_RESULT PGresult *result = pg_next_result(pg);

        ended = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    }
    PQexitPipelineMode(pg->conn);
}

/* A pooler that has lost its server answers with an error more than was asked for and hangs up: reading on
 * finds that out. */
static void end_pipeline(struct pg_store *pg) {
    for (int i = 0; i < 8 && pg_is_connected(pg) && !PQexitPipelineMode(pg->conn); i++)
        PQclear(pg_next_result(pg));
    if (PQpipelineStatus(pg->conn) != PQ_PIPELINE_OFF && !pg_is_joined(pg))
        pg_disconnect(pg);
}

/* If a claim's answer does not arrive, messages may be leased although the caller does not know. */
static void note_lost(struct exchange *x, int box, int64_t number) {
    pg_note_lost_claim(x->pg, x->request->base.owner, request_reader(x->request, box), number,
                       x->request->parts[box].lease_ms);
}

/* A claim that the server refused has leased nothing; any other failure leaves that open. */
static void receive_claims(struct exchange *x, boxcar_status *status, boxcar_error *err) {
    for (int box = 0; box < BOXES; box++) {
        boxcar_error why = BOXCAR_ERROR_INIT;
        boxcar_status now = BOXCAR_OK;

        if (x->sends_claim[box])
            now = pg_exchange_receive_claimed(x, (boxcar_box)box, &why);
        if (now != BOXCAR_OK && why.sqlstate[0] == '\0') {
            note_lost(x, box, x->numbers[box]);
            x->losses++;
        }
        if (*status == BOXCAR_OK && now != BOXCAR_OK) {
            *status = now;
            *err = why;
        }
    }
}

static boxcar_status receive_settled(struct exchange *x, boxcar_error *err) {
    boxcar_status status = pg_exchange_receive_settled(x, err);

    for (int box = 0; status != BOXCAR_OK && err->sqlstate[0] == '\0' && box < BOXES; box++)
        note_lost(x, box, x->stored_numbers[box]);
    x->settle = status != BOXCAR_OK;
    return status;
}

/* Now it is known what of the request's own messages has come. The claim uses the room that they have left.
 */
static void plan_claims(struct exchange *x) {
    for (int box = 0; box < BOXES; box++) {
        if (!request_claims_stored(x->request, (boxcar_box)box))
            continue;
        if (!x->sends_claim[box])
            x->claim[box] = x->claim[box] && claim_room_is_left(pg_exchange_room(x, (boxcar_box)box));
        else if (x->result->parts[box].claimed_count == 0)
            x->claim[box] = true; /* for suspects */
    }
}

/* One round trip with what is still to be done. Returns the first error; what succeeded is marked
 * as done in x. */
static boxcar_status exchange_once(struct exchange *x, boxcar_error *err) {
    bool settles = x->settle;
    boxcar_status status;

    pg_exchange_prepare(x);
    if (!PQenterPipelineMode(x->pg->conn))
        return pg_error_from_connection(x->pg, err);
    status = pg_exchange_send(x, err);
    if (status != BOXCAR_OK) {
        leave_pipeline(x->pg);
        for (int box = 0; box < BOXES; box++) {
            note_lost(x, box, x->stored_numbers[box]);
            note_lost(x, box, x->numbers[box]);
        }
        return status;
    }
    if (settles)
        status = receive_settled(x, err);
    receive_claims(x, &status, err);
    if (settles && !x->settle)
        plan_claims(x);
    if (settles && !x->settle && x->unknown)
        pg_hasten_lost(
            x->pg); /* the repeated enqueue waited for the first one, and so for the claim behind it */
    end_pipeline(x->pg);
    end_failed_transaction(x->pg, err);
    return status;
}

/* Only the schema's owner may adopt; for any other role this fails, and its own error is passed on. */
bool pg_adopt(struct pg_store *pg) {
    if (pg_do(pg, PG_ADOPT, NULL) != BOXCAR_OK)
        return false;
    store_log(&pg->base, BOXCAR_LOG_WARN, "adopt", NULL, 0,
              "this store was restored or copied from another server; it is this server's own now");
    return true;
}

/* A call that did not get a lock in time may wait again, but not for ever, and not in a worker, which has
 * handlers to look after. */
static bool waited_long(const struct exchange *x, const boxcar_error *err) {
    return pg_error_is(err, PG_LOCK_TIMEOUT) &&
           (x->pg->base.impatient || (x->pg->answer_ms > 0 && clock_ms() - x->began_ms >= x->pg->answer_ms));
}

/* What to do about an error: BOXCAR_OK = try again. */
static boxcar_status recover(struct exchange *x, boxcar_status status, int round, boxcar_error *err) {
    bool stale = pg_error_is(err, PG_STALE_STATEMENT) && x->pg->keeps_statements;

    if (pg_error_is(err, PG_SHUTDOWN) && !pg_is_joined(x->pg))
        pg_disconnect(x->pg);
    if (!pg_is_connected(x->pg) && x->settle)
        x->unknown = true;
    if (stale)
        x->pg->keeps_statements = false;
    if (pg_is_joined(x->pg) || round >= TRIES_MAX || (!x->settle && x->losses >= LOSSES_MAX))
        return status;
    if (!pg_is_connected(x->pg))
        return pg_reconnect(x->pg, status, err);
    if (stale)
        return BOXCAR_OK;
    if (pg_error_is(err, PG_NOT_READ_COMMITTED) && !x->pg->begins_claims) {
        x->pg->begins_claims = true;
        return BOXCAR_OK;
    }
    if (pg_error_is(err, PG_FOREIGN))
        return pg_adopt(x->pg) ? BOXCAR_OK : status;
    if (!pg_error_is(err, PG_TRANSIENT) || waited_long(x, err))
        return status;
    pg_pause(round);
    return BOXCAR_OK;
}

/* Claimed work that will not reach the caller goes back at once, at no cost to it. */
static void give_back_claimed(struct exchange *x) {
    static const boxcar_settlement at_once = {.delay_ms = 0};

    for (int box = 0; box < BOXES; box++) {
        const struct part_result *part = &x->result->parts[box];

        if (part->claimed_count > 0 && pg_is_connected(x->pg))
            (void)pg_do(x->pg, PG_DEFER, NULL, P_INT2(request_reader(x->request, box)),
                        P_ID(x->request->base.owner),
                        P_COLUMN(PG_INT8_ARRAY, part->claimed, part->claimed_count, work_id),
                        P_COLUMN(PG_INT8_ARRAY, part->claimed, part->claimed_count, epoch),
                        P_COLUMN(PG_INT8_ARRAY, &at_once, 1, delay_ms));
    }
}

/* Both may name the same messages, and be long. */
static boxcar_status unite(struct work_id_list *list, const struct work_id_list *more, struct arena *arena,
                           boxcar_error *err) {
    size_t count = list->count + more->count, kept = 0;
    boxcar_work_id *all = arena_alloc_array(arena, count, sizeof(*all));

    if (!all)
        return error_no_memory(err);
    if (list->count > 0)
        memcpy(all, list->items, list->count * sizeof(*all));
    if (more->count > 0)
        memcpy(all + list->count, more->items, more->count * sizeof(*all));
    work_ids_sort(all, count);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || all[kept - 1].value != all[i].value)
            all[kept++] = all[i];
    *list = (struct work_id_list){all, kept};
    return BOXCAR_OK;
}

/* After a try whose answer was lost: what that one settled counts as settled by this call. */
static boxcar_status add_settled_before(struct exchange *x, boxcar_box box, boxcar_settle_kind kind,
                                        const char *outcome, boxcar_error *err) {
    const boxcar_settlement_list given = x->request->parts[box].settle[kind];
    struct work_id_list *settled = &x->result->parts[box].settled[kind], before;
    AUTO_RESULT PGresult *result = NULL;

    if (settled->count >= given.count)
        return BOXCAR_OK;
    TRY(pg_ask(x->pg, PG_WAS_SETTLED, &result, err, P_INT2(request_reader(x->request, box)),
               P_TEXT(boxcar_str_of(outcome)), P_ID(x->request->base.owner),
               P_COLUMN(PG_INT8_ARRAY, given.items, given.count, work_id),
               P_COLUMN(PG_INT8_ARRAY, given.items, given.count, epoch)));
    TRY(pg_get_work_ids(result, 0, 0, &x->result->arena, &before, err));
    TRY(unite(settled, &before, &x->result->arena, err));
    if (settled->count > given.count)
        return pg_malformed(x->pg, "more was settled than was asked for", err);
    return BOXCAR_OK;
}

static boxcar_status add_all_settled_before(struct exchange *x, boxcar_error *err) {
    for (int box = 0; box < BOXES; box++) {
        TRY(add_settled_before(x, (boxcar_box)box, BOXCAR_ACK, "acked", err));
        TRY(add_settled_before(x, (boxcar_box)box, BOXCAR_ABANDON, "abandoned", err));
        TRY(add_settled_before(x, (boxcar_box)box, BOXCAR_FAIL, "failed", err));
    }
    return BOXCAR_OK;
}

static boxcar_status finish(struct exchange *x, boxcar_error *err) {
    if (x->unknown)
        TRY(add_all_settled_before(x, err));
    for (int box = 0; box < BOXES; box++) {
        struct part_result *part = &x->result->parts[box];

        if (request_claims_stored(x->request, (boxcar_box)box))
            messages_sort(part->claimed, part->claimed_count);
        request_part_trim_returned(&x->request->parts[box], part);
        if (x->bury_expired[box] && !pg_in_transaction(x->pg))
            (void)pg_do(x->pg, PG_BURY_EXPIRED, NULL,
                        P_INT2(request_reader(x->request, box))); /* else the next claim does */
        if (part->held_up)
            pg_tell_blocker(x->pg, request_reader(x->request, box));
    }
    return BOXCAR_OK;
}

/* If a claim did not get a lock in time: logs which session has the lock. */
static void log_blockers(struct exchange *x, const boxcar_error *why) {
    for (int box = 0; pg_error_is(why, PG_LOCK_TIMEOUT) && box < BOXES; box++)
        if (x->claim[box])
            pg_tell_blocker(x->pg, request_reader(x->request, box));
}

static bool has_first_part(const struct request *request) {
    return request_changes(request, BOXCAR_OUTBOX) || request_changes(request, BOXCAR_INBOX) ||
           request->instance_count > 0 || request->remove_stale || request->farewell ||
           request->base.partition_count > 0 || request->parts[BOXCAR_OUTBOX].returns != BOXCAR_RETURN_NONE ||
           request->parts[BOXCAR_INBOX].returns != BOXCAR_RETURN_NONE;
}

/* The claim failed, but a settlement or the claim from the other box took effect: the caller must learn of
 * that. */
static bool may_do_without_claim(const struct exchange *x) {
    if (x->settle)
        return false;
    return has_first_part(x->request) ||
           x->result->parts[BOXCAR_OUTBOX].claimed_count + x->result->parts[BOXCAR_INBOX].claimed_count > 0;
}

static bool is_unfinished(const struct exchange *x) {
    return x->settle || x->claim[BOXCAR_OUTBOX] || x->claim[BOXCAR_INBOX];
}

boxcar_status pg_process(struct boxcar_store *store, const struct request *request, struct result *ret_result,
                         boxcar_error *err) {
    struct result result = {.arena = ARENA_INIT};
    struct exchange x = {
        .pg = pg_store_of(store),
        .request = request,
        .result = &result,
        .settle = has_first_part(request),
        .claim = {request->parts[BOXCAR_OUTBOX].claim_size > 0, request->parts[BOXCAR_INBOX].claim_size > 0},
        .unknown = request->base.sent_before,
        .began_ms = clock_ms()};
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = pg_ready(x.pg, &why);

    for (int round = 0; status == BOXCAR_OK && is_unfinished(&x) && round < ROUNDS_MAX; round++) {
        pg_give_back_lost(x.pg);

        bool before = pg_talk_begin(x.pg);

        status = exchange_once(&x, &why);
        pg_talk_end(x.pg, before);
        if (status != BOXCAR_OK)
            status = recover(&x, status, round, &why);
    }
    pg_give_back_lost(x.pg);
    if (status != BOXCAR_OK && !x.settle)
        log_blockers(&x, &why);
    if (status != BOXCAR_OK && may_do_without_claim(&x) && !why.must_roll_back) {
        if (!store->impatient) /* its owner does */
            store_log(store, BOXCAR_LOG_WARN, "claim", NULL, 0, "claim failed: %s", why.message);
        result.claim_error = why;
        status = BOXCAR_OK;
    }
    if (status == BOXCAR_OK)
        status = finish(&x, &why);
    if (status != BOXCAR_OK) {
        give_back_claimed(&x);
        result_release(&result);
        why.outcome_unknown = x.unknown;
        return pg_error_pass(status, &why, err);
    }
    *ret_result = result;
    return BOXCAR_OK;
}
