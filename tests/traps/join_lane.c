/* Large joins: counted in lanes beside each other while their end is far, by one at a time when it is near.
 * And spans: members that were enqueued together and are found together. */
#include "trap.h"

static const char MISCOUNTED[] = "a join did not count what had ended";
static const char LATE[] = "an ack in a large join was not counted because of another";
static const char CHANGED[] = "the counters of a join moved after its end";
static const char HANGS[] = "a call waits for another's open transaction";
static const char GREEDY[] = "a transaction counts more in lanes than others allow for";
static const char BLIND[] = "a transaction counted without seeing what others had";
static const char INEXACT[] = "spans cover others than their members";

enum { LARGE = 100000, PATIENCE_MS = 2500, BLOCK_TRIES = 2000, BLOCK_STEP_MS = 5 };

#define JOIN "(select join_id from join_row)"
#define STATUS "select status from outbox_join"
#define COUNTED "select completed_steps + failed_steps from outbox_join"
#define CLAIM_MANY "select count(*) from outbox_claim(" WORKER ", '30 s', %d, '{t}')"
#define ACK_WHERE(condition) \
    "select count(*) from outbox_ack(" WORKER \
    ", array(select work_id from message where topic = 't' and " condition "))"
#define ACK(payload) ACK_WHERE("payload = '" payload "'")
#define REPORT(payload) \
    "select join_report_completed(" JOIN ", (select message_id from message where payload = '" payload "'))"
#define UPKEEP "select _maintain(0::smallint)"

/* A join whose first members are the messages 1, 2, ..., each leased by itself. */
static void start(PGconn *conn, int expected, int members)
{
    sql_run(conn, "select join_start(%d)", expected);
    sql_run(conn, "select enqueue('t', i::text, join_id => " JOIN ") from generate_series(1, %d) i", members);
    for (int i = 0; i < members; i++)
        assert_int_equal(sql_number(conn, CLAIM_MANY, 1), 1);
}

/* Messages `first`, ..., `last` in one call, with ids made of their numbers; into the join, or of no join. */
static void enqueue_run(PGconn *conn, int first, int last, const char *join)
{
    sql_run(conn,
            "select count(*) from (select array_agg(md5(i::text)::uuid order by i) as ids, "
            "array_agg('t'::text) as t, "
            "array_agg(i::text order by i) as payloads, array_agg(%s) as joins from generate_series(%d, %d) "
            "i) a, "
            "_enqueue(0::smallint, ids, t, payloads, null, null, null, null, null, null, null, false, joins)",
            join, first, last);
}

/* A join of `steps` messages that were enqueued in one call and are leased together. */
static void start_run(PGconn *conn, int expected, int steps)
{
    sql_run(conn, "select join_start(%d)", expected);
    enqueue_run(conn, 1, steps, JOIN);
    assert_int_equal(sql_number(conn, CLAIM_MANY, steps), steps);
}

/* So many steps are left, as if others had counted all before. */
static void leave(PGconn *conn, int steps)
{
    sql_run(conn, "update join_progress set seq = seq + 1, completed_steps = %d where lane = 0",
            LARGE - steps);
}

/* Nobody gives up waiting: for scenarios in which somebody has to wait, however slow the machine. */
static void be_patient(PGconn *conn)
{
    sql_run(conn, "alter function _try_lock(uuid[], bigint[]) set lock_timeout = '60s'");
}

/* Whether what was sent on `conn` waits for a lock; false = it was answered. */
static bool is_held_up(PGconn *observer, PGconn *conn)
{
    for (int i = 0; i < BLOCK_TRIES; i++) {
        if (sql_is_answered(conn, BLOCK_STEP_MS))
            return false;
        if (sql_number(observer, "select count(*) from pg_locks where pid = %d and not granted",
                       PQbackendPID(conn)))
            return true;
    }
    fail_msg("the statement neither waits nor ends");
    return false;
}

/* Two acks of members of a large join: the second is counted while the first is not committed. BX-041,
 * JOIN-061 */
