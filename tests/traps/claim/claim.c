/* The claim itself: isolation, clock, epochs, and the shares of a batch. */
#include <stdio.h>
#include <stdlib.h>

#include "trap.h"

enum { PATIENCE_MS = 3500 };

static const char *refusal(PGconn *conn, const char *isolation) {
    sql_run(conn, "begin isolation level %s", isolation);
    const char *state = sql_state(conn, CLAIM(WORKER, "'30 s'", "10"));
    sql_run(conn, "rollback");
    return state;
}

/* BX-020 */
static const char *isolation(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "a");
    if (!same(refusal(conn, "repeatable read"), "BX004") || !same(refusal(conn, "serializable"), "BX004"))
        return "a claim ran with an old snapshot";
    return same(sql_claim(conn, 10), "a") ? NULL : "a refused claim took the message";
}

/* BX-002, BX-009 */
static const char *clock_after_turn(struct fixture *f) {
    PGconn *holder = sql_connect(f), *claimer = sql_connect(f);
    sql_enqueue(holder, "a");
    sql_enqueue(holder, "b");
    sql_run(holder, "begin");
    assert_string_equal(sql_claim(holder, 2), "a,b");
    PGconn *observer = sql_connect(f);
    sql_enqueue(observer, "c");
    sql_send(claimer, "select locked_until - interval '30 s' from _claim_by_topics(0::smallint, " OTHER_WORKER
                      ", '30 s', 1, null, true)");
    sql_wait_blocked(observer, claimer);
    const char *released = sql_text(observer, "select clock_timestamp()");
    sql_run(holder, "commit");
    const char *started = sql_answer(claimer);
    return same(sql_text(observer, "select '%s'::timestamptz >= '%s'::timestamptz", started, released), "t")
               ? NULL
               : "the lease began before its turn";
}

static int64_t claim_epoch(PGconn *conn) {
    return sql_number(conn,
                      "select epoch from _claim_by_topics(0::smallint, " WORKER ", '30 s', 1, null, true)");
}

/* A crash may lose the last claims, since they are not waited for; what was settled by then was
 * not lost with them. BX-002 */
static const char *lost_claim(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "a");
    sql_enqueue(conn, "b");
    assert_true(claim_epoch(conn) > 0);
    int64_t lost = claim_epoch(conn);
    assert_int_equal(
        sql_number(
            conn,
            "with l as (delete from lease where epoch = %lld returning items), "
            "p as (insert into pool (box, topic, size, items) select 0, 't', 1, items from l returning 1) "
            "select count(*) from p",
            (long long)lost),
        1);
    int64_t next = claim_epoch(conn);
    if (sql_number(conn,
                   "select count(*) from outbox_ack(" WORKER ", array(select max(work_id) from message), "
                   "array[%lld])",
                   (long long)lost) > 0)
        return "a lost lease settles the next one";
    return next > lost ? NULL : "an epoch was given out twice";
}

/* The clock of the database was ahead once. BX-002 */
static const char *clock_set_back(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    for (const char *name = "abc"; *name; name++)
        sql_run(conn, "select enqueue('t', '%c')", *name);
    int64_t last = claim_epoch(conn);
    last += INT64_C(3600000000);
    sql_run(conn, "update frontier set epoch = %lld where epoch > 0", (long long)last);
    for (int i = 0; i < 2; i++) {
        int64_t next = claim_epoch(conn);
        if (next <= last)
            return "an epoch is lower than one before";
        last = next;
    }
    return NULL;
}

static void make_parked(PGconn *conn, int count) {
    for (int i = 0; i < count; i++)
        sql_run(conn, "select enqueue('t', 'parked')");
    assert_int_equal(sql_number(conn,
                                "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                ", '30 s', %d, null, true)",
                                count),
                     count);
    sql_run(conn, "select outbox_abandon(" WORKER ", array(select work_id from message), delay => '0')");
}

static void make_fresh(PGconn *conn, int count) {
    sql_run(conn, "select enqueue('t', 'fresh') from generate_series(1, %d)", count);
}

/* While somebody else has the turn, parked work is served without it: epochs rise there too, and do
 * not run into those of the claim that is still open. BX-002, BX-020 */
static const char *clock_set_back_without_turn(struct fixture *f) {
    PGconn *holder = sql_connect(f), *claimer = sql_connect(f);
    make_parked(holder, 4);
    sql_run(holder, "update frontier set epoch = epoch + 3600000000 where epoch > 0");
    sql_run(holder, "begin");
    assert_true(claim_epoch(holder) > 0);
    sql_send(claimer,
             "select epoch from _claim_by_topics(0::smallint, " OTHER_WORKER ", '30 s', 10, null, true)");
    const char *answer = sql_answer(claimer); /* nothing is an answer too */
    if (same(answer, "(55P03)"))
        return "a claim waits for another's transaction";
    if (answer[0] == '(')
        return "a claim failed";
    int64_t without_turn = strtoll(answer, NULL, 10);
    sql_run(holder, "commit");
    make_fresh(holder, 1);
    return claim_epoch(holder) > without_turn ? NULL : "an epoch was given out twice";
}

