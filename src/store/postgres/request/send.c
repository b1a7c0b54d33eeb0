/* What a request sends: statements in the order in which every request takes its locks. */
#include "exchange.h"
#include "params.h"
#include "store/postgres/admin/instance.h"
#include "store/postgres/claim/lost.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/join/join.h"
#include "store/postgres/statement/params.h"

static const enum pg_statement SETTLE_STATEMENTS[BOXCAR_SETTLE_KINDS] = {
    [BOXCAR_RECORD] = PG_RECORD_STAGES, [BOXCAR_ACK] = PG_ACK,   [BOXCAR_ABANDON] = PG_ABANDON,
    [BOXCAR_DEFER] = PG_DEFER,          [BOXCAR_FAIL] = PG_FAIL, [BOXCAR_RESOLVE] = PG_RESOLVE,
    [BOXCAR_RENEW] = PG_RENEW,
};

enum pg_statement pg_settle_statement(boxcar_settle_kind kind) { return SETTLE_STATEMENTS[kind]; }

/* Ids that were made in this call may be there already when it is tried again. */
static bool has_fresh_ids(const struct exchange *x) {
    return x->request->own[BOXCAR_OUTBOX].fresh_ids && !x->unknown;
}

enum pg_statement pg_exchange_enqueues_by(const struct exchange *x, boxcar_box box) {
    struct new_messages messages = request_messages(x->request, box);

    return box == BOXCAR_INBOX ? pg_inbox_enqueue_statement(&messages)
                               : pg_enqueue_statement(&messages, has_fresh_ids(x));
}

bool pg_exchange_locks_ahead(const struct exchange *x) {
    int lists = 0;
    size_t waits = 0; /* one of them may be a step itself */

    for (int box = 0; box < BOXES; box++) {
        const boxcar_settlement_list *settle = x->request->parts[box].settle;

        lists += (settle[BOXCAR_ACK].count > 0) + (settle[BOXCAR_ABANDON].count > 0) +
                 (settle[BOXCAR_DEFER].count > 0) + (settle[BOXCAR_FAIL].count > 0);
        waits += settle[BOXCAR_RESOLVE].count;
    }
    return lists > 1 || waits > 0;
}

bool pg_exchange_holds_keys(const struct exchange *x) {
    struct new_messages messages = request_messages(x->request, BOXCAR_OUTBOX);

    return pg_exchange_locks_ahead(x) && pg_count_keys(&messages, true) > 0;
}

static bool may_end_joins(const boxcar_request_part *part) {
    return part->reap || part->settle[BOXCAR_ACK].count > 0 || part->settle[BOXCAR_ABANDON].count > 0 ||
           part->settle[BOXCAR_FAIL].count > 0 || part->settle[BOXCAR_RESOLVE].count > 0;
}

bool pg_exchange_asks_for_ends(const struct exchange *x) {
    return store_logs(&x->pg->base, BOXCAR_LOG_INFO) &&
           (may_end_joins(&x->request->parts[BOXCAR_OUTBOX]) || may_end_joins(&x->request->parts[BOXCAR_INBOX]));
}

void pg_exchange_prepare(struct exchange *x) {
    pg_forget_ends(x->pg);
    x->shares_ends = x->settle && pg_exchange_asks_for_ends(x) && pg_shares_ends(x->pg);
    x->together = pg_is_joined(x->pg) && x->claim[BOXCAR_OUTBOX] && x->claim[BOXCAR_INBOX];
    for (int box = 0; box < BOXES; box++) {
        const boxcar_request_part *part = &x->request->parts[box];

        if (x->settle && x->request->base.messages[box].count > 0)
            pg_prepare(x->pg, pg_exchange_enqueues_by(x, (boxcar_box)box));
        for (int kind = 0; x->settle && kind < BOXCAR_SETTLE_KINDS; kind++)
            if (part->settle[kind].count > 0)
                pg_prepare(x->pg, SETTLE_STATEMENTS[kind]);
        if (x->claim[box])
            pg_prepare(x->pg, PG_CLAIM);
        x->numbers[box] = x->claim[box] && !pg_in_transaction(x->pg) ? pg_claim_number(x->pg) : 0;
    }
    if (x->settle && pg_exchange_holds_keys(x))
        pg_prepare(x->pg, PG_HOLD_KEYS);
    if (x->settle && pg_exchange_locks_ahead(x))
        pg_prepare(x->pg, PG_LOCK_AHEAD);
    if (x->settle && pg_exchange_asks_for_ends(x))
        pg_prepare(x->pg, PG_JOINS_ENDED);
}

