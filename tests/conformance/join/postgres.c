/* Joins in plain SQL, as a program in any language uses them, and what only overlapping transactions can do
 * to them. */
#include <stdio.h>
#include <string.h>

#include "joins.h"
#include "pg.h"

#define WORKER "'00000000-0000-7000-8000-000000000001'::uuid"

/* The first column of the first row, as text. */
static void pg_text(PGconn *conn, const char *sql, char ret_text[64]) {
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    snprintf(ret_text, 64, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

static boxcar_join_id join_id_of(const char *text) {
    boxcar_join_id id;
    assert_true(boxcar_uuid_parse(boxcar_str_of(text), &id.uuid));
    return id;
}

/* A message that WORKER holds: its work id, and its message id as text. */
static int64_t lease_step(PGconn *conn, char ret_message_id[64]) {
    pg_text(conn, "select message_id from enqueue('" STEP "', 'p')", ret_message_id);
    int64_t id = pg_number(conn, "select work_id from outbox_claim(" WORKER ", '1 minute', 1, '{" STEP "}')");
    assert_true(id > 0);
    return id;
}

static int64_t ack_in_sql(PGconn *conn, int64_t work_id) {
    return pg_number(conn, "select count(*) from outbox_ack(" WORKER ", array[%lld]::bigint[])",
                     (long long)work_id);
}

/* OBX-080, JOIN-001 */
static void functions_have_the_documented_signatures(void **state) {
    static const char *const SIGNATURES[][2] = {
        /* more may follow, with defaults */
        {"join_start", "expected_steps integer, grouping_key text, metadata text, deadline timestamp with"},
        {"join_attach", "join_id uuid, message_id uuid"},
        {"join_attach_many", "join_id uuid, message_ids uuid[]"},
        {"join_report_completed", "join_id uuid, message_id uuid"},
        {"join_report_failed", "join_id uuid, message_id uuid"},
        {"join_wait",
         "join_id uuid, fail_if_any_step_failed boolean, on_complete_topic text, on_complete_payload "
         "text, on_fail_topic text, on_fail_payload text"},
        {"join_cancel", "join_id uuid"},
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

/* OBX-081, OBX-083, OBX-084, OBX-093, JOIN-030 */
static void whole_join_lives_in_plain_sql(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    char join[64], step[64], wait[64];
    pg_text(conn, "select join_start(3, 'customer-1', '{}', now() + interval '1 hour')", join);
    int64_t work_id = lease_step(conn, step);
    assert_int_equal(
        pg_number(conn, "select attached and message_exists from join_attach('%s', '%s')", join, step), 1);
    assert_int_equal(pg_number(conn, "select attached from join_attach('%s', '%s')", join, step), 0);
    pg_exec(conn,
            "create temporary table a as select row_number() over () n, m.* from join_attach_many('%s', "
            "array['%s', '00000000-0000-7000-8000-0000000000aa']::uuid[]) m",
            join, step);
    assert_int_equal(pg_number(conn,
                               "select count(*) from a where (n = 1 and not attached and message_exists) "
                               "or (n = 2 and attached and not message_exists)"),
                     2);
    assert_int_equal(
        pg_number(conn, "select join_report_failed('%s', '00000000-0000-7000-8000-0000000000aa')", join), 1);
    assert_int_equal(
        pg_number(conn, "select join_report_completed('%s', '00000000-0000-7000-8000-0000000000aa')", join),
        0);
    char sql[200];
    snprintf(sql, sizeof(sql), "select join_wait('%s', false, 'completed', 'yes', null, null)", join);
    pg_text(conn, sql, wait);
    pg_exec(conn, "select enqueue('" STEP "', 'p', join_id => '%s')", join);
    assert_int_equal(ack_in_sql(conn, work_id), 1);
    assert_int_equal(pg_number(conn,
                               "select count(*) from outbox_join where join_id = '%s' and status = 'pending' "
                               "and completed_steps = 1 and failed_steps = 1 and grouping_key = 'customer-1'",
                               join),
                     1);
    work_id = pg_number(conn, "select work_id from outbox_claim(" WORKER ", '1 minute', 1, '{" STEP "}')");
    assert_int_equal(ack_in_sql(conn, work_id), 1);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_join where status = 'failed' and "
                                     "completed_steps = 2 and failed_steps = 1"),
                     1);
    boxcar_enqueued enqueued = {.duplicate = false};
    assert_true(boxcar_uuid_parse(boxcar_str_of(wait), &enqueued.message_id.uuid));
    enqueued.work_id.value = pg_number(conn, "select work_id from outbox where message_id = '%s'", wait);
    assert_status(f, enqueued.work_id, BOXCAR_DONE); /* nobody but us was here: the ack has evaluated it */
    assert_continuation(f, enqueued, "completed", "yes");
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" WORKER ", '1 minute', 10, '{*}') c "
                                     "where c.topic = 'completed' and c.payload = 'yes'"),
                     1);
    pg_fails(conn, "BX003", "select join_cancel('%s')", join);
    PQfinish(conn);
}

