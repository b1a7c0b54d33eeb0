/* message_enqueue_in_transaction STORE: an order and the message about it, in one transaction.
 *
 * The program has its own database connection and lends it to Boxcar. While a transaction is open on
 * it, boxcar_enqueue(, BOXCAR_OUTBOX,) is part of that transaction. If the transaction commits, the message
 * is delivered. If not, the message never existed. Here every third order is refused after its message was
 * enqueued, and rolled back.
 *
 *   enqueue_in_transaction sqlite:orders.db
 *   enqueue_in_transaction postgres:///shop
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>
#include <boxcar/postgres.h>
#include <boxcar/sqlite.h>

#define CREATE_ORDERS "create table if not exists orders (id integer primary key, total integer not null)"

/* What the two databases have in common: a handle that runs SQL, and a store over it. */
struct shop {
    sqlite3 *db;
    PGconn *conn;
    boxcar_store *store;
};

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void run(struct shop *shop, const char *sql) {
    if (shop->db) {
        if (sqlite3_exec(shop->db, sql, NULL, NULL, NULL) != SQLITE_OK)
            die(sql, sqlite3_errmsg(shop->db));
        return;
    }
    PGresult *result = PQexec(shop->conn, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        die(sql, PQresultErrorMessage(result));
    PQclear(result);
}

/* Boxcar's tables come from a store that owns its connection: a borrowed one never deploys. */
static void deploy(const char *url) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    options.url = boxcar_str_of(url);
    options.deploy = true;
    if (boxcar_store_open(&options, &store, &err) != BOXCAR_OK)
        die("deploy", err.message);
    boxcar_store_close(store);
}

static void open_sqlite(struct shop *shop, const char *path) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (sqlite3_open(path, &shop->db) != SQLITE_OK)
        die(path, sqlite3_errmsg(shop->db));
    if (boxcar_store_borrow_sqlite(shop->db, NULL, &shop->store, &err) != BOXCAR_OK)
        die("borrow", err.message);
}

static void open_postgres(struct shop *shop, const char *url) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    shop->conn = PQconnectdb(url);
    if (PQstatus(shop->conn) != CONNECTION_OK)
        die("connect", PQerrorMessage(shop->conn));
    if (boxcar_store_borrow_postgres(shop->conn, NULL, &shop->store, &err) != BOXCAR_OK)
        die("borrow", err.message);
}

/* The store first, then the handle it borrowed. */
static void close_shop(struct shop *shop) {
    boxcar_store_close(shop->store);
    sqlite3_close(shop->db);
    PQfinish(shop->conn);
}

static void place_order(struct shop *shop, int id) {
    char sql[128], payload[64];
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_enqueued enqueued;

    snprintf(sql, sizeof(sql), "insert into orders (id, total) values (%d, %d)", id, id * 100);
    snprintf(payload, sizeof(payload), "{\"order\": %d}", id);
    message.topic = BOXCAR_STR("orders.placed");
    message.payload = boxcar_str_of(payload);

    run(shop, "begin");
    run(shop, sql);
    if (boxcar_enqueue(shop->store, BOXCAR_OUTBOX, &message, &enqueued, &err) != BOXCAR_OK)
        die("enqueue", err.message);
    if (id % 3 == 0) {
        run(shop, "rollback");
        printf("order %d: rolled back, and its message with it\n", id);
        return;
    }
    run(shop, "commit");
    printf("order %d: committed with its message\n", id);
}

static void print_messages(struct shop *shop) {
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list;

    if (boxcar_message_page(shop->store, &options, &list, &err) != BOXCAR_OK)
        die("list", err.message);
    printf("%zu messages in the outbox\n", list->count);
    boxcar_list_free(list);
}

int main(int argc, char **argv) {
    struct shop shop = {NULL, NULL, NULL};

    if (argc != 2)
        die("usage", "message_enqueue_in_transaction sqlite:PATH|postgres://...");
    deploy(argv[1]);
    if (strncmp(argv[1], "sqlite:", 7) == 0)
        open_sqlite(&shop, argv[1] + 7);
    else
        open_postgres(&shop, argv[1]);
    run(&shop, CREATE_ORDERS);
    for (int id = 1; id <= 6; id++)
        place_order(&shop, id);
    print_messages(&shop);
    close_shop(&shop);
    return 0;
}
