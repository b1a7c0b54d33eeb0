/* The functions that roles can call check what they are given: whatever a producer sends, the others go on, and no
 * payload is in an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"

#define SECRET "s3cret-payload"

/* A producer of this test's own. */
struct producer {
    char name[80];
    PGconn *conn;
};

static struct producer connect_producer(struct fixture *f) {
    struct producer producer;
    char url[512];
    PGconn *conn = fixture_connect(f);
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@');
    assert_non_null(server);
    snprintf(producer.name, sizeof(producer.name), "%s_producer", f->schema);
    snprintf(url, sizeof(url), "postgres://%s:pw@%s", producer.name, server + 1);
    pg_exec(conn, "create role %s login password 'pw'", producer.name);
    pg_exec(conn, "select grant_access('%s', 'producer')", producer.name);
    PQfinish(conn);
    producer.conn = PQconnectdb(url);
    assert_int_equal(PQstatus(producer.conn), CONNECTION_OK);
    pg_exec(producer.conn, "set search_path = %s", f->schema);
    return producer;
}

static void end_producer(struct fixture *f, struct producer *producer) {
    PGconn *conn = fixture_connect(f);
    PQfinish(producer->conn);
    pg_exec(conn, "drop owned by %s", producer->name);
    pg_exec(conn, "drop role %s", producer->name);
    PQfinish(conn);
}

/* The statement is refused as an argument error that names `argument`, and nothing in it shows the payload. The server
 * writes the same fields into its log. */
static void assert_refused(const struct producer *producer, const char *argument, const char *statement) {
    PGresult *result = PQexec(producer->conn, statement);
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
#define ENQUEUE(ids, topics, payloads, streams, headers, dues) \
    "select * from _enqueue(0::smallint, array[" ids "]::uuid[], array[" topics "]::text[], array[" payloads "]::text[], " \
    "null, array[" streams "]::text[], array[" headers "]::text[], array[" dues "]::timestamptz[], null, null, null, false)"
#define GOOD_PAYLOAD "'" SECRET "'"

/* BX-010, BX-011 */
static void producer_cannot_store_what_stops_claims(void **state) {
    struct fixture *f = *state;
    struct producer producer = connect_producer(f);
    assert_refused(&producer, "topic", ENQUEUE(ID, LONG, GOOD_PAYLOAD, "null", "null", "null"));
    assert_refused(&producer, "topic", ENQUEUE(ID, "''", GOOD_PAYLOAD, "null", "null", "null"));
    assert_refused(&producer, "topic", ENQUEUE(ID, "null", GOOD_PAYLOAD, "null", "null", "null"));
    assert_refused(&producer, "topic", ENQUEUE(ID ", " ID, "'t'", GOOD_PAYLOAD ", 'p'", "null", "null", "null"));
    assert_refused(&producer, "payload", ENQUEUE(ID, "'t'", "null", "null", "null", "null"));
    assert_refused(&producer, "message_id", ENQUEUE("null", "'t'", GOOD_PAYLOAD, "null", "null", "null"));
    assert_refused(&producer, "stream", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, LONG, "null", "null"));
    assert_refused(&producer, "stream", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "''", "null", "null"));
    assert_refused(&producer, "headers", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "'[1, 2]'", "null"));
    assert_refused(&producer, "headers", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "'5'", "null"));
    assert_refused(&producer, "due_at", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "null", "'infinity'"));
    assert_refused(&producer, "due_at", ENQUEUE(ID, "'t'", GOOD_PAYLOAD, "null", "null", "'-infinity'"));
    assert_refused(&producer, "box",
                   "select * from _enqueue(7::smallint, array[gen_random_uuid()], array['t'], array['" SECRET "'], "
                   "null, null, null, null, null, null, null, true)");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
    end_producer(f, &producer);
}

#define INBOX(source, id, hash, topic) \
    "select * from _inbox_enqueue(array[gen_random_uuid()], array[" topic "], array['" SECRET "'], null, null, null, null, " \
    "null, null, null, array[" source "]::text[], array[" id "]::text[], array[" hash "]::text[])"
#define APPEND(stream, id, type, payload, headers) \
    "select * from _event_append(" stream ", null, array[" id "]::uuid[], array[" type "]::text[], array[" payload \
    "]::text[], null, array[" headers "]::text[], null)"

/* BX-010, BX-011 */
static void inbox_events_and_joins_are_checked_as_well(void **state) {
    struct fixture *f = *state;
    struct producer producer = connect_producer(f);
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
    assert_refused(&producer, "expected_steps", "select _join_start(gen_random_uuid(), null, null, '" SECRET "', null, 0)");
    assert_refused(&producer, "expected_steps", "select _join_start(gen_random_uuid(), -1, null, '" SECRET "', null, 0)");
    assert_refused(&producer, "grouping_key", "select _join_start(gen_random_uuid(), 1, repeat('x', 256), '" SECRET "', null, 0)");
    assert_refused(&producer, "deadline", "select _join_start(gen_random_uuid(), 1, null, '" SECRET "', 'infinity', 0)");
    end_producer(f, &producer);
}

/* BX-029: rows from before the tables checked. Deployment does this after an upgrade. */
static void what_would_stop_claims_is_buried(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "alter table message drop constraint message_limits");
    pg_exec(conn, "update store set are_old_messages_checked = false");
    pg_exec(conn, "insert into message (message_id, box, lane, created_at, topic, payload, stream, headers) values "
                  "(gen_random_uuid(), 0, 1, now(), 't', '" SECRET "', " LONG ", null), "
                  "(gen_random_uuid(), 0, 0, now(), " LONG ", '" SECRET "', null, null), "
                  "(gen_random_uuid(), 0, 0, now(), 't', '" SECRET "', null, '[1]'), "
                  "(gen_random_uuid(), 0, 1, now(), 't', '" SECRET "', 's', '5')");
    assert_int_equal(pg_number(conn, "select _bury_malformed()"), 2);
    assert_int_equal(pg_number(conn, "select _bury_malformed()"), 0);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(boxcar_message_list_count(list), 2);
    boxcar_message_list_free(list);
    assert_int_equal(pg_number(conn, "select count(*) from dead_letter where reason = 'cancelled' "
                                     "and last_error like '%%longer than 255 characters%%'"), 2);
    PQfinish(conn);
}

/* BX-011: a message that got in all the same is shown, with the nearest time there is. */
static void time_beyond_all_times_is_read(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t id = pg_number(conn, "insert into message (message_id, box, lane, created_at, topic, payload, due_at) values "
                                 "(gen_random_uuid(), 0, 0, now(), 't', 'p', 'infinity') returning work_id");
    boxcar_message_list *list = find(f, (boxcar_work_id){id});
    char text[BOXCAR_TIME_TEXT_SIZE];
    boxcar_time_format(look(list)->due_at, text);
    assert_string_equal(text, "9999-12-31T23:59:59.999999Z");
    boxcar_message_list_free(list);
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(producer_cannot_store_what_stops_claims),
    TEST(inbox_events_and_joins_are_checked_as_well),
    TEST(what_would_stop_claims_is_buried),
    TEST(time_beyond_all_times_is_read),
};

const struct suite ENTRY_SUITE = SUITE("entry", TESTS, FIXTURE_POSTGRES);
