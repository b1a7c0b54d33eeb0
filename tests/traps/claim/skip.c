/* Messages that were buried before any claimer had them, beyond the frontier or in the pool: cancelled, or
 * expired. They leave their lane, and claimers pass over them, at a cost that follows the work and not what
 * was buried. */
#include "trap.h"

static const char HANDED_OUT[] = "a message that was buried is handed out";
static const char PILES_UP[] = "old rows of the frontier pile up";
static const char PARKS[] = "a claim parks what was buried";
static const char REMEMBERED[] = "what was buried stays in the pool for ever";
static const char COSTS_MORE[] = "cancelling costs more the more was cancelled before";
static const char SOMEBODY_WAITS[] = "a claim waits for a transaction that removes a message";

enum { MESSAGES = 600, PATIENCE_MS = 1000 };

/* Every other one has expired by now. */
static void enqueue_half_expired(PGconn *conn, int lane) {
    sql_run(
        conn,
        "insert into message (message_id, box, lane, created_at, expires_at, topic, payload, stream) "
        "select gen_random_uuid(), 0, %d, now(), case when i %% 2 = 0 then now() - interval '1 s' end, 't', "
        "case when i %% 2 = 0 then 'expired' else 'live' end, case when %d = 1 then 's' || i %% 20 end "
        "from generate_series(1, %d) i",
        lane, lane, MESSAGES);
}

static void expire(PGconn *conn, int lane) {
    assert_int_equal(sql_number(conn, "select _expire_fresh(0::smallint, %d::smallint, %d)", lane, MESSAGES),
                     MESSAGES / 2);
}

/* Claims and acks ten at most. Returns how many; -1: one of them had been buried, or was buried for the
 * second time. */
static int claim_some(PGconn *conn) {
    if (!same(sql_state(conn, CLAIM(WORKER, "'30 s'", "10")), ""))
        return -1;
    sql_run(conn, "create temporary table got as select m.* from lease l cross join _ids(l.items) i join "
                  "message m on m.work_id = i "
                  "where l.owner = " WORKER);
    int buried = (int)sql_number(conn, "select count(*) from got where payload <> 'live'");
    int got = (int)sql_number(conn, "select count(*) from got");
    sql_run(conn, "select outbox_ack(" WORKER ", array(select work_id from got))");
    sql_run(conn, "drop table got");
    return buried ? -1 : got;
}

/* The same until there are no more. */
static int claim_all(PGconn *conn) {
    int claimed = 0, got;
    while ((got = claim_some(conn)) > 0)
        claimed += got;
    return got < 0 ? -1 : claimed;
}

/* BX-005, BX-020 */
static const char *expired_between_others(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    enqueue_half_expired(conn, 0);
    expire(conn, 0);
    int claimed = claim_some(conn);
    if (sql_number(conn, "select count(*) from parked") > 0)
        return claimed < 0 || sql_number(conn, "select count(*) from parked join dead using (work_id)") > 0
                   ? HANDED_OUT
                   : PARKS;
    assert_int_equal(claimed, 10);
    assert_int_equal(claim_all(conn), MESSAGES / 2 - 10);
    assert_int_equal(sql_number(conn, "select lost from audit()"), 0);
    return NULL;
}

/* BX-005, BX-006 */
static const char *expired_in_streams(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    enqueue_half_expired(conn, 1);
    expire(conn, 1);
    int claimed = claim_all(conn);
    if (claimed < 0 || sql_number(conn, "select count(*) from parked join dead using (work_id)") > 0)
        return HANDED_OUT;
    assert_int_equal(claimed, MESSAGES / 2);
    return NULL;
}

/* Plain messages, so that nothing but the cancelling tells them from others. BX-020, BX-028 */
static const char *cancelled(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', case when i %% 2 = 0 then 'cancelled' else 'live' end) from "
                  "generate_series(1, 600) i");
    sql_run(conn, "select outbox_cancel(work_id) from message where payload = 'cancelled'");
    int ready = (int)sql_number(conn, "select count(*) from outbox where status = 'ready'");
    assert_int_equal(sql_number(conn, "select _is_drained(0::smallint, '{other}', '{}', '1 s')::int"), 1);
    int claimed = claim_all(conn);
    if (claimed < 0)
        return HANDED_OUT;
    assert_int_equal(ready, 300);
    assert_int_equal(claimed, 300);
    assert_int_equal(sql_number(conn, "select _is_drained(0::smallint, null, null, '1 s')::int"), 1);
    for (int i = 0; i < 300; i++) {
        sql_enqueue(conn, "live");
        assert_int_equal(claim_some(conn), 1);
    }
    return sql_number(conn, "select count(*) from frontier where lane = 0") > 200 ? PILES_UP : NULL;
}

/* Every other one of them, a transaction each, so that they are no run of numbers. */
static void cancel_up_to(PGconn *conn, int *next, int last) {
    for (; *next < last; *next += 2)
        sql_run(conn, "select outbox_cancel(%d)", *next);
}

