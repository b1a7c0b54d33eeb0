/* Transactions that overlap, which only PostgreSQL has. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"

#define WORKER "'00000000-0000-7000-8000-000000000001'"

static int64_t claim_one(PGconn *conn) {
    return pg_number(conn, "select work_id from outbox_claim(" WORKER ", '1 minute', 1)");
}

static void finish_statement(PGconn *conn) {
    PGresult *result = PQgetResult(conn);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    assert_null(PQgetResult(conn));
}

/* BX-006 */
static void stream_goes_on_when_a_cancel_waited_for_its_heads_settlement(void **state) {
    struct fixture *f = *state;
    PGconn *first = fixture_connect(f), *second = fixture_connect(f);
    int64_t ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = pg_number(first, "select work_id from enqueue('t', 'p', stream => 's')");
    assert_int_equal(claim_one(first), ids[0]);

    pg_exec(first, "begin");
    pg_exec(first, "select outbox_abandon(" WORKER ", array[%lld], null, 'x', '0 s')", (long long)ids[0]);
    char cancel[64];
    snprintf(cancel, sizeof(cancel), "select outbox_cancel(%lld)", (long long)ids[1]);
    assert_true(PQsendQuery(second, cancel));
    PGconn *watcher = fixture_connect(f);
    pg_await_blocked(watcher, second);
    pg_exec(first, "commit");
    finish_statement(second);

    assert_int_equal(claim_one(first), ids[0]);
    PQfinish(watcher);
    PQfinish(second);
    PQfinish(first);
}

/* BX-002, BX-028: also for a message that was cancelled before any claim came to it, and replayed. */
static void cancel_that_waited_for_a_claim_comes_too_late(void **state) {
    struct fixture *f = *state;
    PGconn *first = fixture_connect(f), *second = fixture_connect(f), *watcher = fixture_connect(f);
    int64_t id = pg_number(first, "select work_id from enqueue('t', 'p')");
    char cancel[64];
    snprintf(cancel, sizeof(cancel), "select outbox_cancel(%lld)", (long long)id);
    pg_exec(first, "%s", cancel);
    pg_exec(first, "select dead_replay(array[%lld])", (long long)id);
    pg_exec(first, "begin");
    assert_int_equal(claim_one(first), id);
    assert_true(PQsendQuery(second, cancel));
    pg_await_blocked(watcher, second);
    pg_exec(first, "commit");
    PGresult *result = PQgetResult(second);
    assert_int_equal(PQresultStatus(result), PGRES_FATAL_ERROR);
    assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "40001"); /* and then it says why */
    PQclear(result);
    assert_null(PQgetResult(second));
    assert_int_equal(pg_number(first, "select count(*) from dead"), 0);
    assert_int_equal(pg_number(first, "select count(*) from outbox where status = 'in_progress'"), 1);
    PQfinish(watcher);
    PQfinish(second);
    PQfinish(first);
}

/* BX-006 */
static void stream_with_a_leased_message_hands_out_no_earlier_one_that_came_late(void **state) {
    struct fixture *f = *state;
    PGconn *slow = fixture_connect(f), *fast = fixture_connect(f);
    pg_exec(slow, "begin");
    int64_t late = pg_number(slow, "select work_id from enqueue('t', 'late', stream => 's')");
    int64_t leased = pg_number(fast, "select work_id from enqueue('t', 'p', stream => 's')");
    int64_t behind = pg_number(fast, "select work_id from enqueue('t', 'p', stream => 's')");
    assert_int_equal(claim_one(fast), leased);
    pg_exec(slow, "commit");
    assert_int_equal(claim_one(fast), -1);
    pg_exec(fast, "select outbox_cancel(%lld)", (long long)behind);
    assert_int_equal(claim_one(fast), -1);
    pg_exec(fast, "select outbox_ack(" WORKER ", array[%lld])", (long long)leased);
    assert_int_equal(claim_one(fast), late);
    PQfinish(slow);
    PQfinish(fast);
}

