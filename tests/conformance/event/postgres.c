/* Events in plain SQL, as a program in any language uses them, and what only overlapping transactions can do
 * to the order in which they are followed (BX-066). */
#include <stdio.h>
#include <string.h>

#include "events.h"
#include "pg.h"

#define ANY BOXCAR_ANY_VERSION
#define ID "00000000-0000-7000-8000-0000000000"

static void sql_append(PGconn *conn, const char *stream) {
    pg_exec(conn, "select event_append('%s', 'T', 'p')", stream);
}

/* What read_all would show now, as "stream:version ...", behind a position. */
static void assert_follows(struct fixture *f, int64_t after, const char *wanted) {
    char seen[256] = "";
    boxcar_event_list *list = read_all(f, after, 100);
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_event *event = list->items[i];
        assert_int_equal(event->position, after + (int64_t)i + 1);
        size_t used = strlen(seen);
        snprintf(seen + used, sizeof(seen) - used, "%s%.*s%lld", used ? " " : "", (int)event->stream.len,
                 event->stream.data, (long long)event->version);
    }
    boxcar_list_free(list);
    assert_string_equal(seen, wanted);
}

/* BX-066: the signatures other programs rely on. */
static void functions_have_the_documented_signatures(void **state) {
    static const char *const SIGNATURES[][2] = {
        {"event_append",
         "stream text, type text, payload text, expected_version bigint, event_id uuid, headers "
         "jsonb, correlation_id text, topic text"},
        {"event_append_many", "stream text, events jsonb, expected_version bigint"},
        {"event_read", "stream text, from_version bigint, max_events integer"},
        {"event_read_all", "after bigint, max_events integer, types text[], stream text"},
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(SIGNATURES) / sizeof(SIGNATURES[0]); i++)
        if (pg_number(conn,
                      "select count(*) filter (where starts_with(pg_get_function_identity_arguments(oid), "
                      "'%s')) * 10 "
                      "+ count(*) from pg_proc where pronamespace = '%s'::regnamespace and proname = '%s'",
                      SIGNATURES[i][1], f->schema, SIGNATURES[i][0]) != 11)
            fail_msg("there is no %s(%s)", SIGNATURES[i][0], SIGNATURES[i][1]);
    PQfinish(conn);
}

/* BX-066 */
static void whole_stream_lives_in_plain_sql(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    assert_int_equal(pg_number(conn, "select version from event_append('s', 'T', 'p', 0)"), 1);
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from event_append('s', 'T', 'p', 1, '" ID "01', '{\"a\": "
                  "\"b\"}', 'c', 'topic') where version = 2 and not duplicate and event_id = '" ID "01'"),
        1);
    assert_int_equal(pg_number(conn, "select count(*) from event_append('s', 'T', 'p', 0, '" ID
                                     "01', topic => 'topic') where version = 2 and duplicate"),
                     1);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox where message_id = '" ID "01' and topic = 'topic' "
                        "and stream = 's' and payload = 'p' and correlation_id = 'c' and headers = '{\"a\": "
                        "\"b\"}'"),
        1);
    pg_exec(
        conn,
        "create temporary table a as select row_number() over () n, m.* from event_append_many('s', "
        "'[{\"type\": \"T\", \"payload\": {\"x\": 1}}, {\"type\": \"U\", \"payload\": \"p\", \"event_id\": "
        "\"" ID
        "01\"}, {\"type\": \"U\", \"payload\": \"\", \"headers\": null, \"correlation_id\": null, \"topic\": "
        "\"topic\"}]', 2) m");
    assert_int_equal(
        pg_number(conn, "select count(*) from a where (n = 1 and version = 3 and not duplicate) or (n = 2 "
                        "and version = 2 and duplicate) or (n = 3 and version = 4 and not duplicate)"),
        3);
    assert_int_equal(pg_number(conn, "select count(*) from outbox"), 2);
    assert_int_equal(pg_number(conn, "select count(*) from event where position is null"), 4);
    assert_int_equal(pg_number(conn, "select count(*) from event_read('s', 2, 2) where version in (2, 3)"),
                     2);
    assert_int_equal(pg_number(conn, "select (payload::json ->> 'x')::int from event_read('s', 3, 1)"), 1);
    assert_int_equal(pg_number(conn, "select max(position) from event_read_all()"), 4);
    assert_int_equal(pg_number(conn, "select count(*) from event_read_all(1, 2)"), 2);
    assert_int_equal(pg_number(conn, "select position from event_read_all(types => '{U}')"), 4);
    assert_int_equal(
        pg_number(conn, "select count(*) from event_read_all(stream => 's*', types => '{T,X*}')"), 3);
    assert_int_equal(pg_number(conn, "select count(*) from event where position = version"), 4);
    assert_int_equal(pg_number(conn, "select count(*) from event_read('nothing')"), 0);
    PQfinish(conn);
}

