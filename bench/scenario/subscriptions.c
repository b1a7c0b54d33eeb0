/* What subscriptions cost those who enqueue, and whether a drain through one is as fast as that of the main
 * reader. */
#include <stdio.h>

#include "bench.h"

#define SUBSCRIPTIONS 20
#define CONNECTIONS 4
#define BATCH 1000

static void subscribe(const struct place *place, int count) {
    boxcar_store *store = place_open(place);

    for (int i = 0; i < count; i++) {
        const boxcar_str every = BOXCAR_STR("*");
        boxcar_new_subscription subscription = BOXCAR_NEW_SUBSCRIPTION_INIT;
        boxcar_error err = BOXCAR_ERROR_INIT;
        boxcar_box reader;
        char name[32];

        snprintf(name, sizeof(name), "bench-%d", i);
        subscription.name = boxcar_str_of(name);
        subscription.patterns = &every;
        subscription.pattern_count = 1;
        bench_must(boxcar_subscription_add(store, &subscription, &reader, &err), "subscription", &err);
    }
    boxcar_store_close(store);
}

static double enqueue(struct bench *b, int subscriptions, size_t messages) {
    struct place place;
    struct crew crew;

    place_create_boxcar(&place, b);
    subscribe(&place, subscriptions);
    crew_open(&crew, &SIDE_BOXCAR, &place, 1);
    double rate = crew_enqueue(&crew, &(struct work){.goal = messages, .batch = 100});
    crew_close(&crew);
    place_remove(&place);
    return rate;
}

/* Both drain the same messages of a store with one subscription. */
static double drain(struct bench *b, bool through_subscription, size_t messages) {
    struct place place;
    struct crew crew;

    place_create_boxcar(&place, b);
    subscribe(&place, 1);
    crew_open(&crew, &SIDE_BOXCAR, &place, b->kind == BENCH_SQLITE ? 1 : bench_connections(b, CONNECTIONS));
    crew_fill(&crew, messages);
    place_analyze(&place);
    for (int i = 0; through_subscription && i < crew.size; i++)
        boxcar_connection_subscribe(crew.connections[i], BOXCAR_STR("bench-0"));
    double rate = crew_drain(&crew, &(struct work){.goal = messages, .batch = BATCH});
    crew_close(&crew);
    place_remove(&place);
    return rate;
}

static void run(struct bench *b, const char *row, const char *name, size_t messages, struct target target) {
    bool drains = row[sizeof("subscriptions/") - 1] == 'd';
    struct pairs rates = {0};

    if (!bench_wants(b, row))
        return;
    for (int round = 0; round < b->rounds; round++) {
        double rate[2];

        bench_progress("%s: round %d of %d", name, round + 1, b->rounds);
        for (int turn = 0; turn < 2; turn++) {
            int i = (round + turn) % 2;

            rate[i] = drains ? drain(b, i == 0, messages) : enqueue(b, i == 0 ? SUBSCRIPTIONS : 0, messages);
        }
        pairs_add(&rates, rate[0], rate[1]);
    }
    report_add(b->report, name, "msg/s", &rates, target);
}

static void scenario_subscriptions(struct bench *b) {
    run(b, "subscriptions/enqueue", "enqueue 1 x 100, 20 subscriptions, against none",
        bench_count(b, 200000, 1000), AT_LEAST(0.95));
    run(b, "subscriptions/drain", "drain of a subscription, x 1,000", bench_count(b, 400000, 1000),
        AT_LEAST(0.9));
}

const struct scenario SUBSCRIPTIONS_SCENARIO = {"subscriptions: enqueueing beside them, draining one",
                                                scenario_subscriptions};