/* BX-006, BX-025 */
static void replayed_message_goes_before_a_head_that_waits(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t first = pg_number(conn, "select work_id from enqueue('t', 'p', stream => 's')");
    int64_t second = pg_number(conn, "select work_id from enqueue('t', 'p', stream => 's')");
    assert_int_equal(claim_one(conn), first);
    pg_exec(conn, "select outbox_fail(" WORKER ", array[%lld])", (long long)first);
    assert_int_equal(claim_one(conn), second);
    pg_exec(conn, "select outbox_abandon(" WORKER ", array[%lld], null, 'x', '1 hour')", (long long)second);
    assert_int_equal(claim_one(conn), -1);
    pg_exec(conn, "select dead_replay(array[%lld])", (long long)first);
    assert_int_equal(claim_one(conn), first);
    PQfinish(conn);
}

/* BX-006 */
static void earlier_message_that_came_late_goes_before_a_head_that_is_not_due(void **state) {
    struct fixture *f = *state;
    PGconn *slow = fixture_connect(f), *fast = fixture_connect(f);
    pg_exec(slow, "begin");
    int64_t late = pg_number(slow, "select work_id from enqueue('t', 'late', stream => 's')");
    pg_exec(fast, "select enqueue('t', 'p', stream => 's', due_at => now() + interval '1 hour')");
    assert_int_equal(claim_one(fast), -1);
    pg_exec(slow, "commit");
    assert_int_equal(claim_one(fast), late);
    PQfinish(slow);
    PQfinish(fast);
}

/* BX-028, BX-004 */
static void message_cancelled_by_the_transaction_that_enqueued_it_is_never_claimed(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin");
    pg_exec(conn, "select outbox_cancel((select work_id from enqueue('t', 'p', stream => 's')))");
    pg_exec(conn, "select outbox_cancel((select work_id from enqueue('t', 'p')))");
    assert_int_equal(claim_one(conn), -1);
    pg_exec(conn, "commit");
    assert_int_equal(claim_one(conn), -1);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'failed'"), 2);
    PQfinish(conn);
}

/* BX-002 */
static void ack_takes_what_a_renewal_split_off_while_it_waited(void **state) {
    struct fixture *f = *state;
    PGconn *first = fixture_connect(f), *second = fixture_connect(f), *watcher = fixture_connect(f);
    pg_exec(first, "select enqueue('t', 'p') from generate_series(1, 4)");
    pg_exec(first, "select outbox_claim(" WORKER ", '1 minute', 4)");
    pg_exec(first, "begin");
    pg_exec(first, "select outbox_renew(" WORKER ", '{2,3,4}', null, '2 minutes')");
    assert_true(PQsendQuery(second, "select array_agg(i) = '{1,2}' from outbox_ack(" WORKER ", '{1,2}') i"));
    pg_await_blocked(watcher, second);
    pg_exec(first, "commit");
    PGresult *result = PQgetResult(second);
    assert_string_equal(PQgetvalue(result, 0, 0), "t");
    PQclear(result);
    assert_null(PQgetResult(second));
    PQfinish(watcher);
    PQfinish(second);
    PQfinish(first);
}

/* BX-020 */
static void messages_beyond_a_batch_stay_on_the_straight_path(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', 'p') from generate_series(1, 10)");
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" WORKER ", '1 minute', 5)"), 5);
    pg_exec(conn, "select enqueue('t', 'p') from generate_series(1, 1000)");
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" WORKER ", '1 minute', 50)"), 50);
    assert_int_equal(pg_number(conn, "select count(*) from parked"), 0);
    PQfinish(conn);
}

/* ---- keys of the inbox come before all other locks ---- */

