/* worker_transactional_handler STORE: effects that happen exactly once.
 *
 * For each paid order the handler books the amount and enqueues the next message, in the transaction
 * in which the worker acks the message. If the handler fails, the worker crashes or the lease is lost,
 * none of it happened, and the message comes again. Here every handler fails once after it has
 * written, and the balance is right all the same.
 *
 *   transactional_handler sqlite:bank.db
 *   transactional_handler postgres:///shop
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>
#include <boxcar/postgres.h>
#include <boxcar/sqlite.h>

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* ---- a table of the application's own, in either database ---- */

static const char CREATE[] =
    "create table if not exists example_balance (account int primary key, cents bigint)";
static const char RESET[] = "delete from example_balance";
static const char OPEN_ACCOUNT[] = "insert into example_balance values (1, 0)";
static const char BOOK[] = "update example_balance set cents = cents + 250 where account = 1";
static const char READ[] = "select cents from example_balance where account = 1";

/* Runs a statement on the connection of a Boxcar store, whichever database it is. */
static int run_sql(boxcar_store *store, const char *sql, long long *ret_number) {
    sqlite3 *lite = boxcar_store_sqlite_handle(store);
    PGconn *pg = boxcar_store_postgres_handle(store);
    int ok;

    if (lite) {
        sqlite3_stmt *statement = NULL;
        int rc = sqlite3_prepare_v2(lite, sql, -1, &statement, NULL);

        if (rc == SQLITE_OK)
            rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW && ret_number)
            *ret_number = sqlite3_column_int64(statement, 0);
        sqlite3_finalize(statement);
        return rc == SQLITE_ROW || rc == SQLITE_DONE;
    }
    PGresult *result = PQexec(pg, sql);
    ok = PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
    if (ok && ret_number && PQntuples(result) == 1)
        *ret_number = atoll(PQgetvalue(result, 0, 0));
    PQclear(result);
    return ok;
}

/* ---- the handler ---- */

static boxcar_verdict on_paid(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    boxcar_new_message next = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    (void)context;
    next.topic = BOXCAR_STR("orders.ship");
    next.payload = message->payload;
    if (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK || /* from here on one transaction */
        boxcar_enqueue(store, BOXCAR_OUTBOX, &next, NULL, &err) != BOXCAR_OK) {
        boxcar_delivery_set_error(delivery, boxcar_str_of(err.message));
        return BOXCAR_VERDICT_RETRY;
    }
    if (!run_sql(store, BOOK, NULL))
        return BOXCAR_VERDICT_RETRY;
    if (message->retry_count == 0) { /* not too late: nothing is committed yet */
        boxcar_delivery_set_error(delivery, BOXCAR_STR("crashed after booking"));
        boxcar_delivery_set_delay_ms(delivery, 10);
        return BOXCAR_VERDICT_RETRY;
    }
    return BOXCAR_VERDICT_ACK; /* the worker acks in the same transaction and commits */
}

/* ---- the program ---- */

static boxcar_store *prepare(const boxcar_store_options *options) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    if (boxcar_store_open(options, &store, &err) != BOXCAR_OK)
        die("open", err.message);
    if (!run_sql(store, CREATE, NULL) || !run_sql(store, RESET, NULL) || !run_sql(store, OPEN_ACCOUNT, NULL))
        die("prepare", "cannot make the table example_balance");
    for (int i = 0; i < 10; i++) {
        boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

        message.topic = BOXCAR_STR("orders.paid");
        message.payload = BOXCAR_STR("{\"cents\": 250}");
        if (boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &err) != BOXCAR_OK)
            die("enqueue", err.message);
    }
    return store;
}

static void report(boxcar_store *store) {
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list;
    long long cents = -1;

    options.topic = BOXCAR_STR("orders.ship");
    if (boxcar_message_page(store, &options, &list, &err) != BOXCAR_OK)
        die("list", err.message);
    if (!run_sql(store, READ, &cents))
        die("read", "cannot read the balance");
    printf("10 orders of 2.50, each handled twice\n");
    printf("balance: %lld.%02lld\n", cents / 100, cents % 100);
    printf("messages for shipping: %zu\n", list->count);
    boxcar_list_free(list);
}

int main(int argc, char **argv) {
    boxcar_store_options store_options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker;
    boxcar_store *store;

    store_options.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    store_options.deploy = true;
    store = prepare(&store_options);

    options.store = &store_options;
    options.drain = true;
    if (boxcar_worker_new(&options, &worker, &err) != BOXCAR_OK ||
        boxcar_worker_on(worker, BOXCAR_STR("orders.paid"), on_paid, NULL, &err) != BOXCAR_OK ||
        boxcar_worker_run(worker, &err) != BOXCAR_OK)
        die("worker", err.message);
    boxcar_worker_free(worker);

    report(store);
    boxcar_store_close(store);
    return 0;
}