static boxcar_status send_plain(struct pg_store *pg, enum pg_statement statement, boxcar_error *err) {
    struct pg_params none = PG_PARAMS_INIT;

    return pg_send(pg, statement, &none, err);
}

static boxcar_status send_sync(struct pg_store *pg, boxcar_error *err) {
    return PQpipelineSync(pg->conn) ? BOXCAR_OK : pg_error_from_connection(pg, err);
}

static boxcar_status send_hold_keys(struct exchange *x, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_for_hold_keys(&params, x->request);
    return pg_send(x->pg, PG_HOLD_KEYS, &params, err);
}

static boxcar_status send_lock_ahead(struct exchange *x, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_for_lock_ahead(&params, x->request);
    return pg_send(x->pg, PG_LOCK_AHEAD, &params, err);
}

/* Whether messages from outside are all that the first transaction is about. */
static bool brings_only_inbox(const struct exchange *x) {
    const boxcar_request_part *inbox = &x->request->parts[BOXCAR_INBOX];

    return !pg_is_joined(x->pg) && !request_part_settles(inbox) && !inbox->reap &&
           !request_changes(x->request, BOXCAR_OUTBOX) && x->request->instance_count == 0 &&
           !x->request->remove_stale && !x->request->farewell;
}

static boxcar_status send_enqueue(struct exchange *x, boxcar_box box, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    struct new_messages messages = request_messages(x->request, box);

    if (messages.count == 0)
        return BOXCAR_OK;
    if (box == BOXCAR_INBOX)
        pg_params_for_inbox_enqueue(&params, &messages, brings_only_inbox(x));
    else
        pg_params_for_enqueue(&params, &messages, has_fresh_ids(x));
    return pg_send(x->pg, pg_exchange_enqueues_by(x, box), &params, err);
}

static boxcar_status send_settle(struct exchange *x, boxcar_box box, boxcar_settle_kind kind,
                                 boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    if (x->request->parts[box].settle[kind].count == 0)
        return BOXCAR_OK;
    pg_params_for_settle(&params, x->request, box, kind);
    return pg_send(x->pg, SETTLE_STATEMENTS[kind], &params, err);
}

static boxcar_status send_reap(struct exchange *x, boxcar_box box, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    if (!x->request->parts[box].reap)
        return BOXCAR_OK;
    pg_params_int2(&params, box);
    return pg_send(x->pg, PG_REAP, &params, err);
}

static boxcar_status send_settlements(struct exchange *x, boxcar_box box, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    for (int i = 0; status == BOXCAR_OK && i < BOXCAR_SETTLE_KINDS; i++)
        status = send_settle(x, box, settle_kind_at(i), err);
    return status == BOXCAR_OK ? send_reap(x, box, err) : status;
}

/* By itself, a heartbeat need not be durable; in a transaction with something else it is not for it to say.
 */
static enum pg_statement instance_statement(const struct exchange *x) {
    bool shares = pg_is_joined(x->pg) || request_changes(x->request, BOXCAR_OUTBOX) ||
                  request_changes(x->request, BOXCAR_INBOX);

    return shares ? PG_REGISTER : PG_HEARTBEAT;
}

