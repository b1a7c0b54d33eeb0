#include "sql.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"

enum {
    CONNECTIONS_MAX = 32,
    TEXTS = 16,
    TEXT_SIZE = 2048,
    QUERY_SIZE = 8192,
    BLOCK_TRIES = 2000,
    BLOCK_STEP_MS = 5
};

static PGconn *connections[CONNECTIONS_MAX];
static size_t connection_count;

bool same(const char *a, const char *b) { return strcmp(a, b) == 0; }

static const char *lend(const char *text) {
    static char texts[TEXTS][TEXT_SIZE];
    static size_t next;
    char *slot = texts[next++ % TEXTS];
    snprintf(slot, TEXT_SIZE, "%s", text);
    return slot;
}

static void ignore_notice(void *context, const char *message) {
    (void)context;
    (void)message;
}

PGconn *sql_connect_to(const char *url, const char *schema) {
    assert_true(connection_count < CONNECTIONS_MAX);
    PGconn *conn = PQconnectdb(url);
    connections[connection_count++] = conn;
    if (PQstatus(conn) != CONNECTION_OK)
        fail_msg("cannot connect: %s", PQerrorMessage(conn));
    PQsetNoticeProcessor(conn, ignore_notice, NULL);
    if (schema)
        sql_run(conn, "set search_path = \"%s\", public", schema);
    return conn;
}

PGconn *sql_connect(struct fixture *f) { return sql_connect_to(f->url, f->schema); }

void sql_close_all(void) {
    while (connection_count > 0)
        PQfinish(connections[--connection_count]);
}

static void format_query(char *query, const char *format, va_list args) {
    int len = vsnprintf(query, QUERY_SIZE, format, args);
    assert_true(len >= 0 && len < QUERY_SIZE);
}

#define FORMAT_QUERY(query, format)                                                                          \
    do {                                                                                                     \
        va_list args_;                                                                                       \
        va_start(args_, format);                                                                             \
        format_query(query, format, args_);                                                                  \
        va_end(args_);                                                                                       \
    } while (0)

static bool succeeded(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static const char *first_field(const PGresult *result) {
    return lend(PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
}

static PGresult *execute(PGconn *conn, const char *query) {
    PGresult *result = PQexec(conn, query);
    if (!succeeded(result))
        fail_msg("%s in: %s", PQerrorMessage(conn), query);
    return result;
}

static const char *ask(PGconn *conn, const char *query) {
    PGresult *result = execute(conn, query);
    const char *text = first_field(result);
    PQclear(result);
    return text;
}

void sql_run(PGconn *conn, const char *format, ...) {
    char query[QUERY_SIZE];
    FORMAT_QUERY(query, format);
    PQclear(execute(conn, query));
}

int64_t sql_number(PGconn *conn, const char *format, ...) {
    char query[QUERY_SIZE];
    FORMAT_QUERY(query, format);
    return strtoll(ask(conn, query), NULL, 10);
}

const char *sql_text(PGconn *conn, const char *format, ...) {
    char query[QUERY_SIZE];
    FORMAT_QUERY(query, format);
    return ask(conn, query);
}

static const char *state_of(const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return succeeded(result) ? "" : lend(state ? state : "08006");
}

const char *sql_state(PGconn *conn, const char *format, ...) {
    char query[QUERY_SIZE];
    FORMAT_QUERY(query, format);
    PGresult *result = PQexec(conn, query);
    const char *state = state_of(result);
    PQclear(result);
    return state;
}

void sql_send(PGconn *conn, const char *format, ...) {
    char query[QUERY_SIZE];
    FORMAT_QUERY(query, format);
    if (!PQsendQuery(conn, query))
        fail_msg("%s in: %s", PQerrorMessage(conn), query);
}

const char *sql_answer(PGconn *conn) {
    char text[TEXT_SIZE] = "";
    for (PGresult *result; (result = PQgetResult(conn)) != NULL; PQclear(result)) {
        if (succeeded(result))
            snprintf(text, sizeof(text), "%s", first_field(result));
        else
            snprintf(text, sizeof(text), "(%s)", state_of(result));
    }
    return lend(text);
}

bool sql_is_answered(PGconn *conn, int within_ms) {
    struct pollfd fd = {.fd = PQsocket(conn), .events = POLLIN};
    for (;;) {
        if (!PQconsumeInput(conn))
            fail_msg("%s", PQerrorMessage(conn));
        if (!PQisBusy(conn))
            return true;
        if (poll(&fd, 1, within_ms) <= 0)
            return false;
    }
}

void sql_wait_blocked(PGconn *observer, PGconn *conn) {
    for (int i = 0; i < BLOCK_TRIES; i++) {
        if (sql_number(observer, "select count(*) from pg_locks where pid = %d and not granted",
                       PQbackendPID(conn)))
            return;
        if (sql_is_answered(conn, 0))
            fail_msg("the statement did not wait: %s", sql_answer(conn));
        pause_ms(BLOCK_STEP_MS);
    }
    fail_msg("the statement neither waits nor ends");
}

void sql_cancel(PGconn *conn) {
    char why[256];
    PGcancel *cancel = PQgetCancel(conn);
    assert_non_null(cancel);
    if (!PQcancel(cancel, why, sizeof(why)))
        fail_msg("%s", why);
    PQfreeCancel(cancel);
    (void)sql_answer(conn);
}

bool sql_has_turn(PGconn *conn) {
    return sql_number(conn, "select count(*) from pg_locks where pid = pg_backend_pid() and granted "
                            "and relation = 'outbox_turn'::regclass") > 0;
}

void sql_enqueue(PGconn *conn, const char *payload) { sql_run(conn, "select enqueue('t', '%s')", payload); }

void sql_enqueue_streamed(PGconn *conn, const char *stream, const char *payload) {
    sql_run(conn, "select enqueue('t', '%s', stream => '%s')", payload, stream);
}

const char *sql_claim(PGconn *conn, int batch_size) {
    return sql_text(conn, CLAIM(WORKER, "'30 s'", "%d"), batch_size);
}

void sql_park(PGconn *conn, const char *payload) {
    sql_enqueue(conn, payload);
    assert_string_equal(sql_claim(conn, 1), payload);
    assert_int_equal(sql_number(conn,
                                "select outbox_abandon(" WORKER
                                ", array[work_id], delay => '0') from message "
                                "where payload = '%s'",
                                payload) > 0,
                     true);
}

int64_t sql_reads(PGconn *conn, const char *relation) {
    return sql_number(conn, "select pg_stat_get_xact_tuples_returned('%s'::regclass)", relation);
}

/* The first of each name is the whole plan's; that of the planner comes behind. */
static int64_t explained(const char *plan, const char *name) {
    const char *at = strstr(plan, name);
    assert_non_null(at);
    return strtoll(at + strlen(name), NULL, 10);
}

int64_t sql_pages(PGconn *conn, const char *format, ...) {
    char query[QUERY_SIZE], statement[QUERY_SIZE + 64];
    FORMAT_QUERY(query, format);
    snprintf(statement, sizeof(statement), "explain (analyze, buffers, format json) %s", query);
    const char *plan = ask(conn, statement);
    return explained(plan, "\"Shared Hit Blocks\": ") + explained(plan, "\"Shared Read Blocks\": ");
}
