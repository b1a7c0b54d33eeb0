/* process_work_batch(): everything in one statement, as a program in any language would send it. BX-063,
 * BX-065 */
#include <stdio.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"

#define OWNER "'00000000-0000-7000-8000-000000000001'::uuid"
#define OTHER "'00000000-0000-7000-8000-000000000002'::uuid"
#define PROCESS(batch) "process_work_batch(" OWNER ", '" batch "')"

/* A message in the inbox, as the library stores it. */
#define INTO_INBOX                                                                                           \
    "select _enqueue(1::smallint, array[gen_random_uuid()], '{t}', '{p}', null, null, null, null, "          \
    "null, null, null, true)"

/* Header apart from work rows, so an empty batch still answers. */
static void empty_batch_answers_with_one_row(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect_kind(f);
    pg_exec(conn, "begin; set local search_path to %s", f->schema); /* a pooler keeps no settings */
    assert_int_equal(pg_number(conn, "select count(*) from " PROCESS("{}")), 1);
    assert_int_equal(pg_number(conn, "select count(*) from " PROCESS(
                                         "{}") " r where r.outbox_work = '{}' and "
                                               "r.inbox_work = '{}' and r.header -> 'outbox' = '{}' and "
                                               "r.header #>> '{claimed,outbox}' = '0'"),
                     1);
    assert_int_equal(
        pg_number(conn, "select jsonb_array_length(r.header #> '{inbox,acks}') from " PROCESS(
                            "{\"inbox\": {\"acks\": [], \"claim\": {\"batch_size\": 10}}}") " r"),
        0);
    pg_exec(conn, "commit");
    PQfinish(conn);
}

/* New messages, results and claims of both boxes at once; the answer is per id. */
static void one_statement_does_everything(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', i::text) from generate_series(1, 5) i");
    pg_exec(conn, INTO_INBOX);
    assert_int_equal(
        pg_number(conn, "select cardinality(outbox_work) + 10 * cardinality(inbox_work) from " PROCESS(
                            "{\"outbox\": {\"claim\": {\"batch_size\": 10, \"topics\": [\"t\"]}}, "
                            "\"inbox\": {\"claim\": {\"batch_size\": 10}}}")),
        15);
    pg_exec(conn, "select enqueue('newer', 'b')");
    pg_exec(
        conn,
        "create temp table answer as select * from " PROCESS(
            "{\"outbox\": {\"messages\": [{\"topic\": \"new\", \"payload\": \"a\", \"key\": \"k\"}, "
            "{\"topic\": \"new\", \"payload\": {\"b\": 1}, \"key\": \"k\", \"ttl\": \"1 hour\"}], "
            "\"acks\": [1, {\"work_id\": 99}], \"abandons\": [{\"work_id\": 2, \"error\": \"no\", \"delay\": "
            "\"1 hour\"}], "
            "\"defers\": [{\"work_id\": 3, \"delay\": \"1 hour\"}], \"fails\": [{\"work_id\": 4, \"error\": "
            "\"never\"}], "
            "\"renews\": [5], \"lease\": \"1 hour\", \"claim\": {\"batch_size\": 1, \"topics\": [\"ne*\"]}}, "
            "\"inbox\": {\"acks\": [6]}, \"heartbeat\": {\"host\": \"here\", \"pid\": 7}}"));
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from answer where header -> 'outbox' @> "
                  "'{\"acks\": [1], \"abandons\": [2], \"defers\": [3], \"fails\": [4], \"renews\": [5]}' "
                  "and jsonb_array_length(header #> '{outbox,acks}') = 1 "
                  "and header #> '{inbox,acks}' = '[6]'"),
        1);
    /* BX-065 */
    assert_int_equal(
        pg_number(conn, "select count(*) from answer where header #>> '{outbox,messages,0,duplicate}' = "
                        "'false' and header #>> '{outbox,messages,1,duplicate}' = 'true' and "
                        "header #> '{outbox,messages,0,work_id}' = header #> '{outbox,messages,1,work_id}'"),
        1);
    assert_int_equal(
        pg_number(conn, "select count(*) from answer a, unnest(a.outbox_work) w where w.topic = 'newer' and "
                        "w.payload = 'b' and w.owner = " OWNER " and w.attempt = 1 and "
                        "w.locked_until > now() + interval '50 minutes'"),
        1);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox where (work_id, status) in "
                        "((1, 'done'), (2, 'ready'), (3, 'ready'), (4, 'failed'), (5, 'in_progress'))"),
        5);
    assert_int_equal(pg_number(conn, "select retry_count from outbox where work_id = 2"), 1);
    assert_int_equal(pg_number(conn, "select retry_count from outbox where work_id = 3"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where work_id = 5 and "
                                     "locked_until > now() + interval '50 minutes'"),
                     1);
    assert_int_equal(pg_number(conn, "select count(*) from inbox where work_id = 6 and status = 'done'"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from instance where host = 'here' and "
                                     "(box, topics) in (('outbox', '{ne*}'), ('inbox', '{}'))"),
                     2);
    PQfinish(conn);
}

