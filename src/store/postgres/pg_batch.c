/* One batch, one round trip, two transactions.
 *
 * Everything is sent in pipeline mode before the first answer is read. The first transaction
 * enqueues and settles and is durable; the second claims and need not be, so it does not hold the
 * claimers' turn through a disk flush. Each ends with a sync of its own: if one fails, the other
 * stands, and only what failed is tried again.
 *
 * A connection that breaks while we wait leaves the outcome unknown. Repeating is safe: message ids
 * are chosen here, so an enqueue that did happen is found again; a settlement is fenced by its
 * lease, and what the first try did is looked up (PG_WAS_SETTLED); a lost claim expires. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "pg_batch_params.h"
#include "pg_store.h"

#define TRIES_MAX 50

/* Flags in the last row of _claim. */
#define CLAIM_PARKED_EXPIRED 1
#define CLAIM_MORE 2

/* Where a batch stands while it is tried. */
struct exchange {
    struct pg_store *pg;
    const struct batch *batch;
    struct batch_result *result;
    bool settle;  /* still to be done */
    bool claim;   /* still to be done */
    bool unknown; /* an earlier try may have taken effect */
    bool bury_expired;
};

static const enum pg_statement SETTLE_STATEMENTS[SETTLE_KINDS] = {
    [SETTLE_ACK] = PG_ACK,   [SETTLE_ABANDON] = PG_ABANDON, [SETTLE_DEFER] = PG_DEFER,
    [SETTLE_FAIL] = PG_FAIL, [SETTLE_RESOLVE] = PG_RESOLVE, [SETTLE_RENEW] = PG_RENEW,
};

static boxcar_status send_plain(struct pg_store *pg, enum pg_statement statement, boxcar_error *err) {
    struct pg_params none = PG_PARAMS_INIT;

    return pg_send(pg, statement, &none, err);
}

static boxcar_status send_sync(struct pg_store *pg, boxcar_error *err) {
    return PQpipelineSync(pg->conn) ? BOXCAR_OK : pg_error_from_connection(pg, err);
}

static boxcar_status send_enqueue(struct exchange *x, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_for_enqueue(&params, x->batch, x->batch->fresh_ids && !x->unknown);
    return pg_send(x->pg, PG_ENQUEUE, &params, err);
}

static boxcar_status send_settle(struct exchange *x, enum settle_kind kind, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_for_settle(&params, x->batch, kind);
    return pg_send(x->pg, SETTLE_STATEMENTS[kind], &params, err);
}

static boxcar_status send_reap(struct exchange *x, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_int2(&params, x->batch->box);
    return pg_send(x->pg, PG_REAP, &params, err);
}

/* Two statements that count lock leases and joins one after the other: then all are locked before, in order. */
static bool locks_joins_first(const struct batch *batch) {
    int counting = 0;

    for (int kind = 0; kind < SETTLE_KINDS; kind++)
        counting += batch->settle[kind].count > 0 && kind != SETTLE_DEFER && kind != SETTLE_RENEW;
    return counting > 1 || batch->settle[SETTLE_RESOLVE].count > 0; /* a wait may be a step itself */
}

static boxcar_status send_lock_joins(struct exchange *x, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_for_lock_joins(&params, x->batch);
    return pg_send(x->pg, PG_LOCK_JOINS, &params, err);
}

/* Whether anything here can end a join, and anybody wants to know. */
static bool asks_for_ends(const struct exchange *x) {
    const struct batch *batch = x->batch;

    return store_logs(&x->pg->base, BOXCAR_LOG_INFO) &&
           (batch->reap || batch->settle[SETTLE_ACK].count > 0 || batch->settle[SETTLE_ABANDON].count > 0 ||
            batch->settle[SETTLE_FAIL].count > 0 || batch->settle[SETTLE_RESOLVE].count > 0);
}

static boxcar_status send_first(struct exchange *x, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (!x->settle)
        return BOXCAR_OK;
    if (locks_joins_first(x->batch))
        status = send_lock_joins(x, err);
    if (status == BOXCAR_OK && x->batch->message_count > 0)
        status = send_enqueue(x, err);
    for (int kind = 0; status == BOXCAR_OK && kind < SETTLE_KINDS; kind++)
        if (x->batch->settle[kind].count > 0)
            status = send_settle(x, (enum settle_kind)kind, err);
    if (status == BOXCAR_OK && x->batch->reap)
        status = send_reap(x, err);
    if (status == BOXCAR_OK && asks_for_ends(x))
        status = send_plain(x->pg, PG_JOINS_ENDED, err);
    return status == BOXCAR_OK ? send_sync(x->pg, err) : status;
}

