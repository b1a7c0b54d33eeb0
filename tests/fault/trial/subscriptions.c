/* Readers side by side, and workers of each that are killed. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "trial.h"

enum { READERS = 2, WORKERS = 4 };

/* A reader, and where its handlers write down what they were given. */
struct reader {
    const char *subscription; /* NULL: the main reader */
    char evidence[340];
};

static struct worker *start_for(struct trial *trial, const struct reader *reader) {
    char handler[1000];
    snprintf(handler, sizeof(handler), "orders.*=exec:%s %s", trial->exec_handler, reader->evidence);
    const char *const arguments[] = {"--handler",
                                     handler,
                                     "--concurrency",
                                     "2",
                                     "--batch-size",
                                     "20",
                                     "--lease",
                                     "3s",
                                     "--poll",
                                     "50ms",
                                     "--maintain",
                                     "1s",
                                     "--log-level",
                                     "warn",
                                     reader->subscription ? "--subscription" : NULL,
                                     reader->subscription,
                                     NULL};
    return worker_start(trial, &(struct launch){.arguments = arguments});
}

static void run_program(struct trial *trial, const char *what, const char *const *arguments) {
    char log[400];
    snprintf(log, sizeof(log), "%s/program.log", trial->storm.directory);
    judge(trial, what, program_run(trial, arguments, NULL, log) != 0);
}

/* ---- what readers have ended: their tables are the store's business ---- */

static void check(boxcar_status status, const boxcar_error *error) {
    if (status != BOXCAR_OK)
        errx(99, "%s", error->message);
}

static boxcar_stats stats_of(boxcar_store *store, const char *subscription) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_stats_list *list;
    boxcar_box reader = BOXCAR_OUTBOX;
    if (subscription)
        check(boxcar_subscription_find(store, boxcar_str_of(subscription), &reader, &error), &error);
    check(boxcar_stats_read(store, reader, false, &list, &error), &error);
    boxcar_stats stats = *list->items[0];
    boxcar_list_free(list);
    return stats;
}

static boxcar_store *open_store(struct trial *trial) {
    boxcar_store_options options = storm_store_options(&trial->storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    check(boxcar_store_open(&options, &store, &error), &error);
    return store;
}

static int64_t count_done(struct trial *trial, const char *subscription) {
    boxcar_store *store = open_store(trial);
    int64_t done = stats_of(store, subscription).done;
    boxcar_store_close(store);
    return done;
}

/* Until both together have ended so many. */
static void wait_done(struct trial *trial, int64_t count, int64_t ms) {
    boxcar_store *store = open_store(trial);
    int64_t end = now_us() + ms * 1000, done = -1;
    while (!trial->has_failed && done < count && now_us() < end) {
        done = stats_of(store, NULL).done + stats_of(store, "copy").done;
        pause_ms(done < count ? 50 : 0);
    }
    boxcar_store_close(store);
    if (done >= count)
        return;
    trial->has_failed = true;
    judge(trial, "both readers go on", count - done);
}

/* Nothing that one reader did is missing because of what the other one did. */
static void judge_reader(struct trial *trial, const struct reader *reader, const char *promise) {
    struct items items;
    struct starts starts;
    items_read(trial, &items);
    starts_read(&starts, reader->evidence);
    for (size_t i = 0; i < items.count; i++)
        if (starts_count(&starts, "start", items.rows[i].work_id) < 1)
            offend(&trial->ledger, "work id %lld was never started for %s", (long long)items.rows[i].work_id,
                   reader->subscription ? reader->subscription : "the main reader");
    conclude(&trial->ledger, &trial->verdict, promise);
    starts_free(&starts);
    items_free(&items);
}

/* A reader that comes when all is done gets everything that is kept. */
static void read_from_the_beginning(struct trial *trial) {
    run_program(
        trial, "a subscription is added",
        (const char *const[]){"subscription", "add", "late", "orders.*", "--from", "beginning", NULL});
    run_program(trial, "its worker drains",
                (const char *const[]){"worker", "--drain", "--subscription", "late", "--poll", "50ms",
                                      "--handler", "orders.*=discard", "--log-level", "warn", NULL});
    judge(trial, "it has ended every message", llabs(trial->messages - count_done(trial, "late")));
    run_program(trial, "it is removed", (const char *const[]){"subscription", "rm", "late", NULL});
}

/* BX-090, BX-091, BX-093: both readers end every message, whoever is killed. */
static void run_subscriptions(struct trial *trial) {
    struct reader readers[READERS] = {{.subscription = NULL}, {.subscription = "copy"}};
    struct worker *workers[WORKERS];
    int64_t time_ms = 60000 + trial->messages * 40;
    snprintf(readers[0].evidence, sizeof(readers[0].evidence), "%s", trial->evidence);
    snprintf(readers[1].evidence, sizeof(readers[1].evidence), "%s.copy", trial->evidence);
    run_program(trial, "a subscription is added",
                (const char *const[]){"subscription", "add", "copy", "orders.*", NULL});
    load_enqueue(trial, (struct load){.topic = "orders.paid", .count = trial->messages});
    for (int i = 0; i < WORKERS; i++)
        workers[i] = start_for(trial, &readers[i % READERS]);
    for (int i = 0; i < trial->kills && !trial->has_failed; i++) {
        wait_done(trial, READERS * trial->messages * 9 / 10 * (i + 1) / (trial->kills + 1), time_ms);
        int place = (int)draw_between(&trial->self, 0, WORKERS - 1);
        worker_kill(trial, workers[place]);
        workers[place] = start_for(trial, &readers[place % READERS]);
    }
    wait_done(trial, READERS * trial->messages, time_ms);
    workers_terminate(trial);
    judge_all_done(trial);
    judge_starts(trial, true);
    judge_reader(trial, &readers[1], "every message was started for the subscription, too");
    read_from_the_beginning(trial);
}

const struct scenario SUBSCRIPTIONS = {
    .run = run_subscriptions, .messages = 400, .full_messages = 20000, .kills = 4, .full_kills = 60};