static void count_warnings(void *count, const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state && strcmp(state, "01BX1") == 0)
        ++*(int *)count;
}

/* BX-065, BX-080, BX-082 */
static void messages_of_the_inbox_are_stored_once_for_each_key(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int warnings = 0;
    PQsetNoticeReceiver(conn, count_warnings, &warnings);
    pg_exec(conn, "select inbox_enqueue('bank', 'known', 't', 'p', 'abc')");
    assert_int_equal(pg_number(conn, "select inbox_accept('bank', 'accepted')"), 1);
    pg_exec(
        conn,
        "create temp table answer as select * from " PROCESS(
            "{\"inbox\": {\"messages\": [{\"source\": \"bank\", \"id\": \"1\", \"topic\": \"new\", "
            "\"payload\": {\"a\": 1}, \"stream\": \"s\", \"ttl\": \"1 hour\", \"headers\": {\"h\": \"v\"}}, "
            "{\"source\": \"bank\", \"id\": \"1\", \"topic\": \"new\", \"payload\": \"again\"}, "
            "{\"source\": \"bank\", \"id\": \"known\", \"topic\": \"t\", \"payload\": \"p\", "
            "\"content_hash\": \"xyz\"}, "
            "{\"source\": \"bank\", \"id\": \"accepted\", \"topic\": \"t\", \"payload\": \"p\"}], "
            "\"claim\": {\"batch_size\": 5}}, \"outbox\": {\"messages\": [{\"topic\": \"o\", \"payload\": "
            "\"p\"}]}}"));
    assert_int_equal(warnings, 1);
    assert_int_equal(pg_number(conn, "select jsonb_array_length(header #> '{inbox,messages}') from answer"),
                     4);
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from answer a, jsonb_array_elements(a.header #> '{inbox,messages}') "
                  "with ordinality m(o, n), inbox i where i.external_id = '1' and m.n <= 2 and "
                  "(m.o ->> 'work_id')::bigint = i.work_id and m.o ->> 'message_id' = i.message_id::text "
                  "and (m.o ->> 'duplicate')::boolean = (m.n = 2)"),
        2);
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from answer where header #> '{inbox,messages,2}' @> "
                  "'{\"duplicate\": true, \"hash_mismatch\": true}' and header #> '{inbox,messages,3}' @> "
                  "'{\"duplicate\": true, \"hash_mismatch\": false, \"work_id\": null}' and "
                  "header #>> '{outbox,messages,0,duplicate}' = 'false'"),
        1);
    assert_int_equal(
        pg_number(conn, "select count(*) from inbox where external_id = '1' and payload = '{\"a\": 1}' and "
                        "stream = 's' and headers = '{\"h\": \"v\"}'"),
        1);
    /* What this very transaction stored is for a later claim (design 5, point 2). */
    assert_int_equal(
        pg_number(conn, "select count(*) from answer a, unnest(a.inbox_work) w where w.source = 'bank' and "
                        "w.external_id = 'known'"),
        1);
    pg_exec(conn, "select inbox_enqueue('bank', 'known', 't', 'p', 'xyz')");
    assert_int_equal(warnings, 2);
    pg_exec(conn, "select inbox_enqueue_many('[{\"source\": \"bank\", \"id\": \"known\", \"topic\": \"t\", "
                  "\"payload\": \"p\", \"content_hash\": \"xyz\"}]')");
    assert_int_equal(warnings, 3);
    assert_int_equal(pg_number(conn, "select jsonb_array_length(header #> '{inbox,messages}') from " PROCESS(
                                         "{\"inbox\": {\"messages\": []}}")),
                     0);
    PQfinish(conn);
}

/* BX-063: partial completions keep the lease, a retry sees them. */
static void stages_are_recorded(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', 'p')");
    pg_exec(conn, "select outbox_claim(" OWNER ", '30 s', 1)");
    assert_int_equal(pg_number(conn, "select header #>> '{outbox,stages,0}' from " PROCESS(
                                         "{\"outbox\": {\"stages\": [{\"work_id\": 1, \"stages\": 4}, "
                                         "{\"work_id\": 2, \"stages\": 1}]}}")),
                     1);
    assert_int_equal(pg_number(conn, "select outbox_record_stages(" OWNER ", '{1}', stages => 2)"), 1);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_record_stages(" OTHER ", '{1}', stages => 1)"), 0);
    assert_int_equal(
        pg_number(conn, "select count(*) from inbox_record_stages(" OWNER ", '{1}', stages => 1)"), 0);
    pg_fails(conn, "BX001", "select outbox_record_stages(" OWNER ", '{1}', stages => 32)");
    pg_fails(conn, "BX001", "select outbox_record_stages(" OWNER ", '{1}')");
    pg_exec(conn, "select outbox_abandon(" OWNER ", '{1}', delay => '0')");
    assert_int_equal(pg_number(conn, "select stages from outbox_claim(" OWNER ", '30 s', 1)"), 7);
    PQfinish(conn);
}