/* A join of one step, which WORKER holds, with waits of this payload, whatever is there already: as from
 * before the payload was checked. */
static int64_t start_with_waits(PGconn *conn, int waits, const char *payload) {
    char join[64];
    pg_text(conn, "select join_start(1)", join);
    pg_exec(conn, "select enqueue('" STEP "', 'p', join_id => '%s')", join);
    pg_exec(conn, "select join_wait('%s', true, 'next', 'p') from generate_series(1, %d)", join, waits);
    pg_exec(conn,
            "update message set payload = %s from (select '%s'::text as id) j where topic = 'join.wait'",
            payload, join);
    return pg_number(conn, "select work_id from outbox_claim(" WORKER ", '1 minute', 1, '{" STEP "}')");
}

/* JSON that has no room in a jsonb. JOIN-061, BX-044 */
static void wait_that_cannot_be_read_stops_nobody(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t step =
        start_with_waits(conn, 1,
                         "'{\"join_id\":\"' || j.id || '\",\"on_complete_topic\":\"n\",\"j\":[' || "
                         "repeat('1,', 17000000) || '1]}'");
    assert_int_equal(ack_in_sql(conn, step), 1);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_join where status = 'completed'"), 1);
    pg_exec(conn, "select _evaluate_due_waits(1000)");
    assert_int_equal(pg_number(conn, "select count(*) from dead_letter where topic = 'join.wait' "
                                     "and last_error = 'the payload of a wait must be a JSON object'"),
                     1);
    PQfinish(conn);
}

/* BX-044, BX-015 */
static void large_waits_are_evaluated_a_few_at_a_time(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t step = start_with_waits(conn, 3,
                                    "jsonb_build_object('join_id', j.id, 'on_complete_topic', 'next', "
                                    "'on_complete_payload', repeat('x', 9000000))::text");
    assert_int_equal(ack_in_sql(conn, step), 1);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where topic = 'next'"), 2);
    pg_exec(conn, "select _evaluate_due_waits(1000)");
    assert_int_equal(pg_number(conn, "select count(*) from outbox where topic = 'next' "
                                     "and octet_length(payload) = 9000000"),
                     3);
    PQfinish(conn);
}

/* A wait that nobody has claimed, and somebody's open transaction holds it when upkeep comes past. Nor does
 * upkeep keep the claimers' turn in a transaction that goes on. BX-044, BX-020 */
static void wait_that_is_held_is_evaluated_when_it_is_free(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f), *holder = fixture_connect(f);
    char join[64];
    pg_text(conn, "select join_start(1)", join);
    pg_exec(conn, "select join_cancel('%s')", join);
    pg_exec(conn,
            "select enqueue('join.wait', jsonb_build_object('join_id', '%s', 'on_complete_topic', 'next', "
            "'on_fail_topic', 'next')::text)",
            join);
    pg_exec(holder, "begin; select from message where topic = 'join.wait' for update");
    for (int i = 0; i < 3; i++)
        pg_exec(conn, "select _evaluate_due_waits(1000)");
    assert_int_equal(pg_number(conn, "select count(*) from outbox where topic = 'next'"), 0);
    pg_exec(holder, "commit");
    pg_exec(holder, "begin; select enqueue('work', 'p'); select _evaluate_due_waits(1000)");
    assert_int_equal(
        pg_number(conn, "select count(*) from pg_locks where relation = 'outbox_turn'::regclass"), 0);
    pg_exec(holder, "commit");
    for (int i = 0; i < 3; i++)
        pg_exec(conn, "select _evaluate_due_waits(1000)");
    assert_int_equal(pg_number(conn, "select count(*) from outbox where topic = 'next'"), 1);
    PQfinish(holder);
    PQfinish(conn);
}

