/* Claims inside a transaction of the caller's own, as any driver makes them that begins one by itself
 * (BX-030): nobody waits for them, and a roll-back or a lost connection gives back what they had. */
#include <stdio.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"

#define ME "'018f0000-0000-7000-8000-00000000000a'"
#define CLAIM(count) "select count(*) from outbox_claim(" ME ", '30 s', " #count ")"
#define ACK_ALL                                                                                              \
    "select count(*) from outbox_ack(" ME ", array(select w from lease, _ids(items) w where owner = " ME ")" \
    ")"

/* A session that has claimed the oldest `count` messages and does not commit. */
static PGconn *open_claim(struct fixture *f, int count) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" ME ", '30 s', %d)", count), count);
    return conn;
}

static void assert_taken(struct fixture *f, const boxcar_work_id *ids, size_t count) {
    struct taken taken[20];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 20), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(taken[i].work_id.value, ids[i].value);
}

/* Some of the messages were put into the pool before, by a claim of one. */
static boxcar_work_id fill_pool(struct fixture *f, size_t count, boxcar_work_id *ret_ids) {
    boxcar_work_id first = enqueue(f, "t", "p").work_id;
    enqueue_many(f, "t", count, ret_ids);
    assert_true(ack(f, f->owner, take(f, f->owner, first)));
    assert_int_equal(fixture_sql_number(f, NULL, "select coalesce(sum(size), 0) from pool"), (int64_t)count);
    return first;
}

static void others_get_the_rest_at_once(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    enqueue_many(f, "t", 5, ids);
    PGconn *conn = open_claim(f, 2);
    assert_taken(f, ids + 2, 3);
    boxcar_work_id later = enqueue(f, "t", "p").work_id;
    take(f, f->owner, later);
    assert_nothing_claimable(f);
    PQfinish(conn);
}

static void others_get_the_rest_of_the_pool_at_once(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    fill_pool(f, 5, ids);
    PGconn *conn = open_claim(f, 2);
    assert_taken(f, ids + 2, 3);
    assert_nothing_claimable(f);
    PQfinish(conn);
}

