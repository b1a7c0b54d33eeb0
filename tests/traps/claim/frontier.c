/* The frontier: what becomes visible late, or to its own transaction, or lies far behind. */
#include <stdio.h>

#include "mutate.h"
#include "trap.h"

static const char LOST[] = "a message was lost";
static const char SORTED_TWICE[] = "claimers come past a message twice";

/* Messages of other transactions move the frontier past a writer that is still at work. */
static void move_frontier(PGconn *conn, int times) {
    for (int i = 0; i < times; i++) {
        sql_enqueue(conn, "early");
        assert_string_equal(sql_claim(conn, 10), "early");
    }
}

static void fill_log(PGconn *conn, int count) {
    sql_run(conn,
            "insert into message (message_id, box, lane, created_at, topic, payload) "
            "select gen_random_uuid(), 0, 0, now(), 't', 'p' from generate_series(1, %d)",
            count);
}

/* BX-001, BX-020 */
static const char *late_commit(struct fixture *f) {
    PGconn *writer = sql_connect(f), *others = sql_connect(f);
    sql_run(writer, "begin");
    sql_enqueue(writer, "late");
    move_frontier(others, 3);
    sql_run(writer, "commit");
    if (!same(sql_text(others, "select status from outbox where payload = 'late'"), "ready"))
        return "the late message does not show as ready";
    return same(sql_claim(others, 10), "late") ? NULL : LOST;
}

/* A late transaction larger than what a claim comes past: the window is cut inside it. BX-001, BX-020 */
static const char *late_commit_in_parts(struct fixture *f) {
    PGconn *writer = sql_connect(f), *others = sql_connect(f);
    sql_run(writer, "begin");
    fill_log(writer, 2500);
    move_frontier(others, 2);
    sql_run(writer, "commit");
    int64_t count = 0;
    for (int i = 0; i < 30; i++)
        count += sql_number(others, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                    ", '30 s', 100, null, true)");
    return count == 2500 ? NULL : LOST;
}

/* The older writer commits last. BX-001, BX-020 */
static const char *late_commits_in_any_order(struct fixture *f) {
    PGconn *first = sql_connect(f), *second = sql_connect(f), *others = sql_connect(f);
    sql_run(first, "begin");
    sql_enqueue(first, "first");
    sql_run(second, "begin");
    sql_enqueue(second, "second");
    move_frontier(others, 2);
    sql_run(second, "commit");
    if (!same(sql_claim(others, 10), "second"))
        return LOST;
    move_frontier(others, 2);
    sql_run(first, "commit");
    return same(sql_claim(others, 10), "first") ? NULL : LOST;
}

/* BX-001, BX-006, BX-060 */
static const char *late_commit_of_a_stream(struct fixture *f) {
    PGconn *writer = sql_connect(f), *others = sql_connect(f);
    sql_run(writer, "begin");
    sql_enqueue_streamed(writer, "s", "late");
    for (int i = 0; i < 3; i++) {
        sql_enqueue_streamed(others, "other", "early");
        assert_string_equal(sql_claim(others, 10), "early");
        sql_run(others, "select outbox_ack(" WORKER ", array(select max(work_id) from message))");
    }
    sql_run(writer, "commit");
    return same(sql_claim(others, 10), "late") ? NULL : LOST;
}

/* Write, move the frontier, enqueue, commit. BX-001 */
static const char *own_transaction(struct fixture *f) {
    PGconn *conn = sql_connect(f), *others = sql_connect(f);
    sql_run(conn, "begin");
    sql_run(conn, "select pg_current_xact_id()");
    sql_enqueue(others, "early"); /* so that our own id lies inside the snapshot */
    sql_run(conn,
            "do $$ begin perform _turn(0::smallint, true); perform _fill_pool(0::smallint); end $$"); /* as at
                                                                                                   the end of
                                                                                                   a claim */
    sql_enqueue(conn, "own"); /* as by a trigger that comes after that */
    sql_run(conn, "commit");
    sql_claim(others, 10);
    sql_claim(others, 10);
    return sql_number(others, "select count(*) from lease l cross join _ids(l.items)") == 2 ? NULL : LOST;
}

