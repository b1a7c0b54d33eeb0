/* Enqueue, against the fastest way to get the same rows into a table with the same columns and
 * indexes: COPY or single INSERTs in PostgreSQL, prepared INSERTs in SQLite. */
#include <stdio.h>

#include "bench.h"

struct contest {
    const char *name;
    size_t messages; /* in each round */
    size_t batch;
    int connections;
    struct target target;
    bool with_latencies;
};

struct figures {
    struct pairs rate;
    struct pairs median_ms;
    struct pairs p99_ms;
};

static void note(struct figures *figures, const double rates[2], struct latencies latencies[2]) {
    pairs_add(&figures->rate, rates[0], rates[1]);
    if (latencies[0].count > 0) {
        pairs_add(&figures->median_ms, 1e3 * latencies_at(&latencies[0], 0.5), 1e3 * latencies_at(&latencies[1], 0.5));
        pairs_add(&figures->p99_ms, 1e3 * latencies_at(&latencies[0], 0.99), 1e3 * latencies_at(&latencies[1], 0.99));
    }
    for (int i = 0; i < 2; i++)
        latencies_release(&latencies[i]);
}

/* Both tables grow alike from round to round. */
static void run_rounds(struct bench *b, const struct contest *contest, struct crew crews[2],
                       struct figures *figures) {
    for (int round = -1; round < b->rounds; round++) { /* the first fills caches and is not counted */
        struct latencies latencies[2] = {{0}};
        double rates[2];

        bench_progress("%s: round %d of %d", contest->name, round + 1, b->rounds);
        place_checkpoint(crews[0].place);
        place_checkpoint(crews[1].place);
        for (int turn = 0; turn < 2; turn++) {
            int i = (round + 1 + turn) % 2;
            struct work work = {.goal = contest->messages, .batch = contest->batch};

            if (contest->with_latencies)
                work.ret_latencies = &latencies[i];
            rates[i] = crew_enqueue(&crews[i], &work);
        }
        if (round >= 0) {
            note(figures, rates, latencies);
            continue;
        }
        for (int i = 0; i < 2; i++) {
            latencies_release(&latencies[i]);
            place_analyze(crews[i].place);
        }
    }
}

static void report(struct bench *b, const struct contest *contest, const struct figures *figures) {
    char name[64];

    report_add(b->report, contest->name, "msg/s", &figures->rate, contest->target);
    if (!contest->with_latencies)
        return;
    snprintf(name, sizeof(name), "%.48s, p50", contest->name);
    report_add(b->report, name, "ms", &figures->median_ms, NO_TARGET);
    snprintf(name, sizeof(name), "%.48s, p99", contest->name);
    report_add(b->report, name, "ms", &figures->p99_ms, NO_TARGET);
}

static void run(struct bench *b, const struct contest *contest) {
    struct place places[2];
    struct crew crews[2];
    struct figures figures = {0};

    place_create_boxcar(&places[0], b, "ours");
    place_create_raw(&places[1], b, &places[0]);
    crew_open(&crews[0], &SIDE_BOXCAR, &places[0], contest->connections);
    crew_open(&crews[1], side_twin(b), &places[1], contest->connections);
    run_rounds(b, contest, crews, &figures);
    report(b, contest, &figures);
    for (int i = 0; i < 2; i++) {
        crew_close(&crews[i]);
        place_remove(&places[i]);
    }
}

void bench_bulk(struct bench *b) {
    size_t messages = bench_count(b, 100000, 10000);

    run(b, &(struct contest){"enqueue, 1 x 100", messages, 100, 1, target_of(b, NO_TARGET, AT_LEAST(0.8)), false});
    run(b, &(struct contest){"enqueue, 1 x 1,000", messages, 1000, 1, target_of(b, AT_LEAST(0.5), AT_LEAST(0.8)),
                             false});
    run(b, &(struct contest){"enqueue, 1 x 10,000", messages, 10000, 1, target_of(b, AT_LEAST(0.5), AT_LEAST(0.8)),
                             false});
}

void bench_single(struct bench *b) {
    if (b->kind == BENCH_POSTGRES)
        run(b, &(struct contest){"enqueue, 4 x 1", bench_count(b, 12000, 200), 1, 4, AT_LEAST(0.75), true});
    else
        run(b, &(struct contest){"enqueue, 1 x 1", bench_count(b, 3000, 100), 1, 1, AT_LEAST(0.7), true});
}