static void rollback_gives_the_messages_back_without_an_attempt(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    enqueue_many(f, "t", 5, ids);
    PGconn *conn = open_claim(f, 2);
    assert_taken(f, ids + 2, 3);
    pg_exec(conn, "rollback");
    assert_taken(f, ids, 2);
    assert_int_equal(retry_count_of(f, ids[0]), 0);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from attempt"), 0);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

static void lost_connection_gives_the_messages_back(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    fill_pool(f, 5, ids);
    PGconn *conn = open_claim(f, 3);
    assert_taken(f, ids + 3, 2);
    PQfinish(conn);
    struct taken taken[3];
    size_t count = 0;
    for (int i = 0; count < 3 && i < 1000; i++) { /* the server needs a moment to notice */
        count += take_all(f, f->owner, 30000, taken + count, 3 - count);
        pause_ms(5);
    }
    assert_int_equal(count, 3);
    assert_int_equal(retry_count_of(f, ids[0]), 0);
}

static void savepoint_gives_its_claim_back(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    enqueue_many(f, "t", 4, ids);
    PGconn *conn = open_claim(f, 1);
    pg_exec(conn, "savepoint s");
    assert_int_equal(pg_number(conn, CLAIM(2)), 2);
    pg_exec(conn, "rollback to s");
    assert_taken(f, ids + 1, 3);
    assert_int_equal(pg_number(conn, ACK_ALL), 1);
    pg_exec(conn, "commit");
    assert_status(f, ids[0], BOXCAR_DONE);
    PQfinish(conn);
}

static void claim_ack_and_writes_are_one_transaction(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    enqueue_many(f, "t", 3, ids);
    PGconn *conn = open_claim(f, 2);
    assert_int_equal(pg_number(conn, ACK_ALL), 2);
    assert_taken(f, ids + 2, 1);
    pg_exec(conn, "commit");
    assert_status(f, ids[0], BOXCAR_DONE);
    assert_status(f, ids[1], BOXCAR_DONE);
    assert_nothing_claimable(f);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

/* A stream that somebody holds is nobody else's; all others go on, new ones too. BX-030, BX-060 */
static void streams_of_others_go_on(void **state) {
    struct fixture *f = *state;
    boxcar_work_id a[2], b1, c1;
    for (int i = 0; i < 2; i++)
        a[i] = enqueue_streamed(f, "a", "p").work_id;
    b1 = enqueue_streamed(f, "b", "p").work_id;
    fixture_sql_number(f, NULL,
                       "select count(*) from outbox_claim(" ME ", '30 s', 1, '{none}')"); /* sorts them */
    PGconn *conn = open_claim(f, 1);
    assert_int_equal(pg_number(conn, "select work_id from outbox where status = 'in_progress'"), a[0].value);
    assert_taken(f, &b1, 1);
    c1 = enqueue_streamed(f, "c", "p").work_id;
    assert_taken(f, &c1, 1);
    boxcar_work_id plain = enqueue(f, "t", "p").work_id;
    assert_taken(f, &plain, 1);
    pg_exec(conn, "rollback");
    assert_taken(f, a, 2);
    assert_nothing_claimable(f);
    PQfinish(conn);
}

/* Another claimer has the stream that waited longest: a claim of one message gets one of another stream.
 * BX-030 */
static void small_claims_find_streams_behind_a_held_one(void **state) {
    struct fixture *f = *state;
    static const char *const OTHERS[] = {"b", "c", "d", "e"};
    enqueue_streamed(f, "a", "p");
    for (int i = 0; i < 4; i++)
        enqueue_streamed(f, OTHERS[i], "p");
    fixture_sql_number(f, NULL,
                       "select count(*) from outbox_claim(" ME ", '30 s', 1, '{none}')"); /* sorts them */
    PGconn *conn = open_claim(f, 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(fixture_sql_number(
                             f, NULL, "select count(*) from outbox_claim(" ME ", '30 s', 1, alone => true)"),
                         1);
    pg_exec(conn, "rollback");
    PQfinish(conn);
}

/* BX-060: the next message of a stream comes when the one before is done, without claims of any other
 * kind. */
static void streams_are_handled_by_transactions_alone(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t done = 0;
    for (int i = 0; i < 12; i++)
        enqueue_streamed(f, i % 2 ? "odd" : "even", "p");
    for (int i = 0; i < 20 && done < 12; i++) {
        pg_exec(conn, "begin");
        assert_int_equal(pg_number(conn, "select 1"), 1); /* by now it is not the first statement */
        pg_number(conn, CLAIM(3));
        assert_int_equal(
            pg_number(conn, "select count(*) from outbox o join outbox e on e.stream = o.stream and "
                            "e.work_id < o.work_id where o.status = 'in_progress' and e.status = 'ready'"),
            0);
        done += pg_number(conn, ACK_ALL);
        pg_exec(conn, "commit");
    }
    assert_int_equal(done, 12);
    assert_int_equal(pg_number(conn, "select count(*) from parked"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from stream"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from stream_violation"), 0);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

/* Its own locks do not stop a transaction; what it has claimed before does. BX-002, BX-030 */
static void claims_of_one_transaction_bring_different_messages(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[8];
    fill_pool(f, 5, ids);
    enqueue_many(f, "t", 3, ids + 5);
    PGconn *conn = open_claim(f, 2);
    assert_int_equal(pg_number(conn, CLAIM(2)), 2);
    assert_int_equal(pg_number(conn, ACK_ALL), 4);
    assert_int_equal(pg_number(conn, CLAIM(10)), 4);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'in_progress'"), 4);
    pg_exec(conn, "commit");
    assert_nothing_claimable(f);
    assert_int_equal(pg_number(conn, ACK_ALL), 4);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from pool"), 0);
    PQfinish(conn);
}

/* Nobody wants what is in the pool; what has to be sorted comes with the next claim all the same. BX-030 */
static void messages_beside_topics_that_nobody_wants_are_found(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("z", "p");
    fill_pool(f, 5, (boxcar_work_id[5]){0});
    message.ttl_ms = 3600000;
    enqueue_message(f, &message);
    PGconn *conn = fixture_connect(f);
    for (int i = 0; i < 2; i++) {
        pg_exec(conn, "begin");
        assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" ME ", '30 s', 1, '{z}')"), i);
        pg_exec(conn, "commit");
    }
    PQfinish(conn);
}

/* However many messages at the head of the pool are held. BX-030 */
static void small_claims_find_what_lies_behind_held_messages(void **state) {
    struct fixture *f = *state;
    static boxcar_work_id ids[200];
    fill_pool(f, 200, ids);
    PGconn *conn = open_claim(f, 150);
    for (int i = 0; i < 10; i++)
        assert_int_equal(fixture_sql_number(
                             f, NULL, "select count(*) from outbox_claim(" ME ", '30 s', 1, alone => true)"),
                         1);
    assert_in_range(fixture_sql_number(f, NULL, "select count(*) from pool where holder is not null"), 1, 10);
    pg_exec(conn, "rollback");
    assert_int_equal(
        fixture_sql_number(f, NULL, "select count(*) from outbox_claim(" ME ", '30 s', 1000, alone => true)"),
        190);
    PQfinish(conn);
}

/* What it released would be nobody's until it ends. BX-003, BX-030 */
static void expired_leases_are_left_to_others(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    enqueue_many(f, "t", 2, ids);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from outbox_claim(" ME ", '100 ms', 1)"),
                     1);
    wait_out(f, 100);
    PGconn *conn = open_claim(f, 1);
    assert_taken(f, ids, 1);
    pg_exec(conn, "commit");
    PQfinish(conn);
}

/* Whatever happens to the frontier and to the row of the pool meanwhile. */
static void committed_claim_is_a_lease_like_any_other(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[6];
    fill_pool(f, 3, ids);
    enqueue_many(f, "t", 3, ids + 3);
    PGconn *conn = open_claim(f, 5); /* from the pool, and from the log */
    assert_taken(f, ids + 5, 1);
    pg_exec(conn, "commit");
    assert_nothing_claimable(f);
    for (int i = 0; i < 5; i++)
        assert_status(f, ids[i], BOXCAR_IN_PROGRESS);
    assert_int_equal(pg_number(conn, ACK_ALL), 5);
    assert_nothing_claimable(f);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from pool"), 0);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

/* No other claimer moves the frontier: claimed messages are not looked through again. */
static void claimers_with_transactions_alone_come_through_the_log(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    enqueue_many(f, "t", 50, NULL);
    for (int i = 0; i < 10; i++) {
        pg_exec(conn, "begin");
        assert_int_equal(pg_number(conn, CLAIM(5)), 5);
        assert_int_equal(pg_number(conn, ACK_ALL), 5);
        pg_exec(conn, "commit");
    }
    assert_int_equal(pg_number(conn, CLAIM(5)), 0);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'done'"), 50);
    assert_int_equal(
        pg_number(conn, "select count(*) from _window(_frontier(0::smallint, 0::smallint), 100)"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from pool"), 0);
    PQfinish(conn);
}

/* Somebody has to sort what is not due, or expires; the end of the transaction does. */
static void what_needs_sorting_is_found_by_the_next_claim(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    boxcar_new_message message = new_message("t", "p");
    message.due_at = database_now(f) + 3600 * INT64_C(1000000);
    enqueue_message(f, &message);
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, CLAIM(5)), 0);
    pg_exec(conn, "commit");
    assert_int_equal(pg_number(conn, "select count(*) from parked"), 1);
    PQfinish(conn);
}

static void claim_takes_topics_as_any_other(void **state) {
    struct fixture *f = *state;
    boxcar_work_id mail = enqueue(f, "mail.a", "p").work_id;
    boxcar_work_id order = enqueue(f, "order.a", "p").work_id;
    boxcar_work_id second = enqueue(f, "mail.b", "p").work_id;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, "select sum(work_id) from outbox_claim(" ME ", '30 s', 5, '{mail.*}')"),
                     mail.value + second.value);
    take(f, f->owner, order);
    pg_exec(conn, "commit");
    assert_nothing_claimable(f);
    PQfinish(conn);
}

static void message_in_an_open_claim_cannot_be_cancelled(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    enqueue_many(f, "t", 2, ids);
    PGconn *conn = open_claim(f, 1);
    PGconn *other = fixture_connect(f);
    pg_fails(other, "55P03", "select outbox_cancel(%lld)", (long long)ids[0].value);
    pg_exec(other, "select outbox_cancel(%lld)", (long long)ids[1].value);
    pg_exec(conn, "rollback");
    pg_exec(other, "select outbox_cancel(%lld)", (long long)ids[0].value);
    assert_nothing_claimable(f);
    assert_dead(f, ids[0], BOXCAR_REASON_CANCELLED);
    PQfinish(conn);
    PQfinish(other);
}

/* Nor does a cancellation in an open transaction keep anybody waiting. BX-028 */
static void open_cancellation_delays_nobody(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    enqueue_many(f, "t", 3, ids);
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin; select outbox_cancel(%lld)", (long long)ids[0].value);
    assert_taken(f, ids + 1, 2);
    pg_exec(conn, "rollback");
    take(f, f->owner, ids[0]);
    PQfinish(conn);
}

/* Nor if claimers would have parked the message meanwhile. It comes back if that is rolled back. BX-028 */
static void open_cancellation_of_what_is_not_ready_delays_nobody(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (int i = 0; i < 4; i++) {
        boxcar_new_message message = new_message("t", "p");
        if (i % 2)
            message.ttl_ms = 3600000;
        else
            message.due_at = database_now(f) + 3600 * INT64_C(1000000);
        boxcar_work_id id = enqueue_message(f, &message).work_id, other = enqueue(f, "t", "p").work_id;
        pg_exec(conn, "begin; select outbox_cancel(%lld)", (long long)id.value);
        assert_taken(f, &other, 1);
        pg_exec(conn, i < 2 ? "rollback" : "commit");
        if (i == 1)
            take(f, f->owner, id);
        else
            assert_nothing_claimable(f);
        assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from pool"), 0);
        if (i == 0)
            pg_exec(conn, "select outbox_cancel(%lld)", (long long)id.value);
        if (i != 1)
            assert_dead(f, id, BOXCAR_REASON_CANCELLED);
        assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from dead join parked using (work_id)"),
                         0);
        assert_int_equal(audit_lost(f), 0);
    }
    PQfinish(conn);
}

