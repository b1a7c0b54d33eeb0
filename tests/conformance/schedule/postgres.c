/* Schedules as SQL callers use them: planners and handlers in transactions of their own, bad input, other
 * roles, and messages that go before anybody looks. */
#include <string.h>

#include "conformance.h"
#include "pg.h"
#include "subscriptions.h"

#define ME "'018f0000-0000-7000-8000-00000000000a'"
#define YOU "'018f0000-0000-7000-8000-00000000000b'"
#define OPEN "select count(*) from schedule_slice where slice > 0 and due_at is null"
#define CLAIMED "array(select work_id from outbox_claim(" ME ", '1 hour', 100, '{fanout:*}'))"

static PGconn *with_schedule(struct fixture *f, int shards, const char *more) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select schedule_add('reindex', 'products', '1 hour', shards => %d%s)", shards, more);
    return conn;
}

static int64_t plan(PGconn *conn, const char *owner) {
    return pg_number(conn, "select count from schedule_plan(%s)", owner);
}

/* As if the cadence were over. */
static void make_due(PGconn *conn) {
    pg_exec(conn, "update schedule_shard set due_at = clock_timestamp() where due_at is not null");
}

/* BX-106 */
static void shards_are_due_at_once_and_then_when_the_cadence_is_over(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 3, "");
    assert_int_equal(pg_number(conn, "select count from schedule_plan(" ME ", most => 2)"), 2);
    assert_int_equal(
        pg_number(conn, "select next_due_at <= clock_timestamp() from schedule_plan(" ME ", most => 1)"), 1);
    assert_int_equal(plan(conn, ME), 0);
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from outbox where topic = 'fanout:reindex:products' and payload::json ->> "
                  "'slice' = '1' and payload::json ->> 'shards' = '3' and payload::json ->> 'topic' = "
                  "'reindex' and "
                  "payload::json ->> 'work_key' = 'products'"),
        3);
    assert_int_equal(pg_number(conn, "select count(distinct payload::json ->> 'shard') from outbox"), 3);
    assert_int_equal(pg_number(conn, "select open_slices from schedule"), 3);
    pg_exec(conn, "select outbox_ack(" ME ", " CLAIMED ")");
    assert_int_equal(plan(conn, ME), 0);
    assert_int_equal(
        pg_number(conn, "select count(*) from schedule_slice x join outbox o using (message_id) where "
                        "x.completed_at = o.processed_at and x.due_at = x.completed_at + interval '1 hour'"),
        3);
    make_due(conn);
    assert_int_equal(plan(conn, ME), 3);
    assert_int_equal(pg_number(conn, "select count(*) from schedule_slice where slice = 2 and tries = 1"), 3);
    PQfinish(conn);
}

/* BX-106 */
static void slice_whose_message_ends_badly_comes_again(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 3, "");
    assert_int_equal(plan(conn, ME), 3);
    pg_exec(conn, "select outbox_cancel((select min(work_id) from outbox))");
    pg_exec(conn, "select outbox_fail(" ME ", array(select work_id from outbox_claim(" ME
                  ", '1 hour', 1)), error => 'no')");
    assert_int_equal(plan(conn, ME), 2);
    assert_int_equal(pg_number(conn, "select count(*) from schedule_slice where slice = 1 and tries = 2"), 2);
    assert_int_equal(plan(conn, ME), 0);
    pg_exec(conn, "select dead_purge(array(select work_id from dead_letter))");
    assert_int_equal(plan(conn, ME), 0);
    /* A dead letter that is purged before anybody looks was not done. */
    pg_exec(conn, "select outbox_fail(" ME ", array(select work_id from outbox_claim(" ME
                  ", '1 hour', 1)), error => 'no'); "
                  "select dead_purge(array(select work_id from dead_letter))");
    assert_int_equal(plan(conn, ME), 1);
    assert_int_equal(pg_number(conn, OPEN), 3);
    PQfinish(conn);
}

