/* Several workers that share the work, and single workers in trouble. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trial.h"

/* ---- two services on one store ---- */

static void start_service(struct trial *trial, const char *topic, int first) {
    enum { WORKERS = 2 };
    char handler[1000];
    snprintf(handler, sizeof(handler), "%s=exec:%s %s", topic, trial->exec_handler, trial->evidence);
    const char *const arguments[] = {"--handler", handler, "--concurrency", "2", "--poll", "50ms", NULL};
    for (int i = first; i < first + WORKERS; i++)
        worker_start(trial, &(struct launch){.arguments = arguments});
}

/* The workers of a service are two in a row. */
static bool is_of(const struct trial *trial, const struct worker *worker, const char *topic) {
    long place = worker - trial->workers;
    return strncmp(topic, "first.", 6) == 0 ? place < 2 : place >= 2 && place < 4;
}

static void judge_separation(struct trial *trial) {
    struct items items;
    struct starts starts;
    items_read(trial, &items);
    starts_read(&starts, trial->evidence);
    for (size_t i = 0; i < items.count; i++) {
        const struct item *item = &items.rows[i];
        const struct start *start = starts_first(&starts, "start", item->work_id, 0);
        const struct worker *worker = start ? worker_of(trial, start->worker_pid) : NULL;
        bool is_nobodys = strncmp(item->topic, "third", 5) == 0;
        if (is_nobodys ? start || strcmp(item->status, "ready") != 0
                       : !worker || !is_of(trial, worker, item->topic) ||
                             strcmp(item->processed_by, worker->owner_text) != 0)
            offend(&trial->ledger, "work id %lld of topic %s is %s, processed by %s",
                   (long long)item->work_id, item->topic, item->status, item->processed_by);
        if (item->retry_count > 0 || starts_count(&starts, "start", item->work_id) > 1)
            offend(&trial->ledger, "work id %lld of topic %s was tried again", (long long)item->work_id,
                   item->topic);
    }
    conclude(&trial->ledger, &trial->verdict, "each service handled its own messages, once, and no others");
    starts_free(&starts);
    items_free(&items);
}

/* Leases on messages of the other service, or of nobody's topic, at this moment. */
static int64_t count_foreign_leases(struct trial *trial) {
    char first[2][33], sqlite_text[1000], postgres_text[1000];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 16; j++)
            snprintf(first[i] + 2 * j, 3, "%02x", trial->workers[i].owner.uuid.bytes[j]);
    snprintf(sqlite_text, sizeof(sqlite_text),
             "select count(*) from boxcar_lease l where l.topic like 'third.%%'"
             " or (l.topic like 'first.%%') <> (l.owner in (x'%s', x'%s'))",
             first[0], first[1]);
    snprintf(postgres_text, sizeof(postgres_text),
             "select count(*) from lease l, _ids(l.items) i(work_id) join message m on m.work_id = i.work_id"
             " where m.topic like 'third.%%' or (m.topic like 'first.%%') <> (l.owner in ('%s', '%s'))",
             trial->workers[0].owner_text, trial->workers[1].owner_text);
    return sql_number(trial, sqlite_text, postgres_text);
}

static void watch_leases(struct trial *trial) {
    int64_t end = now_us() + (60000 + trial->messages * 20) * 1000, foreign = 0, looks = 0;
    for (; count_finished(trial) < 2 * trial->messages && now_us() < end; looks++)
        foreign += count_foreign_leases(trial);
    printf("%s: leases were looked at %lld times\n", trial->name, (long long)looks);
    judge(trial, "none was ever seen with a lease of another service", foreign);
}