static const char IDLE_READS[] = "a claim that finds nothing reads the log from its start";
static const char WINDOW_READS[] = "a look through an empty window reads the log from its start";

enum {
    BEHIND = 20000,
    BATCH = 10,
    READS_MAX = 5000,
    TRIAL_READS_MAX = 15000
}; /* a claim that fills the pool reads 1,000 messages */

static int64_t claim_reads(PGconn *conn) {
    sql_run(conn, "begin");
    int64_t before =
        sql_reads(conn, "message_fresh") + sql_reads(conn, "message_pkey") + sql_reads(conn, "message");
    sql_run(conn, CLAIM(WORKER, "'30 s'", "%d"), BATCH);
    int64_t after =
        sql_reads(conn, "message_fresh") + sql_reads(conn, "message_pkey") + sql_reads(conn, "message");
    sql_run(conn, "commit");
    return after - before;
}

static void finish_log(PGconn *conn) {
    do
        sql_run(conn, "select count(*) from outbox_ack(" WORKER ", array(select _ids(items) from lease))");
    while (!same(sql_claim(conn, 10000), ""));
}

/* BX-020 */
static const char *long_log(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    fill_log(conn, BEHIND);
    finish_log(conn);
    sql_run(conn, NO_FULL_LOOK);
    if (claim_reads(conn) > READS_MAX)
        return IDLE_READS;
    sql_run(conn, FULL_LOOK); /* it takes the turn, and looks through the window */
    if (claim_reads(conn) > READS_MAX)
        return WINDOW_READS;
    fill_log(conn, BEHIND); /* one transaction: the position moves along inside it */
    for (int i = 0; i < 3; i++)
        if (claim_reads(conn) > READS_MAX)
            return "a claim reads the log from its start";
    finish_log(conn);
    sql_enqueue(conn, "last");
    return claim_reads(conn) > READS_MAX ? "a claim reads the log from its start" : NULL;
}

/* Nothing comes from the log, and a parked message is found. Any look counts as a cheap one, however busy the
 * machine. BX-020 */
static const char *full_look(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    mutate(f, &(const struct mutation){
                  .function = "_move_frontier", .piece = "2 milliseconds", .instead = "1 hour"});
    sql_park(conn, "p");
    sql_run(conn, "update frontier set look_at = '-infinity'");
    assert_string_equal(sql_claim(conn, 1), "p");
    return sql_number(
               conn,
               "select count(*) from frontier where box = 0 and lane = 0 and look_at > clock_timestamp()") > 0
               ? NULL
               : "a full look that found something is not noted";
}

static int64_t trial_reads(PGconn *conn) {
    sql_run(conn, "begin");
    int64_t before =
        sql_reads(conn, "message_fresh") + sql_reads(conn, "message_pkey") + sql_reads(conn, "message");
    assert_int_equal(
        sql_number(conn, "select count(*) from _try_claim(0::smallint) where had_turn and failure is null"),
        1);
    int64_t after =
        sql_reads(conn, "message_fresh") + sql_reads(conn, "message_pkey") + sql_reads(conn, "message");
    sql_run(conn, "rollback");
    return after - before;
}

/* The doctor's claim keeps the turn while it looks. BX-020 */
static const char *doctors_claim(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    fill_log(conn, BEHIND);
    return trial_reads(conn) > TRIAL_READS_MAX
               ? "the doctor's claim looks through the log while all others wait"
               : NULL;
}

/* More messages than a claim sorts at once, of two topics; the last ones are due later. One is cancelled, and
 * the cancellation commits while a claimer sorts, after it has seen how far it comes: the window has one
 * message more then, behind that. BX-001, BX-020, BX-028 */
