/* `boxcar worker`, the program, as people run it: a process of its own. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define CONNECTIONS 4
#define BATCH 1000
#define LATENCY_RATE 500 /* messages a second */
#define PAGE 10000
#define MIB (1024.0 * 1024.0)

static const char DISCARD[] = BENCH_TOPIC "=discard";

extern char **environ;

/* Where it works is in its environment: a URL may hold a password. */
static pid_t start_worker(const struct place *place, const char *const *arguments) {
    const char *argv[32] = {BOXCAR_PROGRAM, "worker", "--log-level", "error"};
    size_t count = 4;
    pid_t pid;
    int rc;

    for (size_t i = 0; arguments[i] && count < 31; i++)
        argv[count++] = arguments[i];
    argv[count] = NULL;
    setenv("BOXCAR_STORE", place->url, 1);
    setenv("BOXCAR_SCHEMA", place->schema[0] ? place->schema : "boxcar", 1);
    rc = posix_spawn(&pid, BOXCAR_PROGRAM, NULL, NULL, (char *const *)(uintptr_t)argv, environ);
    if (rc != 0)
        bench_die("%s: %s", BOXCAR_PROGRAM, strerror(rc));
    return pid;
}

/* Returns its peak memory in bytes. */
static double end_worker(pid_t pid, int signal_number) {
    struct rusage usage;
    int status;

    if (signal_number != 0)
        kill(pid, signal_number);
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            bench_die("wait for the worker: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        bench_die("the worker ended with status %d", status);
    return (double)usage.ru_maxrss * 1024;
}

static void pause_s(double seconds) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)},
              NULL);
}

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
    const char *const arguments[] = {"--drain",      "--handler", handler,  "--concurrency", "4",
                                     "--batch-size", "1000",      "--poll", "20ms",          NULL};
    double started = bench_now();
    double memory = end_worker(start_worker(place, arguments), 0);

    if (ret_memory)
        *ret_memory = memory;
    return (double)messages / (bench_now() - started);
}

static void drain_round(struct bench *b, int round, size_t messages, struct pairs *pairs) {
    struct place ours, raw;
    struct crew crew;
    double rates[2] = {0};

    place_create_boxcar(&ours, b, "ours");
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

    for (int round = 0; round < b->rounds; round++) {
        bench_progress("worker drain: round %d of %d", round + 1, b->rounds);
        drain_round(b, round, bench_count(b, 400000, 4000), &pairs);
    }
    report_add(b->report, "worker drain, 4 threads x 1,000", "msg/s", &pairs,
               target_of(b, AT_LEAST(1.2), AT_LEAST(0.5)));
}

/* ---- memory, and programs as handlers ---- */

static void run_memory(struct bench *b) {
    size_t messages = bench_count(b, 1000000, 4000);
    struct pairs pairs = {0};
    struct place place;
    double bytes;

    bench_progress("worker memory: filling");
    place_create_boxcar(&place, b, "ours");
    fill(&place, messages);
    bench_progress("worker memory: draining");
    drain(&place, DISCARD, messages, &bytes);
    place_remove(&place);
    pairs_add(&pairs, bytes / MIB, 64);
    report_add(b->report, "worker memory, 1,000,000 messages", "MiB", &pairs, AT_MOST(1));
}

static void run_exec(struct bench *b) {
    size_t messages = bench_count(b, 4000, 100);
    struct pairs pairs = {0};

    for (int round = 0; round < b->rounds; round++) {
        struct place place;

        bench_progress("worker exec: round %d of %d", round + 1, b->rounds);
        place_create_boxcar(&place, b, "ours");
        fill(&place, messages);
        pairs_add(&pairs, drain(&place, BENCH_TOPIC "=exec:true", messages, NULL), 500);
        place_remove(&place);
    }
    report_add(b->report, "worker exec:true, against 500/s", "msg/s", &pairs, AT_LEAST(1));
}

