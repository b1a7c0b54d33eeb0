/* WAL bytes a message, by path and by step. Each path has a store of its own. The steps are compared with the
 * plain table's, claimed and deleted as many at a time; the sum with 1,000 bytes. Purging has no opponent:
 * the plain table keeps no history.
 *
 * No checkpoint comes before the steps: the pages are new, so that no whole page is written. Upkeep that
 * others do on the server at the same time counts as well; on one of its own there is none but autovacuum. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "joins.h"
#include "pg.h"

#define STREAM_LENGTH 10
#define BUDGET 1000.0
#define BATCH_MAX 1000

enum step { ENQUEUE, CLAIM, ACK, PURGE, STEPS };
static const char *const STEP_NAMES[STEPS] = {"enqueue", "claim", "ack", "purge"};

struct path {
    const char *row;
    const char *name;
    size_t batch;
    bool streamed, keyed, inbox, joined;
    struct target target;
};

/* Bytes of WAL since the cluster began. */
static double wal_now(PGconn *pg) {
    return pg_number(pg, "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
}

static void enqueue_outbox(boxcar_store *store, const struct path *path, boxcar_join_id join_id, size_t first,
                           size_t count) {
    boxcar_new_message messages[BATCH_MAX];
    char keys[BATCH_MAX][BENCH_KEY_SIZE];
    boxcar_error err = BOXCAR_ERROR_INIT;

    for (size_t i = 0; i < count; i++) {
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].topic = BOXCAR_STR(BENCH_TOPIC);
        messages[i].payload = bench_payload();
        messages[i].join_id = join_id;
        snprintf(keys[i], sizeof(keys[i]), "key-%zu",
                 path->streamed ? (first + i) / STREAM_LENGTH : first + i);
        if (path->streamed)
            messages[i].stream = boxcar_str_of(keys[i]);
        if (path->keyed)
            messages[i].key = boxcar_str_of(keys[i]);
    }
    if (count == 1)
        bench_must(boxcar_enqueue(store, BOXCAR_OUTBOX, messages, NULL, &err), "enqueue", &err);
    else
        bench_must(boxcar_enqueue_many(store, BOXCAR_OUTBOX, messages, count, NULL, &err), "enqueue", &err);
}

static void enqueue_inbox(boxcar_store *store, size_t first) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    char id[BENCH_KEY_SIZE];

    snprintf(id, sizeof(id), "key-%zu", first);
    message.source = BOXCAR_STR("bench");
    message.external_id = boxcar_str_of(id);
    message.topic = BOXCAR_STR(BENCH_TOPIC);
    message.payload = bench_payload();
    bench_must(boxcar_enqueue(store, BOXCAR_INBOX, &message, NULL, &err), "inbox enqueue", &err);
}

static void enqueue(boxcar_store *store, const struct path *path, size_t messages) {
    boxcar_join_id join_id = path->joined ? join_start(store, messages) : (boxcar_join_id){0};

    for (size_t first = 0; first < messages; first += path->batch) {
        if (path->inbox)
            enqueue_inbox(store, first);
        else
            enqueue_outbox(store, path, join_id, first, path->batch);
    }
}

/* ---- claims first, then the acks, so that each can be counted alone ---- */

struct claimed {
    boxcar_owner owner;
    boxcar_settlement *items;
    size_t *sizes; /* of each claim */
    size_t claims, count;
};

static void note_claim(struct claimed *claimed, const boxcar_message_list *list) {
    size_t count = list->count;

    for (size_t i = 0; i < count; i++) {
        boxcar_settlement *item = &claimed->items[claimed->count++];

        *item = BOXCAR_SETTLEMENT_INIT;
        item->work_id = list->items[i]->work_id;
        item->epoch = list->items[i]->epoch;
    }
    claimed->sizes[claimed->claims++] = count;
}