/* BX-011 */
static void bad_calls_have_sqlstates_of_our_own(void **state) {
    static const char *const INVALID[][2] = {
        {"event_append('', 'T', 'p')", "stream"},
        {"event_append(null, 'T', 'p')", "stream"},
        {"event_append(repeat('x', 256), 'T', 'p')", "stream"},
        {"event_append('s', '', 'p')", "type"},
        {"event_append('s', repeat('x', 256), 'p')", "type"},
        {"event_append('s', 'T', null)", "payload"},
        {"event_append('s', 'T', 'p', -1)", "expected_version"},
        {"event_append('s', 'T', 'p', event_id => '00000000-0000-0000-0000-000000000000')", "event_id"},
        {"event_append('s', 'T', 'p', headers => '[]')", "headers"},
        {"event_append('s', 'T', 'p', headers => '{\"a\": 1}')", "headers"},
        {"event_append('s', 'T', 'p', correlation_id => repeat('x', 256))", "correlation_id"},
        {"event_append('s', 'T', 'p', topic => repeat('x', 256))", "topic"},
        {"event_append_many('s', null)", "events"},
        {"event_append_many('s', '{}')", "events"},
        {"event_append_many('s', '[]')", "events"},
        {"event_append_many('s', '[1]')", "events[0]"},
        {"event_append_many('s', '[{\"type\": \"T\", \"payload\": \"\"}, {\"payload\": \"\"}]')",
         "events[1].type"},
        {"event_append_many('s', '[{\"type\": \"T\", \"payload\": null}]')", "events[0].payload"},
        {"event_append_many('s', '[{\"type\": \"T\", \"payload\": \"\", \"event_id\": \"x\"}]')",
         "events[0].event_id"},
        {"event_append_many('s', '[{\"type\": \"T\", \"payload\": \"\", \"typ\": \"x\"}]')", "events[0].typ"},
        {"event_append_many('s', '[{\"type\": \"T\", \"payload\": \"\"}]', -1)", "expected_version"},
        {"event_read('')", "stream"},
        {"event_read('s', -1)", "from_version"},
        {"event_read('s', 1, 0)", "max_events"},
        {"event_read_all(-1)", "after"},
        {"event_read_all(null)", "after"},
        {"event_read_all(0, 10001)", "max_events"},
        {"event_read_all(types => '{}')", "types"},
        {"event_read_all(types => '{\"\"}')", "types"},
        {"event_read_all(stream => '')", "stream"},
        {"event_read_all(types => '{a*b}')", "types"},
        {"event_read_all(stream => 'a*b')", "stream"},
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(INVALID) / sizeof(INVALID[0]); i++) {
        char sql[300];
        snprintf(sql, sizeof(sql), "select * from %s", INVALID[i][0]);
        PGresult *result = PQexec(conn, sql);
        const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        const char *column = PQresultErrorField(result, PG_DIAG_COLUMN_NAME);
        if (!sqlstate || strcmp(sqlstate, "BX001") != 0 || !column || strcmp(column, INVALID[i][1]) != 0)
            fail_msg("%s: %s at %s", sql, sqlstate ? sqlstate : "no error", column ? column : "nothing");
        PQclear(result);
    }
    sql_append(conn, "s");
    pg_fails(conn, "BX003", "select event_append('s', 'T', 'p', 0)");
    pg_fails(conn, "BX003", "select event_append('s', 'T', 'p', 9223372036854775807)");
    pg_fails(conn, "22003", "select event_append('s', 'T', 'p', 9223372036854775808::bigint)");
    pg_exec(conn, "select event_append('t', 'T', 'p', event_id => '" ID "01')");
    pg_fails(conn, "BX003", "select event_append('s', 'T', 'p', event_id => '" ID "01')");
    assert_int_equal(pg_number(conn, "select count(*) from event"), 2);
    assert_int_equal(pg_number(conn, "select count(*) from event_read_all(9223372036854775807, 10000)"), 0);
    PQfinish(conn);
}

