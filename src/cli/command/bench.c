/* boxcar bench: how fast this store is, as this program uses it.
 *
 * Three measurements on a topic of its own: storing messages, working them off, and how long one
 * takes from the sender to the handler while the store has little to do. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "cli/output/progress.h"
#include "common.h"

static struct { char *messages, *payload_size, *concurrency, *batch_size; } given;

static struct poptOption OPTIONS[] = {
    OPTION_TEXT("messages", given.messages, "how many, 1 to 10000000 (default 10000)", "N"),
    OPTION_TEXT("payload-size", given.payload_size, "bytes, 20 to 1048576 (default 256)", "N"),
    OPTION_TEXT("concurrency", given.concurrency, "handlers at a time, 1 to 1024 (default 4)", "N"),
    OPTION_TEXT("batch-size", given.batch_size,
                "messages in one enqueue, and in one claim, 1 to 10000 (default 50)", "N"),
    POPT_TABLEEND,
};

/* The payload begins with the time it was sent, in digits. */
enum { STAMP_SIZE = 20 };
enum { LATENCY_RATE = 500, LATENCY_MESSAGES = 3 * LATENCY_RATE };

struct bench {
    struct cli *cli;
    char topic[64];
    char *payload;
    int messages, payload_size, concurrency, batch_size;

    boxcar_worker *worker;
    pthread_t thread;
    atomic_bool is_over; /* the worker's thread */
    boxcar_status worked;
    boxcar_error worker_error;

    /* of the latency, filled in by handlers */
    int64_t *latencies_ns;
    _Atomic size_t latency_count;
    size_t latency_capacity;
};

