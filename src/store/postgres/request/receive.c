/* What a request is answered. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "core/wait.h"
#include "exchange.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/wait.h"
#include "store/postgres/join/join.h"

/* Flags in the last row of _claim. */
#define CLAIM_PARKED_EXPIRED 1
#define CLAIM_MORE 2
#define CLAIM_HELD_UP 4

#define SYNC PG_STATEMENTS /* the end of a transaction, no statement */

/* The answer to one statement. The error of a transaction is that of its first failure; what
 * follows is only skipped. */
static boxcar_status receive(struct pg_store *pg, enum pg_statement statement, PGresult **ret_result,
                             boxcar_error *err) {
    AUTO_RESULT PGresult *result = pg_next_result(pg);
    ExecStatusType kind = PQresultStatus(result);
    bool is_sync = kind == PGRES_PIPELINE_SYNC;

    if (result && !is_sync)
        for (PGresult *rest; (rest = pg_next_result(pg)) != NULL;)
            PQclear(rest);
    if (kind == PGRES_PIPELINE_ABORTED)
        return BOXCAR_E_STORE;
    if (is_sync != (statement == SYNC) && (is_sync || pg_is_success(result)))
        return pg_malformed(pg, "it ends in the wrong place", err);
    if (!is_sync && !pg_is_success(result))
        return pg_error_from_result(pg, result, err);
    if (!is_sync)
        TRY(pg_check_answer(pg, statement, result, err));
    *ret_result = result;
    result = NULL;
    return BOXCAR_OK;
}

/* Reads on to the end of a transaction whatever happened in it, keeping the first error. */
static void receive_into(struct pg_store *pg, enum pg_statement statement, PGresult **ret_result,
                         boxcar_status *status, boxcar_error *err) {
    boxcar_error later = BOXCAR_ERROR_INIT;
    boxcar_status now = receive(pg, statement, ret_result, *status == BOXCAR_OK ? err : &later);

    if (*status == BOXCAR_OK)
        *status = now;
}

/* An id made in this call can only have met itself, from a try whose answer was lost. */
static bool is_own(const struct new_messages *messages, size_t i, boxcar_message_id stored) {
    return messages->fresh_ids ||
           (messages->keys && messages->keys[i].unique &&
            memcmp(stored.uuid.bytes, messages->items[i].message_id.uuid.bytes, 16) == 0);
}

/* Keys of the inbox are the caller's. So it is not known whether a message was stored by an earlier try whose
 * answer was lost, or by another program. It counts as a duplicate, like a message with an id of the
 * caller's. */
static boxcar_status read_enqueued(struct exchange *x, boxcar_box box, const PGresult *result,
                                   boxcar_error *err) {
    struct new_messages messages = request_messages(x->request, box);

    if ((size_t)PQntuples(result) != messages.count)
        return error_set(err, BOXCAR_E_STORE, "the store answered for %d of %zu messages", PQntuples(result),
                         messages.count);
    boxcar_enqueued *enqueued = arena_alloc_array(&x->result->arena, messages.count, sizeof(*enqueued));
    if (!enqueued)
        return error_no_memory(err);
    for (size_t i = 0; i < messages.count; i++) {
        enqueued[i].work_id.value = pg_get_int8(result, (int)i, 0);
        pg_get_uuid(result, (int)i, 1, enqueued[i].message_id.uuid.bytes);
        enqueued[i].duplicate =
            pg_get_bool(result, (int)i, 2) && !is_own(&messages, i, enqueued[i].message_id);
        enqueued[i].hash_mismatch = box == BOXCAR_INBOX && pg_get_bool(result, (int)i, 3);
    }
    x->result->parts[box].enqueued = enqueued;
    return BOXCAR_OK;
}

static boxcar_status read_wait_outcomes(struct exchange *x, boxcar_box box, const PGresult *result,
                                        boxcar_error *err) {
    size_t count = x->request->parts[box].settle[BOXCAR_RESOLVE].count;
    struct work_id_list numbers;

    TRY(pg_get_work_ids(result, 0, 0, &x->result->arena, &numbers, err));
    if (numbers.count != count)
        return error_set(err, BOXCAR_E_STORE, "the store answered for %zu of %zu waits", numbers.count,
                         count);
    enum wait_outcome *outcomes = arena_alloc_array(&x->result->arena, count, sizeof(*outcomes));
    if (!outcomes)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (numbers.items[i].value < WAIT_LOST || numbers.items[i].value > WAIT_NO_JOIN)
            return pg_malformed(x->pg, "a wait has an outcome that does not exist", err);
        outcomes[i] = (enum wait_outcome)numbers.items[i].value;
    }
    x->result->parts[box].waits = outcomes;
    return BOXCAR_OK;
}