/* BX-024, OBX-054 */
static void run_two_services(struct trial *trial) {
    start_service(trial, "first.*", 0);
    start_service(trial, "second.*", 2);
    pid_t one = load_start(
        trial, (struct load){.topic = "first.a", .count = trial->messages, .batch = 20, .pause_ms = 10});
    pid_t two = load_start(
        trial, (struct load){.topic = "second.b", .count = trial->messages, .batch = 7, .pause_ms = 5});
    load_enqueue(trial, (struct load){.topic = "third.c", .count = 20});
    watch_leases(trial);
    load_finish(trial, one);
    load_finish(trial, two);
    wait_finished(trial, 2 * trial->messages, 60000 + trial->messages * 20);
    workers_terminate(trial);
    judge_separation(trial);
    judge(trial, "nothing is left in progress",
          sql_number(trial, "select count(*) from boxcar_lease", "select count(*) from lease"));
}

/* ---- many that drain ---- */

/* Waits for all; returns how many ended before everything was done. */
static int64_t wait_for_drained(struct trial *trial, int64_t ms) {
    int64_t end = now_us() + ms * 1000, early = 0;
    for (int ended = 0; ended < trial->worker_count && now_us() < end; pause_ms(5)) {
        for (int i = 0; i < trial->worker_count; i++) {
            if (trial->workers[i].pid == 0 || !worker_wait(&trial->workers[i], 0))
                continue;
            ended++;
            early += count_finished(trial) < trial->enqueued;
        }
    }
    return early;
}

/* BX-001, BX-002, OBX-059: all of them end by themselves, and none before everything is done. */
static void run_drain_many(struct trial *trial) {
    enum { WORKERS = 8 };
    char handler[1000];
    int64_t left = 0;
    snprintf(handler, sizeof(handler), "orders.*=exec:%s %s --slow 1500", trial->exec_handler,
             trial->evidence);
    const char *const arguments[] = {"--drain", "--handler", handler,       "--concurrency", "2",
                                     "--poll",  "50ms",      "--log-level", "warn",          NULL};
    load_enqueue(trial, (struct load){.topic = "orders.paid", .count = trial->messages});
    /* One of them holds this one long after all the others are done. */
    load_enqueue(trial, (struct load){.topic = "orders.paid", .payload = "slow", .count = 1});
    for (int i = 0; i < WORKERS; i++)
        worker_start(trial, &(struct launch){.arguments = arguments});
    int64_t early = wait_for_drained(trial, 60000 + trial->messages * 20);
    for (int i = 0; i < WORKERS; i++)
        left += trial->workers[i].pid != 0;
    judge(trial, "workers that drain end by themselves", left);
    judge(trial, "and not before everything is done", early);
    workers_terminate(trial);
    judge_all_done(trial);
    judge_starts(trial, false);
}

/* ---- a handler that hangs ---- */

/* BX-023, OBX-057: its thread is given up after its time and ten seconds more, its message is tried again,
 * and the others do not suffer, though it was all the worker could do at a time. */
static void run_hang(struct trial *trial) {
    const char *const arguments[] = {"--concurrency", "1", "--lease", "2000", "--timeout", "500", NULL};
    struct starts starts;
    load_enqueue(trial, (struct load){.topic = "stubborn", .count = 1});
    struct worker *worker =
        worker_start(trial, &(struct launch){.arguments = arguments, .is_c_worker = true});
    if (!wait_starts(trial, "start", 1, 20000))
        return;
    load_enqueue(trial, (struct load){.topic = "calm", .count = trial->messages});
    wait_finished(trial, trial->messages + 1, 60000);
    starts_read(&starts, trial->evidence);
    judge(trial, "the handler that hangs was started once more",
          llabs(starts_count(&starts, "start", 1) - 2));
    judge(trial, "the others were started once each",
          llabs(starts_count(&starts, "start", 0) - 2 - trial->messages));
    starts_free(&starts);
    judge(trial, "all was done by that worker", llabs(count_done_by(trial, worker) - trial->messages - 1));
    judge_all_done(trial);
    workers_terminate(trial);
}

/* ---- a wrong clock ---- */

/* The library is loaded around the worker itself; the program of the same name would stand between us. */
static bool find_faketime(char *preload, size_t size) {
    glob_t found;
    bool is_found = glob("/usr/lib/*/faketime/libfaketimeMT.so.1", 0, NULL, &found) == 0;
    if (is_found)
        snprintf(preload, size, "LD_PRELOAD=%s", found.gl_pathv[0]);
    globfree(&found);
    return is_found;
}

