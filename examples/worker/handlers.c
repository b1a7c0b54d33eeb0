/* worker_handlers STORE: a worker with three handlers.
 *
 * Messages of orders.* go to one handler, mail.send to another that fails now and then, and
 * audit.* is dropped on purpose. The worker drains: it stops by itself when nothing is left. A
 * service would leave `drain` off and call boxcar_worker_stop() when it is told to end, as the
 * signal handler below does.
 *
 *   worker sqlite:work.db
 *   worker postgres:///shop
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>

static boxcar_worker *worker;

/* Stopping is allowed in a signal handler; a second signal cancels what still runs. */
static void on_signal(int number) {
    (void)number;
    boxcar_worker_stop(worker);
}

static void die(const char *what, const boxcar_error *err) {
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

/* Handlers run on several threads at once, for different messages. After a crash a message comes
 * again, so real work is idempotent, or happens in a transaction (transactional_handler.c). */
static boxcar_verdict on_order(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);

    (void)context;
    return message->payload.len > 0 ? BOXCAR_VERDICT_ACK : BOXCAR_VERDICT_FAIL;
}

/* Fails the first time: an attempt is spent, and the message comes again after a delay. */
static boxcar_verdict on_mail(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);

    (void)context;
    if (boxcar_delivery_is_cancelled(delivery)) /* long work asks now and then */
        return BOXCAR_VERDICT_RETRY;
    if (message->retry_count > 0)
        return BOXCAR_VERDICT_ACK;
    boxcar_delivery_set_error(delivery, BOXCAR_STR("connection refused"));
    boxcar_delivery_set_delay_ms(delivery, 10); /* without this: the backoff */
    return BOXCAR_VERDICT_RETRY;
}

static void enqueue_work(const boxcar_store_options *options) {
    static const char *const work[][2] = {
        {"orders.paid", "{\"order\": 1}"},  {"orders.paid", ""},  {"orders.shipped", "{\"order\": 1}"},
        {"mail.send", "{\"to\": \"ada\"}"}, {"audit.login", "x"},
    };
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_new_message messages[5];
    boxcar_store *store;

    for (size_t i = 0; i < 5; i++) {
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].topic = boxcar_str_of(work[i][0]);
        messages[i].payload = boxcar_str_of(work[i][1]);
    }
    if (boxcar_store_open(options, &store, &err) != BOXCAR_OK)
        die("open", &err);
    if (boxcar_enqueue_many(store, BOXCAR_OUTBOX, messages, 5, NULL, &err) != BOXCAR_OK)
        die("enqueue", &err);
    boxcar_store_close(store);
}

/* The last handler is built in: every worker evaluates the waits for joins. */
static void print_totals(void) {
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;

    for (size_t i = 0; boxcar_worker_handler_stats_read(worker, i, &stats); i++)
        printf("%-10.*s acked %lld, retried %lld, failed %lld\n", (int)stats.topic.len, stats.topic.data,
               (long long)stats.acked, (long long)stats.retried, (long long)stats.failed);
}

int main(int argc, char **argv) {
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_handler audit = BOXCAR_HANDLER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status;

    store.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    store.deploy = true;
    enqueue_work(&store);

    options.store = &store;
    options.concurrency = 4;
    options.drain = true;
    audit.topic = BOXCAR_STR("audit.*");
    audit.kind = BOXCAR_HANDLER_DISCARD;
    if (boxcar_worker_new(&options, &worker, &err) != BOXCAR_OK)
        die("worker", &err);
    status = boxcar_worker_on(worker, BOXCAR_STR("orders.*"), on_order, NULL, &err);
    if (status == BOXCAR_OK)
        status = boxcar_worker_on(worker, BOXCAR_STR("mail.send"), on_mail, NULL, &err);
    if (status == BOXCAR_OK)
        status = boxcar_worker_handle(worker, &audit, &err);
    if (status != BOXCAR_OK)
        die("handle", &err);

    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    if (boxcar_worker_run(worker, &err) != BOXCAR_OK)
        die("run", &err);
    print_totals();
    boxcar_worker_free(worker);
    return 0;
}
