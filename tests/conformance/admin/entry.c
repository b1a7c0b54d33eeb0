/* The functions that roles can call check what they are given: whatever a producer sends, the others go on,
 * and no payload is in an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"

#define SECRET "s3cret-payload"

/* A producer or a worker of this test's own. */
struct caller {
    char name[80];
    PGconn *conn;
};

static struct caller connect_as(struct fixture *f, const char *access) {
    struct caller caller;
    char url[512];
    PGconn *conn = fixture_connect(f);
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@');
    assert_non_null(server);
    snprintf(caller.name, sizeof(caller.name), "%s_%s", f->schema, access);
    snprintf(url, sizeof(url), "postgres://%s:pw@%s", caller.name, server + 1);
    pg_exec(conn, "create role %s login password 'pw'", caller.name);
    pg_exec(conn, "select grant_access('%s', '%s')", caller.name, access);
    PQfinish(conn);
    caller.conn = PQconnectdb(url);
    assert_int_equal(PQstatus(caller.conn), CONNECTION_OK);
    pg_exec(caller.conn, "set search_path = %s", f->schema);
    return caller;
}

static void end_caller(struct fixture *f, struct caller *caller) {
    PGconn *conn = fixture_connect(f);
    PQfinish(caller->conn);
    pg_exec(conn, "drop owned by %s", caller->name);
    pg_exec(conn, "drop role %s", caller->name);
    PQfinish(conn);
}

/* The statement is refused as an argument error that names `argument`, and nothing in it shows the payload.
 * The server writes the same fields into its log. */
static void assert_refused(const struct caller *caller, const char *argument, const char *statement) {
    PGresult *result = PQexec(caller->conn, statement);
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *column = PQresultErrorField(result, PG_DIAG_COLUMN_NAME);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    const char *context = PQresultErrorField(result, PG_DIAG_CONTEXT);
    if (!sqlstate || strcmp(sqlstate, "BX001") != 0 || !column || strcmp(column, argument) != 0)
        fail_msg("%s: %s", statement, sqlstate ? PQresultErrorMessage(result) : "was accepted");
    assert_null(detail);
    assert_false(context && strstr(context, SECRET));
    assert_null(strstr(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), SECRET));
    PQclear(result);
}

/* Too long for an index, however well it is compressed. */
#define LONG "(select string_agg(md5(i::text), '') from generate_series(1, 200) i)"
#define ID "gen_random_uuid()"
#define ENQUEUE(ids, topics, payloads, streams, headers, dues)                                               \
    "select * from _enqueue(0::smallint, array[" ids "]::uuid[], array[" topics "]::text[], array[" payloads \
    "]::text[], "                                                                                            \
    "null, array[" streams "]::text[], array[" headers "]::text[], array[" dues                              \
    "]::timestamptz[], null, null, null, false)"
#define GOOD_PAYLOAD "'" SECRET "'"

/* BX-010, BX-011 */
static void producer_cannot_store_what_stops_claims(void **state) {
    struct fixture *f = *state;
    struct caller producer = connect_as(f, "producer");
    assert_refused(&producer, "topic", ENQUEUE(ID, LONG, GOOD_PAYLOAD, "null", "null", "null"));
    assert_refused(&producer, "topic", ENQUEUE(ID, "''", GOOD_PAYLOAD, "null", "null", "null"));
    assert_refused(&producer, "topic", ENQUEUE(ID, "null", GOOD_PAYLOAD, "null", "null", "null"));
    assert_refused(&producer, "topic",
                   ENQUEUE(ID ", " ID, "'t'", GOOD_PAYLOAD ", 'p'", "null", "null", "null"));
    assert_refused(&producer, "payload", ENQUEUE(ID, "'t'", "null", "null", "null", "null"));
    assert_refused(&producer, "message_id", ENQUEUE("null", "'t'", GOOD_PAYLOAD, "null", "null", "null"));
    assert_refused(&producer, "stream", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, LONG, "null", "null"));
    assert_refused(&producer, "stream", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "''", "null", "null"));
    assert_refused(&producer, "headers", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "'[1, 2]'", "null"));
    assert_refused(&producer, "headers", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "'5'", "null"));
    assert_refused(&producer, "due_at", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "null", "'infinity'"));
    assert_refused(&producer, "due_at", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "null", "'-infinity'"));
    assert_refused(&producer, "box",
                   "select * from _enqueue(7::smallint, array[gen_random_uuid()], array['t'], array['" SECRET
                   "'], "
                   "null, null, null, null, null, null, null, true)");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
    end_caller(f, &producer);
}

