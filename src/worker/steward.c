#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "base/utf8.h"

/* How often it complains about the same thing. */
#define COMPLAIN_EVERY_MS (INT64_C(600) * 1000)
/* A worker that ends waits no longer than this for the steward. Until then a step of upkeep may take
 * longer. */
#define CALL_MS 5000
#define READER_NAME_SIZE 132

/* Which of the doctor's findings are worth a line in the log. */
static const struct {
    const char *check, *event;
    boxcar_severity least;
    bool is_of_store; /* the same for both boxes */
    bool takes_first; /* the one that did so for longest is enough */
} COMPLAINT[] = {{"unhandled_topics", "unhandled", BOXCAR_SEVERITY_WARNING, false, false},
                 {"held_streams", "held_up", BOXCAR_SEVERITY_NOTE, false, true},
                 {"held_snapshot", "held_up", BOXCAR_SEVERITY_WARNING, true, true}};
#define COMPLAINTS (sizeof(COMPLAINT) / sizeof(COMPLAINT[0]))

struct keeper {
    struct boxcar_worker *worker;
    struct boxcar_store *logger;
    atomic_bool is_over;                          /* also for the call that is under way */
    int64_t next_complaint_ms[BOXES][COMPLAINTS]; /* 0 = at the first look */
};

struct steward {
    struct keeper *keeper;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t interval_ms;
    unsigned generation; /* of the interval */
    bool stopping;
    unsigned random;
};

/* Many workers start together; chance spreads their upkeep. False = stop. */
static bool wait_for_round(struct steward *steward) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&steward->mutex);
    for (int rc = 0; !steward->stopping && rc != ETIMEDOUT;) {
        unsigned generation = steward->generation;
        int64_t ms = steward->interval_ms;
        int64_t pause_ms = ms / 2 + (int64_t)((double)ms * rand_r(&steward->random) / RAND_MAX);
        int64_t at_ms = ms > 0 ? clock_ms() + pause_ms : INT64_MAX;
        while (!steward->stopping && generation == steward->generation && rc != ETIMEDOUT)
            rc = cond_wait_until(&steward->changed, &steward->mutex, at_ms);
    }
    return !steward->stopping;
}

static bool is_stopping(const struct keeper *keeper) {
    return atomic_load(&keeper->is_over) || atomic_load(&keeper->worker->stop_requests) > 0;
}

static void report(struct keeper *keeper, const boxcar_maintenance *sum) {
    atomic_fetch_add(&keeper->worker->count.reaped, sum->reaped);
    if (sum->reaped > 0)
        store_log(keeper->logger, BOXCAR_LOG_INFO, "reap", NULL, 0, "reap: %lld messages",
                  (long long)sum->reaped);
    if (sum->expired + sum->purged_done + sum->purged_dead > 0)
        store_log(keeper->logger, BOXCAR_LOG_DEBUG, "maintain", NULL, 0,
                  "expired %lld, purged %lld done and %lld dead", (long long)sum->expired,
                  (long long)sum->purged_done, (long long)sum->purged_dead);
}

static boxcar_status maintain(struct keeper *keeper, struct boxcar_store *store, boxcar_error *err) {
    boxcar_maintenance sum = {.more = true};
    while (sum.more && !is_stopping(keeper)) {
        struct upkeep_done done = {.waits = 0};
        TRY(store->ops->maintain(store, UPKEEP_ROUND, &done, err));
        sum.reaped += done.round.reaped;
        sum.expired += done.round.expired;
        sum.purged_done += done.round.purged_done;
        sum.purged_dead += done.round.purged_dead;
        sum.more = done.round.more;
    }
    report(keeper, &sum);
    return BOXCAR_OK;
}

/* In front of what is found about a reader; nothing for that of the outbox. */
static const char *name_reader(const struct keeper *keeper, boxcar_box box, char ret_name[READER_NAME_SIZE]) {
    boxcar_str subscription = utf8_cut(keeper->worker->subscription, READER_NAME_SIZE - 32);
    if (worker_reader(keeper->worker, box) > BOXCAR_INBOX)
        snprintf(ret_name, READER_NAME_SIZE, "subscription \"%.*s\": ", (int)subscription.len,
                 subscription.data);
    else
        snprintf(ret_name, READER_NAME_SIZE, "%s", box == BOXCAR_INBOX ? "inbox: " : "");
    return ret_name;
}

static void complain(struct keeper *keeper, boxcar_box box, size_t i, const boxcar_finding *finding) {
    bool is_of_store = COMPLAINT[i].is_of_store;
    char name[READER_NAME_SIZE];
    store_log(keeper->logger,
              finding->severity >= BOXCAR_SEVERITY_WARNING ? BOXCAR_LOG_WARN : BOXCAR_LOG_INFO,
              COMPLAINT[i].event, NULL, 0, "%s%.*s", is_of_store ? "" : name_reader(keeper, box, name),
              (int)(finding->text.len < 400 ? finding->text.len : 400), finding->text.data);
    for (int other = 0; other < BOXES; other++)
        if (is_of_store || other == (int)box)
            keeper->next_complaint_ms[other][i] = clock_ms() + COMPLAIN_EVERY_MS;
}

