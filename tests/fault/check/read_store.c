/* Reading the store: every message through the API, the history and counts by plain SQL. */
#include <err.h>
#include <ftw.h>
#include <libpq-fe.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxcar/inspect.h"
#include "ledger.h"

#define PAGE 10000
/* PostgreSQL looks up the evidence of every done message by itself, which takes long where acks were
 * scattered; what is older than this many pages is read in one go by SQL. */
#define POSTGRES_PAGES 3

static void *grow(void *rows, size_t count, size_t size) {
    if (count % PAGE != 0)
        return rows;
    rows = realloc(rows, (count + PAGE) * size);
    if (!rows)
        err(99, "ledger");
    return rows;
}

static void add_end_state(struct ledger *ledger, const boxcar_message *message) {
    int stream = 0;
    if (message->stream.data)
        sscanf(message->stream.data, "stream-%d", &stream);
    ledger->end_states = grow(ledger->end_states, ledger->end_state_count, sizeof(*ledger->end_states));
    ledger->end_states[ledger->end_state_count++] = (struct end_state){.work_id = message->work_id.value,
                                                                       .message_id = message->message_id,
                                                                       .status = message->status,
                                                                       .reason = message->reason,
                                                                       .retry_count = message->retry_count,
                                                                       .crash_count = message->crash_count,
                                                                       .max_attempts = message->max_attempts,
                                                                       .stream = stream};
}

static int compare_end_states(const void *left, const void *right) {
    const struct end_state *a = left, *b = right;
    return (a->work_id > b->work_id) - (a->work_id < b->work_id);
}

/* The newest messages, through the API; returns the oldest work id it came to, or 0 at the end. */
static int64_t read_pages(struct ledger *ledger, int pages) {
    boxcar_store_options store_options = storm_store_options(ledger->storm);
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    size_t got = 1;
    if (boxcar_store_open(&store_options, &store, &error) != BOXCAR_OK)
        errx(99, "open: %s", error.message);
    options.limit = PAGE;
    for (int page = 0; got > 0 && page < pages; page++) {
        boxcar_message_list *list;
        if (boxcar_message_page(store, &options, &list, &error) != BOXCAR_OK)
            errx(99, "page: %s", error.message);
        got = list->count;
        for (size_t i = 0; i < got; i++)
            add_end_state(ledger, list->items[i]);
        if (got > 0)
            options.after = list->items[got - 1]->work_id;
        boxcar_list_free(list);
    }
    boxcar_store_close(store);
    return got > 0 ? options.after.value : 0;
}

static sqlite3 *open_sqlite(const struct ledger *ledger) {
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(ledger->storm->url + strlen("sqlite:"), &db, SQLITE_OPEN_READWRITE, NULL) !=
        SQLITE_OK)
        errx(99, "%s: %s", ledger->storm->url, sqlite3_errmsg(db));
    sqlite3_busy_timeout(db, 30000);
    return db;
}

static void ignore_notice(void *context, const char *message) {
    (void)context;
    (void)message;
}

static PGresult *ask_postgres(const struct ledger *ledger, const char *text) {
    char path[128];
    PGconn *conn = PQconnectdb(ledger->storm->url);
    if (PQstatus(conn) != CONNECTION_OK)
        errx(99, "connect: %s", PQerrorMessage(conn));
    PQsetNoticeProcessor(conn, ignore_notice, NULL);
    snprintf(path, sizeof(path), "set search_path = \"%s\"", ledger->storm->schema);
    PQclear(PQexec(conn, path));
    PGresult *result = PQexec(conn, text);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        errx(99, "%s: %s", text, PQerrorMessage(conn));
    PQfinish(conn);
    return result;
}