#define INBOX(source, id, hash, topic)                                                                       \
    "select * from _inbox_enqueue(array[gen_random_uuid()], array[" topic "], array['" SECRET                \
    "'], null, null, null, null, "                                                                           \
    "null, null, null, array[" source "]::text[], array[" id "]::text[], array[" hash "]::text[])"
#define APPEND(stream, id, type, payload, headers)                                                           \
    "select * from _event_append(" stream ", null, array[" id "]::uuid[], array[" type                       \
    "]::text[], array[" payload "]::text[], null, array[" headers "]::text[], null)"

/* BX-010, BX-011 */
static void inbox_events_and_joins_are_checked_as_well(void **state) {
    struct fixture *f = *state;
    struct caller producer = connect_as(f, "producer");
    assert_refused(&producer, "source", INBOX(LONG, "'1'", "null", "'t'"));
    assert_refused(&producer, "id", INBOX("'s'", LONG, "null", "'t'"));
    assert_refused(&producer, "content_hash", INBOX("'s'", "'1'", LONG, "'t'"));
    assert_refused(&producer, "topic", INBOX("'s'", "'1'", "null", LONG));
    assert_refused(&producer, "stream", APPEND(LONG, ID, "'T'", GOOD_PAYLOAD, "null"));
    assert_refused(&producer, "event_id", APPEND("'s'", "null", "'T'", GOOD_PAYLOAD, "null"));
    assert_refused(&producer, "type", APPEND("'s'", ID, "null", GOOD_PAYLOAD, "null"));
    assert_refused(&producer, "type", APPEND("'s'", ID, LONG, GOOD_PAYLOAD, "null"));
    assert_refused(&producer, "payload", APPEND("'s'", ID, "'T'", "null", "null"));
    assert_refused(&producer, "headers", APPEND("'s'", ID, "'T'", GOOD_PAYLOAD, "'[]'"));
    assert_refused(&producer, "join_id", "select _join_start(null, 1, null, '" SECRET "', null, 0)");
    assert_refused(&producer, "expected_steps",
                   "select _join_start(gen_random_uuid(), null, null, '" SECRET "', null, 0)");
    assert_refused(&producer, "expected_steps",
                   "select _join_start(gen_random_uuid(), -1, null, '" SECRET "', null, 0)");
    assert_refused(&producer, "grouping_key",
                   "select _join_start(gen_random_uuid(), 1, repeat('x', 256), '" SECRET "', null, 0)");
    assert_refused(&producer, "deadline",
                   "select _join_start(gen_random_uuid(), 1, null, '" SECRET "', 'infinity', 0)");
    end_caller(f, &producer);
}

