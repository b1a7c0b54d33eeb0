/* Messages that were buried while they lay beyond the frontier: cancelled, or expired before any claimer met them.
 * Claimers pass over them, at a cost that follows the work and not what was buried. */
#include "trap.h"

static const char HANDED_OUT[] = "a message that was buried is handed out";
static const char GROWS[] = "the frontier grows with what was buried";
static const char PILES_UP[] = "old rows of the frontier pile up";
static const char REMEMBERED[] = "what claimers came past is remembered for ever";
static const char STAYS_CAREFUL[] = "claims look for buried messages though there are none";
static const char PARKS[] = "a claim parks what it could leave";
static const char COSTS_MORE[] = "cancelling costs more the more was cancelled before";
static const char UNDER_THE_TURN[] = "somebody waits under the turn";

enum { MESSAGES = 600, PATIENCE_MS = 2000 };

/* Every other one has expired by now. */
static void enqueue_half_expired(PGconn *conn, int lane)
{
    sql_run(conn, "insert into message (message_id, box, lane, created_at, expires_at, topic, payload, stream) "
                  "select gen_random_uuid(), 0, %d, now(), case when i %% 2 = 0 then now() - interval '1 s' end, 't', "
                  "case when i %% 2 = 0 then 'expired' else 'live' end, case when %d = 1 then 's' || i %% 20 end "
                  "from generate_series(1, %d) i", lane, lane, MESSAGES);
}

static void expire(PGconn *conn, int lane)
{
    assert_int_equal(sql_number(conn, "select _expire_fresh(0::smallint, %d::smallint, %d)", lane, MESSAGES), MESSAGES / 2);
}

/* Claims and acks ten at most. Returns how many; -1: one of them had been buried, or was buried for the second time. */
static int claim_some(PGconn *conn)
{
    if (!same(sql_state(conn, "create temporary table got as select * from outbox_claim(" WORKER ", '30 s', 10)"), ""))
        return -1;
    int buried = (int)sql_number(conn, "select count(*) from got where payload <> 'live'");
    int got = (int)sql_number(conn, "select count(*) from got");
    sql_run(conn, "select outbox_ack(" WORKER ", array(select work_id from got))");
    sql_run(conn, "drop table got");
    return buried ? -1 : got;
}

/* The same until there are no more. */
static int claim_all(PGconn *conn)
{
    int claimed = 0, got;
    while ((got = claim_some(conn)) > 0)
        claimed += got;
    return got < 0 ? -1 : claimed;
}

/* BX-005, BX-020 */
static const char *expired_between_others(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    enqueue_half_expired(conn, 0);
    expire(conn, 0);
    int64_t before = sql_number(conn, "select max(pg_column_size(f.*)) from frontier f");
    if (before > 500)
        return GROWS;
    int claimed = claim_some(conn);
    if (sql_number(conn, "select count(*) from parked") > 0)
        return claimed < 0 || sql_number(conn, "select count(*) from parked join dead using (work_id)") > 0 ? HANDED_OUT : PARKS;
    assert_int_equal(claimed, 10);
    assert_int_equal(claim_all(conn), MESSAGES / 2 - 10);
    if (sql_number(conn, "select count(*) from frontier_skip") > 0)
        return REMEMBERED;
    assert_int_equal(sql_number(conn, "select lost from audit()"), 0);
    return NULL;
}

/* BX-005, BX-006 */
static const char *expired_in_streams(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    enqueue_half_expired(conn, 1);
    expire(conn, 1);
    int claimed = claim_all(conn);
    if (claimed < 0 || sql_number(conn, "select count(*) from parked join dead using (work_id)") > 0)
        return HANDED_OUT;
    assert_int_equal(claimed, MESSAGES / 2);
    return sql_number(conn, "select count(*) from frontier_skip") > 0 ? REMEMBERED : NULL;
}