static int claim_parked(PGconn *conn, int batch_size) {
    const char *counts = sql_text(conn,
                                  "select count(*) || ' ' || count(*) filter (where payload = 'parked') "
                                  "from _claim_by_topics(0::smallint, " WORKER ", '30 s', %d, null, true)",
                                  batch_size);
    int all = 0, parked = 0;
    assert_int_equal(sscanf(counts, "%d %d", &all, &parked), 2);
    assert_int_equal(all, batch_size);
    return parked;
}

static const char PARKED_FIRST[] = "parked work crowds out fresh work";
static const char FRESH_FIRST[] = "fresh work crowds out parked work";

/* BX-020 */
static const char *halves(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    make_parked(conn, 40);
    make_fresh(conn, 40);
    for (int batch = 10; batch <= 13; batch++) {
        int parked = claim_parked(conn, batch);
        if (parked > (batch + 1) / 2)
            return PARKED_FIRST;
        if (batch - parked > (batch + 1) / 2)
            return FRESH_FIRST;
    }
    return NULL;
}

/* BX-020 */
static const char *batches_of_one(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    make_parked(conn, 10);
    make_fresh(conn, 10);
    int last = claim_parked(conn, 1);
    for (int i = 0; i < 8; i++) {
        int parked = claim_parked(conn, 1);
        if (parked == last)
            return parked ? PARKED_FIRST : FRESH_FIRST;
        last = parked;
    }
    return NULL;
}

/* A half that one side cannot fill is the other's. BX-020 */
static const char *rest_of_a_batch(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    make_parked(conn, 2);
    make_fresh(conn, 12);
    int64_t count = sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                     ", '30 s', 14, null, true)");
    make_parked(conn, 12);
    make_fresh(conn, 2);
    count += sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                              ", '30 s', 14, null, true)");
    return count == 28 ? NULL : "a batch was not filled";
}

#define EPOCH "return now_us - now_us % 64 + number % 64;"
#define SHARE "wanted / 2 + (wanted % 2) * ((claims + 1) % 2)::int"

static const struct trap TRAPS[] = {
    {"a_claim_refuses_to_run_with_an_old_snapshot",
     isolation,
     {{"the look at the isolation level", "_before_claim",
       "current_setting('transaction_isolation') <> 'read committed'", "false",
       "a claim ran with an old snapshot"}}},
    {"a_lease_begins_when_its_turn_has_come",
     clock_after_turn,
     {{"reading the clock under the turn", "_claim_fresh", "ts := clock_timestamp();", "",
       "the lease began before its turn"}}},
    {"the_epoch_of_a_claim_lost_in_a_crash_is_not_used_again",
     lost_claim,
     {{"the clock in the epoch", "_epoch", EPOCH, "return last + 1;", "a lost lease settles the next one"}}},
    {"epochs_rise_when_the_clock_is_set_back",
     clock_set_back,
     {{"the last time of a turn", "_epoch", "if now_us < last then", "if false then",
       "an epoch is lower than one before"}}},
    {"epochs_rise_without_the_turn_when_the_clock_is_set_back",
     clock_set_back_without_turn,
     {{"the count of claims", "_epoch", "last + 1 + number % 65536", "last + 1",
       "a claim waits for another's transaction"}}},
    {"a_batch_is_half_parked_and_half_fresh_when_both_wait",
     halves,
     {{"the share of parked work", "_claim_items", SHARE, "wanted", "parked work crowds out fresh work"},
      {"the share of fresh work", "_claim_items", SHARE, "0", "fresh work crowds out parked work"}}},
    {"batches_of_one_are_parked_and_fresh_in_turn",
     batches_of_one,
     {{"turns", "_claim_items", SHARE, "wanted / 2", "fresh work crowds out parked work"},
      {"turns the other way", "_claim_items", SHARE, "(wanted + 1) / 2",
       "parked work crowds out fresh work"}}},
    {"a_batch_is_filled_from_whatever_waits",
     rest_of_a_batch,
     {{"the second look at the log", "_claim_items", "exit when total < wanted - share;", "exit;",
       "a batch was not filled"},
      {"the rest for parked work", "_claim_items", "wanted - total, claims % 4", "share, claims % 4",
       "a batch was not filled"}}},
};

const struct trap_group CLAIM_TRAPS = TRAP_GROUP(TRAPS);
