/* Opening a store on a connection of its own, or on one that a program lends. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "boxcar/postgres.h"
#include "store/join_log.h"
#include "store/open.h"
#include "store/postgres/admin/admin.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/connection/wait.h"
#include "store/postgres/deploy/deploy.h"
#include "store/postgres/event/event.h"
#include "store/postgres/inbox/inbox.h"
#include "store/postgres/join/join.h"
#include "store/postgres/message/inspect.h"
#include "store/postgres/request/request.h"
#include "store/postgres/schedule/schedule.h"
#include "store/postgres/stream/stream.h"
#include "store/postgres/subscription/subscription.h"

#define ANSWER_MS_DEFAULT 30000

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
    .transaction = pg_handler_transaction,
    .sleep = pg_sleep,
    .is_drained = pg_is_drained,
    .message_read = pg_message_read,
    .work_ids = pg_work_ids,
    .message_change = pg_message_change,
    .attempts = pg_attempts,
    .stats = pg_stats,
    .join_start = pg_join_start,
    .join_attach = pg_join_attach,
    .join_end = pg_join_end,
    .join_wait = pg_join_wait,
    .join_page = pg_join_page,
    .join_members = pg_join_members,
    .inbox_ask = pg_inbox_ask,
    .inbox_find = pg_inbox_find,
    .event_append = pg_event_append,
    .event_read = pg_event_read,
    .stream_page = pg_stream_page,
    .stream_change = pg_stream_change,
    .stream_rule_write = pg_stream_rule_write,
    .stream_rules = pg_stream_rules,
    .subscription_change = pg_subscription_change,
    .subscription_read = pg_subscription_read,
    .schedule_change = pg_schedule_change,
    .schedule_plan = pg_schedule_plan,
    .schedule_read = pg_schedule_read,
    .schedule_slices = pg_schedule_slices,
    .instances = pg_instances,
    .maintain = pg_maintain,
    .diagnose = pg_diagnose,
    .facts = pg_facts,
    .settings_read = pg_settings_read,
    .setting_write = pg_setting_write,
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

/* Whatever has failed, the store is closed. */
static boxcar_status hand_over(struct pg_store *pg, boxcar_status status, struct boxcar_store **ret_store) {
    if (status == BOXCAR_OK)
        *ret_store = &pg->base;
    else
        close_store(&pg->base);
    return status;
}

static boxcar_status connect_first(struct pg_store *pg, const boxcar_store_options *options,
                                   boxcar_error *err) {
    if (pg->answer_ms == 0)
        pg->answer_ms = ANSWER_MS_DEFAULT;
    pg->url = memory_copy_text(options->url);
    if (!pg->url)
        return error_no_memory(err);
    TRY(pg_check_url(pg->url, err));
    TRY(pg_connect(pg, err));
    return options->deploy ? pg_deploy(&pg->base, &pg->base.deployment, err) : pg_check_version(pg, err);
}

boxcar_status store_postgres_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                                  boxcar_error *err) {
    struct pg_store *pg;

    TRY(store_new(options, &pg, err));
    return hand_over(pg, connect_first(pg, options, err), ret_store);
}

boxcar_status store_postgres_identify(boxcar_str url, boxcar_str schema, char **ret_id, boxcar_error *err) {
    AUTO_FREE char *url_text = memory_copy_text(url);
    AUTO_FREE char *schema_text = memory_copy_text(schema);

    if (!url_text || !schema_text)
        return error_no_memory(err);
    TRY(pg_check_url(url_text, err));
    return pg_identify_url(url_text, schema_text, ret_id, err);
}

/* ---- a query that lists something ---- */

static boxcar_status take_rows(const PGresult *result, store_row_fn *take, void *context, boxcar_error *err) {
    boxcar_str columns[8];
    int count = PQnfields(result);

    for (int row = 0; row < PQntuples(result); row++) {
        for (int i = 0; i < count; i++)
            columns[i] = PQgetisnull(result, row, i)
                             ? BOXCAR_NO_STR
                             : (boxcar_str){PQgetvalue(result, row, i), (size_t)PQgetlength(result, row, i)};
        TRY(take(context, columns, count, err));
    }
    return BOXCAR_OK;
}

