/* What people write to store something once: INSERT ... ON CONFLICT DO NOTHING. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pg.h"

#define TEXT_OID 25
#define UUID_OID 2950

struct connection {
    PGconn *pg;
    int number;
    uint64_t next;
};

static _Atomic int connections;

static struct connection *open_pg(const struct place *place) {
    struct connection *c = bench_alloc(1, sizeof(*c));

    c->pg = pg_open(place);
    c->number = connections++;
    return c;
}

static void close_pg(void *connection) {
    PQfinish(((struct connection *)connection)->pg);
    free(connection);
}

static void prepare(struct connection *c, const char *sql, int count) {
    static const Oid types[] = {UUID_OID, TEXT_OID, TEXT_OID, TEXT_OID};

    PQclear(pg_expect(c->pg, PQprepare(c->pg, "insert", sql, count, types), PGRES_COMMAND_OK, sql));
}

/* Returns whether the row was new. */
static bool insert(struct connection *c, const char *external_id) {
    boxcar_message_id id = {boxcar_uuid_new()};
    const char *values[] = {(const char *)id.uuid.bytes, BENCH_TOPIC, bench_payload().data, external_id};
    int lengths[] = {sizeof(id.uuid.bytes), (int)strlen(BENCH_TOPIC), BENCH_PAYLOAD_SIZE, 0};
    int formats[] = {1, 1, 1, 1};
    PGresult *result;
    bool is_new;

    if (external_id)
        lengths[3] = (int)strlen(external_id);
    result = PQexecPrepared(c->pg, "insert", external_id ? 4 : 3, values, lengths, formats, 1);
    pg_expect(c->pg, result, PGRES_TUPLES_OK, "insert");
    is_new = PQntuples(result) == 1;
    PQclear(result);
    return is_new;
}

/* ---- by message id, which the log keeps unique anyway ---- */

static void *open_by_id(const struct place *place) {
    struct connection *c = open_pg(place);

    prepare(c,
            "insert into twin (message_id, box, lane, created_at, topic, payload) values ($1, 0, 0, now(), "
            "$2, $3)"
            " on conflict (message_id) do nothing returning work_id",
            3);
    return c;
}

static void insert_by_id(void *connection) {
    if (!insert(connection, NULL))
        bench_die("on conflict: a new id was known");
}

/* ---- by source and external id, as the inbox ---- */

static void *open_by_key(const struct place *place) {
    struct connection *c = open_pg(place);

    prepare(c,
            "insert into keyed (message_id, box, lane, created_at, topic, payload, source, external_id)"
            " values ($1, 1, 0, now(), $2, $3, 'bench', $4)"
            " on conflict (source, external_id) do nothing returning work_id",
            4);
    return c;
}

static void insert_new(void *connection) {
    struct connection *c = connection;
    char key[BENCH_KEY_SIZE];

    snprintf(key, sizeof(key), "%d %" PRIu64, c->number, c->next++);
    if (!insert(c, key))
        bench_die("on conflict: a new key was known");
}

static void insert_known(void *connection) {
    struct connection *c = connection;
    char key[BENCH_KEY_SIZE];

    bench_known_key(key, c->next++ + (uint64_t)c->number * 997);
    if (insert(c, key))
        bench_die("on conflict: a known key was new");
}

void on_conflict_introduce(const struct place *place) {
    struct connection *c = open_by_key(place);
    char key[BENCH_KEY_SIZE];

    pg_run(c->pg, "begin");
    for (uint64_t i = 0; i < BENCH_KNOWN; i++) {
        bench_known_key(key, i);
        insert(c, key);
    }
    pg_run(c->pg, "commit");
    close_pg(c);
}

const struct side SIDE_ON_CONFLICT = {"on conflict", open_by_id, close_pg, NULL, insert_by_id, NULL};
const struct side SIDE_ON_CONFLICT_NEW = {"on conflict, new", open_by_key, close_pg, NULL, insert_new, NULL};
const struct side SIDE_ON_CONFLICT_KNOWN = {"on conflict, known", open_by_key, close_pg, NULL,
                                            insert_known,         NULL};