/* BX-106: retention may be shorter than the time until somebody plans. */
static void slice_that_was_done_and_purged_does_not_come_again(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 2, "");
    for (int round = 0; round < 2; round++) { /* without and with a subscription: two ways to purge */
        assert_int_equal(plan(conn, ME), 2);
        pg_exec(conn, "select outbox_ack(" ME ", " CLAIMED ")");
        if (round == 1)
            pg_exec(conn, "select outbox_ack(" ME ", array(select work_id from outbox_claim(" ME
                          ", '1 hour', 100, subscription => 'audit')), subscription => 'audit')");
        set_setting(f, "retention_done", "0");
        wait_out(f, 2);
        maintain_readers(f);
        assert_int_equal(pg_number(conn, "select count(*) from message where topic like 'fanout:%%'"), 0);
        assert_int_equal(pg_number(conn, OPEN), 0);
        assert_int_equal(plan(conn, ME), 0);
        make_due(conn);
        if (round == 0)
            pg_exec(conn, "select subscription_add('audit', '{fanout:*}')");
    }
    PQfinish(conn);
}

/* BX-106: however many end badly. */
static void slices_that_end_badly_leave_room_for_what_is_due(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 4, "");
    assert_int_equal(plan(conn, ME), 4);
    pg_exec(conn, "select outbox_fail(" ME ", " CLAIMED ", error => 'no')");
    pg_exec(conn, "select schedule_add('other', 'k', '1 hour')");
    assert_int_equal(pg_number(conn, "select count from schedule_plan(" ME
                                     ", most => 2) where next_due_at <= clock_timestamp()"),
                     2);
    assert_int_equal(pg_number(conn, "select slice from schedule_slice where topic = 'other'"), 1);
    assert_int_equal(pg_number(conn, "select count from schedule_plan(" ME ", most => 2)"), 2);
    assert_int_equal(pg_number(conn, "select count from schedule_plan(" ME ", most => 2)"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from schedule_slice where tries = 2"), 4);
    PQfinish(conn);
}

/* BX-106: what was done stays known while a transaction has the slice, and upkeep would remove the message.
 */
static void slice_in_an_open_transaction_keeps_its_message(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 2, ""), *other = fixture_connect(f);
    set_setting(f, "retention_done", "0");
    for (int round = 0; round < 2; round++) { /* without and with a subscription: two ways to purge */
        assert_int_equal(plan(conn, ME), 2);
        pg_exec(conn, "select schedule_pause('reindex', 'products')"); /* no plan notes that they are done */
        pg_exec(conn, "select outbox_ack(" ME ", " CLAIMED ")");
        if (round == 1)
            pg_exec(conn, "select outbox_ack(" ME ", array(select work_id from outbox_claim(" ME
                          ", '1 hour', 100, subscription => 'audit')), subscription => 'audit')");
        wait_out(f, 2);
        pg_exec(other, "begin; select schedule_resume('reindex', 'products')");
        maintain_readers(f);
        pg_exec(other, "commit");
        assert_int_equal(plan(conn, ME), 0);
        assert_int_equal(pg_number(conn, OPEN), 0);
        make_due(conn);
        if (round == 0)
            pg_exec(conn, "select subscription_add('audit', '{fanout:*}')");
    }
    PQfinish(conn);
    PQfinish(other);
}

/* BX-106, BX-095: the reader that takes a topic away is the one that counts. */
static void slices_that_a_subscription_takes_away_complete_there(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select schedule_add('early', 'k', '1 hour', then_topic => 'all')");
    pg_exec(conn, "select subscription_add('mine', '{fanout:*}', \"only\" => true)");
    pg_fails(conn, "BX001", "select schedule_add('reindex', 'products', '1 hour', then_topic => 'all')");
    pg_exec(conn, "select schedule_add('reindex', 'products', '1 hour')");
    assert_int_equal(plan(conn, ME), 2); /* the early one without its join */
    assert_int_equal(pg_number(conn, "select count(*) from outbox_join"), 0);
    assert_int_equal(plan(conn, ME), 0);
    pg_exec(conn, "select outbox_ack(" ME ", array(select work_id from outbox_claim(" ME
                  ", '1 hour', 100, subscription => 'mine')), subscription => 'mine')");
    assert_int_equal(plan(conn, ME), 0);
    assert_int_equal(pg_number(conn, OPEN), 0);
    PQfinish(conn);
}

