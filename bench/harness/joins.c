/* Joins, filled and counted. */
#include "joins.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILL_BATCH 1000

boxcar_join_id join_start(boxcar_store *store, size_t expected) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_id join_id;

    join.expected_steps = (int64_t)expected;
    bench_must(boxcar_join_start(store, &join, &join_id, &err), "join start", &err);
    return join_id;
}

double join_fill(boxcar_store *store, boxcar_join_id join_id, size_t count) {
    boxcar_new_message *messages = bench_alloc(FILL_BATCH, sizeof(*messages));
    size_t left = count;
    double started;

    for (size_t i = 0; i < FILL_BATCH; i++) {
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].topic = BOXCAR_STR(BENCH_TOPIC);
        messages[i].payload = bench_payload();
        messages[i].join_id = join_id;
    }
    started = bench_now();
    while (left > 0) {
        size_t part = left < FILL_BATCH ? left : FILL_BATCH;
        boxcar_error err = BOXCAR_ERROR_INIT;

        bench_must(boxcar_enqueue_many(store, BOXCAR_OUTBOX, messages, part, NULL, &err), "enqueue", &err);
        left -= part;
    }
    free(messages);
    return (double)count / (bench_now() - started);
}

/* ---- counting ---- */

static void count_postgres(const struct place *place, const char *id, size_t *ret_completed,
                           size_t *ret_all) {
    PGconn *pg = PQconnectdb(place->url);
    PGresult *result;
    char sql[512];

    snprintf(sql, sizeof(sql),
             "select count(*) filter (where status = 'completed'), count(*) from %s.outbox_join_member"
             " where join_id = '%s'",
             place->schema, id);
    result = PQexec(pg, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        bench_die("count members: %s", PQerrorMessage(pg));
    *ret_completed = (size_t)atoll(PQgetvalue(result, 0, 0));
    *ret_all = (size_t)atoll(PQgetvalue(result, 0, 1));
    PQclear(result);
    PQfinish(pg);
}

static void count_sqlite(const struct place *place, const char *id, size_t *ret_completed, size_t *ret_all) {
    static const char sql[] = "select count(*) filter (where status = 'completed'), count(*)"
                              " from boxcar_outbox_join_member where join_id = ?";
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_open(place->path, &db) != SQLITE_OK ||
        sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_bind_text(stmt, 1, id, -1, SQLITE_STATIC) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
        bench_die("count members: %s", sqlite3_errmsg(db));
    *ret_completed = (size_t)sqlite3_column_int64(stmt, 0);
    *ret_all = (size_t)sqlite3_column_int64(stmt, 1);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

void join_must_have(const struct place *place, boxcar_join_id join_id, size_t completed, bool ended) {
    boxcar_store *store = place_open(place);
    boxcar_join_list *list = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    char id[BOXCAR_UUID_TEXT_SIZE];
    size_t members_completed, members;
    const boxcar_join *join;

    boxcar_uuid_format(join_id.uuid, id);
    bench_must(boxcar_join_find(store, join_id, &list, &err), "join find", &err);
    join = list->items[0];
    if (join->completed_steps != (int64_t)completed || join->failed_steps != 0 ||
        join->status != (ended ? BOXCAR_JOIN_COMPLETED : BOXCAR_JOIN_PENDING))
        bench_die("the join counted %lld of %zu steps and is %s", (long long)join->completed_steps, completed,
                  boxcar_join_status_name(join->status));
    if (place->kind == BENCH_POSTGRES)
        count_postgres(place, id, &members_completed, &members);
    else
        count_sqlite(place, id, &members_completed, &members);
    if (members_completed != completed || (ended && members != completed))
        bench_die("the join counted %zu steps, but %zu of its %zu members are completed", completed,
                  members_completed, members);
    boxcar_list_free(list);
    boxcar_store_close(store);
}

/* ---- piles ---- */

void pile_claim(struct pile *ret_pile, boxcar_store *store, size_t count, size_t batch) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;

    *ret_pile = (struct pile){.owner = (boxcar_owner){boxcar_uuid_new()},
                              .items = bench_alloc(count, sizeof(boxcar_settlement))};
    options.owner = ret_pile->owner;
    options.lease_ms = 10 * (int64_t)BENCH_LEASE_MS;
    while (ret_pile->count < count) {
        boxcar_message_list *list = NULL;
        boxcar_error err = BOXCAR_ERROR_INIT;

        options.batch_size = (int)(count - ret_pile->count < batch ? count - ret_pile->count : batch);
        bench_must(boxcar_claim(store, &options, &list, &err), "claim", &err);
        if (list->count == 0)
            bench_die("only %zu of %zu messages came", ret_pile->count, count);
        for (size_t i = 0; i < list->count; i++) {
            boxcar_settlement *item = &ret_pile->items[ret_pile->count++];

            *item = BOXCAR_SETTLEMENT_INIT;
            item->work_id = list->items[i]->work_id;
            item->epoch = list->items[i]->epoch;
        }
        boxcar_list_free(list);
    }
}

void pile_release(struct pile *pile) {
    free(pile->items);
    pile->items = NULL;
}

struct acker {
    boxcar_store *store;
    struct pile *pile;
};

static void *open_acker(const struct place *place) {
    struct acker *acker = bench_alloc(1, sizeof(*acker));

    acker->store = place_open(place);
    return acker;
}

static void close_acker(void *connection) {
    boxcar_store_close(((struct acker *)connection)->store);
    free(connection);
}

static size_t ack_some(void *connection, size_t batch) {
    struct acker *acker = connection;
    struct pile *pile = acker->pile;
    size_t first = atomic_fetch_add(&pile->next, batch);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_claimer me = BOXCAR_CLAIMER_INIT;
    size_t affected = 0;

    me.owner = pile->owner;
    bench_must(boxcar_ack(acker->store, &me, &pile->items[first], batch, NULL, &affected, &err), "ack", &err);
    if (affected != batch)
        bench_die("ack: %zu of %zu messages were acked", affected, batch);
    return batch;
}

/* Its drain takes from a pile what others would claim. */
static const struct side SIDE_PILE = {"pile", open_acker, close_acker, NULL, NULL, ack_some};

double pile_ack(struct pile *pile, const struct place *place, int connections, size_t batch) {
    struct crew crew;
    double rate;

    crew_open(&crew, &SIDE_PILE, place, connections);
    for (int i = 0; i < connections; i++)
        ((struct acker *)crew.connections[i])->pile = pile;
    rate = crew_drain(&crew, &(struct work){.goal = pile->count, .batch = batch});
    crew_close(&crew);
    return rate;
}