/* While claims come past messages, upkeep leaves them alone, since a claim will come past the wait. If they
 * stop, it goes on. BX-044 */
static void upkeep_passes_messages_of_others_only_if_nobody_claims(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    static const char beyond[] = "select count(*) from message m, _frontier(0::smallint, 0::smallint) f "
                                 "where (m.xid, m.work_id) > (f.position_xid, f.position_id)";
    pg_exec(conn, "select enqueue('work', 'p') from generate_series(1, 20000)");
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_claim(" WORKER ", '1 minute', 1, alone => true)"), 1);
    int64_t left = pg_number(conn, beyond);
    assert_in_range(left, 8000, 20000);
    assert_int_equal(pg_number(conn, "select evaluated from _evaluate_due_waits(1000)"), 0);
    assert_int_equal(pg_number(conn, beyond), left);
    pg_exec(conn, "update frontier set look_at = clock_timestamp() - interval '6 seconds' where lane = 0");
    while (pg_number(conn, "select evaluated from _evaluate_due_waits(1000)") > 0)
        ;
    assert_in_range(pg_number(conn, beyond), 0, 1000);
    PQfinish(conn);
}

/* As version 9 stored it. BX-011, BX-044 */
static void wait_with_a_long_correlation_id_is_a_dead_letter(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t step = start_with_waits(conn, 1, "payload");
    pg_exec(conn, "update message set correlation_id = repeat('c', 300) where topic = 'join.wait'");
    assert_int_equal(ack_in_sql(conn, step), 1);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_join where status = 'completed'"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from dead_letter where topic = 'join.wait' "
                                     "and last_error like 'the correlation id of a wait is longer%%'"),
                     1);
    PQfinish(conn);
}