/* BX-106 */
static void handler_completes_its_slice_in_its_own_transaction(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 2, ""), *handler = fixture_connect(f);
    assert_int_equal(plan(conn, ME), 2);
    pg_exec(conn, "select outbox_claim(" ME ", '1 hour', 100)");
    pg_exec(handler, "begin");
    assert_int_equal(pg_number(handler, "select schedule_complete('reindex', 'products', 0, 1)"), 1);
    assert_int_equal(plan(conn, ME), 0); /* it does not wait for the handler */
    pg_exec(handler, "rollback");
    assert_int_equal(pg_number(conn, OPEN), 2);
    pg_exec(handler, "begin");
    assert_int_equal(pg_number(handler, "select schedule_complete('reindex', 'products', 0, 1)"), 1);
    pg_exec(handler, "commit");
    assert_int_equal(pg_number(handler, "select schedule_complete('reindex', 'products', 0, 1)"), 0);
    assert_int_equal(pg_number(handler, "select schedule_complete('reindex', 'products', 1, 2)"), 0);
    assert_int_equal(pg_number(handler, "select schedule_complete('reindex', 'products', 7, 1)"), 0);
    /* However its message ends now, the slice is completed. */
    pg_exec(conn, "select outbox_fail(" ME
                  ", array[(select work_id from outbox where message_id = (select message_id from "
                  "schedule_slice where shard = 0))], error => 'no')");
    assert_int_equal(plan(conn, ME), 0);
    assert_int_equal(
        pg_number(conn,
                  "select due_at = completed_at + interval '1 hour' from schedule_slice where shard = 0"),
        1);
    PQfinish(conn);
    PQfinish(handler);
}

/* BX-106 */
static void planner_in_an_open_transaction_holds_up_nobody(void **state) {
    struct fixture *f = *state;
    PGconn *holder = with_schedule(f, 3, ""), *other = fixture_connect(f);
    pg_exec(other, "set statement_timeout = '20 s'");
    pg_exec(holder, "begin");
    assert_int_equal(pg_number(holder, "select count from schedule_plan(" ME ", most => 2)"), 2);
    assert_int_equal(pg_number(other, "select fence from schedule_plan(" YOU ")"), 0);
    assert_int_equal(pg_number(other, "select next_due_at > clock_timestamp() from schedule_plan(" YOU ")"),
                     1);
    pg_exec(other, "select enqueue('t', 'p')");
    pg_exec(other, "select schedule_add('other', 'k', '1 hour')");
    pg_exec(holder, "rollback");
    assert_int_equal(pg_number(other, "select count(*) from outbox where topic like 'fanout:%%'"), 0);
    assert_int_equal(plan(other, YOU), 4);
    PQfinish(holder);
    PQfinish(other);
}