/* In somebody else's transaction there is nothing to begin or to commit. */
static boxcar_status send_second(struct exchange *x, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    boxcar_status status = BOXCAR_OK;

    if (!x->claim)
        return BOXCAR_OK;
    pg_params_for_claim(&params, x->batch, pg_is_joined(x->pg));
    if (!pg_is_joined(x->pg))
        status = send_plain(x->pg, PG_BEGIN, err);
    if (status == BOXCAR_OK)
        status = pg_send(x->pg, PG_CLAIM, &params, err);
    if (status == BOXCAR_OK && !pg_is_joined(x->pg))
        status = send_plain(x->pg, PG_COMMIT, err);
    return status == BOXCAR_OK ? send_sync(x->pg, err) : status;
}

/* The answer to one statement. The error of a transaction is that of its first failure; what
 * follows is only skipped. */
static boxcar_status receive(struct pg_store *pg, PGresult **ret_result, boxcar_error *err) {
    PGresult *result;
    ExecStatusType kind;
    boxcar_status status;

    pg_await(pg);
    result = PQgetResult(pg->conn);
    kind = PQresultStatus(result);
    if (result && kind != PGRES_PIPELINE_SYNC)
        for (PGresult *rest; (rest = PQgetResult(pg->conn)) != NULL;)
            PQclear(rest);
    if (kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK || kind == PGRES_PIPELINE_SYNC) {
        *ret_result = result;
        return BOXCAR_OK;
    }
    status = kind == PGRES_PIPELINE_ABORTED ? BOXCAR_E_STORE : pg_error_from_result(pg, result, err);
    PQclear(result);
    return status;
}

/* Reads on to the end of a transaction whatever happened in it, keeping the first error. */
static void receive_into(struct pg_store *pg, PGresult **ret_result, boxcar_status *status,
                         boxcar_error *err) {
    boxcar_error later = BOXCAR_ERROR_INIT;
    boxcar_status now = receive(pg, ret_result, *status == BOXCAR_OK ? err : &later);

    if (*status == BOXCAR_OK)
        *status = now;
}

static boxcar_status read_enqueued(struct exchange *x, const PGresult *result, boxcar_error *err) {
    size_t count = x->batch->message_count;

    if ((size_t)PQntuples(result) != count)
        return error_set(err, BOXCAR_E_STORE, "the store answered for %d of %zu messages", PQntuples(result),
                         count);
    x->result->enqueued = arena_alloc_array(&x->result->arena, count, sizeof(*x->result->enqueued));
    if (!x->result->enqueued)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        boxcar_enqueued *enqueued = &x->result->enqueued[i];

        enqueued->work_id.value = pg_get_int8(result, (int)i, 0);
        pg_get_uuid(result, (int)i, 1, enqueued->message_id.bytes);
        /* An id made in this call can only have met itself, from a try whose answer was lost. */
        enqueued->duplicate = pg_get_bool(result, (int)i, 2) && !x->batch->fresh_ids;
    }
    return BOXCAR_OK;
}

static boxcar_status read_wait_outcomes(struct exchange *x, const PGresult *result, boxcar_error *err) {
    size_t count = x->batch->settle[SETTLE_RESOLVE].count;
    struct work_id_list outcomes;
    boxcar_status status = pg_get_work_ids(result, 0, 0, &x->result->arena, &outcomes, err);

    if (status != BOXCAR_OK)
        return status;
    if (outcomes.count != count)
        return error_set(err, BOXCAR_E_STORE, "the store answered for %zu of %zu waits", outcomes.count, count);
    x->result->waits = arena_alloc_array(&x->result->arena, count, sizeof(*x->result->waits));
    if (!x->result->waits)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        x->result->waits[i] = (enum wait_outcome)outcomes.items[i].value;
    return BOXCAR_OK;
}

static boxcar_status read_settled(struct exchange *x, enum settle_kind kind, const PGresult *result,
                                  boxcar_error *err) {
    if (kind == SETTLE_RESOLVE)
        return read_wait_outcomes(x, result, err);
    return pg_get_work_ids(result, 0, 0, &x->result->arena, &x->result->settled[kind], err);
}