/* The least of a few: now and then one of them trims the frontier, or splits a page. */
static int64_t pages_of_a_cancellation(PGconn *conn, int *next) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < 5; i++, *next += 2) {
        int64_t pages = sql_pages(conn, "select outbox_cancel(%d)", *next);
        least = pages < least ? pages : least;
    }
    return least;
}

/* BX-028 */
static const char *cancelled_one_by_one(struct fixture *f) {
    enum { MORE = 15 }; /* a level more in some indexes */
    PGconn *conn = sql_connect(f);
    int next = 1;
    sql_run(conn, "select enqueue('t', 'live') from generate_series(1, 4000)");
    sql_run(conn, "set synchronous_commit = off");
    cancel_up_to(conn, &next, 100);
    int64_t early = pages_of_a_cancellation(conn, &next);
    cancel_up_to(conn, &next, 3000);
    return pages_of_a_cancellation(conn, &next) > early + MORE ? COSTS_MORE : NULL;
}

/* Those that are left are nothing to wait for. BX-028 */
static const char *nothing_but_cancelled(struct fixture *f) {
    static const char NOT_DRAINED[] = "a store with nothing but buried messages is not drained";
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "plain");
    sql_enqueue_streamed(conn, "s", "streamed");
    sql_run(conn, "select outbox_cancel(work_id) from message");
    if (sql_number(conn, "select _is_drained(0::smallint, null, null, '1 s')::int") != 1)
        return NOT_DRAINED;
    return sql_number(conn, "select count(*) from outbox where status = 'ready'") == 0
               ? NULL
               : "one message is shown twice";
}

/* The messages are in the pool when they are cancelled, and a transaction that removes a dead letter has not
 * committed yet: claims pass it and do not wait. BX-020, BX-025, BX-028 */
static const char *cancelled_in_the_pool(struct fixture *f) {
    PGconn *purger = sql_connect(f), *claimer = sql_connect(f);
    sql_run(claimer, "select enqueue('t', 'cancelled') from generate_series(1, 4)");
    assert_string_equal(sql_claim(claimer, 1), "cancelled");
    assert_int_equal(sql_number(claimer, "select sum(size) from pool"), 3);
    sql_run(claimer, "select outbox_cancel(2), outbox_cancel(3)");
    assert_int_equal(sql_number(purger, "select dead_purge(array[2])"), 1);
    sql_run(claimer, "update message set payload = 'live' where work_id = 4");
    sql_run(purger, "begin");
    assert_int_equal(sql_number(purger, "select dead_purge(array[3])"), 1);
    sql_send(claimer, CLAIM(WORKER, "'30 s'", "10"));
    bool waits = !sql_is_answered(claimer, PATIENCE_MS);
    sql_run(purger, "commit");
    const char *got = sql_answer(claimer);
    if (waits)
        return SOMEBODY_WAITS;
    if (!same(got, "live"))
        return HANDED_OUT;
    return sql_number(claimer, "select count(*) from pool") > 0 ? REMEMBERED : NULL;
}

#define TAKING_OUT(verdict)                                                                                  \
    {                                                                                                        \
        "taking them out of the lane", "_bury_fresh", "perform :\"schema\"._leave_out(p_box, ids);", "",     \
            verdict                                                                                          \
    }

static const struct trap TRAPS[] = {
    {"claims_pass_over_what_expired_between_others", expired_between_others, {TAKING_OUT(HANDED_OUT)}},
    {"claims_pass_over_what_expired_in_streams", expired_in_streams, {TAKING_OUT(HANDED_OUT)}},
    {"claims_pass_over_what_was_cancelled",
     cancelled,
     {TAKING_OUT(HANDED_OUT),
      {"trimming", "_add_frontier", "if f.seq % 64 = 0 then", "if false then", PILES_UP}}},
    {"cancelling_costs_the_same_however_many_were_cancelled",
     cancelled_one_by_one,
     {{"the index of dead letters", "_cancel", "where i.work_id = id and i.reader = p_box;",
       "where i.work_id = id and i.reader = p_box and (select count(*) from :\"schema\".dead d where "
       "d.work_id > 0) >= 0;",
       COSTS_MORE}}},
    {"what_was_cancelled_is_nothing_to_wait_for",
     nothing_but_cancelled,
     {TAKING_OUT("a store with nothing but buried messages is not drained")}},
    {"what_was_cancelled_in_the_pool_is_passed_over",
     cancelled_in_the_pool,
     {TAKING_OUT(REMEMBERED),
      {"looking at the lane", "_leave_held", "met.n <> total or met.touched", "false", HANDED_OUT},
      {"passing over what is locked", "_sidestep",
       "m.work_id = any (others) and m.lane = 0 for update skip locked",
       "m.work_id = any (others) for update", SOMEBODY_WAITS}}},
};

const struct trap_group SKIP_TRAPS = TRAP_GROUP(TRAPS);