/* BX-106 */
static void fence_rises_with_each_new_owner(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 2, "");
    assert_int_equal(pg_number(conn, "select fence from schedule_plan(" ME ", '100 ms', most => 1)"), 1);
    assert_int_equal(pg_number(conn, "select fence from schedule_plan(" ME ", '1 hour', most => 1)"), 1);
    assert_int_equal(pg_number(conn, "select fence from schedule_plan(" YOU ")"), 0);
    assert_int_equal(
        pg_number(conn,
                  "select next_due_at > clock_timestamp() + interval '50 minutes' from schedule_plan(" YOU
                  ")"),
        1);
    assert_int_equal(pg_number(conn, "select fence from schedule_plan(" ME ", '100 ms', 1)"), 1);
    pg_fails(conn, "BX003", "select schedule_plan(" YOU ", fence => 1)");
    pg_fails(conn, "BX003", "select schedule_plan(" ME ", fence => 2)");
    pg_exec(conn, "update schedule_planner set until = clock_timestamp()");
    /* Nobody took it meanwhile. */
    assert_int_equal(pg_number(conn, "select fence from schedule_plan(" ME ", '100 ms', 1)"), 1);
    pg_exec(conn, "update schedule_planner set until = clock_timestamp()");
    assert_int_equal(pg_number(conn, "select fence from schedule_plan(" YOU ", '1 hour')"), 2);
    pg_fails(conn, "BX003", "select schedule_plan(" ME ", fence => 1)");
    assert_int_equal(pg_number(conn, "select fence from schedule_plan(" ME ")"), 0);
    pg_exec(conn, "update schedule_planner set until = clock_timestamp()");
    assert_int_equal(pg_number(conn, "select fence from schedule_plan(" ME ", fence => 0)"), 3);
    PQfinish(conn);
}

/* BX-106 */
static void planner_that_lost_its_lease_changes_nothing(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 1, "");
    assert_int_equal(plan(conn, ME), 1);
    pg_exec(conn, "update schedule_planner set until = clock_timestamp()");
    assert_int_equal(pg_number(conn, "select fence from schedule_plan(" YOU ")"), 2);
    pg_exec(conn, "select outbox_ack(" ME ", " CLAIMED ")");
    make_due(conn);
    pg_fails(conn, "BX003", "select schedule_plan(" ME ", fence => 1)");
    assert_int_equal(pg_number(conn, OPEN), 1); /* not even looked at */
    assert_int_equal(pg_number(conn, "select count(*) from outbox"), 1);
    PQfinish(conn);
}

/* BX-106: nothing of what a plan did, or all of it. */
static void plan_and_messages_commit_together(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 5, ", then_topic => 'all'");
    pg_exec(conn, "begin");
    assert_int_equal(plan(conn, ME), 5);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'ready'"), 6);
    pg_exec(conn, "rollback");
    assert_int_equal(pg_number(conn, "select count(*) from outbox"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_join"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from schedule_slice where slice = 0"), 5);
    assert_int_equal(plan(conn, ME), 5);
    assert_int_equal(plan(conn, ME), 0);
    PQfinish(conn);
}

/* BX-106 */
static void slices_that_are_enqueued_together_feed_a_join(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 3, ", then_topic => 'all', else_topic => 'some'");
    assert_int_equal(plan(conn, ME), 3);
    assert_int_equal(pg_number(conn, "select expected_steps from outbox_join"), 3);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_join_member m join schedule_slice x using (message_id)"),
        3);
    pg_exec(conn, "select outbox_ack(" ME ", " CLAIMED ")");
    maintain_readers(f);
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from outbox where topic = 'all' and payload::json ->> 'slices' = '3' and "
                  "payload::json ->> 'topic' = 'reindex' and payload::json ->> 'work_key' = 'products'"),
        1);
    assert_int_equal(plan(conn, ME), 0);
    make_due(conn);
    assert_int_equal(plan(conn, ME), 3);
    pg_exec(conn, "select outbox_fail(" ME ", " CLAIMED ", error => 'no')");
    maintain_readers(f);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where topic = 'some'"), 1);
    assert_int_equal(plan(conn, ME), 3); /* these are no steps */
    assert_int_equal(pg_number(conn, "select count(*) from outbox_join"), 2);
    PQfinish(conn);
}