static boxcar_status read_ended(struct exchange *x, const PGresult *result, boxcar_error *err) {
    size_t count = (size_t)PQntuples(result);
    boxcar_join *ended = arena_alloc_array(&x->result->arena, count, sizeof(*ended));

    if (!ended)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        pg_get_uuid(result, (int)i, 0, ended[i].join_id.bytes);
        pg_read_join_counts(result, (int)i, 1, &ended[i]);
    }
    x->result->ended = ended;
    x->result->ended_count = count;
    return BOXCAR_OK;
}

static boxcar_status receive_first(struct exchange *x, boxcar_error *err) {
    const struct batch *batch = x->batch;
    boxcar_status status = BOXCAR_OK;

    if (locks_joins_first(batch)) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, &result, &status, err);
    }
    if (batch->message_count > 0) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, &result, &status, err);
        if (status == BOXCAR_OK)
            status = read_enqueued(x, result, err);
    }
    for (int kind = 0; kind < SETTLE_KINDS; kind++) {
        AUTO_RESULT PGresult *result = NULL;
        if (batch->settle[kind].count == 0)
            continue;
        receive_into(x->pg, &result, &status, err);
        if (status == BOXCAR_OK)
            status = read_settled(x, (enum settle_kind)kind, result, err);
    }
    if (batch->reap) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, &result, &status, err);
        if (status == BOXCAR_OK)
            x->result->reaped = pg_get_int8(result, 0, 0);
    }
    if (asks_for_ends(x)) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, &result, &status, err);
        if (status == BOXCAR_OK)
            status = read_ended(x, result, err);
    }
    AUTO_RESULT PGresult *sync = NULL;
    receive_into(x->pg, &sync, &status, err);
    return status;
}

/* Texts stay where libpq put them: the arena takes the result over. */
static boxcar_status read_claimed(struct exchange *x, PGresult *result, boxcar_error *err) {
    struct batch_result *out = x->result;
    int rows = PQntuples(result);
    int flags = 0;

    if (!pg_attach_result(&out->arena, result))
        return error_no_memory(err);
    if (rows > 0 && pg_get_int8(result, rows - 1, 0) == 0)
        flags = (int)pg_get_int8(result, --rows, 1);
    out->claimed = arena_alloc_array(&out->arena, (size_t)rows, sizeof(*out->claimed));
    if (!out->claimed)
        return error_no_memory(err);
    for (int i = 0; i < rows; i++) {
        pg_read_claimed(result, i, &out->claimed[i]);
        out->claimed[i].box = x->batch->box;
    }
    out->claimed_count = (size_t)rows;
    x->bury_expired = x->bury_expired || (flags & CLAIM_PARKED_EXPIRED);
    x->claim = rows == 0 && (flags & CLAIM_MORE);
    return BOXCAR_OK;
}

static boxcar_status receive_second(struct exchange *x, boxcar_error *err) {
    AUTO_RESULT PGresult *begun = NULL;
    AUTO_RESULT PGresult *committed = NULL;
    AUTO_RESULT PGresult *sync = NULL;
    PGresult *claimed = NULL;
    boxcar_status status = BOXCAR_OK;

    if (!pg_is_joined(x->pg))
        receive_into(x->pg, &begun, &status, err);
    receive_into(x->pg, &claimed, &status, err);
    if (!pg_is_joined(x->pg))
        receive_into(x->pg, &committed, &status, err);
    receive_into(x->pg, &sync, &status, err);
    if (status == BOXCAR_OK)
        return read_claimed(x, claimed, err);
    PQclear(claimed);
    return status;
}

/* A transaction that failed in the middle is still open: ours is ended here, the caller's is his.
 * Only behind the last sync does libpq know. */
static void end_failed_transaction(struct pg_store *pg, boxcar_error *err) {
    if (PQtransactionStatus(pg->conn) != PQTRANS_INERROR)
        return;
    err->must_roll_back = pg_is_joined(pg);
    if (!pg_is_joined(pg))
        PQclear(PQexec(pg->conn, "rollback"));
}

/* After a request that could not be sent whole (no memory): what was sent must not be answered later. A
 * connection of ours is given up, so that nothing of it takes effect; one with somebody's transaction in it
 * is emptied. */
