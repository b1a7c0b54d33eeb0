/* Connecting, and connecting again after a loss. */
#include "connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "boxcar/postgres.h"
#include "error.h"
#include "query.h"
#include "wait.h"

void pg_pause(int round) {
    unsigned char chance = 0;
    long longest_us = 2000L << (round < 8 ? round : 8);
    long pause_us;

    if (getrandom(&chance, 1, 0) != 1)
        chance = 128;
    pause_us = longest_us / 2 + longest_us / 2 * chance / 256;
    nanosleep(&(struct timespec){.tv_sec = pause_us / 1000000, .tv_nsec = pause_us % 1000000 * 1000}, NULL);
}

bool pg_is_connected(const struct pg_store *pg) {
    return pg->conn && PQstatus(pg->conn) == CONNECTION_OK && !pg_is_cut(pg);
}

bool pg_is_sql_ascii(const PGconn *conn) {
    const char *encoding = conn ? PQparameterStatus(conn, "server_encoding") : NULL;

    return encoding && strcmp(encoding, "SQL_ASCII") == 0;
}

/* PQfinish() sends a farewell, behind what was not sent yet: it must not wait for that. */
void pg_disconnect(struct pg_store *pg) {
    if (PQtransactionStatus(pg->conn) == PQTRANS_ACTIVE)
        (void)shutdown(PQsocket(pg->conn), SHUT_RDWR);
    PQfinish(pg->conn);
    pg->conn = NULL;
}

bool pg_is_joined(const struct pg_store *pg) { return pg->borrowed || pg->begun; }

bool pg_in_transaction(const struct pg_store *pg) {
    return pg->begun || (pg->borrowed && PQtransactionStatus(pg->conn) != PQTRANS_IDLE);
}

/* Whatever the database's defaults are. A server that waits for a lock looks only now and then whether its
 * client is still there, and not at all by default: a session that we gave up would keep what it has locked,
 * the claimers' turn for one. (Not every server's system can look: then it stays as it is.) */
static void set_up_session(struct pg_store *pg) {
    PQclear(pg_run_text(pg, "set default_transaction_isolation to 'read committed'"));
    if (pg_is_connected(pg))
        PQclear(pg_run_text(pg, "set client_connection_check_interval to '2s'"));
}

/* A connection that cannot answer is none. A pooler answers with a process id of its own making, since the
 * next statement may be another server process's. Then nothing may be left behind in the session. */
static boxcar_status start_session(struct pg_store *pg, boxcar_error *err) {
    AUTO_RESULT PGresult *result = pg_run_text(pg, "select pg_catalog.pg_backend_pid()");
    bool answered = PQresultStatus(result) == PGRES_TUPLES_OK;

    if (!answered || PQntuples(result) != 1 || PQnfields(result) != 1 || PQfformat(result, 0) != 0 ||
        PQgetisnull(result, 0, 0)) {
        boxcar_status status =
            answered ? pg_malformed(pg, "no process id", err) : pg_error_from_result(pg, result, err);

        pg_disconnect(pg);
        return status;
    }
    pg->own_session = atoi(PQgetvalue(result, 0, 0)) == PQbackendPID(pg->conn);
    pg->keeps_statements =
        pg->own_session && getrandom(&pg->session, sizeof(pg->session), 0) == sizeof(pg->session);
    if (pg->own_session)
        set_up_session(pg);
    if (!pg_is_connected(pg))
        return pg_error_from_connection(pg, err);
    pg->was_connected = true;
    return BOXCAR_OK;
}

/* The URL goes to libpq as it is; what stands before it are defaults that it may override. A link that is
 * cut without a word is found out within seconds. libpq allows connect_timeout for each address, up to the
 * end of the login; looking a name up is the system's and takes as long as that allows. */
static boxcar_status connect_once(struct pg_store *pg, boxcar_error *err) {
    char timeout[16];
    const char *const keywords[] = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                    "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                                    "dbname",           "client_encoding",  NULL};
    const char *const values[] = {timeout, "5", "2", "3", "5000", "boxcar", pg->url, "UTF8", NULL};

    snprintf(timeout, sizeof(timeout), "%d", pg_connect_seconds(pg));
    pg_disconnect(pg);
    pg->silent_ms = 0;
    pg->malformed = false;
    pg->own_session = pg->keeps_statements = false;
    memset(pg->uses, 0, sizeof(pg->uses));
    memset(&pg->rest, 0, sizeof(pg->rest));
    pg->conn = PQconnectdbParams(keywords, values, 1);
    if (!pg->conn)
        return error_no_memory(err);
    if (PQstatus(pg->conn) != CONNECTION_OK)
        return pg_explain_refusal(pg, keywords, values, err);
    PQsetNoticeReceiver(pg->conn, pg_notice_receive, pg);
    return start_session(pg, err);
}

boxcar_status pg_connect(struct pg_store *pg, boxcar_error *err) {
    enum pg_pace before = pg->pace;

    pg->pace = PG_CONNECTING;
    boxcar_status status = connect_once(pg, err);
    pg->pace = before;
    return status;
}

/* One line when the store goes away and one when it is back, however often it was tried. */
static void note_down(struct pg_store *pg) {
    if (!pg->base.is_down && !pg->base.impatient)
        store_log(&pg->base, BOXCAR_LOG_WARN, "reconnect", NULL, 0, "connection lost, connecting again");
    pg->base.is_down = true;
}

static boxcar_status connect_again(struct pg_store *pg, boxcar_error *err) {
    TRY(pg_connect(pg, err));
    if (pg->base.is_down && !pg->base.impatient)
        store_log(&pg->base, BOXCAR_LOG_INFO, "reconnect", NULL, 0, "connected again");
    pg->base.is_down = false;
    return BOXCAR_OK;
}

static boxcar_status connect_patiently(struct pg_store *pg, boxcar_error *err) {
    int64_t give_up_at = clock_ms() + pg->patience_ms;

    for (int round = 0;; round++) {
        boxcar_status status = connect_again(pg, err);

        if (status != BOXCAR_E_UNAVAILABLE || clock_ms() >= give_up_at)
            return status;
        pg_pause(round + 3);
    }
}

boxcar_status pg_reconnect(struct pg_store *pg, boxcar_status status, boxcar_error *err) {
    if (pg_is_joined(pg))
        return status;
    note_down(pg);
    return pg->base.impatient || pg_is_cut(pg) ? status : connect_patiently(pg, err);
}

boxcar_status pg_ready(struct pg_store *pg, boxcar_error *err) {
    if (pg->begun && PQtransactionStatus(pg->conn) == PQTRANS_IDLE) {
        error_set(err, BOXCAR_E_TRANSACTION, "the transaction is no longer open: other code has ended it");
        if (err)
            err->must_roll_back = true;
        return BOXCAR_E_TRANSACTION;
    }
    pg_hear(pg);
    if (pg_is_connected(pg))
        return BOXCAR_OK;
    if (pg_is_joined(pg))
        return pg_error_from_connection(pg, err);
    note_down(pg);
    return pg->base.impatient ? connect_again(pg, err) : connect_patiently(pg, err);
}
