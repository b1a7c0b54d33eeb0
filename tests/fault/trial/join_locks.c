/* Many connections that count in the same joins at once, some in one order, some in the other. */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxcar/maintain.h"
#include "join_trial.h"

#define CONNECTIONS 16
#define JOINS_AT_ONCE 12
#define JOINS_OF_MESSAGE 3
#define BATCH_MAX 16
#define LOAD_BATCH 500
#define LATE_SECONDS 60

/* A message is a step of three joins, neighbours in a ring; every ninth fails. */
static int join_of(int64_t message, int which) { return (int)((message + which) % JOINS_AT_ONCE); }
static bool is_bad(int64_t message) { return message % 9 == 4; }

struct tangle {
    struct trial *trial;
    boxcar_join_id joins[JOINS_AT_ONCE];
    int64_t expected[JOINS_AT_ONCE], failing[JOINS_AT_ONCE];
    _Atomic int64_t settled, calls, errors;
};

/* ---- making it ---- */

static boxcar_store *open_store(struct trial *trial) {
    boxcar_store_options options = storm_store_options(&trial->storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    options.durability = BOXCAR_DURABILITY_NORMAL;
    options.busy_timeout_ms = 120000;
    if (boxcar_store_open(&options, &store, &error) != BOXCAR_OK)
        errx(99, "open: %s", error.message);
    return store;
}

static void must(boxcar_status status, const boxcar_error *error, const char *what) {
    if (status != BOXCAR_OK)
        errx(99, "%s: %s", what, error->message);
}

static void start_joins(struct tangle *tangle, boxcar_store *store) {
    for (int64_t i = 0; i < tangle->trial->messages; i++) {
        for (int j = 0; j < JOINS_OF_MESSAGE; j++) {
            tangle->expected[join_of(i, j)]++;
            tangle->failing[join_of(i, j)] += is_bad(i);
        }
    }
    for (int i = 0; i < JOINS_AT_ONCE; i++) {
        boxcar_error error = BOXCAR_ERROR_INIT;
        boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
        char number[16];
        snprintf(number, sizeof(number), "%d", i);
        join.expected_steps = tangle->expected[i];
        join.metadata = boxcar_str_of(number);
        must(boxcar_join_start(store, &join, &tangle->joins[i], &error), &error, "start");
    }
}

static void enqueue_some(struct tangle *tangle, boxcar_store *store, int64_t first, size_t count) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_new_message messages[LOAD_BATCH];
    for (size_t i = 0; i < count; i++) {
        int64_t number = first + (int64_t)i;
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].topic = BOXCAR_STR(STEP_TOPIC);
        messages[i].payload = boxcar_str_of(is_bad(number) ? "bad" : "good");
        messages[i].message_id = step_id(number, 0);
        messages[i].join_id = tangle->joins[join_of(number, 0)];
    }
    must(boxcar_enqueue_many(store, BOXCAR_OUTBOX, messages, count, NULL, &error), &error, "enqueue");
}

static void attach_some(struct tangle *tangle, boxcar_store *store, int64_t first, size_t count) {
    boxcar_message_id ids[LOAD_BATCH * JOINS_OF_MESSAGE];
    for (int i = 0; i < JOINS_AT_ONCE; i++) {
        boxcar_error error = BOXCAR_ERROR_INIT;
        size_t found = 0;
        for (int64_t number = first; number < first + (int64_t)count; number++)
            for (int j = 1; j < JOINS_OF_MESSAGE; j++)
                if (join_of(number, j) == i)
                    ids[found++] = step_id(number, 0);
        if (found > 0)
            must(boxcar_join_attach(store, tangle->joins[i], ids, found, NULL, &error), &error, "attach");
    }
}

static void fill(struct tangle *tangle) {
    boxcar_store *store = open_store(tangle->trial);
    start_joins(tangle, store);
    for (int64_t first = 0; first < tangle->trial->messages; first += LOAD_BATCH) {
        int64_t left = tangle->trial->messages - first;
        size_t count = (size_t)(left < LOAD_BATCH ? left : LOAD_BATCH);
        enqueue_some(tangle, store, first, count);
        attach_some(tangle, store, first, count);
    }
    boxcar_store_close(store);
}