static void leave_pipeline(struct pg_store *pg) {
    PGresult *result;

    if (!pg_is_joined(pg)) {
        pg_disconnect(pg);
        return;
    }
    if (PQpipelineSync(pg->conn))
        while (pg_is_connected(pg)) {
            result = PQgetResult(pg->conn);
            bool end = PQresultStatus(result) == PGRES_PIPELINE_SYNC;

            PQclear(result);
            if (end)
                break;
        }
    PQexitPipelineMode(pg->conn);
}

/* A pooler that has lost its server answers with an error more than was asked for and hangs up: reading on
 * finds that out. */
static void end_pipeline(struct pg_store *pg) {
    for (int i = 0; i < 8 && pg_is_connected(pg) && !PQexitPipelineMode(pg->conn); i++)
        PQclear(PQgetResult(pg->conn));
    if (PQpipelineStatus(pg->conn) != PQ_PIPELINE_OFF && !pg_is_joined(pg))
        pg_disconnect(pg);
}

/* Statements are prepared outside of the pipeline, each once. */
static void prepare(struct exchange *x) {
    if (x->settle && x->batch->message_count > 0)
        pg_prepare(x->pg, PG_ENQUEUE);
    for (int kind = 0; x->settle && kind < SETTLE_KINDS; kind++)
        if (x->batch->settle[kind].count > 0)
            pg_prepare(x->pg, SETTLE_STATEMENTS[kind]);
    if (x->settle && locks_joins_first(x->batch))
        pg_prepare(x->pg, PG_LOCK_JOINS);
    if (x->settle && asks_for_ends(x))
        pg_prepare(x->pg, PG_JOINS_ENDED);
    if (x->claim)
        pg_prepare(x->pg, PG_CLAIM);
}

/* One round trip with what is still to be done. Returns the first error; what succeeded is marked
 * as done in x. */
static boxcar_status exchange_once(struct exchange *x, boxcar_error *err) {
    boxcar_error second_error = BOXCAR_ERROR_INIT;
    boxcar_status first = BOXCAR_OK, second = BOXCAR_OK;
    bool settling = x->settle, claiming = x->claim;
    boxcar_status status;

    prepare(x);
    if (!PQenterPipelineMode(x->pg->conn))
        return pg_error_from_connection(x->pg, err);
    status = send_first(x, err);
    if (status == BOXCAR_OK)
        status = send_second(x, err);
    if (status != BOXCAR_OK) {
        leave_pipeline(x->pg);
        return status;
    }
    if (settling) {
        first = receive_first(x, err);
        x->settle = first != BOXCAR_OK;
    }
    if (claiming)
        second = receive_second(x, first == BOXCAR_OK ? err : &second_error);
    end_pipeline(x->pg);
    end_failed_transaction(x->pg, err);
    return first != BOXCAR_OK ? first : second;
}

/* Only the schema's owner may; whoever else meets such a store passes its own error on. */
bool pg_adopt(struct pg_store *pg) {
    AUTO_PARAMS struct pg_params none = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    if (pg_query(pg, PG_ADOPT, &none, &result, NULL) != BOXCAR_OK)
        return false;
    store_log(&pg->base, BOXCAR_LOG_WARN, "adopt", NULL, 0,
              "this store was restored or copied from another server; it is this server's own now");
    return true;
}

/* What to do about an error: BOXCAR_OK = try again. */
static boxcar_status recover(struct exchange *x, boxcar_status status, int round, boxcar_error *err) {
    bool stale = pg_error_is_stale_statement(err) && x->pg->keeps_statements;

    if (pg_error_is_shutdown(err) && !pg_is_joined(x->pg))
        pg_disconnect(x->pg);
    if (!pg_is_connected(x->pg) && x->settle)
        x->unknown = true;
    if (stale)
        x->pg->keeps_statements = false;
    if (pg_is_joined(x->pg) || round >= TRIES_MAX)
        return status;
    if (!pg_is_connected(x->pg))
        return pg_reconnect(x->pg, status, err);
    if (stale)
        return BOXCAR_OK;
    if (pg_error_is_foreign(err))
        return pg_adopt(x->pg) ? BOXCAR_OK : status;
    if (!pg_error_is_transient(err))
        return status;
    pg_pause(round);
    return BOXCAR_OK;
}

