#include "loan.h"

#include <string.h>

#include "boxcar/postgres.h"
#include "boxcar/sqlite.h"

static void ignore_notice(void *context, const PGresult *result) {
    (void)context;
    (void)result;
}

static bool connect_handle(struct loan *loan, struct client *client) {
    struct storm *storm = client->storm;
    if (storm->postgres) {
        loan->conn = PQconnectdb(storm->url);
        PQsetNoticeReceiver(loan->conn, ignore_notice, NULL);
        return PQstatus(loan->conn) == CONNECTION_OK;
    }
    if (sqlite3_open_v2(storm->url + strlen("sqlite:"), &loan->db, SQLITE_OPEN_READWRITE, NULL) !=
        SQLITE_OK) {
        complain(client, "sqlite3_open: %s", sqlite3_errmsg(loan->db));
        return false;
    }
    sqlite3_busy_timeout(loan->db, 60000);
    return true;
}

bool loan_open(struct loan *loan, struct client *client) {
    boxcar_store_options options = storm_store_options(client->storm);
    boxcar_error err = BOXCAR_ERROR_INIT;
    *loan = (struct loan){0};
    if (!connect_handle(loan, client)) {
        loan_close(loan);
        pause_ms(50);
        return false;
    }
    boxcar_status status = loan->conn ? boxcar_store_borrow_postgres(loan->conn, &options, &loan->store, &err)
                                      : boxcar_store_borrow_sqlite(loan->db, &options, &loan->store, &err);
    if (accept_status(client, status, &err, "borrow"))
        return true;
    loan_close(loan);
    return false;
}

void loan_close(struct loan *loan) {
    boxcar_store_close(loan->store);
    PQfinish(loan->conn);
    sqlite3_close(loan->db);
    *loan = (struct loan){0};
}

static bool run_postgres(struct loan *loan, struct client *client, const char *sql) {
    PGresult *result = PQexec(loan->conn, sql);
    ExecStatusType status = PQresultStatus(result);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    /* 57P0x: the server says good-bye before the connection breaks */
    bool lost = PQstatus(loan->conn) != CONNECTION_OK || (state && strncmp(state, "57P", 3) == 0);
    if (!done && !lost)
        complain(client, "%s: %s", sql, PQerrorMessage(loan->conn));
    PQclear(result);
    return done;
}

bool loan_run(struct loan *loan, struct client *client, const char *sql) {
    if (loan->conn)
        return run_postgres(loan, client, sql);
    if (sqlite3_exec(loan->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    complain(client, "%s: %s", sql, sqlite3_errmsg(loan->db));
    return false;
}
