/* Two tenants, each with a store of its own. A router finds the store that an order belongs in, and one
 * worker handles the orders of both, one tenant after the other.
 *
 *     tenants [URL-OF-THE-FIRST-STORE]            the second one is the file second.db */
#include <stdio.h>
#include <stdlib.h>

#include <boxcar.h>

enum { TENANTS = 2 };

static void check(boxcar_status status, const boxcar_error *err) {
    if (status == BOXCAR_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void enqueue_order(boxcar_router *router, const char *tenant, const char *order) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    message.topic = BOXCAR_STR("orders.paid");
    message.payload = boxcar_str_of(order);
    check(boxcar_router_find(router, boxcar_str_of(tenant), &store, &err), &err);
    check(boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &err), &err);
}

static void enqueue_orders(const boxcar_store_options *store, const boxcar_store_entry *tenants) {
    boxcar_router_options options = BOXCAR_ROUTER_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_router *router;
    boxcar_store *none;

    options.store = store;
    options.stores = tenants;
    options.store_count = TENANTS;
    check(boxcar_router_new(&options, &router, &err), &err);
    enqueue_order(router, "zoo", "20 pounds of fish");
    enqueue_order(router, "acme", "an anvil");
    enqueue_order(router, "zoo", "a bucket");
    enqueue_order(router, "acme", "a rocket");
    if (boxcar_router_find(router, BOXCAR_STR("nobody"), &none, &err) == BOXCAR_E_NOT_FOUND)
        printf("%s\n", err.message);
    boxcar_router_free(router); /* a service keeps it: one per thread */
}

static boxcar_verdict on_order(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);

    (void)context;
    printf("%.*s\n", (int)message->payload.len, message->payload.data);
    return BOXCAR_VERDICT_ACK;
}

static void handle_orders(const boxcar_store_options *store, const boxcar_store_entry *tenants) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_fleet_options fleet = BOXCAR_FLEET_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker;

    fleet.stores = tenants;
    fleet.store_count = TENANTS;
    fleet.selection = BOXCAR_SELECT_DRAIN_FIRST;
    options.store = store; /* all of it but the url is for every store */
    options.fleet = &fleet;
    options.concurrency = 1;
    options.drain = true; /* a service leaves this off and calls boxcar_worker_stop() */
    check(boxcar_worker_new(&options, &worker, &err), &err);
    check(boxcar_worker_on(worker, BOXCAR_STR("orders.*"), on_order, NULL, &err), &err);
    check(boxcar_worker_run(worker, &err), &err);
    boxcar_worker_free(worker);
}

int main(int argc, char **argv) {
    boxcar_store_entry tenants[TENANTS] = {BOXCAR_STORE_ENTRY_INIT, BOXCAR_STORE_ENTRY_INIT};
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;

    tenants[0].key = BOXCAR_STR("acme");
    tenants[0].url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:first.db");
    tenants[1].key = BOXCAR_STR("zoo");
    tenants[1].url = BOXCAR_STR("sqlite:second.db");
    store.deploy = true;
    enqueue_orders(&store, tenants);
    handle_orders(&store, tenants);
    return 0;
}
