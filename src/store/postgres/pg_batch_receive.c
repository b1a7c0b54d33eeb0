/* What a batch is answered. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "pg_batch.h"

/* Flags in the last row of _claim. */
#define CLAIM_PARKED_EXPIRED 1
#define CLAIM_MORE 2

/* The answer to one statement. The error of a transaction is that of its first failure; what
 * follows is only skipped. */
static boxcar_status receive(struct pg_store *pg, PGresult **ret_result, boxcar_error *err) {
    PGresult *result;
    ExecStatusType kind;
    boxcar_status status;

    result = pg_next_result(pg);
    kind = PQresultStatus(result);
    if (result && kind != PGRES_PIPELINE_SYNC)
        for (PGresult *rest; (rest = pg_next_result(pg)) != NULL;)
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

/* An id made in this call can only have met itself, from a try whose answer was lost. */
static bool is_own(const struct batch_part *part, size_t i, boxcar_message_id stored) {
    return part->fresh_ids || (part->keys && part->keys[i].unique &&
                               memcmp(stored.bytes, part->messages[i].message_id.bytes, 16) == 0);
}

static boxcar_status read_enqueued(struct exchange *x, const PGresult *result, boxcar_error *err) {
    const struct batch_part *part = &x->batch->parts[BOXCAR_OUTBOX];
    size_t count = part->message_count;
    boxcar_enqueued *enqueued;

    enqueued = arena_alloc_array(&x->result->arena, count, sizeof(*enqueued));
    if (!enqueued)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        enqueued[i].work_id.value = pg_get_int8(result, (int)i, 0);
        pg_get_uuid(result, (int)i, 1, enqueued[i].message_id.bytes);
        enqueued[i].duplicate =
            pg_get_bool(result, (int)i, 2) && !is_own(part, i, enqueued[i].message_id);
    }
    x->result->parts[BOXCAR_OUTBOX].enqueued = enqueued;
    return BOXCAR_OK;
}

/* Keys are the caller's: whether a try whose answer was lost has stored a message, or somebody else, is not
 * known, so that it is a duplicate, as a message id of the caller's is. */
static boxcar_status read_inbox_enqueued(struct exchange *x, const PGresult *result, boxcar_error *err) {
    size_t count = x->batch->parts[BOXCAR_INBOX].message_count;
    boxcar_inbox_enqueued *enqueued = arena_alloc_array(&x->result->arena, count, sizeof(*enqueued));

    if (!enqueued)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        enqueued[i].work_id.value = pg_get_int8(result, (int)i, 0);
        pg_get_uuid(result, (int)i, 1, enqueued[i].message_id.bytes);
        enqueued[i].duplicate = pg_get_bool(result, (int)i, 2);
        enqueued[i].hash_mismatch = pg_get_bool(result, (int)i, 3);
    }
    x->result->parts[BOXCAR_INBOX].inbox_enqueued = enqueued;
    return BOXCAR_OK;
}

static boxcar_status read_wait_outcomes(struct exchange *x, boxcar_box box, const PGresult *result,
                                        boxcar_error *err) {
    size_t count = x->batch->parts[box].settle[SETTLE_RESOLVE].count;
    struct work_id_list numbers;
    enum wait_outcome *outcomes;
    boxcar_status status = pg_get_work_ids(result, 0, 0, &x->result->arena, &numbers, err);

    if (status != BOXCAR_OK)
        return status;
    if (numbers.count != count)
        return error_set(err, BOXCAR_E_STORE, "the store answered for %zu of %zu waits", numbers.count, count);
    outcomes = arena_alloc_array(&x->result->arena, count, sizeof(*outcomes));
    if (!outcomes)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        outcomes[i] = (enum wait_outcome)numbers.items[i].value;
    x->result->parts[box].waits = outcomes;
    return BOXCAR_OK;
}