/* ---- pulling at it ---- */

struct puller {
    struct tangle *tangle;
    pthread_t thread;
    boxcar_store *store;
    struct client self; /* chance */
    boxcar_owner owner;
    bool backwards;
};

static void note_error(struct puller *puller, const char *what, const boxcar_error *error) {
    if (atomic_fetch_add(&puller->tangle->errors, 1) < 5)
        printf("  - %s: %s: %s (%s)\n", what, boxcar_status_name(error->status), error->message,
               error->sqlstate);
}

static void note_loss(struct puller *puller, size_t wanted, size_t got) {
    if (atomic_fetch_add(&puller->tangle->errors, 1) < 5)
        printf("  - %zu messages were held, %zu could be settled\n", wanted, got);
}

struct settlements {
    boxcar_settlement items[BATCH_MAX];
    size_t count;
};

static void take(struct settlements *list, const boxcar_message *message, bool backwards) {
    size_t place = backwards ? 0 : list->count;
    memmove(&list->items[place + 1], &list->items[place], (list->count - place) * sizeof(list->items[0]));
    list->items[place] = BOXCAR_SETTLEMENT_INIT;
    list->items[place].work_id = message->work_id;
    list->items[place].epoch = message->epoch;
    list->count++;
}

static void settle(struct puller *puller, const struct settlements *list, bool bad) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    size_t affected = 0;
    if (list->count == 0)
        return;
    boxcar_status status = bad ? boxcar_settle(puller->store, CLAIMER(BOXCAR_OUTBOX, puller->owner),
                                               BOXCAR_FAIL, list->items, list->count, NULL, &affected, &error)
                               : boxcar_settle(puller->store, CLAIMER(BOXCAR_OUTBOX, puller->owner),
                                               BOXCAR_ACK, list->items, list->count, NULL, &affected, &error);
    atomic_fetch_add(&puller->tangle->calls, 1);
    atomic_fetch_add(&puller->tangle->settled, (int64_t)affected);
    if (status != BOXCAR_OK)
        note_error(puller, bad ? "fail" : "ack", &error);
    else if (affected != list->count)
        note_loss(puller, list->count, affected);
}

/* What settles members late locks joins as well. */
static void maintain(struct puller *puller) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    if (boxcar_maintenance_run(puller->store, &done, &error) != BOXCAR_OK)
        note_error(puller, "maintain", &error);
}

/* Returns whether there was anything. */
static bool pull_once(struct puller *puller) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    struct settlements lists[2] = {{.count = 0}};
    options.owner = puller->owner;
    options.lease_ms = 600000;
    options.batch_size = (int)draw_between(&puller->self, 1, BATCH_MAX - 1);
    if (boxcar_claim(puller->store, &options, &list, &error) != BOXCAR_OK) {
        note_error(puller, "claim", &error);
        return true;
    }
    size_t count = list->count;
    for (size_t i = 0; i < count; i++) {
        const boxcar_message *message = list->items[i];
        take(&lists[message->payload.len == strlen("bad")], message, puller->backwards);
    }
    boxcar_list_free(list);
    for (int i = 0; i < 2; i++)
        settle(puller, &lists[i != puller->backwards], i != puller->backwards);
    return count > 0;
}

static void *pull(void *context) {
    struct puller *puller = context;
    while (atomic_load(&puller->tangle->settled) < puller->tangle->trial->messages &&
           atomic_load(&puller->tangle->errors) == 0) {
        if (!pull_once(puller))
            pause_ms(1);
        if (draw_percent(&puller->self, 1))
            maintain(puller);
    }
    return NULL;
}

