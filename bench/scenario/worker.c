/* `boxcar worker`, the program, as people run it: a process of its own. */
#include <signal.h>

#include "bench.h"
#include "program.h"

#define CONNECTIONS 4
#define BATCH 1000
#define MIB (1024.0 * 1024.0)

static const char DISCARD[] = BENCH_TOPIC "=discard";

static void fill(struct place *place, size_t messages) {
    struct crew crew;

    crew_open(&crew, &SIDE_BOXCAR, place, 1);
    crew_fill(&crew, messages);
    crew_close(&crew);
    place_analyze(place);
}

/* ---- draining ---- */

/* From the start of the process to its end: connecting and looking whether it is done included. */
static double drain(const struct place *place, const char *handler, size_t messages, double *ret_memory) {
    const char *const arguments[] = {"worker", "--log-level",   "error", "--drain",      "--handler",
                                     handler,  "--concurrency", "4",     "--batch-size", "1000",
                                     "--poll", "20ms",          NULL};
    double started = bench_now();
    double memory = program_end(program_start(place, arguments, false), 0);

    if (ret_memory)
        *ret_memory = memory;
    return (double)messages / (bench_now() - started);
}

static void drain_round(struct bench *b, int round, size_t messages, struct pairs *pairs) {
    struct place ours, raw;
    struct crew crew;
    double rates[2] = {0};

    place_create_boxcar(&ours, b);
    place_create_raw(&raw, b, &ours);
    place_checkpoint(&ours);
    place_checkpoint(&raw);
    fill(&ours, messages);
    crew_open(&crew, side_queue(b), &raw, b->kind == BENCH_POSTGRES ? CONNECTIONS : 1);
    crew_fill(&crew, messages);
    place_analyze(&raw);
    for (int turn = 0; turn < 2; turn++) {
        if ((round + turn) % 2 == 0)
            rates[0] = drain(&ours, DISCARD, messages, NULL);
        else
            rates[1] = crew_drain(&crew, &(struct work){.goal = messages, .batch = BATCH});
    }
    pairs_add(pairs, rates[0], rates[1]);
    crew_close(&crew);
    place_remove(&ours);
    place_remove(&raw);
}

static void run_drain(struct bench *b) {
    struct pairs pairs = {0};

    if (!bench_wants(b, "worker/drain"))
        return;
    for (int round = 0; round < b->rounds; round++) {
        bench_progress("worker drain: round %d of %d", round + 1, b->rounds);
        drain_round(b, round, bench_count(b, 400000, 1000), &pairs);
    }
    report_add(b->report, "worker drain, 4 threads x 1,000", "msg/s", &pairs,
               target_of(b, AT_LEAST(1.2), AT_LEAST(0.5)));
}

/* ---- memory, and programs as handlers ---- */

static void run_memory(struct bench *b) {
    size_t messages = bench_count(b, 1000000, 1000);
    struct pairs pairs = {0};
    struct place place;
    double bytes;

    if (!bench_wants(b, "worker/memory"))
        return;
    bench_progress("worker memory: filling");
    place_create_boxcar(&place, b);
    fill(&place, messages);
    bench_progress("worker memory: draining");
    drain(&place, DISCARD, messages, &bytes);
    place_remove(&place);
    pairs_add(&pairs, bytes / MIB, 64);
    report_add(b->report, "worker memory, 1,000,000 messages", "MiB", &pairs, AT_MOST(1));
}

static void run_exec(struct bench *b) {
    size_t messages = bench_count(b, 4000, 20);
    struct pairs pairs = {0};

    if (!bench_wants(b, "worker/exec"))
        return;
    for (int round = 0; round < b->rounds; round++) {
        struct place place;

        bench_progress("worker exec: round %d of %d", round + 1, b->rounds);
        place_create_boxcar(&place, b);
        fill(&place, messages);
        pairs_add(&pairs, drain(&place, BENCH_TOPIC "=exec:true", messages, NULL), 500);
        place_remove(&place);
    }
    report_add(b->report, "worker exec:true, against 500/s", "msg/s", &pairs, AT_LEAST(1));
}

/* ---- the cost of a sleeping worker for an enqueue ---- */

/* It waits for another topic, so it never wakes. */
static void run_sleeper(struct bench *b) {
    static const char *const arguments[] = {"worker",    "--log-level",         "error",
                                            "--handler", "bench.other=discard", NULL};
    size_t messages = bench_count(b, 12000, 200);
    struct pairs pairs = {0};
    struct place place;
    struct crew crew;

    if (!bench_wants(b, "worker/asleep"))
        return;
    place_create_boxcar(&place, b);
    crew_open(&crew, &SIDE_BOXCAR, &place, b->kind == BENCH_POSTGRES ? CONNECTIONS : 1);
    crew_enqueue(&crew, &(struct work){.goal = messages / 4, .batch = 1}); /* caches and plans */
    for (int round = 0; round < b->rounds; round++) {
        double rates[2] = {0};

        bench_progress("worker asleep: round %d of %d", round + 1, b->rounds);
        for (int turn = 0; turn < 2; turn++) {
            int with = (round + turn) % 2 == 0;
            pid_t pid = with ? program_start(&place, arguments, false) : 0;

            bench_pause(with && b->scale >= 0.1 ? 2 : 0); /* its pauses have grown */
            rates[with ? 0 : 1] = crew_enqueue(&crew, &(struct work){.goal = messages, .batch = 1});
            if (with)
                program_end(pid, SIGTERM);
        }
        pairs_add(&pairs, rates[0], rates[1]);
    }
    crew_close(&crew);
    place_remove(&place);
    report_add(b->report, "enqueue beside a sleeping worker", "msg/s", &pairs,
               target_of(b, AT_LEAST(0.95), NO_TARGET));
}

static void scenario_worker(struct bench *b) {
    run_drain(b);
    run_sleeper(b);
    run_exec(b);
    run_memory(b);
}

const struct scenario WORKER_SCENARIO = {"boxcar worker: drain, memory, exec, asleep", scenario_worker};
