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

enum pg_statement pg_exchange_settles_by(const struct exchange *x, boxcar_box box, boxcar_settle_kind kind) {
    if (kind == BOXCAR_ACK && pg_is_run(x->request->parts[box].settle[kind]))
        return PG_ACK_RUN;
    return SETTLE_STATEMENTS[kind];
}

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
    return store_logs(&x->pg->base, BOXCAR_LOG_INFO) && (may_end_joins(&x->request->parts[BOXCAR_OUTBOX]) ||
                                                         may_end_joins(&x->request->parts[BOXCAR_INBOX]));
}

static int64_t bytes_of_new(boxcar_new_message_list messages) {
    int64_t bytes = 0;

    for (size_t i = 0; i < messages.count; i++)
        bytes += (int64_t)(messages.items[i].payload.len + messages.items[i].headers.len +
                           messages.items[i].metadata.len);
    return bytes;
}

static int64_t bytes_of_claimed(const struct part_result *part) {
    int64_t bytes = 0;

    for (size_t i = 0; i < part->claimed_count; i++)
        bytes += (int64_t)(part->claimed[i].payload.len + part->claimed[i].headers.len +
                           part->claimed[i].metadata.len);
    return bytes;
}

struct claim_room pg_exchange_room(const struct exchange *x, boxcar_box box) {
    const boxcar_request_part *part = &x->request->parts[box];
    const struct part_result *result = &x->result->parts[box];
    struct claim_room room = {part->claim_size, request_part_claim_bytes(part)};

    if (!request_claims_stored(x->request, box))
        return room;
    room.messages -= (int)result->claimed_count;
    room.bytes -= bytes_of_claimed(result);
    if (x->settle) {
        const boxcar_new_message_list messages = x->request->base.messages[box];

        room.messages = (size_t)room.messages > messages.count ? room.messages - (int)messages.count : 0;
        room.bytes -= bytes_of_new(messages);
    }
    return room;
}

static void prepare_claims(struct exchange *x) {
    for (int box = 0; box < BOXES; box++) {
        bool numbered = !pg_in_transaction(x->pg);
        bool stored = x->settle && request_claims_stored(x->request, (boxcar_box)box);

        x->room[box] = pg_exchange_room(x, (boxcar_box)box);
        x->sends_claim[box] = x->claim[box] && claim_room_is_left(x->room[box]);
        if (x->sends_claim[box])
            pg_prepare(x->pg, PG_CLAIM);
        if (stored)
            pg_prepare(x->pg, PG_CLAIM_STORED);
        x->numbers[box] = x->sends_claim[box] && numbered ? pg_claim_number(x->pg) : 0;
        x->stored_numbers[box] = stored && numbered ? pg_claim_number(x->pg) : 0;
    }
    x->together = pg_is_joined(x->pg) && x->sends_claim[BOXCAR_OUTBOX] && x->sends_claim[BOXCAR_INBOX];
}