struct results {
    double enqueue_seconds, drain_seconds;
    int64_t drained;
    size_t latency_messages; /* that this worker got */
    double latency_rate;     /* as it came out */
    double p50_ms, p99_ms;
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_until_ns(int64_t at) {
    struct timespec until = {.tv_sec = (time_t)(at / 1000000000), .tv_nsec = (long)(at % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

static double rate(int64_t count, double seconds) { return seconds > 0 ? (double)count / seconds : 0; }

/* ---- a worker on a thread of its own ---- */

static void *work(void *context) {
    struct bench *bench = context;
    bench->worked = boxcar_worker_run(bench->worker, &bench->worker_error);
    bench->is_over = true;
    return NULL;
}

static boxcar_verdict take_time(void *context, boxcar_delivery *delivery) {
    struct bench *bench = context;
    char digits[STAMP_SIZE + 1] = "";
    boxcar_str payload = boxcar_delivery_message(delivery)->payload;
    memcpy(digits, payload.data, payload.len < STAMP_SIZE ? payload.len : STAMP_SIZE);
    int64_t latency = now_ns() - strtoll(digits, NULL, 10);
    size_t i = atomic_fetch_add(&bench->latency_count, 1);
    if (i < bench->latency_capacity) /* a repeated delivery may be one too many */
        bench->latencies_ns[i] = latency;
    return BOXCAR_VERDICT_ACK;
}

static int worker_start(struct bench *bench, bool drain) {
    struct cli *cli = bench->cli;
    boxcar_store_options store = cli_store_options(cli);
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    options.store = &store;
    options.concurrency = bench->concurrency;
    options.batch_size = bench->batch_size;
    options.maintain_ms = 0;
    options.drain = drain;
    boxcar_handler handler = BOXCAR_HANDLER_INIT;
    handler.topic = boxcar_str_of(bench->topic);
    handler.kind = drain ? BOXCAR_HANDLER_DISCARD : BOXCAR_HANDLER_FUNCTION;
    handler.run = take_time;
    handler.context = bench;
    bench->is_over = false;
    TRY(cli_check(cli, boxcar_worker_new(&options, &bench->worker, &cli->err)));
    TRY(cli_check(cli, boxcar_worker_handle(bench->worker, &handler, &cli->err)));
    int error = pthread_create(&bench->thread, NULL, work, bench);
    return error ? cli_fail(cli, CLI_ERROR, "cannot start a thread: %s", strerror(error)) : CLI_DONE;
}

static int worker_end(struct bench *bench) {
    boxcar_worker_stop(bench->worker);
    pthread_join(bench->thread, NULL);
    return bench->worked == BOXCAR_OK ? CLI_DONE : cli_fail_with(bench->cli, &bench->worker_error);
}

static void worker_free(struct bench *bench) {
    boxcar_worker_free(bench->worker);
    bench->worker = NULL;
}

static int64_t worker_acked(const struct bench *bench) {
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    boxcar_worker_handler_stats_read(bench->worker, 0, &stats);
    return stats.acked;
}

/* ---- enqueue ---- */

static boxcar_new_message message_of(const struct bench *bench) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    message.topic = boxcar_str_of(bench->topic);
    message.payload = (boxcar_str){bench->payload, (size_t)bench->payload_size};
    return message;
}

static boxcar_status enqueue_batches(struct bench *bench, boxcar_new_message *batch,
                                     struct progress *progress) {
    boxcar_status status = BOXCAR_OK;
    for (int done = 0; status == BOXCAR_OK && done < bench->messages;) {
        int count = bench->messages - done < bench->batch_size ? bench->messages - done : bench->batch_size;
        status = boxcar_enqueue_many(bench->cli->store, BOXCAR_OUTBOX, batch, (size_t)count, NULL,
                                     &bench->cli->err);
        done += count;
        progress_count(progress, done);
    }
    return status;
}

static int measure_enqueue(struct bench *bench, struct results *results) {
    AUTO_FREE boxcar_new_message *batch = calloc((size_t)bench->batch_size, sizeof(*batch));
    if (!batch)
        return cli_no_memory(bench->cli);
    for (int i = 0; i < bench->batch_size; i++)
        batch[i] = message_of(bench);
    struct progress *progress = progress_begin(bench->cli, "storing messages");
    int64_t started = now_ns();
    boxcar_status status = enqueue_batches(bench, batch, progress);
    results->enqueue_seconds = (double)(now_ns() - started) / 1e9;
    progress_end(progress);
    return cli_check(bench->cli, status);
}

/* ---- drain ---- */

/* Looking for the end of the work takes the worker a moment, which is not counted: the time of the last
 * ack is. */
static void watch_drain(struct bench *bench, struct results *results) {
    struct progress *progress = progress_begin(bench->cli, "working them off");
    int64_t started = now_ns(), last = started, seen = 0;
    for (bool is_over = false; !is_over;) {
        sleep_until_ns(now_ns() + 1000000);
        is_over = bench->is_over;
        int64_t acked = worker_acked(bench);
        if (acked > seen) {
            seen = acked;
            last = now_ns();
            progress_count(progress, seen);
        }
    }
    progress_end(progress);
    results->drained = seen;
    results->drain_seconds = (double)(last - started) / 1e9;
}

static int measure_drain(struct bench *bench, struct results *results) {
    TRY(worker_start(bench, true));
    watch_drain(bench, results);
    TRY(worker_end(bench));
    worker_free(bench);
    return CLI_DONE;
}

/* ---- latency ---- */

static boxcar_status send_at_rate(struct bench *bench, struct results *results) {
    boxcar_new_message message = message_of(bench);
    int64_t started = now_ns();
    boxcar_status status = BOXCAR_OK;
    for (size_t i = 0; status == BOXCAR_OK && i < bench->latency_capacity; i++) {
        char stamp[STAMP_SIZE + 1];
        sleep_until_ns(started + (int64_t)i * (1000000000 / LATENCY_RATE));
        snprintf(stamp, sizeof(stamp), "%0*lld", STAMP_SIZE, (long long)now_ns());
        memcpy(bench->payload, stamp, STAMP_SIZE);
        status = boxcar_enqueue(bench->cli->store, BOXCAR_OUTBOX, &message, NULL, &bench->cli->err);
    }
    results->latency_rate = rate((int64_t)bench->latency_capacity, (double)(now_ns() - started) / 1e9);
    return status;
}

/* Another worker may take some of the messages: then the wait ends after a time limit. */
static void wait_for_handlers(const struct bench *bench) {
    int64_t until = now_ns() + INT64_C(5000000000);
    while (bench->latency_count < bench->latency_capacity && now_ns() < until && !bench->is_over)
        sleep_until_ns(now_ns() + 1000000);
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The smallest latency that `percent` percent of the messages do not exceed. */
static double percentile_ms(const int64_t *sorted, size_t count, size_t percent) {
    return count ? (double)sorted[(count * percent + 99) / 100 - 1] / 1e6 : 0;
}

static void evaluate_latency(struct bench *bench, struct results *results) {
    size_t count = bench->latency_count;
    count = count < bench->latency_capacity ? count : bench->latency_capacity;
    qsort(bench->latencies_ns, count, sizeof(*bench->latencies_ns), by_size);
    results->latency_messages = count;
    results->p50_ms = percentile_ms(bench->latencies_ns, count, 50);
    results->p99_ms = percentile_ms(bench->latencies_ns, count, 99);
}

static int measure_latency(struct bench *bench, struct results *results) {
    bench->latency_capacity = bench->messages < LATENCY_MESSAGES ? (size_t)bench->messages : LATENCY_MESSAGES;
    bench->latencies_ns = calloc(bench->latency_capacity, sizeof(*bench->latencies_ns));
    if (!bench->latencies_ns)
        return cli_no_memory(bench->cli);
    TRY(worker_start(bench, false));
    struct progress *progress = progress_begin(bench->cli, "sending one by one");
    boxcar_status status = send_at_rate(bench, results);
    wait_for_handlers(bench);
    progress_end(progress);
    int ended = worker_end(bench);
    evaluate_latency(bench, results);
    TRY(cli_check(bench->cli, status));
    return ended;
}

/* ---- the command ---- */

static json_t *results_json(const struct bench *bench, const struct results *results) {
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:I, s:f, s:f, s:I, s:f, s:f, s:f}", "topic",
                     bench->topic, "messages", bench->messages, "payload_size", bench->payload_size,
                     "concurrency", bench->concurrency, "batch_size", bench->batch_size, "enqueue_seconds",
                     results->enqueue_seconds, "enqueue_per_second",
                     rate(bench->messages, results->enqueue_seconds), "drained", (json_int_t)results->drained,
                     "drain_seconds", results->drain_seconds, "drain_per_second",
                     rate(results->drained, results->drain_seconds), "latency_messages",
                     (json_int_t)results->latency_messages, "latency_rate_per_second", results->latency_rate,
                     "latency_p50_ms", results->p50_ms, "latency_p99_ms", results->p99_ms);
}

static int print(const struct bench *bench, const struct results *results) {
    if (!cli_is_for_people(bench->cli))
        return output_object(bench->cli, results_json(bench, results));
    printf("enqueue  %.0f/s  %d messages of %d bytes, %d in a transaction, one connection\n",
           rate(bench->messages, results->enqueue_seconds), bench->messages, bench->payload_size,
           bench->batch_size);
    printf("drain    %.0f/s  %lld messages claimed and acked by one worker, up to %d in a claim\n",
           rate(results->drained, results->drain_seconds), (long long)results->drained, bench->batch_size);
    printf("latency  %.1f ms (median), %.1f ms (99%%)  from before the enqueue to the handler, "
           "%zu messages at %.0f/s\n",
           results->p50_ms, results->p99_ms, results->latency_messages, results->latency_rate);
    return CLI_DONE;
}

/* Messages that other workers took are missing in the figures. */
static void warn_about_others(const struct bench *bench, const struct results *results) {
    int64_t missing =
        bench->messages - results->drained + (int64_t)(bench->latency_capacity - results->latency_messages);
    if (missing > 0)
        cli_warn(bench->cli, "%lld messages were not handled here: does another worker handle every topic?",
                 (long long)missing);
}

static int measure(struct bench *bench) {
    struct results results = {0};
    TRY(measure_enqueue(bench, &results));
    TRY(measure_drain(bench, &results));
    TRY(measure_latency(bench, &results));
    warn_about_others(bench, &results);
    return print(bench, &results);
}

static int read_count(const struct cli *cli, const char *option, const char *text, int min, int max,
                      int *ret_count) {
    if (!value_count(cli, option, text, ret_count))
        return CLI_USAGE;
    if (*ret_count < min || *ret_count > max)
        return cli_usage(cli, "%s is %d: give %d to %d", option, *ret_count, min, max);
    return CLI_DONE;
}

static int prepare(struct bench *bench) {
    struct cli *cli = bench->cli;
    unsigned int chance = 0;
    TRY(read_count(cli, "--messages", given.messages, 1, 10000000, &bench->messages));
    TRY(read_count(cli, "--payload-size", given.payload_size, STAMP_SIZE, 1048576, &bench->payload_size));
    TRY(read_count(cli, "--concurrency", given.concurrency, 1, BOXCAR_CONCURRENCY_MAX, &bench->concurrency));
    TRY(read_count(cli, "--batch-size", given.batch_size, 1, BOXCAR_BATCH_SIZE_MAX, &bench->batch_size));
    if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
        return cli_fail(cli, CLI_ERROR, "cannot get a random number: %s", strerror(errno));
    snprintf(bench->topic, sizeof(bench->topic), "boxcar.bench.%08x", chance);
    bench->payload = malloc((size_t)bench->payload_size);
    if (!bench->payload)
        return cli_no_memory(cli);
    memset(bench->payload, '0', (size_t)bench->payload_size);
    return cli_store_open(cli);
}

static void release(struct bench *bench) {
    worker_free(bench);
    free(bench->latencies_ns);
    free(bench->payload);
}

static int run(struct cli *cli) {
    CLEANUP(release)
    struct bench bench = {.cli = cli,
                          .messages = 10000,
                          .payload_size = 256,
                          .concurrency = BOXCAR_CONCURRENCY_DEFAULT,
                          .batch_size = BOXCAR_BATCH_SIZE_DEFAULT,
                          .worker_error = BOXCAR_ERROR_INIT};
    TRY(prepare(&bench));
    return measure(&bench);
}

static const struct command CMD_BENCH = {
    .name = "bench",
    .summary = "measure how fast this store is",
    .usage = "[--messages N] [--payload-size N] [--concurrency N] [--batch-size N]",
    .description =
        "Stores messages on a topic of its own (boxcar.bench.XXXXXXXX), one batch after another. Then a\n"
        "worker in this process handles them with a handler that does nothing. Then the command enqueues\n"
        "up to 1500 more messages, 500 a second, and measures the time until each reaches its handler. The\n"
        "figures are those of one process, with one connection that enqueues and one that claims. They\n"
        "depend on what else the machine does. With -o json an object.\n"
        "\n"
        "The command writes to your store. The messages stay there, done, until retention_done has passed.\n"
        "After an interruption some stay ready: boxcar worker --drain --handler 'boxcar.bench.*=discard'\n"
        "finishes them. A running worker that handles every topic takes some of the messages.\n",
    .examples = "boxcar bench --messages 500\n"
                "boxcar bench --messages 500 --batch-size 1 --payload-size 4096 -o json\n",
    .options = OPTIONS,
    .run = run,
};

const struct command_noun BENCH_COMMANDS = {"Upkeep", (const struct command *const[]){&CMD_BENCH, NULL}};
