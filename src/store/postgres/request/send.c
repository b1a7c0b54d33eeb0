/* What a request sends: statements in the order in which every request takes its locks. */
#include "base/error.h"
#include "exchange.h"
#include "store/postgres/claim/claim.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/join/join.h"

/* ---- the first transaction ---- */

static struct step *plan(struct exchange *x, enum pg_statement statement, boxcar_box box) {
    struct step *step = &x->steps[x->step_count++];

    *step = (struct step){.statement = statement, .box = box};
    return step;
}

static void plan_enqueue(struct exchange *x, boxcar_box box) {
    struct new_messages messages = pg_exchange_messages(x, box);

    if (messages.count > 0)
        plan(x, pg_enqueue_statement(&messages, box), box);
}

static void plan_settlements(struct exchange *x, boxcar_box box) {
    static const enum pg_statement STATEMENTS[BOXCAR_SETTLE_KINDS] = {
        [BOXCAR_RECORD] = PG_RECORD_STAGES, [BOXCAR_ACK] = PG_ACK,   [BOXCAR_ABANDON] = PG_ABANDON,
        [BOXCAR_DEFER] = PG_DEFER,          [BOXCAR_FAIL] = PG_FAIL, [BOXCAR_RESOLVE] = PG_RESOLVE,
        [BOXCAR_RENEW] = PG_RENEW,
    };
    const boxcar_request_part *part = &x->request->parts[box];

    for (int i = 0; i < BOXCAR_SETTLE_KINDS; i++) {
        boxcar_settle_kind kind = settle_kind_at(i);
        bool is_run = kind == BOXCAR_ACK && pg_is_run(part->settle[kind]);

        if (part->settle[kind].count > 0)
            plan(x, is_run ? PG_ACK_RUN : STATEMENTS[kind], box)->kind = kind;
    }
    if (part->reap)
        plan(x, PG_REAP, box);
}

/* By itself, a heartbeat need not be durable; in a transaction with something else it is not for it to say.
 */
static void plan_instances(struct exchange *x) {
    const struct request *request = x->request;
    bool shares = pg_is_joined(x->pg) || request_changes(request, BOXCAR_OUTBOX) ||
                  request_changes(request, BOXCAR_INBOX) || request->base.partition_count > 0;

    for (size_t i = 0; i < request->instance_count; i++) {
        const struct instance *instance = &request->instances[i];

        enum pg_statement statement = shares ? PG_REGISTER : PG_HEARTBEAT;

        plan(x, instance->no_box ? PG_BEAT_ALONE : statement, BOXCAR_OUTBOX)->instance = instance;
    }
}

/* Whether two statements lock leases, streams and joins one after the other. If so, all are locked first, in
 * order. */
static bool locks_ahead(const struct request *request) {
    int lists = 0;
    size_t waits = 0; /* one of them may be a step itself */

    for (int box = 0; box < BOXES; box++) {
        const boxcar_settlement_list *settle = request->parts[box].settle;

        lists += (settle[BOXCAR_ACK].count > 0) + (settle[BOXCAR_ABANDON].count > 0) +
                 (settle[BOXCAR_DEFER].count > 0) + (settle[BOXCAR_FAIL].count > 0);
        waits += settle[BOXCAR_RESOLVE].count;
    }
    return lists > 1 || waits > 0;
}

static bool has_subscription(const struct request *request) {
    return request->parts[BOXCAR_OUTBOX].reader > 0 || request->parts[BOXCAR_INBOX].reader > 0;
}

/* Unique keys are locked even before that: they are the first locks of a transaction. */
static void plan_locks(struct exchange *x) {
    struct new_messages messages = request_messages(x->request, BOXCAR_OUTBOX);

    if (!locks_ahead(x->request))
        return;
    if (pg_count_keys(&messages, true) > 0)
        plan(x, PG_HOLD_KEYS, BOXCAR_OUTBOX);
    plan(x, has_subscription(x->request) ? PG_LOCK_AHEAD_OF : PG_LOCK_AHEAD, BOXCAR_OUTBOX);
}

/* Whether this request can end a join, and joins that end are to be reported. */
static bool asks_for_ends(const struct exchange *x) {
    bool may_end = false;

    for (int box = 0; box < BOXES; box++)
        may_end = may_end || x->request->parts[box].reap || pg_count_counting(&x->request->parts[box]) > 0;
    return may_end && store_logs(&x->pg->base, BOXCAR_LOG_INFO);
}

