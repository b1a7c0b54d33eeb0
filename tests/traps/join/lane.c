/* Large joins: counted in parallel lanes while their end is far, by one transaction at a time when it is
 * near. */
#include "large_join.h"

static const char MISCOUNTED[] = "a join did not count what had ended";
static const char LATE[] = "an ack in a large join was not counted because of another";
static const char CHANGED[] = "the counters of a join moved after its end";
static const char HANGS[] = "a call waits for another's open transaction";
static const char GREEDY[] = "a transaction counts more in lanes than others allow for";
static const char BLIND[] = "a transaction counted without seeing what others had";

enum { LARGE = 100000, PATIENCE_MS = 2500, BLOCK_TRIES = 2000, BLOCK_STEP_MS = 5 };

/* A join whose first members are the messages 1, 2, ..., each leased by itself. */
static void start(PGconn *conn, int expected, int members) {
    sql_run(conn, "select join_start(%d)", expected);
    sql_run(conn, "select enqueue('t', i::text, join_id => " JOIN ") from generate_series(1, %d) i", members);
    for (int i = 0; i < members; i++)
        assert_int_equal(sql_number(conn, CLAIM_MANY, 1), 1);
}

/* Leaves this many steps, as if others had counted all before. */
static void leave(PGconn *conn, int steps) {
    sql_run(conn, "update join_progress set seq = seq + 1, completed_steps = %d where lane = 0",
            LARGE - steps);
}

/* Nobody gives up waiting: for scenarios in which somebody has to wait, however slow the machine. */
static void be_patient(PGconn *conn) {
    sql_run(conn, "alter function _lock_in_time(uuid[], bigint[]) set lock_timeout = '60s'");
}

