/* Enqueue with a key that is new, against INSERT ... ON CONFLICT on the same columns and indexes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define CONNECTIONS 4

struct connection {
    boxcar_store *store;
    int number;
    uint64_t next;
};

static _Atomic int connections;

static void *open_keyed(const struct place *place) {
    struct connection *c = bench_alloc(1, sizeof(*c));

    c->store = place_open(place);
    c->number = connections++;
    return c;
}

static void close_keyed(void *connection) {
    boxcar_store_close(((struct connection *)connection)->store);
    free(connection);
}

static void enqueue_keyed(void *connection) {
    struct connection *c = connection;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_enqueued enqueued;
    char key[BENCH_KEY_SIZE];

    snprintf(key, sizeof(key), "%d %" PRIu64, c->number, c->next++);
    message.topic = BOXCAR_STR(BENCH_TOPIC);
    message.payload = bench_payload();
    message.key = boxcar_str_of(key);
    bench_must(boxcar_enqueue(c->store, BOXCAR_OUTBOX, &message, &enqueued, &err), "enqueue", &err);
    if (enqueued.duplicate)
        bench_die("enqueue: a new key was known");
}

static const struct side SIDE_KEYED = {"keyed", open_keyed, close_keyed, NULL, enqueue_keyed, NULL};

static void scenario_keys(struct bench *b) {
    struct work work = {.goal = bench_count(b, 12000, 200), .batch = 1};
    struct pairs rates = {0};
    struct place places[2];
    struct crew crews[2];

    if (b->kind != BENCH_POSTGRES || !bench_wants(b, "keys"))
        return;
    place_create_boxcar(&places[0], b);
    place_create_raw(&places[1], b, &places[0]);
    crew_open(&crews[0], &SIDE_KEYED, &places[0], CONNECTIONS);
    crew_open(&crews[1], &SIDE_ON_CONFLICT, &places[1], CONNECTIONS);
    for (int round = -1; round < b->rounds; round++) { /* the first fills caches and is not counted */
        double rate[2];

        bench_progress("keys: round %d of %d", round + 1, b->rounds);
        for (int turn = 0; turn < 2; turn++)
            rate[(round + 1 + turn) % 2] = crew_enqueue(&crews[(round + 1 + turn) % 2], &work);
        if (round >= 0)
            pairs_add(&rates, rate[0], rate[1]);
    }
    report_add(b->report, "enqueue with a new key, 4 x 1", "msg/s", &rates, AT_LEAST(0.8));
    for (int i = 0; i < 2; i++) {
        crew_close(&crews[i]);
        place_remove(&places[i]);
    }
}

const struct scenario KEYS_SCENARIO = {"enqueue with a key (PostgreSQL)", scenario_keys};