void pg_exchange_prepare(struct exchange *x) {
    pg_forget_ends(x->pg);
    x->shares_ends = x->settle && pg_exchange_asks_for_ends(x) && pg_shares_ends(x->pg);
    prepare_claims(x);
    for (int box = 0; box < BOXES; box++) {
        const boxcar_request_part *part = &x->request->parts[box];

        if (x->settle && x->request->base.messages[box].count > 0)
            pg_prepare(x->pg, pg_exchange_enqueues_by(x, (boxcar_box)box));
        for (int kind = 0; x->settle && kind < BOXCAR_SETTLE_KINDS; kind++)
            if (part->settle[kind].count > 0)
                pg_prepare(x->pg, pg_exchange_settles_by(x, (boxcar_box)box, (boxcar_settle_kind)kind));
        if (x->settle && part->returns != BOXCAR_RETURN_NONE)
            pg_prepare(x->pg, PG_RETURNED);
    }
    if (x->settle && x->request->base.partition_count > 0)
        pg_prepare(x->pg, PG_WANT_PARTITIONS);
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

static boxcar_status send_want_partitions(struct exchange *x, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    if (x->request->base.partition_count == 0)
        return BOXCAR_OK;
    pg_params_int4(&params, x->request->base.partition_count);
    return pg_send(x->pg, PG_WANT_PARTITIONS, &params, err);
}

/* Whether messages come back, be it to the owner's work or as claimed ones, with the first transaction. */
static bool brings_messages(const struct request *request) {
    bool brings = false;

    for (int box = 0; box < BOXES; box++)
        brings = brings || request->parts[box].returns != BOXCAR_RETURN_NONE ||
                 request_claims_stored(request, (boxcar_box)box);
    return brings;
}

/* Whether messages from outside are all that the first transaction is about. */
static bool brings_only_inbox(const struct exchange *x) {
    const boxcar_request_part *inbox = &x->request->parts[BOXCAR_INBOX];

    return !pg_is_joined(x->pg) && !request_part_settles(inbox) && !inbox->reap &&
           !request_changes(x->request, BOXCAR_OUTBOX) && x->request->instance_count == 0 &&
           !x->request->remove_stale && !x->request->farewell && x->request->base.partition_count == 0 &&
           !brings_messages(x->request);
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
    return pg_send(x->pg, pg_exchange_settles_by(x, box, kind), &params, err);
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
                  request_changes(x->request, BOXCAR_INBOX) || x->request->base.partition_count > 0;

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

static boxcar_status send_returned(struct exchange *x, boxcar_box box, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    if (x->request->parts[box].returns == BOXCAR_RETURN_NONE)
        return BOXCAR_OK;
    pg_params_for_returned(&params, x->request, box);
    return pg_send(x->pg, PG_RETURNED, &params, err);
}

/* All of the answer's places are its own: an earlier round of the claim that has found something kept them
 * free. */
static boxcar_status send_claim_stored(struct exchange *x, boxcar_box box, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    int size = x->request->parts[box].claim_size - (int)x->result->parts[box].claimed_count;

    if (!request_claims_stored(x->request, box))
        return BOXCAR_OK;
    pg_params_for_claim_stored(&params, x->request, box, size, x->stored_numbers[box]);
    return pg_send(x->pg, PG_CLAIM_STORED, &params, err);
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
        status = send_want_partitions(x, err);
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
    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++)
        status = send_returned(x, (boxcar_box)box, err);
    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++)
        status = send_claim_stored(x, (boxcar_box)box, err);
    if (status == BOXCAR_OK)
        status = send_farewell(x, err);
    if (status == BOXCAR_OK && pg_exchange_asks_for_ends(x))
        status = send_plain(x->pg, PG_JOINS_ENDED, err);
    return status == BOXCAR_OK ? send_sync(x->pg, err) : status;
}

/* A claim is a transaction by itself, which its sync ends. In most sessions that is READ COMMITTED, and to
 * say so would be two statements more. */
bool pg_exchange_begins_claims(const struct exchange *x) {
    return !pg_is_joined(x->pg) && x->pg->begins_claims;
}

/* A suspect comes alone: not where the request's own messages may come too, or have come. */
static bool takes_suspects(const struct exchange *x, boxcar_box box) {
    bool shared =
        request_claims_stored(x->request, box) && (x->settle || x->result->parts[box].claimed_count > 0);

    return !x->request->own[box].no_suspects && !shared;
}

static boxcar_status send_claim(struct exchange *x, boxcar_box box, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    boxcar_status status = BOXCAR_OK;

    if (!x->sends_claim[box])
        return BOXCAR_OK;
    pg_params_for_claim(&params, x->request, box, x->room[box].messages, pg_is_joined(x->pg),
                        takes_suspects(x, box), x->numbers[box]);
    pg_params_bool(&params, x->together); /* what may wait comes before the first turn */
    pg_params_int8(&params, x->room[box].bytes);
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
