/* Streams: many of them while workers die, and while workers come and go. */
#include <stdio.h>

#include "stream_trial.h"

#define WORKERS 8
#define PER_STREAM 100
#define PER_STREAM_SMALL 25
#define MEMBERS_MIN 2

static const char *const ARGUMENTS[] = {"--concurrency", "2",      "--lease", "3000", "--maintain",
                                        "1000",          "--step", "1",       NULL};
static const struct post POST = {.arguments = ARGUMENTS, .is_scribe = true};

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
    hands_dismiss(trial);
    judge_all_done(trial);
    check_order(trial);
}

/* BX-003, BX-006, BX-061, BX-062: the kills are spread over the work by how much of it is done. */
static void run_streams(struct trial *trial) {
    struct hand *hands[WORKERS];
    int64_t held = 0;
    pid_t loader = begin(trial);
    for (int i = 0; i < WORKERS; i++)
        hands[i] = hand_start(trial, &POST);
    for (int i = 0; i < trial->kills && !trial->has_failed; i++) {
        int place = (int)draw_between(&trial->self, 0, WORKERS - 1);
        wait_finished(trial, trial->messages * 9 / 10 * (i + 1) / (trial->kills + 1), time_ms(trial));
        pause_ms(draw_between(&trial->self, 0, 50));
        hand_kill(trial, hands[place]);
        held += hands[place]->held;
        hands[place] = hand_start(trial, &POST);
    }
    end(trial, loader);
    printf("%s: the killed workers held %lld messages\n", trial->name, (long long)held);
}

/* One comes or one goes, by chance, between the fewest and the most. */
static int change_crew(struct trial *trial, struct hand **hands, int count) {
    bool joins = count <= MEMBERS_MIN || (count < WORKERS && draw_percent(&trial->self, 50));
    if (joins) {
        hands[count] = hand_start(trial, &POST);
        return count + 1;
    }
    int place = (int)draw_between(&trial->self, 0, count - 1);
    hand_dismiss(hands[place]);
    if (!hand_wait(hands[place], 40000))
        judge(trial, "workers go when they are told to", 1);
    hands[place] = hands[count - 1];
    return count - 1;
}

/* BX-006, BX-061: whose partitions are whose changes every second. */
static void run_crowd(struct trial *trial) {
    struct hand *hands[WORKERS];
    int64_t changes = 0, give_up_at = now_us() + time_ms(trial) * 1000;
    int count = 0;
    pid_t loader = begin(trial);
    while (count < WORKERS / 2)
        hands[count++] = hand_start(trial, &POST);
    while (count_finished(trial) < trial->messages * 9 / 10 && now_us() < give_up_at &&
           trial->hand_count < HANDS_MAX - WORKERS) {
        pause_ms(trial->full ? 1000 : 300);
        count = change_crew(trial, hands, count);
        changes++;
    }
    printf("%s: %lld times a worker came or went\n", trial->name, (long long)changes);
    end(trial, loader);
}

const struct scenario STREAMS = {.name = "streams",
                                 .run = run_streams,
                                 .messages = 600,
                                 .full_messages = 100000,
                                 .kills = 4,
                                 .full_kills = 100};
const struct scenario STREAM_CROWD = {
    .name = "stream_crowd", .run = run_crowd, .messages = 2000, .full_messages = 100000};