/* All that was asked for, in its order. */
static boxcar_status read_whole_run(struct exchange *x, boxcar_box box, boxcar_error *err) {
    boxcar_settlement_list given = x->request->parts[box].settle[BOXCAR_ACK];
    boxcar_work_id *items = arena_alloc_array(&x->result->arena, given.count, sizeof(*items));

    if (!items)
        return error_no_memory(err);
    for (size_t i = 0; i < given.count; i++)
        items[i] = given.items[i].work_id;
    x->result->parts[box].settled[BOXCAR_ACK] = (struct work_id_list){items, given.count};
    return BOXCAR_OK;
}

static boxcar_status read_settled(struct exchange *x, const struct step *step, const PGresult *result,
                                  boxcar_error *err) {
    struct work_id_list *settled = &x->result->parts[step->box].settled[step->kind];

    if (step->kind == BOXCAR_RESOLVE)
        return read_wait_outcomes(x, step->box, result, err);
    if (step->statement == PG_ACK_RUN && PQgetisnull(result, 0, 0))
        return read_whole_run(x, step->box, err);
    TRY(pg_get_work_ids(result, 0, 0, &x->result->arena, settled, err));
    if (settled->count > x->request->parts[step->box].settle[step->kind].count)
        return pg_malformed(x->pg, "more was settled than was asked for", err);
    return BOXCAR_OK;
}

static boxcar_status read_ended(struct exchange *x, const PGresult *result, boxcar_error *err) {
    size_t count = (size_t)PQntuples(result), kept = 0;
    boxcar_join *ended = arena_alloc_array(&x->result->arena, count, sizeof(*ended));

    if (!ended)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        boxcar_join *join = &ended[kept];

        pg_get_uuid(result, (int)i, 0, join->join_id.uuid.bytes);
        pg_read_join_counts(result, (int)i, 1, join);
        kept += !pg_had_ended(x->pg, join->join_id);
    }
    x->result->ended = ended;
    x->result->ended_count = kept;
    return BOXCAR_OK;
}

/* ---- messages ---- */

/* A message, with all that a message has. */
static bool is_claimed(const PGresult *result, int row) {
    return pg_get_int8(result, row, 0) > 0 && !PQgetisnull(result, row, 3) && !PQgetisnull(result, row, 4);
}

/* A part of a subscription may bring messages of the other box. Those of the inbox all have a source. */
static boxcar_box box_of(const struct request *request, boxcar_box box, const boxcar_message *message) {
    if (request_reader(request, box) == box)
        return box;
    return str_is_absent(message->source) ? BOXCAR_OUTBOX : BOXCAR_INBOX;
}

/* Behind those that are there. The arena has taken the result over. */
static boxcar_status read_messages(struct exchange *x, boxcar_box box, const PGresult *result, int rows,
                                   boxcar_message **items, size_t *count, boxcar_error *err) {
    boxcar_message *all = arena_alloc_array(&x->result->arena, *count + (size_t)rows, sizeof(*all));

    if (!all)
        return error_no_memory(err);
    if (*count > 0)
        memcpy(all, *items, *count * sizeof(*all));
    for (int i = 0; i < rows; i++) {
        if (!is_claimed(result, i))
            return pg_malformed(x->pg, "a message lacks its id, topic or payload", err);
        pg_read_claimed(result, i, &all[*count + (size_t)i]);
        all[*count + (size_t)i].box = box_of(x->request, box, &all[*count + (size_t)i]);
    }
    *items = all;
    *count += (size_t)rows;
    return BOXCAR_OK;
}

static boxcar_status read_claimed_messages(struct exchange *x, boxcar_box box, const PGresult *result,
                                           int rows, boxcar_error *err) {
    struct part_result *part = &x->result->parts[box];

    if (part->claimed_count + (size_t)rows > (size_t)x->request->parts[box].claim_size)
        return pg_malformed(x->pg, "more was claimed than was asked for", err);
    return read_messages(x, box, result, rows, &part->claimed, &part->claimed_count, err);
}

/* ---- the first transaction ---- */

