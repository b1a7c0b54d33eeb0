/* join_fan_in STORE: three extractions at once, and one transformation when all of them are done.
 *
 * The join counts its members as they end. When all three have ended, its wait is replaced by another
 * message. The handlers know nothing of the join. One of them fails at first. That counts nothing, because
 * the message is tried again.
 *
 * The three calls here are three transactions. A crash between them would leave a join that nobody waits for.
 * partial_failure.c makes the calls repeatable, multi_stage.c puts them into one transaction.
 *
 *   join_fan_in sqlite:etl.db
 *   join_fan_in postgres:///etl
 */
#include <stdio.h>
#include <stdlib.h>

#include <boxcar.h>

static void check(boxcar_status status, const char *what, const boxcar_error *err) {
    if (status == BOXCAR_OK)
        return;
    fprintf(stderr, "join_fan_in: %s: %s\n", what, err->message);
    exit(1);
}

static boxcar_join_id fan_out(boxcar_store *store) {
    static const char *const topics[] = {"extract.customers", "extract.orders", "extract.products"};
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    boxcar_new_message steps[3];
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_id join_id;

    join.expected_steps = 3;
    join.grouping_key = BOXCAR_STR("customer-7");
    join.metadata = BOXCAR_STR("{\"type\": \"etl\", \"phase\": \"extract\"}");
    check(boxcar_join_start(store, &join, &join_id, &err), "start", &err);

    for (size_t i = 0; i < 3; i++) {
        steps[i] = BOXCAR_NEW_MESSAGE_INIT;
        steps[i].topic = boxcar_str_of(topics[i]);
        steps[i].payload = BOXCAR_STR("{\"customer\": 7}");
        steps[i].join_id = join_id; /* enqueued and attached in one step */
    }
    check(boxcar_enqueue_many(store, BOXCAR_OUTBOX, steps, 3, NULL, &err), "enqueue", &err);

    wait.join_id = join_id;
    wait.on_complete_topic = BOXCAR_STR("etl.transform");
    wait.on_complete_payload = BOXCAR_STR("{\"customer\": 7}");
    wait.on_fail_topic = BOXCAR_STR("etl.failed");
    wait.on_fail_payload = BOXCAR_STR("{\"customer\": 7}");
    check(boxcar_join_wait(store, &wait, NULL, &err), "wait", &err);
    return join_id;
}

/* The work. The source of the orders is busy at first. */
static boxcar_verdict on_extract(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);

    (void)context;
    if (message->topic.data[sizeof("extract.") - 1] != 'o' || message->retry_count > 0)
        return BOXCAR_VERDICT_ACK;
    boxcar_delivery_set_error(delivery, BOXCAR_STR("connection refused"));
    boxcar_delivery_set_delay_ms(delivery, 10); /* without this: the backoff */
    return BOXCAR_VERDICT_RETRY;
}

/* The continuation of the join. */
static boxcar_verdict on_etl(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);

    (void)context;
    printf("%.*s %.*s\n", (int)message->topic.len, message->topic.data, (int)message->payload.len,
           message->payload.data);
    return BOXCAR_VERDICT_ACK;
}

/* Waits need no handler: every worker evaluates them. The worker ends when nothing is left to do. */
static void work(const boxcar_store_options *store) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker;

    options.store = store;
    options.drain = true;
    check(boxcar_worker_new(&options, &worker, &err), "worker", &err);
    check(boxcar_worker_on(worker, BOXCAR_STR("extract.*"), on_extract, NULL, &err), "handle", &err);
    check(boxcar_worker_on(worker, BOXCAR_STR("etl.*"), on_etl, NULL, &err), "handle", &err);
    check(boxcar_worker_run(worker, &err), "run", &err);
    boxcar_worker_free(worker);
}

static void print_join(boxcar_store *store, boxcar_join_id join_id) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_list *list;

    check(boxcar_join_find(store, join_id, &list, &err), "find", &err);
    const boxcar_join *join = list->items[0];
    printf("join of %.*s is %s: %lld of %lld steps completed, %lld failed\n", (int)join->grouping_key.len,
           join->grouping_key.data, boxcar_join_status_name(join->status), (long long)join->completed_steps,
           (long long)join->expected_steps, (long long)join->failed_steps);
    boxcar_list_free(list);
}

int main(int argc, char **argv) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    options.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    options.deploy = true;
    check(boxcar_store_open(&options, &store, &err), "open", &err);
    boxcar_join_id join_id = fan_out(store);
    print_join(store, join_id);
    work(&options);
    print_join(store, join_id);
    boxcar_store_close(store);
    return 0;
}