static boxcar_status send_instances(struct exchange *x, boxcar_error *err) {
    enum pg_statement statement = instance_statement(x);
    boxcar_status status = BOXCAR_OK;

    for (size_t i = 0; status == BOXCAR_OK && i < x->request->instance_count; i++) {
        const struct instance *instance = &x->request->instances[i];
        AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

        pg_params_for_instance(&params, instance);
        status = pg_send(x->pg, instance->no_box ? PG_BEAT_ALONE : statement, &params, err);
    }
    return status;
}

static boxcar_status send_remove_stale(struct exchange *x, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    if (!x->request->remove_stale)
        return BOXCAR_OK;
    if (x->request->base.stale_threshold_ms > 0)
        pg_params_interval_ms(&params, x->request->base.stale_threshold_ms);
    else
        pg_params_null(&params, PG_INTERVAL);
    return pg_send(x->pg, PG_REMOVE_STALE, &params, err);
}

static boxcar_status send_farewell(struct exchange *x, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    if (!x->request->farewell)
        return BOXCAR_OK;
    pg_params_uuid(&params, x->request->base.owner.uuid.bytes);
    x->pg->rest.until_ms = 0;
    return pg_send(x->pg, PG_FAREWELL, &params, err);
}

static boxcar_status send_first(struct exchange *x, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (!x->settle)
        return BOXCAR_OK;
    if (x->shares_ends)
        status = send_plain(x->pg, PG_JOINS_ENDED, err);
    if (status == BOXCAR_OK)
        status = send_enqueue(x, BOXCAR_INBOX, err);
    if (status == BOXCAR_OK && pg_exchange_holds_keys(x))
        status = send_hold_keys(x, err);
    if (status == BOXCAR_OK && pg_exchange_locks_ahead(x))
        status = send_lock_ahead(x, err);
    if (status == BOXCAR_OK)
        status = send_enqueue(x, BOXCAR_OUTBOX, err);
    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++)
        status = send_settlements(x, (boxcar_box)box, err);
    if (status == BOXCAR_OK)
        status = send_instances(x, err);
    if (status == BOXCAR_OK)
        status = send_remove_stale(x, err);
    if (status == BOXCAR_OK)
        status = send_farewell(x, err);
    if (status == BOXCAR_OK && pg_exchange_asks_for_ends(x))
        status = send_plain(x->pg, PG_JOINS_ENDED, err);
    return status == BOXCAR_OK ? send_sync(x->pg, err) : status;
}

/* A claim is a transaction by itself, which its sync ends. In most sessions that is READ COMMITTED, and to say so would
 * be two statements more. */
bool pg_exchange_begins_claims(const struct exchange *x) { return !pg_is_joined(x->pg) && x->pg->begins_claims; }

static boxcar_status send_claim(struct exchange *x, boxcar_box box, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    boxcar_status status = BOXCAR_OK;

    if (!x->claim[box])
        return BOXCAR_OK;
    pg_params_for_claim(&params, x->request, box, pg_is_joined(x->pg), x->numbers[box]);
    pg_params_bool(&params, x->together); /* what may wait comes before the first turn */
    pg_params_int8(&params, request_part_claim_bytes(&x->request->parts[box]));
    if (pg_exchange_begins_claims(x))
        status = send_plain(x->pg, PG_BEGIN, err);
    if (x->together && box == BOXCAR_OUTBOX)
        status = send_plain(x->pg, PG_BEFORE_CLAIMS, err);
    if (status == BOXCAR_OK)
        status = pg_send(x->pg, PG_CLAIM, &params, err);
    if (status == BOXCAR_OK && pg_exchange_begins_claims(x))
        status = send_plain(x->pg, PG_COMMIT, err);
    return status == BOXCAR_OK ? send_sync(x->pg, err) : status;
}

boxcar_status pg_exchange_send(struct exchange *x, boxcar_error *err) {
    boxcar_status status = send_first(x, err);

    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++)
        status = send_claim(x, (boxcar_box)box, err);
    return status;
}
