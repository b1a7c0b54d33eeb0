/* Enqueue through a coordinator, by each strategy, against boxcar_enqueue(, BOXCAR_OUTBOX,) one by one. */
#include <pthread.h>
#include <stdlib.h>

#include "bench.h"

#define SCOPE 100 /* messages in a request */

struct contest {
    const char *row;
    const char *name;
    boxcar_strategy strategy;
    int threads; /* and connections of the other side */
    bool shared; /* one coordinator for all threads; else one on each thread's own store */
    struct target target;
};

struct producer {
    pthread_t thread;
    const struct contest *contest;
    boxcar_store *store;
    boxcar_coordinator *coordinator; /* the shared one */
    size_t count;
};

static void close_coordinator(boxcar_coordinator *coordinator) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    bench_must(boxcar_coordinator_close(coordinator, &err), "close", &err);
    boxcar_coordinator_free(coordinator);
}

static void queue_some(boxcar_coordinator *coordinator, size_t count) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    message.topic = BOXCAR_STR(BENCH_TOPIC);
    message.payload = bench_payload();
    for (size_t i = 0; i < count; i++)
        bench_must(boxcar_coordinator_enqueue(coordinator, BOXCAR_OUTBOX, &message, 1, NULL, &err), "queue",
                   &err);
}

/* A coordinator for each request, as a web service would. */
static void serve_requests(const struct producer *producer) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    options.strategy = producer->contest->strategy;
    options.lent = producer->store;
    for (size_t left = producer->count; left > 0;) {
        size_t part = left < SCOPE ? left : SCOPE;
        boxcar_coordinator *coordinator;

        bench_must(boxcar_coordinator_new(&options, &coordinator, &err), "coordinator", &err);
        queue_some(coordinator, part);
        close_coordinator(coordinator);
        left -= part;
    }
}

static void *produce(void *argument) {
    struct producer *producer = argument;

    if (producer->coordinator)
        queue_some(producer->coordinator, producer->count);
    else
        serve_requests(producer);
    return NULL;
}

static boxcar_coordinator *open_shared(const struct contest *contest, const boxcar_store_options *store) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_coordinator *coordinator;

    options.strategy = contest->strategy;
    options.store = store;
    bench_must(boxcar_coordinator_new(&options, &coordinator, &err), "coordinator", &err);
    return coordinator;
}

/* Messages per second until everything is stored; the last flush counts. */
static double enqueue_by_coordinator(const struct contest *contest, const struct place *place,
                                     size_t messages) {
    boxcar_store_options store = place_options(place);
    struct producer producers[BENCH_CREW_MAX] = {{.count = 0}};
    boxcar_coordinator *shared = contest->shared ? open_shared(contest, &store) : NULL;
    double before, seconds;

    for (int i = 0; i < contest->threads; i++) {
        producers[i] = (struct producer){
            .contest = contest, .coordinator = shared, .count = messages / (size_t)contest->threads};
        if (!shared)
            producers[i].store = place_open(place);
    }
    before = bench_now();
    for (int i = 0; i < contest->threads; i++)
        if (pthread_create(&producers[i].thread, NULL, produce, &producers[i]) != 0)
            bench_die("cannot start a thread");
    for (int i = 0; i < contest->threads; i++)
        pthread_join(producers[i].thread, NULL);
    close_coordinator(shared);
    seconds = bench_now() - before;
    for (int i = 0; i < contest->threads; i++)
        boxcar_store_close(producers[i].store);
    return (double)(messages / (size_t)contest->threads * (size_t)contest->threads) / seconds;
}

static void run(struct bench *b, const struct contest *contest) {
    size_t messages = bench_count(b, 40000, 400),
           single = bench_count(b, b->kind == BENCH_POSTGRES ? 8000 : 2000, 40);
    struct pairs rate = {0};
    struct place places[2];
    struct crew crew;

    if (!bench_wants(b, contest->row))
        return;
    place_create_boxcar(&places[0], b);
    place_create_boxcar(&places[1], b);
    crew_open(&crew, &SIDE_BOXCAR, &places[1], contest->threads);
    if (contest->strategy == BOXCAR_STRATEGY_IMMEDIATE)
        messages = single;
    for (int round = -1; round < b->rounds; round++) { /* the first fills caches and is not counted */
        struct work work = {.goal = single, .batch = 1};
        double rates[2];

        bench_progress("%s: round %d of %d", contest->name, round + 1, b->rounds);
        for (int turn = 0; turn < 2; turn++) {
            int i = (round + 1 + turn) % 2;

            rates[i] =
                i == 0 ? enqueue_by_coordinator(contest, &places[0], messages) : crew_enqueue(&crew, &work);
        }
        if (round >= 0)
            pairs_add(&rate, rates[0], rates[1]);
    }
    report_add(b->report, contest->name, "msg/s", &rate, contest->target);
    crew_close(&crew);
    place_remove(&places[0]);
    place_remove(&places[1]);
}

/* SQLite has one writer: more connections would only wait for each other. */
static void scenario_coordinator(struct bench *b) {
    int threads = b->kind == BENCH_POSTGRES ? 4 : 1;

    run(b, &(struct contest){"coordinator/immediate", "coordinator, immediate", BOXCAR_STRATEGY_IMMEDIATE, 1,
                             true, AT_LEAST(0.8)});
    run(b, &(struct contest){"coordinator/scoped", "coordinator, scoped x 100", BOXCAR_STRATEGY_SCOPED,
                             threads, false, AT_LEAST(2)});
    run(b, &(struct contest){"coordinator/interval", "coordinator, interval 100 ms", BOXCAR_STRATEGY_INTERVAL,
                             threads, true, AT_LEAST(2)});
    run(b, &(struct contest){"coordinator/size", "coordinator, size 100", BOXCAR_STRATEGY_SIZE, threads, true,
                             AT_LEAST(2)});
}

const struct scenario COORDINATOR_SCENARIO = {"enqueue through a coordinator, by each strategy",
                                              scenario_coordinator};
