/* The inbox in plain SQL, as a program in any language uses it. */
#include <stdio.h>
#include <string.h>

#include "inboxes.h"
#include "pg.h"

#define WORKER "'00000000-0000-7000-8000-000000000001'::uuid"

static void functions_have_the_documented_signatures(void **state) {
    static const char *const SIGNATURES[][2] = {
        /* more may follow, with defaults */
        {"inbox_enqueue", "source text, id text, topic text, payload text, content_hash text, correlation_id "
                          "text, due_at timestamp with "
                          "time zone, ttl interval, stream text, headers jsonb, max_attempts integer"},
        {"inbox_enqueue_many", "messages jsonb"},
        {"inbox_already_processed", "source text, id text, content_hash text"},
        {"inbox_accept", "source text, id text, content_hash text"},
        {"inbox_claim", "owner uuid, lease interval, batch_size integer, topics text[], alone boolean"},
        {"inbox_ack", "owner uuid, work_ids bigint[], epochs bigint[]"},
        {"inbox_abandon", "owner uuid, work_ids bigint[], epochs bigint[], error text, delay interval"},
        {"inbox_defer", "owner uuid, work_ids bigint[], epochs bigint[], delay interval"},
        {"inbox_fail", "owner uuid, work_ids bigint[], epochs bigint[], error text"},
        {"inbox_renew", "owner uuid, work_ids bigint[], epochs bigint[], lease interval"},
        {"inbox_reap", ""},
        {"inbox_cancel", "work_id bigint, message_id uuid"},
        {"inbox_revive", "reason text, source text, id text, message_id uuid, work_id bigint"},
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(SIGNATURES) / sizeof(SIGNATURES[0]); i++)
        if (pg_number(conn,
                      "select count(*) filter (where starts_with(pg_get_function_identity_arguments(oid), "
                      "'%s')) * 10 "
                      "+ count(*) from pg_proc where pronamespace = '%s'::regnamespace and proname = '%s'",
                      SIGNATURES[i][1], f->schema, SIGNATURES[i][0]) != 11) /* and no other of this name */
            fail_msg("there is no %s(%s)", SIGNATURES[i][0], SIGNATURES[i][1]);
    PQfinish(conn);
}

/* BX-080..084: from the first delivery to the revival */
static void whole_life_in_plain_sql(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    assert_int_equal(pg_number(conn, "select inbox_already_processed('shop', '1')"), 0);
    assert_int_equal(pg_number(conn, "select not duplicate and not hash_mismatch and work_id > 0 from "
                                     "inbox_enqueue('shop', '1', 't', 'p', content_hash => 'abc')"),
                     1);
    assert_int_equal(
        pg_number(conn,
                  "select duplicate and hash_mismatch from inbox_enqueue('shop', '1', 't', 'p', 'xyz')"),
        1);
    assert_int_equal(pg_number(conn, "select inbox_accept('shop', '1')"), 0);
    pg_exec(conn, "create temporary table got as select * from inbox_claim(" WORKER ", '1 minute', 10)");
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from got where source = 'shop' and external_id = '1' and box = 'inbox' "
                  "and payload = 'p'"),
        1);
    assert_int_equal(
        pg_number(conn, "select count(*) from inbox where state = 'processing' and status = 'in_progress'"),
        1);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_ack(" WORKER ", array(select work_id from got))"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from inbox_renew(" WORKER
                                     ", array(select work_id from got), null, "
                                     "'2 minutes')"),
                     1);
    assert_int_equal(pg_number(conn,
                               "select count(*) from inbox_fail(" WORKER ", array(select work_id from got), "
                               "array(select epoch from got), 'no')"),
                     1);
    assert_int_equal(pg_number(conn, "select inbox_revive('again', 'shop', '1') = (select work_id from got)"),
                     1);
    pg_fails(conn, "BX003", "select inbox_revive('again', work_id => (select work_id from got))");
    pg_fails(conn, "BX002", "select inbox_revive('again', 'shop', 'unknown')");
    pg_fails(conn, "BX001", "select inbox_revive('', 'shop', '1')");
    pg_fails(conn, "BX001", "select inbox_revive('again', 'shop')");
    pg_fails(conn, "BX001", "select inbox_revive('again', 'shop', '1', work_id => 1)");
    pg_exec(conn, "drop table got; create temporary table got as select * from inbox_claim(" WORKER
                  ", '1 minute', 10)");
    assert_int_equal(
        pg_number(conn, "select count(*) from inbox_ack(" WORKER ", array(select work_id from got))"), 1);
    assert_int_equal(pg_number(conn, "select inbox_already_processed('shop', '1')"), 1);
    assert_int_equal(pg_number(conn,
                               "select count(*) from inbox_receipt where state = 'done' and seen_count = 5 "
                               "and content_hash = 'abc' and ended_at is not null"),
                     1);
    assert_int_equal(pg_number(conn, "select inbox_reap()"), 0);
    PQfinish(conn);
}

/* The same id in C and in SQL. */
static void message_id_is_the_same_in_c(void **state) {
    struct fixture *f = *state;
    static const char *const KEYS[][2] = {
        {"shop", "1"}, {"Gr\xc3\xbc\xc3\x9f \xe2\x82\xac", "\xf0\x9f\x93\xa6"}, {"1:", ":1"}};
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++) {
        char text[BOXCAR_UUID_TEXT_SIZE];
        boxcar_uuid_format(boxcar_inbox_message_id(key_of(KEYS[i][0], KEYS[i][1])).uuid, text);
        assert_int_equal(pg_number(conn, "select message_id = '%s' from inbox_enqueue('%s', '%s', 't', 'p')",
                                   text, KEYS[i][0], KEYS[i][1]),
                         1);
        assert_true(deliver(f, KEYS[i][0], KEYS[i][1]).duplicate);
    }
    PQfinish(conn);
}

