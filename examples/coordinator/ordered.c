/* coordinator_ordered STORE: receive, handle in order, settle and enqueue in one flush.
 *
 * Each order is a stream of changes. The changes of an order are handled in order, and no order waits for
 * another. Each round of the loop is one flush and one round trip. It sends the results of the last round and
 * the messages that follow from them, and brings the next work back. The third change of order 2 is refused
 * for good; the later changes go on without it.
 *
 *   ordered_coordinator sqlite:orders.db
 *   ordered_coordinator postgres:///shop
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>

static void die(const char *what, const boxcar_error *err) {
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

/* ---- receiving: one scope, one transaction ---- */

static void receive_orders(const boxcar_store_options *store) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_coordinator *scope;
    char stream[16], payload[48];

    options.store = store;
    options.strategy = BOXCAR_STRATEGY_SCOPED;
    if (boxcar_coordinator_new(&options, &scope, &err) != BOXCAR_OK)
        die("coordinator", &err);
    for (int change = 1; change <= 4; change++)
        for (int order = 1; order <= 3; order++) {
            boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

            snprintf(stream, sizeof(stream), "order-%d", order);
            snprintf(payload, sizeof(payload), "order %d, change %d", order, change);
            message.topic = BOXCAR_STR("orders.changed");
            message.stream = boxcar_str_of(stream); /* copied by the call */
            message.payload = boxcar_str_of(payload);
            if (boxcar_coordinator_enqueue(scope, BOXCAR_OUTBOX, &message, 1, NULL, &err) != BOXCAR_OK)
                die("enqueue", &err);
        }
    if (boxcar_coordinator_close(scope, &err) != BOXCAR_OK) /* flushes: all 12 or none */
        die("close", &err);
    boxcar_coordinator_free(scope);
}

/* ---- the handler: runs on several threads, for different orders ---- */

static boxcar_verdict on_change(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    boxcar_coordinator *coordinator = context;
    boxcar_new_message next = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    char id[BOXCAR_UUID_TEXT_SIZE], key[64];

    if (memcmp(message->payload.data, "order 2, change 3", 17) == 0) {
        boxcar_delivery_set_error(delivery, BOXCAR_STR("no such article"));
        return BOXCAR_VERDICT_FAIL;
    }
    next.topic = BOXCAR_STR("mail.send");
    next.payload = message->payload;
    next.stream = message->stream;
    boxcar_uuid_format(message->message_id.uuid, id);
    snprintf(key, sizeof(key), "mail about %s", id);
    next.key = boxcar_str_of(
        key); /* if this is handled again after a crash, the next message is still enqueued once */
    if (boxcar_coordinator_enqueue(coordinator, BOXCAR_OUTBOX, &next, 1, NULL, &err) != BOXCAR_OK) {
        boxcar_delivery_set_error(delivery, boxcar_str_of(err.message));
        return BOXCAR_VERDICT_RETRY;
    }
    return BOXCAR_VERDICT_ACK;
}

/* ---- the loop ---- */

struct count {
    size_t settled, enqueued, refused, lost;
};

static void add_up(struct count *count, const boxcar_flush *flush) {
    for (size_t i = 0; i < flush->count; i++) {
        boxcar_outcome outcome = flush->items[i]->outcome;

        count->settled += outcome == BOXCAR_OUTCOME_SETTLED;
        count->enqueued += outcome == BOXCAR_OUTCOME_ENQUEUED;
        count->refused += outcome == BOXCAR_OUTCOME_REFUSED;
        count->lost += outcome == BOXCAR_OUTCOME_LOST;
    }
}

static void handle_orders(const boxcar_store_options *store) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_flush_options work = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_str topic = BOXCAR_STR("orders.*");
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_coordinator *coordinator;
    struct count count = {0, 0, 0, 0};
    bool found = true;

    options.store = store;
    options.strategy = BOXCAR_STRATEGY_SCOPED;
    claim.topics = &topic;
    claim.topic_count = 1;
    work.claims[BOXCAR_OUTBOX] = &claim; /* the owner is the coordinator's */
    if (boxcar_coordinator_new(&options, &coordinator, &err) != BOXCAR_OK)
        die("coordinator", &err);
    while (found) {
        boxcar_ordered_results *results;
        boxcar_flush *flush;

        if (boxcar_coordinator_flush(coordinator, &work, &flush, &err) != BOXCAR_OK)
            die("flush", &err); /* a service would try again: nothing is lost */
        add_up(&count, flush);
        found = flush->claimed[BOXCAR_OUTBOX]->count > 0;
        if (boxcar_ordered_run(flush->claimed[BOXCAR_OUTBOX], NULL, on_change, coordinator, &results, &err) !=
                BOXCAR_OK ||
            boxcar_ordered_settle(coordinator, results, NULL, &err) != BOXCAR_OK)
            die("handle", &err);
        boxcar_ordered_results_free(results);
        boxcar_flush_free(flush);
    }
    if (boxcar_coordinator_close(coordinator, &err) != BOXCAR_OK)
        die("close", &err);
    boxcar_coordinator_free(coordinator);
    printf("settled %zu, enqueued %zu, refused %zu, lost %zu\n", count.settled, count.enqueued, count.refused,
           count.lost);
}

/* ---- the result ---- */

static void print_mail(const boxcar_store_options *options) {
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_str topic = BOXCAR_STR("mail.send");
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    char lines[3][256] = {"", "", ""};

    claim.owner.uuid = boxcar_uuid_new();
    claim.topics = &topic;
    claim.topic_count = 1;
    if (boxcar_store_open(options, &store, &err) != BOXCAR_OK)
        die("open", &err);
    for (size_t count = 1; count > 0;) {
        boxcar_message_list *list;

        if (boxcar_claim(store, &claim, &list, &err) != BOXCAR_OK)
            die("claim", &err);
        count = list->count;
        for (size_t i = 0; i < count; i++) {
            const boxcar_message *message = list->items[i];
            boxcar_settlement done = BOXCAR_SETTLEMENT_INIT;
            char *line = lines[message->payload.data[6] - '1'];

            snprintf(line + strlen(line), sizeof(lines[0]) - strlen(line), " %.*s",
                     (int)message->payload.len - 16, message->payload.data + 16);
            done.work_id = message->work_id;
            done.epoch = message->epoch;
            if (boxcar_ack(store, &claim, &done, 1, NULL, NULL, &err) != BOXCAR_OK)
                die("ack", &err);
        }
        boxcar_list_free(list);
    }
    for (int order = 1; order <= 3; order++)
        printf("mail about order %d, changes:%s\n", order, lines[order - 1]);
    boxcar_store_close(store);
}

int main(int argc, char **argv) {
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;

    store.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    store.deploy = true;
    receive_orders(&store);
    handle_orders(&store);
    print_mail(&store);
    return 0;
}