/* BX-010, BX-011 */
static void wait_that_cannot_be_read_is_refused(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    static const char *const BAD[] = {
        "null::text",
        "'['",
        "'{}'",
        "'{\"join_id\":\"' || j || '\"}'",
        "'{\"join_id\":\"' || gen_random_uuid() || '\",\"on_complete_topic\":\"n\"}'",
        "'{\"join_id\":\"' || j || '\",\"on_complete_topic\":\"n\",\"j\":[' || "
        "repeat('1,', 17000000) || '1]}'"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        pg_fails(conn, "BX001", "select _join_wait(j, gen_random_uuid(), %s, null, 5) from join_start(1) j",
                 BAD[i]);
    PQfinish(conn);
}

/* OBX-034, JOIN-032, JOIN-024 */
static void joins_in_sql_belong_to_the_callers_transaction(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    char join[64], step[64], lost[64];
    pg_text(conn, "select join_start(2)", join);
    int64_t work_id = lease_step(conn, step);
    pg_exec(conn, "select join_attach('%s', '%s')", join, step);
    pg_exec(conn, "begin");
    pg_text(conn, "select join_start(1)", lost);
    assert_int_equal(ack_in_sql(conn, work_id), 1);
    pg_exec(conn, "select join_cancel('%s')", join);
    assert_join(f, join_id_of(join), BOXCAR_JOIN_PENDING, 0, 0);
    pg_exec(conn, "rollback");
    assert_no_join(f, join_id_of(lost));
    assert_join(f, join_id_of(join), BOXCAR_JOIN_PENDING, 0, 0);
    pg_exec(conn, "begin");
    assert_int_equal(ack_in_sql(conn, work_id), 1);
    pg_exec(conn, "commit");
    assert_join(f, join_id_of(join), BOXCAR_JOIN_PENDING, 1, 0);
    PQfinish(conn);
}

/* BX-011, JOIN-051: as in C and in the program. What follows a failure is a topic or nothing, and what
 * follows a success has a payload, which may be empty; a wait that says otherwise is not enqueued. */
static void wait_says_what_follows(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    char join[64];
    pg_text(conn, "select join_start(1)", join);
    pg_fails(conn, "BX001", "select join_wait('%s', true, 't', 'p', '', 'p')", join);
    pg_fails(conn, "BX001", "select join_wait('%s', true, 't', 'p', on_fail_topic => '')", join);
    pg_fails(conn, "BX001", "select join_wait('%s', true, 't', null)", join);
    pg_fails(conn, "BX001", "select join_wait('%s', true, 't', null, 'f', 'p')", join);
    assert_int_equal(pg_number(conn, "select count(*) from message"), 0);
    pg_exec(conn, "select join_wait('%s', true, 't', '')", join);
    pg_exec(conn, "select join_wait('%s', true, 't', '', 'f', '')", join);
    pg_exec(conn, "select join_wait('%s', true, 't', '', 'f', null)", join);
    assert_int_equal(pg_number(conn, "select count(*) from message"), 3);
    PQfinish(conn);
}

/* BX-011, JOIN-002, JOIN-004, JOIN-012 */
static void bad_calls_have_sqlstates_of_our_own(void **state) {
    static const char *const INVALID[][2] = {
        {"join_start(0)", "expected_steps"},
        {"join_start(-1)", "expected_steps"},
        {"join_start(null)", "expected_steps"},
        {"join_start(1, repeat('\xc3\xa4', 256))", "grouping_key"},
        {"join_start(1, deadline => 'infinity')", "deadline"},
        {"join_attach(null, gen_random_uuid())", "join_id"},
        {"join_attach(gen_random_uuid(), null)", "message_id"},
        {"join_attach_many(gen_random_uuid(), null)", "message_ids"},
        {"join_report_completed(null, gen_random_uuid())", "join_id"},
        {"join_report_failed(gen_random_uuid(), null)", "message_id"},
        {"join_wait(null, true, 't', 'p')", "join_id"},
        {"join_wait(gen_random_uuid(), null, 't', 'p')", "fail_if_any_step_failed"},
        {"join_wait(gen_random_uuid(), true, '', 'p')", "on_complete_topic"},
        {"join_wait(gen_random_uuid(), true, null, 'p')", "on_complete_topic"},
        {"join_wait(gen_random_uuid(), true, repeat('x', 256), 'p')", "on_complete_topic"},
        {"join_wait(gen_random_uuid(), true, 't', null)", "on_complete_payload"},
        {"join_wait(gen_random_uuid(), true, 't', null, 'f', 'p')", "on_complete_payload"},
        {"join_wait(gen_random_uuid(), true, 't', 'p', repeat('x', 256))", "on_fail_topic"},
        {"join_wait(gen_random_uuid(), true, 't', 'p', '')", "on_fail_topic"},
        {"join_wait(gen_random_uuid(), true, 't', 'p', '', 'p')", "on_fail_topic"},
        {"join_cancel(null)", "join_id"},
    };
    static const char *const UNKNOWN[] = {
        "join_attach(gen_random_uuid(), gen_random_uuid())",
        "join_attach_many(gen_random_uuid(), array[gen_random_uuid()])",
        "join_report_completed(gen_random_uuid(), gen_random_uuid())",
        "join_report_failed(gen_random_uuid(), gen_random_uuid())",
        "join_wait(gen_random_uuid(), true, 't', 'p')",
        "join_cancel(gen_random_uuid())",
        "enqueue('t', 'p', join_id => gen_random_uuid())",
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(INVALID) / sizeof(INVALID[0]); i++) {
        char sql[256];
        snprintf(sql, sizeof(sql), "select %s", INVALID[i][0]);
        pg_fails(conn, "BX001", "%s", sql);
        PGresult *result = PQexec(conn, sql);
        const char *argument = PQresultErrorField(result, PG_DIAG_COLUMN_NAME);
        if (!argument || strcmp(argument, INVALID[i][1]) != 0)
            fail_msg("%s blames %s", sql, argument ? argument : "nothing");
        PQclear(result);
    }
    for (size_t i = 0; i < sizeof(UNKNOWN) / sizeof(UNKNOWN[0]); i++)
        pg_fails(conn, "BX002", "select %s", UNKNOWN[i]);
    char join[64];
    pg_text(conn, "select join_start(1)", join);
    pg_exec(conn, "select join_cancel('%s')", join);
    pg_fails(conn, "BX003", "select join_attach('%s', gen_random_uuid())", join);
    pg_fails(conn, "BX003", "select enqueue('t', 'p', join_id => '%s')", join);
    assert_int_equal(pg_number(conn, "select count(*) from outbox"), 0);
    PQfinish(conn);
}

/* OBX-097, BX-042 */
static void enqueue_many_takes_a_join_for_each_message(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    char join[64];
    pg_text(conn, "select join_start(2)", join);
    pg_exec(conn,
            "select enqueue_many('[{\"topic\": \"a\", \"payload\": \"1\", \"join_id\": \"%s\"}, {\"topic\": "
            "\"b\", "
            "\"payload\": \"2\"}, {\"topic\": \"c\", \"payload\": \"3\", \"join_id\": \"%s\"}]')",
            join, join);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_join_member m join outbox o using (message_id) "
                        "where m.work_id = o.work_id and topic in ('a', 'c') and m.status = 'pending'"),
        2);
    PQfinish(conn);
}