/* BX-002 */
static void results_of_others_change_nothing(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', 'p')");
    pg_exec(conn, "select outbox_claim(" OTHER ", '30 s', 1)");
    assert_int_equal(pg_number(conn, "select jsonb_array_length(header #> '{outbox,acks}') from " PROCESS(
                                         "{\"outbox\": {\"acks\": [1]}}")),
                     0);
    assert_int_equal(
        pg_number(conn, "select jsonb_array_length(header #> '{outbox,acks}') from process_work_batch(" OTHER
                        ", '{\"outbox\": {\"acks\": [{\"work_id\": 1, \"epoch\": 1}]}}')"),
        0);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'in_progress'"), 1);
    PQfinish(conn);
}

static void assert_faults(PGconn *conn, const char *batch, const char *const *expected, size_t count) {
    char sql[2048];
    PGresult *result;
    snprintf(sql, sizeof(sql), "select process_work_batch(" OWNER ", '%s')", batch);
    result = PQexec(conn, sql);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    assert_non_null(state);
    assert_string_equal(state, "BX001");
    assert_string_equal(PQresultErrorField(result, PG_DIAG_COLUMN_NAME), expected[0]);
    for (size_t i = 0; i < count; i++) {
        char place[100];
        snprintf(place, sizeof(place), "\"argument\": \"%s\"", expected[i]);
        if (!strstr(detail, place) || !strstr(message, expected[i]))
            fail_msg("%s is not among the faults: %s; %s", expected[i], message, detail);
    }
    size_t found = 0;
    for (const char *at = strstr(detail, "\"argument\""); at; at = strstr(at + 1, "\"argument\""))
        found++;
    if (found != count)
        fail_msg("%zu faults instead of %zu: %s", found, count, detail);
    PQclear(result);
}

#define FAULTS(conn, batch, ...)                                                                             \
    assert_faults(conn, batch, (const char *const[]){__VA_ARGS__},                                           \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* BX-011: a message that is too large has its place named, in either box, and so has the next one. */
static void every_message_that_is_too_large_is_named(void **state) {
    static const char BATCH[] =
        "select process_work_batch(" OWNER
        ", jsonb_build_object('%s', jsonb_build_object('messages', jsonb_build_array("
        "jsonb_build_object('source', 's', 'id', '1', 'topic', 't', 'payload', repeat('x', 65536)) - "
        "'%s'::text[], "
        "jsonb_build_object('source', 's', 'id', '2', 'topic', 't', 'payload', repeat('x', 65537)) - "
        "'%s'::text[], "
        "jsonb_build_object('source', 's', 'id', '3', 'topic', 't', 'payload', '', 'headers', "
        "jsonb_build_object('h', repeat('x', 4096))) - '%s'::text[]))))";
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select _set('payload_bytes_max', '65536'), _set('headers_bytes_max', '4096')");
    for (int box = 0; box < 2; box++) {
        const char *name = box == 0 ? "outbox" : "inbox", *left_out = box == 0 ? "{source,id}" : "{}";
        char sql[1024], argument[64];
        snprintf(sql, sizeof(sql), BATCH, name, left_out, left_out, left_out);
        PGresult *result = PQexec(conn, sql);
        assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "BX001");
        snprintf(argument, sizeof(argument), "%s.messages[1].payload", name);
        assert_string_equal(PQresultErrorField(result, PG_DIAG_COLUMN_NAME), argument);
        assert_non_null(
            strstr(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY),
                   "has 65537 bytes, more than the 65536 that the setting payload_bytes_max allows"));
        snprintf(argument, sizeof(argument), "%s.messages[2].headers", name);
        assert_non_null(strstr(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL), argument));
        assert_null(strstr(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL), "messages[0]"));
        PQclear(result);
    }
    assert_int_equal(pg_number(conn, "select count(*) from message"), 0);
    PQfinish(conn);
}

