/* Milliseconds from enqueue to ack at a steady rate: `boxcar worker` with the handler `discard`, against
 * NOTIFY alone; in SQLite, which has no NOTIFY, against fixed times. */
#include <signal.h>
#include <stdlib.h>

#include "bench.h"
#include "program.h"
#include "raw_notify.h"

#define RATE 500 /* messages a second */
#define PAGE 10000
#define SQLITE_P50_MS 3
#define SQLITE_P99_MS 20

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* As the database's clock saw them; sorted. Returns how many. */
static size_t read_latencies(const struct place *place, double *ret_ms) {
    boxcar_message_filter page = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list;
    boxcar_store *store = place_open(place);
    size_t count;

    page.by_status = true;
    page.status = BOXCAR_DONE;
    page.limit = PAGE;
    bench_must(boxcar_message_page(store, &page, &list, &err), "list", &err);
    count = list->count;
    for (size_t i = 0; i < count; i++) {
        const boxcar_message *message = list->items[i];

        ret_ms[i] = (double)(message->processed_at - message->created_at) / 1000;
    }
    boxcar_list_free(list);
    boxcar_store_close(store);
    qsort(ret_ms, count, sizeof(*ret_ms), compare_doubles);
    return count;
}

static void enqueue_steadily(const struct place *place, size_t messages) {
    double started;
    struct crew crew;

    crew_open(&crew, &SIDE_BOXCAR, place, 1);
    started = bench_now();
    for (size_t i = 0; i < messages; i++) {
        double wait = started + (double)i / RATE - bench_now();

        if (wait > 0)
            bench_pause(wait);
        SIDE_BOXCAR.enqueue_one(crew.connections[0]);
    }
    crew_close(&crew);
}

static void run_boxcar(struct bench *b, size_t messages, double *ret_ms) {
    static const char *const arguments[] = {"worker",    "--log-level",          "error",
                                            "--handler", BENCH_TOPIC "=discard", NULL};
    struct place place;
    size_t count;
    pid_t pid;

    place_create_boxcar(&place, b);
    pid = program_start(&place, arguments, false);
    bench_pause(0.5);
    enqueue_steadily(&place, messages);
    bench_pause(0.7);
    program_end(pid, SIGTERM);
    count = read_latencies(&place, ret_ms);
    if (count != messages)
        bench_die("latency: the worker has done %zu of %zu messages", count, messages);
    place_remove(&place);
}

static void run_raw(struct bench *b, size_t messages, double *ret_ms) {
    struct place model, raw;

    place_create_boxcar(&model, b);
    place_create_raw(&raw, b, &model);
    raw_notify_run(&raw, messages, RATE, ret_ms);
    place_remove(&raw);
    place_remove(&model);
}

static void scenario_latency(struct bench *b) {
    size_t messages = bench_count(b, 2500, 100) < PAGE ? bench_count(b, 2500, 100) : PAGE;
    struct pairs p50 = {0}, p99 = {0};
    double *ms[2];

    if (!bench_wants(b, "latency"))
        return;
    for (int i = 0; i < 2; i++)
        ms[i] = bench_alloc(PAGE, sizeof(*ms[i]));
    for (int round = 0; round < b->rounds; round++) {
        bench_progress("latency: round %d of %d", round + 1, b->rounds);
        run_boxcar(b, messages, ms[0]);
        if (b->kind == BENCH_POSTGRES)
            run_raw(b, messages, ms[1]);
        pairs_add(&p50, ms[0][messages / 2], b->kind == BENCH_POSTGRES ? ms[1][messages / 2] : SQLITE_P50_MS);
        pairs_add(&p99, ms[0][messages * 99 / 100],
                  b->kind == BENCH_POSTGRES ? ms[1][messages * 99 / 100] : SQLITE_P99_MS);
    }
    for (int i = 0; i < 2; i++)
        free(ms[i]);
    report_add(b->report, "worker latency at 500/s, p50", "ms", &p50, target_of(b, AT_MOST(1.8), NO_TARGET));
    report_add(b->report, "worker latency at 500/s, p99", "ms", &p99, NO_TARGET);
}

const struct scenario LATENCY_SCENARIO = {"boxcar worker at 500 messages a second", scenario_latency};
