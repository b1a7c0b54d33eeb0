/* A transaction that spans calls, for handlers. While it is open (pg->begun), every call is part of it and
 * nothing is retried: the handler's own statements cannot be repeated. */
#include <string.h>

#include "base/error.h"
#include "connection.h"
#include "error.h"
#include "query.h"
#include "store/join_log.h"
#include "wait.h"

static boxcar_status try_begin(struct pg_store *pg, boxcar_error *err) {
    TRY(pg_ready(pg, err));
    AUTO_RESULT PGresult *result = pg_run_text(pg, pg->sql[PG_BEGIN]);
    return pg_is_success(result) ? BOXCAR_OK : pg_error_from_result(pg, result, err);
}

/* Nothing has happened yet, so a connection that turns out to be dead is replaced, once. */
static boxcar_status begin(struct pg_store *pg, boxcar_error *err) {
    if (pg->borrowed)
        return error_set(err, BOXCAR_E_UNSUPPORTED,
                         "the transaction of a borrowed connection is its owner's");
    if (pg->begun)
        return error_set(err, BOXCAR_E_TRANSACTION, "a transaction is open already");
    boxcar_status status = try_begin(pg, err);
    if (status != BOXCAR_OK && !pg_is_connected(pg))
        status = try_begin(pg, err);
    TRY(status);
    pg->begun = true;
    join_log_hold(&pg->base);
    return BOXCAR_OK;
}

/* Whether the connection can take a statement: a handler may have left it in the middle of something. */
static bool is_usable(const struct pg_store *pg) {
    return PQpipelineStatus(pg->conn) == PQ_PIPELINE_OFF && PQtransactionStatus(pg->conn) != PQTRANS_ACTIVE;
}

static void roll_back(struct pg_store *pg) {
    PGTransactionStatusType state = PQtransactionStatus(pg->conn);

    if (!pg->begun)
        return;
    pg->begun = false;
    join_log_release(&pg->base, false);
    if (pg_is_cut(pg))
        pg_disconnect(pg);
    if (!pg_is_connected(pg) || (state == PQTRANS_IDLE && is_usable(pg)))
        return;
    if (!is_usable(pg)) {
        pg_disconnect(pg);
        return;
    }
    (void)PQsetnonblocking(pg->conn, 0);
    AUTO_RESULT PGresult *result = pg_run_text(pg, "rollback");
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        pg_disconnect(pg);
}

static boxcar_status check_open(struct pg_store *pg, boxcar_error *err) {
    if (!pg->begun)
        return error_set(err, BOXCAR_E_TRANSACTION, "no transaction is open");
    if (!pg_is_connected(pg))
        return pg_error_from_connection(pg, err);
    if (!is_usable(pg))
        return error_set(err, BOXCAR_E_TRANSACTION, "the connection is busy with an unfinished statement");
    switch (PQtransactionStatus(pg->conn)) {
    case PQTRANS_INTRANS:
        return BOXCAR_OK;
    case PQTRANS_INERROR:
        return error_set(err, BOXCAR_E_TRANSACTION, "the transaction is aborted: a statement in it failed");
    default:
        return error_set(err, BOXCAR_E_TRANSACTION,
                         "the transaction is no longer open: other code has ended it");
    }
}

/* A COMMIT that the server answers with ROLLBACK met an aborted transaction. */
static boxcar_status send_commit(struct pg_store *pg, boxcar_error *err) {
    TRY(check_open(pg, err));
    (void)PQsetnonblocking(pg->conn, 0);
    AUTO_RESULT PGresult *result = pg_run_text(pg, pg->sql[PG_COMMIT]);
    if (pg_is_success(result) && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        return error_set(err, BOXCAR_E_TRANSACTION, "the transaction was aborted");
    if (pg_is_success(result))
        return BOXCAR_OK;
    boxcar_status status = pg_error_from_result(pg, result, err);
    if (err)
        err->outcome_unknown = !pg_is_connected(pg);
    return status;
}

static boxcar_status commit(struct pg_store *pg, boxcar_error *err) {
    boxcar_status status = send_commit(pg, err);

    if (status != BOXCAR_OK)
        roll_back(pg);
    pg->begun = false;
    join_log_release(&pg->base, true); /* nothing is held after a rollback */
    return status;
}

boxcar_status pg_handler_transaction(struct boxcar_store *store, enum transaction_step step,
                                     boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);

    if (step == TRANSACTION_BEGIN)
        return begin(pg, err);
    if (step == TRANSACTION_COMMIT)
        return commit(pg, err);
    roll_back(pg);
    return BOXCAR_OK;
}