/* BX-066: an event that commits late comes later, and no follower waits for it. */
static void late_commit_gets_a_later_position(void **state) {
    struct fixture *f = *state;
    PGconn *late = fixture_connect(f);
    pg_exec(late, "begin");
    sql_append(late, "late");
    append(f, "a", ANY, "p");
    append(f, "b", ANY, "p");
    assert_follows(f, 0, "a1 b1");
    sql_append(late, "late");
    append(f, "a", ANY, "p");
    assert_follows(f, 2, "a2");
    pg_exec(late, "commit");
    assert_follows(f, 3, "late1 late2");
    append(f, "late", 2, "p");
    assert_follows(f, 0, "a1 b1 a2 late1 late2 late3");
    PQfinish(late);
}

/* BX-066: several, that end in another order than they began; one of them never does. */
static void transactions_may_end_in_any_order(void **state) {
    struct fixture *f = *state;
    PGconn *open[4];
    for (int i = 0; i < 4; i++) {
        char stream[8];
        snprintf(stream, sizeof(stream), "s%d-", i);
        open[i] = fixture_connect(f);
        pg_exec(open[i], "begin");
        sql_append(open[i], stream);
    }
    append(f, "a", ANY, "p");
    assert_follows(f, 0, "a1");
    pg_exec(open[2], "commit");
    assert_follows(f, 1, "s2-1");
    pg_exec(open[0], "commit");
    pg_exec(open[1], "rollback");
    append(f, "a", ANY, "p");
    assert_follows(f, 2, "s0-1 a2");
    assert_follows(f, 4, "");
    pg_exec(open[3], "commit");
    assert_follows(f, 4, "s3-1");
    assert_sequence(f, 5);
    for (int i = 0; i < 4; i++)
        PQfinish(open[i]);
}

/* BX-066: T2 gets its transaction id first and appends to another stream; T1 appends version 1 and commits;
 * T2 appends version 2. In the order of transaction ids 2 would come before 1. */
static void version_2_of_an_older_transaction_comes_behind_version_1(void **state) {
    struct fixture *f = *state;
    PGconn *t1 = fixture_connect(f), *t2 = fixture_connect(f);
    pg_exec(t2, "begin");
    sql_append(t2, "other");
    pg_exec(t1, "begin");
    sql_append(t1, "s");
    pg_exec(t1, "commit");
    sql_append(t2, "s");
    pg_exec(t2, "commit");
    assert_follows(f, 0, "other1 s1 s2");
    PQfinish(t1);
    PQfinish(t2);
}

/* BX-066: only the writer of the same stream waits, and then sees what it waited for. */
static void writers_of_one_stream_take_turns(void **state) {
    struct fixture *f = *state;
    PGconn *first = fixture_connect(f), *second = fixture_connect(f);
    pg_exec(first, "begin");
    sql_append(first, "s");
    assert_int_equal(PQsendQuery(second, "select version from event_append('s', 'T', 'p', 1)"), 1);
    append(f, "t", ANY, "p"); /* others do not wait */
    while (fixture_sql_number(f, NULL, "select count(*) from pg_locks where not granted") == 0)
        pause_ms(1);
    pg_exec(first, "commit");
    PGresult *result = PQgetResult(second);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    assert_string_equal(PQgetvalue(result, 0, 0), "2");
    PQclear(result);
    assert_null(PQgetResult(second));
    assert_sequence(f, 3);
    PQfinish(first);
    PQfinish(second);
}

/* BX-066: a reader in an open transaction holds the turn; the others read what there is, and nothing is lost.
 */