static void pull_all(struct tangle *tangle) {
    struct puller pullers[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        pullers[i] = (struct puller){.tangle = tangle,
                                     .store = open_store(tangle->trial),
                                     .self = {.chance = tangle->trial->storm.seed + (uint64_t)i},
                                     .owner = (boxcar_owner){boxcar_uuid_new()},
                                     .backwards = i % 2 == 1};
    }
    for (int i = 0; i < CONNECTIONS; i++)
        if (pthread_create(&pullers[i].thread, NULL, pull, &pullers[i]) != 0)
            errx(99, "cannot start a thread");
    for (int i = 0; i < CONNECTIONS; i++) {
        pthread_join(pullers[i].thread, NULL);
        boxcar_store_close(pullers[i].store);
    }
}

static int64_t count_pending(struct trial *trial) {
    return sql_number(trial, "select count(*) from boxcar_outbox_join where status = 'pending'",
                      "select count(*) from outbox_join where status = 'pending'");
}

/* A call that waited too long for a join left its steps to be counted later. Members that another transaction
 * was looking at then are looked at again later. */
static void settle_late_ones(struct tangle *tangle) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store = open_store(tangle->trial);
    boxcar_maintenance done = {.struct_size = sizeof(boxcar_maintenance), .more = true};
    int64_t late = 0, end = now_us() + LATE_SECONDS * INT64_C(1000000);
    while ((done.more || (count_pending(tangle->trial) > 0 && now_us() < end)) &&
           boxcar_maintenance_run(store, &done, &error) == BOXCAR_OK) {
        late += done.settled;
        if (!done.more)
            pause_ms(100);
    }
    boxcar_store_close(store);
    printf("%s: %lld steps were counted late\n", tangle->trial->name, (long long)late);
}

/* ---- counting ---- */

static void compare_join(void *context, const char *const *values) {
    struct tangle *tangle = context;
    int number = atoi(values[0]);
    int64_t completed = strtoll(values[1], NULL, 10), failed = strtoll(values[2], NULL, 10);
    bool is_known = number >= 0 && number < JOINS_AT_ONCE;
    if (is_known && failed == tangle->failing[number] && completed + failed == tangle->expected[number] &&
        strcmp(values[3], failed > 0 ? "failed" : "completed") == 0)
        return;
    offend(&tangle->trial->ledger,
           "join %s is %s with %s completed, %s failed, instead of %lld, of which %lld failed", values[0],
           values[3], values[1], values[2], (long long)(is_known ? tangle->expected[number] : -1),
           (long long)(is_known ? tangle->failing[number] : -1));
}

static int64_t count_deadlocks(struct trial *trial) {
    return sql_number(trial, NULL,
                      "select deadlocks from pg_stat_database where datname = current_database()");
}

/* BX-041, JOIN-060, JOIN-061, JOIN-062, JOIN-081 */
static void run_join_locks(struct trial *trial) {
    struct tangle tangle = {.trial = trial};
    int64_t deadlocks = count_deadlocks(trial);
    if (!trial->full) /* it looks at all members of a join whenever one is counted */
        join_guard_install(trial);
    fill(&tangle);
    int64_t start = now_us();
    pull_all(&tangle);
    printf(
        "%s: %lld messages, each in %d of %d joins, were settled in %lld calls on %d connections in %.1f s\n",
        trial->name, (long long)tangle.settled, JOINS_OF_MESSAGE, JOINS_AT_ONCE, (long long)tangle.calls,
        CONNECTIONS, (double)(now_us() - start) / 1e6);
    settle_late_ones(&tangle);
    if (trial->storm.postgres)
        printf("%s: the server counts %lld deadlocks\n", trial->name,
               (long long)(count_deadlocks(trial) - deadlocks));
    judge(trial, "no error reached a caller", tangle.errors);
    judge(trial, "every message was settled once", llabs(trial->messages - tangle.settled));
    ledger_sql_each(
        &trial->ledger, "select metadata, completed_steps, failed_steps, status from boxcar_outbox_join",
        "select metadata, completed_steps, failed_steps, status from outbox_join", compare_join, &tangle);
    conclude(&trial->ledger, &trial->verdict, "every join counted all its steps, each once");
    judge(trial, "every join's counters are what its members say", count_inexact_joins(trial));
    if (!trial->full)
        join_guard_judge(trial);
}

const struct scenario JOIN_LOCKS = {.run = run_join_locks, .messages = 800, .full_messages = 100000};