/* Classes 22 and 42: data and names that the query has wrong. */
static boxcar_status explain_query(struct pg_store *pg, const PGresult *result, boxcar_error *err) {
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    if (sqlstate && text && (strncmp(sqlstate, "42", 2) == 0 || strncmp(sqlstate, "22", 2) == 0))
        return error_invalid(err, "query", "the query cannot be run: %s", text);
    return pg_error_from_result(pg, result, err);
}

static boxcar_status run_query(struct pg_store *pg, boxcar_str url, const char *query, int most_columns,
                               const atomic_bool *is_over, store_row_fn *take, void *context,
                               boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    pg->url = memory_copy_text(url);
    if (!pg->url)
        return error_no_memory(err);
    TRY(pg_check_url(pg->url, err));
    TRY(pg_connect(pg, err));
    result = pg_run_text_until(pg, query, is_over);
    if (PQresultStatus(result) == PGRES_COMMAND_OK)
        return error_invalid(err, "query", "the query brings no rows: give a select");
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return explain_query(pg, result, err);
    if (PQnfields(result) > most_columns || PQnfields(result) > 8)
        return error_invalid(err, "query", "the query has %d columns: give at most %d", PQnfields(result),
                             most_columns);
    return take_rows(result, take, context, err);
}

boxcar_status store_postgres_query(boxcar_str url, boxcar_str query, int most_columns,
                                   const atomic_bool *is_over, store_row_fn *take, void *context,
                                   boxcar_error *err) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    AUTO_FREE char *text = memory_copy_text(query);
    struct pg_store *pg;

    TRY(store_options_read(&options, &options, err));
    options.answer_timeout_ms = ANSWER_MS_DEFAULT;
    TRY(store_new(&options, &pg, err));
    boxcar_status status =
        text ? run_query(pg, url, text, most_columns, is_over, take, context, err) : error_no_memory(err);
    close_store(&pg->base);
    return status;
}

/* Texts go both ways as UTF-8. Without an encoding of the client's, the server sends them as the database
 * keeps them. */
static bool speaks_utf8(const PGconn *conn) {
    const char *client = PQparameterStatus(conn, "client_encoding"),
               *server = PQparameterStatus(conn, "server_encoding");

    if (client && server && strcmp(client, "SQL_ASCII") == 0)
        client = server;
    return !client || strcmp(client, "UTF8") == 0 || strcmp(client, "SQL_ASCII") == 0;
}

boxcar_status boxcar_store_borrow_postgres(PGconn *conn, const boxcar_store_options *options,
                                           boxcar_store **ret_store, boxcar_error *err) {
    boxcar_store_options checked = BOXCAR_STORE_OPTIONS_INIT;
    struct pg_store *pg;

    if (!conn || PQstatus(conn) != CONNECTION_OK)
        return error_invalid(err, "conn", "conn is not an open connection");
    if (PQpipelineStatus(conn) != PQ_PIPELINE_OFF || PQisnonblocking(conn))
        return error_invalid(err, "conn", "conn is in pipeline or non-blocking mode: leave that first");
    if (!speaks_utf8(conn))
        return error_invalid(err, "conn",
                             "conn has the client_encoding %s: set client_encoding to 'UTF8' first",
                             PQparameterStatus(conn, "client_encoding"));
    if (!ret_store)
        return error_invalid(err, "ret_store", "ret_store is NULL");
    TRY(store_options_read(options ? options : &checked, &checked, err));
    TRY(store_new(&checked, &pg, err));
    pg->conn = conn;
    pg->borrowed = true;
    return hand_over(pg, pg_check_version(pg, err), ret_store);
}
