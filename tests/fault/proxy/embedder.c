/* embedder worker|coordinator|batch|borrow: a program with the library in it, for proxy_storm: handlers with
 * transactions, a coordinator with a thread of its own, batches, a borrowed connection. Errors end it with
 * exit status 1. A text that the library hands out and that is no UTF-8, or has a zero byte, aborts it. The
 * store is BOXCAR_STORE and BOXCAR_SCHEMA. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../support/claimers.h"
#include "base/utf8.h"
#include "boxcar.h"
#include "boxcar/postgres.h"

enum { SECONDS = 3, ROUNDS = 5, OWN_CALL_SECONDS = 20 };

static boxcar_store_options OPTIONS;

static int end(boxcar_status status, const boxcar_error *err) {
    if (status == BOXCAR_OK)
        return 0;
    fprintf(stderr, "embedder: %s\n", err->message);
    return 1;
}

/* ---- what is handed out ---- */

static void check_text(boxcar_str text) {
    if (!str_is_absent(text) && (!utf8_is_valid(text) || str_has_nul(text)))
        abort();
}

static void check_message(const boxcar_message *message) {
    check_text(message->topic);
    check_text(message->payload);
    check_text(message->stream);
    check_text(message->correlation_id);
    check_text(message->headers);
    check_text(message->last_error);
    check_text(message->source);
    check_text(message->external_id);
}

static void check_list(const boxcar_message_list *list) {
    for (size_t i = 0; i < list->count; i++)
        check_message(list->items[i]);
}

/* ---- a worker whose handlers write in the transaction of the ack ---- */

static boxcar_verdict on_message(void *context, boxcar_delivery *delivery) {
    boxcar_new_message next = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    (void)context;
    check_message(boxcar_delivery_message(delivery));
    next.topic = BOXCAR_STR("done.by.c");
    next.payload = event.payload = boxcar_delivery_message(delivery)->payload;
    event.type = BOXCAR_STR("handled");
    if (boxcar_delivery_record_stages(delivery, BOXCAR_STAGE_PUBLISHED, &err) != BOXCAR_OK ||
        boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK ||
        boxcar_enqueue(store, BOXCAR_OUTBOX, &next, NULL, &err) != BOXCAR_OK ||
        boxcar_event_append(store, BOXCAR_STR("handled"), BOXCAR_ANY_VERSION, &event, 1, NULL, &err) !=
            BOXCAR_OK)
        return BOXCAR_VERDICT_RETRY;
    return BOXCAR_VERDICT_ACK;
}

static void *stop_later(void *worker) {
    sleep(SECONDS);
    boxcar_worker_stop(worker);
    return NULL;
}

static int run_worker(void) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker = NULL;
    pthread_t stopper;
    options.store = &OPTIONS;
    options.lease_ms = 1000;
    options.concurrency = 3;
    options.grace_ms = 1000;
    boxcar_status status = boxcar_worker_new(&options, &worker, &err);
    if (status == BOXCAR_OK)
        status =
            boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("t.*"), on_message, NULL), &err);
    if (status == BOXCAR_OK)
        status =
            boxcar_worker_handle(worker, HANDLER(BOXCAR_INBOX, BOXCAR_STR("t.*"), on_message, NULL), &err);
    if (status == BOXCAR_OK && pthread_create(&stopper, NULL, stop_later, worker) == 0) {
        status = boxcar_worker_run(worker, &err);
        pthread_join(stopper, NULL);
    }
    boxcar_worker_free(worker);
    return end(status, &err);
}

/* ---- a coordinator ---- */

static boxcar_verdict on_ordered(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_new_message next = BOXCAR_NEW_MESSAGE_INIT;
    check_message(message);
    next.topic = BOXCAR_STR("done.by.c");
    next.payload = message->payload;
    next.stream = message->stream;
    (void)boxcar_delivery_record_stages(delivery, BOXCAR_STAGE_STORED, &err);
    return boxcar_coordinator_enqueue(context, BOXCAR_OUTBOX, &next, 1, NULL, &err) == BOXCAR_OK
               ? BOXCAR_VERDICT_ACK
               : BOXCAR_VERDICT_RETRY;
}

static boxcar_status flush_once(boxcar_coordinator *coordinator, boxcar_error *err) {
    boxcar_flush_options work = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_ordered_results *results = NULL;
    boxcar_flush *flush = NULL;
    claim.lease_ms = 1000;
    claim.batch_size = 10;
    work.claims[BOXCAR_OUTBOX] = work.claims[BOXCAR_INBOX] = &claim;
    boxcar_status status = boxcar_coordinator_flush(coordinator, &work, &flush, err);
    for (int box = 0; status == BOXCAR_OK && box < 2; box++) {
        check_list(flush->claimed[(boxcar_box)box]);
        status =
            boxcar_ordered_run(flush->claimed[(boxcar_box)box], NULL, on_ordered, coordinator, &results, err);
        if (status == BOXCAR_OK)
            status = boxcar_ordered_settle(coordinator, results, NULL, err);
        boxcar_ordered_results_free(results);
        results = NULL;
    }
    boxcar_flush_free(flush);
    return status;
}

