/* power [--seed N] [--trials N] [--steps N]: SQLite on a disk that fails (disk.h).
 *
 * Each trial makes a store, enqueues, claims, settles, maintains, closes and opens it again, while the disk
 * loses its power at some operation, is full for a while, fails once, or cannot be read for a while. What
 * calls reported is noted outside the store. Afterwards the file is looked at with SQLite's own VFS, after a
 * power cut in each form that the disk may have left it in: it must be whole (pragma integrity_check), hold
 * every message whose enqueueing was reported (BX-001) and each call wholly or not at all, and every ack that
 * was reported must be there (BX-004). Claims need not survive. Then the store must work again.
 *
 * The same seed makes the same trials. Exit status 0: nothing was lost; 1: something was, which is printed
 * with the seed of its trial: `power --seed THAT --trials 1` repeats it. */
#include <err.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "../../support/claimers.h"
#include "boxcar.h"
#include "disk.h"

enum { MESSAGES_MAX = 4096, BATCH_MAX = 8, HELD_MAX = 64, COMPLAINTS_SHOWN = 3 };

/* What is known of a message without asking the store. */
enum end_state { UNKNOWN /* the call failed */, STORED, MAYBE_ACKED, ACKED };

struct noted {
    boxcar_message_id id;
    enum end_state end_state;
    int call; /* which call enqueued it */
};

struct trial {
    uint64_t seed, random;
    char folder[64], path[96], copy[96];
    boxcar_store *store;
    boxcar_owner owner;
    struct noted messages[MESSAGES_MAX];
    size_t count;
    boxcar_settlement held[HELD_MAX];
    boxcar_message_id held_ids[HELD_MAX];
    size_t held_count;
    int calls, complaints, images;
    const char *what; /* is looked at */
};

static uint64_t draw(struct trial *trial, uint64_t below) { return disk_random(&trial->random) % below; }

static void complain(struct trial *trial, const char *text, const char *detail) {
    if (trial->complaints++ < COMPLAINTS_SHOWN)
        printf("not ok - seed %llu, %s: %s: %s\n", (unsigned long long)trial->seed, trial->what, text,
               detail);
}

static boxcar_status open_store(const char *path, bool deploy, boxcar_store **ret_store, boxcar_error *err) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    char url[128];

    snprintf(url, sizeof(url), "sqlite:%s", path);
    options.url = boxcar_str_of(url);
    options.deploy = deploy;
    options.busy_timeout_ms = 1000;
    return boxcar_store_open(&options, ret_store, err);
}

/* ---- what is done ---- */

static char PAYLOAD[30000];

static void do_enqueue(struct trial *trial) {
    boxcar_new_message messages[BATCH_MAX];
    size_t count = 1 + draw(trial, BATCH_MAX);
    boxcar_status status;

    if (trial->count + count > MESSAGES_MAX)
        return;
    for (size_t i = 0; i < count; i++) {
        struct noted *noted = &trial->messages[trial->count + i];
        *noted = (struct noted){.id = (boxcar_message_id){boxcar_uuid_new()}, .call = trial->calls};
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].message_id = noted->id;
        messages[i].topic = BOXCAR_STR("t");
        messages[i].payload = (boxcar_str){PAYLOAD, draw(trial, draw(trial, 4) ? 300 : sizeof(PAYLOAD))};
        if (draw(trial, 3) == 0)
            messages[i].stream = draw(trial, 2) ? BOXCAR_STR("a") : BOXCAR_STR("b");
    }
    status = boxcar_enqueue_many(trial->store, BOXCAR_OUTBOX, messages, count, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        trial->messages[trial->count + i].end_state = status == BOXCAR_OK ? STORED : UNKNOWN;
    trial->count += count;
}

static void do_claim(struct trial *trial) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;

    options.owner = trial->owner;
    options.lease_ms = 3600000;
    options.batch_size = 1 + (int)draw(trial, 10);
    if (trial->held_count + (size_t)options.batch_size > HELD_MAX ||
        boxcar_claim(trial->store, &options, &list, NULL) != BOXCAR_OK)
        return;
    for (size_t i = 0; list && i < list->count; i++) {
        const boxcar_message *message = list->items[i];
        boxcar_settlement item = BOXCAR_SETTLEMENT_INIT;
        item.work_id = message->work_id;
        item.epoch = message->epoch;
        trial->held_ids[trial->held_count] = message->message_id;
        trial->held[trial->held_count++] = item;
    }
    boxcar_list_free(list);
}

static void note_ack(struct trial *trial, boxcar_message_id id, enum end_state end_state) {
    for (size_t i = 0; i < trial->count; i++)
        if (memcmp(&trial->messages[i].id, &id, sizeof(id)) == 0)
            trial->messages[i].end_state = end_state;
}

/* A claim that the disk lost may be made again: then this ack counts for nothing, and says so. */
static bool was_affected(const boxcar_work_id *affected, size_t count, boxcar_work_id id) {
    for (size_t i = 0; i < count; i++)
        if (affected[i].value == id.value)
            return true;
    return false;
}

