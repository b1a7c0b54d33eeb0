/* Deliveries from outside, several of each message, by producers that are killed; workers that handle each
 * message in a transaction of its effect and its ack, and are killed too; upkeep that purges what is done
 * meanwhile. In the end every message had its effect exactly once (BX-008), however often it came and
 * whichever process died.
 *
 * The effect is a row for each message, counted up by its handler. Every tenth message is handled by
 * the producer itself: accepted in the transaction of its effect (BX-083). */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "borrowed.h"
#include "boxcar/inbox.h"
#include "boxcar/maintain.h"
#include "trial.h"

#define PRODUCERS 8
#define WORKERS 4
#define CLIENTS (PRODUCERS + WORKERS + 1)
#define TIMES 5 /* each message is delivered, on average */
#define DELIVERY_BATCH 25
#define CLAIM_BATCH 20
#define LEASE_MS 1500

/* In memory that all processes share. */
struct depot {
    _Atomic int64_t next;                 /* delivery to be taken on */
    _Atomic int64_t at[PRODUCERS];        /* the batch a producer is at, and whether it is through: */
    _Atomic bool is_delivered[PRODUCERS]; /* the successor of a dead producer delivers that batch again */
    _Atomic bool stop;
};

struct crowd {
    struct trial *trial;
    struct depot *depot;
    int64_t deliveries;
    pid_t pids[CLIENTS];
};

static bool is_accepted(int64_t message) { return message % 10 == 3; }

/* The first deliveries are of every message once, the later ones of any. */
static int64_t message_of(const struct crowd *crowd, int64_t delivery) {
    uint64_t chance = crowd->trial->storm.seed + (uint64_t)delivery;
    return delivery < crowd->trial->messages ? delivery
                                             : (int64_t)(draw(&chance) % (uint64_t)crowd->trial->messages);
}

/* ---- the effect ---- */

static bool write_effect(struct borrowed *borrowed, struct client *client, int64_t message) {
    const char *schema = client->storm->postgres ? client->storm->schema : "main";
    char sql[256];
    snprintf(sql, sizeof(sql),
             "insert into \"%s\".effect values (%lld, 1) on conflict (message) do update set times = "
             "effect.times + 1",
             schema, (long long)message);
    return borrowed_run(borrowed, client, sql);
}

static void make_table(struct trial *trial) {
    struct borrowed borrowed;
    char sql[192];
    snprintf(sql, sizeof(sql), "create table \"%s\".effect (message int primary key, times int not null)",
             trial->storm.postgres ? trial->storm.schema : "main");
    if (!borrowed_open(&borrowed, &trial->self) || !borrowed_run(&borrowed, &trial->self, sql))
        errx(99, "the table of effects cannot be made");
    borrowed_close(&borrowed);
}

/* ---- producers ---- */

static bool accept_one(struct client *client, struct borrowed *borrowed, boxcar_inbox_key key,
                       int64_t message) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    bool is_new = false;
    if (!borrowed_run(borrowed, client, "begin"))
        return false;
    boxcar_status status = boxcar_inbox_accept(borrowed->store, key, BOXCAR_NO_STR, &is_new, NULL, &err);
    bool good =
        accept_status(client, status, &err, "accept") && (!is_new || write_effect(borrowed, client, message));
    return borrowed_run(borrowed, client, good ? "commit" : "rollback") && good;
}

static bool deliver_batch(struct crowd *crowd, struct client *client, struct borrowed *borrowed,
                          int64_t first) {
    boxcar_new_message messages[DELIVERY_BATCH];
    static char ids[DELIVERY_BATCH][24];
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t stored = 0;
    for (int64_t i = first; i < first + DELIVERY_BATCH && i < crowd->deliveries; i++) {
        int64_t number = message_of(crowd, i);
        char *id = ids[i - first];
        snprintf(id, sizeof(ids[0]), "%lld", (long long)number);
        if (is_accepted(number)) {
            if (!accept_one(client, borrowed, (boxcar_inbox_key){BOXCAR_STR("outside"), boxcar_str_of(id)},
                            number))
                return false;
            continue;
        }
        boxcar_new_message *message = &messages[stored++];
        *message = BOXCAR_NEW_MESSAGE_INIT;
        message->source = BOXCAR_STR("outside");
        message->external_id = message->payload = boxcar_str_of(id);
        message->topic = BOXCAR_STR("parcel");
    }
    return accept_status(client,
                         boxcar_enqueue_many(client->store, BOXCAR_INBOX, messages, stored, NULL, &err), &err,
                         "enqueue");
}