/* ---- latency ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Milliseconds from enqueue to ack, as the database's clock saw them; sorted. */
static size_t read_latencies(const struct place *place, double *ret_ms) {
    boxcar_list_options page = BOXCAR_LIST_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list;
    boxcar_store *store = place_open(place);
    size_t count;

    page.by_status = true;
    page.status = BOXCAR_DONE;
    page.limit = PAGE;
    bench_must(boxcar_message_page(store, &page, &list, &err), "list", &err);
    count = boxcar_message_list_count(list);
    for (size_t i = 0; i < count; i++) {
        const boxcar_message *message = boxcar_message_list_get(list, i);

        ret_ms[i] = (double)(message->processed_at - message->created_at) / 1000;
    }
    boxcar_message_list_free(list);
    boxcar_store_close(store);
    qsort(ret_ms, count, sizeof(*ret_ms), compare_doubles);
    return count;
}

static void enqueue_steadily(const struct place *place, size_t messages) {
    double started = bench_now();
    struct crew crew;

    crew_open(&crew, &SIDE_BOXCAR, place, 1);
    for (size_t i = 0; i < messages; i++) {
        double wait = started + (double)i / LATENCY_RATE - bench_now();

        if (wait > 0)
            pause_s(wait);
        SIDE_BOXCAR.enqueue_one(crew.connections[0]);
    }
    crew_close(&crew);
}

static void run_latency(struct bench *b) {
    static const char *const arguments[] = {"--handler", DISCARD, NULL};
    size_t messages = bench_count(b, 2500, 100);
    struct pairs p50 = {0}, p99 = {0};
    double *ms = bench_alloc(PAGE, sizeof(*ms));

    for (int round = 0; round < b->rounds; round++) {
        struct place place;
        size_t count;
        pid_t pid;

        bench_progress("worker latency: round %d of %d", round + 1, b->rounds);
        place_create_boxcar(&place, b, "ours");
        pid = start_worker(&place, arguments);
        pause_s(0.5);
        enqueue_steadily(&place, messages < PAGE ? messages : PAGE);
        pause_s(0.7);
        end_worker(pid, SIGTERM);
        count = read_latencies(&place, ms);
        if (count == 0)
            bench_die("the worker has done nothing");
        pairs_add(&p50, ms[count / 2], 3);
        pairs_add(&p99, ms[count * 99 / 100], 20);
        place_remove(&place);
    }
    free(ms);
    report_add(b->report, "worker latency at 500/s, p50", "ms", &p50, target_of(b, AT_MOST(1), NO_TARGET));
    report_add(b->report, "worker latency at 500/s, p99", "ms", &p99, target_of(b, AT_MOST(1), NO_TARGET));
}

/* ---- what a sleeping worker costs those who enqueue ---- */

/* It waits for another topic, so it never wakes. */
static void run_sleeper(struct bench *b) {
    static const char *const arguments[] = {"--handler", "bench.other=discard", NULL};
    size_t messages = bench_count(b, 12000, 200);
    struct pairs pairs = {0};
    struct place place;
    struct crew crew;

    place_create_boxcar(&place, b, "ours");
    crew_open(&crew, &SIDE_BOXCAR, &place, b->kind == BENCH_POSTGRES ? CONNECTIONS : 1);
    crew_enqueue(&crew, &(struct work){.goal = messages / 4, .batch = 1}); /* caches and plans */
    for (int round = 0; round < b->rounds; round++) {
        double rates[2] = {0};

        bench_progress("worker asleep: round %d of %d", round + 1, b->rounds);
        for (int turn = 0; turn < 2; turn++) {
            int with = (round + turn) % 2 == 0;
            pid_t pid = with ? start_worker(&place, arguments) : 0;

            pause_s(with ? 2 : 0); /* its pauses have grown */
            rates[with ? 0 : 1] = crew_enqueue(&crew, &(struct work){.goal = messages, .batch = 1});
            if (with)
                end_worker(pid, SIGTERM);
        }
        pairs_add(&pairs, rates[0], rates[1]);
    }
    crew_close(&crew);
    place_remove(&place);
    report_add(b->report, "enqueue beside a sleeping worker", "msg/s", &pairs,
               target_of(b, AT_LEAST(0.95), NO_TARGET));
}

void bench_worker(struct bench *b) {
    run_drain(b);
    run_latency(b);
    run_sleeper(b);
    run_exec(b);
    run_memory(b);
}
