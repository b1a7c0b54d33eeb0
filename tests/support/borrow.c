#include "borrow.h"

#include <stdio.h>

static const char CREATE_EFFECT[] = "create table effect (n int)";

struct borrowed borrow_with(struct fixture *f, const boxcar_store_options *options) {
    struct borrowed b = {0};
    fixture_sql(f, CREATE_EFFECT, CREATE_EFFECT);
    if (fixture_is_sqlite(f)) {
        b.db = fixture_open_sqlite(f);
        ASSERT_OK(f, boxcar_store_borrow_sqlite(b.db, options, &b.store, &f->err));
    } else {
        b.conn = fixture_connect_kind(f);
        ASSERT_OK(f, boxcar_store_borrow_postgres(b.conn, options, &b.store, &f->err));
    }
    return b;
}

struct borrowed borrow(struct fixture *f) {
    boxcar_store_options options = fixture_options(f);
    return borrow_with(f, &options);
}

void borrowed_exec(struct borrowed *b, const char *sql) {
    if (b->db) {
        if (sqlite3_exec(b->db, sql, NULL, NULL, NULL) != SQLITE_OK)
            fail_msg("%s: %s", sql, sqlite3_errmsg(b->db));
        return;
    }
    PGresult *result = PQexec(b->conn, sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(b->conn));
}

bool borrowed_in_transaction(const struct borrowed *b) {
    return b->db ? !sqlite3_get_autocommit(b->db) : PQtransactionStatus(b->conn) == PQTRANS_INTRANS;
}

void borrowed_close(struct borrowed *b) {
    boxcar_store_close(b->store);
    if (b->db)
        assert_int_equal(sqlite3_close(b->db), SQLITE_OK); /* nothing of ours is left in it */
    PQfinish(b->conn);
    *b = (struct borrowed){0};
}

void borrowed_write_effect(struct fixture *f, struct borrowed *b) {
    /* qualified: a pooled connection has no search path of its own */
    char sql[128];
    snprintf(sql, sizeof(sql), "insert into \"%s\".effect values (1)", b->db ? "main" : f->schema);
    borrowed_exec(b, sql);
}

int64_t count_effects(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from effect", "select count(*) from effect");
}

boxcar_enqueued borrowed_enqueue(struct fixture *f, struct borrowed *b, const char *payload) {
    boxcar_new_message message = new_message("t", payload);
    boxcar_enqueued enqueued;
    ASSERT_OK(f, boxcar_enqueue(b->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    return enqueued;
}