/* The rest, older than `after`, for PostgreSQL. What is in no table that says its end shows as ready. */
static void read_older(struct ledger *ledger, int64_t after) {
    char text[1024];
    snprintf(text, sizeof(text),
             "with done as (select generate_series(f.first_id, f.last_id) as work_id from finished f)"
             " select m.work_id, m.message_id, case when d.work_id is not null then 3"
             " when f.work_id is not null then 2 else 0 end, coalesce(d.reason, 0),"
             " coalesce(d.retry_count, _attempts_spent(m.work_id, false)), coalesce(d.crash_count, 0),"
             " coalesce(m.max_attempts, 0), coalesce(substr(m.stream, 8), '0')"
             " from message m left join dead d using (work_id) left join done f using (work_id)"
             " where m.work_id < %lld",
             (long long)after);
    PGresult *result = ask_postgres(ledger, text);
    for (int i = 0; i < PQntuples(result); i++) {
        ledger->end_states = grow(ledger->end_states, ledger->end_state_count, sizeof(*ledger->end_states));
        struct end_state *end_state = &ledger->end_states[ledger->end_state_count++];
        *end_state = (struct end_state){.work_id = strtoll(PQgetvalue(result, i, 0), NULL, 10),
                                        .status = (boxcar_message_status)atoi(PQgetvalue(result, i, 2)),
                                        .reason = (boxcar_reason)atoi(PQgetvalue(result, i, 3)),
                                        .retry_count = atoi(PQgetvalue(result, i, 4)),
                                        .crash_count = atoi(PQgetvalue(result, i, 5)),
                                        .max_attempts = atoi(PQgetvalue(result, i, 6)),
                                        .stream = atoi(PQgetvalue(result, i, 7))};
        if (!boxcar_uuid_parse(boxcar_str_of(PQgetvalue(result, i, 1)), &end_state->message_id.uuid))
            errx(99, "%s is no message id", PQgetvalue(result, i, 1));
    }
    PQclear(result);
}

static void read_fates(struct ledger *ledger) {
    int64_t after = read_pages(ledger, ledger->storm->postgres ? POSTGRES_PAGES : INT_MAX);
    if (after > 0)
        read_older(ledger, after);
    if (ledger->end_state_count > 0)
        qsort(ledger->end_states, ledger->end_state_count, sizeof(*ledger->end_states), compare_end_states);
}

static struct bad_end *add_bad_end(struct ledger *ledger) {
    ledger->bad_ends = grow(ledger->bad_ends, ledger->bad_end_count, sizeof(*ledger->bad_ends));
    struct bad_end *bad_end = &ledger->bad_ends[ledger->bad_end_count++];
    memset(bad_end, 0, sizeof(*bad_end));
    return bad_end;
}

static void read_pasts_sqlite(struct ledger *ledger) {
    static const char TEXT[] = "select work_id, attempt_id, coalesce(epoch, 0), retry_count, outcome, owner"
                               " from boxcar_attempt order by work_id, attempt_id";
    sqlite3 *db = open_sqlite(ledger);
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db, TEXT, -1, &stmt, NULL) != SQLITE_OK)
        errx(99, "history: %s", sqlite3_errmsg(db));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        struct bad_end *bad_end = add_bad_end(ledger);
        bad_end->work_id = sqlite3_column_int64(stmt, 0);
        bad_end->order = sqlite3_column_int64(stmt, 1);
        bad_end->epoch = sqlite3_column_int64(stmt, 2);
        bad_end->retry_count = sqlite3_column_int(stmt, 3);
        snprintf(bad_end->outcome, sizeof(bad_end->outcome), "%s",
                 (const char *)sqlite3_column_text(stmt, 4));
        if (sqlite3_column_bytes(stmt, 5) == (int)sizeof(bad_end->owner))
            memcpy(bad_end->owner, sqlite3_column_blob(stmt, 5), sizeof(bad_end->owner));
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static void read_pasts_postgres(struct ledger *ledger) {
    PGresult *result = ask_postgres(ledger, "select work_id, (extract(epoch from at) * 1000000)::bigint, "
                                            "coalesce(epoch, 0), retry_count, outcome, owner"
                                            " from attempt order by work_id, at");
    for (int i = 0; i < PQntuples(result); i++) {
        struct bad_end *bad_end = add_bad_end(ledger);
        boxcar_owner owner = {0};
        bad_end->work_id = strtoll(PQgetvalue(result, i, 0), NULL, 10);
        bad_end->order = strtoll(PQgetvalue(result, i, 1), NULL, 10);
        bad_end->epoch = strtoll(PQgetvalue(result, i, 2), NULL, 10);
        bad_end->retry_count = atoi(PQgetvalue(result, i, 3));
        snprintf(bad_end->outcome, sizeof(bad_end->outcome), "%s", PQgetvalue(result, i, 4));
        if (boxcar_uuid_parse(boxcar_str_of(PQgetvalue(result, i, 5)), &owner.uuid))
            memcpy(bad_end->owner, owner.uuid.bytes, sizeof(bad_end->owner));
    }
    PQclear(result);
}

