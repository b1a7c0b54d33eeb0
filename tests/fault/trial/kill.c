/* Workers that die, are stopped, or are told to go. */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "trial.h"

static void write_handler(struct trial *trial, char *text, size_t size, const char *topic, const char *how) {
    snprintf(text, size, "%s=exec:%s %s %s", topic, trial->exec_handler, trial->evidence, how);
}

/* ---- kill -9, again and again ---- */

struct count {
    struct trial *trial;
    int64_t attempts;
};

static struct worker *find_owner(struct trial *trial, const char *owner) {
    for (int i = 0; i < trial->worker_count; i++)
        if (strcmp(trial->workers[i].owner_text, owner) == 0)
            return &trial->workers[i];
    return NULL;
}

/* Attempts that were spent on expired leases, by owner. */
static void add_attempts(void *context, const char *const *values) {
    struct count *count = context;
    struct worker *worker = find_owner(count->trial, values[0]);
    int64_t attempts = strtoll(values[1], NULL, 10);
    count->attempts += attempts;
    if (!worker || !worker->killed)
        offend(&count->trial->ledger, "%lld leases of %s expired, which nobody killed", (long long)attempts,
               values[0]);
    else if (attempts > worker->held)
        offend(&count->trial->ledger, "%s held %lld messages when it was killed, %lld attempts were spent",
               values[0], (long long)worker->held, (long long)attempts);
}

static void judge_attempts(struct trial *trial) {
    struct count count = {.trial = trial};
    int64_t held = 0;
    for (int i = 0; i < trial->worker_count; i++)
        held += trial->workers[i].held;
    ledger_sql_each(&trial->ledger,
                    "select lower(substr(hex(owner), 1, 8) || '-' || substr(hex(owner), 9, 4) || '-' ||"
                    " substr(hex(owner), 13, 4) || '-' || substr(hex(owner), 17, 4) || '-' ||"
                    " substr(hex(owner), 21, 12)), count(*) from boxcar_attempt group by owner",
                    "select owner, count(*) from attempt group by owner", add_attempts, &count);
    printf("%s: %lld messages were held by workers when they were killed, %lld attempts were spent\n",
           trial->name, (long long)held, (long long)count.attempts);
    conclude(&trial->ledger, &trial->verdict, "only what was held by a killed worker spent an attempt");
}

static struct worker *draw_worker(struct trial *trial, struct worker **workers, int count, int *ret_place) {
    *ret_place = (int)draw_between(&trial->self, 0, count - 1);
    return workers[*ret_place];
}

/* BX-001, BX-002, BX-003, OBX-053: the kills are spread over the work by how much of it is done. */
static void run_kill_random(struct trial *trial) {
    enum { WORKERS = 8 };
    char handler[1000];
    struct worker *workers[WORKERS];
    int64_t time_ms = 60000 + trial->messages * 20;
    write_handler(trial, handler, sizeof(handler), "orders.*", "");
    const char *const arguments[] = {
        "--handler", handler, "--concurrency", "2",  "--batch-size", "20",   "--lease", "3s",
        "--poll",    "50ms",  "--maintain",    "1s", "--log-level",  "warn", NULL};
    const struct launch launch = {.arguments = arguments};
    load_enqueue(trial, (struct load){.topic = "orders.paid", .count = trial->messages});
    for (int i = 0; i < WORKERS; i++)
        workers[i] = worker_start(trial, &launch);
    for (int i = 0, place; i < trial->kills && !trial->has_failed; i++) {
        wait_finished(trial, trial->messages * 9 / 10 * (i + 1) / (trial->kills + 1), time_ms);
        pause_ms(draw_between(&trial->self, 0, 50));
        worker_kill(trial, draw_worker(trial, workers, WORKERS, &place));
        workers[place] = worker_start(trial, &launch);
    }
    wait_finished(trial, trial->messages, time_ms);
    workers_terminate(trial);
    judge_all_done(trial);
    judge_starts(trial, true);
    judge_attempts(trial);
}

/* ---- poison ---- */

static bool is_poison_buried(struct trial *trial, const char *topic) {
    char sqlite_text[300], postgres_text[300];
    snprintf(sqlite_text, sizeof(sqlite_text),
             "select count(*) from boxcar_dead_letter where topic = '%s' and payload = 'poison'"
             " and reason = 'exhausted' and retry_count = %d",
             topic, trial->storm.max_attempts);
    snprintf(postgres_text, sizeof(postgres_text),
             "select count(*) from dead_letter where topic = '%s' and payload = 'poison'"
             " and reason = 'exhausted' and retry_count = %d",
             topic, trial->storm.max_attempts);
    return sql_number(trial, sqlite_text, postgres_text) == 1;
}

/* One worker at a time; whenever it dies, the next one takes its place. Returns how many died. */
static int serve_until(struct trial *trial, const struct launch *launch, int64_t finished, int64_t ms) {
    struct worker *worker = worker_start(trial, launch);
    int64_t end = now_us() + ms * 1000;
    int deaths = 0;
    while (count_finished(trial) < finished && now_us() < end) {
        if (!worker_wait(worker, 20))
            continue;
        worker->killed = WIFSIGNALED(worker->status) && WTERMSIG(worker->status) == SIGKILL;
        deaths++;
        worker = worker_start(trial, launch);
    }
    worker_terminate(worker);
    (void)worker_wait(worker, 40000);
    return deaths;
}