/* Plain messages, so that nothing but the cancelling tells them from others. BX-020, BX-028 */
static const char *cancelled(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', case when i %% 2 = 0 then 'cancelled' else 'live' end) from generate_series(1, 600) i");
    sql_run(conn, "select outbox_cancel(work_id) from message where payload = 'cancelled'");
    if (sql_number(conn, "select count(*) from frontier where lane = 0") > 200)
        return PILES_UP;
    assert_int_equal(sql_number(conn, "select count(*) from outbox where status = 'ready'"), 300);
    assert_int_equal(sql_number(conn, "select _is_drained(0::smallint, '{other}', '{}', '1 s')::int"), 1);
    int claimed = claim_all(conn);
    if (claimed < 0)
        return HANDED_OUT;
    assert_int_equal(claimed, 300);
    assert_int_equal(sql_number(conn, "select _is_drained(0::smallint, null, null, '1 s')::int"), 1);
    sql_enqueue(conn, "live");
    assert_int_equal(claim_all(conn), 1);
    return same(sql_text(conn, "select skip::text from _frontier(0::smallint, 0::smallint)"), "{}") ? NULL : STAYS_CAREFUL;
}

/* Every other one of them, a transaction each, so that they are no run of numbers. */
static void cancel_up_to(PGconn *conn, int *next, int last)
{
    for (; *next < last; *next += 2)
        sql_run(conn, "select outbox_cancel(%d)", *next);
}

/* The least of a few: now and then one of them trims the frontier, or splits a page. */
static int64_t pages_of_a_cancellation(PGconn *conn, int *next)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 5; i++, *next += 2) {
        int64_t pages = sql_pages(conn, "select outbox_cancel(%d)", *next);
        least = pages < least ? pages : least;
    }
    return least;
}

/* BX-028 */
static const char *cancelled_one_by_one(struct fixture *f)
{
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
static const char *nothing_but_cancelled(struct fixture *f)
{
    static const char NOT_DRAINED[] = "a store with nothing but buried messages is not drained";
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "plain");
    sql_enqueue_streamed(conn, "s", "streamed");
    sql_run(conn, "select outbox_cancel(work_id) from message");
    if (sql_number(conn, "select _is_drained(0::smallint, null, null, '1 s')::int") != 1)
        return NOT_DRAINED;
    return sql_number(conn, "select count(*) from outbox where status = 'ready'") == 0 ? NULL : "one message is shown twice";
}

/* One who removes a dead letter has not committed yet: claims go past it, and do not wait for him. BX-020, BX-025 */
static const char *purged_meanwhile(struct fixture *f)
{
    PGconn *purger = sql_connect(f), *claimer = sql_connect(f);
    sql_run(claimer, "select enqueue('t', 'cancelled') from generate_series(1, 2)");
    sql_run(claimer, "select outbox_cancel(1), outbox_cancel(2)");
    assert_int_equal(sql_number(purger, "select dead_purge(array[1])"), 1);
    sql_enqueue(claimer, "live");
    sql_run(purger, "begin");
    assert_int_equal(sql_number(purger, "select dead_purge(array[2])"), 1);
    sql_send(claimer, CLAIM(WORKER, "'30 s'", "10"));
    bool waits = !sql_is_answered(claimer, PATIENCE_MS);
    sql_run(purger, "commit");
    const char *got = sql_answer(claimer);
    if (waits)
        return UNDER_THE_TURN;
    if (!same(got, "live"))
        return HANDED_OUT;
    return sql_number(claimer, "select count(*) from frontier_skip") > 0 ? REMEMBERED : NULL;
}

