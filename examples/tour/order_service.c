/* order_service STORE [report]: takes orders; each is a row and two messages, in one transaction.
 *
 * The service has its own connection and lends it to Boxcar. What it enqueues while a transaction is
 * open belongs to that transaction. Every fifth order is refused at the last moment and rolled back,
 * with its messages. One customer's mail is poisonous: see send-mail.
 *
 *   orders.paid   the order is to be shipped   handled by shipping_worker.c
 *   mail.send     the customer gets a mail     handled by send-mail, run by `boxcar worker`
 *
 * With `report` it takes no orders and reports on those in its table. The script `tour` in this folder
 * runs all three.
 *
 *   order_service sqlite:shop.db
 *   order_service postgres:///shop report
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>
#include <boxcar/postgres.h>
#include <boxcar/sqlite.h>

#define ORDERS 20
#define REFUSED_EVERY 5
#define POISONOUS 13

/* `shipments` would show an order that was shipped twice. */
static const char CREATE_ORDERS[] =
    "create table if not exists orders (id integer primary key, state text not null,"
    " shipments integer not null)";
static const char COUNT_ORDERS[] = "select count(*) from orders";
static const char COUNT_SHIPPED[] = "select count(*) from orders where state = 'shipped'";
static const char COUNT_SHIPPED_AGAIN[] = "select count(*) from orders where shipments > 1";
static const char LAST_ORDER[] = "select coalesce(max(id), 0) from orders";

/* What the two databases have in common: a handle that runs SQL, and a store over it. */
struct shop {
    sqlite3 *db;
    PGconn *conn;
    boxcar_store *store;
};

static void die(const char *what, const char *why) {
    fprintf(stderr, "order_service: %s: %s\n", what, why);
    exit(1);
}

/* ---- SQL on either database ---- */

static long long query_sqlite(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    long long number = 0;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    else if (rc != SQLITE_DONE)
        die(sql, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return number;
}

static long long query_postgres(PGconn *conn, const char *sql) {
    PGresult *result = PQexec(conn, sql);
    long long number = 0;

    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
        number = atoll(PQgetvalue(result, 0, 0));
    else if (PQresultStatus(result) != PGRES_COMMAND_OK)
        die(sql, PQresultErrorMessage(result));
    PQclear(result);
    return number;
}

/* Runs a statement; the first number of its result, or 0. */
static long long run(struct shop *shop, const char *sql) {
    return shop->db ? query_sqlite(shop->db, sql) : query_postgres(shop->conn, sql);
}

/* ---- opening and closing ---- */

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
    sqlite3_busy_timeout(shop->db, 10000);
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

/* ---- orders ---- */

static void enqueue(struct shop *shop, const char *topic, int order, const char *payload) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    char correlation[32];

    snprintf(correlation, sizeof(correlation), "order-%d", order);
    message.topic = boxcar_str_of(topic);
    message.payload = boxcar_str_of(payload);
    message.correlation_id = boxcar_str_of(correlation);
    message.max_attempts = 3;
    if (boxcar_enqueue(shop->store, BOXCAR_OUTBOX, &message, NULL, &err) != BOXCAR_OK)
        die("enqueue", err.message);
}

/* The row and both messages, or none of them. */
static bool place_order(struct shop *shop, int order, const char *customer) {
    bool refused = order % REFUSED_EVERY == 0;
    char sql[128], payload[64], mail[128];

    snprintf(sql, sizeof(sql), "insert into orders values (%d, 'paid', 0)", order);
    snprintf(payload, sizeof(payload), "{\"order\": %d}", order);
    snprintf(mail, sizeof(mail), "{\"to\": \"%s\", \"order\": %d}", customer, order);

    run(shop, "begin");
    run(shop, sql);
    enqueue(shop, "orders.paid", order, payload);
    enqueue(shop, "mail.send", order, mail);
    run(shop, refused ? "rollback" : "commit");
    return !refused;
}

static void place_orders(struct shop *shop) {
    static const char *const CUSTOMERS[] = {"ada", "bob", "eve"};
    int committed = 0, first;

    run(shop, CREATE_ORDERS);
    first = (int)run(shop, LAST_ORDER) + 1;
    for (int i = 0; i < ORDERS; i++) {
        const char *customer = i + 1 == POISONOUS ? "mallory" : CUSTOMERS[i % 3];

        committed += place_order(shop, first + i, customer);
    }
    printf("%d orders placed: %d committed, %d rolled back\n", ORDERS, committed, ORDERS - committed);
}

static void report(struct shop *shop) {
    printf("%lld orders, %lld shipped, %lld of them more than once\n", run(shop, COUNT_ORDERS),
           run(shop, COUNT_SHIPPED), run(shop, COUNT_SHIPPED_AGAIN));
}

int main(int argc, char **argv) {
    struct shop shop = {NULL, NULL, NULL};
    bool reports = argc == 3 && strcmp(argv[2], "report") == 0;

    if (argc < 2 || argc > 3 || (argc == 3 && !reports))
        die("usage", "order_service sqlite:PATH|postgres://... [report]");
    deploy(argv[1]);
    if (strncmp(argv[1], "sqlite:", 7) == 0)
        open_sqlite(&shop, argv[1] + 7);
    else
        open_postgres(&shop, argv[1]);
    if (reports)
        report(&shop);
    else
        place_orders(&shop);
    close_shop(&shop);
    return 0;
}
