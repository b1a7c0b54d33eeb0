/* PostgreSQL goes away: the server crashes, sessions are ended, the link is cut. */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link.h"
#include "trial.h"

#define GOING_ON_MS 5000        /* what is promised */
#define GOING_ON_SMALL_MS 10000 /* together with other tests on a small machine */

static struct worker *start_worker(struct trial *trial, const char *lease, int pace_ms, const char *suffix) {
    char handler[1000];
    snprintf(handler, sizeof(handler), "orders.*=exec:%s %s --pace %d", trial->exec_handler, trial->evidence,
             pace_ms);
    const char *const arguments[] = {"--handler",  handler,   "--concurrency", "4",      "--batch-size",
                                     "20",         "--lease", lease,           "--poll", "100ms",
                                     "--maintain", "1s",      "--log-level",   "info",   NULL};
    return worker_start(trial, &(struct launch){.arguments = arguments, .url_suffix = suffix});
}

/* From now until the store says that more is done (by this worker, or by any). */
static int64_t measure_pause_us(struct trial *trial, const struct worker *worker) {
    int64_t start = now_us(), end = start + 60 * 1000000;
    int64_t before = worker ? count_done_by(trial, worker) : count_finished(trial);
    while ((worker ? count_done_by(trial, worker) : count_finished(trial)) <= before) {
        if (now_us() > end)
            break;
        pause_ms(10);
    }
    return now_us() - start;
}

struct pauses {
    int64_t longest_us, too_long;
};

static void note_pause(struct trial *trial, struct pauses *pauses, int64_t us) {
    int64_t most_ms = trial->full ? GOING_ON_MS : GOING_ON_SMALL_MS;
    pauses->longest_us = us > pauses->longest_us ? us : pauses->longest_us;
    pauses->too_long += us > most_ms * 1000;
}

static void judge_pauses(struct trial *trial, const struct pauses *pauses) {
    printf("%s: the longest pause after the fault was over took %.3f s\n", trial->name,
           (double)pauses->longest_us / 1e6);
    judge(trial, "work went on by itself within seconds", pauses->too_long);
}

static void crash_server(struct trial *trial) {
    const char *program = getenv("BOXCAR_TEST_POSTGRES_RESTART");
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        judge(trial, "the server came back", 1);
        trial->has_failed = true;
    }
}

/* BX-001, BX-023: claims are not durable, so a handler may be started again uncounted. */
static void run_server_crash(struct trial *trial) {
    struct pauses pauses = {0};
    if (!getenv("BOXCAR_TEST_POSTGRES_RESTART"))
        exit(77);
    /* More than enough to be busy until the last crash: rather too long than idle. */
    pid_t producer = load_start(
        trial, (struct load){.topic = "orders.paid", .count = trial->messages, .batch = 10, .pause_ms = 25});
    for (int i = 0; i < 3; i++)
        start_worker(trial, "2s", 10, NULL);
    for (int i = 0; i < trial->kills && !trial->has_failed; i++) {
        wait_finished(trial, trial->messages * 8 / 10 * (i + 1) / (trial->kills + 1), 120000);
        pause_ms(draw_between(&trial->self, 0, 200));
        crash_server(trial);
        note_pause(trial, &pauses, measure_pause_us(trial, NULL));
    }
    load_finish(trial, producer);
    wait_finished(trial, trial->messages, 120000);
    judge_pauses(trial, &pauses);
    workers_terminate(trial);
    judge_all_done(trial);
}

/* Sessions of this trial's workers only. */
static int64_t terminate_one(struct trial *trial) {
    char text[300];
    snprintf(text, sizeof(text),
             "select count(pg_terminate_backend(pid)) from (select pid from pg_stat_activity"
             " where application_name like '%s\\_%%' order by random() limit 1) s",
             trial->storm.schema);
    return sql_number(trial, NULL, text);
}