/* Nor in a stream that claims have met. The canceller keeps that stream until its transaction ends, and no
 * other. BX-006, BX-028 */
static void open_cancellation_in_a_stream_delays_no_other_stream(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    boxcar_work_id a[2], b;
    for (int i = 0; i < 2; i++)
        a[i] = enqueue_streamed(f, "a", "p").work_id;
    fixture_sql_number(f, NULL,
                       "select count(*) from outbox_claim(" ME ", '30 s', 1, '{none}')"); /* meets them */
    pg_exec(conn, "begin; select outbox_cancel(%lld)", (long long)a[0].value);
    b = enqueue_streamed(f, "b", "p").work_id;
    assert_taken(f, &b, 1);
    assert_nothing_claimable(f);
    pg_exec(conn, "commit");
    assert_taken(f, a + 1, 1);
    assert_dead(f, a[0], BOXCAR_REASON_CANCELLED);
    assert_int_equal(audit_lost(f), 0);
    PQfinish(conn);
}

/* The same where all others claim inside transactions. BX-028, BX-030 */
static void cancellation_rolled_back_is_found_by_transactions_alone(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f), *canceller = fixture_connect(f);
    boxcar_new_message message = new_message("t", "p");
    message.ttl_ms = 3600000;
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    pg_exec(canceller, "begin; select outbox_cancel(%lld)", (long long)id.value);
    int64_t count = 0;
    for (int i = 0; i < 5 && count == 0; i++) {
        pg_exec(conn, "begin");
        count = pg_number(conn, CLAIM(5));
        pg_exec(conn, "commit");
        if (i == 1)
            pg_exec(canceller, "rollback");
        assert_true(i > 1 || count == 0);
    }
    assert_int_equal(count, 1);
    PQfinish(conn);
    PQfinish(canceller);
}