/* ---- transactions that overlap ---- */

/* Acks in a transaction that took its snapshot before somebody attached the message. */
static void ack_with_an_old_snapshot(struct fixture *f, const char *isolation, bool maintained_before) {
    PGconn *acker = fixture_connect(f), *other = fixture_connect(f);
    char join[64], step[64];
    pg_text(other, "select join_start(1)", join);
    int64_t work_id = lease_step(other, step);
    pg_exec(acker, "begin isolation level %s", isolation);
    pg_exec(acker, "select count(*) from outbox_join_member"); /* takes the snapshot */
    pg_exec(other, "select join_attach('%s', '%s')", join, step);
    if (maintained_before) /* looks at a message that has not ended */
        maintain_joins(f);
    char sql[200];
    snprintf(sql, sizeof(sql), "select outbox_ack(" WORKER ", array[%lld]::bigint[])", (long long)work_id);
    PGresult *result = PQexec(acker, sql);
    bool refused = PQresultStatus(result) != PGRES_TUPLES_OK;
    if (refused) /* serialization failures are the caller's to retry */
        assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "40001");
    PQclear(result);
    result = PQexec(acker, "commit");
    if (!refused && strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "40001");
        refused = true;
    }
    PQclear(result);
    if (refused)
        assert_int_equal(ack_in_sql(acker, work_id), 1);
    maintain_joins(f);
    for (int i = 0; i < 500 && join_of(f, join_id_of(join)).status == BOXCAR_JOIN_PENDING; i++) {
        assert_true(maintained_before); /* upkeep may take its time to look again */
        pause_ms(10);
        maintain_joins(f);
    }
    assert_join(f, join_id_of(join), BOXCAR_JOIN_COMPLETED, 1, 0);
    PQfinish(acker);
    PQfinish(other);
}

/* BX-007, BX-042 */
static void ack_that_cannot_see_the_attach_leaves_no_join_hanging(void **state) {
    static const char *const LEVELS[] = {"read committed", "repeatable read", "serializable"};
    for (int i = 0; i < 6; i++)
        ack_with_an_old_snapshot(*state, LEVELS[i / 2], i % 2);
}

/* BX-026, BX-042: the message goes before anybody looks at the member again. */
static void purge_counts_what_the_ack_could_not_see(void **state) {
    struct fixture *f = *state;
    set_setting(f, "retention_done", "0");
    ack_with_an_old_snapshot(f, "repeatable read", true);
    assert_int_equal(stats_of(f).done, 0);
}

/* BX-007, BX-042 */
static void attach_that_cannot_see_the_ack_leaves_no_join_hanging(void **state) {
    struct fixture *f = *state;
    static const char *const LEVELS[] = {"read committed", "repeatable read"};
    for (int i = 0; i < 4; i++) {
        PGconn *acker = fixture_connect(f), *attacher = fixture_connect(f);
        char join[64], step[64];
        pg_text(acker, "select join_start(1)", join);
        int64_t work_id = lease_step(acker, step);
        pg_exec(acker, "begin");
        pg_exec(attacher, "begin isolation level %s", LEVELS[i % 2]);
        assert_int_equal(ack_in_sql(acker, work_id), 1);
        pg_exec(attacher, "select join_attach('%s', '%s')", join, step);
        pg_exec(i < 2 ? acker : attacher, "commit");
        pg_exec(i < 2 ? attacher : acker, "commit");
        maintain_joins(f);
        assert_join(f, join_id_of(join), BOXCAR_JOIN_COMPLETED, 1, 0);
        PQfinish(acker);
        PQfinish(attacher);
    }
}

