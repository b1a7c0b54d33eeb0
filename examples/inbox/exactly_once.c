/* inbox_exactly_once STORE: payments that are delivered again and again, and booked once each.
 *
 * A payment service calls us three times for each payment. There are two ways to book each payment exactly
 * once. Both use a connection of the program, which it lends to Boxcar:
 *
 * - A large payment becomes a message of the inbox. The claimer books it and acks it in one transaction. The
 * first try is "killed" after it has booked: nothing of it is left, and the message comes again.
 * - A small payment is booked at once. In the transaction that books it, accept says whether it is new.
 *
 *   inbox_exactly_once sqlite:bank.db
 *   inbox_exactly_once postgres:///shop
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>
#include <boxcar/postgres.h>
#include <boxcar/sqlite.h>

/* What the two databases have in common: a handle that runs SQL, and a store over it. */
struct bank {
    sqlite3 *db;
    PGconn *conn;
    boxcar_store *store;
};

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void must(boxcar_status status, const boxcar_error *err, const char *what) {
    if (status != BOXCAR_OK)
        die(what, err->message);
}

/* Runs a statement; returns the first number of its first row, or 0. */
static long long run(struct bank *bank, const char *sql) {
    long long number = 0;

    if (bank->db) {
        sqlite3_stmt *statement = NULL;
        int rc = sqlite3_prepare_v2(bank->db, sql, -1, &statement, NULL);

        if (rc == SQLITE_OK)
            rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW)
            number = sqlite3_column_int64(statement, 0);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            die(sql, sqlite3_errmsg(bank->db));
        sqlite3_finalize(statement);
        return number;
    }
    PGresult *result = PQexec(bank->conn, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        die(sql, PQresultErrorMessage(result));
    if (PQntuples(result) > 0)
        number = atoll(PQgetvalue(result, 0, 0));
    PQclear(result);
    return number;
}

/* ---- the payments ---- */

static const struct payment {
    const char *id;
    int cents;
} PAYMENTS[] = {{"pay-1", 120000}, {"pay-2", 250}, {"pay-3", 99900}, {"pay-4", 499}};
enum { PAYMENT_COUNT = sizeof(PAYMENTS) / sizeof(PAYMENTS[0]), LARGE = 10000 };

static void book(struct bank *bank, int cents) {
    char sql[96];

    snprintf(sql, sizeof(sql), "update example_account set cents = cents + %d", cents);
    run(bank, sql);
}

/* ---- small payments: accepted and booked in one transaction ---- */

static void book_at_once(struct bank *bank, const struct payment *payment) {
    boxcar_inbox_key key = {BOXCAR_STR("payments.example"), boxcar_str_of(payment->id)};
    boxcar_error err = BOXCAR_ERROR_INIT;
    bool is_new;

    run(bank, "begin");
    must(boxcar_inbox_accept(bank->store, key, BOXCAR_NO_STR, &is_new, NULL, &err), &err, "accept");
    if (is_new)
        book(bank, payment->cents);
    run(bank, "commit"); /* the mark and the booking, or neither */
    printf("%s: %s\n", payment->id, is_new ? "new, booked at once" : "known already");
}

/* ---- large payments: stored, then claimed and handled ---- */

static void store(struct bank *bank, const struct payment *payment) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_enqueued enqueued;
    char payload[32];

    snprintf(payload, sizeof(payload), "%d", payment->cents);
    message.source = BOXCAR_STR("payments.example");
    message.external_id = boxcar_str_of(payment->id);
    message.topic = BOXCAR_STR("payment.received");
    message.payload = boxcar_str_of(payload);
    must(boxcar_enqueue(bank->store, BOXCAR_INBOX, &message, &enqueued, &err), &err, "enqueue");
    printf("%s: %s\n", payment->id, enqueued.duplicate ? "known already" : "new, stored");
}

/* The effect and the ack in one transaction: both, or neither. */
static void handle(struct bank *bank, const boxcar_claimer *me, const boxcar_message *message, bool dies) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t affected = 0;
    char cents[32];

    settlement.work_id = message->work_id;
    settlement.epoch = message->epoch;
    settlement.delay_ms = 0;
    snprintf(cents, sizeof(cents), "%.*s", (int)message->payload.len, message->payload.data);
    run(bank, "begin");
    book(bank, atoi(cents));
    if (dies) { /* the same as a kill */
        run(bank, "rollback");
        must(boxcar_settle(bank->store, me, BOXCAR_ABANDON, &settlement, 1, NULL, NULL, &err), &err,
             "abandon");
        printf("%.*s: died after booking\n", (int)message->external_id.len, message->external_id.data);
        return;
    }
    must(boxcar_ack(bank->store, me, &settlement, 1, NULL, &affected, &err), &err, "ack");
    run(bank, affected == 1 ? "commit" : "rollback"); /* 0: another owner has it by now */
    printf("%.*s: handled\n", (int)message->external_id.len, message->external_id.data);
}

static void work(struct bank *bank) {
    boxcar_claimer me = BOXCAR_CLAIMER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list;
    size_t count;

    me.box = BOXCAR_INBOX;
    me.owner.uuid = boxcar_uuid_new();
    me.batch_size = 1;
    do {
        must(boxcar_claim(bank->store, &me, &list, &err), &err, "claim"); /* not in the transaction */
        count = list->count;
        if (count > 0) {
            const boxcar_message *message = list->items[0];
            handle(bank, &me, message, message->retry_count == 0);
        }
        boxcar_list_free(list);
    } while (count > 0);
}

/* ---- the program ---- */

static void deploy(const char *url) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *own;

    options.url = boxcar_str_of(url);
    options.deploy = true;
    must(boxcar_store_open(&options, &own, &err), &err, "deploy");
    boxcar_store_close(own);
}

static void open_bank(struct bank *bank, const char *url) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (strncmp(url, "sqlite:", 7) == 0) {
        if (sqlite3_open(url + 7, &bank->db) != SQLITE_OK)
            die(url, sqlite3_errmsg(bank->db));
        must(boxcar_store_borrow_sqlite(bank->db, NULL, &bank->store, &err), &err, "borrow");
        return;
    }
    bank->conn = PQconnectdb(url);
    if (PQstatus(bank->conn) != CONNECTION_OK)
        die("connect", PQerrorMessage(bank->conn));
    must(boxcar_store_borrow_postgres(bank->conn, NULL, &bank->store, &err), &err, "borrow");
}

int main(int argc, char **argv) {
    struct bank bank = {NULL, NULL, NULL};
    const char *url = argc > 1 ? argv[1] : "sqlite:boxcar.db";
    long long cents, expected = 0;

    deploy(url);
    open_bank(&bank, url);
    run(&bank, "create table example_account (cents bigint)");
    run(&bank, "insert into example_account values (0)");
    for (int times = 0; times < 3; times++) {
        for (int i = 0; i < PAYMENT_COUNT; i++) {
            expected += times == 0 ? PAYMENTS[i].cents : 0;
            if (PAYMENTS[i].cents >= LARGE)
                store(&bank, &PAYMENTS[i]);
            else
                book_at_once(&bank, &PAYMENTS[i]);
        }
        if (times == 0)
            work(&bank);
    }
    cents = run(&bank, "select cents from example_account");
    printf("balance: %lld.%02lld, %s\n", cents / 100, cents % 100,
           cents == expected ? "each payment once" : "wrong");
    boxcar_store_close(bank.store);
    sqlite3_close(bank.db);
    PQfinish(bank.conn);
    return cents == expected ? 0 : 1;
}
