/* Streams: many of them while workers die, and while workers come and go. */
#include <stdio.h>

#include "stream_trial.h"

#define WORKERS 8
#define PER_STREAM 100
#define PER_STREAM_SMALL 25
#define MEMBERS_MIN 2

static const char *const ARGUMENTS[] = {"--concurrency", "2",      "--lease", "3000", "--maintain",
                                        "1000",          "--step", "1",       NULL};
static const struct launch LAUNCH = {.arguments = ARGUMENTS, .is_c_worker = true};

static int64_t time_ms(const struct trial *trial) { return 60000 + trial->messages * 20; }

static struct load load_of(const struct trial *trial, int64_t count) {
    int64_t streams = trial->messages / (trial->full ? PER_STREAM : PER_STREAM_SMALL);
    return (struct load){.topic = "ordered", .count = count, .streams = streams > 0 ? streams : 1};
}

/* Half of it is there before anybody works, half comes meanwhile. */
static pid_t begin(struct trial *trial) {
    load_enqueue(trial, load_of(trial, trial->messages / 2));
    struct load rest = load_of(trial, trial->messages - trial->messages / 2);
    rest.batch = 100;
    rest.pause_ms = 5;
    return load_start(trial, rest);
}

static void end(struct trial *trial, pid_t loader) {
    load_finish(trial, loader);
    wait_finished(trial, trial->messages, time_ms(trial));
    workers_terminate(trial);
    judge_all_done(trial);
    check_order(trial);
}

/* BX-003, BX-006, BX-061, BX-062: the kills are spread over the work by how much of it is done. */
static void run_streams(struct trial *trial) {
    struct worker *workers[WORKERS];
    int64_t held = 0;
    pid_t loader = begin(trial);
    for (int i = 0; i < WORKERS; i++)
        workers[i] = worker_start(trial, &LAUNCH);
    for (int i = 0; i < trial->kills && !trial->has_failed; i++) {
        int place = (int)draw_between(&trial->self, 0, WORKERS - 1);
        wait_finished(trial, trial->messages * 9 / 10 * (i + 1) / (trial->kills + 1), time_ms(trial));
        pause_ms(draw_between(&trial->self, 0, 50));
        worker_kill(trial, workers[place]);
        held += workers[place]->held;
        workers[place] = worker_start(trial, &LAUNCH);
    }
    end(trial, loader);
    printf("%s: the killed workers held %lld messages\n", trial->name, (long long)held);
}

/* One comes or one goes, by chance, between the fewest and the most. */
static int change_crew(struct trial *trial, struct worker **workers, int count) {
    bool joins = count <= MEMBERS_MIN || (count < WORKERS && draw_percent(&trial->self, 50));
    if (joins) {
        workers[count] = worker_start(trial, &LAUNCH);
        return count + 1;
    }
    int place = (int)draw_between(&trial->self, 0, count - 1);
    worker_terminate(workers[place]);
    if (!worker_wait(workers[place], 40000))
        judge(trial, "workers go when they are told to", 1);
    workers[place] = workers[count - 1];
    return count - 1;
}

/* BX-006, BX-061: whose partitions are whose changes every second. */
static void run_crowd(struct trial *trial) {
    struct worker *workers[WORKERS];
    int64_t changes = 0, give_up_at = now_us() + time_ms(trial) * 1000;
    int count = 0;
    pid_t loader = begin(trial);
    while (count < WORKERS / 2)
        workers[count++] = worker_start(trial, &LAUNCH);
    while (count_finished(trial) < trial->messages * 9 / 10 && now_us() < give_up_at &&
           trial->worker_count < WORKERS_MAX - WORKERS) {
        pause_ms(trial->full ? 1000 : 300);
        count = change_crew(trial, workers, count);
        changes++;
    }
    printf("%s: %lld times a worker came or went\n", trial->name, (long long)changes);
    end(trial, loader);
}

const struct scenario STREAMS = {
    .run = run_streams, .messages = 600, .full_messages = 100000, .kills = 4, .full_kills = 100};
const struct scenario STREAM_CROWD = {.run = run_crowd, .messages = 2000, .full_messages = 100000};