static const char *left_while_sorted(struct fixture *f) {
    static const struct mutation WAIT = {.function = "_come_past",
                                         .piece = "select * into sorted from",
                                         .instead =
                                             "perform pg_advisory_xact_lock(7); select * into sorted from"};
    PGconn *conn = sql_connect(f), *canceller = sql_connect(f), *claimer = sql_connect(f);
    mutate(f, &WAIT);
    sql_run(conn, "insert into message (message_id, box, lane, created_at, topic, payload, due_at) "
                  "select gen_random_uuid(), 0, 0, now(), 't' || i %% 2, 'p', case when i > 1000 then now() "
                  "+ interval '1 hour' end "
                  "from generate_series(1, 1010) i");
    sql_run(conn, "select pg_advisory_lock(7)");
    sql_run(canceller, "begin");
    sql_run(canceller, "select outbox_cancel(1)");
    sql_send(claimer, CLAIM(WORKER, "'30 s'", "1"));
    sql_wait_blocked(conn, claimer);
    sql_run(canceller, "commit");
    sql_run(conn, "select pg_advisory_unlock(7)");
    assert_string_equal(sql_answer(claimer), "p");
    if (!same(sql_state(claimer, CLAIM(WORKER, "'30 s'", "1000")), ""))
        return SORTED_TWICE;
    assert_int_equal(sql_number(conn, "select count(*) from parked"), 10);
    return NULL;
}

#define LATE                                                                                                 \
    "late := array(\n            select x from pg_snapshot_xip(f.base) x where x >= f.position_xid and "     \
    "pg_visible_in_snapshot(x, f.target));"

static const struct trap TRAPS[] = {
    {"a_message_committed_late_is_still_claimed",
     late_commit,
     {{"the look at transactions that were running", "_window", LATE, "late := '{}';", LOST}}},
    {"a_late_transaction_larger_than_a_batch_is_claimed_whole",
     late_commit_in_parts,
     {{"the look at transactions that were running", "_window", LATE, "late := '{}';", LOST},
      {"coming back to the one the window was cut in", "_window", "x >= f.position_xid", "x > f.position_xid",
       LOST}}},
    {"late_transactions_may_commit_in_any_order",
     late_commits_in_any_order,
     {{"the look at transactions that were running", "_window", LATE, "late := '{}';", LOST}}},
    {"a_streamed_message_committed_late_is_still_claimed",
     late_commit_of_a_stream,
     {{"the look at transactions that were running", "_window", LATE, "late := '{}';", LOST}}},
    {"a_message_enqueued_after_a_claim_in_the_same_transaction_is_claimed_later",
     own_transaction,
     {{"counting our own transaction as running", "_snapshot", "if own is null or",
       "if true or own is null or", LOST}}},
    {"a_claim_does_not_read_what_lies_behind_the_frontier",
     long_log,
     {{"the row comparison", "_window", "(m.xid, m.work_id) > (from_xid, from_id)",
       "(m.xid > from_xid or (m.xid = from_xid and m.work_id > from_id))", WINDOW_READS},
      {"the same in the look before", "_is_any_beyond", "(m.xid, m.work_id) > (from_xid, from_id)",
       "(m.xid > from_xid or (m.xid = from_xid and m.work_id > from_id))", IDLE_READS}}},
    {"the_doctors_claim_comes_past_a_few_thousand_messages",
     doctors_claim,
     {{"an end", "_try_claim", "perform :\"schema\"._refill(p_box, 1);",
       "perform :\"schema\"._claim_items(p_box, gen_random_uuid(), interval '1 second', 1, array['nobody'], "
       "null, true, null, "
       "true, 64 << 20);",
       "the doctor's claim looks through the log while all others wait"}}},
    {"a_full_look_that_found_something_is_noted",
     full_look,
     {{"knowing of a find", "_move_frontier", "not has_found", "true",
       "a full look that found something is not noted"}}},
    {"a_claimer_sorts_no_further_than_he_comes",
     left_while_sorted,
     {{"an end where it comes to", "_sort_window", "(w.xid, w.work_id) <= (last_xid, last_id)", "true",
       SORTED_TWICE}}},
};

const struct trap_group FRONTIER_TRAPS = TRAP_GROUP(TRAPS);