/* BX-002: the lease of an open claim is its claimer's, however long the transaction takes. */
static void ack_in_the_same_transaction_counts_after_the_lease(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" ME ", '100 ms', 1)"), 1);
    for (int i = 0; i < 4; i++) { /* others look at leases meanwhile, without bounds too */
        wait_out(f, 400);
        boxcar_work_id other = enqueue(f, "t", "p").work_id;
        assert_true(ack(f, f->owner, take(f, f->owner, other)));
    }
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_ack(" ME ", array[%lld])", (long long)id.value), 1);
    pg_exec(conn, "commit");
    assert_status(f, id, BOXCAR_DONE);
    assert_nothing_claimable(f);
    PQfinish(conn);
}

/* A claim that says that it is a transaction by itself, as the library does. Any role may say so that may
 * claim. */
#define CLAIM_AS_THE_LIBRARY                                                                                 \
    "select count(*) from _claim_numbered(0::smallint, " ME                                                  \
    ", '30 s', 2, null, null, false, true, null, false)"

/* BX-030 */
static void nobody_waits_for_a_claim_that_is_not_alone_though_it_says_so(void **state) {
    struct fixture *f = *state;
    static const char *const BEFORE[] = {"select pg_sleep(0.06)", "select pg_current_xact_id()"};
    for (int i = 0; i < 2; i++) {
        boxcar_work_id ids[5];
        enqueue_many(f, "t", 5, ids);
        PGconn *conn = fixture_connect(f);
        pg_exec(conn, "begin");
        pg_exec(conn, "%s", BEFORE[i]);
        assert_int_equal(pg_number(conn, CLAIM_AS_THE_LIBRARY), 2);
        assert_int_equal(pg_number(conn, "select count(*) from pg_locks where pid = pg_backend_pid() and "
                                         "relation = 'outbox_turn'::regclass"),
                         0);
        assert_int_equal(pg_number(conn, "select (current_setting('synchronous_commit') = 'on')::int"), 1);
        assert_taken(f, ids + 2, 3);
        pg_exec(conn, "commit");
        PQfinish(conn);
    }
}

