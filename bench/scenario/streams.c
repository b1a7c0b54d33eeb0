/* What streams cost: against messages that belong to none, and many of them against few. */
#include <stdio.h>
#include <stdlib.h>

#include "joins.h"

#define CONNECTIONS 4
#define BATCH 1000
#define FILL 10000
#define KEY_SIZE 32
#define PAGES 20
#define FIRST_CLAIM_MS 50

static int connections_of(const struct bench *b) { return b->kind == BENCH_POSTGRES ? CONNECTIONS : 1; }

/* `count` messages, spread evenly over `streams` streams; 0 = in none. */
static void fill(boxcar_store *store, size_t streams, size_t count) {
    boxcar_new_message *messages = bench_alloc(FILL, sizeof(*messages));
    char(*keys)[KEY_SIZE] = bench_alloc(FILL, sizeof(*keys));
    boxcar_error err = BOXCAR_ERROR_INIT;

    for (size_t done = 0; done < count;) {
        size_t part = count - done < FILL ? count - done : FILL;

        for (size_t i = 0; i < part; i++) {
            messages[i] = BOXCAR_NEW_MESSAGE_INIT;
            messages[i].topic = BOXCAR_STR(BENCH_TOPIC);
            messages[i].payload = bench_payload();
            if (streams == 0)
                continue;
            snprintf(keys[i], sizeof(keys[i]), "stream-%zu", (done + i) % streams);
            messages[i].stream = boxcar_str_of(keys[i]);
        }
        bench_must(boxcar_enqueue_many(store, BOXCAR_OUTBOX, messages, part, NULL, &err), "enqueue", &err);
        done += part;
    }
    free(keys);
    free(messages);
}

/* What is measured on one side: a store of its own, filled before the clock runs. */
struct load {
    size_t streams, messages; /* there */
    size_t drained;           /* of them while the clock runs */
    size_t batch;
};

struct outcome {
    double fill_rate, first_ms, rate, p50, p99;
};

/* The first claim after all streams came to be may have to look at them; claims that are timed one by one
 * begin after it. */
static double time_first(struct crew *crew, const struct load *load) {
    double before = bench_now();

    (void)crew_drain(crew, &(struct work){.goal = load->batch, .batch = load->batch});
    return 1e3 * (bench_now() - before);
}

static void run_load(struct bench *b, const struct place *place, const struct load *load,
                     struct outcome *ret_outcome) {
    struct latencies latencies = {0};
    struct work work = {.goal = load->drained, .batch = load->batch, .ret_latencies = &latencies};
    bool one_by_one = load->batch != BATCH;
    struct crew crew;

    crew_open(&crew, &SIDE_BOXCAR, place, one_by_one ? 1 : connections_of(b));
    ret_outcome->first_ms = one_by_one ? time_first(&crew, load) : 0;
    ret_outcome->rate = crew_drain(&crew, &work);
    ret_outcome->p50 = 1e3 * latencies_at(&latencies, 0.5);
    ret_outcome->p99 = 1e3 * latencies_at(&latencies, 0.99);
    latencies_release(&latencies);
    crew_close(&crew);
}

static void prepare(struct bench *b, struct place *place, const struct load *load,
                    struct outcome *ret_outcome) {
    boxcar_store *store;
    double before;

    place_create_boxcar(place, b);
    place_checkpoint(place);
    store = place_open(place);
    before = bench_now();
    fill(store, load->streams, load->messages);
    ret_outcome->fill_rate = (double)load->messages / (bench_now() - before);
    boxcar_store_close(store);
    place_analyze(place);
}

struct figures {
    struct pairs fills, firsts, rates, p50, p99;
};

static void run_round(struct bench *b, int round, const struct load loads[2], struct figures *figures) {
    struct outcome outcomes[2];
    struct place places[2];

    for (int i = 0; i < 2; i++)
        prepare(b, &places[i], &loads[i], &outcomes[i]);
    for (int turn = 0; turn < 2; turn++)
        run_load(b, &places[(round + turn) % 2], &loads[(round + turn) % 2], &outcomes[(round + turn) % 2]);
    pairs_add(&figures->fills, outcomes[0].fill_rate, outcomes[1].fill_rate);
    pairs_add(&figures->firsts, outcomes[0].first_ms, FIRST_CLAIM_MS);
    pairs_add(&figures->rates, outcomes[0].rate, outcomes[1].rate);
    pairs_add(&figures->p50, outcomes[0].p50, outcomes[1].p50);
    pairs_add(&figures->p99, outcomes[0].p99, outcomes[1].p99);
    for (int i = 0; i < 2; i++)
        place_remove(&places[i]);
}