/* Cancelled ahead of the frontier, replayed, done and removed before any claimer came past it. BX-025, BX-026 */
static const char *done_ahead(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "live");
    sql_run(conn, "select outbox_cancel(1)");
    sql_run(conn, "select dead_replay(array[1])");
    assert_int_equal(sql_number(conn, "select count(*) from outbox_claim(" WORKER ", '30 s', 1)"), 1);
    assert_int_equal(sql_number(conn, "select count(*) from outbox_ack(" WORKER ", array[1])"), 1);
    assert_int_equal(sql_number(conn, "select count(*) from frontier_skip"), 1);
    sql_run(conn, "insert into setting (name, number) values ('retention_done', 0)");
    assert_int_equal(sql_number(conn, "select purged_done from _maintain(0::smallint)"), 1);
    return sql_number(conn, "select count(*) from frontier_skip") > 0 ? REMEMBERED : NULL;
}

static const struct trap TRAPS[] = {
    {"claims_pass_over_what_expired_between_others", expired_between_others,
     {{"the look at what was buried", "_sort_fresh",
       "not exists (select from :\"schema\".frontier_skip k where k.work_id = m.work_id)", "true", HANDED_OUT},
      {"forgetting it", "_pass_over", "x.work_id = any (ids)", "false", REMEMBERED},
      {"stopping where enough is found", "_sort_fresh",
       "select c.* from counted c where c.served < wanted or c.go and c.served = wanted",
       "select c.work_id, c.topic, c.due_at, c.expires_at, c.n, c.go and c.served <= wanted as go, "
       "least(c.served, wanted) as served from counted c", PARKS},
      {"a table for it", "_bury_fresh", "f.skip := '{(,)}';", "f.skip := :\"schema\"._multirange(ids);", GROWS}}},
    {"claims_pass_over_what_expired_in_streams", expired_in_streams,
     {{"the look at what was buried", "_sort_streams",
       "not exists (select from :\"schema\".frontier_skip k where k.work_id = i.id)", "true", HANDED_OUT},
      {"forgetting it", "_sort_streams", "perform :\"schema\"._pass_over(w.ids);", "", REMEMBERED}}},
    {"claims_pass_over_what_was_cancelled", cancelled,
     {{"the look at what was buried", "_claim_fresh", "and f.skip = '{}'", "", HANDED_OUT},
      {"saying that there are some", "_bury_fresh", "f.skip := '{(,)}';", "", HANDED_OUT},
      {"saying that there are no more", "_still_skips", "and not exists", "and false and not exists", STAYS_CAREFUL},
      {"trimming", "_add_frontier", "if f.seq % 64 = 0 then", "if false then", PILES_UP}}},
    {"cancelling_costs_the_same_however_many_were_cancelled", cancelled_one_by_one,
     {{"a table for it", "_bury_fresh", "f.skip := '{(,)}';", "f.skip := f.skip + :\"schema\"._multirange(ids);", COSTS_MORE},
      {"the index of dead letters", "_cancel", "where i.work_id = id;",
       "where i.work_id = id and (select count(*) from :\"schema\".dead d where d.work_id > 0) >= 0;", COSTS_MORE}}},
    {"what_was_cancelled_is_nothing_to_wait_for", nothing_but_cancelled,
     {{"the look at what was buried", "_has_fresh", "select from :\"schema\".frontier_skip k where k.work_id = x.work_id",
       "select where false", "a store with nothing but buried messages is not drained"},
      {"the look in streams", "_has_fresh_streamed",
       "select from :\"schema\".frontier_skip k where k.work_id = w.work_id", "select where false",
       "a store with nothing but buried messages is not drained"}}},
    {"a_message_that_is_being_removed_is_not_waited_for", purged_meanwhile,
     {{"skip locked", "_pass_over", "for update skip locked", "for update", UNDER_THE_TURN},
      {"forgetting it", "_dead_purge", "delete from :\"schema\".frontier_skip s where s.work_id = any (gone);", "",
       REMEMBERED}}},
    {"a_message_that_was_done_ahead_of_the_frontier_is_forgotten_with_it", done_ahead,
     {{"forgetting it", "_purge_done", "delete from :\"schema\".frontier_skip s where s.work_id = any (gone);", "",
       REMEMBERED}}},
};

const struct trap_group SKIP_TRAPS = TRAP_GROUP("skip", TRAPS);
