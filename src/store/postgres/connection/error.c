#include "error.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "connection.h"
#include "wait.h"

/* SQLSTATE prefixes and what they mean to a caller; the first match counts. Our own class is BX,
 * raised by the functions in sql/postgres. */
static const struct {
    const char *sqlstate;
    boxcar_status status;
    bool retryable;
    const char *remedy;
} MEANINGS[] = {
    {"BX001", BOXCAR_E_INVALID, false, ""},
    {"BX002", BOXCAR_E_NOT_FOUND, false, ""},
    {"BX003", BOXCAR_E_CONFLICT, false, ""},
    {"BX004", BOXCAR_E_TRANSACTION, false, ": begin it with ISOLATION LEVEL READ COMMITTED"},
    {"BX005", BOXCAR_E_STORE, false, ": run `boxcar init` once"},
    {"3F000", BOXCAR_E_NOT_DEPLOYED, false, ": run `boxcar init`, or open the store with deploy"},
    {"42883", BOXCAR_E_NOT_DEPLOYED, false, ": run `boxcar init`, or open the store with deploy"},
    {"42P01", BOXCAR_E_NOT_DEPLOYED, false, ": run `boxcar init`, or open the store with deploy"},
    {"42501", BOXCAR_E_DENIED, false, ": grant it with the function grant_access"},
    {"25006", BOXCAR_E_READ_ONLY, false, ": connect to the primary server"},
    {"25P02", BOXCAR_E_TRANSACTION, false, ": roll it back"},
    {"53100", BOXCAR_E_FULL, true, ": free some space on the server"},
    {"40001", BOXCAR_E_UNAVAILABLE, true, ""},
    {"40P01", BOXCAR_E_UNAVAILABLE, true, ""},
    {"55P03", BOXCAR_E_UNAVAILABLE, true, ": another session keeps a lock; `boxcar doctor` names it"},
    {"57014", BOXCAR_E_UNAVAILABLE, true, ""},
    {"57P", BOXCAR_E_UNAVAILABLE, true, ""},
    {"53", BOXCAR_E_UNAVAILABLE, true, ""},
    {"08", BOXCAR_E_UNAVAILABLE, true, ""},
    {"22021", BOXCAR_E_INVALID, false, ""},
    {"22P05", BOXCAR_E_INVALID, false, ""},
    {"", BOXCAR_E_STORE, false, ""},
};

static void add_details(struct pg_store *pg, boxcar_error *err, const char *sqlstate, const char *argument) {
    if (!err)
        return;
    snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", sqlstate);
    snprintf(err->argument, sizeof(err->argument), "%s", argument ? argument : "");
    error_tidy(err->sqlstate);
    error_tidy(err->argument);
    err->must_roll_back = pg_is_joined(pg) && PQtransactionStatus(pg->conn) == PQTRANS_INERROR;
}

/* A claimer whose view of the frontier was stale, or two that met at the same microsecond, break
 * on these keys instead of leasing twice: as good as a serialization failure. */
static bool is_stale_claim(const PGresult *result) {
    const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);

    return constraint && (strcmp(constraint, "lease_pkey") == 0 || strcmp(constraint, "frontier_pkey") == 0);
}

