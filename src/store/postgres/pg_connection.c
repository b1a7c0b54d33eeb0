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
#include "pg_store.h"
#include "store/join_log.h"

#define TRIES_AFTER_DEADLOCK 20
#define ANSWER_MS_DEFAULT 30000
#define REQUEST_BYTES_MAX ((size_t)1020 << 20)

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

/* Whatever the database's defaults are. A server that waits for a lock looks only now and then whether its client is
 * still there, and not at all by default: a session that we gave up would keep what it has locked, the claimers' turn for
 * one. (Not every server's system can look: then it stays as it is.) */
static void set_up_session(struct pg_store *pg) {
    PQclear(pg_run_text(pg, "set default_transaction_isolation to 'read committed'"));
    if (pg_is_connected(pg))
        PQclear(pg_run_text(pg, "set client_connection_check_interval to '2s'"));
}

/* A connection that cannot answer is none. A pooler answers with a process id of its own making, since the
 * next statement may be another server process's. Then nothing may be left behind in the session. */
static boxcar_status start_session(struct pg_store *pg, boxcar_error *err) {
    AUTO_RESULT PGresult *result = pg_run_text(pg, "select pg_catalog.pg_backend_pid()");
    const char *pid = pg_only_text(result);
    boxcar_status status;

    if (!pid) {
        status = PQresultStatus(result) == PGRES_TUPLES_OK ? pg_malformed(pg, "no process id", err)
                                                           : pg_error_from_result(pg, result, err);
        pg_disconnect(pg);
        return status;
    }
    pg->own_session = atoi(pid) == PQbackendPID(pg->conn);
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
 * cut without a word is found out within seconds. libpq allows connect_timeout for each address, up to the end of the
 * login; looking a name up is the system's and takes as long as that allows. */
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
    boxcar_status status;

    pg->pace = PG_CONNECTING;
    status = connect_once(pg, err);
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
    boxcar_status status = pg_connect(pg, err);

    if (status != BOXCAR_OK || !pg->base.is_down)
        return status;
    if (!pg->base.impatient)
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
        error_set(err, BOXCAR_E_TRANSACTION, "the transaction is not open any more: somebody ended it");
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

/* The protocol has no room for more than a gibibyte in one message. */
static boxcar_status check_size(const struct pg_params *params, boxcar_error *err) {
    size_t total = 0;

    for (int i = 0; i < params->count; i++)
        total += params->values[i].len + params->borrowed[i].len;
    if (total > REQUEST_BYTES_MAX)
        return error_invalid(err, "messages",
                             "the request is larger than PostgreSQL takes (1 GiB): send less at once");
    return BOXCAR_OK;
}

static void point_at_values(const struct pg_params *params, const char **values, int *lengths, int *formats) {
    for (int i = 0; i < params->count; i++) {
        const struct buf *value = &params->values[i];
        boxcar_str text = params->borrowed[i];

        values[i] = params->is_null[i] ? NULL : text.data ? text.data : value->data;
        lengths[i] = (int)(text.data ? text.len : value->len);
        formats[i] = 1;
    }
}

/* Of this session only: a name that a stranger prepared could stand for a stranger's statement. */
static const char *name_of(const struct pg_store *pg, enum pg_statement statement, char name[32]) {
    snprintf(name, 32, "boxcar_%08x_%d", pg->session, (int)statement);
    return name;
}

/* Preparing costs a round trip, so the first use does without; the server works out the types. */
void pg_prepare(struct pg_store *pg, enum pg_statement statement) {
    char name[32];
    PGresult *result;

    if (!pg->keeps_statements || ++pg->uses[statement] != 2)
        return;
    result = PQsendPrepare(pg->conn, name_of(pg, statement, name), pg->sql[statement], 0, NULL) ? pg_receive(pg)
                                                                                                : NULL;
    pg->keeps_statements = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
}

boxcar_status pg_send(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                      boxcar_error *err) {
    const char *values[PG_PARAMS_MAX];
    int lengths[PG_PARAMS_MAX];
    int formats[PG_PARAMS_MAX];
    char name[32];
    int sent;

    if (pg_params_failed(params))
        return error_no_memory(err);
    if (check_size(params, err) != BOXCAR_OK)
        return BOXCAR_E_INVALID;
    point_at_values(params, values, lengths, formats);
    if (pg->keeps_statements && pg->uses[statement] >= 2)
        sent = PQsendQueryPrepared(pg->conn, name_of(pg, statement, name), params->count, values, lengths,
                                   formats, 1);
    else
        sent = PQsendQueryParams(pg->conn, pg->sql[statement], params->count, params->types, values, lengths,
                                 formats, 1);
    return sent ? BOXCAR_OK : pg_error_from_connection(pg, err);
}

static bool is_success(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

boxcar_status pg_query_once(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                            PGresult **ret_result, boxcar_error *err) {
    bool before = pg_talk_begin(pg);
    enum pg_pace pace_before = pg->pace;
    PGresult *result = NULL;
    boxcar_status status;

    if (pg_statement_is_long(statement))
        pg->pace = PG_LONG;
    pg_prepare(pg, statement);
    status = pg_send(pg, statement, params, err);
    if (status == BOXCAR_OK) {
        result = pg_receive(pg);
        status = result && is_success(result) ? pg_check_answer(pg, statement, result, err)
                                              : pg_error_from_result(pg, result, err);
        pg_notice_tell(pg, status);
    }
    pg_talk_end(pg, before);
    pg->pace = pace_before;
    if (status == BOXCAR_OK)
        *ret_result = result;
    else
        PQclear(result);
    return status;
}

static boxcar_status query(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                           bool repeatable, PGresult **ret_result, bool *ret_lost, boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = pg_ready(pg, &why);
    bool lost = false;

    for (int round = 0; status == BOXCAR_OK; round++) {
        status = pg_query_once(pg, statement, params, ret_result, &why);
        if (status == BOXCAR_OK || pg_in_transaction(pg))
            break;
        if (pg_error_is_shutdown(&why) && !pg->borrowed)
            pg_disconnect(pg);
        if (!pg_is_connected(pg) && !lost) {
            lost = true;
            if (repeatable)
                status = pg_reconnect(pg, status, &why);
            if (status != BOXCAR_OK)
                break;
        } else if (pg_error_is_stale_statement(&why) && pg->keeps_statements) {
            pg->keeps_statements = false;
            status = BOXCAR_OK;
        } else if (pg_error_is_transient(&why) && round < TRIES_AFTER_DEADLOCK) {
            pg_pause(round);
            status = BOXCAR_OK;
        } else {
            break;
        }
    }
    *ret_lost = why.outcome_unknown = lost;
    if (status != BOXCAR_OK && err)
        *err = why;
    return status;
}

boxcar_status pg_query(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                       PGresult **ret_result, boxcar_error *err) {
    bool lost;

    return query(pg, statement, params, true, ret_result, &lost, err);
}

boxcar_status pg_query_telling(struct pg_store *pg, enum pg_statement statement,
                               const struct pg_params *params, PGresult **ret_result, bool *ret_repeated,
                               boxcar_error *err) {
    return query(pg, statement, params, true, ret_result, ret_repeated, err);
}

boxcar_status pg_query_unrepeated(struct pg_store *pg, enum pg_statement statement,
                                  const struct pg_params *params, PGresult **ret_result, boxcar_error *err) {
    bool lost;

    return query(pg, statement, params, false, ret_result, &lost, err);
}

static void close_store(struct boxcar_store *store) {
    struct pg_store *pg = pg_store_of(store);

    if (!pg->borrowed)
        PQfinish(pg->conn);
    pg_statements_free(pg);
    join_log_release(store, false);
    PQclear(pg->ended_before);
    arena_release(&pg->halted.arena);
    free(pg->url);
    free(pg->schema);
    free(pg->base.id);
    free(pg);
}

static const struct store_ops OPS = {
    .kind = "postgres",
    .close = close_store,
    .deploy = pg_deploy,
    .process = pg_process,
    .begin = pg_begin,
    .commit = pg_commit,
    .rollback = pg_rollback,
    .heartbeat = pg_heartbeat,
    .farewell = pg_farewell,
    .sleep = pg_sleep,
    .is_drained = pg_is_drained,
    .find = pg_find,
    .page = pg_page,
    .attempts = pg_attempts,
    .stats = pg_stats,
    .dead_page = pg_dead_page,
    .dead_act = pg_dead_act,
    .cancel = pg_cancel,
    .join_start = pg_join_start,
    .join_attach = pg_join_attach,
    .join_report = pg_join_report,
    .join_cancel = pg_join_cancel,
    .join_wait = pg_join_wait,
    .evaluate_waits = pg_evaluate_waits,
    .join_find = pg_join_find,
    .join_page = pg_join_page,
    .join_members = pg_join_members,
    .inbox_look = pg_inbox_look,
    .inbox_accept = pg_inbox_accept,
    .inbox_find = pg_inbox_find,
    .event_append = pg_event_append,
    .event_read = pg_event_read,
    .event_read_all = pg_event_read_all,
    .stream_page = pg_stream_page,
    .stream_resume = pg_stream_resume,
    .stream_skip = pg_stream_skip,
    .stream_rule_write = pg_stream_rule_write,
    .stream_rule_remove = pg_stream_rule_remove,
    .stream_rules = pg_stream_rules,
    .stream_violations = pg_stream_violations,
    .instances = pg_instances,
    .maintain = pg_maintain,
    .upkeep = pg_upkeep,
    .audit = pg_audit,
    .settings_read = pg_settings_read,
    .setting_write = pg_setting_write,
    .setting_reset = pg_setting_reset,
    .diagnose = pg_diagnose,
};

static boxcar_status store_new(const boxcar_store_options *options, struct pg_store **ret_pg,
                               boxcar_error *err) {
    struct pg_store *pg = calloc(1, sizeof(*pg));

    if (!pg)
        return error_no_memory(err);
    pg->base.ops = &OPS;
    pg->base.log = options->log;
    pg->base.log_context = options->log_context;
    pg->base.log_level = options->log_level;
    pg->patience_ms = options->busy_timeout_ms;
    pg->answer_ms = options->answer_timeout_ms;
    pg->schema = memory_copy_text(options->schema);
    pg->base.id = memory_copy_text(BOXCAR_STR("postgres"));
    if (!pg->schema || !pg->base.id || pg_statements_make(pg, err) != BOXCAR_OK) {
        close_store(&pg->base);
        return error_no_memory(err);
    }
    *ret_pg = pg;
    return BOXCAR_OK;
}

PGconn *boxcar_store_postgres_handle(boxcar_store *store) {
    return store && store->ops == &OPS ? pg_store_of(store)->conn : NULL;
}

boxcar_status store_postgres_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                                  boxcar_error *err) {
    struct pg_store *pg;
    boxcar_status status = store_new(options, &pg, err);

    if (status != BOXCAR_OK)
        return status;
    if (pg->answer_ms == 0)
        pg->answer_ms = ANSWER_MS_DEFAULT;
    pg->url = memory_copy_text(options->url);
    status = pg->url ? pg_check_url(pg->url, err) : error_no_memory(err);
    if (status == BOXCAR_OK)
        status = pg_connect(pg, err);
    if (status == BOXCAR_OK)
        status =
            options->deploy ? pg_deploy(&pg->base, &pg->base.deployment, err) : pg_check_version(pg, err);
    if (status != BOXCAR_OK) {
        close_store(&pg->base);
        return status;
    }
    *ret_store = &pg->base;
    return BOXCAR_OK;
}

/* Texts go both ways as UTF-8. Without an encoding of the client's, the server sends them as the database keeps them. */
static bool speaks_utf8(const PGconn *conn) {
    const char *client = PQparameterStatus(conn, "client_encoding"), *server = PQparameterStatus(conn, "server_encoding");

    if (client && server && strcmp(client, "SQL_ASCII") == 0)
        client = server;
    return !client || strcmp(client, "UTF8") == 0 || strcmp(client, "SQL_ASCII") == 0;
}

boxcar_status boxcar_store_borrow_postgres(PGconn *conn, const boxcar_store_options *options,
                                           boxcar_store **ret_store, boxcar_error *err) {
    boxcar_store_options checked = BOXCAR_STORE_OPTIONS_INIT;
    struct pg_store *pg;
    boxcar_status status;

    if (!conn || PQstatus(conn) != CONNECTION_OK)
        return error_invalid(err, "conn", "conn is not an open connection");
    if (PQpipelineStatus(conn) != PQ_PIPELINE_OFF || PQisnonblocking(conn))
        return error_invalid(err, "conn", "conn is in pipeline or non-blocking mode: leave that first");
    if (!speaks_utf8(conn))
        return error_invalid(err, "conn", "conn has the client_encoding %s: set client_encoding to 'UTF8' first",
                             PQparameterStatus(conn, "client_encoding"));
    if (!ret_store)
        return error_invalid(err, "ret_store", "ret_store is NULL");
    status = store_options_read(options ? options : &checked, &checked, err);
    if (status == BOXCAR_OK)
        status = store_new(&checked, &pg, err);
    if (status != BOXCAR_OK)
        return status;
    pg->conn = conn;
    pg->borrowed = true;
    status = pg_check_version(pg, err);
    if (status != BOXCAR_OK) {
        close_store(&pg->base);
        return status;
    }
    *ret_store = &pg->base;
    return BOXCAR_OK;
}