/* Messages that it brought wait for its end: *result is NULL then. */
static boxcar_status read_answer(struct exchange *x, struct step *step, PGresult **result,
                                 boxcar_error *err) {
    switch (step->statement) {
    case PG_ENQUEUE:
    case PG_ENQUEUE_ONE:
    case PG_ENQUEUE_PLAIN:
    case PG_ENQUEUE_KNOWN:
    case PG_INBOX_ENQUEUE:
    case PG_INBOX_ENQUEUE_ONE:
    case PG_INBOX_ENQUEUE_PLAIN:
        return read_enqueued(x, step->box, *result, err);
    case PG_REAP:
        x->result->parts[step->box].reaped = pg_get_int8(*result, 0, 0);
        return BOXCAR_OK;
    case PG_RETURNED:
    case PG_CLAIM_STORED:
        step->brought = *result;
        *result = NULL;
        return BOXCAR_OK;
    case PG_JOINS_ENDED:
        if (!x->shares_ends || step != x->steps)
            return read_ended(x, *result, err);
        x->pg->ended_before = *result;
        *result = NULL;
        return BOXCAR_OK;
    case PG_READER:
    case PG_WANT_PARTITIONS:
    case PG_HOLD_KEYS:
    case PG_LOCK_AHEAD:
    case PG_LOCK_AHEAD_OF:
    case PG_REGISTER:
    case PG_HEARTBEAT:
    case PG_BEAT_ALONE:
    case PG_REMOVE_STALE:
    case PG_FAREWELL:
        return BOXCAR_OK;
    default:
        return read_settled(x, step, *result, err);
    }
}

/* Texts stay where libpq put them: the arena takes the result over. */
static boxcar_status keep_brought(struct exchange *x, struct step *step, boxcar_error *err) {
    struct part_result *part = &x->result->parts[step->box];
    PGresult *result = step->brought;

    step->brought = NULL;
    if (!pg_attach_result(&x->result->arena, result))
        return error_no_memory(err);
    if (step->statement == PG_CLAIM_STORED)
        return read_claimed_messages(x, step->box, result, PQntuples(result), err);
    part->returned_count = 0;
    return read_messages(x, step->box, result, PQntuples(result), &part->returned, &part->returned_count,
                         err);
}

boxcar_status pg_exchange_receive_settled(struct exchange *x, boxcar_error *err) {
    AUTO_RESULT PGresult *sync = NULL;
    boxcar_status status = BOXCAR_OK;

    for (size_t i = 0; i < x->step_count; i++) {
        AUTO_RESULT PGresult *result = NULL;

        receive_into(x->pg, x->steps[i].statement, &result, &status, err);
        if (status == BOXCAR_OK)
            status = read_answer(x, &x->steps[i], &result, err);
    }
    receive_into(x->pg, SYNC, &sync, &status, err);
    pg_notice_tell(x->pg, status);
    for (size_t i = 0; i < x->step_count; i++) {
        if (status == BOXCAR_OK && x->steps[i].brought)
            status = keep_brought(x, &x->steps[i], err);
        PQclear(x->steps[i].brought);
    }
    return status;
}

/* ---- claims ---- */

static boxcar_status read_claimed(struct exchange *x, boxcar_box box, PGresult *result, boxcar_error *err) {
    int rows = PQntuples(result);
    int64_t flags = 0;

    if (!pg_attach_result(&x->result->arena, result))
        return error_no_memory(err);
    if (rows > 0 && pg_get_int8(result, rows - 1, 0) == 0)
        flags = pg_get_int8(result, --rows, 1);
    TRY(read_claimed_messages(x, box, result, rows, err));
    x->bury_expired[box] = x->bury_expired[box] || (flags & CLAIM_PARKED_EXPIRED);
    x->result->parts[box].held_up = flags & CLAIM_HELD_UP;
    x->claim[box] = x->result->parts[box].claimed_count == 0 && (flags & CLAIM_MORE);
    return BOXCAR_OK;
}

boxcar_status pg_exchange_receive_claimed(struct exchange *x, boxcar_box box, boxcar_error *err) {
    AUTO_RESULT PGresult *begun = NULL;
    AUTO_RESULT PGresult *committed = NULL;
    AUTO_RESULT PGresult *sync = NULL;
    PGresult *claimed = NULL;
    boxcar_status status = BOXCAR_OK;

    if (pg_exchange_begins_claims(x))
        receive_into(x->pg, PG_BEGIN, &begun, &status, err);
    if (x->together && box == BOXCAR_OUTBOX)
        receive_into(x->pg, PG_BEFORE_CLAIMS, &begun, &status, err);
    receive_into(x->pg, PG_CLAIM, &claimed, &status, err);
    if (pg_exchange_begins_claims(x))
        receive_into(x->pg, PG_COMMIT, &committed, &status, err);
    receive_into(x->pg, SYNC, &sync, &status, err);
    pg_notice_tell(x->pg, status);
    if (status == BOXCAR_OK)
        return read_claimed(x, box, claimed, err);
    PQclear(claimed);
    return status;
}