static struct worker *start_at(struct trial *trial, const char *preload, const char *offset) {
    char handler[1000];
    snprintf(handler, sizeof(handler), "orders.*=exec:%s %s --slow 2500", trial->exec_handler,
             trial->evidence);
    const char *const before[] = {"env", preload, offset, "FAKETIME_DONT_FAKE_MONOTONIC=1", NULL};
    const char *const arguments[] = {"--handler", handler, "--concurrency", "4",  "--lease", "1s",
                                     "--poll",    "50ms",  "--maintain",    "1s", NULL};
    return worker_start(trial, &(struct launch){.before = before, .arguments = arguments});
}

/* What time it is for a worker, by the first line of its log. */
static void judge_clock(struct trial *trial, const struct worker *worker, time_t offset) {
    struct tm broken_down = {0};
    char line[64] = "";
    FILE *file = fopen(worker->log, "r");
    if (file) {
        (void)!fgets(line, sizeof(line), file);
        fclose(file);
    }
    bool is_known = strptime(line, "time=%Y-%m-%dT%H:%M:%S", &broken_down) != NULL;
    judge(trial, "the worker's clock is wrong",
          !is_known || llabs(timegm(&broken_down) - offset - time(NULL)) > 300);
}

static void judge_due_times(struct trial *trial, int64_t enqueued_at_us, int64_t delay_ms) {
    struct items items;
    struct starts starts;
    items_read(trial, &items);
    starts_read(&starts, trial->evidence);
    for (size_t i = 0; i < items.count; i++) {
        const struct start *start = starts_first(&starts, "start", items.rows[i].work_id, 0);
        if (strcmp(items.rows[i].topic, "orders.later") == 0 &&
            (!start || start->at_us < enqueued_at_us + delay_ms * 1000))
            offend(&trial->ledger, "work id %lld was started early", (long long)items.rows[i].work_id);
        if (items.rows[i].retry_count > 0)
            offend(&trial->ledger, "work id %lld lost its lease", (long long)items.rows[i].work_id);
    }
    conclude(&trial->ledger, &trial->verdict, "nothing was started before its time, no lease was lost");
    starts_free(&starts);
    items_free(&items);
}

/* BX-005, BX-009: only the database's clock counts. In SQLite that is the worker's own. */
static void run_wrong_clock(struct trial *trial) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    exit(77); /* does not go with a library that is loaded before it */
#endif
    enum { DELAY_MS = 1500 };
    char preload[600];
    if (!find_faketime(preload, sizeof(preload)))
        exit(77);
    const struct worker *ahead = start_at(trial, preload, "FAKETIME=+1h");
    const struct worker *behind = start_at(trial, preload, "FAKETIME=-1h");
    load_enqueue(trial, (struct load){.topic = "orders.long", .payload = "slow", .count = 4});
    int64_t enqueued_at_us = now_us();
    load_enqueue(trial,
                 (struct load){.topic = "orders.later", .count = trial->messages, .delay_ms = DELAY_MS});
    load_enqueue(trial, (struct load){.topic = "orders.now", .count = trial->messages});
    wait_finished(trial, trial->enqueued, 30000);
    workers_terminate(trial);
    judge_all_done(trial);
    judge_starts(trial, false);
    judge_due_times(trial, enqueued_at_us, DELAY_MS);
    judge_clock(trial, ahead, 3600);
    judge_clock(trial, behind, -3600);
}

const struct scenario TWO_SERVICES = {.run = run_two_services, .messages = 800, .full_messages = 20000};
const struct scenario DRAIN_MANY = {.run = run_drain_many, .messages = 800, .full_messages = 50000};
const struct scenario HANG = {.run = run_hang, .full_messages = 200};
const struct scenario WRONG_CLOCK = {.run = run_wrong_clock, .messages = 50, .full_messages = 500};
