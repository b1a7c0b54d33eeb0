/* Enqueue, against the fastest way to get the same rows into a table with the same columns and
 * indexes: COPY or single INSERTs in PostgreSQL, prepared INSERTs in SQLite. The program is given all
 * messages at once; COPY and the prepared INSERTs then take 1,000 at a time. */
#include <stdio.h>

#include "bench.h"

#define ALL_AT_ONCE 100000

struct contest {
    const char *row;
    const char *name;
    const struct side *side;
    size_t messages; /* in each round */
    size_t batch;
    size_t their_batch;
    int connections;
    struct target target;
};

struct figures {
    struct pairs rate;
    struct pairs median_ms;
    struct pairs p99_ms;
};

static void note(struct figures *figures, const double rates[2], struct latencies latencies[2]) {
    pairs_add(&figures->rate, rates[0], rates[1]);
    if (latencies[0].count > 0) {
        pairs_add(&figures->median_ms, 1e3 * latencies_at(&latencies[0], 0.5),
                  1e3 * latencies_at(&latencies[1], 0.5));
        pairs_add(&figures->p99_ms, 1e3 * latencies_at(&latencies[0], 0.99),
                  1e3 * latencies_at(&latencies[1], 0.99));
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
            struct work work = {.goal = contest->messages,
                                .batch = i == 0 ? contest->batch : contest->their_batch};

            if (contest->batch == 1)
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
    if (contest->batch != 1)
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

    if (!bench_wants(b, contest->row))
        return;
    place_create_boxcar(&places[0], b);
    place_create_raw(&places[1], b, &places[0]);
    crew_open(&crews[0], contest->side, &places[0], contest->connections);
    crew_open(&crews[1], side_twin(b), &places[1], contest->connections);
    run_rounds(b, contest, crews, &figures);
    report(b, contest, &figures);
    for (int i = 0; i < 2; i++) {
        crew_close(&crews[i]);
        place_remove(&places[i]);
    }
}

static void run_bulk(struct bench *b, const char *row, const char *name, const struct side *side,
                     size_t batch, struct target target) {
    bool at_once = batch == ALL_AT_ONCE;
    size_t messages = bench_count(b, ALL_AT_ONCE, at_once ? 1000 : batch);

    run(b, &(struct contest){row, name, side, messages, at_once ? messages : batch, at_once ? 1000 : batch, 1,
                             target});
}

static void scenario_bulk(struct bench *b) {
    struct target target = target_of(b, AT_LEAST(0.7), AT_LEAST(0.8));

    run_bulk(b, "bulk/c-100", "enqueue, C, 1 x 100", &SIDE_BOXCAR, 100, target_of(b, NO_TARGET, target));
    run_bulk(b, "bulk/c-1000", "enqueue, C, 1 x 1,000", &SIDE_BOXCAR, 1000, target);
    run_bulk(b, "bulk/c-10000", "enqueue, C, 1 x 10,000", &SIDE_BOXCAR, 10000,
             target_of(b, AT_LEAST(0.5), AT_LEAST(0.8)));
    if (b->kind == BENCH_POSTGRES)
        run_bulk(b, "bulk/jsonb-1000", "enqueue_many(jsonb), 1 x 1,000", &SIDE_SQL, 1000, AT_LEAST(0.4));
    run_bulk(b, "bulk/program", "boxcar enqueue --batch, 100,000 lines", &SIDE_PROGRAM, ALL_AT_ONCE,
             target_of(b, AT_LEAST(0.5), NO_TARGET));
}

static void run_single(struct bench *b, const char *row, const char *name, const struct side *side, int many,
                       struct target target) {
    int connections = bench_connections(b, many);
    size_t messages = bench_count(b, b->kind == BENCH_POSTGRES ? 3000 + 3000 * (size_t)connections : 3000,
                                  10 * (size_t)connections);

    run(b, &(struct contest){row, name, side, messages, 1, 1, connections, target});
}

static void scenario_single(struct bench *b) {
    run_single(b, "single/c-1", "enqueue, C, 1 x 1", &SIDE_BOXCAR, 1,
               target_of(b, AT_LEAST(0.9), AT_LEAST(0.7)));
    if (b->kind != BENCH_POSTGRES)
        return;
    run_single(b, "single/c-4", "enqueue, C, 4 x 1", &SIDE_BOXCAR, 4, AT_LEAST(0.9));
    run_single(b, "single/c-16", "enqueue, C, 16 x 1", &SIDE_BOXCAR, 16, AT_LEAST(0.9));
    run_single(b, "single/sql-1", "enqueue(), SQL, 1 x 1", &SIDE_SQL, 1, AT_LEAST(0.75));
    run_single(b, "single/sql-4", "enqueue(), SQL, 4 x 1", &SIDE_SQL, 4, AT_LEAST(0.75));
    run_single(b, "single/sql-16", "enqueue(), SQL, 16 x 1", &SIDE_SQL, 16, AT_LEAST(0.75));
}

const struct scenario SINGLE_SCENARIO = {"enqueue one message in a transaction", scenario_single};
const struct scenario BULK_SCENARIO = {"enqueue many messages in a transaction", scenario_bulk};