/* BX-010, BX-011: the same rule as for the library and the program. A text that is no JSON is not shown. */
static void headers_are_an_object_of_strings(void **state) {
    struct fixture *f = *state;
    struct caller producer = connect_as(f, "producer");
    static const char *const BAD[] = {"{\"a\": 1}",
                                      "{\"a\": null}",
                                      "{\"a\": true}",
                                      "{\"a\": {\"b\": \"c\"}}",
                                      "{\"a\": [\"b\"]}",
                                      "{\"a\": []}",
                                      "[\"a\"]",
                                      "\"a\"",
                                      "null",
                                      "",
                                      SECRET,
                                      "{\"" SECRET,
                                      "{\"a\": \"" SECRET "\"} " SECRET,
                                      "{\"a\": \"\\u0000\"}",
                                      "{\"ok\": \"" SECRET "\", \"a\": 1}"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        char statement[1024];
        snprintf(statement, sizeof(statement), ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "'%s'", "null"),
                 BAD[i]);
        assert_refused(&producer, "headers", statement);
        snprintf(statement, sizeof(statement), APPEND("'s'", ID, "'T'", GOOD_PAYLOAD, "'%s'"), BAD[i]);
        assert_refused(&producer, "headers", statement);
        snprintf(statement, sizeof(statement),
                 "select * from _inbox_enqueue(array[gen_random_uuid()], array['t'], array['" SECRET
                 "'], null, null, "
                 "array['%s'], null, null, null, null, array['s'], array['1'], null)",
                 BAD[i]);
        assert_refused(&producer, "headers", statement);
    }
    pg_exec(producer.conn, ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "'{\"a\": \"b\", \"c\": \"\"}'", "null"));
    pg_exec(producer.conn, ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "'{}'", "null"));
    pg_exec(producer.conn,
            ENQUEUE(ID ", " ID, "'t', 't'", "'', ''", "null", "null, '{\"a\": \"b\"}'", "null"));
    PGconn *conn = fixture_connect(f);
    assert_int_equal(pg_number(conn, "select count(*) from message where headers is not null"), 3);
    PQfinish(conn);
    end_caller(f, &producer);
}

#define OWNER "'11111111-1111-4111-8111-111111111111'"
#define CLAIM(lease, wanted)                                                                                 \
    "select * from _claim(0::smallint, " OWNER ", " lease "::interval, " wanted                              \
    "::int, null, null, true, true)"
#define CLAIM_NUMBERED(lease, wanted)                                                                        \
    "select * from _claim_numbered(0::smallint, " OWNER ", " lease "::interval, " wanted                     \
    "::int, null, null, true, true, 1, true)"
#define RENEW(lease) "select _renew(0::smallint, " OWNER ", array[1], null, " lease "::interval)"

/* BX-011: also when there is nothing to claim. */
static void lease_and_batch_size_of_a_claim_are_checked(void **state) {
    struct fixture *f = *state;
    struct caller worker = connect_as(f, "worker");
    for (int has_work = 0; has_work < 2; has_work++) {
        assert_refused(&worker, "lease", CLAIM("null", "1"));
        assert_refused(&worker, "lease", CLAIM("'99 milliseconds'", "1"));
        assert_refused(&worker, "lease", CLAIM("'-1 hour'", "1"));
        assert_refused(&worker, "lease", CLAIM("'25 hours'", "1"));
        assert_refused(&worker, "lease", CLAIM("'178000000 years'", "1"));
        assert_refused(&worker, "lease", CLAIM_NUMBERED("null", "1"));
        assert_refused(&worker, "lease", CLAIM_NUMBERED("'25 hours'", "1"));
        assert_refused(&worker, "batch_size", CLAIM("'1 second'", "null"));
        assert_refused(&worker, "batch_size", CLAIM("'1 second'", "0"));
        assert_refused(&worker, "batch_size", CLAIM("'1 second'", "-1"));
        assert_refused(&worker, "batch_size", CLAIM("'1 second'", "10001"));
        assert_refused(&worker, "batch_size", CLAIM("'1 second'", "2147483647"));
        assert_refused(&worker, "batch_size", CLAIM_NUMBERED("'1 second'", "null"));
        assert_refused(&worker, "owner",
                       "select * from _claim(0::smallint, null, '1 second', 1, null, null, true, true)");
        assert_refused(&worker, "box",
                       "select * from _claim(-1::smallint, " OWNER
                       ", '1 second', 1, null, null, true, true)");
        assert_refused(&worker, "box",
                       "select * from _claim(null, " OWNER ", '1 second', 1, null, null, true, true)");
        assert_refused(&worker, "lease", RENEW("null"));
        assert_refused(&worker, "lease", RENEW("'-1 hour'"));
        assert_refused(&worker, "lease", RENEW("'25 hours'"));
        enqueue(f, "t", "p");
    }
    assert_int_equal(pg_number(worker.conn, CLAIM("'24 hours'", "10000")), 1);
    pg_exec(worker.conn, RENEW("'100 milliseconds'"));
    end_caller(f, &worker);
}

