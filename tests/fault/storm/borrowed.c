#include "borrowed.h"

#include <string.h>

#include "boxcar/postgres.h"
#include "boxcar/sqlite.h"

static void ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

static bool connect_handle(struct borrowed *borrowed, struct client *client) {
    struct storm *storm = client->storm;
    if (storm->postgres) {
        borrowed->conn = PQconnectdb(storm->url);
        PQsetNoticeReceiver(borrowed->conn, ignore_notice, NULL);
        return PQstatus(borrowed->conn) == CONNECTION_OK;
    }
    if (sqlite3_open_v2(storm->url + strlen("sqlite:"), &borrowed->db, SQLITE_OPEN_READWRITE, NULL) !=
        SQLITE_OK) {
        complain(client, "sqlite3_open: %s", sqlite3_errmsg(borrowed->db));
        return false;
    }
    sqlite3_busy_timeout(borrowed->db, 60000);
    return true;
}

bool borrowed_open(struct borrowed *borrowed, struct client *client) {
    boxcar_store_options options = storm_store_options(client->storm);
    boxcar_error err = BOXCAR_ERROR_INIT;
    *borrowed = (struct borrowed){0};
    if (!connect_handle(borrowed, client)) {
        borrowed_close(borrowed);
        pause_ms(50);
        return false;
    }
    boxcar_status status =
        borrowed->conn ? boxcar_store_borrow_postgres(borrowed->conn, &options, &borrowed->store, &err)
                       : boxcar_store_borrow_sqlite(borrowed->db, &options, &borrowed->store, &err);
    if (accept_status(client, status, &err, "borrow"))
        return true;
    borrowed_close(borrowed);
    return false;
}

void borrowed_close(struct borrowed *borrowed) {
    boxcar_store_close(borrowed->store);
    PQfinish(borrowed->conn);
    sqlite3_close(borrowed->db);
    *borrowed = (struct borrowed){0};
}

static bool run_postgres(struct borrowed *borrowed, struct client *client, const char *sql) {
    PGresult *result = PQexec(borrowed->conn, sql);
    ExecStatusType status = PQresultStatus(result);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    /* 57P0x: the server says good-bye before the connection breaks */
    bool lost = PQstatus(borrowed->conn) != CONNECTION_OK || (state && strncmp(state, "57P", 3) == 0);
    if (!done && !lost)
        complain(client, "%s: %s", sql, PQerrorMessage(borrowed->conn));
    PQclear(result);
    return done;
}

bool borrowed_run(struct borrowed *borrowed, struct client *client, const char *sql) {
    if (borrowed->conn)
        return run_postgres(borrowed, client, sql);
    if (sqlite3_exec(borrowed->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    complain(client, "%s: %s", sql, sqlite3_errmsg(borrowed->db));
    return false;
}