static void array_of_objects_is_stored_as_one(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(
        conn,
        "create temporary table r as select row_number() over () as n, m.* from inbox_enqueue_many('["
        "{\"source\": \"shop\", \"id\": \"2\", \"topic\": \"t\", \"payload\": {\"n\": 1}, \"ttl\": \"1 "
        "hour\"},"
        "{\"source\": \"shop\", \"id\": \"1\", \"topic\": \"t\", \"payload\": \"p\", \"content_hash\": \"h\","
        " \"headers\": {\"a\": \"b\"}, \"stream\": \"s\", \"max_attempts\": 3, \"correlation_id\": \"c\","
        " \"due_at\": \"2030-01-01T00:00:00Z\"},"
        "{\"source\": \"shop\", \"id\": \"2\", \"topic\": \"t\", \"payload\": \"again\"}]') m");
    assert_int_equal(pg_number(conn, "select count(*) from r where duplicate = (n = 3)"), 3);
    assert_int_equal(
        pg_number(conn, "select count(*) from inbox where external_id = '2' and payload = '{\"n\": 1}' "
                        "and expires_at is not null"),
        1);
    assert_int_equal(pg_number(conn,
                               "select count(*) from inbox where external_id = '1' and stream = 's' and "
                               "headers ->> 'a' = 'b' and max_attempts = 3 and correlation_id = 'c' and "
                               "due_at = '2030-01-01Z'"),
                     1);
    assert_int_equal(pg_number(conn, "select count(*) from inbox_enqueue_many('[]')"), 0);
    PQfinish(conn);
}

/* BX-011 */
static void bad_input_is_named_and_changes_nothing(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    static const char *const BAD[] = {
        "select inbox_enqueue('', '1', 't', 'p')",
        "select inbox_enqueue(null, '1', 't', 'p')",
        "select inbox_enqueue(repeat('x', 256), '1', 't', 'p')",
        "select inbox_enqueue('s', '', 't', 'p')",
        "select inbox_enqueue('s', repeat('x', 256), 't', 'p')",
        "select inbox_enqueue('s', '1', 't', 'p', repeat('x', 256))",
        "select inbox_enqueue('s', '1', '', 'p')",
        "select inbox_enqueue('s', '1', 't', null)",
        "select inbox_already_processed('s', '')",
        "select inbox_accept('', '1')",
        "select inbox_enqueue_many('{}')",
        "select inbox_enqueue_many('[1]')",
        "select inbox_enqueue_many('[{\"source\": \"s\", \"id\": \"1\", \"topic\": \"t\", \"payload\": "
        "\"p\"}, {}]')",
        "select inbox_enqueue_many('[{\"source\": \"s\", \"id\": \"1\", \"topic\": \"t\", \"payload\": "
        "\"p\", \"x\": 1}]')",
        "select inbox_enqueue_many('[{\"source\": \"s\", \"id\": \"1\", \"topic\": \"t\", \"payload\": "
        "\"p\", "
        "\"due_at\": \"soon\"}]')",
    };
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        pg_fails(conn, "BX001", "%s", BAD[i]);
    assert_int_equal(count_messages(f) + count_keys(f), 0);
    PQfinish(conn);
}

/* Roles: producers store, ask and accept; workers claim; only admins revive. */
static void producers_store_and_workers_claim(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    char role[80];
    snprintf(role, sizeof(role), "%s_r", f->schema);
    static const struct {
        const char *access, *statement;
        bool allowed;
    } CASES[] = {
        {"producer", "select inbox_enqueue('s', '1', 't', 'p')", true},
        {"producer",
         "select inbox_enqueue_many('[{\"source\": \"s\", \"id\": \"2\", \"topic\": \"t\", \"payload\": "
         "\"p\"}]')",
         true},
        {"producer", "select inbox_already_processed('s', '1')", true},
        {"producer", "select inbox_accept('s', '1')", true},
        {"producer", "select inbox_claim(" WORKER ", '1 minute', 1)", false},
        {"producer", "select inbox_revive('why', 's', '1')", false},
        {"worker", "select inbox_claim(" WORKER ", '1 minute', 1)", true},
        {"worker", "select inbox_ack(" WORKER ", '{1}')", true},
        {"worker", "select inbox_accept('s', '3')", true},
        {"worker", "select inbox_revive('why', 's', '1')", false},
        {"viewer", "select source, external_id, state from inbox", true},
        {"viewer", "select * from inbox_receipt", true},
        {"viewer", "select payload from inbox", false},
        {"viewer", "select inbox_accept('s', '4')", false},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        pg_exec(conn, "begin; create role \"%s\"; select grant_access('%s', '%s')", role, role,
                CASES[i].access);
        pg_exec(conn, "set local role \"%s\"", role);
        if (CASES[i].allowed)
            pg_exec(conn, "%s", CASES[i].statement);
        else
            pg_fails(conn, "42501", "%s", CASES[i].statement);
        pg_exec(conn, "rollback");
    }
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(functions_have_the_documented_signatures),
    TEST(whole_life_in_plain_sql),
    TEST(message_id_is_the_same_in_c),
    TEST(array_of_objects_is_stored_as_one),
    TEST(bad_input_is_named_and_changes_nothing),
    TEST(producers_store_and_workers_claim),
};

const struct suite INBOX_POSTGRES_SUITE = SUITE(TESTS);