/* BX-001, BX-023 */
static void run_terminate(struct trial *trial) {
    struct pauses pauses = {0};
    int64_t terminated = 0, wanted = trial->kills / 2, end = now_us() + trial->kills * INT64_C(100000);
    pid_t producer = load_start(
        trial, (struct load){.topic = "orders.paid", .count = trial->messages, .batch = 10, .pause_ms = 25});
    for (int i = 0; i < 3; i++)
        start_worker(trial, "2s", 10, NULL);
    wait_finished(trial, 20, 30000);
    /* On a slow machine it takes longer. */
    for (int64_t at = now_us(); now_us() < end || (terminated < wanted && now_us() < end + 60000000);
         at += 100000) {
        terminated += terminate_one(trial);
        while (now_us() < at + 100000)
            pause_ms(5);
    }
    printf("%s: %lld sessions were ended\n", trial->name, (long long)terminated);
    judge(trial, "sessions were ended while workers worked", terminated < wanted);
    if (count_finished(trial) < trial->messages)
        note_pause(trial, &pauses, measure_pause_us(trial, NULL));
    load_finish(trial, producer);
    wait_finished(trial, trial->messages, 120000);
    judge_pauses(trial, &pauses);
    workers_terminate(trial);
    judge_all_done(trial);
}

/* At a moment at which the far worker holds leases. */
static bool cut_while_held(struct trial *trial, struct link *link, const struct worker *far) {
    for (int i = 0; i < 200; i++) {
        link_cut(link);
        pause_ms(20); /* what the server has heard already takes effect */
        if (count_held_by(trial, far) > 0)
            return true;
        link_resume(link);
        pause_ms(20);
    }
    return false;
}

/* The near worker takes over what the far one held. */
static void cut_once(struct trial *trial, struct link *link, struct worker *far, void (*mend)(struct link *),
                     struct pauses *pauses) {
    judge(trial, "the far worker held something when its link was cut", !cut_while_held(trial, link, far));
    for (int64_t end = now_us() + 10000000; count_held_by(trial, far) > 0 && now_us() < end;)
        pause_ms(20);
    judge(trial, "meanwhile another worker took its leases over", count_held_by(trial, far));
    pause_ms(trial->full ? 4000 : 300);
    mend(link);
    note_pause(trial, pauses, measure_pause_us(trial, far));
}

/* BX-001, BX-002, BX-023 */
static void run_cut_link(struct trial *trial) {
    struct link link;
    struct pauses pauses = {0};
    char suffix[32];
    link_open(&link, trial->storm.url);
    snprintf(suffix, sizeof(suffix), "&port=%d", link.port);
    /* More than the two can do, so that there is always something to hold. */
    pid_t producer = load_start(
        trial, (struct load){.topic = "orders.paid", .count = trial->messages, .batch = 10, .pause_ms = 40});
    struct worker *far = start_worker(trial, "1500ms", 50, suffix);
    start_worker(trial, "1500ms", 50, NULL);
    /* A worker that does not reach its store at the start gives up at once. */
    for (int i = 0; i < 2000 && count_done_by(trial, far) == 0; i++)
        pause_ms(10);
    for (int i = 0; i < trial->kills; i++) {
        cut_once(trial, &link, far, link_reset, &pauses);
        cut_once(trial, &link, far, link_resume, &pauses);
    }
    load_finish(trial, producer);
    wait_finished(trial, trial->messages, trial->full ? 300000 : 60000);
    judge_pauses(trial, &pauses);
    workers_terminate(trial);
    link_close(&link);
    judge_all_done(trial);
    judge_starts(trial, true);
}

const struct scenario SERVER_CRASH = {
    .run = run_server_crash, .messages = 1200, .full_messages = 30000, .kills = 3, .full_kills = 50};
/* kills: tenths of a second */
const struct scenario TERMINATE = {
    .run = run_terminate, .messages = 2000, .full_messages = 30000, .kills = 40, .full_kills = 600};
const struct scenario CUT_LINK = {
    .run = run_cut_link, .messages = 700, .full_messages = 30000, .kills = 1, .full_kills = 10};