static void judge_neighbours(struct trial *trial, const char *topic) {
    struct items items;
    int64_t charged = 0;
    items_read(trial, &items);
    for (size_t i = 0; i < items.count; i++) {
        const struct item *item = &items.rows[i];
        if (strcmp(item->topic, topic) != 0 || strcmp(item->status, "failed") == 0)
            continue;
        charged += item->retry_count > 0;
        if (strcmp(item->status, "done") != 0 || item->retry_count > 1)
            offend(&trial->ledger, "neighbour %lld is %s after %d attempts", (long long)item->work_id,
                   item->status, item->retry_count);
    }
    printf("%s: %lld neighbours were charged one attempt\n", trial->name, (long long)charged);
    conclude(&trial->ledger, &trial->verdict, "every neighbour is done and was charged at most one attempt");
    items_free(&items);
}

/* The poison is met in the middle of the work, and kills at once or after a while. */
static void poison_one(struct trial *trial, const char *topic, const char *how) {
    char handler[1000], promise[160];
    write_handler(trial, handler, sizeof(handler), topic, how);
    const char *const arguments[] = {"--handler",  handler,   "--concurrency", "4",      "--batch-size",
                                     "10",         "--lease", "800ms",         "--poll", "50ms",
                                     "--maintain", "0",       "--log-level",   "info",   NULL};
    load_enqueue(trial, (struct load){.topic = topic, .count = trial->messages / 2});
    load_enqueue(trial, (struct load){.topic = topic, .payload = "poison", .count = 1});
    load_enqueue(trial, (struct load){.topic = topic, .count = trial->messages / 2});
    int deaths = serve_until(trial, &(struct launch){.arguments = arguments}, trial->enqueued,
                             60000 + trial->storm.max_attempts * 6000);
    snprintf(promise, sizeof(promise), "%s: the message that kills its workers is buried as exhausted",
             topic);
    judge(trial, promise, !is_poison_buried(trial, topic));
    snprintf(promise, sizeof(promise), "%s: it killed as many workers as it had attempts", topic);
    judge(trial, promise, llabs(deaths - trial->storm.max_attempts));
    judge_neighbours(trial, topic);
}

/* BX-003, OBX-064 */
static void run_poison(struct trial *trial) {
    poison_one(trial, "quick", "");
    poison_one(trial, "dawdling", "--dawdle 150 --pace 100");
    workers_terminate(trial);
}

/* ---- SIGSTOP ---- */

static void judge_processed_by(struct trial *trial, const struct worker *other, const char *promise) {
    struct items items;
    items_read(trial, &items);
    for (size_t i = 0; i < items.count; i++)
        if (strcmp(items.rows[i].processed_by, other->owner_text) != 0)
            offend(&trial->ledger, "work id %lld was processed by %s", (long long)items.rows[i].work_id,
                   items.rows[i].processed_by);
    conclude(&trial->ledger, &trial->verdict, promise);
    items_free(&items);
}