static void ack_some(boxcar_store *store, const struct path *path, struct claimed *claimed, size_t first,
                     size_t count) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t affected = 0;
    boxcar_claimer me = BOXCAR_CLAIMER_INIT;
    boxcar_status status;

    me.box = path->inbox ? BOXCAR_INBOX : BOXCAR_OUTBOX;
    me.owner = claimed->owner;
    status = boxcar_ack(store, &me, &claimed->items[first], count, NULL, &affected, &err);
    bench_must(status, "ack", &err);
    if (affected != count)
        bench_die("ack: %zu of %zu messages were acked", affected, count);
}

/* A stream's later messages wait for the ack of the earlier ones: with streams each claim is acked before the
 * next one, and both count as claiming. */
static void claim(boxcar_store *store, const struct path *path, struct claimed *claimed, size_t messages) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;

    options.box = path->inbox ? BOXCAR_INBOX : BOXCAR_OUTBOX;
    options.owner = claimed->owner;
    options.lease_ms = BENCH_LEASE_MS;
    options.batch_size = (int)path->batch;
    while (claimed->count < messages) {
        boxcar_message_list *list = NULL;
        boxcar_error err = BOXCAR_ERROR_INIT;
        boxcar_status status = boxcar_claim(store, &options, &list, &err);

        bench_must(status, "claim", &err);
        if (list->count == 0)
            bench_die("only %zu of %zu messages came", claimed->count, messages);
        note_claim(claimed, list);
        if (path->streamed)
            ack_some(store, path, claimed, claimed->count - list->count, list->count);
        boxcar_list_free(list);
    }
}

static void ack(boxcar_store *store, const struct path *path, struct claimed *claimed) {
    size_t first = 0;

    for (size_t i = 0; i < claimed->claims && !path->streamed; i++) {
        ack_some(store, path, claimed, first, claimed->sizes[i]);
        first += claimed->sizes[i];
    }
}

static void purge(boxcar_store *store) {
    static const char *const settings[] = {"retention_done", "retention_inbox", "retention_joins"};
    boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        bench_must(boxcar_setting_write(store, boxcar_str_of(settings[i]), BOXCAR_STR("0s"), &err), "setting",
                   &err);
    do
        bench_must(boxcar_maintenance_run(store, &maintenance, &err), "maintain", &err);
    while (maintenance.more);
}

/* Bytes a message of each step. */
static void measure_boxcar(struct bench *b, const struct path *path, size_t messages,
                           double ret_bytes[STEPS]) {
    struct claimed claimed = {.owner = (boxcar_owner){boxcar_uuid_new()},
                              .items = bench_alloc(messages, sizeof(boxcar_settlement)),
                              .sizes = bench_alloc(messages, sizeof(size_t))};
    struct place place;
    boxcar_store *store;
    double marks[STEPS + 1];
    PGconn *pg;

    place_create_boxcar(&place, b);
    store = place_open(&place);
    pg = pg_open(&place);
    marks[ENQUEUE] = wal_now(pg);
    enqueue(store, path, messages);
    marks[CLAIM] = wal_now(pg);
    claim(store, path, &claimed, messages);
    marks[ACK] = wal_now(pg);
    ack(store, path, &claimed);
    marks[PURGE] = wal_now(pg);
    purge(store);
    marks[STEPS] = wal_now(pg);
    for (int i = 0; i < STEPS; i++)
        ret_bytes[i] = (marks[i + 1] - marks[i]) / (double)messages;
    PQfinish(pg);
    boxcar_store_close(store);
    place_remove(&place);
    free(claimed.items);
    free(claimed.sizes);
}

