/* Raw SQL on SQLite, doing the least possible: prepared statements, WAL, synchronous = FULL, one
 * transaction for each batch. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define BUSY_TIMEOUT_MS 60000

struct connection {
    sqlite3 *db;
    bool is_twin;
    boxcar_owner owner;
    sqlite3_stmt *begin, *commit, *insert, *claim, *ack;
    sqlite3_int64 *ids;
    size_t room;
    uint64_t seen;
};

static void must(struct connection *c, int rc, int expected, const char *what) {
    if (rc != expected)
        bench_die("raw %s: %s", what, sqlite3_errmsg(c->db));
}

static sqlite3_stmt *prepare(struct connection *c, const char *sql) {
    sqlite3_stmt *statement = NULL;

    must(c, sqlite3_prepare_v3(c->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), SQLITE_OK, sql);
    return statement;
}

static void step(struct connection *c, sqlite3_stmt *statement) {
    must(c, sqlite3_step(statement), SQLITE_DONE, sqlite3_sql(statement));
    sqlite3_reset(statement);
}

static void prepare_all(struct connection *c) {
    c->begin = prepare(c, "begin immediate");
    c->commit = prepare(c, "commit");
    c->insert = prepare(c, c->is_twin ? "insert into twin (message_id, box, lane, topic, created_at, payload)"
                                        " values (?1, 0, 0, ?2, ?3, ?4)"
                                      : "insert into queue (topic, payload) values (?2, ?4)");
    c->claim = prepare(c, "update queue set owner = ?1, locked_until = ?2 where id in"
                          " (select id from queue where owner is null order by id limit ?3)"
                          " returning id, topic, payload");
    c->ack = prepare(c, "delete from queue where id = ?1");
}

static void *open_raw(const struct place *place, bool is_twin) {
    struct connection *c = bench_alloc(1, sizeof(*c));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;

    c->is_twin = is_twin;
    c->owner.uuid = boxcar_uuid_new();
    must(c, sqlite3_open_v2(place->path, &c->db, flags, NULL), SQLITE_OK, "open");
    sqlite3_busy_timeout(c->db, BUSY_TIMEOUT_MS);
    must(c, sqlite3_exec(c->db, "pragma journal_mode = wal; pragma synchronous = full", NULL, NULL, NULL),
         SQLITE_OK, "pragma");
    prepare_all(c);
    return c;
}

static void *open_queue(const struct place *place) { return open_raw(place, false); }
static void *open_twin(const struct place *place) { return open_raw(place, true); }

static void close_raw(void *connection) {
    struct connection *c = connection;
    sqlite3_stmt *statements[] = {c->begin, c->commit, c->insert, c->claim, c->ack};

    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        sqlite3_finalize(statements[i]);
    must(c, sqlite3_close(c->db), SQLITE_OK, "close");
    free(c->ids);
    free(c);
}

static sqlite3_int64 now_us(void) {
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (sqlite3_int64)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The library's way to make an id asks the system for random bits each time. A program that inserts many rows
 * would not: the library makes one id, and the others differ from it by a number in front of its random
 * bits. */
static void insert_next(struct connection *c, boxcar_message_id *id, size_t number) {
    if (c->is_twin) {
        for (int i = 0; i < 4; i++)
            id->uuid.bytes[9 + i] = (uint8_t)(number >> 8 * (3 - i));
        sqlite3_bind_blob(c->insert, 1, id->uuid.bytes, sizeof(id->uuid.bytes), SQLITE_STATIC);
        sqlite3_bind_int64(c->insert, 3, now_us());
    }
    sqlite3_bind_text(c->insert, 2, BENCH_TOPIC, (int)strlen(BENCH_TOPIC), SQLITE_STATIC);
    sqlite3_bind_text(c->insert, 4, bench_payload().data, BENCH_PAYLOAD_SIZE, SQLITE_STATIC);
    step(c, c->insert);
}

static void insert_one(void *connection) {
    boxcar_message_id id = {boxcar_uuid_new()};

    insert_next(connection, &id, 0);
}

static void insert_many(void *connection, size_t count) {
    struct connection *c = connection;
    boxcar_message_id id = {boxcar_uuid_new()};

    step(c, c->begin);
    for (size_t i = 0; i < count; i++)
        insert_next(c, &id, i);
    step(c, c->commit);
}

static size_t claim(struct connection *c, size_t batch) {
    size_t count = 0;
    int rc;

    sqlite3_bind_blob(c->claim, 1, c->owner.uuid.bytes, sizeof(c->owner.uuid.bytes), SQLITE_STATIC);
    sqlite3_bind_int64(c->claim, 2, now_us() + BENCH_LEASE_MS * INT64_C(1000));
    sqlite3_bind_int64(c->claim, 3, (sqlite3_int64)batch);
    step(c, c->begin);
    while ((rc = sqlite3_step(c->claim)) == SQLITE_ROW) {
        c->ids[count++] = sqlite3_column_int64(c->claim, 0);
        c->seen += (uint64_t)sqlite3_column_bytes(c->claim, 2) + sqlite3_column_text(c->claim, 2)[0];
    }
    must(c, rc, SQLITE_DONE, "claim");
    sqlite3_reset(c->claim);
    step(c, c->commit);
    return count;
}

static size_t drain(void *connection, size_t batch) {
    struct connection *c = connection;
    size_t count;

    if (batch > c->room) {
        free(c->ids);
        c->ids = bench_alloc(batch, sizeof(*c->ids));
        c->room = batch;
    }
    count = claim(c, batch);
    if (count == 0)
        return 0;
    step(c, c->begin);
    for (size_t i = 0; i < count; i++) {
        sqlite3_bind_int64(c->ack, 1, c->ids[i]);
        step(c, c->ack);
    }
    step(c, c->commit);
    return count;
}

const struct side SIDE_SQLITE_QUEUE = {"plain table", open_queue, close_raw, insert_many, insert_one, drain};
const struct side SIDE_SQLITE_TWIN = {"raw insert", open_twin, close_raw, insert_many, insert_one, NULL};