/* Three steps of a join, all leased by the worker. */
static void take_three_steps(struct fixture *f, PGconn *conn) {
    char owner[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(f->owner.uuid, owner);
    pg_exec(conn, "select join_start(3)");
    pg_exec(
        conn,
        "select enqueue('t', 'p', join_id => (select join_id from outbox_join)) from generate_series(1, 3)");
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim('%s', '1 minute', 3)", owner), 3);
}

/* The holder of the key settles a step, too: the batch that waits for the key must not have locked that step.
 * There is nothing to wait for, and no time for a deadlock to be found and the batch to be repeated. */
static void settle_beside(struct fixture *f, PGconn *holder) {
    char owner[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(f->owner.uuid, owner);
    pg_exec(holder, "set local lock_timeout = '100 ms'");
    pg_exec(holder, "select outbox_ack('%s', '{3}')", owner);
    pg_exec(holder, "commit");
}

static void statement_waits_for_a_key_before_it_locks_anything_else(void **state) {
    struct fixture *f = *state;
    PGconn *holder = fixture_connect(f), *other = fixture_connect(f), *watcher = fixture_connect(f);
    char owner[BOXCAR_UUID_TEXT_SIZE], sql[400];
    take_three_steps(f, holder);
    boxcar_uuid_format(f->owner.uuid, owner);
    pg_exec(holder, "begin");
    pg_exec(holder, "select inbox_enqueue('bank', '1', 't', 'p')");
    snprintf(
        sql, sizeof(sql),
        "select header from process_work_batch('%s', '{\"outbox\": {\"acks\": [1], \"fails\": [2]}, "
        "\"inbox\": "
        "{\"messages\": [{\"source\": \"bank\", \"id\": \"1\", \"topic\": \"t\", \"payload\": \"p\"}]}}')",
        owner);
    assert_true(PQsendQuery(other, sql));
    pg_await_blocked(watcher, other);
    settle_beside(f, holder);
    PGresult *result = PQgetResult(other);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    assert_non_null(strstr(PQgetvalue(result, 0, 0), "\"duplicate\": true"));
    PQclear(result);
    assert_null(PQgetResult(other));
    assert_int_equal(pg_number(watcher, "select completed_steps from outbox_join"), 2);
    PQfinish(watcher);
    PQfinish(other);
    PQfinish(holder);
}

/* The same batch as the library sends it. */
struct sender {
    struct fixture *fixture;
    boxcar_status status;
    bool duplicate;
};

static void *send_batch_with_a_key(void *context) {
    struct sender *sender = context;
    boxcar_settlement items[2] = {BOXCAR_SETTLEMENT_INIT, BOXCAR_SETTLEMENT_INIT};
    boxcar_new_message in = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result;
    items[0].work_id.value = 1;
    items[1].work_id.value = 2;
    outbox.settle[BOXCAR_ACK] = (boxcar_settlement_list){&items[0], 1};
    outbox.settle[BOXCAR_FAIL] = (boxcar_settlement_list){&items[1], 1};
    in.source = BOXCAR_STR("bank");
    in.external_id = BOXCAR_STR("1");
    in.topic = in.payload = BOXCAR_STR("t");
    batch.owner = sender->fixture->owner;
    batch.parts[BOXCAR_OUTBOX] = &outbox;
    batch.messages[BOXCAR_INBOX] = (boxcar_new_message_list){&in, 1};
    sender->status = boxcar_process(sender->fixture->store, &batch, &result, &sender->fixture->err);
    if (sender->status != BOXCAR_OK)
        return NULL;
    sender->duplicate = result->enqueued[BOXCAR_INBOX].items[0]->duplicate;
    boxcar_result_free(result);
    return NULL;
}

static void batch_waits_for_a_key_before_it_locks_anything_else(void **state) {
    struct fixture *f = *state;
    PGconn *holder = fixture_connect(f), *watcher = fixture_connect(f);
    struct sender sender = {.fixture = f};
    pthread_t thread;
    take_three_steps(f, holder);
    pg_exec(holder, "begin");
    pg_exec(holder, "select inbox_enqueue('bank', '1', 't', 'p')");
    assert_int_equal(pthread_create(&thread, NULL, send_batch_with_a_key, &sender), 0);
    pg_await_blocking(watcher, holder);
    settle_beside(f, holder);
    pthread_join(thread, NULL);
    ASSERT_OK(f, sender.status);
    assert_true(sender.duplicate);
    assert_int_equal(pg_number(watcher, "select completed_steps from outbox_join"), 2);
    PQfinish(watcher);
    PQfinish(holder);
}

/* ---- a batch locks its streams in one order, whatever list they are in ---- */

static void *send_ack_and_defer(void *context) {
    struct sender *sender = context;
    boxcar_settlement items[2] = {BOXCAR_SETTLEMENT_INIT, BOXCAR_SETTLEMENT_INIT};
    boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result;
    items[0].work_id.value = 2;
    items[1].work_id.value = 1;
    outbox.settle[BOXCAR_ACK] = (boxcar_settlement_list){&items[0], 1};
    outbox.settle[BOXCAR_DEFER] = (boxcar_settlement_list){&items[1], 1};
    batch.owner = sender->fixture->owner;
    batch.parts[BOXCAR_OUTBOX] = &outbox;
    sender->status = boxcar_process(sender->fixture->store, &batch, &result, &sender->fixture->err);
    if (sender->status == BOXCAR_OK)
        boxcar_result_free(result);
    return NULL;
}

/* The holder of the first stream can have the second, too, as in settle_beside(). BX-006, BX-020 */
static void batch_that_waits_for_a_stream_holds_no_later_one(void **state) {
    struct fixture *f = *state;
    PGconn *holder = fixture_connect(f), *watcher = fixture_connect(f);
    struct sender sender = {.fixture = f};
    char owner[BOXCAR_UUID_TEXT_SIZE];
    pthread_t thread;
    boxcar_uuid_format(f->owner.uuid, owner);
    pg_exec(holder, "select enqueue('t', 'p', stream => 's' || i) from generate_series(1, 2) i");
    assert_int_equal(pg_number(holder, "select count(*) from outbox_claim('%s', '1 minute', 2)", owner), 2);
    pg_exec(holder, "begin");
    pg_exec(holder, "select from stream where key = 's1' for update");
    assert_int_equal(pthread_create(&thread, NULL, send_ack_and_defer, &sender), 0);
    pg_await_blocking(watcher, holder);
    pg_exec(holder, "set local lock_timeout = '100 ms'");
    pg_exec(holder, "select from stream where key = 's2' for update");
    pg_exec(holder, "commit");
    pthread_join(thread, NULL);
    ASSERT_OK(f, sender.status);
    assert_int_equal(pg_number(watcher, "select count(*) from lease"), 0);
    PQfinish(watcher);
    PQfinish(holder);
}

static const struct CMUnitTest TESTS[] = {
    TEST(earlier_message_that_came_late_goes_before_a_head_that_is_not_due),
    TEST(message_cancelled_by_the_transaction_that_enqueued_it_is_never_claimed),
    TEST(ack_takes_what_a_renewal_split_off_while_it_waited),
    TEST(messages_beyond_a_batch_stay_on_the_straight_path),
    TEST(cancel_that_waited_for_a_claim_comes_too_late),
    TEST(stream_goes_on_when_a_cancel_waited_for_its_heads_settlement),
    TEST(stream_with_a_leased_message_hands_out_no_earlier_one_that_came_late),
    TEST(replayed_message_goes_before_a_head_that_waits),
    TEST(batch_that_waits_for_a_stream_holds_no_later_one),
    TEST(statement_waits_for_a_key_before_it_locks_anything_else),
    TEST(batch_waits_for_a_key_before_it_locks_anything_else),
};

const struct suite OVERLAP_SUITE = SUITE(TESTS);