/* BX-106 */
static void paused_schedule_is_not_planned_and_keeps_no_other_waiting(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 2, "");
    pg_exec(conn, "select schedule_pause('reindex', 'products'), schedule_pause('reindex', 'products')");
    assert_int_equal(plan(conn, ME), 0);
    assert_int_equal(pg_number(conn, "select next_due_at is null from schedule_plan(" ME ")"), 1);
    assert_int_equal(pg_number(conn, "select paused_at is not null from schedule"), 1);
    pg_exec(conn, "select schedule_add('other', 'k', '1 hour')");
    assert_int_equal(plan(conn, ME), 1);
    pg_exec(conn, "select schedule_resume('reindex', 'products')");
    assert_int_equal(plan(conn, ME), 2);
    pg_exec(conn, "select schedule_pause('reindex', 'products')");
    pg_exec(conn, "select outbox_fail(" ME ", " CLAIMED ", error => 'no')");
    assert_int_equal(plan(conn, ME), 1); /* of the other one */
    pg_exec(conn, "select schedule_resume('reindex', 'products')");
    assert_int_equal(plan(conn, ME), 2);
    PQfinish(conn);
}

/* BX-106: a schedule that is made anew knows nothing of the old one's slices. */
static void schedule_that_is_made_again_begins_anew(void **state) {
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 2, "");
    assert_int_equal(plan(conn, ME), 2);
    pg_exec(conn, "select outbox_ack(" ME ", " CLAIMED ")");
    pg_exec(conn, "select schedule_remove('reindex', 'products')");
    assert_int_equal(pg_number(conn, "select count(*) from schedule_slice"), 0);
    pg_exec(conn, "select schedule_add('reindex', 'products', '1 hour', shards => 2)");
    assert_int_equal(plan(conn, ME), 2);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'ready'"), 2);
    assert_int_equal(pg_number(conn, OPEN), 2);
    PQfinish(conn);
}

/* BX-106 */
static void bad_input_is_refused(void **state) {
    static const char *const BAD_ADD[] = {
        "null, 'k', '1 hour'",
        "'', 'k', '1 hour'",
        "'a:b', 'k', '1 hour'",
        "e'a\\tb', 'k', '1 hour'",
        "'t', null, '1 hour'",
        "'t', '', '1 hour'",
        "'t', e'k\\n', '1 hour'",
        "'t', repeat('k', 247), '1 hour'",
        "'t', 'k', null",
        "'t', 'k', '999 ms'",
        "'t', 'k', '367 days'",
        "'t', 'k', '-1 day'",
        "'t', 'k', '1 hour', null",
        "'t', 'k', '1 hour', '61 minutes'",
        "'t', 'k', '1 hour', '-1 s'",
        "'t', 'k', '1 hour', shards => 0",
        "'t', 'k', '1 hour', shards => 10001",
        "'t', 'k', '1 hour', shards => null",
        "'t', 'k', '1 hour', then_topic => ''",
        "'t', 'k', '1 hour', then_topic => repeat('x', 256)",
        "'t', 'k', '1 hour', else_topic => 'x'",
        "'t', 'k', '1 hour', then_topic => 'x', else_topic => ''",
    };
    static const char *const BAD_PLAN[] = {
        "null",
        "'00000000-0000-0000-0000-000000000000'",
        ME ", null",
        ME ", '99 ms'",
        ME ", '25 hours'",
        ME ", fence => -1",
        ME ", most => 0",
        ME ", most => 10001",
        ME ", most => null",
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(BAD_ADD) / sizeof(BAD_ADD[0]); i++)
        pg_fails(conn, "BX001", "select schedule_add(%s)", BAD_ADD[i]);
    for (size_t i = 0; i < sizeof(BAD_PLAN) / sizeof(BAD_PLAN[0]); i++)
        pg_fails(conn, "BX001", "select schedule_plan(%s)", BAD_PLAN[i]);
    assert_int_equal(pg_number(conn, "select count(*) from schedule"), 0);
    pg_exec(conn, "select schedule_add('t', repeat('k', 246), '1 second', '1 second', 1, 'x', 'y')");
    pg_exec(conn, "select schedule_add('t', 'k', '366 days', shards => 10000)");
    pg_fails(conn, "BX003", "select schedule_add('t', 'k', '1 hour')");
    pg_fails(conn, "BX001", "select schedule_pause(null, 'k')");
    pg_fails(conn, "BX001", "select schedule_remove('t', null)");
    pg_fails(conn, "BX001", "select schedule_complete('t', 'k', null, 1)");
    pg_fails(conn, "BX001", "select schedule_complete('t', 'k', 1, null)");
    pg_fails(conn, "BX002", "select schedule_pause('t', 'nobody')");
    pg_fails(conn, "BX002", "select schedule_resume('nobody', 'k')");
    pg_fails(conn, "BX002", "select schedule_remove('k', 't')");
    pg_fails(conn, "BX002", "select schedule_complete('t', 'nobody', 0, 1)");
    pg_exec(conn, "begin isolation level repeatable read");
    pg_fails(conn, "BX004", "select schedule_plan(" ME ")");
    PQfinish(conn);
}