static void compare(struct bench *b, const char *name, const struct load loads[2],
                    struct figures *ret_figures) {
    for (int round = 0; round < b->rounds; round++) {
        bench_progress("%s: round %d of %d", name, round + 1, b->rounds);
        run_round(b, round, loads, ret_figures);
    }
}

/* ---- the comparisons ---- */

static void bench_many(struct bench *b) {
    size_t streams = bench_count(b, 10000, 100), messages = 10 * streams;
    const struct load loads[2] = {{streams, messages, messages, BATCH}, {0, messages, messages, BATCH}};
    struct figures figures = {0};

    if (!bench_wants(b, "streams/many"))
        return;
    compare(b, "many streams", loads, &figures);
    report_add(b->report, "drain of 10,000 streams x 10", "msg/s", &figures.rates, AT_LEAST(0.5));
    report_add(b->report, "enqueue into 10,000 streams", "msg/s", &figures.fills, NO_TARGET);
}

static void bench_one(struct bench *b) {
    size_t messages = bench_count(b, 100000, 1000);
    const struct load loads[2] = {{1, messages, messages, BATCH}, {0, messages, messages, BATCH}};
    struct figures figures = {0};

    if (!bench_wants(b, "streams/one"))
        return;
    compare(b, "one stream", loads, &figures);
    report_add(b->report, "drain of one stream x 100,000", "msg/s", &figures.rates, AT_LEAST(0.5));
    report_add(b->report, "enqueue into one stream", "msg/s", &figures.fills, NO_TARGET);
}

static void bench_ready(struct bench *b) {
    size_t ready = bench_count(b, 10000, 200), drained = ready / 2;
    const struct load loads[2] = {{ready, ready, drained, 50}, {0, ready, drained, 50}};
    struct figures figures = {0};

    if (!bench_wants(b, "streams/ready"))
        return;
    compare(b, "claims of ready streams", loads, &figures);
    report_add(b->report, "claim and ack 50 of 10,000 streams, p50", "ms", &figures.p50,
               target_of(b, AT_MOST(1.5), AT_MOST(5)));
    report_add(b->report, "  p99", "ms", &figures.p99, NO_TARGET);
}

/* Filling takes long, so there are no more than two rounds. */
static void bench_million(struct bench *b) {
    struct bench few_rounds = *b;
    size_t many = bench_count(b, 1000000, 1000), few = bench_count(b, 10000, 300);
    const struct load loads[2] = {{many, many, few / 2, 50}, {few, few, few / 2, 50}};
    struct figures figures = {0};

    if (!bench_wants(b, "streams/million"))
        return;
    few_rounds.rounds = b->rounds < 2 ? b->rounds : 2;
    compare(&few_rounds, "a million streams", loads, &figures);
    report_add(b->report, "claim and ack 50 of 1,000,000 / 10,000, p50", "ms", &figures.p50, AT_MOST(5));
    report_add(b->report, "  p99", "ms", &figures.p99, NO_TARGET);
    report_add(b->report, "  the first claim, against 50 ms", "ms", &figures.firsts, AT_MOST(1));
}

/* A page from the middle, and one stream. */
static double time_pages(boxcar_store *store) {
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    double before = bench_now();

    filter.after = BOXCAR_STR("stream-5");
    for (int i = 0; i < PAGES; i++) {
        boxcar_stream_list *list = NULL;

        bench_must(boxcar_stream_page(store, &filter, &list, &err), "stream ls", &err);
        boxcar_list_free(list);
    }
    return 1e3 * (bench_now() - before) / PAGES;
}

static double time_listing(struct bench *b, size_t streams, size_t messages) {
    struct place place;
    boxcar_store *store;
    double ms;

    place_create_boxcar(&place, b);
    store = place_open(&place);
    fill(store, streams, messages);
    place_analyze(&place);
    time_pages(store);
    ms = time_pages(store);
    boxcar_store_close(store);
    place_remove(&place);
    return ms;
}

static void bench_listing(struct bench *b) {
    struct pairs pages = {0};

    if (!bench_wants(b, "streams/listing"))
        return;
    for (int round = 0; round < b->rounds; round++) {
        bench_progress("stream ls: round %d of %d", round + 1, b->rounds);
        pairs_add(&pages, time_listing(b, bench_count(b, 100000, 200), bench_count(b, 200000, 400)),
                  time_listing(b, 100, 200));
    }
    report_add(b->report, "a page of 100,000 streams, against 100", "ms", &pages, AT_MOST(3));
}

static void scenario_streams(struct bench *b) {
    bench_many(b);
    bench_one(b);
    bench_ready(b);
    bench_million(b);
    bench_listing(b);
}

const struct scenario STREAMS_SCENARIO = {"streams: many, one long one, claims, listing", scenario_streams};