static const char *beside_each_other(struct fixture *f)
{
    PGconn *first = sql_connect(f), *second = sql_connect(f);
    start(first, LARGE, 3);
    sql_run(first, "begin");
    sql_run(first, ACK("1"));
    sql_run(second, ACK("2"));
    bool counted = sql_number(second, COUNTED) == 1;
    sql_run(first, "commit");
    sql_run(second, ACK("3"));
    sql_run(second, UPKEEP);
    assert_int_equal(sql_number(second, COUNTED), 3);
    return counted ? NULL : LATE;
}

/* The last two steps, acked at once: the second waits for the first, and ends the join. BX-007, JOIN-041 */
static const char *near_the_end(struct fixture *f)
{
    PGconn *first = sql_connect(f), *second = sql_connect(f), *observer = sql_connect(f);
    start(first, LARGE, 4);
    be_patient(first);
    sql_run(first, ACK("3")); /* both had lanes before, which is over */
    sql_run(second, ACK("4"));
    leave(first, 4);
    sql_run(first, "begin");
    sql_run(first, ACK("1"));
    sql_send(second, ACK("2"));
    (void)is_held_up(observer, second);
    sql_run(first, "commit");
    sql_answer(second);
    return same(sql_text(observer, STATUS), "completed") ? NULL : MISCOUNTED;
}

/* A connection whose lane of first choice is another one. */
static PGconn *connect_apart(struct fixture *f, PGconn *other)
{
    for (int i = 0; i < 16; i++) {
        PGconn *conn = sql_connect(f);
        if (PQbackendPID(conn) % 4 != PQbackendPID(other) % 4)
            return conn;
    }
    fail_msg("every session has the same lane");
    return NULL;
}

/* The end comes near while two wait for a lane that they may share no more. BX-007, JOIN-023, JOIN-041 */
static const char *nearer_while_waiting(struct fixture *f)
{
    PGconn *holder = sql_connect(f), *observer = sql_connect(f), *ackers[] = {sql_connect(f), NULL};
    ackers[1] = connect_apart(f, ackers[0]);
    start(holder, LARGE, 2);
    be_patient(holder);
    leave(holder, 8001);
    sql_run(holder, "begin");
    sql_run(holder,
            "select pg_advisory_xact_lock(_lane_key(" JOIN ", lane)) from generate_series(1, 4) lane");
    for (int i = 0; i < 2; i++) {
        sql_run(ackers[i], "begin");
        sql_send(ackers[i], "%s", i ? ACK("2") : ACK("1"));
        assert_true(is_held_up(observer, ackers[i]));
    }
    leave(holder, 2);
    sql_run(holder, "commit");
    int first = 0;
    for (int i = 0; i < BLOCK_TRIES && !sql_is_answered(ackers[first], BLOCK_STEP_MS); i++)
        first = !first;
    sql_answer(ackers[first]);
    (void)is_held_up(observer, ackers[!first]);
    sql_run(ackers[first], "commit");
    sql_answer(ackers[!first]);
    sql_run(ackers[!first], "commit");
    return same(sql_text(observer, STATUS), "completed") ? NULL : MISCOUNTED;
}

/* The end comes near while two are in lanes, with more to count: they do not ask for the whole join, where
 * each would wait for the other. BX-041, BX-047 */
static const char *nearer_while_counting(struct fixture *f)
{
    PGconn *ackers[] = {sql_connect(f), sql_connect(f)}, *other = sql_connect(f);
    bool counted = true;
    start(other, LARGE, 5);
    for (int i = 0; i < 2; i++) {
        sql_run(ackers[i], "begin");
        sql_run(ackers[i], "%s", i ? ACK("2") : ACK("1"));
    }
    leave(other, 5);
    for (int i = 0; i < 2; i++) {
        sql_run(ackers[i], "%s", i ? ACK("4") : ACK("3"));
        counted = counted && sql_number(ackers[i], COUNTED) == LARGE - 3;
    }
    for (int i = 0; i < 2; i++)
        sql_run(ackers[i], "commit");
    sql_run(other, UPKEEP);
    assert_int_equal(sql_number(other, COUNTED), LARGE - 1);
    sql_run(other, ACK("5"));
    assert_string_equal(sql_text(other, STATUS), "completed");
    return counted ? NULL : LATE;
}