/* BX-106, OBX-124 */
static void workers_plan_and_complete_and_admins_do_the_rest(void **state) {
    static const char *const ACCESSES[] = {"producer", "worker", "viewer"};
    struct fixture *f = *state;
    PGconn *conn = with_schedule(f, 1, ", then_topic => 'all'");
    pg_exec(conn, "create role %s_low", f->schema);
    for (size_t i = 0; i < sizeof(ACCESSES) / sizeof(ACCESSES[0]); i++) {
        pg_exec(conn, "select grant_access('%s_low', '%s')", f->schema, ACCESSES[i]);
        pg_exec(conn, "set role %s_low", f->schema);
        pg_fails(conn, "42501", "select schedule_add('x', 'k', '1 hour')");
        pg_fails(conn, "42501", "select schedule_remove('reindex', 'products')");
        pg_fails(conn, "42501", "update schedule_shard set due_at = now()");
        if (i == 1) {
            assert_int_equal(plan(conn, ME), 1);
            assert_int_equal(pg_number(conn, "select schedule_complete('reindex', 'products', 0, 1)"), 1);
        } else {
            pg_fails(conn, "42501", "select schedule_plan(" ME ")");
            pg_fails(conn, "42501", "select schedule_complete('reindex', 'products', 0, 1)");
        }
        if (i == 2) {
            assert_int_equal(
                pg_number(conn, "select count(*) from schedule join schedule_slice using (topic, work_key)"),
                1);
            assert_int_equal(
                pg_number(
                    conn,
                    "select count(*) from _schedules(null, null), _schedule_slices('reindex', 'products')"),
                1);
        }
        pg_exec(conn, "reset role; drop owned by %s_low", f->schema);
    }
    pg_exec(conn, "drop role %s_low", f->schema);
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(shards_are_due_at_once_and_then_when_the_cadence_is_over),
    TEST(slice_whose_message_ends_badly_comes_again),
    TEST(slice_that_was_done_and_purged_does_not_come_again),
    TEST(slices_that_end_badly_leave_room_for_what_is_due),
    TEST(slice_in_an_open_transaction_keeps_its_message),
    TEST(slices_that_a_subscription_takes_away_complete_there),
    TEST(handler_completes_its_slice_in_its_own_transaction),
    TEST(planner_in_an_open_transaction_holds_up_nobody),
    TEST(fence_rises_with_each_new_owner),
    TEST(planner_that_lost_its_lease_changes_nothing),
    TEST(plan_and_messages_commit_together),
    TEST(slices_that_are_enqueued_together_feed_a_join),
    TEST(paused_schedule_is_not_planned_and_keeps_no_other_waiting),
    TEST(schedule_that_is_made_again_begins_anew),
    TEST(bad_input_is_refused),
    TEST(workers_plan_and_complete_and_admins_do_the_rest),
};

const struct suite SCHEDULE_POSTGRES_SUITE = SUITE(TESTS);
