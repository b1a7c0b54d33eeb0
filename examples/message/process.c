/* message_process STORE: a program that works without a worker, one request after the other.
 *
 * Each round trip sends the results of the last messages and brings the next ones. A message that fails half
 * way has recorded which stages are done, and its next attempt goes on from there.
 *
 *   process sqlite:work.db
 *   process postgres:///shop
 */
#include <stdio.h>
#include <stdlib.h>

#include <boxcar.h>

enum { ROOM = 10 };

/* What goes out with the next request. */
struct results {
    boxcar_settlement acks[ROOM], abandons[ROOM];
    boxcar_settlement stages[ROOM];
    size_t ack_count, abandon_count, stage_count;
};

static void die(const char *what, const boxcar_error *err) {
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

static boxcar_store *open_store(const char *url) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    options.url = boxcar_str_of(url);
    options.deploy = true;
    if (boxcar_store_open(&options, &store, &err) != BOXCAR_OK)
        die("cannot open the store", &err);
    return store;
}

/* Publishing works; the second half fails the first time. */
static void work(const boxcar_message *message, struct results *results) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;

    settlement.work_id = message->work_id;
    settlement.epoch = message->epoch;
    settlement.delay_ms = 0;
    if (!(message->stages & BOXCAR_STAGE_PUBLISHED)) {
        printf("%.*s: published\n", (int)message->payload.len, message->payload.data);
        results->stages[results->stage_count] = settlement;
        results->stages[results->stage_count++].stages = BOXCAR_STAGE_PUBLISHED;
    }
    if (message->retry_count == 0 && message->payload.data[0] == 'b') {
        printf("%.*s: failed half way\n", (int)message->payload.len, message->payload.data);
        settlement.error = BOXCAR_STR("half way");
        results->abandons[results->abandon_count++] = settlement;
        return;
    }
    printf("%.*s: done\n", (int)message->payload.len, message->payload.data);
    results->acks[results->ack_count++] = settlement;
}

/* One round trip: results out, work in. Returns how many messages came. */
static size_t exchange(boxcar_store *store, boxcar_owner me, struct results *results) {
    boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_result *result;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_str topic = BOXCAR_STR("example.*");
    const boxcar_message_list *claimed;
    size_t count;

    outbox.settle[BOXCAR_ACK] = (boxcar_settlement_list){results->acks, results->ack_count};
    outbox.settle[BOXCAR_ABANDON] = (boxcar_settlement_list){results->abandons, results->abandon_count};
    outbox.settle[BOXCAR_RECORD] = (boxcar_settlement_list){results->stages, results->stage_count};
    outbox.claim_size = ROOM;
    outbox.topics = &topic;
    outbox.topic_count = 1;
    request.owner = me;
    request.parts[BOXCAR_OUTBOX] = &outbox;
    if (boxcar_process(store, &request, &result, &err) != BOXCAR_OK)
        die("cannot process the request", &err);
    *results = (struct results){.ack_count = 0};
    claimed = result->claimed[BOXCAR_OUTBOX];
    count = claimed->count;
    for (size_t i = 0; i < count; i++)
        work(claimed->items[i], results);
    boxcar_result_free(result);
    return count;
}

/* Three messages in one request. One of them exists already and is reported as a duplicate. */
static void enqueue(boxcar_store *store) {
    boxcar_new_message messages[3] = {BOXCAR_NEW_MESSAGE_INIT, BOXCAR_NEW_MESSAGE_INIT,
                                      BOXCAR_NEW_MESSAGE_INIT};
    static const char *const NAMES[] = {"apples", "bread", "apples"};
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_result *result;
    boxcar_error err = BOXCAR_ERROR_INIT;

    for (int i = 0; i < 3; i++) {
        messages[i].topic = BOXCAR_STR("example.order");
        messages[i].payload = boxcar_str_of(NAMES[i]);
        messages[i].key = boxcar_str_of(NAMES[i]);
    }
    request.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, 3};
    if (boxcar_process(store, &request, &result, &err) != BOXCAR_OK)
        die("cannot enqueue", &err);
    for (size_t i = 0; i < 3; i++)
        printf("%s: %s\n", NAMES[i],
               result->enqueued[BOXCAR_OUTBOX].items[i]->duplicate ? "is there already" : "stored");
    boxcar_result_free(result);
}

int main(int argc, char **argv) {
    struct results results = {.ack_count = 0};
    boxcar_store *store;
    boxcar_owner me = {boxcar_uuid_new()};

    if (argc != 2) {
        fprintf(stderr, "usage: message_process STORE\n");
        return 2;
    }
    store = open_store(argv[1]);
    enqueue(store);
    while (exchange(store, me, &results) > 0 || results.ack_count + results.abandon_count > 0)
        ;
    boxcar_store_close(store);
    return 0;
}
