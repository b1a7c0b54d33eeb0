/* Raw SQL on PostgreSQL, doing the least possible.
 *
 * The queue is what people write first: claim by UPDATE ... FOR UPDATE SKIP LOCKED with a partial
 * index under it, ack by DELETE, prepared statements, binary values. The twin has the columns and
 * indexes of Boxcar's log and takes COPY and single INSERTs. */
#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define INT8_OID 20
#define UUID_OID 2950
#define TEXT_OID 25
#define INT8_ARRAY_OID 1016
#define SECONDS_1970_TO_2000 INT64_C(946684800)
#define ROW_MAX (BENCH_PAYLOAD_SIZE + 128)

struct connection {
    PGconn *pg;
    bool is_twin;
    boxcar_owner owner;
    size_t prepared_batch;
    char *buffer; /* of a COPY or an array */
    size_t buffer_size;
    uint64_t seen;
};

static PGresult *expect(struct connection *c, PGresult *result, ExecStatusType kind, const char *what) {
    if (PQresultStatus(result) != kind)
        bench_die("raw %s: %s", what, PQerrorMessage(c->pg));
    return result;
}

static void run(struct connection *c, const char *sql) {
    PQclear(expect(c, PQexec(c->pg, sql), PGRES_COMMAND_OK, sql));
}

static void prepare(struct connection *c, const char *name, const char *sql, int count, const Oid *types) {
    PQclear(expect(c, PQprepare(c->pg, name, sql, count, types), PGRES_COMMAND_OK, sql));
}

/* The planner knows the limit only when it is written out. */
static void prepare_claim(struct connection *c, size_t batch) {
    char sql[512];

    if (c->prepared_batch == batch)
        return;
    if (c->prepared_batch > 0)
        run(c, "deallocate claim");
    snprintf(
        sql, sizeof(sql),
        "update queue set owner = $1, locked_until = clock_timestamp() + interval '10 minutes' where id in"
        " (select id from queue where owner is null order by id limit %zu for update skip locked)"
        " returning id, topic, payload",
        batch);
    prepare(c, "claim", sql, 1, (Oid[]){UUID_OID});
    c->prepared_batch = batch;
}

static void *open_raw(const struct place *place, bool is_twin) {
    struct connection *c = bench_alloc(1, sizeof(*c));
    char sql[128];

    c->pg = PQconnectdb(place->url);
    c->is_twin = is_twin;
    c->owner.uuid = boxcar_uuid_new();
    if (PQstatus(c->pg) != CONNECTION_OK)
        bench_die("%s", PQerrorMessage(c->pg));
    snprintf(sql, sizeof(sql), "set search_path = %s", place->schema);
    run(c, sql);
    if (is_twin)
        prepare(c, "insert",
                "insert into twin (message_id, box, lane, created_at, topic, payload)"
                " values ($1, 0, 0, now(), $2, $3)",
                3, (Oid[]){UUID_OID, TEXT_OID, TEXT_OID});
    else
        prepare(c, "insert", "insert into queue (topic, payload) values ($1, $2)", 2,
                (Oid[]){TEXT_OID, TEXT_OID});
    prepare(c, "ack", "delete from queue where id = any($1)", 1, (Oid[]){INT8_ARRAY_OID});
    return c;
}

static void *open_queue(const struct place *place) { return open_raw(place, false); }
static void *open_twin(const struct place *place) { return open_raw(place, true); }

static void close_raw(void *connection) {
    struct connection *c = connection;

    PQfinish(c->pg);
    free(c->buffer);
    free(c);
}

static char *room(struct connection *c, size_t size) {
    if (size > c->buffer_size) {
        free(c->buffer);
        c->buffer = bench_alloc(size, 1);
        c->buffer_size = size;
    }
    return c->buffer;
}

static char *put(char *at, const void *data, size_t size) {
    memcpy(at, data, size);
    return at + size;
}

static char *put_int(char *at, uint64_t value, size_t size) {
    uint64_t big = htobe64(value);

    return put(at, (const char *)&big + 8 - size, size);
}

static char *put_field(char *at, const void *data, size_t size) {
    return put(put_int(at, size, 4), data, size);
}

static char *put_int_field(char *at, uint64_t value, size_t size) {
    return put_int(put_int(at, size, 4), value, size);
}

static uint64_t now_in_postgres(void) {
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)((now.tv_sec - SECONDS_1970_TO_2000) * 1000000 + now.tv_nsec / 1000);
}

