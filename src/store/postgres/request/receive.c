/* What a request is answered. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/wait.h"
#include "exchange.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/notice.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/connection/wait.h"
#include "store/postgres/join/join.h"
#include "store/postgres/statement/rows.h"
#include "store/postgres/statement/shape.h"

/* Flags in the last row of _claim. */
#define CLAIM_PARKED_EXPIRED 1
#define CLAIM_MORE 2
#define CLAIM_HELD_UP 4

#define SYNC PG_STATEMENTS /* the end of a transaction, no statement */

static bool is_success(ExecStatusType kind) { return kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK; }

/* The answer to one statement. The error of a transaction is that of its first failure; what
 * follows is only skipped. */
static boxcar_status receive(struct pg_store *pg, enum pg_statement statement, PGresult **ret_result,
                             boxcar_error *err) {
    PGresult *result;
    ExecStatusType kind;
    boxcar_status status;

    result = pg_next_result(pg);
    kind = PQresultStatus(result);
    if (result && kind != PGRES_PIPELINE_SYNC)
        for (PGresult *rest; (rest = pg_next_result(pg)) != NULL;)
            PQclear(rest);
    if (kind == PGRES_PIPELINE_ABORTED)
        status = BOXCAR_E_STORE;
    else if ((kind == PGRES_PIPELINE_SYNC) != (statement == SYNC) &&
             (kind == PGRES_PIPELINE_SYNC || is_success(kind)))
        status = pg_malformed(pg, "it ends in the wrong place", err);
    else if (is_success(kind))
        status = pg_check_answer(pg, statement, result, err);
    else
        status = kind == PGRES_PIPELINE_SYNC ? BOXCAR_OK : pg_error_from_result(pg, result, err);
    if (status == BOXCAR_OK)
        *ret_result = result;
    else
        PQclear(result);
    return status;
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
static bool is_own(const struct new_messages *new, size_t i, boxcar_message_id stored) {
    return new->fresh_ids || (new->keys &&new->keys[i].unique &&memcmp(
                                  stored.uuid.bytes, new->items[i].message_id.uuid.bytes, 16) == 0);
}

/* Keys of the inbox are the caller's. So it is not known whether a message was stored by an earlier try whose
 * answer was lost, or by another program. It counts as a duplicate, like a message with an id of the
 * caller's. */
static boxcar_status read_enqueued(struct exchange *x, boxcar_box box, const PGresult *result,
                                   boxcar_error *err) {
    struct new_messages new = request_messages(x->request, box);
    boxcar_enqueued *enqueued = arena_alloc_array(&x->result->arena, new.count, sizeof(*enqueued));

    if (!enqueued)
        return error_no_memory(err);
    for (size_t i = 0; i < new.count; i++) {
        enqueued[i].work_id.value = pg_get_int8(result, (int)i, 0);
        pg_get_uuid(result, (int)i, 1, enqueued[i].message_id.uuid.bytes);
        enqueued[i].duplicate = pg_get_bool(result, (int)i, 2) && !is_own(&new, i, enqueued[i].message_id);
        enqueued[i].hash_mismatch = box == BOXCAR_INBOX && pg_get_bool(result, (int)i, 3);
    }
    x->result->parts[box].enqueued = enqueued;
    return BOXCAR_OK;
}

static boxcar_status read_wait_outcomes(struct exchange *x, boxcar_box box, const PGresult *result,
                                        boxcar_error *err) {
    size_t count = x->request->parts[box].settle[BOXCAR_RESOLVE].count;
    struct work_id_list numbers;
    enum wait_outcome *outcomes;
    boxcar_status status = pg_get_work_ids(result, 0, 0, &x->result->arena, &numbers, err);

    if (status != BOXCAR_OK)
        return status;
    if (numbers.count != count)
        return error_set(err, BOXCAR_E_STORE, "the store answered for %zu of %zu waits", numbers.count,
                         count);
    outcomes = arena_alloc_array(&x->result->arena, count, sizeof(*outcomes));
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

static boxcar_status read_settled(struct exchange *x, boxcar_box box, boxcar_settle_kind kind,
                                  const PGresult *result, boxcar_error *err) {
    struct work_id_list *settled = &x->result->parts[box].settled[kind];
    boxcar_status status;

    if (kind == BOXCAR_RESOLVE)
        return read_wait_outcomes(x, box, result, err);
    if (pg_exchange_settles_by(x, box, kind) == PG_ACK_RUN && PQgetisnull(result, 0, 0))
        return read_whole_run(x, box, err);
    status = pg_get_work_ids(result, 0, 0, &x->result->arena, settled, err);
    if (status == BOXCAR_OK && settled->count > x->request->parts[box].settle[kind].count)
        return pg_malformed(x->pg, "more was settled than was asked for", err);
    return status;
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

/* In the order in which they were sent. */
static void receive_enqueued(struct exchange *x, boxcar_box box, boxcar_status *status, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    size_t count = x->request->base.messages[box].count;

    if (count == 0)
        return;
    receive_into(x->pg, pg_exchange_enqueues_by(x, box), &result, status, err);
    if (*status != BOXCAR_OK)
        return;
    if ((size_t)PQntuples(result) != count)
        *status = error_set(err, BOXCAR_E_STORE, "the store answered for %d of %zu messages",
                            PQntuples(result), count);
    else
        *status = read_enqueued(x, box, result, err);
}

static void receive_settlements(struct exchange *x, boxcar_box box, boxcar_status *status,
                                boxcar_error *err) {
    for (int i = 0; i < BOXCAR_SETTLE_KINDS; i++) {
        boxcar_settle_kind kind = settle_kind_at(i);
        AUTO_RESULT PGresult *result = NULL;

        if (x->request->parts[box].settle[kind].count == 0)
            continue;
        receive_into(x->pg, pg_exchange_settles_by(x, box, kind), &result, status, err);
        if (*status == BOXCAR_OK)
            *status = read_settled(x, box, kind, result, err);
    }
    if (x->request->parts[box].reap) {
        AUTO_RESULT PGresult *result = NULL;

        receive_into(x->pg, PG_REAP, &result, status, err);
        if (*status == BOXCAR_OK)
            x->result->parts[box].reaped = pg_get_int8(result, 0, 0);
    }
}

/* ---- messages ---- */

/* A message, with all that a message has. */
static bool is_claimed(const PGresult *result, int row) {
    return pg_get_int8(result, row, 0) > 0 && !PQgetisnull(result, row, 3) && !PQgetisnull(result, row, 4);
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
        all[*count + (size_t)i].box = box;
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

/* Messages that came with the first transaction; read once it is committed. */
struct brought {
    PGresult *returned[BOXES], *stored[BOXES];
};

static void receive_brought(struct exchange *x, struct brought *brought, boxcar_status *status,
                            boxcar_error *err) {
    for (int box = 0; box < BOXES; box++)
        if (x->request->parts[box].returns != BOXCAR_RETURN_NONE)
            receive_into(x->pg, PG_RETURNED, &brought->returned[box], status, err);
    for (int box = 0; box < BOXES; box++)
        if (request_claims_stored(x->request, (boxcar_box)box))
            receive_into(x->pg, PG_CLAIM_STORED, &brought->stored[box], status, err);
}

/* Texts stay where libpq put them: the arena takes the result over. */
static boxcar_status keep_returned(struct exchange *x, boxcar_box box, PGresult *result, boxcar_error *err) {
    struct part_result *part = &x->result->parts[box];

    if (!result)
        return BOXCAR_OK;
    if (!pg_attach_result(&x->result->arena, result))
        return error_no_memory(err);
    part->returned_count = 0;
    return read_messages(x, box, result, PQntuples(result), &part->returned, &part->returned_count, err);
}

static boxcar_status keep_stored(struct exchange *x, boxcar_box box, PGresult *result, boxcar_error *err) {
    if (!result)
        return BOXCAR_OK;
    if (!pg_attach_result(&x->result->arena, result))
        return error_no_memory(err);
    return read_claimed_messages(x, box, result, PQntuples(result), err);
}

static boxcar_status keep_brought(struct exchange *x, struct brought *brought, boxcar_status status,
                                  boxcar_error *err) {
    for (int box = 0; box < BOXES; box++) {
        if (status == BOXCAR_OK)
            status = keep_returned(x, (boxcar_box)box, brought->returned[box], err);
        else
            PQclear(brought->returned[box]);
        if (status == BOXCAR_OK)
            status = keep_stored(x, (boxcar_box)box, brought->stored[box], err);
        else
            PQclear(brought->stored[box]);
    }
    return status;
}

boxcar_status pg_exchange_receive_settled(struct exchange *x, boxcar_error *err) {
    struct brought brought = {.returned = {NULL}};
    boxcar_status status = BOXCAR_OK;

    if (x->shares_ends)
        receive_into(x->pg, PG_JOINS_ENDED, &x->pg->ended_before, &status, err);
    if (x->request->base.partition_count > 0) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, PG_WANT_PARTITIONS, &result, &status, err);
    }
    receive_enqueued(x, BOXCAR_INBOX, &status, err);
    if (pg_exchange_holds_keys(x)) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, PG_HOLD_KEYS, &result, &status, err);
    }
    if (pg_exchange_locks_ahead(x)) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, PG_LOCK_AHEAD, &result, &status, err);
    }
    receive_enqueued(x, BOXCAR_OUTBOX, &status, err);
    for (int box = 0; box < BOXES; box++)
        receive_settlements(x, (boxcar_box)box, &status, err);
    for (size_t i = 0; i < x->request->instance_count; i++) {
        AUTO_RESULT PGresult *result = NULL;
        /* or PG_HEARTBEAT or PG_BEAT_ALONE, which answer alike */
        receive_into(x->pg, PG_REGISTER, &result, &status, err);
    }
    if (x->request->remove_stale) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, PG_REMOVE_STALE, &result, &status, err);
    }
    receive_brought(x, &brought, &status, err);
    if (x->request->farewell) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, PG_FAREWELL, &result, &status, err);
    }
    if (pg_exchange_asks_for_ends(x)) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, PG_JOINS_ENDED, &result, &status, err);
        if (status == BOXCAR_OK)
            status = read_ended(x, result, err);
    }
    AUTO_RESULT PGresult *sync = NULL;
    receive_into(x->pg, SYNC, &sync, &status, err);
    pg_notice_tell(x->pg, status);
    return keep_brought(x, &brought, status, err);
}

static boxcar_status read_claimed(struct exchange *x, boxcar_box box, PGresult *result, boxcar_error *err) {
    int rows = PQntuples(result);
    int64_t flags = 0;
    boxcar_status status;

    if (!pg_attach_result(&x->result->arena, result))
        return error_no_memory(err);
    if (rows > 0 && pg_get_int8(result, rows - 1, 0) == 0)
        flags = pg_get_int8(result, --rows, 1);
    status = read_claimed_messages(x, box, result, rows, err);
    if (status != BOXCAR_OK)
        return status;
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