/* BX-011: nothing is done, and everything that is wrong is named. */
static void every_fault_is_named_and_nothing_is_done(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', 'p')");
    pg_exec(conn, "select outbox_claim(" OWNER ", '30 s', 1)");
    FAULTS(conn, "[]", "batch");
    FAULTS(conn, "{\"outboks\": {}}", "outboks");
    FAULTS(conn,
           "{\"outbox\": {\"acks\": [1], \"messages\": [{\"topic\": \"ok\", \"payload\": \"p\"}, {\"topic\": "
           "\"\", "
           "\"ttl\": \"soon\", \"colour\": 1}, 7]}, \"inbox\": {\"acks\": [\"x\", {\"work_id\": 0, "
           "\"epoch\": \"y\"}], "
           "\"defers\": [{\"work_id\": 1, \"delay\": \"-1 s\"}]}}",
           "outbox.messages[1].topic", "outbox.messages[1].payload", "outbox.messages[1].ttl",
           "outbox.messages[1].colour", "outbox.messages[2]", "inbox.acks[0]", "inbox.acks[1].work_id",
           "inbox.acks[1].epoch", "inbox.defers[0].delay");
    FAULTS(conn,
           "{\"outbox\": {\"acks\": {}, \"lease\": \"1 ms\", \"claim\": {\"batch_size\": 10001, \"topics\": "
           "[\"\", 5, \"a*\", \"a*b\"]}}, "
           "\"heartbeat\": {\"pid\": \"x\", \"concurrency\": 0}}",
           "outbox.acks", "outbox.lease", "outbox.claim.batch_size", "outbox.claim.topics[0]",
           "outbox.claim.topics[1]", "outbox.claim.topics[3]", "heartbeat.pid", "heartbeat.concurrency");
    FAULTS(conn,
           "{\"outbox\": {\"messages\": [{\"topic\": \"t\", \"payload\": \"p\", \"message_id\": \"x\", "
           "\"key\": \"k\", "
           "\"headers\": {\"a\": 1}, \"max_attempts\": 0, \"due_at\": \"20000-01-01\", \"join_id\": 4}]}}",
           "outbox.messages[0].due_at", "outbox.messages[0].message_id", "outbox.messages[0].key",
           "outbox.messages[0].max_attempts", "outbox.messages[0].headers", "outbox.messages[0].join_id");
    FAULTS(conn,
           "{\"outbox\": {\"acks\": [{\"work_id\": 1, \"error\": \"x\"}], \"claim\": {}, \"fails\": "
           "[{\"work_id\": 1, \"error\": 5}]}}",
           "outbox.acks[0].error", "outbox.claim.batch_size", "outbox.fails[0].error");
    FAULTS(conn, "{\"outbox\": {\"stages\": [1, {\"work_id\": 1, \"stages\": 64}]}}",
           "outbox.stages[0].stages", "outbox.stages[1].stages");
    FAULTS(
        conn,
        "{\"outbox\": {\"messages\": [{\"topic\": \"t\", \"payload\": \"p\"}]}, \"inbox\": {\"messages\": ["
        "{\"source\": \"bank\", \"id\": \"1\", \"topic\": \"t\", \"payload\": \"p\"}, "
        "{\"source\": \"\", \"topic\": \"t\", \"payload\": \"p\", \"ttl\": \"soon\", \"key\": \"\"}, 7, "
        "{\"source\": \"s\", \"id\": \"3\", \"join_id\": 1, \"message_id\": 2, \"colour\": 1}]}}",
        "inbox.messages[1].source", "inbox.messages[1].id", "inbox.messages[1].key",
        "inbox.messages[3].join_id", "inbox.messages[3].message_id", "inbox.messages[1].ttl",
        "inbox.messages[2]", "inbox.messages[3].topic", "inbox.messages[3].payload",
        "inbox.messages[3].colour");
    FAULTS(conn, "{\"inbox\": {\"messages\": {}}}", "inbox.messages");
    pg_fails(conn, "BX001", "select process_work_batch(null, '{}')");
    pg_fails(conn, "BX001", "select outbox_claim(" OWNER ", '30 s', 1, '{orders.*.paid}')");
    pg_fails(conn, "BX001", "select inbox_claim(" OWNER ", '30 s', 1, '{t,**}')");
    pg_exec(conn, "select outbox_claim(" OWNER ", '30 s', 1, '{orders.*,*}')");
    pg_fails(conn, "BX001", "select process_work_batch(" OWNER ", null)");
    assert_int_equal(pg_number(conn, "select count(*) from outbox"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'in_progress'"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from inbox_receipt"), 0);
    PQfinish(conn);
}