static void plan_first(struct exchange *x) {
    const struct request *request = x->request;
    bool stores =
        request->base.messages[BOXCAR_OUTBOX].count + request->base.messages[BOXCAR_INBOX].count > 0;

    if (x->shares_ends)
        plan(x, PG_JOINS_ENDED, BOXCAR_OUTBOX);
    for (int box = 0; stores && box < BOXES; box++)
        if (request->parts[box].reader > 0)
            plan(x, PG_READER, (boxcar_box)box);
    if (request->base.partition_count > 0)
        plan(x, PG_WANT_PARTITIONS, BOXCAR_OUTBOX);
    plan_enqueue(x, BOXCAR_INBOX);
    plan_locks(x);
    plan_enqueue(x, BOXCAR_OUTBOX);
    for (int box = 0; box < BOXES; box++)
        plan_settlements(x, (boxcar_box)box);
    plan_instances(x);
    if (request->remove_stale)
        plan(x, PG_REMOVE_STALE, BOXCAR_OUTBOX);
    for (int box = 0; box < BOXES; box++)
        if (request->parts[box].returns != BOXCAR_RETURN_NONE)
            plan(x, PG_RETURNED, (boxcar_box)box);
    for (int box = 0; box < BOXES; box++)
        if (request_claims_stored(request, (boxcar_box)box))
            plan(x, PG_CLAIM_STORED, (boxcar_box)box);
    if (request->farewell)
        plan(x, PG_FAREWELL, BOXCAR_OUTBOX);
    if (asks_for_ends(x))
        plan(x, PG_JOINS_ENDED, BOXCAR_OUTBOX);
}

/* ---- claims ---- */

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
    bool numbered = !pg_in_transaction(x->pg);

    for (int box = 0; box < BOXES; box++) {
        bool stored = x->settle && request_claims_stored(x->request, (boxcar_box)box);

        x->room[box] = pg_exchange_room(x, (boxcar_box)box);
        x->sends_claim[box] = x->claim[box] && claim_room_is_left(x->room[box]);
        if (x->sends_claim[box])
            pg_prepare(x->pg, PG_CLAIM);
        x->numbers[box] = x->sends_claim[box] && numbered ? pg_claim_number(x->pg) : 0;
        x->stored_numbers[box] = stored && numbered ? pg_claim_number(x->pg) : 0;
    }
    x->together = pg_is_joined(x->pg) && x->sends_claim[BOXCAR_OUTBOX] && x->sends_claim[BOXCAR_INBOX] &&
                  !has_subscription(x->request);
}

/* ---- both ---- */

/* Preparing costs a round trip; these come now and then. */
static bool is_worth_preparing(enum pg_statement statement) {
    switch (statement) {
    case PG_REAP:
    case PG_REGISTER:
    case PG_HEARTBEAT:
    case PG_BEAT_ALONE:
    case PG_REMOVE_STALE:
    case PG_FAREWELL:
        return false;
    default:
        return true;
    }
}

void pg_exchange_prepare(struct exchange *x) {
    pg_forget_ends(x->pg);
    x->shares_ends = x->settle && asks_for_ends(x) && pg_shares_ends(x->pg);
    x->step_count = 0;
    if (x->settle)
        plan_first(x);
    prepare_claims(x);
    for (size_t i = 0; i < x->step_count; i++)
        if (is_worth_preparing(x->steps[i].statement))
            pg_prepare(x->pg, x->steps[i].statement);
}

static boxcar_status send_plain(struct pg_store *pg, enum pg_statement statement, boxcar_error *err) {
    struct pg_params none = PG_PARAMS_INIT;

    return pg_send(pg, statement, &none, err);
}

static boxcar_status send_sync(struct pg_store *pg, boxcar_error *err) {
    return PQpipelineSync(pg->conn) ? BOXCAR_OK : pg_error_from_connection(pg, err);
}

static boxcar_status send_first(struct exchange *x, boxcar_error *err) {
    if (!x->settle)
        return BOXCAR_OK;
    for (size_t i = 0; i < x->step_count; i++) {
        AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

        pg_params_for_step(&params, x, &x->steps[i]);
        TRY(pg_send(x->pg, x->steps[i].statement, &params, err));
    }
    if (x->request->farewell)
        x->pg->rest.until_ms = 0;
    return send_sync(x->pg, err);
}

bool pg_exchange_begins_claims(const struct exchange *x) {
    return !pg_is_joined(x->pg) && x->pg->begins_claims;
}

static boxcar_status send_claim(struct exchange *x, boxcar_box box, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_for_claim(&params, x, box);
    if (pg_exchange_begins_claims(x))
        TRY(send_plain(x->pg, PG_BEGIN, err));
    if (x->together && box == BOXCAR_OUTBOX)
        TRY(send_plain(x->pg, PG_BEFORE_CLAIMS, err));
    TRY(pg_send(x->pg, PG_CLAIM, &params, err));
    if (pg_exchange_begins_claims(x))
        TRY(send_plain(x->pg, PG_COMMIT, err));
    return send_sync(x->pg, err);
}

boxcar_status pg_exchange_send(struct exchange *x, boxcar_error *err) {
    TRY(send_first(x, err));
    for (int box = 0; box < BOXES; box++)
        if (x->sends_claim[box])
            TRY(send_claim(x, (boxcar_box)box, err));
    return BOXCAR_OK;
}