static boxcar_status read_settled(struct exchange *x, boxcar_box box, enum settle_kind kind,
                                  const PGresult *result, boxcar_error *err) {
    if (kind == SETTLE_RESOLVE)
        return read_wait_outcomes(x, box, result, err);
    return pg_get_work_ids(result, 0, 0, &x->result->arena, &x->result->parts[box].settled[kind], err);
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

/* In the order in which they were sent. */
static void receive_enqueued(struct exchange *x, boxcar_box box, boxcar_status *status, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    size_t count = x->batch->parts[box].message_count;

    if (count == 0)
        return;
    receive_into(x->pg, &result, status, err);
    if (*status != BOXCAR_OK)
        return;
    if ((size_t)PQntuples(result) != count)
        *status = error_set(err, BOXCAR_E_STORE, "the store answered for %d of %zu messages", PQntuples(result),
                            count);
    else
        *status = box == BOXCAR_INBOX ? read_inbox_enqueued(x, result, err) : read_enqueued(x, result, err);
}

static void receive_settlements(struct exchange *x, boxcar_box box, boxcar_status *status, boxcar_error *err) {
    for (int kind = 0; kind < SETTLE_KINDS; kind++) {
        AUTO_RESULT PGresult *result = NULL;

        if (x->batch->parts[box].settle[kind].count == 0)
            continue;
        receive_into(x->pg, &result, status, err);
        if (*status == BOXCAR_OK)
            *status = read_settled(x, box, (enum settle_kind)kind, result, err);
    }
    if (x->batch->parts[box].reap) {
        AUTO_RESULT PGresult *result = NULL;

        receive_into(x->pg, &result, status, err);
        if (*status == BOXCAR_OK)
            x->result->parts[box].reaped = pg_get_int8(result, 0, 0);
    }
}

boxcar_status pg_exchange_receive_settled(struct exchange *x, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    receive_enqueued(x, BOXCAR_INBOX, &status, err);
    if (pg_exchange_holds_keys(x)) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, &result, &status, err);
    }
    if (pg_exchange_locks_ahead(x)) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, &result, &status, err);
    }
    receive_enqueued(x, BOXCAR_OUTBOX, &status, err);
    for (int box = 0; box < BOXES; box++)
        receive_settlements(x, (boxcar_box)box, &status, err);
    for (size_t i = 0; i < x->batch->instance_count; i++) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, &result, &status, err);
    }
    if (pg_exchange_asks_for_ends(x)) {
        AUTO_RESULT PGresult *result = NULL;
        receive_into(x->pg, &result, &status, err);
        if (status == BOXCAR_OK)
            status = read_ended(x, result, err);
    }
    AUTO_RESULT PGresult *sync = NULL;
    receive_into(x->pg, &sync, &status, err);
    pg_notice_tell(x->pg, status);
    return status;
}

/* Texts stay where libpq put them: the arena takes the result over. */
static boxcar_status read_claimed(struct exchange *x, boxcar_box box, PGresult *result, boxcar_error *err) {
    struct part_result *part = &x->result->parts[box];
    int rows = PQntuples(result);
    int flags = 0;

    if (!pg_attach_result(&x->result->arena, result))
        return error_no_memory(err);
    if (rows > 0 && pg_get_int8(result, rows - 1, 0) == 0)
        flags = (int)pg_get_int8(result, --rows, 1);
    part->claimed = arena_alloc_array(&x->result->arena, (size_t)rows, sizeof(*part->claimed));
    if (!part->claimed)
        return error_no_memory(err);
    for (int i = 0; i < rows; i++) {
        pg_read_claimed(result, i, &part->claimed[i]);
        part->claimed[i].box = box;
    }
    part->claimed_count = (size_t)rows;
    x->bury_expired[box] = x->bury_expired[box] || (flags & CLAIM_PARKED_EXPIRED);
    x->claim[box] = rows == 0 && (flags & CLAIM_MORE);
    return BOXCAR_OK;
}

boxcar_status pg_exchange_receive_claimed(struct exchange *x, boxcar_box box, boxcar_error *err) {
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
    pg_notice_tell(x->pg, status);
    if (status == BOXCAR_OK)
        return read_claimed(x, box, claimed, err);
    PQclear(claimed);
    return status;
}
