/* A big message: it must arrive byte by byte as it was sent, and cost no more than four times its
 * size in memory. Each half runs in a child process, whose peak is its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define PAYLOAD_MIB 64
#define MIB (1024.0 * 1024.0)

/* Text that repeats nowhere near itself, so that the server cannot compress it to nothing and no
 * mistake about an offset goes unseen. */
static char letter_at(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (char)(' ' + (*state >> 32) % 95);
}

#define SEED UINT64_C(0x9e3779b97f4a7c15)

static char *payload_make(size_t size) {
    char *payload = bench_alloc(size, 1);
    uint64_t state = SEED;

    for (size_t i = 0; i < size; i++)
        payload[i] = letter_at(&state);
    return payload;
}

static void payload_compare(boxcar_str payload, size_t size) {
    uint64_t state = SEED;

    if (payload.len != size)
        bench_die("the payload came back with %zu of %zu bytes", payload.len, size);
    for (size_t i = 0; i < size; i++)
        if (payload.data[i] != letter_at(&state))
            bench_die("the payload came back different at byte %zu", i);
}

static void enqueue_big(const struct place *place, size_t size) {
    boxcar_store *store = place_open(place);
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    char *payload = payload_make(size);

    message.topic = BOXCAR_STR(BENCH_TOPIC);
    message.payload = (boxcar_str){payload, size};
    bench_must(boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &err), "enqueue", &err);
    free(payload);
    boxcar_store_close(store);
}

static void claim_big(const struct place *place, size_t size) {
    boxcar_store *store = place_open(place);
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;

    options.owner.uuid = boxcar_uuid_new();
    bench_must(boxcar_claim(store, &options, &list, &err), "claim", &err);
    if (list->count != 1)
        bench_die("claim brought %zu messages, not one", list->count);
    payload_compare(list->items[0]->payload, size);
    boxcar_list_free(list);
    boxcar_store_close(store);
}

static double peak_mib(void) {
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    double kib = -1;

    while (status && kib < 0 && fgets(line, sizeof(line), status))
        sscanf(line, "VmHWM: %lf", &kib);
    if (status)
        fclose(status);
    if (kib < 0)
        bench_die("this system does not tell the peak of a process's memory");
    return kib / 1024;
}

/* Places are the parent's to remove, hence _exit. */
static _Noreturn void run_child(void (*act)(const struct place *, size_t), const struct place *place,
                                size_t size, int out) {
    double peak;

    act(place, size);
    peak = peak_mib();
    _exit(write(out, &peak, sizeof(peak)) == (ssize_t)sizeof(peak) ? 0 : 1);
}

static double peak_of_child(void (*act)(const struct place *, size_t), const struct place *place,
                            size_t size) {
    int ends[2], status = 1;
    double peak = 0;
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        bench_die("cannot start a process");
    if (child == 0)
        run_child(act, place, size, ends[1]);
    close(ends[1]);
    if (read(ends[0], &peak, sizeof(peak)) != (ssize_t)sizeof(peak) || waitpid(child, &status, 0) != child ||
        status != 0)
        bench_die("the big message did not make it");
    close(ends[0]);
    return peak;
}

static void scenario_payload(struct bench *b) {
    size_t size = (size_t)(PAYLOAD_MIB * MIB * (b->scale < 1 ? b->scale : 1));
    struct target target =
        b->scale < 1 ? NO_TARGET : AT_MOST(4); /* a small one drowns in the program itself */
    struct pairs enqueue = {0}, claim = {0};
    struct place place;

    if (!bench_wants(b, "payload"))
        return;
    bench_progress("payload of %.1f MiB", (double)size / MIB);
    place_create_boxcar(&place, b);
    pairs_add(&enqueue, peak_of_child(enqueue_big, &place, size), (double)size / MIB);
    pairs_add(&claim, peak_of_child(claim_big, &place, size), (double)size / MIB);
    place_remove(&place);
    report_add(b->report, "big payload, peak of enqueue", "MiB", &enqueue, target);
    report_add(b->report, "big payload, peak of claim", "MiB", &claim, target);
}

const struct scenario PAYLOAD_SCENARIO = {"memory that a message of 64 MiB takes", scenario_payload};
