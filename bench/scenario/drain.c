/* Claim and ack, from one message at a time on many connections to big batches on a few. */
#include <stdio.h>

#include "bench.h"

#define LATENCY_SHARES 2
static const struct {
    const char *name;
    double share;
} LATENCIES[LATENCY_SHARES] = {{"p50", 0.5}, {"p99", 0.99}};

struct contest {
    const char *row;
    const char *name;
    size_t messages;
    size_t batch;
    int connections;
    struct target target;
};

struct figures {
    struct pairs rate;
    struct pairs first; /* the first call of a session */
    struct pairs latency[LATENCY_SHARES];
};

/* The log and the plain table, both new, both filled, and each connection with a first claim and ack behind
 * it, before the clock runs. The checkpoint comes before the filling: after it every page that is touched
 * first costs extra WAL, and the plain table would pay for that alone. */
static void prepare(struct bench *b, const struct contest *contest, struct place places[2],
                    struct crew crews[2], struct latencies firsts[2]) {
    size_t filled = contest->messages + (size_t)contest->connections * contest->batch;

    place_create_boxcar(&places[0], b);
    place_create_raw(&places[1], b, &places[0]);
    for (int i = 0; i < 2; i++)
        place_checkpoint(&places[i]);
    crew_open(&crews[0], &SIDE_BOXCAR, &places[0], contest->connections);
    crew_open(&crews[1], side_queue(b), &places[1], contest->connections);
    for (int i = 0; i < 2; i++) {
        crew_fill(&crews[i], filled);
        place_analyze(&places[i]);
    }
    for (int i = 0; i < 2; i++)
        crew_warm(&crews[i], contest->batch, &firsts[i]);
}

static void run_round(struct bench *b, const struct contest *contest, int round, struct figures *figures) {
    struct place places[2];
    struct crew crews[2];
    struct latencies latencies[2] = {{0}}, firsts[2] = {{0}};
    double rates[2];

    prepare(b, contest, places, crews, firsts);
    for (int turn = 0; turn < 2; turn++) {
        int i = (round + turn) % 2;
        struct work work = {.goal = contest->messages, .batch = contest->batch};

        if (contest->batch <= 100)
            work.ret_latencies = &latencies[i];
        rates[i] = crew_drain(&crews[i], &work);
    }
    pairs_add(&figures->rate, rates[0], rates[1]);
    pairs_add(&figures->first, 1e3 * latencies_at(&firsts[0], 0.5), 1e3 * latencies_at(&firsts[1], 0.5));
    for (int s = 0; contest->batch <= 100 && s < LATENCY_SHARES; s++)
        pairs_add(&figures->latency[s], 1e3 * latencies_at(&latencies[0], LATENCIES[s].share),
                  1e3 * latencies_at(&latencies[1], LATENCIES[s].share));
    for (int i = 0; i < 2; i++) {
        latencies_release(&latencies[i]);
        latencies_release(&firsts[i]);
        crew_close(&crews[i]);
        place_remove(&places[i]);
    }
}

static void report_ms(struct bench *b, const struct contest *contest, const char *what,
                      const struct pairs *pairs) {
    char name[64];

    snprintf(name, sizeof(name), "%.40s, %s", contest->name, what);
    report_add(b->report, name, "ms", pairs, NO_TARGET);
}

static void run(struct bench *b, const struct contest *contest) {
    struct figures figures = {0};

    if (!bench_wants(b, contest->row))
        return;
    for (int round = 0; round < b->rounds; round++) {
        bench_progress("%s: round %d of %d", contest->name, round + 1, b->rounds);
        run_round(b, contest, round, &figures);
    }
    report_add(b->report, contest->name, "msg/s", &figures.rate, contest->target);
    for (int s = 0; contest->batch <= 100 && s < LATENCY_SHARES; s++)
        report_ms(b, contest, LATENCIES[s].name, &figures.latency[s]);
    report_ms(b, contest, "first call", &figures.first);
}

static void scenario_drain(struct bench *b) {
    static const struct contest postgres[] = {
        {"drain/4x1", "claim and ack, 4 x 1", 6000, 1, 4, {TARGET_AT_LEAST, 0.8}},
        {"drain/32x1", "claim and ack, 32 x 1", 12000, 1, 32, {TARGET_AT_LEAST, 0.8}},
        {"drain/60x1", "claim and ack, 60 x 1", 12000, 1, 60, {TARGET_AT_LEAST, 0.8}},
        {"drain/32x10", "claim and ack, 32 x 10", 60000, 10, 32, {TARGET_AT_LEAST, 1}},
        {"drain/4x100", "claim and ack, 4 x 100", 100000, 100, 4, {TARGET_AT_LEAST, 1.5}},
        {"drain/4x1000", "claim and ack, 4 x 1,000", 200000, 1000, 4, {TARGET_AT_LEAST, 2.3}},
    };
    static const struct contest sqlite[] = {
        {"drain/1x1", "claim and ack, 1 x 1", 3000, 1, 1, {TARGET_NONE, 0}},
        {"drain/4x1", "claim and ack, 4 x 1", 6000, 1, 4, {TARGET_NONE, 0}},
        {"drain/1x1000", "claim and ack, 1 x 1,000", 100000, 1000, 1, {TARGET_AT_LEAST, 0.8}},
    };
    const struct contest *contests = b->kind == BENCH_POSTGRES ? postgres : sqlite;
    size_t count =
        b->kind == BENCH_POSTGRES ? sizeof(postgres) / sizeof(*postgres) : sizeof(sqlite) / sizeof(*sqlite);

    for (size_t i = 0; i < count; i++) {
        struct contest contest = contests[i];

        contest.connections = bench_connections(b, contest.connections);
        contest.messages =
            bench_count(b, contest.messages, (size_t)contest.connections * contest.batch / 4 + 50);
        run(b, &contest);
    }
}

const struct scenario DRAIN_SCENARIO = {"claim and ack, small batches and big ones", scenario_drain};