static void do_ack(struct trial *trial) {
    size_t count = trial->held_count ? 1 + draw(trial, trial->held_count) : 0, affected_count = 0;
    size_t first = trial->held_count - count;
    boxcar_work_id affected[HELD_MAX];
    boxcar_status status;

    if (count == 0)
        return;
    status = boxcar_settle(trial->store, CLAIMER(BOXCAR_OUTBOX, trial->owner), BOXCAR_ACK,
                           trial->held + first, count, affected, &affected_count, NULL);
    for (size_t i = first; i < trial->held_count; i++) {
        if (status != BOXCAR_OK)
            note_ack(trial, trial->held_ids[i], MAYBE_ACKED);
        else if (was_affected(affected, affected_count, trial->held[i].work_id))
            note_ack(trial, trial->held_ids[i], ACKED);
    }
    trial->held_count = first;
}

static void do_abandon(struct trial *trial) {
    if (trial->held_count == 0)
        return;
    trial->held_count--;
    trial->held[trial->held_count].delay_ms = 0;
    (void)boxcar_settle(trial->store, CLAIMER(BOXCAR_OUTBOX, trial->owner), BOXCAR_ABANDON,
                        trial->held + trial->held_count, 1, NULL, NULL, NULL);
}

static void do_maintain(struct trial *trial) {
    boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
    (void)boxcar_maintenance_run(trial->store, &maintenance, NULL);
}

/* The last connection to close copies the WAL back and removes it. */
static void do_reopen(struct trial *trial) {
    boxcar_store_close(trial->store);
    trial->store = NULL;
    (void)open_store(trial->path, false, &trial->store, NULL);
}

static void step(struct trial *trial) {
    uint64_t chance = draw(trial, 100);

    trial->calls++;
    if (trial->store == NULL || chance < 4)
        do_reopen(trial);
    else if (chance < 44)
        do_enqueue(trial);
    else if (chance < 66)
        do_claim(trial);
    else if (chance < 88)
        do_ack(trial);
    else if (chance < 96)
        do_abandon(trial);
    else
        do_maintain(trial);
}

/* ---- what must be there ---- */

static void check_integrity(struct trial *trial, const char *path) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    const char *answer;

    if (access(path, F_OK) != 0) /* cut while it was made; if anything was reported, it will be missed */
        return;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "pragma integrity_check", -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW) {
        complain(trial, "the file cannot be read", sqlite3_errmsg(db));
    } else {
        answer = (const char *)sqlite3_column_text(stmt, 0);
        if (strcmp(answer, "ok") != 0)
            complain(trial, "the file is corrupt", answer);
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

/* -1: there is none. */
static int status_of(struct trial *trial, boxcar_store *store, boxcar_message_id id) {
    boxcar_message_ref ref = {.message_id = id};
    boxcar_message_list *list = NULL;
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_status status = boxcar_message_find(store, BOXCAR_OUTBOX, ref, &list, &error);
    int found = list && list->count == 1 ? (int)list->items[0]->status : -1;

    if (status != BOXCAR_OK && status != BOXCAR_E_NOT_FOUND)
        complain(trial, "a message cannot be read", error.message);
    boxcar_list_free(list);
    return found;
}

static void check_messages(struct trial *trial, boxcar_store *store) {
    int call = -1, call_status = 0;

    for (size_t i = 0; i < trial->count; i++) {
        const struct noted *noted = &trial->messages[i];
        int status = status_of(trial, store, noted->id);
        if (status < 0 && noted->end_state != UNKNOWN)
            complain(trial, "lost", "a message whose enqueueing was reported");
        if (noted->end_state == ACKED && status != BOXCAR_DONE)
            complain(trial, "lost", "an ack that was reported");
        if (noted->end_state == STORED && status == BOXCAR_DONE)
            complain(trial, "wrong", "a message is done that nobody has acked");
        if (noted->end_state == UNKNOWN && noted->call == call && (status < 0) != (call_status < 0))
            complain(trial, "torn", "a part of a call is there");
        call = noted->call;
        call_status = status;
    }
}

static void check_works(struct trial *trial, boxcar_store *store) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_audit audit = BOXCAR_AUDIT_INIT;

    message.topic = message.payload = BOXCAR_STR("t");
    if (boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &error) != BOXCAR_OK)
        complain(trial, "the store does not work", error.message);
    if (boxcar_audit_run(store, false, &audit, &error) != BOXCAR_OK || audit.lost > 0)
        complain(trial, "the audit", audit.lost > 0 ? "messages without a trace" : error.message);
}

static void check(struct trial *trial, const char *path) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store = NULL;

    check_integrity(trial, path);
    trial->images++;
    if (open_store(path, true, &store, &error) != BOXCAR_OK) {
        complain(trial, "the store cannot be opened", error.message);
        return;
    }
    check_messages(trial, store);
    check_works(trial, store);
    boxcar_store_close(store);
}