/* What is rolled back to before a lane was taken has none. JOIN-023, JOIN-041 */
static const char *lane_given_up(struct fixture *f)
{
    PGconn *first = sql_connect(f), *second = sql_connect(f), *observer = sql_connect(f);
    start(first, LARGE, 3);
    be_patient(first);
    sql_run(first, "begin");
    sql_run(first, "savepoint before");
    sql_run(first, ACK("1"));
    sql_run(first, "rollback to before");
    leave(observer, 2);
    sql_run(first, ACK("2"));
    sql_send(second, ACK("3"));
    (void)is_held_up(observer, second);
    sql_run(first, "commit");
    sql_answer(second);
    return same(sql_text(observer, STATUS), "completed") ? NULL : MISCOUNTED;
}

/* A step that failed in a lane, before the others were completed. JOIN-041 */
static const char *failed_in_a_lane(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 2);
    sql_run(conn, "select outbox_fail(" WORKER ", array(select work_id from message where payload = '1'))");
    leave(conn, 2);
    sql_run(conn, ACK("2"));
    return same(sql_text(conn, STATUS), "failed") ? NULL : "a join completed with a failed step";
}

/* Reported by hand while the ack of the member is not committed: it has one outcome. BX-007, JOIN-022 */
static const char *reported_beside_its_ack(struct fixture *f)
{
    PGconn *acker = sql_connect(f), *reporter = sql_connect(f), *observer = sql_connect(f);
    start(acker, LARGE, 2);
    sql_run(acker, "begin");
    sql_run(acker, ACK_WHERE("true"));
    sql_send(reporter, REPORT("2"));
    (void)is_held_up(observer, reporter);
    sql_run(acker, "commit");
    bool counted = same(sql_answer(reporter), "t");
    return !counted && sql_number(observer, COUNTED) == 2 ? NULL : MISCOUNTED;
}

/* Ends a join while somebody's ack in a lane is not committed. */
static const char *ended_beside_a_lane(struct fixture *f, PGconn *ender, bool is_overdue, const char *ending)
{
    PGconn *acker = sql_connect(f), *observer = sql_connect(f);
    be_patient(ender);
    sql_run(acker, "begin");
    sql_run(acker, ACK("1"));
    if (is_overdue)
        sql_run(ender, "update join_row set deadline = created_at");
    sql_send(ender, "%s", ending);
    bool waits = is_held_up(observer, ender);
    int64_t before = sql_number(observer, COUNTED);
    sql_run(acker, "commit");
    sql_answer(ender);
    assert_string_not_equal(sql_text(observer, STATUS), "pending");
    int64_t after = sql_number(observer, COUNTED);
    assert_int_equal(after, 1);
    return waits || before == after ? NULL : CHANGED;
}

/* JOIN-042 */
static const char *cancelled_beside_a_lane(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 1);
    return ended_beside_a_lane(f, conn, false, "select join_cancel(" JOIN ")");
}

/* JOIN-042, BX-042 */
static const char *overdue_for_a_new_wait(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 1);
    return ended_beside_a_lane(f, conn, true, "select join_wait(" JOIN ", true, 'then', 'p')");
}

/* JOIN-042, BX-044 */
static const char *overdue_for_a_wait(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 1);
    sql_run(conn, "select join_wait(" JOIN ", true, 'then', 'p')");
    assert_int_equal(
        sql_number(conn, "select count(*) from outbox_claim(" WORKER ", '30 s', 1, '{join.wait}')"), 1);
    return ended_beside_a_lane(f, conn, true,
                               "select _resolve(0::smallint, " WORKER ", array(select work_id from message "
                               "where topic = 'join.wait'), null, array[" JOIN
                               "], '{f}', '{then}', '{p}', '{null}', "
                               "'{\"\"}', '{null}', array[md5('continuation')::uuid])");
}

/* JOIN-042 */
static const char *overdue_for_upkeep(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 1);
    return ended_beside_a_lane(f, conn, true, UPKEEP);
}

/* JOIN-042 */
static const char *overdue_for_an_ack(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 2);
    return ended_beside_a_lane(f, conn, true, ACK("2"));
}

/* Others allow for 2,000 steps that they cannot see, per lane. A transaction with more has the join to
 * itself. JOIN-023 */