/* Claimed work that will not reach the caller goes back at once, at no cost to it. */
static void give_back_claimed(struct exchange *x) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    if (x->result->claimed_count == 0 || !pg_is_connected(x->pg))
        return;
    pg_params_for_give_back(&params, x->batch, x->result->claimed, x->result->claimed_count);
    (void)pg_query(x->pg, PG_DEFER, &params, &result, NULL);
}

static bool list_has(const struct work_id_list *list, int64_t id) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].value == id)
            return true;
    return false;
}

/* After a try whose answer was lost: what that one settled counts as settled by this call. */
static boxcar_status add_settled_before(struct exchange *x, enum settle_kind kind, const char *outcome,
                                        boxcar_error *err) {
    struct settlement_list said = x->batch->settle[kind];
    struct work_id_list *settled = &x->result->settled[kind];
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    struct work_id_list before;
    boxcar_work_id *all;
    boxcar_status status;

    if (settled->count >= said.count)
        return BOXCAR_OK;
    pg_params_for_was_settled(&params, x->batch, kind, outcome);
    status = pg_query(x->pg, PG_WAS_SETTLED, &params, &result, err);
    if (status == BOXCAR_OK)
        status = pg_get_work_ids(result, 0, 0, &x->result->arena, &before, err);
    if (status != BOXCAR_OK)
        return status;
    all = arena_alloc_array(&x->result->arena, settled->count + before.count, sizeof(*all));
    if (!all)
        return error_no_memory(err);
    if (settled->count > 0)
        memcpy(all, settled->items, settled->count * sizeof(*all));
    settled->items = all;
    for (size_t i = 0; i < before.count; i++)
        if (!list_has(settled, before.items[i].value))
            all[settled->count++] = before.items[i];
    return BOXCAR_OK;
}

static boxcar_status finish(struct exchange *x, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (x->unknown) {
        status = add_settled_before(x, SETTLE_ACK, "acked", err);
        if (status == BOXCAR_OK)
            status = add_settled_before(x, SETTLE_ABANDON, "abandoned", err);
        if (status == BOXCAR_OK)
            status = add_settled_before(x, SETTLE_FAIL, "failed", err);
    }
    if (status == BOXCAR_OK && x->bury_expired && !pg_in_transaction(x->pg)) {
        AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
        AUTO_RESULT PGresult *result = NULL;

        pg_params_int2(&params, x->batch->box);
        (void)pg_query(x->pg, PG_BURY_EXPIRED, &params, &result, NULL); /* else the next claim does */
    }
    return status;
}

static bool has_first_part(const struct batch *batch) {
    bool any = batch->message_count > 0 || batch->reap;

    for (int kind = 0; kind < SETTLE_KINDS; kind++)
        any = any || batch->settle[kind].count > 0;
    return any;
}

/* A claim that failed beside a settlement that stands: the caller must learn of the settlement. */
static bool may_do_without_claim(const struct exchange *x) { return !x->settle && has_first_part(x->batch); }

boxcar_status pg_process(struct boxcar_store *store, const struct batch *batch,
                         struct batch_result *ret_result, boxcar_error *err) {
    struct batch_result result = {.arena = ARENA_INIT};
    struct exchange x = {.pg = pg_store_of(store),
                         .batch = batch,
                         .result = &result,
                         .settle = has_first_part(batch),
                         .claim = batch->claim_size > 0,
                         .unknown = batch->sent_before};
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = pg_ready(x.pg, &why);

    for (int round = 0; status == BOXCAR_OK && (x.settle || x.claim); round++) {
        status = exchange_once(&x, &why);
        if (status != BOXCAR_OK)
            status = recover(&x, status, round, &why);
        if (status != BOXCAR_OK)
            break;
    }
    if (status != BOXCAR_OK && may_do_without_claim(&x) && !why.must_roll_back) {
        store_log(store, BOXCAR_LOG_WARN, "claim", NULL, 0, "claim failed: %s", why.message);
        status = BOXCAR_OK;
    }
    if (status == BOXCAR_OK)
        status = finish(&x, &why);
    if (status != BOXCAR_OK) {
        give_back_claimed(&x);
        batch_result_release(&result);
        why.outcome_unknown = x.unknown;
        if (err)
            *err = why;
        return status;
    }
    *ret_result = result;
    return BOXCAR_OK;
}