static void check_after_cut(struct trial *trial) {
    static const char *const RESTS[DISK_RESTS] = {"nothing unsynced is there", "everything unsynced is there",
                                                  "some unsynced writes are there", "torn writes are there"};

    for (int rest = 0; rest < DISK_RESTS; rest++) {
        disk_image(trial->path, trial->copy, (enum disk_rest)rest, trial->seed);
        trial->what = RESTS[rest];
        check(trial, trial->copy);
    }
}

/* ---- a trial ---- */

static void run_steps(struct trial *trial, int steps) {
    trial->owner.uuid.bytes[0] = 1;
    if (open_store(trial->path, true, &trial->store, NULL) != BOXCAR_OK)
        trial->store = NULL;
    for (int i = 0; i < steps; i++)
        step(trial);
    boxcar_store_close(trial->store);
    trial->store = NULL;
}

static void make_place(struct trial *trial) {
    const char *parent = getenv("TMPDIR");

    snprintf(trial->folder, sizeof(trial->folder), "%s/boxcar-power.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(trial->folder))
        err(99, "%s", trial->folder);
    snprintf(trial->path, sizeof(trial->path), "%s/store.db", trial->folder);
    snprintf(trial->copy, sizeof(trial->copy), "%s/copy.db", trial->folder);
}

static void remove_place(const struct trial *trial) {
    static const char *const ENDINGS[] = {"", "-wal", "-shm", "-journal"};
    char name[128];

    for (size_t i = 0; i < sizeof(ENDINGS) / sizeof(ENDINGS[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", trial->path, ENDINGS[i]);
        unlink(name);
        snprintf(name, sizeof(name), "%s%s", trial->copy, ENDINGS[i]);
        unlink(name);
    }
    rmdir(trial->folder);
}

/* How many operations that `harm` is counted by a trial of this seed has when nothing fails. */
static int64_t rehearse(struct trial *trial, int steps, enum disk_harm harm) {
    struct disk_plan plan = {.harm = DISK_SOUND, .seed = trial->seed};
    int64_t operations;

    make_place(trial);
    disk_begin(&plan);
    run_steps(trial, steps);
    operations = disk_operations(harm);
    disk_stop();
    disk_end();
    trial->what = "nothing failed";
    check(trial, trial->path);
    remove_place(trial);
    return operations;
}

static int run_trial(uint64_t seed, int steps, int *harmed, int *images) {
    struct trial *trial = calloc(1, sizeof(*trial));
    struct disk_plan plan = {.seed = seed};
    int64_t operations;
    int complaints;

    if (trial == NULL)
        err(99, "out of memory");
    trial->seed = trial->random = seed;
    plan.harm = (enum disk_harm)(DISK_POWER_CUT + disk_random(&plan.seed) % (DISK_HARMS - DISK_POWER_CUT));
    operations = rehearse(trial, steps, plan.harm);
    complaints = trial->complaints;
    *trial = (struct trial){.seed = seed, .random = seed, .images = trial->images};
    trial->what = "the disk is well again";
    plan.at = 1 + (int64_t)(disk_random(&plan.seed) % (uint64_t)operations);
    plan.length = plan.harm == DISK_ERROR ? 1 : 1 + (int64_t)(disk_random(&plan.seed) % 40);
    make_place(trial);
    disk_begin(&plan);
    run_steps(trial, steps);
    disk_stop();
    *harmed += disk_was_harmed();
    if (plan.harm == DISK_POWER_CUT)
        check_after_cut(trial);
    else
        check(trial, trial->path);
    disk_end();
    remove_place(trial);
    complaints += trial->complaints;
    *images += trial->images;
    free(trial);
    return complaints;
}

static uint64_t number_of(const char *text) {
    char *end;
    unsigned long long value = strtoull(text, &end, 10);

    if (*text == '\0' || *end != '\0')
        errx(2, "%s is no number", text);
    return value;
}

int main(int argc, char **argv) {
    uint64_t seed = 0, trials = 20, steps = 120;
    int complaints = 0, harmed = 0, images = 0;

    memset(PAYLOAD, 'x', sizeof(PAYLOAD));
    if (getrandom(&seed, 4, 0) != 4)
        err(99, "getrandom");
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            errx(2, "%s needs a value", argv[i]);
        if (strcmp(argv[i], "--seed") == 0)
            seed = number_of(argv[i + 1]);
        else if (strcmp(argv[i], "--trials") == 0)
            trials = number_of(argv[i + 1]);
        else if (strcmp(argv[i], "--steps") == 0)
            steps = number_of(argv[i + 1]);
        else
            errx(2, "usage: power [--seed N] [--trials N] [--steps N]");
    }
    printf("power: seed %llu, %llu trials of %llu steps\n", (unsigned long long)seed,
           (unsigned long long)trials, (unsigned long long)steps);
    for (uint64_t i = 0; i < trials; i++)
        complaints += run_trial(seed + i, (int)steps, &harmed, &images);
    printf("power: %d harmed, %d files looked at, %d complaints\n", harmed, images, complaints);
    return complaints == 0 && harmed > 0 ? 0 : 1;
}