static const char *sqlstate_of(const PGresult *result) {
    if (!result)
        return NULL;
    return is_stale_claim(result) ? "40001" : PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/* A name that our own statement uses is missing when the schema is. One that is missing inside a call, where
 * the server tells the context, is no sign of that: the server does not have what a function uses, or a
 * trigger of the user's. */
static bool is_inside_call(const PGresult *result) {
    const char *context = PQresultErrorField(result, PG_DIAG_CONTEXT);

    return context && *context;
}

/* A role without any access is stopped at the schema, whatever it wanted to do. */
static bool is_denied_schema(const char *text) { return text && strstr(text, "denied for schema ") != NULL; }

boxcar_status pg_error_from_result(struct pg_store *pg, const PGresult *result, boxcar_error *err) {
    const char *sqlstate = sqlstate_of(result);
    const char *text = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const char *access = NULL;
    bool for_workers = false;
    boxcar_status status;
    size_t i = 0;

    if (!sqlstate)
        return pg_error_from_connection(pg, err);
    while (strncmp(sqlstate, MEANINGS[i].sqlstate, strlen(MEANINGS[i].sqlstate)) != 0)
        i++;
    if (MEANINGS[i].status == BOXCAR_E_DENIED && text)
        access = pg_access_needed(text, &for_workers);
    if (access)
        status = error_set(
            err, BOXCAR_E_DENIED,
            "%s: this needs %s access; as the owner: select \"%s\".grant_access('%s', '%s');%s", text, access,
            pg->schema, PQuser(pg->conn), access,
            for_workers && strcmp(access, "viewer") == 0 ? " (with 'worker' it can run workers, too)" : "");
    else if (MEANINGS[i].status == BOXCAR_E_DENIED && is_denied_schema(text))
        status = error_set(
            err, BOXCAR_E_DENIED,
            "%s: this role has no access; as the owner: select \"%s\".grant_access('%s', LEVEL); LEVEL is "
            "'producer' to enqueue, 'worker' to claim as well, 'viewer' to look, or 'admin'",
            text, pg->schema, PQuser(pg->conn));
    else if (MEANINGS[i].status == BOXCAR_E_NOT_DEPLOYED && is_inside_call(result))
        status =
            error_set(err, BOXCAR_E_STORE,
                      "%s, but a function or a trigger of schema \"%s\" uses it: create it, or look whether "
                      "this version of the server is supported",
                      text ? text : "something does not exist", pg->schema);
    else if (MEANINGS[i].status == BOXCAR_E_NOT_DEPLOYED)
        status = error_set(err, BOXCAR_E_NOT_DEPLOYED, "schema \"%s\" is not deployed in this database%s",
                           pg->schema, MEANINGS[i].remedy);
    else
        status = error_set(err, MEANINGS[i].status, "%s%s", text ? text : "the database failed",
                           MEANINGS[i].remedy);
    if (err)
        err->retryable = MEANINGS[i].retryable;
    add_details(pg, err, sqlstate, PQresultErrorField(result, PG_DIAG_COLUMN_NAME));
    return status;
}

/* libpq's texts are multi-line; the first line says what happened. They name host and user but
 * never the password. */
boxcar_status pg_error_from_connection(struct pg_store *pg, boxcar_error *err) {
    const char *text = pg->conn ? PQerrorMessage(pg->conn) : "";
    size_t len = strcspn(text, "\n");
    boxcar_status status;

    if (pg->malformed)
        return error_set(err, BOXCAR_E_STORE, "the server's answer is malformed");
    if (pg_is_cut(pg))
        status = error_set(err, BOXCAR_E_UNAVAILABLE, "the server did not answer within %lld ms",
                           (long long)pg->silent_ms);
    else
        status = error_set(err, BOXCAR_E_UNAVAILABLE, "%.*s", len > 0 ? (int)len : 25,
                           len > 0 ? text : "the connection was closed");
    if (err)
        err->retryable = true;
    return status;
}

bool pg_error_is_lock_timeout(const boxcar_error *err) { return strcmp(err->sqlstate, "55P03") == 0; }

bool pg_error_is_transient(const boxcar_error *err) {
    return strcmp(err->sqlstate, "40001") == 0 || strcmp(err->sqlstate, "40P01") == 0 ||
           pg_error_is_lock_timeout(err);
}

bool pg_error_is_stale_statement(const boxcar_error *err) {
    return strcmp(err->sqlstate, "26000") == 0 || strcmp(err->sqlstate, "0A000") == 0;
}

bool pg_error_is_isolation(const boxcar_error *err) { return strcmp(err->sqlstate, "BX004") == 0; }

bool pg_error_is_shutdown(const boxcar_error *err) {
    return strcmp(err->sqlstate, "57P01") == 0 || strcmp(err->sqlstate, "57P02") == 0 ||
           strcmp(err->sqlstate, "57P03") == 0;
}

bool pg_error_is_foreign(const boxcar_error *err) { return strcmp(err->sqlstate, "BX005") == 0; }