static const char *more_than_its_share(struct fixture *f)
{
    PGconn *acker = sql_connect(f), *observer = sql_connect(f);
    start_run(acker, LARGE, 2001);
    sql_run(acker, "begin");
    assert_int_equal(sql_number(acker, ACK_WHERE("payload::int <= 2000")), 2000);
    int64_t locks_before =
        sql_number(observer, "select count(*) from pg_locks where pid = %d and locktype = 'advisory'",
                   PQbackendPID(acker));
    assert_int_equal(locks_before, 1);
    assert_int_equal(sql_number(acker, ACK("2001")), 1);
    int64_t locks =
        sql_number(observer, "select count(*) from pg_locks where pid = %d and locktype = 'advisory'",
                   PQbackendPID(acker));
    sql_run(acker, "commit");
    assert_int_equal(sql_number(observer, COUNTED), 2001);
    return locks == 4 ? NULL : GREEDY;
}

/* Others have counted in lanes since this snapshot was taken. JOIN-023, JOIN-061 */
static const char *old_snapshot(struct fixture *f)
{
    PGconn *old = sql_connect(f), *other = sql_connect(f);
    start(other, LARGE, 2);
    sql_run(old, "begin isolation level repeatable read");
    assert_int_equal(sql_number(old, COUNTED), 0);
    sql_run(other, ACK("1"));
    const char *state = sql_state(old, ACK("2"));
    sql_run(old, "rollback");
    if (!same(state, "40001"))
        return BLIND;
    sql_run(old, ACK("2"));
    assert_int_equal(sql_number(old, COUNTED), 2);
    return NULL;
}

/* Somebody stays in a lane for long while the others come to the end: they do not wait, and it ends with him.
 * BX-041, BX-047 */
static const char *end_beside_a_long_ack(struct fixture *f)
{
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    start(holder, LARGE, 2);
    sql_run(holder, "begin");
    sql_run(holder, ACK("1"));
    leave(acker, 2);
    sql_send(acker, ACK("2"));
    bool hangs = !sql_is_answered(acker, PATIENCE_MS);
    if (!hangs) {
        sql_answer(acker);
        sql_send(acker, UPKEEP);
        hangs = !sql_is_answered(acker, PATIENCE_MS);
    }
    sql_run(holder, "commit");
    sql_answer(acker);
    sql_run(acker, UPKEEP);
    return hangs ? HANGS : same(sql_text(acker, STATUS), "completed") ? NULL : MISCOUNTED;
}

/* Spans are as few as can be: each is a probe for those who ack. BX-047 */
static const char *few_spans(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    start_run(conn, 2000, 2000);
    return sql_number(conn, "select count(*) from join_span") == 2
               ? NULL
               : "neighbours have more spans than they need";
}

/* Members of a span, acked while somebody holds their join. BX-041, BX-042 */
static const char *span_put_off(struct fixture *f)
{
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    start_run(holder, 100, 100);
    assert_int_equal(sql_number(holder, "select count(*) from join_member where in_span"), 100);
    sql_run(holder, "begin");
    sql_run(holder, REPORT("50"));
    sql_run(acker, ACK_WHERE("payload <> '50'"));
    sql_run(holder, "commit");
    sql_run(acker, UPKEEP);
    return same(sql_text(acker, STATUS), "completed") && sql_number(acker, COUNTED) == 100 ? NULL
                                                                                           : MISCOUNTED;
}

/* A member of a span, put off, whose message is purged before it counts. */
static void purge_uncounted(PGconn *holder, PGconn *acker)
{
    start_run(holder, 100, 100);
    sql_run(acker, ACK_WHERE("payload <> '50'"));
    sql_run(holder, "begin");
    sql_run(holder, "select from join_row for no key update");
    sql_run(acker, ACK("50"));
    sql_run(acker, "insert into setting (name, number) values ('retention_done', 0)");
    sql_run(acker, UPKEEP);
    sql_run(acker, "delete from setting where name = 'retention_done'");
    sql_run(holder, "commit");
    assert_int_equal(sql_number(acker, "select count(*) from message"), 0);
    assert_int_equal(sql_number(acker, COUNTED), 99);
}