static void reader_in_an_open_transaction_stops_nobody_from_reading(void **state) {
    struct fixture *f = *state;
    PGconn *reader = fixture_connect(f);
    append(f, "a", ANY, "p");
    assert_follows(f, 0, "a1");
    append(f, "a", ANY, "p");
    pg_exec(reader, "begin");
    assert_int_equal(pg_number(reader, "select max(position) from event_read_all()"), 2);
    append(f, "b", ANY, "p");
    assert_follows(f, 0, "a1");
    pg_exec(reader, "commit");
    assert_follows(f, 0, "a1 a2 b1");
    PQfinish(reader);
}

/* BX-066: a follower that may not write, or keeps to one snapshot, reads the events that have positions. */
static void who_cannot_give_out_positions_reads_what_has_some(void **state) {
    static const char *const MODES[] = {"read only", "isolation level repeatable read",
                                        "isolation level serializable"};
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    append(f, "a", ANY, "p");
    assert_follows(f, 0, "a1");
    append(f, "a", ANY, "p");
    for (int i = 0; i < 3; i++) {
        pg_exec(conn, "begin %s", MODES[i]);
        assert_int_equal(pg_number(conn, "select count(*) from event_read_all()"), 1);
        assert_int_equal(pg_number(conn, "select count(*) from event_read('a')"), 2);
        pg_exec(conn, "commit");
    }
    assert_follows(f, 0, "a1 a2");
    PQfinish(conn);
}

/* BX-066: under a stricter isolation an append that cannot see the stream's end is refused, not wrong. */
static void append_with_an_old_snapshot_fails_as_a_serialization_failure(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    append(f, "s", ANY, "p");
    for (int known = 0; known < 2; known++) {
        pg_exec(conn, "begin isolation level repeatable read");
        assert_int_equal(pg_number(conn, "select count(*) from event_read('s')"), known + 1);
        append(f, "s", ANY, "p");
        append(f, "new", known, "p");
        pg_fails(conn, "40001", "select event_append('%s', 'T', 'p')", known ? "new" : "s");
        pg_exec(conn, "rollback");
    }
    pg_exec(conn, "begin isolation level serializable");
    pg_exec(conn, "select event_append('s', 'T', 'p', 3)");
    pg_exec(conn, "commit");
    assert_sequence(f, 6);
    PQfinish(conn);
}

/* BX-001: the rows of an answer come before the commit; one that fails then did not happen. */
static void append_whose_commit_fails_is_reported(void **state) {
    struct fixture *f = *state;
    fixture_sql(
        f, NULL,
        "create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; "
        "end'; create constraint trigger late after insert on event_row deferrable initially deferred "
        "for each row execute function refuse()");
    boxcar_new_event event = new_event("T", "p");
    ASSERT_FAILS(f, BOXCAR_E_STORE,
                 boxcar_event_append(f->store, BOXCAR_STR("s"), ANY, &event, 1, NULL, &f->err));
    assert_int_equal(count_stream(f, "s"), 0);
}

/* BX-066: upkeep gives out positions as well, for readers of a replica. */
static void maintenance_gives_out_positions(void **state) {
    struct fixture *f = *state;
    append_many(f, "s", 3);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from event where position is null"), 3);
    boxcar_maintenance sum = {.struct_size = sizeof(boxcar_maintenance), .more = false};
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &sum, &f->err));
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from event where position = version"), 3);
}

/* BX-066: a window larger than one step is used up in the order of versions, while new events come. */
static void large_window_is_used_up_in_steps(void **state) {
    struct fixture *f = *state;
    PGconn *late = fixture_connect(f);
    pg_exec(late, "begin");
    pg_exec(
        late,
        "select count(*) from generate_series(1, 12) n, lateral event_append_many('late', (select "
        "jsonb_agg('{\"type\": \"T\", \"payload\": \"\"}'::jsonb) from generate_series(1, 10000 + 0 * n)))");
    append(f, "a", ANY, "p");
    assert_follows(f, 0, "a1");
    pg_exec(late, "commit");
    boxcar_event_list *list = read_all(f, 1, 10);
    assert_int_equal(list->count, 10);
    assert_int_equal(list->items[9]->version, 10);
    boxcar_list_free(list);
    append(f, "late", 120000, "p");
    append(f, "a", ANY, "p");
    assert_sequence(f, 120003);
    assert_true(fixture_sql_number(f, NULL, "select count(*) from event_run") <= 10);
    PQfinish(late);
}