/* The plain table's steps one after the other. */
static void use_plain(PGconn *pg, const struct place *raw, size_t batch, size_t messages,
                      double ret_marks[STEPS]) {
    void *connection = SIDE_POSTGRES_QUEUE.open(raw);
    char sql[256];

    ret_marks[ENQUEUE] = wal_now(pg);
    for (size_t done = 0; done < messages; done += batch)
        if (batch == 1)
            SIDE_POSTGRES_QUEUE.enqueue_one(connection);
        else
            SIDE_POSTGRES_QUEUE.enqueue(connection, batch);
    ret_marks[CLAIM] = wal_now(pg);
    snprintf(sql, sizeof(sql),
             "update queue set owner = gen_random_uuid(), locked_until = now() where id in"
             " (select id from queue where owner is null order by id limit %zu for update skip locked)",
             batch);
    for (size_t done = 0; done < messages; done += batch)
        pg_run(pg, sql);
    ret_marks[ACK] = wal_now(pg);
    for (size_t done = 0; done < messages; done += batch) {
        snprintf(sql, sizeof(sql), "delete from queue where id between %zu and %zu", done + 1, done + batch);
        pg_run(pg, sql);
    }
    ret_marks[PURGE] = wal_now(pg);
    SIDE_POSTGRES_QUEUE.close(connection);
}

static void measure_plain(struct bench *b, size_t batch, size_t messages, double ret_bytes[STEPS]) {
    struct place model, raw;
    double marks[STEPS];
    PGconn *pg;

    place_create_boxcar(&model, b);
    place_create_raw(&raw, b, &model);
    pg = pg_open(&raw);
    use_plain(pg, &raw, batch, messages, marks);
    for (int i = 0; i < PURGE; i++)
        ret_bytes[i] = (marks[i + 1] - marks[i]) / (double)messages;
    ret_bytes[PURGE] = 0;
    PQfinish(pg);
    place_remove(&raw);
    place_remove(&model);
}

static void report_path(struct bench *b, const struct path *path, const struct pairs steps[STEPS],
                        const struct pairs *all) {
    char name[64];

    snprintf(name, sizeof(name), "WAL, %s, all, against 1,000 B", path->name);
    report_add(b->report, name, "B/msg", all, path->target);
    for (int i = 0; i < STEPS; i++) {
        snprintf(name, sizeof(name), "  %s%s", STEP_NAMES[i], path->streamed && i == CLAIM ? " and ack" : "");
        if (!path->streamed || i != ACK)
            report_add(b->report, name, "B/msg", &steps[i], NO_TARGET);
    }
}

/* Counting disturbs nobody and is disturbed little: one round is enough. */
static void run(struct bench *b, const struct path *path) {
    size_t messages = path->batch == 1 ? bench_count(b, 2000, 50) : bench_count(b, 100000, 2000);
    struct pairs steps[STEPS] = {{0}}, all = {0};
    double ours[STEPS], theirs[STEPS], sum = 0;

    if (!bench_wants(b, path->row))
        return;
    bench_progress("%s", path->row);
    messages -= messages % path->batch;
    measure_boxcar(b, path, messages, ours);
    measure_plain(b, path->batch, messages, theirs);
    if (path->streamed)
        theirs[CLAIM] += theirs[ACK];
    for (int i = 0; i < STEPS; i++) {
        pairs_add(&steps[i], ours[i], theirs[i]);
        sum += ours[i];
    }
    pairs_add(&all, sum, BUDGET);
    report_path(b, path, steps, &all);
}

static void scenario_wal(struct bench *b) {
    static const struct path paths[] = {
        {.row = "wal/single", .name = "1 at a time", .batch = 1, .target = {TARGET_AT_MOST, 1}},
        {.row = "wal/batched", .name = "1,000 at a time", .batch = 1000},
        {.row = "wal/streamed",
         .name = "streamed, 1,000",
         .batch = 1000,
         .streamed = true,
         .target = {TARGET_AT_MOST, 1.024}},
        {.row = "wal/keyed", .name = "keyed, 1", .batch = 1, .keyed = true},
        {.row = "wal/inbox", .name = "inbox, 1", .batch = 1, .inbox = true},
        {.row = "wal/join", .name = "in a join, 1,000", .batch = 1000, .joined = true},
    };

    for (size_t i = 0; b->kind == BENCH_POSTGRES && i < sizeof(paths) / sizeof(paths[0]); i++)
        run(b, &paths[i]);
}

const struct scenario WAL_SCENARIO = {"WAL bytes a message, by path and step (PostgreSQL)", scenario_wal};