void ledger_read_store(struct ledger *ledger) {
    read_fates(ledger);
    if (ledger->storm->postgres)
        read_pasts_postgres(ledger);
    else
        read_pasts_sqlite(ledger);
}

static int64_t number_from_sqlite(const struct ledger *ledger, const char *text) {
    sqlite3 *db = open_sqlite(ledger);
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db, text, -1, &stmt, NULL) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
        errx(99, "%s: %s", text, sqlite3_errmsg(db));
    int64_t number = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return number;
}

int64_t ledger_sql_number(const struct ledger *ledger, const char *sqlite_text, const char *postgres_text) {
    const char *text = ledger->storm->postgres ? postgres_text : sqlite_text;
    if (!text)
        return 0;
    if (!ledger->storm->postgres)
        return number_from_sqlite(ledger, text);
    PGresult *result = ask_postgres(ledger, text);
    int64_t number = PQntuples(result) > 0 ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    return number;
}

static void each_of_sqlite(const struct ledger *ledger, const char *text, row_fn row, void *context) {
    sqlite3 *db = open_sqlite(ledger);
    sqlite3_stmt *stmt;
    const char *values[ROW_COLUMNS_MAX];
    int rc;
    if (sqlite3_prepare_v2(db, text, -1, &stmt, NULL) != SQLITE_OK)
        errx(99, "%s: %s", text, sqlite3_errmsg(db));
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt) && i < ROW_COLUMNS_MAX; i++) {
            values[i] = (const char *)sqlite3_column_text(stmt, i);
            values[i] = values[i] ? values[i] : "";
        }
        row(context, values);
    }
    if (rc != SQLITE_DONE)
        errx(99, "%s: %s", text, sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static void each_of_postgres(const struct ledger *ledger, const char *text, row_fn row, void *context) {
    PGresult *result = ask_postgres(ledger, text);
    const char *values[ROW_COLUMNS_MAX];
    for (int i = 0; i < PQntuples(result); i++) {
        for (int j = 0; j < PQnfields(result) && j < ROW_COLUMNS_MAX; j++)
            values[j] = PQgetvalue(result, i, j);
        row(context, values);
    }
    PQclear(result);
}

void ledger_sql_each(const struct ledger *ledger, const char *sqlite_text, const char *postgres_text,
                     row_fn row, void *context) {
    if (ledger->storm->postgres)
        each_of_postgres(ledger, postgres_text, row, context);
    else
        each_of_sqlite(ledger, sqlite_text, row, context);
}

static int remove_entry(const char *path, const struct stat *what, int kind, struct FTW *where) {
    (void)what;
    (void)kind;
    (void)where;
    return remove(path);
}

void storm_remove(struct storm *storm) {
    if (storm->postgres) {
        struct ledger ledger = {.storm = storm};
        char drop[128];
        snprintf(drop, sizeof(drop), "drop schema if exists \"%s\" cascade", storm->schema);
        PQclear(ask_postgres(&ledger, drop));
    }
    if (nftw(storm->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        warn("%s", storm->directory);
}