static const char *once_more(PGconn *conn)
{
    sql_run(conn, "update join_member set check_at = check_at - interval '2 hours'");
    sql_run(conn, UPKEEP);
    return same(sql_text(conn, STATUS), "completed") && sql_number(conn, COUNTED) == 100 ? NULL : MISCOUNTED;
}

/* It comes again under its id, and counts then. BX-026, BX-042 */
static const char *span_purged(struct fixture *f)
{
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    purge_uncounted(holder, acker);
    sql_run(acker, UPKEEP); /* notices that the message is gone */
    enqueue_run(acker, 50, 50, "null::uuid");
    assert_int_equal(sql_number(acker, CLAIM_MANY, 1), 1);
    sql_run(acker, ACK("50"));
    return once_more(acker);
}

/* The same before anybody noticed that it was gone. */
static const char *span_replaced(struct fixture *f)
{
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    purge_uncounted(holder, acker);
    enqueue_run(acker, 50, 50, "null::uuid");
    assert_int_equal(sql_number(acker, CLAIM_MANY, 1), 1);
    sql_run(acker, ACK("50"));
    return once_more(acker);
}

/* Some were members before, some were there before, one comes twice. JOIN-022, BX-042 */
static const char *span_with_holes(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select join_start(2500)");
    enqueue_run(conn, 150, 151, "null::uuid");
    sql_run(conn, "select join_attach(" JOIN ", md5(i::text)::uuid) from unnest('{20,21,22,2400}'::int[]) i");
    sql_run(
        conn,
        "select count(*) from (select array_agg(md5(i::text)::uuid order by n) as ids, "
        "array_agg('t'::text) as t, array_agg(i::text order by n) as payloads, array_agg(" JOIN ") as joins "
        "from (select n, case n when 2501 then 700 else n end as i from generate_series(1, 2501) n) n) a, "
        "_enqueue(0::smallint, ids, t, payloads, null, null, null, null, null, null, null, false, joins)");
    assert_int_equal(sql_number(conn, "select count(*) from join_member"), 2500);
    assert_true(sql_number(conn, "select count(*) from join_member where in_span") > 2000);
    int64_t wrong = sql_number(conn, "select count(*) from join_member m where m.in_span::int <> ("
                                     "select count(*) from join_span s where s.join_id = m.join_id "
                                     "and m.work_id between s.first_id and s.last_id)");
    int64_t more = sql_number(conn, "select (select sum(last_id - first_id + 1) from join_span) - count(*) "
                                    "from join_member where in_span");
    if (wrong > 0 || more != 0)
        return INEXACT;
    assert_true(sql_number(conn, "select max(last_id - first_id) from join_span") < 1000);
    assert_int_equal(sql_number(conn, CLAIM_MANY, 2500), 2500);
    sql_run(conn, ACK_WHERE("mod(payload::int, 2) = 1"));
    assert_int_equal(sql_number(conn, COUNTED), 1250);
    sql_run(conn, ACK_WHERE("mod(payload::int, 2) = 0"));
    return same(sql_text(conn, STATUS), "completed") && sql_number(conn, COUNTED) == 2500 ? NULL : MISCOUNTED;
}

#define NO_LANES(name, function, verdict) \
    { \
        name, function, "perform :\"schema\"._lock_lanes(p_join);", "", verdict \
    }