/* Whether what was sent on `conn` waits for a lock; false = it was answered. */
static bool is_held_up(PGconn *observer, PGconn *conn) {
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
static const char *beside_each_other(struct fixture *f) {
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
static const char *near_the_end(struct fixture *f) {
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
static PGconn *connect_apart(struct fixture *f, PGconn *other) {
    for (int i = 0; i < 16; i++) {
        PGconn *conn = sql_connect(f);
        if (PQbackendPID(conn) % 4 != PQbackendPID(other) % 4)
            return conn;
    }
    fail_msg("every session has the same lane");
    return NULL;
}

/* The end comes near while two wait for a lane that they may share no more. BX-007, JOIN-023, JOIN-041 */
static const char *nearer_while_waiting(struct fixture *f) {
    PGconn *holder = sql_connect(f), *observer = sql_connect(f), *ackers[] = {sql_connect(f), NULL};
    ackers[1] = connect_apart(f, ackers[0]);
    start(holder, LARGE, 2);
    be_patient(holder);
    leave(holder, 8001);
    sql_run(holder, "begin");
    sql_run(holder, "select from join_progress where lane > 0 for no key update");
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
static const char *nearer_while_counting(struct fixture *f) {
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
static const char *lane_given_up(struct fixture *f) {
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
static const char *failed_in_a_lane(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 2);
    sql_run(conn, "select outbox_fail(" WORKER ", array(select work_id from message where payload = '1'))");
    leave(conn, 2);
    sql_run(conn, ACK("2"));
    return same(sql_text(conn, STATUS), "failed") ? NULL : "a join completed with a failed step";
}

/* Reported by hand while the ack of the member is not committed: it has one outcome. BX-007, JOIN-022 */
static const char *reported_beside_its_ack(struct fixture *f) {
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
static const char *ended_beside_a_lane(struct fixture *f, PGconn *ender, bool is_overdue,
                                       const char *ending) {
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
static const char *cancelled_beside_a_lane(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 1);
    return ended_beside_a_lane(f, conn, false, "select join_cancel(" JOIN ")");
}

/* JOIN-042, BX-042 */
static const char *overdue_for_a_new_wait(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 1);
    return ended_beside_a_lane(f, conn, true, "select join_wait(" JOIN ", true, 'then', 'p')");
}

/* JOIN-042, BX-044 */
static const char *overdue_for_a_wait(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 1);
    sql_run(conn, "select join_wait(" JOIN ", true, 'then', 'p')");
    assert_int_equal(sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                      ", '30 s', 1, '{join.wait}', true)"),
                     1);
    return ended_beside_a_lane(f, conn, true,
                               "select _resolve(0::smallint, " WORKER ", array(select work_id from message "
                               "where topic = 'join.wait'), null, array[" JOIN
                               "], '{f}', '{then}', '{p}', '{null}', "
                               "'{\"\"}', '{null}', array[md5('continuation')::uuid])");
}

/* JOIN-042 */
static const char *overdue_for_upkeep(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 1);
    return ended_beside_a_lane(f, conn, true, UPKEEP);
}

/* JOIN-042 */
static const char *overdue_for_an_ack(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start(conn, LARGE, 2);
    return ended_beside_a_lane(f, conn, true, ACK("2"));
}

#define FREE_LANES                                                                                           \
    "select count(*) from (select from join_progress where lane > 0 for no key update skip locked) p"

/* Others allow for 2,000 steps that they cannot see, per lane. A transaction with more has the join to
 * itself. JOIN-023 */
static const char *more_than_its_share(struct fixture *f) {
    PGconn *acker = sql_connect(f), *observer = sql_connect(f);
    start_run(acker, LARGE, 2001);
    sql_run(acker, "begin");
    assert_int_equal(sql_number(acker, ACK_WHERE("payload::int <= 2000")), 2000);
    assert_int_equal(sql_number(observer, FREE_LANES), 3);
    assert_int_equal(sql_number(acker, ACK("2001")), 1);
    int64_t free_lanes = sql_number(observer, FREE_LANES);
    sql_run(acker, "commit");
    assert_int_equal(sql_number(observer, COUNTED), 2001);
    return free_lanes == 0 ? NULL : GREEDY;
}

/* A session that counts in another lane than this one: a session's own lane follows from its process id. */
static PGconn *connect_to_another_lane(struct fixture *f, PGconn *other) {
    int lanes = (int)sql_number(other, "select last_lane from join_row");
    PGconn *conn = sql_connect(f);
    while (PQbackendPID(conn) % lanes == PQbackendPID(other) % lanes)
        conn = sql_connect(f);
    return conn;
}

/* Others have counted in lanes since this snapshot was taken. JOIN-023, JOIN-061 */
static const char *old_snapshot(struct fixture *f) {
    PGconn *other = sql_connect(f), *old;
    start(other, LARGE, 2);
    old = connect_to_another_lane(f, other);
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

/* One transaction stays in a lane for long while the others come to the end: they do not wait, and the join
 * ends with that transaction. BX-041, BX-047 */
static const char *end_beside_a_long_ack(struct fixture *f) {
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

#define NO_LANES(name, function, verdict)                                                                    \
    { name, function, "perform :\"schema\"._lock_lanes(p_join);", "", verdict }

static const struct trap TRAPS[] = {
    {"members_of_a_large_join_are_counted_beside_each_other",
     beside_each_other,
     {{"lanes", "_lock_join", "where j.last_lane > 0", "where false", LATE}}},
    {"large_join_is_counted_by_one_at_a_time_near_its_end",
     near_the_end,
     {{"the room", "_lock_join", "> j.last_lane * 2000", "> 0", MISCOUNTED},
      {"giving lanes back", "_lock_join", "bool_or(p.xid = pg_current_xact_id_if_assigned())",
       "bool_or(p.xid is not null)", MISCOUNTED}}},
    {"lane_that_was_waited_for_is_given_back_when_the_end_is_near",
     nearer_while_waiting,
     {{"looking again", "_lock_join", "if not exists (", "if false and not exists (", MISCOUNTED}}},
    {"those_in_lanes_stay_there_when_the_end_comes_near",
     nearer_while_counting,
     {{"staying", "_lock_join", " or c.has_lane", "", LATE}}},
    {"lane_that_was_rolled_back_is_no_reason_to_share",
     lane_given_up,
     {{"knowing the lanes", "_lock_join", "coalesce(bool_or(", "true or coalesce(bool_or(", MISCOUNTED}}},
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
     {NO_LANES("the lanes", "*", CHANGED)}}, /* what follows the end of the join takes them, too */
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
      {"the deadline", "_lock_join", "coalesce(j.deadline > clock_timestamp(), true)", "true", CHANGED}}},
    {"transaction_counts_no_more_in_lanes_than_its_share",
     more_than_its_share,
     {{"adding up", "_lock_join", "c.ours + p_steps", "p_steps", GREEDY}}},
    {"old_snapshot_does_not_count_in_a_large_join",
     old_snapshot,
     {{"the lock", "_lock_lanes", "limit 1 for no key update", "limit 1", BLIND}}},
    {"end_of_a_large_join_is_counted_later_beside_a_long_ack",
     end_beside_a_long_ack,
     {{"the bound of the wait", "_lock_in_time", " SET lock_timeout TO '800ms'\n", "", HANGS},
      {"trying every lane", "_lock_in_time", "order by p.seq desc limit 1 for no key update skip locked",
       "order by p.seq desc limit 1", MISCOUNTED},
      {"counting later", "_count_later", "where s.join_id = any (p_joins)", "where false", MISCOUNTED}}},
};

const struct trap_group JOIN_LANE_TRAPS = TRAP_GROUP(TRAPS);
