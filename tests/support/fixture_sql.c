/* The way around the store: plain connections for set-ups, counts and borrowed handles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

sqlite3 *fixture_open_sqlite(struct fixture *f) {
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(f->url + strlen("sqlite:"), &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        fail_msg("cannot open %s: %s", f->url, sqlite3_errmsg(db));
    sqlite3_busy_timeout(db, 30000);
    return db;
}

static PGconn *connect_to(const char *url) {
    PGconn *conn = PQconnectdb(url);
    if (PQstatus(conn) != CONNECTION_OK)
        fail_msg("cannot connect: %s", PQerrorMessage(conn));
    return conn;
}

static void ignore_notice(void *context, const char *message) {
    (void)context;
    (void)message;
}

PGconn *fixture_connect(struct fixture *f) {
    PGconn *conn = connect_to(getenv("BOXCAR_TEST_POSTGRES"));
    PQsetNoticeProcessor(conn, ignore_notice, NULL);
    char path[128];
    snprintf(path, sizeof(path), "set search_path = \"%s\", public", f->schema);
    PQclear(PQexec(conn, path));
    return conn;
}

PGconn *fixture_connect_kind(struct fixture *f) { return connect_to(f->url); }

static int64_t run_sqlite(struct fixture *f, const char *text) {
    sqlite3 *db = fixture_open_sqlite(f);
    const char *rest = text;
    int64_t number = 0;
    while (*rest != '\0') {
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v2(db, rest, -1, &stmt, &rest) != SQLITE_OK)
            fail_msg("%s: %s", sqlite3_errmsg(db), text);
        int rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW)
            number = sqlite3_column_int64(stmt, 0);
        while (rc == SQLITE_ROW)
            rc = sqlite3_step(stmt);
        if (stmt && rc != SQLITE_DONE)
            fail_msg("%s: %s", sqlite3_errmsg(db), text);
        sqlite3_finalize(stmt);
    }
    sqlite3_close(db);
    return number;
}

static int64_t run_postgres(struct fixture *f, const char *text) {
    PGconn *conn = fixture_connect(f);
    PGresult *result = PQexec(conn, text);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", PQerrorMessage(conn), text);
    int64_t number = PQntuples(result) > 0 ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    PQfinish(conn);
    return number;
}

int64_t fixture_sql_number(struct fixture *f, const char *sqlite_text, const char *postgres_text) {
    const char *text = fixture_is_sqlite(f) ? sqlite_text : postgres_text;
    if (!text)
        return 0;
    return fixture_is_sqlite(f) ? run_sqlite(f, text) : run_postgres(f, text);
}

void fixture_sql(struct fixture *f, const char *sqlite_text, const char *postgres_text) {
    (void)fixture_sql_number(f, sqlite_text, postgres_text);
}
