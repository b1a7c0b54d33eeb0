/* What a copy costs within a store, and what it costs a worker that its messages lie in two stores. */
#include <boxcar/fanout.h>

#include "bench.h"

#define BATCH 1000

static void fill(struct place *place, size_t messages) {
    struct crew crew;

    crew_open(&crew, &SIDE_BOXCAR, place, 1);
    crew_fill(&crew, messages);
    crew_close(&crew);
    place_analyze(place);
}

static double run_worker(const boxcar_worker_options *options, bool handles, size_t messages) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker;
    boxcar_handler handler = BOXCAR_HANDLER_INIT;
    double began = bench_now();

    handler.topic = BOXCAR_STR(BENCH_TOPIC);
    handler.kind = BOXCAR_HANDLER_DISCARD;
    bench_must(boxcar_worker_new(options, &worker, &err), "worker", &err);
    if (handles)
        bench_must(boxcar_worker_handle(worker, &handler, &err), "handler", &err);
    bench_must(boxcar_worker_run(worker, &err), "run", &err);
    boxcar_worker_free(worker);
    return (double)messages / (bench_now() - began);
}

static boxcar_worker_options options_for(const boxcar_store_options *store) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;

    options.store = store;
    options.drain = true;
    options.poll_ms = 20;
    options.batch_size = BATCH;
    options.batch_limit = BATCH;
    return options;
}

/* ---- copies within a store ---- */

static void add_policy(const struct place *place) {
    const boxcar_str patterns[] = {BOXCAR_STR(BENCH_TOPIC)}, destinations[] = {BOXCAR_STR("copy")};
    boxcar_new_fanout policy = BOXCAR_NEW_FANOUT_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store = place_open(place);

    policy.name = BOXCAR_STR("copies");
    policy.patterns = patterns;
    policy.pattern_count = 1;
    policy.destinations = destinations;
    policy.destination_count = 1;
    bench_must(boxcar_fanout_add(store, &policy, &err), "fanout", &err);
    boxcar_store_close(store);
}

static double forward(struct bench *b, size_t messages) {
    struct place place;

    place_create_boxcar(&place, b);
    add_policy(&place);
    fill(&place, messages);
    boxcar_store_options store = place_options(&place);
    boxcar_worker_options options = options_for(&store);
    double rate = run_worker(&options, false, messages);
    place_remove(&place);
    return rate;
}

/* What a program without policies does: it enqueues as many, and somebody drains the sources. */
static double enqueue_and_drain(struct bench *b, size_t messages) {
    struct place place;
    struct crew crew;

    place_create_boxcar(&place, b);
    crew_open(&crew, &SIDE_BOXCAR, &place, 1);
    crew_fill(&crew, messages);
    place_analyze(&place);
    double enqueued = crew_enqueue(&crew, &(struct work){.goal = messages, .batch = BATCH});
    double drained = crew_drain(&crew, &(struct work){.goal = messages, .batch = BATCH});
    crew_close(&crew);
    place_remove(&place);
    return 1 / (1 / enqueued + 1 / drained);
}

/* ---- two stores on one server ---- */

static boxcar_store_entry entry_of(const struct place *place) {
    boxcar_store_options store = place_options(place);
    boxcar_store_entry entry = BOXCAR_STORE_ENTRY_INIT;

    entry.url = store.url;
    entry.schema = store.schema;
    return entry;
}

static double drain_two(struct bench *b, size_t messages) {
    struct place places[2];
    boxcar_store_entry entries[2];
    boxcar_fleet_options fleet = BOXCAR_FLEET_OPTIONS_INIT;

    for (int i = 0; i < 2; i++) {
        place_create_boxcar(&places[i], b);
        fill(&places[i], messages / 2);
        entries[i] = entry_of(&places[i]);
    }
    fleet.stores = entries;
    fleet.store_count = 2;
    boxcar_store_options store = place_options(&places[0]);
    boxcar_worker_options options = options_for(&store);
    options.fleet = &fleet;
    double rate = run_worker(&options, true, messages);
    for (int i = 0; i < 2; i++)
        place_remove(&places[i]);
    return rate;
}

static double drain_one(struct bench *b, size_t messages) {
    struct place place;

    place_create_boxcar(&place, b);
    fill(&place, messages);
    boxcar_store_options store = place_options(&place);
    boxcar_worker_options options = options_for(&store);
    double rate = run_worker(&options, true, messages);
    place_remove(&place);
    return rate;
}

/* ---- rows ---- */

static void run(struct bench *b, const char *row, const char *name, size_t messages,
                double (*ours)(struct bench *b, size_t messages),
                double (*theirs)(struct bench *b, size_t messages), struct target target) {
    struct pairs rates = {0};

    if (!bench_wants(b, row))
        return;
    for (int round = 0; round < b->rounds; round++) {
        double rate[2];

        bench_progress("%s: round %d of %d", name, round + 1, b->rounds);
        for (int turn = 0; turn < 2; turn++) {
            int i = (round + turn) % 2;

            rate[i] = i == 0 ? ours(b, messages) : theirs(b, messages);
        }
        pairs_add(&rates, rate[0], rate[1]);
    }
    report_add(b->report, name, "msg/s", &rates, target);
}

static void scenario_fanout(struct bench *b) {
    run(b, "fanout/local", "forwarding within a store, against enqueue and drain",
        bench_count(b, 200000, 2000), forward, enqueue_and_drain, AT_LEAST(0.5));
    run(b, "fanout/stores", "drain of two stores, against one", bench_count(b, 400000, 2000), drain_two,
        drain_one, AT_LEAST(0.9));
}

const struct scenario FANOUT_SCENARIO = {"forwarding for policies, and workers with two stores",
                                         scenario_fanout};
