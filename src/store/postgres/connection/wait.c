/* The one place that waits for the server.
 *
 * libpq's own calls (PQexec, PQprepare, PQgetResult) wait for ever for a server that took the connection and
 * then says nothing: TCP sees a healthy peer. Here every wait has an end. While a call talks, the connection
 * is in libpq's non-blocking mode, so that sending does not block either; afterwards it is as it was, because
 * its owner or a handler may use it. Each byte that goes through starts the time anew: a large request or
 * answer may take as long as it moves.
 *
 * When the time is over the connection is of no use, because the answer may still come and would be taken for
 * that of the next statement. Its socket is shut down, so that libpq finds it lost. */
#include "wait.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "connection.h"

#define LONG_FACTOR 20
#define LOOK_MS 200 /* how soon a long call sees that its time is over */
#define CONNECT_MS 10000
#define RECONNECT_MS 3000 /* a server that was there is there again soon, or is tried again */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static bool may_be_long(const struct pg_store *pg) {
    return pg->pace == PG_LONG && pg->base.is_over && !atomic_load(pg->base.is_over);
}

static int64_t longest_silence_ms(const struct pg_store *pg) {
    bool hurries = pg->base.impatient && pg->base.call_ms > 0 && !may_be_long(pg);

    if (pg->pace == PG_CONNECTING)
        return least(pg->was_connected ? RECONNECT_MS : CONNECT_MS,
                     hurries ? pg->base.call_ms : pg->answer_ms);
    if (hurries)
        return pg->base.call_ms;
    return pg->pace == PG_LONG ? pg->answer_ms * LONG_FACTOR : pg->answer_ms;
}

int pg_connect_seconds(const struct pg_store *pg) { return (int)((longest_silence_ms(pg) + 999) / 1000); }

static void cut(struct pg_store *pg, int64_t silence_ms) {
    pg->silent_ms = silence_ms;
    (void)shutdown(PQsocket(pg->conn), SHUT_RDWR);
}

bool pg_is_cut(const struct pg_store *pg) { return pg->silent_ms > 0 || pg->malformed; }

/* Until the socket is ready for what is to be done. False = the time is over, and the connection was cut. */
static bool wait_for_socket(struct pg_store *pg, bool unsent, int64_t since_ms) {
    struct pollfd socket = {.fd = PQsocket(pg->conn), .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};

    for (;;) {
        int64_t longest = longest_silence_ms(pg);
        int64_t left = longest > 0 ? since_ms + longest - clock_ms() : INT_MAX;
        int ready;

        if (left <= 0) {
            cut(pg, longest);
            return false;
        }
        if (may_be_long(pg))
            left = least(left, LOOK_MS);
        ready = poll(&socket, 1, left < INT_MAX ? (int)left : INT_MAX);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
}

void pg_await(struct pg_store *pg) {
    int64_t heard_at = clock_ms();

    while (pg_is_connected(pg) && !pg_is_cut(pg)) {
        int unsent = PQflush(pg->conn);

        if (unsent < 0 || (unsent == 0 && !PQisBusy(pg->conn)))
            return;
        if (!wait_for_socket(pg, unsent > 0, heard_at) || !PQconsumeInput(pg->conn))
            return;
        heard_at = clock_ms();
    }
}

/* The library never asks for a copy, and libpq would offer it again and again. */
static bool is_copy(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

PGresult *pg_next_result(struct pg_store *pg) {
    PGresult *result;

    pg_await(pg);
    result = pg->malformed ? NULL : PQgetResult(pg->conn);
    if (!is_copy(result))
        return result;
    PQclear(result);
    pg->malformed = true;
    return NULL;
}

bool pg_talk_begin(struct pg_store *pg) {
    bool was_nonblocking = PQisnonblocking(pg->conn);

    (void)PQsetnonblocking(pg->conn, 1);
    return was_nonblocking;
}

/* While a handler has a transaction open it may hold the connection's pointer: then it is closed later. */
void pg_talk_end(struct pg_store *pg, bool was_nonblocking) {
    if (pg_is_cut(pg) && !pg_is_joined(pg))
        pg_disconnect(pg);
    else
        (void)PQsetnonblocking(pg->conn, was_nonblocking);
}

bool pg_is_success(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

/* An error after a statement's rows is a failed commit: then the statement had no effect. */
PGresult *pg_receive(struct pg_store *pg) {
    PGresult *result = pg_next_result(pg);

    for (PGresult *rest; (rest = pg_next_result(pg)) != NULL;) {
        PGresult *unwanted = pg_is_success(rest) ? rest : result;

        result = pg_is_success(rest) ? result : rest;
        PQclear(unwanted);
    }
    return result;
}

PGresult *pg_run_text(struct pg_store *pg, const char *text) {
    bool before = pg_talk_begin(pg);
    PGresult *result = PQsendQuery(pg->conn, text) ? pg_receive(pg) : NULL;

    pg_talk_end(pg, before);
    return result;
}

/* As a long call that may be hurried, of an ordinary length. */
PGresult *pg_run_text_until(struct pg_store *pg, const char *text, const atomic_bool *is_over) {
    const struct boxcar_store base_before = pg->base;
    enum pg_pace pace_before = pg->pace;
    int64_t answer_ms_before = pg->answer_ms;

    pg->base.impatient = true;
    pg->base.call_ms = 1;
    pg->base.is_over = is_over;
    pg->pace = PG_LONG;
    pg->answer_ms = pg->answer_ms / LONG_FACTOR;
    PGresult *result = pg_run_text(pg, text);
    pg->base.impatient = base_before.impatient;
    pg->base.call_ms = base_before.call_ms;
    pg->base.is_over = base_before.is_over;
    pg->pace = pace_before;
    pg->answer_ms = answer_ms_before;
    return result;
}
