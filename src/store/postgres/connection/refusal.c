/* Why the server refuses a connection. libpq keeps no SQLSTATE of that, but puts it into its message when it
 * is told to, which is possible only in between starting and waiting. So a first connection that fails is
 * tried once more that way, and the code decides, not the text, which may be in any language. If the code
 * does not tell, both reasons are named. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "error.h"

#define LOOK_MS 2000

static bool is_code(const char *text) {
    return strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 && text[5] == ':';
}

/* "... FATAL:  28P01: password authentication failed ..." */
static void read_code(const char *text, char ret_code[6]) {
    for (const char *at = text; (at = strstr(at, ":  ")) != NULL; at++)
        if (is_code(at + 3)) {
            memcpy(ret_code, at + 3, 5);
            ret_code[5] = '\0';
        }
}

static void wait_for(PGconn *conn, PostgresPollingStatusType what, int64_t ms) {
    struct pollfd socket = {.fd = PQsocket(conn), .events = what == PGRES_POLLING_READING ? POLLIN : POLLOUT};

    (void)poll(&socket, 1, (int)ms);
}

/* Empty: it cannot be told. */
static void look_again(const char *const *keywords, const char *const *values, char ret_code[6]) {
    PGconn *conn = PQconnectStartParams(keywords, values, 1);
    PostgresPollingStatusType what = PGRES_POLLING_WRITING;
    int64_t end = clock_ms() + LOOK_MS;

    ret_code[0] = '\0';
    if (conn && PQstatus(conn) != CONNECTION_BAD) {
        (void)PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
        while (what != PGRES_POLLING_OK && what != PGRES_POLLING_FAILED && clock_ms() < end) {
            wait_for(conn, what, end - clock_ms());
            what = PQconnectPoll(conn);
        }
        if (what == PGRES_POLLING_FAILED)
            read_code(PQerrorMessage(conn), ret_code);
    }
    PQfinish(conn);
}

/* A pooler refuses with one code whatever the reason is, and asks for a password itself. */
static bool may_be_for_good(const struct pg_store *pg, const char *code) {
    return strcmp(code, "08P01") == 0 || (code[0] == '\0' && PQconnectionUsedPassword(pg->conn));
}

static void add_other_reason(boxcar_error *err) {
    size_t len = strlen(err->message);

    snprintf(err->message + len, sizeof(err->message) - len,
             "; if that does not pass, check the user, the password and the name of the database");
}

boxcar_status pg_explain_refusal(struct pg_store *pg, const char *const *keywords, const char *const *values,
                                 boxcar_error *err) {
    boxcar_status status = pg_error_from_connection(pg, err);
    bool needs_password = PQconnectionNeedsPassword(pg->conn);
    char code[6] = "";

    if (status != BOXCAR_E_UNAVAILABLE || pg->was_connected)
        return status;
    if (!needs_password)
        look_again(keywords, values, code);
    if (needs_password || strncmp(code, "28", 2) == 0 || strcmp(code, "42501") == 0)
        status = BOXCAR_E_DENIED;
    else if (strcmp(code, "3D000") == 0)
        status = BOXCAR_E_NOT_FOUND;
    else if (err && may_be_for_good(pg, code))
        add_other_reason(err);
    if (err && status != BOXCAR_E_UNAVAILABLE) {
        err->status = status;
        err->retryable = false;
        memcpy(err->sqlstate, code, sizeof(code));
    }
    return status;
}
