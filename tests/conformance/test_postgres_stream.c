/* Streams under transactions that overlap, which only PostgreSQL has. */
#include <poll.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"

#define WORKER "'00000000-0000-7000-8000-000000000001'"

static int64_t claim_one(PGconn *conn) {
    return pg_number(conn, "select work_id from outbox_claim(" WORKER ", '1 minute', 1)");
}

/* Waits until the server shows this backend behind somebody's lock. */
static void wait_until_blocked(PGconn *watcher, int pid) {
    for (int i = 0; i < 500; i++) {
        if (pg_number(watcher, "select count(*) from pg_stat_activity where pid = %d and wait_event_type = 'Lock'",
                      pid) == 1)
            return;
        poll(NULL, 0, 10);
    }
    fail_msg("the statement never waited");
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
    wait_until_blocked(watcher, PQbackendPID(second));
    pg_exec(first, "commit");
    finish_statement(second);

    assert_int_equal(claim_one(first), ids[0]);
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

static const struct CMUnitTest TESTS[] = {
    TEST(stream_goes_on_when_a_cancel_waited_for_its_heads_settlement),
    TEST(stream_with_a_leased_message_hands_out_no_earlier_one_that_came_late),
    TEST(replayed_message_goes_before_a_head_that_waits),
};

const struct suite POSTGRES_STREAM_SUITE = SUITE("postgres_stream", TESTS, ON_POSTGRES);