/* If it comes first and the transaction goes on, the server ends that. */
static void claim_that_stays_is_ended_by_the_server(void **state) {
    struct fixture *f = *state;
    static const char IDLE[] =
        "select current_setting('idle_in_transaction_session_timeout')::interval = '5 s'";
    static const char LONG[] =
        "select coalesce(nullif(current_setting('transaction_timeout', true), '0')::interval <= '2 min', "
        "current_setting('server_version_num')::int < 170000)";
    enqueue(f, "t", "p");
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, CLAIM_AS_THE_LIBRARY), 1);
    assert_int_equal(pg_number(conn, "select count(*) from (%s) x(is_bounded) where is_bounded", IDLE), 1);
    assert_int_equal(pg_number(conn, "select count(*) from (%s) x(is_bounded) where is_bounded", LONG), 1);
    pg_exec(conn, "commit");
    assert_int_equal(pg_number(conn, "select count(*) from (%s) x(is_bounded) where is_bounded", IDLE), 0);
    PQfinish(conn);
}

/* A transaction that has made a claim as the library does, and whose `alone` was believed. It is not believed
 * if it begins too slowly, so it is tried again. */
static void begin_believed_claim(PGconn *conn, const char *before) {
    for (int i = 0; i < 100; i++) {
        pg_exec(conn, "begin; %s" CLAIM_AS_THE_LIBRARY, before);
        if (pg_number(conn, "select (current_setting('synchronous_commit') = 'off')::int") == 1)
            return;
        pg_exec(conn, "rollback");
    }
    fail_msg("no claim was believed to be alone");
}

static void assert_transaction_timeout(PGconn *conn, const char *wanted) {
    assert_int_equal(pg_number(conn, "select (current_setting('transaction_timeout') = '%s')::int", wanted),
                     1);
}

/* Statements without an end keep it open as well. Servers that know no such limit have none. BX-030 */
static void claim_that_stays_busy_is_ended_after_two_minutes(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    enqueue(f, "t", "p");
    if (pg_number(conn, "select current_setting('server_version_num')::int") < 170000) {
        pg_fails(conn, "42704", "set transaction_timeout = '2min'");
        begin_believed_claim(conn, "");
        assert_int_equal(
            pg_number(conn, "select (current_setting('transaction_timeout', true) is null)::int"), 1);
        PQfinish(conn);
        return;
    }
    begin_believed_claim(conn, "");
    assert_transaction_timeout(conn, "2min");
    pg_exec(conn, "rollback");
    assert_transaction_timeout(conn, "0");
    begin_believed_claim(
        conn, "set local transaction_timeout = '30s'; "); /* the caller's own, shorter or longer, stays */
    assert_transaction_timeout(conn, "30s");
    pg_exec(conn, "rollback; set transaction_timeout = '1h'");
    begin_believed_claim(conn, "");
    assert_transaction_timeout(conn, "1h");
    PQfinish(conn);
}