static bool is_due(const struct keeper *keeper, boxcar_box box, size_t i) {
    return clock_ms() >= keeper->next_complaint_ms[box][i];
}

static bool is_any_due(const struct keeper *keeper, boxcar_box box) {
    for (size_t i = 0; i < COMPLAINTS; i++)
        if (is_due(keeper, box, i))
            return true;
    return false;
}

static void complain_about(struct keeper *keeper, boxcar_box box, size_t i, const struct finding_rows *list) {
    bool due = is_due(keeper, box, i);
    for (size_t n = 0; n < list->count && due; n++) {
        const boxcar_finding *finding = &list->items[n];
        if (finding->severity < COMPLAINT[i].least ||
            !str_equal(finding->check, boxcar_str_of(COMPLAINT[i].check)))
            continue;
        complain(keeper, box, i, finding);
        due = !COMPLAINT[i].takes_first;
    }
}

/* Whatever it finds: the texts say how old things are, so they are new each time (BX-024). */
static void look_for_trouble(struct keeper *keeper, struct boxcar_store *store, boxcar_box box) {
    struct finding_rows *list = NULL;
    if (keeper->worker->handlers->boxes[box].count == 0 || !is_any_due(keeper, box) ||
        store->ops->diagnose(store, worker_reader(keeper->worker, box), false, &list, NULL) != BOXCAR_OK)
        return;
    for (size_t i = 0; i < COMPLAINTS; i++)
        complain_about(keeper, box, i, list);
    list_free(list);
}

static int64_t shorter(int64_t ms, int64_t most_ms) { return ms > 0 && ms < most_ms ? ms : most_ms; }

/* An outage is the work loop's to report. */
void keeper_round(struct keeper *keeper) {
    boxcar_store_options options = keeper->worker->store;
    options.log = NULL;
    options.deploy = false; /* the work loop has */
    options.answer_timeout_ms = shorter(options.answer_timeout_ms, CALL_MS);
    options.busy_timeout_ms = shorter(options.busy_timeout_ms, CALL_MS);
    struct boxcar_store *store = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = worker_open_store(keeper->worker, &options, &store, &err);
    if (status == BOXCAR_OK) {
        store->impatient = true;
        store->call_ms = CALL_MS;
        store->is_over = &keeper->is_over;
        status = maintain(keeper, store, &err);
    }
    for (int box = 0; status == BOXCAR_OK && box < BOXES && !is_stopping(keeper); box++)
        look_for_trouble(keeper, store, (boxcar_box)box);
    if (store)
        store->ops->close(store);
    if (status != BOXCAR_OK && status != BOXCAR_E_UNAVAILABLE)
        store_log(keeper->logger, BOXCAR_LOG_ERROR, "maintain", NULL, 0, "upkeep failed: %s", err.message);
}

struct keeper *keeper_new(struct boxcar_worker *worker, struct boxcar_store *logger) {
    struct keeper *keeper = calloc(1, sizeof(*keeper));
    if (keeper) {
        keeper->worker = worker;
        keeper->logger = logger;
    }
    return keeper;
}

void keeper_hurry(struct keeper *keeper) { atomic_store(&keeper->is_over, true); }

void keeper_free(struct keeper *keeper) { free(keeper); }

static void *steward_main(void *argument) {
    struct steward *steward = argument;
    while (wait_for_round(steward))
        if (!is_stopping(steward->keeper))
            keeper_round(steward->keeper);
    return NULL;
}

static void steward_free(struct steward *steward) {
    pthread_mutex_destroy(&steward->mutex);
    pthread_cond_destroy(&steward->changed);
    keeper_free(steward->keeper);
    free(steward);
}

struct steward *steward_start(struct boxcar_worker *worker, struct boxcar_store *logger,
                              int64_t interval_ms) {
    struct steward *steward = calloc(1, sizeof(*steward));
    if (!steward)
        return NULL;
    steward->keeper = keeper_new(worker, logger);
    if (!steward->keeper) {
        free(steward);
        return NULL;
    }
    steward->interval_ms = interval_ms;
    memcpy(&steward->random, worker->owner.uuid.bytes + 12, sizeof(steward->random));
    pthread_mutex_init(&steward->mutex, NULL);
    cond_init(&steward->changed);
    if (thread_start(&steward->thread, steward_main, steward) == 0)
        return steward;
    steward_free(steward);
    return NULL;
}

static void change(struct steward *steward, int64_t interval_ms, bool stop) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&steward->mutex);
    steward->generation += steward->interval_ms != interval_ms;
    steward->interval_ms = interval_ms;
    steward->stopping = stop;
    if (stop)
        keeper_hurry(steward->keeper);
    pthread_cond_signal(&steward->changed);
}

void steward_set_interval(struct steward *steward, int64_t interval_ms) {
    if (steward)
        change(steward, interval_ms, false);
}

void steward_stop(struct steward *steward) {
    if (!steward)
        return;
    change(steward, steward->interval_ms, true);
    pthread_join(steward->thread, NULL);
    steward_free(steward);
}