/* BX-011: what would be stored as a state that no reader knows, or for ever. */
static void what_workers_say_is_checked(void **state) {
    struct fixture *f = *state;
    struct caller worker = connect_as(f, "worker");
    enqueue(f, "t", "p");
    assert_int_equal(pg_number(worker.conn, CLAIM("'24 hours'", "10")), 1);
#define SETTLE "0::smallint, " OWNER ", array[1], null, "
    assert_refused(&worker, "reason", "select _fail(" SETTLE "array['e'], 0::smallint)");
    assert_refused(&worker, "reason", "select _fail(" SETTLE "array['e'], 6::smallint)");
    assert_refused(&worker, "reason", "select _fail(" SETTLE "array['e'], null)");
    assert_refused(&worker, "delay", "select _abandon(" SETTLE "array[-2], null)");
    assert_refused(&worker, "delay", "select _defer(" SETTLE "array[315360000001])");
    assert_refused(&worker, "delay", "select _defer(" SETTLE "array[1, 9223372036854775807])");
    assert_refused(&worker, "stages", "select _record_stages(" SETTLE "array[32])");
    assert_refused(&worker, "stages", "select _record_stages(" SETTLE "array[0])");
    assert_refused(&worker, "stages", "select _record_stages(" SETTLE "null)");
    assert_refused(&worker, "stages", "select _record_stages(" SETTLE "array[1, 1])");
    assert_refused(&worker, "nap", "select _fall_asleep(" OWNER ", 0::smallint, '{}', '{}', '1 day', false)");
    assert_refused(&worker, "host",
                   "select _register(" OWNER ", 0::smallint, repeat('x', 256), 1, 1, '{}', '{}')");
    assert_refused(&worker, "pid", "select _register(" OWNER ", 0::smallint, 'h', null, 1, '{}', '{}')");
    assert_refused(&worker, "concurrency", "select _beat_alone(" OWNER ", 'h', 1, 0)");
    assert_refused(&worker, "topics",
                   "select _heartbeat(" OWNER ", 0::smallint, 'h', 1, 1, array[repeat('x', 256)], '{}')");
    assert_refused(&worker, "stale_threshold", "select _remove_stale('-1 second')");
    assert_refused(&worker, "outcome",
                   "select _join_report(gen_random_uuid(), gen_random_uuid(), 3::smallint)");
    assert_refused(&worker, "ttl",
                   "select * from _enqueue(0::smallint, array[gen_random_uuid()], array['t'], array['" SECRET
                   "'], "
                   "null, null, null, null, null, array[315360000001], null, false)");
    assert_refused(&worker, "delay",
                   "select * from _enqueue(0::smallint, array[gen_random_uuid()], array['t'], array['" SECRET
                   "'], "
                   "null, null, null, null, array[-1], null, null, false)");
    assert_int_equal(pg_number(worker.conn, "select (_ack(0::smallint, " OWNER ", array[1], null))[1]"), 1);
    end_caller(f, &worker);
}

/* BX-011, BX-030: everybody can write settings with our prefix. The end of this transaction is not a plain
 * COMMIT, so Boxcar looks at them. */