static bool sqlite_is_free(struct trial *trial) {
    sqlite3 *db = NULL;
    bool is_free = sqlite3_open_v2(trial->storm.url + strlen("sqlite:"), &db, SQLITE_OPEN_READWRITE, NULL) ==
                       SQLITE_OK &&
                   sqlite3_busy_timeout(db, 100) == SQLITE_OK &&
                   sqlite3_exec(db, "begin immediate; rollback", NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    return is_free;
}

static bool is_between_calls(struct trial *trial, const struct worker *worker) {
    char text[256];
    snprintf(text, sizeof(text),
             "select count(*) from pg_stat_activity where application_name = '%s' and state <> 'idle'",
             worker->application);
    return trial->storm.postgres ? sql_number(trial, NULL, text) == 0 : sqlite_is_free(trial);
}

/* Not in the middle of a transaction: a worker that is stopped there keeps its locks. */
static void stop_worker(struct trial *trial, const struct worker *worker) {
    for (int i = 0; i < 50; i++) {
        kill(worker->pid, SIGSTOP);
        if (is_between_calls(trial, worker))
            return;
        kill(worker->pid, SIGCONT);
        pause_ms(7);
    }
    judge(trial, "the worker could be stopped between two calls", 1);
}

/* While one is stopped, its handlers go on: one of them ends well, too late, and one is told. */
static void stop_and_go_on(struct trial *trial, struct worker *worker, const struct launch *other_launch,
                           const char *after_topic) {
    stop_worker(trial, worker);
    int64_t before = trial->enqueued;
    struct worker *other = worker_start(trial, other_launch);
    wait_finished(trial, before, 20000);
    judge_processed_by(trial, other, "another worker finished what the stopped one held");
    worker_terminate(other);
    (void)worker_wait(other, 20000);
    kill(worker->pid, SIGCONT);
    wait_starts(trial, "told", 1, 20000);
    judge(trial, "the handler was told that its lease is lost", trial->has_failed);
    load_enqueue(trial, (struct load){.topic = after_topic, .count = 5});
    wait_finished(trial, before + 5, 20000);
    judge(trial, "the stopped worker goes on working", llabs(5 - count_done_by(trial, worker)));
    judge(trial, "its late verdicts changed nothing", llabs(before - count_done_by(trial, other)));
}

/* BX-002, BX-023, OBX-057: a program as handler gets a signal. */
static void run_stopped(struct trial *trial) {
    char handler[1000], other_handler[1000];
    write_handler(trial, handler, sizeof(handler), "jobs", "--slow 30000 --late 700");
    write_handler(trial, other_handler, sizeof(other_handler), "jobs", "--slow 0 --late 0");
    const char *const arguments[] = {"--handler", handler, "--concurrency", "2", "--lease", "1s",
                                     "--poll",    "50ms",  "--maintain",    "0", NULL};
    const char *const other_arguments[] = {"--handler", other_handler, "--concurrency", "2", "--lease", "1s",
                                           "--poll",    "50ms",        "--maintain",    "0", NULL};
    load_enqueue(trial, (struct load){.topic = "jobs", .payload = "slow", .count = 1});
    load_enqueue(trial, (struct load){.topic = "jobs", .payload = "late", .count = 1});
    struct worker *worker = worker_start(trial, &(struct launch){.arguments = arguments});
    if (wait_starts(trial, "start", 2, 20000))
        stop_and_go_on(trial, worker, &(struct launch){.arguments = other_arguments}, "jobs");
    workers_terminate(trial);
}

/* BX-002, BX-023, OBX-057: a handler in C sees its flag. */
static void run_stopped_in_c(struct trial *trial) {
    char other_handler[1000];
    write_handler(trial, other_handler, sizeof(other_handler), "slow", "");
    const char *const arguments[] = {"--concurrency", "1", "--lease", "1000", NULL};
    const char *const other_arguments[] = {"--handler", other_handler, "--lease", "1s",
                                           "--poll",    "50ms",        NULL};
    load_enqueue(trial, (struct load){.topic = "slow", .count = 1});
    struct worker *worker =
        worker_start(trial, &(struct launch){.arguments = arguments, .is_c_worker = true});
    if (wait_starts(trial, "start", 1, 20000))
        stop_and_go_on(trial, worker, &(struct launch){.arguments = other_arguments}, "calm");
    workers_terminate(trial);
}

/* ---- SIGTERM ---- */

/* BX-022, BX-023: nothing is handled twice because a worker was told to go. */
static void run_terminate_gracefully(struct trial *trial) {
    enum { WORKERS = 2, GRACE_MS = 10000 };
    char handler[1000];
    struct worker *workers[WORKERS];
    int64_t slow_ends = 0, longest_us = 0;
    write_handler(trial, handler, sizeof(handler), "orders.*", "--pace 5");
    const char *const arguments[] = {"--handler", handler,   "--concurrency", "4",       "--batch-size",
                                     "50",        "--lease", "30s",           "--grace", "10s",
                                     "--poll",    "50ms",    "--log-level",   "warn",    NULL};
    const struct launch launch = {.arguments = arguments};
    load_enqueue(trial, (struct load){.topic = "orders.paid", .count = trial->messages});
    for (int i = 0; i < WORKERS; i++)
        workers[i] = worker_start(trial, &launch);
    for (int i = 0, place; i < trial->kills && !trial->has_failed; i++) {
        wait_finished(trial, trial->messages * 9 / 10 * (i + 1) / (trial->kills + 1),
                      60000 + trial->messages * 20);
        struct worker *worker = draw_worker(trial, workers, WORKERS, &place);
        int64_t told_at = now_us();
        worker_terminate(worker);
        slow_ends += !worker_wait(worker, GRACE_MS);
        longest_us = now_us() - told_at > longest_us ? now_us() - told_at : longest_us;
        workers[place] = worker_start(trial, &launch);
    }
    wait_finished(trial, trial->messages, 60000 + trial->messages * 20);
    printf("%s: the longest goodbye took %.3f s\n", trial->name, (double)longest_us / 1e6);
    judge(trial, "workers ended within the grace time", slow_ends);
    workers_terminate(trial);
    judge_all_done(trial);
    judge_starts(trial, false);
}

const struct scenario KILL_RANDOM = {
    .run = run_kill_random, .messages = 2000, .full_messages = 100000, .kills = 12, .full_kills = 200};
const struct scenario POISON = {
    .run = run_poison, .messages = 40, .full_messages = 400, .max_attempts = 4, .full_max_attempts = 10};
const struct scenario STOPPED = {.run = run_stopped};
const struct scenario STOPPED_IN_C = {.run = run_stopped_in_c};
const struct scenario TERMINATE_GRACEFULLY = {
    .run = run_terminate_gracefully, .messages = 1000, .full_messages = 20000, .kills = 5, .full_kills = 50};