/* Somebody's mistake, not a text that happens to look like JSON. */
static void texts_have_to_be_strings(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    FAULTS(conn,
           "{\"outbox\": {\"messages\": [{\"topic\": 3, \"payload\": 5, \"stream\": {\"a\": 1}, \"key\": [1, "
           "2], "
           "\"correlation_id\": true}]}, \"inbox\": {\"messages\": [{\"source\": 1, \"id\": 2, \"topic\": "
           "\"t\", "
           "\"content_hash\": {}, \"payload\": null}]}, \"heartbeat\": {\"host\": 7}}",
           "outbox.messages[0].correlation_id", "outbox.messages[0].key", "outbox.messages[0].stream",
           "outbox.messages[0].topic", "inbox.messages[0].content_hash", "inbox.messages[0].id",
           "inbox.messages[0].source", "inbox.messages[0].payload", "heartbeat.host");
    static const char *const WRONG[][2] = {
        {"enqueue_many('[{\"topic\": 3, \"payload\": 5}]')", "messages[0].topic must be a text"},
        {"enqueue_many('[{\"topic\": \"t\", \"payload\": 5, \"key\": false}]')",
         "messages[0].key must be a text"},
        {"enqueue_many('[{\"topic\": \"t\", \"payload\": 5, \"kex\": false}]')",
         "messages[0].kex is not a known name"},
        {"inbox_enqueue_many('[{\"source\": \"s\", \"id\": 5, \"topic\": \"t\", \"payload\": 5}]')",
         "messages[0].id must be a text"},
        {"event_append_many('s', '[{\"type\": [1], \"payload\": 5}]')", "events[0].type must be a text"},
        {"event_append_many('s', '[{\"type\": \"t\", \"payload\": 5, \"event_id\": 5}]')",
         "events[0].event_id is malformed: give a UUID"},
        {"enqueue_many('[{\"topic\": \"t\", \"payload\": 5, \"ttl\": \"soon\"}]')",
         "messages[0].ttl is malformed: give an interval such as 1 hour"},
        {"inbox_enqueue_many('[{\"source\": \"s\", \"id\": \"1\", \"topic\": \"t\", \"payload\": 5, "
         "\"due_at\": \"soon\"}]')",
         "messages[0].due_at is malformed: give a time such as 2030-01-31T12:00:00Z"},
        {PROCESS("{\"outbox\": {\"acks\": [99999999999999999999]}}"),
         "outbox.acks[0].work_id is missing or malformed: give a whole number from 1 to 9223372036854775807"},
        {PROCESS("{\"inbox\": {\"defers\": [{\"work_id\": 1, \"delay\": \"soon\"}]}}"),
         "inbox.defers[0].delay is malformed: give an interval such as 1 hour"},
        {"stream_resume(null)", "stream is null: give the key of a stream"},
        {"stream_skip(null)", "stream is null: give the key of a stream"},
    };
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        char sql[300];
        snprintf(sql, sizeof(sql), "select %s", WRONG[i][0]);
        PGresult *result = PQexec(conn, sql);
        const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        if (!sqlstate || strcmp(sqlstate, "BX001") != 0 ||
            strcmp(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), WRONG[i][1]) != 0)
            fail_msg("%s: %s", WRONG[i][0], PQresultErrorMessage(result));
        PQclear(result);
    }
    /* What is not there, and a payload of any kind. */
    pg_exec(conn,
            "select enqueue_many('[{\"topic\": \"t\", \"payload\": 5, \"stream\": null, \"key\": null}]')");
    assert_int_equal(pg_number(conn, "select count(*) from outbox where payload = '5'"), 1);
    PQfinish(conn);
}

static void null_means_absent(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    assert_int_equal(
        pg_number(
            conn,
            "select count(*) from " PROCESS(
                "{\"outbox\": null, \"inbox\": null, \"heartbeat\": null}") " r where r.header = "
                                                                            "(select x.header from " PROCESS(
                                                                                "{}") " x)"),
        1);
    assert_int_equal(pg_number(conn, "select count(*) from " PROCESS(
                                         "{\"outbox\": {\"messages\": null, \"acks\": null, \"abandons\": "
                                         "null, \"defers\": null, "
                                         "\"fails\": null, \"renews\": null, \"stages\": null, \"lease\": "
                                         "null, \"claim\": null}, "
                                         "\"inbox\": {\"messages\": null, \"acks\": null, \"renews\": [7]}, "
                                         "\"heartbeat\": {\"host\": null, \"pid\": null, \"concurrency\": "
                                         "null}}") " r "
                                                   "where r.header -> 'outbox' = '{}' and r.header -> "
                                                   "'inbox' = '{\"renews\": []}'"),
                     1);
    assert_int_equal(pg_number(conn, "select count(*) from instance"), 2);
    /* Nulls inside of what was sent are its own. */
    pg_exec(conn, "select " PROCESS("{\"outbox\": {\"acks\": null, \"messages\": [{\"topic\": \"t\", "
                                    "\"payload\": {\"a\": null}, \"headers\": null}]}}"));
    assert_int_equal(pg_number(conn, "select count(*) from outbox where payload = '{\"a\": null}'"), 1);
    pg_exec(conn, "delete from instance_row");
    pg_exec(conn, "select " PROCESS("{\"outbox\": {}, \"inbox\": null, \"heartbeat\": {}}"));
    assert_int_equal(pg_number(conn, "select count(*) from instance where box = 'outbox'"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from instance"), 1);
    PQfinish(conn);
}

/* One transaction: the caller's. */
static void batch_goes_with_its_transaction(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', 'p')");
    pg_exec(conn, "begin");
    pg_exec(conn, "select " PROCESS("{\"outbox\": {\"messages\": [{\"topic\": \"new\", \"payload\": \"a\"}], "
                                    "\"claim\": {\"batch_size\": 5}}}"));
    /* What this very transaction stored is for a later claim (design 5, point 2). */
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'in_progress'"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'ready'"), 1);
    /* Claims that need not survive a crash are the library's alone: this is durable. Design 5, point 6 */
    assert_int_equal(pg_number(conn, "select current_setting('synchronous_commit') = 'on'"), 1);
    pg_exec(conn, "rollback");
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'ready'"), 1);
    pg_exec(conn, "begin isolation level serializable");
    pg_fails(conn, "BX004", "select " PROCESS("{\"outbox\": {\"claim\": {\"batch_size\": 5}}}"));
    pg_exec(conn, "rollback");
    PQfinish(conn);
}