static void settings_of_a_session_do_not_disturb_its_claims(void **state) {
    static const char *const VALUES[] = {"nonsense", "-1",       "9000000000", "99999999999999999999",
                                         "NaN",      "Infinity", "1e300",      "0"};
    static const char *const SETTINGS[] = {"called_early", "wait_depth", "lanes", "met_expired"};
    struct fixture *f = *state;
    struct caller worker = connect_as(f, "worker");
    pg_exec(worker.conn, "set statement_timeout = '20s'");
    for (size_t i = 0; i < sizeof(VALUES) / sizeof(VALUES[0]); i++) {
        boxcar_work_id id = enqueue(f, "t", "p").work_id;
        for (size_t k = 0; k < sizeof(SETTINGS) / sizeof(SETTINGS[0]); k++)
            pg_exec(worker.conn, "set boxcar.%s = '%s'", SETTINGS[k], VALUES[i]);
        pg_exec(worker.conn, "begin");
        assert_int_equal(pg_number(worker.conn, "select work_id from outbox_claim(" OWNER ", '1 hour', 10)"),
                         id.value);
        pg_exec(worker.conn, "set constraints all immediate");
        pg_exec(worker.conn, "commit and no chain");
        assert_nothing_claimable(f);
        assert_int_equal(
            pg_number(worker.conn, "select outbox_ack(" OWNER ", array[%lld])", (long long)id.value),
            id.value);
    }
    end_caller(f, &worker);
}

/* BX-029: rows from before the tables checked. Deployment does this after an upgrade. */
static void what_would_stop_claims_is_buried(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "alter table message drop constraint message_limits");
    pg_exec(conn, "update store set are_old_messages_checked = false");
    pg_exec(conn,
            "insert into message (message_id, box, lane, created_at, topic, payload, stream, headers) values "
            "(gen_random_uuid(), 0, 0, now(), " LONG " || '2', '" SECRET "', null, null), "
            "(gen_random_uuid(), 0, 0, now(), " LONG ", '" SECRET "', null, null), "
            "(gen_random_uuid(), 0, 0, now(), 't', '" SECRET "', null, '[1]'), "
            "(gen_random_uuid(), 0, 0, now(), 't', '" SECRET "', null, '{\"a\": [1]}'), "
            "(gen_random_uuid(), 0, 1, now(), 't', '" SECRET "', 's', '5')");
    assert_int_equal(pg_number(conn, "select _bury_malformed()"), 2);
    assert_int_equal(pg_number(conn, "select _bury_malformed()"), 0);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(list->count, 3);
    boxcar_list_free(list);
    assert_int_equal(pg_number(conn, "select count(*) from dead_letter where reason = 'cancelled' "
                                     "and last_error like '%%longer than 255 characters%%'"),
                     2);
    PQfinish(conn);
}

/* BX-011: a message that got in all the same is shown, with the nearest time there is. */
static void time_beyond_all_times_is_read(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t id = pg_number(
        conn, "insert into message (message_id, box, lane, created_at, topic, payload, due_at) values "
              "(gen_random_uuid(), 0, 0, now(), 't', 'p', 'infinity') returning work_id");
    boxcar_message_list *list = find(f, (boxcar_work_id){id});
    char text[BOXCAR_TIME_TEXT_SIZE];
    boxcar_time_format(look(list)->due_at, text);
    assert_string_equal(text, "9999-12-31T23:59:59.999999Z");
    boxcar_list_free(list);
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(producer_cannot_store_what_stops_claims),
    TEST(inbox_events_and_joins_are_checked_as_well),
    TEST(headers_are_an_object_of_strings),
    TEST(lease_and_batch_size_of_a_claim_are_checked),
    TEST(what_workers_say_is_checked),
    TEST(settings_of_a_session_do_not_disturb_its_claims),
    TEST(what_would_stop_claims_is_buried),
    TEST(time_beyond_all_times_is_read),
};

const struct suite ENTRY_SUITE = SUITE(TESTS);
