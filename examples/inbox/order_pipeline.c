/* inbox_order_pipeline STORE: from a message that comes in to a message that goes out, in one transaction.
 *
 * A shop sends us each order twice. The inbox keeps one of each. The handler changes a row of the program's
 * own table, appends an event to the history of the customer, and enqueues a message for the warehouse. All
 * this and the ack are one transaction, on the store's connection. Every handler fails once after it has done
 * everything, and nothing of that is left.
 *
 *   order_pipeline sqlite:orders.db
 *   order_pipeline postgres:///shop
 */
#include <stdio.h>
#include <stdlib.h>

#include <boxcar.h>
#include <boxcar/postgres.h>
#include <boxcar/sqlite.h>

#define ORDERS 6
#define CUSTOMERS 2

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void must(boxcar_status status, const boxcar_error *err, const char *what) {
    if (status != BOXCAR_OK)
        die(what, err->message);
}

/* ---- the program's own rows, in either database ---- */

static const char CREATE[] =
    "create table if not exists example_sales (what text primary key, orders bigint)";
static const char EMPTY[] = "delete from example_sales";
static const char BEGIN_COUNTING[] = "insert into example_sales values ('all', 0)";
static const char COUNT_ORDER[] = "update example_sales set orders = orders + 1";
static const char READ[] = "select orders from example_sales";

/* Runs a statement on the connection of a store, whichever database it is. */
static bool run_sql(boxcar_store *store, const char *sql, long long *ret_number) {
    sqlite3 *lite = boxcar_store_sqlite_handle(store);

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
    PGresult *result = PQexec(boxcar_store_postgres_handle(store), sql);
    bool ok = PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;

    if (ok && ret_number && PQntuples(result) == 1)
        *ret_number = atoll(PQgetvalue(result, 0, 0));
    PQclear(result);
    return ok;
}

/* ---- receiving ---- */

static void receive(boxcar_store *store, int order) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    char id[32], payload[64], customer[32];

    snprintf(id, sizeof(id), "order-%d", order);
    snprintf(payload, sizeof(payload), "{\"order\": %d}", order);
    snprintf(customer, sizeof(customer), "customer-%d", order % CUSTOMERS);
    message.source = BOXCAR_STR("shop");
    message.external_id = boxcar_str_of(id);
    message.topic = BOXCAR_STR("orders.placed");
    message.payload = boxcar_str_of(payload);
    message.stream = boxcar_str_of(customer); /* the orders of a customer stay in order */
    must(boxcar_enqueue(store, BOXCAR_INBOX, &message, NULL, &err), &err, "receive");
}

/* ---- handling ---- */

static boxcar_status record(boxcar_store *store, const boxcar_message *order, boxcar_error *err) {
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;

    event.type = BOXCAR_STR("order.accepted");
    event.payload = order->payload;
    return boxcar_event_append(store, order->stream, BOXCAR_ANY_VERSION, &event, 1, NULL, err);
}

static boxcar_status send_on(boxcar_store *store, const boxcar_message *order, boxcar_error *err) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

    message.topic = BOXCAR_STR("warehouse.pack");
    message.payload = order->payload;
    message.stream = order->stream;
    return boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, err);
}

static boxcar_verdict on_order(void *context, boxcar_delivery *delivery) {
    const boxcar_message *order = boxcar_delivery_message(delivery);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    (void)context;
    if (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK || /* from here on one transaction */
        record(store, order, &err) != BOXCAR_OK || send_on(store, order, &err) != BOXCAR_OK ||
        !run_sql(store, COUNT_ORDER, NULL)) {
        boxcar_delivery_set_error(delivery, boxcar_str_of(err.message));
        return BOXCAR_VERDICT_RETRY;
    }
    if (order->retry_count == 0) {
        boxcar_delivery_set_error(delivery, BOXCAR_STR("failed after everything was done"));
        boxcar_delivery_set_delay_ms(delivery, 10);
        return BOXCAR_VERDICT_RETRY; /* all of it is rolled back */
    }
    return BOXCAR_VERDICT_ACK; /* the worker acks in the same transaction and commits */
}

static void work(const boxcar_store_options *store) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_handler handler = BOXCAR_HANDLER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker;

    options.store = store;
    options.drain = true;
    must(boxcar_worker_new(&options, &worker, &err), &err, "worker");
    handler.box = BOXCAR_INBOX;
    handler.topic = BOXCAR_STR("orders.placed");
    handler.run = on_order;
    must(boxcar_worker_handle(worker, &handler, &err), &err, "worker");
    must(boxcar_worker_run(worker, &err), &err, "worker");
    boxcar_worker_free(worker);
}

/* ---- the result ---- */

static void report(boxcar_store *store) {
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *messages;
    long long orders = -1;

    if (!run_sql(store, READ, &orders))
        die("read", "cannot read the table example_sales");
    printf("%d deliveries, %lld orders counted\n", 2 * ORDERS, orders);
    for (int i = 0; i < CUSTOMERS; i++) {
        boxcar_event_list *events;
        char customer[32];

        snprintf(customer, sizeof(customer), "customer-%d", i);
        must(boxcar_event_read(store, boxcar_str_of(customer), 1, 100, &events, &err), &err, "events");
        printf("%s:", customer);
        for (size_t k = 0; k < events->count; k++) {
            const boxcar_event *event = events->items[k];
            printf(" %.*s", (int)event->payload.len, event->payload.data);
        }
        printf("\n");
        boxcar_list_free(events);
    }
    options.topic = BOXCAR_STR("warehouse.pack");
    must(boxcar_message_page(store, &options, &messages, &err), &err, "messages");
    printf("messages for the warehouse: %zu\n", messages->count);
    boxcar_list_free(messages);
}

int main(int argc, char **argv) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    options.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    options.deploy = true;
    must(boxcar_store_open(&options, &store, &err), &err, "open");
    if (!run_sql(store, CREATE, NULL) || !run_sql(store, EMPTY, NULL) ||
        !run_sql(store, BEGIN_COUNTING, NULL))
        die("prepare", "cannot make the table example_sales");
    for (int i = 0; i < 2 * ORDERS; i++)
        receive(store, i % ORDERS);
    work(&options);
    report(store);
    boxcar_store_close(store);
    return 0;
}