/* BX-041: steps in several lists and both boxes count in this transaction. */
static void steps_of_joins_are_counted(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select join_start(3)");
    pg_exec(conn, "select enqueue('t', i::text, join_id => (select join_id from outbox_join)) from "
                  "generate_series(1, 2) i");
    pg_exec(conn, INTO_INBOX);
    pg_exec(conn, "select join_attach(join_id, (select message_id from inbox)) from outbox_join");
    pg_exec(
        conn,
        "select " PROCESS(
            "{\"outbox\": {\"claim\": {\"batch_size\": 5}}, \"inbox\": {\"claim\": {\"batch_size\": 5}}}"));
    pg_exec(conn,
            "select " PROCESS("{\"outbox\": {\"acks\": [1], \"fails\": [2]}, \"inbox\": {\"acks\": [3]}}"));
    assert_int_equal(pg_number(conn, "select count(*) from outbox_join where status = 'failed' and "
                                     "completed_steps = 2 and failed_steps = 1"),
                     1);
    PQfinish(conn);
}

/* BX-005: less than the library's unit, a millisecond, is not none at all. */
static void shortest_time_to_live_ends(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn,
            "select * from " PROCESS(
                "{\"outbox\": {\"messages\": [{\"topic\": \"t\", \"payload\": \"p\", \"ttl\": \"1 us\"}]}, "
                "\"inbox\": {\"messages\": [{\"source\": \"s\", \"id\": \"1\", \"topic\": \"t\", "
                "\"payload\": \"p\", \"ttl\": \"1 us\"}]}}"));
    assert_int_equal(pg_number(conn, "select count(*) from message where expires_at is not null"), 2);
    PQfinish(conn);
}

/* BX-067: messages of a batch, of both boxes, may be events. */
static void messages_of_a_batch_may_be_events(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (int i = 0; i < 2; i++)
        pg_exec(conn,
                "select " PROCESS("{\"outbox\": {\"messages\": [{\"topic\": \"orders.PaidEvent\", "
                                  "\"payload\": \"p\", \"stream\": \"s\", "
                                  "\"key\": \"k\", \"causation_id\": \"cause\", \"metadata\": {\"a\": [1]}}, "
                                  "{\"topic\": \"t\", \"payload\": \"p\", \"stream\": \"s\", \"key\": "
                                  "\"k2\", \"is_event\": false}]}, "
                                  "\"inbox\": {\"messages\": [{\"source\": \"bank\", \"id\": \"1\", "
                                  "\"topic\": \"closed\", \"payload\": \"p\", "
                                  "\"stream\": \"s\", \"is_event\": true, \"event_type\": \"Closed\"}]}}"));
    assert_int_equal(pg_number(conn, "select count(*) from event where (version, type, causation_id) in "
                                     "((2, 'PaidEvent', 'cause')) or (version, type) = (1, 'Closed')"),
                     2);
    assert_int_equal(pg_number(conn, "select count(*) from event"), 2);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox where stages = 3 and metadata = '{\"a\": [1]}'"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from inbox where stages = 3 and event_type = 'Closed'"),
                     1);
    pg_fails(conn, "BX001",
             "select " PROCESS("{\"inbox\": {\"messages\": [{\"source\": \"bank\", \"id\": \"2\", \"topic\": "
                               "\"closed\", \"payload\": \"p\", "
                               "\"is_event\": true}]}}"));
    assert_int_equal(
        pg_number(conn, "select count(*) from enqueue('a.B', 'p', stream => 's', is_event => true)"), 1);
    assert_int_equal(pg_number(conn, "select version from event where type = 'B'"), 3);
    PQfinish(conn);
}

/* BX-063: one entry says how it ended and what is done of it. */
static void stages_come_with_results(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', 'p') from generate_series(1, 4)");
    pg_exec(conn, "select outbox_claim(" OWNER ", '30 s', 4)");
    pg_exec(conn, "create temp table answer as select header from " PROCESS(
                      "{\"outbox\": {\"acks\": [{\"work_id\": 1, \"stages\": 8}], \"fails\": [{\"work_id\": "
                      "2, \"stages\": 16}], "
                      "\"abandons\": [{\"work_id\": 3, \"delay\": \"0\", \"stages\": 24}], \"defers\": "
                      "[{\"work_id\": 4, \"stages\": 4}]}}"));
    assert_int_equal(pg_number(conn, "select count(*) from answer where header -> 'outbox' = "
                                     "'{\"acks\": [1], \"fails\": [2], \"abandons\": [3], \"defers\": [4]}'"),
                     1);
    assert_int_equal(
        pg_number(
            conn,
            "select count(*) from outbox where (work_id, stages) in ((1, 13), (2, 17), (3, 25), (4, 5))"),
        4);
    assert_int_equal(pg_number(conn, "select stages from outbox_claim(" OWNER ", '30 s', 1)"),
                     25); /* a retry sees them */
    pg_exec(conn, "select " PROCESS("{\"outbox\": {\"acks\": [{\"work_id\": 99, \"stages\": 8}]}}"));
    assert_int_equal(pg_number(conn, "select count(*) from stage where work_id = 99"), 0);
    pg_fails(conn, "BX001",
             "select " PROCESS("{\"outbox\": {\"acks\": [{\"work_id\": 3, \"stages\": 32}]}}"));
    pg_fails(conn, "BX001",
             "select " PROCESS("{\"outbox\": {\"renews\": [{\"work_id\": 3, \"stages\": 1}]}}"));
    PQfinish(conn);
}

