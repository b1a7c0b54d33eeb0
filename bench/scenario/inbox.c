/* What the inbox costs: storing a message with its key, and noticing that one is known. One at a time against
 * INSERT ... ON CONFLICT (SQLite: against the outbox), many at a time against the outbox. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define BATCH_MAX 1000

/* One connection that delivers. */
struct courier {
    boxcar_store *store;
    boxcar_new_message *messages;
    boxcar_enqueued *enqueued;
    char (*ids)[BENCH_KEY_SIZE];
    int number;
    uint64_t next;
    bool again; /* only known keys */
};

static _Atomic int couriers;

static struct courier *open_courier(const struct place *place) {
    struct courier *c = bench_alloc(1, sizeof(*c));

    c->store = place_open(place);
    c->messages = bench_alloc(BATCH_MAX, sizeof(*c->messages));
    c->enqueued = bench_alloc(BATCH_MAX, sizeof(*c->enqueued));
    c->ids = bench_alloc(BATCH_MAX, sizeof(*c->ids));
    c->number = couriers++;
    for (size_t i = 0; i < BATCH_MAX; i++) {
        c->messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        c->messages[i].source = BOXCAR_STR("bench");
        c->messages[i].topic = BOXCAR_STR(BENCH_TOPIC);
        c->messages[i].payload = bench_payload();
    }
    return c;
}

static void close_courier(void *connection) {
    struct courier *c = connection;

    boxcar_store_close(c->store);
    free(c->messages);
    free(c->enqueued);
    free(c->ids);
    free(c);
}

static void deliver(void *connection, size_t count) {
    struct courier *c = connection;
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (count > BATCH_MAX)
        bench_die("inbox: at most %d messages at a time", BATCH_MAX);
    for (size_t i = 0; i < count; i++, c->next++) {
        if (c->again)
            bench_known_key(c->ids[i], c->next + (uint64_t)c->number * 997);
        else
            snprintf(c->ids[i], sizeof(c->ids[i]), "%d %" PRIu64, c->number, c->next);
        c->messages[i].external_id = boxcar_str_of(c->ids[i]);
    }
    bench_must(boxcar_enqueue_many(c->store, BOXCAR_INBOX, c->messages, count, c->enqueued, &err), "deliver",
               &err);
    for (size_t i = 0; i < count; i++)
        if (c->enqueued[i].duplicate != c->again)
            bench_die("inbox: a message was %s", c->again ? "not known" : "known already");
}

static void deliver_one(void *connection) { deliver(connection, 1); }

static void *open_new(const struct place *place) { return open_courier(place); }

static void *open_again(const struct place *place) {
    struct courier *c = open_courier(place);

    c->again = true;
    return c;
}

static const struct side SIDE_NEW = {"inbox", open_new, close_courier, deliver, deliver_one, NULL};
static const struct side SIDE_AGAIN = {"inbox, again", open_again, close_courier, deliver, deliver_one, NULL};

/* Makes the keys known that come again. */
static void introduce(const struct place *place) {
    struct courier *c = open_courier(place);
    boxcar_error err = BOXCAR_ERROR_INIT;

    for (uint64_t first = 0; first < BENCH_KNOWN; first += BATCH_MAX) {
        for (uint64_t i = 0; i < BATCH_MAX; i++) {
            bench_known_key(c->ids[i], first + i);
            c->messages[i].external_id = boxcar_str_of(c->ids[i]);
        }
        bench_must(boxcar_enqueue_many(c->store, BOXCAR_INBOX, c->messages, BATCH_MAX, c->enqueued, &err),
                   "deliver", &err);
    }
    close_courier(c);
}

struct contest {
    const char *row;
    const char *name;
    const struct side *side;
    const struct side *other; /* the outbox, or raw SQL */
    size_t messages;          /* in each round */
    size_t batch;
    int connections;
    struct target target;
};

static void open_sides(struct bench *b, const struct contest *contest, struct place places[2],
                       struct crew crews[2]) {
    place_create_boxcar(&places[0], b);
    introduce(&places[0]);
    if (contest->other == &SIDE_BOXCAR) {
        place_create_boxcar(&places[1], b);
    } else {
        place_create_raw(&places[1], b, &places[0]);
        on_conflict_introduce(&places[1]);
    }
    crew_open(&crews[0], contest->side, &places[0], contest->connections);
    crew_open(&crews[1], contest->other, &places[1], contest->connections);
}

static void run(struct bench *b, const struct contest *contest) {
    struct place places[2];
    struct crew crews[2];
    struct pairs rates = {0};

    if (!bench_wants(b, contest->row))
        return;
    open_sides(b, contest, places, crews);
    for (int round = -1; round < b->rounds; round++) { /* the first fills caches and is not counted */
        double rate[2];

        bench_progress("%s: round %d of %d", contest->name, round + 1, b->rounds);
        place_checkpoint(&places[0]);
        place_checkpoint(&places[1]);
        for (int turn = 0; turn < 2; turn++) {
            int i = (round + 1 + turn) % 2;
            rate[i] =
                crew_enqueue(&crews[i], &(struct work){.goal = contest->messages, .batch = contest->batch});
        }
        if (round >= 0)
            pairs_add(&rates, rate[0], rate[1]);
        for (int i = 0; round < 0 && i < 2; i++)
            place_analyze(&places[i]);
    }
    report_add(b->report, contest->name, "msg/s", &rates, contest->target);
    for (int i = 0; i < 2; i++) {
        crew_close(&crews[i]);
        place_remove(&places[i]);
    }
}

static void scenario_inbox(struct bench *b) {
    bool postgres = b->kind == BENCH_POSTGRES;
    int many = postgres ? 4 : 1;
    const struct side *raw_new = postgres ? &SIDE_ON_CONFLICT_NEW : &SIDE_BOXCAR;
    const struct side *raw_known = postgres ? &SIDE_ON_CONFLICT_KNOWN : &SIDE_BOXCAR;
    size_t single = bench_count(b, postgres ? 8000 : 2000, 50), bulk = bench_count(b, 40000, 400);
    const struct contest contests[] = {
        {"inbox/new", postgres ? "inbox enqueue, 4 x 1" : "inbox enqueue, 1 x 1", &SIDE_NEW, raw_new, single,
         1, many, target_of(b, AT_LEAST(0.6), NO_TARGET)},
        {"inbox/known", postgres ? "inbox duplicates, 4 x 1" : "inbox duplicates, 1 x 1", &SIDE_AGAIN,
         raw_known, single, 1, many, target_of(b, AT_LEAST(0.8), NO_TARGET)},
        {"inbox/new-100", postgres ? "inbox enqueue, 4 x 100" : "inbox enqueue, 1 x 100", &SIDE_NEW,
         &SIDE_BOXCAR, bulk, 100, many, target_of(b, AT_LEAST(0.8), NO_TARGET)},
        {"inbox/known-100", postgres ? "inbox duplicates, 4 x 100" : "inbox duplicates, 1 x 100", &SIDE_AGAIN,
         &SIDE_BOXCAR, bulk, 100, many, NO_TARGET},
    };

    for (size_t i = 0; i < sizeof(contests) / sizeof(contests[0]); i++)
        run(b, &contests[i]);
}

const struct scenario INBOX_SCENARIO = {"inbox: storing a message with its key, and duplicates",
                                        scenario_inbox};