/* ---- stages (BX-063) ---- */

/* The flags that a claim inside a transaction sees, -1 = nothing was claimed. The transaction stays open. */
static int64_t stages_at_claim(PGconn *conn) {
    pg_exec(conn, "begin");
    return pg_number(conn, "select stages from outbox_claim(" ME ", '30 s', 1)");
}

static void record_inside(PGconn *conn, boxcar_work_id id, int stages) {
    assert_int_equal(pg_number(conn,
                               "select count(*) from outbox_record_stages(" ME ", array[%lld], stages => %d)",
                               (long long)id.value, stages),
                     1);
}

static void fail_and_replay(PGconn *conn, boxcar_work_id id, bool within_one_transaction) {
    if (!within_one_transaction)
        pg_exec(conn, "commit");
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_fail(" ME ", array[%lld])", (long long)id.value), 1);
    if (within_one_transaction)
        pg_exec(conn, "commit");
    assert_int_equal(pg_number(conn, "select dead_replay(array[%lld])", (long long)id.value), 1);
}

/* Plain and in a stream; the message fails in the transaction of its claim, or later. */
static void stages_recorded_inside_survive_a_replay(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        PGconn *conn = fixture_connect(f);
        boxcar_work_id id = (i & 1 ? enqueue_streamed(f, "s", "p") : enqueue(f, "t", "p")).work_id;
        fixture_sql_number(f, NULL,
                           "select count(*) from outbox_claim(" ME ", '30 s', 1, '{none}')"); /* sorts it */
        assert_int_equal(stages_at_claim(conn), BOXCAR_STAGE_STORED);
        record_inside(conn, id, BOXCAR_STAGE_PUBLISHED);
        fail_and_replay(conn, id, i & 2);
        assert_int_equal(stages_at_claim(conn), BOXCAR_STAGE_STORED + BOXCAR_STAGE_PUBLISHED);
        record_inside(conn, id, BOXCAR_STAGE_RECEPTOR_PROCESSED); /* they add up from one life to the next */
        fail_and_replay(conn, id, i & 2);
        assert_int_equal(stages_at_claim(conn),
                         BOXCAR_STAGE_STORED + BOXCAR_STAGE_PUBLISHED + BOXCAR_STAGE_RECEPTOR_PROCESSED);
        assert_int_equal(pg_number(conn, ACK_ALL), 1);
        pg_exec(conn, "commit");
        assert_int_equal(audit_lost(f), 0);
        PQfinish(conn);
    }
}

/* What was rolled back was never done: neither the next claim nor a replay sees it. */
static void stages_rolled_back_are_seen_by_no_replay(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        PGconn *conn = fixture_connect(f);
        boxcar_work_id id = (i ? enqueue_streamed(f, "s", "p") : enqueue(f, "t", "p")).work_id;
        fixture_sql_number(f, NULL,
                           "select count(*) from outbox_claim(" ME ", '30 s', 1, '{none}')"); /* sorts it */
        assert_int_equal(stages_at_claim(conn), BOXCAR_STAGE_STORED);
        record_inside(conn, id, BOXCAR_STAGE_PUBLISHED);
        pg_exec(conn, "rollback");
        assert_int_equal(stages_at_claim(conn), BOXCAR_STAGE_STORED);
        record_inside(conn, id, BOXCAR_STAGE_RECEPTOR_PROCESSED);
        pg_exec(conn, "savepoint s");
        record_inside(conn, id, BOXCAR_STAGE_EVENT_STORED);
        pg_exec(conn, "rollback to s");
        fail_and_replay(conn, id, true);
        assert_int_equal(stages_at_claim(conn), BOXCAR_STAGE_STORED + BOXCAR_STAGE_RECEPTOR_PROCESSED);
        assert_int_equal(pg_number(conn, ACK_ALL), 1);
        pg_exec(conn, "commit");
        PQfinish(conn);
    }
}

