#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PGresult *run(PGconn *conn, const char *format, va_list arguments) {
    char sql[4096];
    int len = vsnprintf(sql, sizeof(sql), format, arguments);
    assert_in_range(len, 0, sizeof(sql) - 1);
    return PQexec(conn, sql);
}

static bool has_worked(const PGresult *result) {
    return PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
}

static PGresult *run_well(PGconn *conn, const char *format, va_list arguments) {
    PGresult *result = run(conn, format, arguments);
    if (!has_worked(result))
        fail_msg("%s: %s", format, PQerrorMessage(conn));
    return result;
}

void pg_exec(PGconn *conn, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PQclear(run_well(conn, format, arguments));
    va_end(arguments);
}

static int64_t number_of(const char *text) {
    if (strcmp(text, "t") == 0 || strcmp(text, "f") == 0)
        return text[0] == 't';
    return strtoll(text, NULL, 10);
}

int64_t pg_number(PGconn *conn, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PGresult *result = run_well(conn, format, arguments);
    va_end(arguments);
    int64_t number = -1;
    if (PQntuples(result) > 0 && !PQgetisnull(result, 0, 0))
        number = number_of(PQgetvalue(result, 0, 0));
    PQclear(result);
    return number;
}

void pg_fails(PGconn *conn, const char *sqlstate, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PGresult *result = run(conn, format, arguments);
    va_end(arguments);
    if (has_worked(result))
        fail_msg("this should have failed: %s", format);
    char actual[6] = "";
    const char *told = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    snprintf(actual, sizeof(actual), "%.*s", (int)strlen(sqlstate), told ? told : "");
    if (strcmp(actual, sqlstate) != 0)
        fail_msg("wanted SQLSTATE %s: %s", sqlstate, PQerrorMessage(conn));
    PQclear(result);
}

enum { AWAIT_TRIES = 1000, AWAIT_STEP_MS = 10 };

void pg_await_blocked(PGconn *watcher, const PGconn *waiting) {
    for (int i = 0; i < AWAIT_TRIES; i++) {
        if (pg_number(watcher, "select count(*) from pg_locks where pid = %d and not granted",
                      PQbackendPID(waiting)) > 0)
            return;
        pause_ms(AWAIT_STEP_MS);
    }
    fail_msg("the statement never waited");
}

void pg_await_blocking(PGconn *watcher, const PGconn *holder) {
    for (int i = 0; i < AWAIT_TRIES; i++) {
        if (pg_number(
                watcher,
                "select count(*) from pg_locks l where not l.granted and %d = any (pg_blocking_pids(l.pid))",
                PQbackendPID(holder)) > 0)
            return;
        pause_ms(AWAIT_STEP_MS);
    }
    fail_msg("nobody ever waited");
}