static int run_coordinator(void) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_coordinator *coordinator = NULL;
    options.store = &OPTIONS;
    options.strategy = BOXCAR_STRATEGY_SCOPED;
    message.topic = BOXCAR_STR("t.c");
    message.payload = BOXCAR_STR("p");
    message.stream = BOXCAR_STR("s");
    boxcar_status status = boxcar_coordinator_new(&options, &coordinator, &err);
    for (int i = 0; status == BOXCAR_OK && i < ROUNDS; i++) {
        status = boxcar_coordinator_enqueue(coordinator, BOXCAR_OUTBOX, &message, 1, NULL, &err);
        if (status == BOXCAR_OK)
            status = flush_once(coordinator, &err);
    }
    if (status == BOXCAR_OK)
        status = boxcar_coordinator_close(coordinator, &err);
    boxcar_coordinator_free(coordinator);
    return end(status, &err);
}

/* ---- batches ---- */

static boxcar_status process_once(boxcar_store *store, boxcar_owner owner, boxcar_error *err) {
    boxcar_new_message messages[2] = {BOXCAR_NEW_MESSAGE_INIT, BOXCAR_NEW_MESSAGE_INIT};
    boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT, inbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    settlement.work_id.value = 1;
    messages[0].topic = messages[1].topic = BOXCAR_STR("t.c");
    messages[0].payload = messages[1].payload = BOXCAR_STR("p");
    messages[1].key = BOXCAR_STR("k");
    outbox.settle[BOXCAR_ACK] = inbox.settle[BOXCAR_ACK] = outbox.settle[BOXCAR_RENEW] =
        (boxcar_settlement_list){&settlement, 1};
    outbox.claim_size = inbox.claim_size = 10;
    outbox.lease_ms = inbox.lease_ms = 1000;
    batch.owner = owner;
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, 2};
    batch.parts[BOXCAR_OUTBOX] = &outbox;
    batch.parts[BOXCAR_INBOX] = &inbox;
    batch.heartbeat = &heartbeat;
    boxcar_status status = boxcar_process(store, &batch, &result, err);
    if (status == BOXCAR_OK) {
        check_list(result->claimed[BOXCAR_OUTBOX]);
        check_list(result->claimed[BOXCAR_INBOX]);
    }
    boxcar_result_free(result);
    return status;
}

static boxcar_status read_things(boxcar_store *store, boxcar_error *err) {
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    boxcar_event_list *events = NULL;
    boxcar_message_list *list = NULL;
    boxcar_status status = boxcar_message_page(store, &options, &list, err);
    if (status == BOXCAR_OK)
        check_list(list);
    if (status == BOXCAR_OK)
        status = boxcar_event_read_all(store, &filter, &events, err);
    for (size_t i = 0; status == BOXCAR_OK && i < events->count; i++) {
        check_text(events->items[i]->type);
        check_text(events->items[i]->stream);
        check_text(events->items[i]->payload);
    }
    boxcar_list_free(events);
    boxcar_list_free(list);
    return status;
}

static boxcar_status use(boxcar_store *store, boxcar_error *err) {
    boxcar_owner owner = {boxcar_uuid_new()};
    boxcar_status status = BOXCAR_OK;
    for (int i = 0; status == BOXCAR_OK && i < ROUNDS; i++) {
        status = process_once(store, owner, err);
        if (status == BOXCAR_OK)
            status = read_things(store, err);
    }
    return status;
}

static int run_batch(void) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store = NULL;
    boxcar_status status = boxcar_store_open(&OPTIONS, &store, &err);
    if (status == BOXCAR_OK)
        status = use(store, &err);
    boxcar_store_close(store);
    return end(status, &err);
}

/* The program's own calls on its connection. libpq waits for ever when a mangled answer promises more than
 * comes: that is the program's business and not the library's, so the program ends itself. */
static void own_call_begin(void) { (void)alarm(OWN_CALL_SECONDS); }
static void own_call_end(void) { (void)alarm(0); }

static void give_up(int signal_number) {
    (void)signal_number;
    _exit(1);
}

static void own_query(PGconn *conn, const char *query) {
    own_call_begin();
    PQclear(PQexec(conn, query));
    own_call_end();
}

static int run_borrowed(void) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store = NULL;

    (void)signal(SIGALRM, give_up);
    own_call_begin();
    PGconn *conn = PQconnectdb(getenv("BOXCAR_STORE"));
    own_call_end();
    boxcar_status status = boxcar_store_borrow_postgres(conn, &OPTIONS, &store, &err);
    if (status == BOXCAR_OK) {
        own_query(conn, "begin");
        status = use(store, &err);
        own_query(conn, "commit");
    }
    boxcar_store_close(store);
    PQfinish(conn);
    return end(status, &err);
}

static const struct {
    const char *name;
    int (*run)(void);
} MODES[] = {
    {"worker", run_worker}, {"coordinator", run_coordinator}, {"batch", run_batch}, {"borrow", run_borrowed}};

int main(int argc, char **argv) {
    const char *url = getenv("BOXCAR_STORE"), *schema = getenv("BOXCAR_SCHEMA");
    OPTIONS = BOXCAR_STORE_OPTIONS_INIT;
    OPTIONS.url = boxcar_str_of(url ? url : "");
    if (schema)
        OPTIONS.schema = boxcar_str_of(schema);
    OPTIONS.answer_timeout_ms = OPTIONS.busy_timeout_ms = 1000;
    for (size_t i = 0; argc == 2 && i < sizeof(MODES) / sizeof(MODES[0]); i++)
        if (strcmp(argv[1], MODES[i].name) == 0)
            return MODES[i].run();
    fprintf(stderr, "usage: embedder worker|coordinator|batch|borrow\n");
    return 2;
}