/* BX-066 */
/* Also where a choice is made of many: what came before counts. BX-066, BX-015 */
static void functions_return_a_page_of_few_large_events(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (int i = 0; i < 5; i++) {
        pg_exec(conn, "select event_append('s', 'large', repeat('x', 20 << 20))");
        pg_exec(conn, "select event_append_many('t', (select jsonb_agg('{\"type\": \"small\", \"payload\": "
                      "\"\"}'::jsonb) "
                      "from generate_series(1, 9000)))");
    }
    assert_int_equal(pg_number(conn, "select max(version) from event_read('s')"), 3);
    assert_int_equal(pg_number(conn, "select max(version) from event_read('s', 4)"), 5);
    assert_int_equal(pg_number(conn, "select count(*) from event_read('s', 6)"), 0);
    assert_int_equal(pg_number(conn, "select max(position) from event_read_all(0, 10, '{large}')"),
                     2 * 9001 + 1);
    assert_int_equal(pg_number(conn, "select count(*) from event_read_all(0, 10, '{large}')"), 3);
    assert_int_equal(pg_number(conn, "select count(*) from event_read_all(2 * 9001 + 1, 10, '{large}')"), 2);
    assert_int_equal(pg_number(conn, "select count(*) from event_read_all(4 * 9001 + 1, 10, '{large}')"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from event_read_all(0, 10, '{small}', 't')"), 10);
    PQfinish(conn);
}

static void positions_need_few_rows(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 50; i++)
        append_many(f, i % 2 ? "a" : "b", 20);
    assert_sequence(f, 1000);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from event_run"), 1);
    for (int i = 0; i < 300; i++) {
        append(f, "a", ANY, "p");
        boxcar_list_free(read_all(f, 1000 + i, 10));
    }
    assert_sequence(f, 1300);
    assert_true(fixture_sql_number(f, NULL, "select count(*) from event_frontier") < 300);
}

/* BX-066, BX-011: roles. */
static void events_need_the_right_role(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    sql_append(conn, "s");
    pg_exec(conn, "create role %s_producer; create role %s_viewer", f->schema, f->schema);
    pg_exec(conn,
            "select grant_access('%s_producer', 'producer'); select grant_access('%s_viewer', 'viewer')",
            f->schema, f->schema);
    pg_exec(conn, "set role %s_viewer", f->schema);
    assert_int_equal(pg_number(conn, "select version from event"), 1);
    pg_fails(conn, "42501", "select payload from event");
    pg_fails(conn, "42501", "select event_append('s', 'T', 'p')");
    pg_fails(conn, "42501", "select event_read_all()");
    pg_exec(conn, "set role %s_producer", f->schema);
    sql_append(conn, "s");
    assert_int_equal(pg_number(conn, "select count(*) from event_read('s')"), 2);
    assert_int_equal(pg_number(conn, "select count(*) from event_read_all()"), 2);
    pg_fails(conn, "42501", "select from event_row");
    pg_exec(conn, "reset role");
    pg_exec(conn, "drop owned by %s_producer, %s_viewer; drop role %s_producer, %s_viewer", f->schema,
            f->schema, f->schema, f->schema);
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(functions_have_the_documented_signatures),
    TEST(whole_stream_lives_in_plain_sql),
    TEST(bad_calls_have_sqlstates_of_our_own),
    TEST(late_commit_gets_a_later_position),
    TEST(transactions_may_end_in_any_order),
    TEST(version_2_of_an_older_transaction_comes_behind_version_1),
    TEST(writers_of_one_stream_take_turns),
    TEST(reader_in_an_open_transaction_stops_nobody_from_reading),
    TEST(who_cannot_give_out_positions_reads_what_has_some),
    TEST(append_with_an_old_snapshot_fails_as_a_serialization_failure),
    TEST(append_whose_commit_fails_is_reported),
    TEST(maintenance_gives_out_positions),
    TEST(large_window_is_used_up_in_steps),
    TEST(functions_return_a_page_of_few_large_events),
    TEST(positions_need_few_rows),
    TEST(events_need_the_right_role),
};

const struct suite EVENT_POSTGRES_SUITE = SUITE(TESTS);