static char *put_row(const struct connection *c, char *at) {
    boxcar_str payload = bench_payload();

    at = put_int(at, c->is_twin ? 6 : 2, 2);
    if (c->is_twin) {
        boxcar_message_id id = {boxcar_uuid_new()};

        at = put_field(at, id.uuid.bytes, sizeof(id.uuid.bytes));
        at = put_int_field(at, 0, 2);
        at = put_int_field(at, 0, 2);
        at = put_int_field(at, now_in_postgres(), 8);
    }
    at = put_field(at, BENCH_TOPIC, strlen(BENCH_TOPIC));
    return put_field(at, payload.data, payload.len);
}

static void copy(void *connection, size_t count) {
    static const char header[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0";
    struct connection *c = connection;
    const char *sql = c->is_twin
                          ? "copy twin (message_id, box, lane, created_at, topic, payload) from stdin binary"
                          : "copy queue (topic, payload) from stdin binary";
    char *start = room(c, sizeof(header) + 2 + count * ROW_MAX);
    char *at = put(start, header, sizeof(header) - 1);

    for (size_t i = 0; i < count; i++)
        at = put_row(c, at);
    at = put_int(at, 0xffff, 2);
    PQclear(expect(c, PQexec(c->pg, sql), PGRES_COPY_IN, sql));
    if (PQputCopyData(c->pg, start, (int)(at - start)) != 1 || PQputCopyEnd(c->pg, NULL) != 1)
        bench_die("raw copy: %s", PQerrorMessage(c->pg));
    PQclear(expect(c, PQgetResult(c->pg), PGRES_COMMAND_OK, "copy"));
    PQclear(PQgetResult(c->pg)); /* the end of the command */
}

static void insert_one(void *connection) {
    struct connection *c = connection;
    boxcar_message_id id = {boxcar_uuid_new()};
    const char *values[] = {(const char *)id.uuid.bytes, BENCH_TOPIC, bench_payload().data};
    int lengths[] = {sizeof(id.uuid.bytes), (int)strlen(BENCH_TOPIC), BENCH_PAYLOAD_SIZE};
    int formats[] = {1, 1, 1};
    int skip = c->is_twin ? 0 : 1;
    PGresult *result = PQexecPrepared(c->pg, "insert", 3 - skip, values + skip, lengths + skip, formats, 1);

    PQclear(expect(c, result, PGRES_COMMAND_OK, "insert"));
}

static void delete_claimed(struct connection *c, const PGresult *claimed, int count) {
    char *start = room(c, 20 + (size_t)count * 12);
    char *at = put_int(put_int(put_int(start, 1, 4), 0, 4), INT8_OID, 4);
    const char *value = start;
    PGresult *result;
    int length;

    at = put_int(put_int(at, (uint64_t)count, 4), 1, 4);
    for (int i = 0; i < count; i++)
        at = put_field(at, PQgetvalue(claimed, i, 0), 8);
    length = (int)(at - start);
    result =
        expect(c, PQexecPrepared(c->pg, "ack", 1, &value, &length, (int[]){1}, 1), PGRES_COMMAND_OK, "ack");
    if (atoi(PQcmdTuples(result)) != count)
        bench_die("raw ack: %s of %d rows", PQcmdTuples(result), count);
    PQclear(result);
}

static size_t drain(void *connection, size_t batch) {
    struct connection *c = connection;
    const char *owner = (const char *)c->owner.uuid.bytes;
    PGresult *claimed;
    int count;

    prepare_claim(c, batch);
    claimed = PQexecPrepared(c->pg, "claim", 1, &owner, (int[]){sizeof(c->owner.uuid.bytes)}, (int[]){1}, 1);
    expect(c, claimed, PGRES_TUPLES_OK, "claim");
    count = PQntuples(claimed);
    for (int i = 0; i < count; i++)
        c->seen += (uint64_t)PQgetlength(claimed, i, 2) + (uint64_t)PQgetvalue(claimed, i, 2)[0];
    if (count > 0)
        delete_claimed(c, claimed, count);
    PQclear(claimed);
    return (size_t)count;
}

const struct side SIDE_POSTGRES_QUEUE = {"plain table", open_queue, close_raw, copy, insert_one, drain};
const struct side SIDE_POSTGRES_TWIN = {"raw insert", open_twin, close_raw, copy, insert_one, NULL};