/* A caller that knows a message id need not remember the work id. BX-002 */
static void messages_are_settled_by_their_ids(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    static const char *const ID = "0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a6";
    for (int i = 1; i <= 6; i++)
        pg_exec(conn, "select enqueue('t', 'p', message_id => '%s%d')", ID, i);
    pg_exec(conn, INTO_INBOX);
    pg_exec(conn, "select outbox_claim(" OWNER ", '30 s', 10)");
    pg_exec(conn,
            "create temp table answer as select header -> 'outbox' as o from process_work_batch(" OWNER
            ", replace('"
            "{\"outbox\": {\"acks\": [\"ID1\", {\"message_id\": \"ID2\", \"stages\": 8}, \"ID9\", 3], "
            "\"fails\": [{\"message_id\": \"ID4\", \"error\": \"no\"}], \"renews\": [\"ID5\"]}, "
            "\"inbox\": {\"acks\": [\"ID6\"]}}', 'ID', '%s')::jsonb)",
            ID);
    assert_int_equal(
        pg_number(
            conn,
            "select count(*) from answer where o = '{\"acks\": [1, 2, 3], \"fails\": [4], \"renews\": [5]}'"),
        1);
    assert_int_equal(pg_number(conn, "select stages from outbox where work_id = 2"), 13);
    assert_int_equal(pg_number(conn, "select status = 'in_progress' from outbox where work_id = 6"),
                     1); /* another box */
    assert_int_equal(
        pg_number(conn, "select outbox_ack(" OWNER ", outbox_work_ids(array['%s6']::uuid[]))", ID), 6);
    assert_int_equal(pg_number(conn, "select cardinality(inbox_work_ids(array['%s6']::uuid[]))", ID), 0);
    pg_fails(conn, "BX001", "select " PROCESS("{\"outbox\": {\"acks\": [\"no id\"]}}"));
    pg_fails(conn, "BX001",
             "select " PROCESS("{\"outbox\": {\"acks\": [{\"work_id\": 1, "
                               "\"message_id\": \"0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a61\"}]}}"));
    PQfinish(conn);
}

/* Storing and claiming in one statement (seed 004): what it stored is leased to it when it commits, and to
 * nobody else. */
static void batch_claims_what_it_stored(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('older', 'p')");
    pg_exec(conn, "create temp table answer as select * from " PROCESS(
                      "{\"outbox\": {\"messages\": [{\"topic\": \"t\", \"payload\": \"a\"}, {\"topic\": "
                      "\"other\", \"payload\": \"b\"}, "
                      "{\"topic\": \"t\", \"payload\": \"c\", \"due_at\": \"2999-01-01T00:00:00Z\"}, "
                      "{\"topic\": \"t\", \"payload\": \"d\", \"stream\": \"s\"}], "
                      "\"claim\": {\"batch_size\": 10, \"topics\": [\"t\", \"older\"], \"stored\": true}}, "
                      "\"inbox\": {\"messages\": [{\"source\": \"bank\", \"id\": \"1\", \"topic\": \"t\", "
                      "\"payload\": \"p\"}], "
                      "\"claim\": {\"batch_size\": 1, \"stored\": true}}}"));
    assert_int_equal(pg_number(conn, "select count(*) from answer a, unnest(a.outbox_work) with ordinality w "
                                     "where (w.payload, w.ordinality) in (('a', 1), ('p', 2))"),
                     2);
    assert_int_equal(
        pg_number(conn,
                  "select (header #>> '{claimed,outbox}')::int * 10 + cardinality(inbox_work) from answer"),
        21);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox where status = 'in_progress' and owner = " OWNER), 2);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" OTHER ", '30 s', 10)"),
                     2); /* other and the stream */
    assert_int_equal(pg_number(conn, "select cardinality(inbox_work) from " PROCESS(
                                         "{\"inbox\": {\"messages\": [{\"source\": \"bank\", \"id\": \"1\", "
                                         "\"topic\": \"t\", \"payload\": \"p\"}], "
                                         "\"claim\": {\"batch_size\": 1, \"stored\": true}}}")),
                     0); /* a duplicate brings no work */
    /* As good a lease as any: it expires, is given back, is acked. */
    pg_exec(conn, "update lease set until = now() - interval '1 hour' where owner = " OWNER " and box = 0");
    assert_int_equal(pg_number(conn, "select outbox_reap()"), 2);
    assert_int_equal(pg_number(conn, "select retry_count from outbox where payload = 'a'"), 1);
    pg_exec(conn, "begin");
    pg_exec(conn,
            "select " PROCESS("{\"outbox\": {\"messages\": [{\"topic\": \"gone\", \"payload\": \"x\"}], "
                              "\"claim\": {\"batch_size\": 1, \"stored\": true}}}"));
    pg_exec(conn, "rollback");
    assert_int_equal(pg_number(conn, "select count(*) from outbox where topic = 'gone'"), 0);
    assert_int_equal(audit_lost(f), 0);
    pg_fails(conn, "BX001",
             "select " PROCESS("{\"outbox\": {\"claim\": {\"batch_size\": 1, \"stored\": 1}}}"));
    PQfinish(conn);
}

