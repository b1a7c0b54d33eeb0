/* Boxcar, as a program uses it. */
#include <stdlib.h>

#include "bench.h"

struct connection {
    boxcar_store *store;
    boxcar_owner owner;
    boxcar_box reader; /* whose messages it drains */
    boxcar_new_message *messages;
    boxcar_enqueued *enqueued;
    boxcar_settlement *settlements;
    size_t room;   /* in each of them: as much as was needed so far, since sixty connections add up */
    uint64_t seen; /* keeps the compiler from skipping the look at each message */
};

static void *open_boxcar(const struct place *place) {
    struct connection *c = bench_alloc(1, sizeof(*c));

    c->store = place_open(place);
    c->owner.uuid = boxcar_uuid_new();
    c->reader = BOXCAR_OUTBOX;
    return c;
}

void boxcar_connection_subscribe(void *connection, boxcar_str name) {
    struct connection *c = connection;
    boxcar_error err = BOXCAR_ERROR_INIT;

    bench_must(boxcar_subscription_find(c->store, name, &c->reader, &err), "subscription", &err);
}

static void release_room(struct connection *c) {
    free(c->messages);
    free(c->enqueued);
    free(c->settlements);
}

static void make_room(struct connection *c, size_t count) {
    if (count <= c->room)
        return;
    release_room(c);
    c->room = count;
    c->messages = bench_alloc(count, sizeof(*c->messages));
    c->enqueued = bench_alloc(count, sizeof(*c->enqueued));
    c->settlements = bench_alloc(count, sizeof(*c->settlements));
    for (size_t i = 0; i < count; i++) {
        c->messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        c->messages[i].topic = BOXCAR_STR(BENCH_TOPIC);
        c->messages[i].payload = bench_payload();
    }
}

static void close_boxcar(void *connection) {
    struct connection *c = connection;

    boxcar_store_close(c->store);
    release_room(c);
    free(c);
}

static void enqueue(void *connection, size_t count) {
    struct connection *c = connection;
    boxcar_error err = BOXCAR_ERROR_INIT;

    make_room(c, count);
    bench_must(boxcar_enqueue_many(c->store, BOXCAR_OUTBOX, c->messages, count, c->enqueued, &err), "enqueue",
               &err);
}

static void enqueue_one(void *connection) {
    struct connection *c = connection;
    boxcar_error err = BOXCAR_ERROR_INIT;

    make_room(c, 1);
    bench_must(boxcar_enqueue(c->store, BOXCAR_OUTBOX, &c->messages[0], &c->enqueued[0], &err), "enqueue",
               &err);
}

static void ack(struct connection *c, size_t count) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_claimer me = BOXCAR_CLAIMER_INIT;
    size_t affected = 0;

    me.owner = c->owner;
    me.box = c->reader;
    bench_must(boxcar_ack(c->store, &me, c->settlements, count, NULL, &affected, &err), "ack", &err);
    if (affected != count)
        bench_die("ack: %zu of %zu messages were acked", affected, count);
}

static size_t drain(void *connection, size_t batch) {
    struct connection *c = connection;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t count;

    make_room(c, batch);
    options.owner = c->owner;
    options.box = c->reader;
    options.lease_ms = BENCH_LEASE_MS;
    options.batch_size = (int)batch;
    bench_must(boxcar_claim(c->store, &options, &list, &err), "claim", &err);
    count = list->count;
    for (size_t i = 0; i < count; i++) {
        const boxcar_message *message = list->items[i];

        c->seen += message->payload.len + (uint64_t)message->payload.data[0];
        c->settlements[i] = BOXCAR_SETTLEMENT_INIT;
        c->settlements[i].work_id = message->work_id;
        c->settlements[i].epoch = message->epoch;
    }
    boxcar_list_free(list);
    if (count > 0)
        ack(c, count);
    return count;
}

const struct side SIDE_BOXCAR = {"boxcar", open_boxcar, close_boxcar, enqueue, enqueue_one, drain};