static void deliver(struct crowd *crowd, struct client *client) {
    struct depot *depot = crowd->depot;
    struct borrowed borrowed;
    if (!client_open(client) || !borrowed_open(&borrowed, client))
        return;
    for (;;) {
        if (atomic_load(&depot->is_delivered[client->number])) {
            int64_t first = atomic_fetch_add(&depot->next, DELIVERY_BATCH);
            if (first >= crowd->deliveries)
                return;
            atomic_store(&depot->at[client->number], first);
            atomic_store(&depot->is_delivered[client->number], false);
        }
        if (deliver_batch(crowd, client, &borrowed, atomic_load(&depot->at[client->number])))
            atomic_store(&depot->is_delivered[client->number], true);
    }
}

/* ---- workers ---- */

/* Claim, begin, effect, ack, commit: the effect stays only if the ack was ours. */
static void handle(struct client *client, struct borrowed *borrowed, const boxcar_message *message) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t affected = 0;
    char id[24];
    snprintf(id, sizeof(id), "%.*s", (int)message->external_id.len, message->external_id.data);
    if (draw_percent(client, 1))
        pause_ms(LEASE_MS + 100); /* too late: somebody else has it */
    settlement.work_id = message->work_id;
    settlement.epoch = message->epoch;
    settlement.delay_ms = 0;
    if (!borrowed_run(borrowed, client, "begin"))
        return;
    bool good = write_effect(borrowed, client, strtoll(id, NULL, 10));
    boxcar_status status = boxcar_settle(borrowed->store, CLAIMER(BOXCAR_INBOX, client->owner), BOXCAR_ACK,
                                         &settlement, 1, NULL, &affected, &err);
    good = accept_status(client, status, &err, "ack") && good && affected == 1 && !draw_percent(client, 2);
    if (borrowed_run(borrowed, client, good ? "commit" : "rollback") && !good && draw_percent(client, 50))
        (void)boxcar_settle(client->store, CLAIMER(BOXCAR_INBOX, client->owner), BOXCAR_ABANDON, &settlement,
                            1, NULL, NULL, &err);
}

static void work(struct crowd *crowd, struct client *client) {
    struct borrowed borrowed;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    client->owner.uuid = boxcar_uuid_new();
    if (!client_open(client) || !borrowed_open(&borrowed, client))
        return;
    options.box = BOXCAR_INBOX;
    options.owner = client->owner;
    options.batch_size = CLAIM_BATCH;
    options.lease_ms = LEASE_MS;
    while (!atomic_load(&crowd->depot->stop)) {
        boxcar_message_list *list = NULL;
        boxcar_error err = BOXCAR_ERROR_INIT;
        if (!accept_status(client, boxcar_claim(client->store, &options, &list, &err), &err, "claim"))
            continue;
        size_t count = list->count;
        for (size_t i = 0; i < count; i++)
            handle(client, &borrowed, list->items[i]);
        boxcar_list_free(list);
        if (count == 0)
            pause_ms(5);
    }
}

/* ---- upkeep ---- */

static void keep_house(struct crowd *crowd, struct client *client) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    if (!client_open(client))
        return;
    while (!atomic_load(&crowd->depot->stop)) {
        (void)accept_status(client, boxcar_maintenance_run(client->store, NULL, &err), &err, "maintain");
        pause_ms(100);
    }
}

/* ---- the crowd ---- */