/* What a worker that starts again under its old name needs: its work. */
static void renewed_and_owned_work_comes_back_when_asked_for(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', i::text) from generate_series(1, 5) i");
    pg_exec(conn, "select outbox_claim(" OWNER ", '30 s', 2)");
    pg_exec(conn, "select outbox_abandon(" OWNER ", '{2}', delay => '0')");
    pg_exec(conn, "select outbox_claim(" OWNER ", '30 s', 2)");
    pg_exec(conn, "select outbox_claim(" OTHER ", '30 s', 1)");
    pg_exec(conn, "create temp table answer as select * from " PROCESS(
                      "{\"outbox\": {\"renews\": [1, 99], \"lease\": \"1 hour\", \"return\": \"renewed\"}}"));
    assert_int_equal(
        pg_number(conn, "select count(*) from answer a, unnest(a.outbox_work) w where w.work_id = 1 and "
                        "w.locked_until > now() + interval '50 minutes' and w.payload = '1'"),
        1);
    assert_int_equal(pg_number(conn, "select cardinality(outbox_work) from answer"), 1);
    pg_exec(conn, "drop table answer");
    pg_exec(conn, "create temp table answer as select * from " PROCESS(
                      "{\"outbox\": {\"claim\": {\"batch_size\": 1}, \"return\": \"owned\"}}"));
    assert_int_equal(pg_number(conn, "select (header #>> '{claimed,outbox}')::int from answer"), 1);
    assert_int_equal(
        pg_number(conn,
                  "select count(distinct w.work_id) * 10 + count(*) from answer a, unnest(a.outbox_work) w "
                  "where w.owner = " OWNER " and exists (select from outbox o where o.work_id = w.work_id "
                  "and o.epoch = w.epoch and o.owner = w.owner and o.retry_count = w.retry_count)"),
        44);
    pg_fails(conn, "BX001", "select " PROCESS("{\"outbox\": {\"return\": \"all\"}}"));
    PQfinish(conn);
}

/* BX-060: once for a store. */
static void partition_count_is_taken_over_once(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select " PROCESS("{\"partition_count\": 7}"));
    assert_int_equal(pg_number(conn, "select number from setting where name = 'partition_count'"), 7);
    pg_exec(conn, "select enqueue('t', 'p', stream => 's')");
    pg_exec(conn, "select " PROCESS("{\"partition_count\": 7}"));
    pg_fails(conn, "BX003", "select " PROCESS("{\"partition_count\": 8}"));
    pg_fails(conn, "BX001", "select " PROCESS("{\"partition_count\": 0}"));
    pg_fails(conn, "BX001", "select " PROCESS("{\"partition_count\": 1.5}"));
    PQfinish(conn);
}

/* JOIN 7.2: from a message to its joins. */
static void joins_of_a_message_are_found(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', i::text) from generate_series(1, 3) i");
    pg_exec(conn, "select join_attach(join_start(2), o.message_id) from outbox o, generate_series(1, 2) "
                  "where o.work_id <= 2");
    assert_int_equal(pg_number(conn, "select count(*) from outbox o, message_joins(o.message_id) j "
                                     "where o.work_id = 1 and j.status = 'pending' and j.work_id = 1"),
                     2);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox o, message_joins(o.message_id) j where o.work_id = 3"),
        0);
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(messages_of_a_batch_may_be_events),
    TEST(stages_come_with_results),
    TEST(messages_are_settled_by_their_ids),
    TEST(batch_claims_what_it_stored),
    TEST(renewed_and_owned_work_comes_back_when_asked_for),
    TEST(partition_count_is_taken_over_once),
    TEST(joins_of_a_message_are_found),
    TEST(empty_batch_answers_with_one_row),
    TEST(one_statement_does_everything),
    TEST(messages_of_the_inbox_are_stored_once_for_each_key),
    TEST(stages_are_recorded),
    TEST(results_of_others_change_nothing),
    TEST(every_fault_is_named_and_nothing_is_done),
    TEST(every_message_that_is_too_large_is_named),
    TEST(texts_have_to_be_strings),
    TEST(null_means_absent),
    TEST(batch_goes_with_its_transaction),
    TEST(steps_of_joins_are_counted),
    TEST(shortest_time_to_live_ends),
};

const struct suite PROCESS_POSTGRES_SUITE = SUITE(TESTS);
