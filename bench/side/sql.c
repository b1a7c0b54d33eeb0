/* Boxcar's SQL functions, as any program with a driver calls them. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pg.h"

#define TEXT_OID 25

struct connection {
    PGconn *pg;
    char *json; /* an array of messages for enqueue_many() */
    size_t json_count;
};

static void prepare(struct connection *c, const char *name, const char *sql, int count) {
    static const Oid types[] = {TEXT_OID, TEXT_OID};

    PQclear(pg_expect(c->pg, PQprepare(c->pg, name, sql, count, types), PGRES_COMMAND_OK, sql));
}

static void *open_sql(const struct place *place) {
    struct connection *c = bench_alloc(1, sizeof(*c));

    c->pg = pg_open(place);
    prepare(c, "enqueue", "select work_id, message_id, duplicate from enqueue($1, $2)", 2);
    prepare(c, "enqueue_many", "select work_id, message_id, duplicate from enqueue_many($1::jsonb)", 1);
    return c;
}

static void close_sql(void *connection) {
    struct connection *c = connection;

    PQfinish(c->pg);
    free(c->json);
    free(c);
}

static void enqueue_one(void *connection) {
    struct connection *c = connection;
    const char *values[] = {BENCH_TOPIC, bench_payload().data};
    PGresult *result = PQexecPrepared(c->pg, "enqueue", 2, values, NULL, NULL, 0);

    PQclear(pg_expect(c->pg, result, PGRES_TUPLES_OK, "enqueue"));
}

static char *append(char *at, const char *text) {
    size_t length = strlen(text);

    memcpy(at, text, length + 1);
    return at + length;
}

/* The payload is JSON text already: as an object it is stored as it is. */
static void make_json(struct connection *c, size_t count) {
    static const char before[] = "{\"topic\": \"" BENCH_TOPIC "\", \"payload\": ", after[] = "},";
    char *at;

    if (c->json_count == count)
        return;
    free(c->json);
    c->json = bench_alloc(count * (sizeof(before) + BENCH_PAYLOAD_SIZE + sizeof(after)) + 2, 1);
    at = append(c->json, "[");
    for (size_t i = 0; i < count; i++)
        at = append(append(append(at, before), bench_payload().data), after);
    at[-1] = ']';
    c->json_count = count;
}

static void enqueue(void *connection, size_t count) {
    struct connection *c = connection;
    const char *value;
    PGresult *result;

    make_json(c, count);
    value = c->json;
    result = pg_expect(c->pg, PQexecPrepared(c->pg, "enqueue_many", 1, &value, NULL, NULL, 0),
                       PGRES_TUPLES_OK, "enqueue_many");
    if ((size_t)PQntuples(result) != count)
        bench_die("enqueue_many: %d of %zu messages", PQntuples(result), count);
    PQclear(result);
}

const struct side SIDE_SQL = {"SQL functions", open_sql, close_sql, enqueue, enqueue_one, NULL};