static void start(struct crowd *crowd, int number) {
    static uint64_t starts;
    starts++;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        err(99, "fork");
    if (pid != 0) {
        crowd->pids[number] = pid;
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct client client = {
        .storm = &crowd->trial->storm, .number = number, .chance = crowd->trial->storm.seed + starts * 7919};
    if (number < PRODUCERS)
        deliver(crowd, &client);
    else if (number < PRODUCERS + WORKERS)
        work(crowd, &client);
    else
        keep_house(crowd, &client);
    _exit(0);
}

static void kill_one(struct crowd *crowd) {
    int number = (int)draw_between(&crowd->trial->self, 0, PRODUCERS + WORKERS - 1);
    kill(crowd->pids[number], SIGKILL);
    waitpid(crowd->pids[number], NULL, 0);
    start(crowd, number);
}

static int64_t count_effects(struct trial *trial) {
    return sql_number(trial, "select count(*) from effect", "select count(*) from effect");
}

static bool is_delivered(struct crowd *crowd) {
    bool all = atomic_load(&crowd->depot->next) >= crowd->deliveries;
    for (int i = 0; i < PRODUCERS; i++)
        all = all && atomic_load(&crowd->depot->is_delivered[i]);
    return all;
}

/* Kills come evenly, by how far the work is. */
static void let_them_work(struct crowd *crowd) {
    struct trial *trial = crowd->trial;
    int64_t end = now_us() + (120000 + trial->messages * 60) * INT64_C(1000);
    int killed = 0;
    while (count_effects(trial) < trial->messages || !is_delivered(crowd)) {
        int64_t far = count_effects(trial) + atomic_load(&crowd->depot->next);
        if (killed < trial->kills &&
            far > (trial->messages + crowd->deliveries) * killed / (trial->kills + 1)) {
            kill_one(crowd);
            killed++;
        }
        if (now_us() > end) {
            judge(trial, "all was handled in time", 1);
            break;
        }
        pause_ms(draw_between(&trial->self, 5, 60));
    }
    printf("%s: %d were killed\n", trial->name, killed);
    judge(trial, "as many were killed as were to be", trial->kills - killed);
}

static void send_home(struct crowd *crowd) {
    int64_t bad_ends = 0;
    atomic_store(&crowd->depot->stop, true);
    for (int i = 0; i < CLIENTS; i++) {
        int status = 0;
        waitpid(crowd->pids[i], &status, 0);
        bad_ends += status != 0;
    }
    judge(crowd->trial, "all processes that were not killed ended well", bad_ends);
}

/* ---- judging ---- */

static void judge_effects(struct crowd *crowd) {
    struct trial *trial = crowd->trial;
    int64_t once = sql_number(trial, "select count(*) from effect where times = 1",
                              "select count(*) from effect where times = 1");
    int64_t more = sql_number(trial, "select count(*) from effect where times <> 1",
                              "select count(*) from effect where times <> 1");
    int64_t known = sql_number(trial, "select count(*) from boxcar_inbox_receipt where state = 'done'",
                               "select count(*) from inbox_receipt where state = 'done'");
    int64_t keys =
        sql_number(trial, "select count(*) from boxcar_inbox_key", "select count(*) from inbox_key");
    int64_t seen = sql_number(trial, "select sum(seen_count) from boxcar_inbox_key",
                              "select sum(seen_count)::bigint from inbox_key");
    printf("%s: %lld deliveries were noted, %lld effects\n", trial->name, (long long)seen, (long long)once);
    judge(trial, "every message had its effect exactly once", trial->messages - once + more);
    judge(trial, "every key is known once, and done",
          llabs(trial->messages - known) + llabs(trial->messages - keys));
    judge(trial, "every delivery was noted", seen < crowd->deliveries);
    judge(
        trial, "nothing is left to do, or dead",
        sql_number(
            trial,
            "select (select count(*) from boxcar_inbox where status <> 'done') + count(*) from boxcar_lease",
            "select (select count(*) from inbox where status <> 'done') + count(*) from lease"));
    judge(trial, "nobody saw what must not be", atomic_load(&trial->storm.board->tallies[TALLY_COMPLAINTS]));
}

static void set(struct trial *trial, const char *name, const char *value) {
    boxcar_store_options options = storm_store_options(&trial->storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    if (boxcar_store_open(&options, &store, &error) != BOXCAR_OK ||
        boxcar_setting_write(store, boxcar_str_of(name), boxcar_str_of(value), &error) != BOXCAR_OK)
        errx(99, "%s: %s", name, error.message);
    boxcar_store_close(store);
}

/* BX-008, BX-080..083 */
static void run_inbox(struct trial *trial) {
    struct crowd crowd = {.trial = trial, .deliveries = trial->messages * TIMES};
    crowd.depot = mmap(NULL, sizeof(*crowd.depot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (crowd.depot == MAP_FAILED)
        err(99, "mmap");
    for (int i = 0; i < PRODUCERS; i++)
        crowd.depot->is_delivered[i] = true;
    set(trial, "retention_done", "0"); /* purged at once, so that only the keys know */
    make_table(trial);
    for (int i = 0; i < CLIENTS; i++)
        start(&crowd, i);
    let_them_work(&crowd);
    send_home(&crowd);
    judge_effects(&crowd);
    munmap(crowd.depot, sizeof(*crowd.depot));
}

const struct scenario INBOX = {.run = run_inbox,
                               .messages = 800,
                               .full_messages = 10000,
                               .kills = 15,
                               .full_kills = 200,
                               .max_attempts = 1000,
                               .full_max_attempts = 1000};
