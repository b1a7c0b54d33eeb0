#include "error.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "connection.h"
#include "wait.h"

/* SQLSTATE prefixes and what they mean to a caller; the first match counts. Our own class is BX,
 * raised by the functions in sql/postgres. */
static const struct meaning {
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

/* A claimer whose view of the frontier was stale, or two that met at the same microsecond, break
 * on these keys instead of leasing twice: as good as a serialization failure. */
static const char *sqlstate_of(const PGresult *result) {
    const char *constraint = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);

    if (constraint && (strcmp(constraint, "lease_pkey") == 0 || strcmp(constraint, "frontier_pkey") == 0))
        return "40001";
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/* A name that our own statement uses is missing when the schema is. One that is missing inside a call, where
 * the server tells the context, is no sign of that: the server does not have what a function uses, or a
 * trigger of the user's. */
static bool is_inside_call(const PGresult *result) {
    const char *context = PQresultErrorField(result, PG_DIAG_CONTEXT);

    return context && *context;
}

static boxcar_status describe_denied(const struct pg_store *pg, const struct meaning *meaning,
                                     const char *text, boxcar_error *err) {
    bool for_workers = false;
    const char *access = pg_access_needed(text, &for_workers);

    if (access)
        return error_set(
            err, BOXCAR_E_DENIED,
            "%s: this needs %s access; as the owner: select \"%s\".grant_access('%s', '%s');%s", text, access,
            pg->schema, PQuser(pg->conn), access,
            for_workers && strcmp(access, "viewer") == 0 ? " (with 'worker' it can run workers, too)" : "");
    /* A role without any access is stopped at the schema, whatever it wanted to do. */
    if (strstr(text, "denied for schema "))
        return error_set(
            err, BOXCAR_E_DENIED,
            "%s: this role has no access; as the owner: select \"%s\".grant_access('%s', LEVEL); LEVEL is "
            "'producer' to enqueue, 'worker' to claim as well, 'viewer' to look, or 'admin'",
            text, pg->schema, PQuser(pg->conn));
    return error_set(err, BOXCAR_E_DENIED, "%s%s", text, meaning->remedy);
}

static boxcar_status describe(const struct pg_store *pg, const struct meaning *meaning,
                              const PGresult *result, boxcar_error *err) {
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    if (meaning->status == BOXCAR_E_DENIED && text)
        return describe_denied(pg, meaning, text, err);
    if (meaning->status == BOXCAR_E_NOT_DEPLOYED && is_inside_call(result))
        return error_set(
            err, BOXCAR_E_STORE,
            "%s, but a function or a trigger of schema \"%s\" uses it: create it, or look whether "
            "this version of the server is supported",
            text ? text : "something does not exist", pg->schema);
    if (meaning->status == BOXCAR_E_NOT_DEPLOYED)
        return error_set(err, BOXCAR_E_NOT_DEPLOYED, "schema \"%s\" is not deployed in this database%s",
                         pg->schema, meaning->remedy);
    return error_set(err, meaning->status, "%s%s", text ? text : "the database failed", meaning->remedy);
}

boxcar_status pg_error_from_result(struct pg_store *pg, const PGresult *result, boxcar_error *err) {
    const char *sqlstate = result ? sqlstate_of(result) : NULL;
    const struct meaning *meaning = MEANINGS;

    if (!sqlstate)
        return pg_error_from_connection(pg, err);
    while (strncmp(sqlstate, meaning->sqlstate, strlen(meaning->sqlstate)) != 0)
        meaning++;
    boxcar_status status = describe(pg, meaning, result, err);
    if (err) {
        const char *argument = PQresultErrorField(result, PG_DIAG_COLUMN_NAME);

        err->retryable = meaning->retryable;
        snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", sqlstate);
        snprintf(err->argument, sizeof(err->argument), "%s", argument ? argument : "");
        error_tidy(err->sqlstate);
        error_tidy(err->argument);
        err->must_roll_back = pg_is_joined(pg) && PQtransactionStatus(pg->conn) == PQTRANS_INERROR;
    }
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

boxcar_status pg_error_pass(boxcar_status status, const boxcar_error *why, boxcar_error *err) {
    if (status != BOXCAR_OK && err)
        *err = *why;
    return status;
}

bool pg_error_is(const boxcar_error *err, const char *sqlstates) {
    return strlen(err->sqlstate) == 5 && strstr(sqlstates, err->sqlstate);
}
