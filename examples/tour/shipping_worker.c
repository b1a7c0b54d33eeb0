/* shipping_worker STORE: ships what order_service.c has taken, until nothing is left to ship.
 *
 * The handler of orders.paid changes the order's row in the transaction in which the worker acks the
 * message. So an order is shipped exactly once, whatever crashes and however often the message is
 * delivered. Every seventh order fails at its first attempt, after the row was changed. That change is
 * undone.
 *
 * It has no handler for mail.send. `boxcar worker` handles that topic.
 *
 *   shipping_worker sqlite:shop.db
 *   shipping_worker postgres:///shop
 */
#include <stdio.h>
#include <stdlib.h>

#include <boxcar.h>
#include <boxcar/postgres.h>
#include <boxcar/sqlite.h>

static void die(const char *what, const boxcar_error *err) {
    fprintf(stderr, "shipping_worker: %s: %s\n", what, err->message);
    exit(1);
}

/* The text is lent by the message and does not end in a NUL. */
static bool read_order(boxcar_str payload, int *ret_order) {
    char text[64];

    snprintf(text, sizeof(text), "%.*s", (int)payload.len, payload.data);
    return sscanf(text, "{\"order\": %d}", ret_order) == 1;
}

/* On the connection that the handler's transaction is on, whichever database it is. */
static bool ship(boxcar_store *store, int order) {
    sqlite3 *lite = boxcar_store_sqlite_handle(store);
    PGresult *result;
    char sql[128];
    bool done;

    snprintf(sql, sizeof(sql), "update orders set state = 'shipped', shipments = shipments + 1 where id = %d",
             order);
    if (lite)
        return sqlite3_exec(lite, sql, NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(lite) == 1;
    result = PQexec(boxcar_store_postgres_handle(store), sql);
    done = PQresultStatus(result) == PGRES_COMMAND_OK && atoi(PQcmdTuples(result)) == 1;
    PQclear(result);
    return done;
}

static boxcar_verdict retry(boxcar_delivery *delivery, boxcar_str why) {
    boxcar_delivery_set_error(delivery, why);
    boxcar_delivery_set_delay_ms(delivery, 100); /* without this: the backoff, 2 s at first */
    return BOXCAR_VERDICT_RETRY;
}

static boxcar_verdict on_paid(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    int order;

    (void)context;
    if (!read_order(message->payload, &order))
        return BOXCAR_VERDICT_FAIL; /* trying again would not help */
    if (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK)
        return retry(delivery, boxcar_str_of(err.message));
    if (!ship(store, order))
        return retry(delivery, BOXCAR_STR("cannot change the order"));
    if (order % 7 == 0 && message->retry_count == 0)
        return retry(delivery, BOXCAR_STR("the label printer is jammed"));
    return BOXCAR_VERDICT_ACK; /* ack and commit */
}

int main(int argc, char **argv) {
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker;

    store.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    options.store = &store;
    options.drain = true;
    if (boxcar_worker_new(&options, &worker, &err) != BOXCAR_OK)
        die("worker", &err);
    if (boxcar_worker_on(worker, BOXCAR_STR("orders.paid"), on_paid, NULL, &err) != BOXCAR_OK)
        die("handle", &err);
    if (boxcar_worker_run(worker, &err) != BOXCAR_OK)
        die("run", &err);
    boxcar_worker_handler_stats_read(worker, 0, &stats);
    printf("%lld orders shipped, %lld attempts failed and were undone\n", (long long)stats.acked,
           (long long)stats.retried);
    boxcar_worker_free(worker);
    return 0;
}