/* BX-007, BX-042: neither sees the other before both have committed. */
static void enqueue_and_attach_that_cannot_see_each_other_leave_no_join_hanging(void **state) {
    struct fixture *f = *state;
    PGconn *producer = fixture_connect(f), *attacher = fixture_connect(f);
    char join[64];
    pg_text(producer, "select join_start(1)", join);
    pg_exec(producer, "begin");
    pg_exec(attacher, "begin");
    int64_t work_id = pg_number(producer, "select work_id from enqueue('" STEP "', 'p', message_id => "
                                          "'00000000-0000-7000-8000-0000000000bb')");
    assert_int_equal(pg_number(attacher,
                               "select message_exists from join_attach('%s', "
                               "'00000000-0000-7000-8000-0000000000bb')",
                               join),
                     0);
    pg_exec(attacher, "commit");
    pg_exec(producer, "commit");
    assert_true(ack(f, f->owner, take(f, f->owner, (boxcar_work_id){work_id})));
    maintain_joins(f);
    assert_join(f, join_id_of(join), BOXCAR_JOIN_COMPLETED, 1, 0);
    PQfinish(producer);
    PQfinish(attacher);
}

/* BX-047: a long transaction that counts holds up others that count in that join, and nothing else. */
static void transaction_that_counts_does_not_hold_up_unrelated_work(void **state) {
    struct fixture *f = *state;
    PGconn *slow = fixture_connect(f), *other = fixture_connect(f);
    char join[64], second[64], steps[2][64];
    pg_text(slow, "select join_start(5)", join);
    pg_text(slow, "select join_start(5)", second);
    int64_t ids[2];
    for (int i = 0; i < 2; i++) {
        ids[i] = lease_step(slow, steps[i]);
        pg_exec(slow, "select join_attach('%s', '%s')", i ? second : join, steps[i]);
    }
    pg_exec(slow, "begin");
    assert_int_equal(ack_in_sql(slow, ids[0]), 1);
    pg_exec(other, "set lock_timeout = '3s'"); /* an error instead of a test that hangs */
    assert_int_equal(ack_in_sql(other, ids[1]), 1);
    pg_exec(other, "select enqueue('" STEP "', 'p', join_id => '%s')", second);
    pg_exec(other, "select join_start(1)");
    assert_int_equal(pg_number(other, "select completed_steps from outbox_join where join_id = '%s'", join),
                     0);
    pg_exec(slow, "commit");
    assert_join(f, join_id_of(join), BOXCAR_JOIN_PENDING, 1, 0);
    assert_join(f, join_id_of(second), BOXCAR_JOIN_PENDING, 1, 0);
    PQfinish(slow);
    PQfinish(other);
}

static const struct CMUnitTest TESTS[] = {
    TEST(functions_have_the_documented_signatures),
    TEST(whole_join_lives_in_plain_sql),
    TEST(wait_that_cannot_be_read_stops_nobody),
    TEST(large_waits_are_evaluated_a_few_at_a_time),
    TEST(wait_that_is_held_is_evaluated_when_it_is_free),
    TEST(upkeep_passes_messages_of_others_only_if_nobody_claims),
    TEST(wait_with_a_long_correlation_id_is_a_dead_letter),
    TEST(wait_that_cannot_be_read_is_refused),
    TEST(joins_in_sql_belong_to_the_callers_transaction),
    TEST(wait_says_what_follows),
    TEST(bad_calls_have_sqlstates_of_our_own),
    TEST(enqueue_many_takes_a_join_for_each_message),
    TEST(ack_that_cannot_see_the_attach_leaves_no_join_hanging),
    TEST(purge_counts_what_the_ack_could_not_see),
    TEST(attach_that_cannot_see_the_ack_leaves_no_join_hanging),
    TEST(enqueue_and_attach_that_cannot_see_each_other_leave_no_join_hanging),
    TEST(transaction_that_counts_does_not_hold_up_unrelated_work),
};

const struct suite JOIN_POSTGRES_SUITE = SUITE(TESTS);
