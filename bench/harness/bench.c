/* Small things that every scenario needs. */
#include "bench.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

size_t bench_count(const struct bench *b, size_t count, size_t least) {
    size_t scaled = (size_t)((double)count * b->scale);

    return scaled > least ? scaled : least;
}

int bench_connections(const struct bench *b, int connections) {
    return b->scale < 0.1 && connections > 4 ? 4 : connections;
}

double bench_now(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void bench_pause(double seconds) {
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)},
              NULL);
}

boxcar_str bench_payload(void) {
    static const char payload[] =
        "{\"order\":4711,\"customer\":\"0189f7d2-9c1e-7d4e-a6f3-2b1f0c9d8e7a\",\"currency\":\"EUR\","
        "\"total\":12995,"
        "\"lines\":[{\"sku\":\"A-100-17\",\"n\":2,\"price\":4500},{\"sku\":\"B-220-03\",\"n\":1,\"price\":"
        "3995}],"
        "\"note\":\"leave the parcel with the neighbour, please\",\"x\":\"...............\"}";

    _Static_assert(sizeof(payload) - 1 == BENCH_PAYLOAD_SIZE, "every message is of the same size");
    return (boxcar_str){payload, BENCH_PAYLOAD_SIZE};
}

void bench_known_key(char ret_key[BENCH_KEY_SIZE], uint64_t number) {
    snprintf(ret_key, BENCH_KEY_SIZE, "known %" PRIu64, number % BENCH_KNOWN);
}

void *bench_alloc(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        bench_die("out of memory");
    return memory;
}

static atomic_bool is_dying;

/* The tables go here and not in a handler of atexit(): libcrypto's own would come first, and a connection
 * needs it. */
void bench_die(const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    fputs("boxcar-bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    if (!atomic_exchange(&is_dying, true))
        place_remove_all();
    exit(2);
}

void bench_must(boxcar_status status, const char *what, const boxcar_error *err) {
    if (status != BOXCAR_OK)
        bench_die("%s: %s", what, err->message);
}

static volatile sig_atomic_t interrupted;

static void note_signal(int number) {
    (void)number;
    interrupted = 1;
}

/* Once only: after a second Ctrl-C the user does not want to wait for the tables to be dropped. */
__attribute__((constructor)) static void watch_signals(void) {
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void bench_progress(const char *format, ...) {
    va_list arguments;

    if (interrupted)
        bench_die("interrupted");
    if (!isatty(STDERR_FILENO))
        return;
    va_start(arguments, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

void pairs_add(struct pairs *pairs, double ours, double theirs) {
    if (pairs->count == BENCH_ROUNDS_MAX)
        bench_die("more than %d rounds", BENCH_ROUNDS_MAX);
    pairs->ours[pairs->count] = ours;
    pairs->theirs[pairs->count++] = theirs;
}

struct target target_of(const struct bench *b, struct target postgres, struct target sqlite) {
    return b->kind == BENCH_POSTGRES ? postgres : sqlite;
}

const struct side *side_queue(const struct bench *b) {
    return b->kind == BENCH_POSTGRES ? &SIDE_POSTGRES_QUEUE : &SIDE_SQLITE_QUEUE;
}

const struct side *side_twin(const struct bench *b) {
    return b->kind == BENCH_POSTGRES ? &SIDE_POSTGRES_TWIN : &SIDE_SQLITE_TWIN;
}