static const struct trap TRAPS[] = {
    {"members_of_a_large_join_are_counted_beside_each_other",
     beside_each_other,
     {{"lanes", "_may_share", "where j.last_lane > 0", "where false", LATE}}},
    {"large_join_is_counted_by_one_at_a_time_near_its_end",
     near_the_end,
     {{"the room", "_may_share", "> j.last_lane * 2000", "> 0", MISCOUNTED},
      {"giving lanes back", "_lock_join", ", p_join), true)", ", p_join), false)", MISCOUNTED}}},
    {"lane_that_was_waited_for_is_given_back_when_the_end_is_near",
     nearer_while_waiting,
     {{"looking again", "_lock_join", "if not :\"schema\"._may_share(p_join, p_steps) then",
       "if false then", MISCOUNTED}}},
    {"those_in_lanes_stay_there_when_the_end_comes_near",
     nearer_while_counting,
     {{"staying", "_may_share", " or :\"schema\"._has_lane(p_join)", "", LATE}}},
    {"lane_that_was_rolled_back_is_no_reason_to_share",
     lane_given_up,
     {{"knowing who has one", "_has_lane", "select coalesce(", "select true or coalesce(", MISCOUNTED}}},
    {"step_that_failed_in_a_lane_fails_the_join",
     failed_in_a_lane,
     {{"looking at every lane", "_end_joins", "generate_series(0, j.last_lane)", "generate_series(0, 0)",
       "a join completed with a failed step"}}},
    {"member_reported_beside_its_ack_counts_once",
     reported_beside_its_ack,
     {NO_LANES("the lanes", "_join_report", MISCOUNTED)}},
    {"cancelled_large_join_keeps_its_counters",
     cancelled_beside_a_lane,
     {NO_LANES("the lanes", "_join_cancel", CHANGED)}},
    {"large_join_that_a_new_wait_ends_keeps_its_counters",
     overdue_for_a_new_wait,
     {NO_LANES("the lanes", "_join_wait", CHANGED)}},
    {"large_join_that_a_wait_ends_keeps_its_counters",
     overdue_for_a_wait,
     {NO_LANES("the lanes", "_lock_join", CHANGED)}},
    {"large_join_that_upkeep_ends_keeps_its_counters",
     overdue_for_upkeep,
     {NO_LANES("the lanes", "_lock_join", CHANGED),
      {"locking", "_maintain_joins", ":\"schema\"._lock_in_time(locked)",
       "array_fill(0, array[cardinality(locked)])", CHANGED}}},
    {"large_join_that_an_ack_ends_keeps_its_counters",
     overdue_for_an_ack,
     {NO_LANES("the lanes", "_lock_join", CHANGED),
      {"the deadline", "_may_share", "coalesce(j.deadline > clock_timestamp(), true)", "true", CHANGED}}},
    {"transaction_counts_no_more_in_lanes_than_its_share",
     more_than_its_share,
     {{"adding up", "_may_share", "c.ours + p_steps", "p_steps", GREEDY}}},
    {"old_snapshot_does_not_count_in_a_large_join",
     old_snapshot,
     {{"the lock", "_lock_lanes", "where p.join_id = p_join for no key update", "where p.join_id = p_join",
       BLIND}}},
    {"end_of_a_large_join_is_counted_later_beside_a_long_ack",
     end_beside_a_long_ack,
     {{"the bound of the wait", "_try_lock", " SET lock_timeout TO '800ms'\n", "", HANGS},
      {"trying every lane", "_lock_in_time",
       "bool_and(pg_try_advisory_xact_lock(:\"schema\"._lane_key(f, lane)))", "true", MISCOUNTED},
      {"counting later", "_count_later", "set check_at = ts", "set check_at = null", MISCOUNTED}}},
    {"thousand_neighbours_are_one_span",
     few_spans,
     {{"counting from 0", "_attach_enqueued", "(r.n - 1) / 1000", "r.n / 1000",
       "neighbours have more spans than they need"}}},
    {"members_of_a_span_that_were_put_off_count_in_the_end",
     span_put_off,
     {{"looking into spans", "_count_later", "cross join generate_series(s.first_id, s.last_id) i",
       "cross join generate_series(s.first_id, s.first_id) i", MISCOUNTED}}},
    {"member_of_a_span_purged_uncounted_counts_when_it_comes_again",
     span_purged,
     {{"leaving the span", "_settle_joins", "else m.work_id is distinct from l.seen_id end", "else true end",
       MISCOUNTED}}},
    {"member_of_a_span_replaced_uncounted_counts",
     span_replaced,
     {{"leaving the span", "_settle_joins", "then m.work_id = l.work_id\n", "then true\n", MISCOUNTED}}},
    {"spans_cover_their_members_and_no_others",
     span_with_holes,
     {{"choosing", "_attach_enqueued", "from attached a where a.in_span", "from attached a", INEXACT},
      {"holes", "_attach_enqueued", "r.work_id - r.n, ", "", INEXACT}}},
};

const struct trap_group JOIN_LANE_TRAPS = TRAP_GROUP("join_lane", TRAPS);