/* Whatever the caller sets for constraints, and when. BX-030 */
static void immediate_constraints_keep_nothing_from_others(void **state) {
    struct fixture *f = *state;
    static const char *const BEFORE[] = {"set constraints all immediate", "select 1", "select 1"};
    static const char *const AFTER[] = {
        "select 1", "set constraints all immediate",
        "do $$ begin for i in 1 .. 3 loop set constraints all immediate; end loop; end $$"};
    for (int i = 0; i < 3; i++) {
        boxcar_work_id ids[6];
        fill_pool(f, 3, ids);
        enqueue_many(f, "t", 3, ids + 3);
        PGconn *conn = fixture_connect(f);
        pg_exec(conn, "begin");
        pg_exec(conn, "%s", BEFORE[i]);
        assert_int_equal(pg_number(conn, CLAIM(2)), 2); /* from the pool ... */
        assert_int_equal(pg_number(conn, CLAIM(2)), 2); /* ... and from the log */
        pg_exec(conn, "%s", AFTER[i]);
        assert_taken(f, ids + 4, 2);
        pg_exec(conn, "commit");
        assert_int_equal(pg_number(conn, ACK_ALL), 4);
        assert_nothing_claimable(f);
        assert_int_equal(pg_number(conn, "select count(*) from pool"), 0);
        assert_int_equal(audit_lost(f), 0);
        PQfinish(conn);
    }
}

/* A claim that is the first statement and not the only one, of streams that nobody has sorted. BX-030, BX-060
 */
static void first_of_several_statements_keeps_no_turn(void **state) {
    struct fixture *f = *state;
    static const char *const ONE_MESSAGE[] = {"begin; " CLAIM(1), "begin; " CLAIM(1) "; select 1",
                                              "begin; select work_then_more()"};
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create function work_then_more() returns bigint language sql as $$ " CLAIM(1) " $$");
    for (int i = 0; i < 3; i++) {
        boxcar_work_id id = enqueue_streamed(f, "s", "p").work_id;
        pg_exec(conn, "%s", ONE_MESSAGE[i]);
        assert_int_equal(
            pg_number(conn, "select count(*) from pg_locks where relation = 'outbox_turn'::regclass"), 0);
        struct taken taken = take(f, f->owner, id);
        assert_true(ack(f, f->owner, taken));
        pg_exec(conn, "rollback");
    }
    pg_exec(conn, "drop function work_then_more()");
    enqueue_streamed(f, "s", "p");
    assert_int_equal(pg_number(conn, CLAIM(1)), 1); /* this one sorts */
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(others_get_the_rest_at_once),
    TEST(others_get_the_rest_of_the_pool_at_once),
    TEST(rollback_gives_the_messages_back_without_an_attempt),
    TEST(lost_connection_gives_the_messages_back),
    TEST(savepoint_gives_its_claim_back),
    TEST(claim_ack_and_writes_are_one_transaction),
    TEST(streams_of_others_go_on),
    TEST(small_claims_find_streams_behind_a_held_one),
    TEST(streams_are_handled_by_transactions_alone),
    TEST(claims_of_one_transaction_bring_different_messages),
    TEST(messages_beside_topics_that_nobody_wants_are_found),
    TEST(small_claims_find_what_lies_behind_held_messages),
    TEST(expired_leases_are_left_to_others),
    TEST(committed_claim_is_a_lease_like_any_other),
    TEST(claimers_with_transactions_alone_come_through_the_log),
    TEST(what_needs_sorting_is_found_by_the_next_claim),
    TEST(nobody_waits_for_a_claim_that_is_not_alone_though_it_says_so),
    TEST(claim_that_stays_is_ended_by_the_server),
    TEST(claim_that_stays_busy_is_ended_after_two_minutes),
    TEST(stages_recorded_inside_survive_a_replay),
    TEST(stages_rolled_back_are_seen_by_no_replay),
    TEST(first_of_several_statements_keeps_no_turn),
    TEST(immediate_constraints_keep_nothing_from_others),
    TEST(claim_takes_topics_as_any_other),
    TEST(message_in_an_open_claim_cannot_be_cancelled),
    TEST(open_cancellation_delays_nobody),
    TEST(open_cancellation_of_what_is_not_ready_delays_nobody),
    TEST(open_cancellation_in_a_stream_delays_no_other_stream),
    TEST(cancellation_rolled_back_is_found_by_transactions_alone),
    TEST(ack_in_the_same_transaction_counts_after_the_lease),
};

const struct suite CLAIM_INSIDE_SUITE = SUITE(TESTS);
