/* Joins: each step is counted once, by the transaction that ends the message, while others do the same. */
#include <string.h>

#include "trap.h"

static const char MISCOUNTED[] = "a join did not count what had ended";
static const char SLEEPS_ON[] = "a wait sleeps on though its join has ended";
static const char HANGS[] = "a call waits for another's open transaction";
static const char STOPS[] = "an ack fails because of what waits for its join";
static const char UPKEEP_STOPS[] = "upkeep fails because of a wait";
static const char WALKS[] = "a call reads the rows of other joins";

#define JOIN "(select join_id from join_row)"
#define STATUS "select status from outbox_join"
#define CLAIM_ONE "select count(*) from _claim_by_topics(0::smallint, " WORKER ", '30 s', 1, '{t}', true)"
#define ACK(payload)                                                                                         \
    "select count(*) from outbox_ack(" WORKER                                                                \
    ", array(select work_id from message where payload = '" payload "'))"
#define REPORT(payload)                                                                                      \
    "select join_report_completed(" JOIN ", (select message_id from message where payload = '" payload "'))"
#define UPKEEP "select _maintain(0::smallint)"

/* A join of `steps` messages with the payloads 1, 2, ..., each leased by itself. */
static void start(PGconn *conn, int steps) {
    sql_run(conn, "select join_start(%d)", steps);
    sql_run(conn, "select enqueue('t', i::text, join_id => " JOIN ") from generate_series(1, %d) i", steps);
    for (int i = 0; i < steps; i++)
        assert_int_equal(sql_number(conn, CLAIM_ONE), 1);
}

/* Two acks of members of one join: the second waits for the first, and sees what it did. BX-007, BX-041,
 * JOIN-061 */
static const char *two_at_once(struct fixture *f) {
    PGconn *first = sql_connect(f), *second = sql_connect(f), *observer = sql_connect(f);
    start(first, 2);
    sql_run(first, "begin");
    assert_int_equal(sql_number(first, ACK("1")), 1);
    sql_send(second, ACK("2"));
    sql_wait_blocked(observer, second);
    sql_run(first, "commit");
    sql_answer(second);
    sql_run(observer, UPKEEP); /* on a slow machine the second may have left it for later */
    return same(sql_text(observer, STATUS), "completed") ? NULL : MISCOUNTED;
}

/* Attached while somebody acks the message and cannot see it: looked at again later. BX-042 */
static const char *attached_beside_an_ack(struct fixture *f) {
    PGconn *acker = sql_connect(f), *other = sql_connect(f);
    sql_enqueue(acker, "1");
    assert_int_equal(sql_number(acker, CLAIM_ONE), 1);
    sql_run(acker, "select join_start(1)");
    sql_run(acker, "begin");
    assert_int_equal(sql_number(acker, ACK("1")), 1);
    sql_run(other, "select join_attach(" JOIN ", (select message_id from message where payload = '1'))");
    sql_run(other, UPKEEP); /* looks before the ack is there */
    sql_run(acker, "commit");
    sql_run(other, "update join_member set check_at = check_at - interval '2 hours'");
    sql_run(other, UPKEEP);
    return same(sql_text(other, STATUS), "completed") ? NULL : MISCOUNTED;
}

/* Attached while a purge removes the message, done long ago: the purge waits and counts it. BX-026, BX-042 */
static const char *attached_beside_a_purge(struct fixture *f) {
    PGconn *attacher = sql_connect(f), *other = sql_connect(f);
    sql_enqueue(other, "1");
    assert_int_equal(sql_number(other, CLAIM_ONE), 1);
    assert_int_equal(sql_number(other, ACK("1")), 1);
    sql_run(other, "select join_start(1)");
    sql_run(other, "insert into setting (name, number) values ('retention_done', 0)");
    sql_run(attacher, "begin");
    sql_run(attacher, "select join_attach(" JOIN ", (select message_id from message where payload = '1'))");
    sql_send(other, UPKEEP);
    (void)sql_is_answered(other, 200);
    sql_run(attacher, "commit");
    sql_answer(other);
    assert_int_equal(sql_number(other, "select count(*) from message"), 0);
    sql_run(other, UPKEEP);
    return same(sql_text(other, STATUS), "completed") ? NULL : MISCOUNTED;
}

/* An id that was attached before its message came. BX-042 */
static const char *attached_before_its_message(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select join_start(2)");
    sql_run(conn, "select join_attach(" JOIN ", md5(i::text)::uuid) from generate_series(1, 2) i");
    sql_run(conn, "select enqueue('t', '1', message_id => md5('1')::uuid)");
    sql_run(conn,
            "select _enqueue(0::smallint, array[md5('2')::uuid], '{t}', '{2}', null, null, null, null, null, "
            "null, null, false)");
    if (sql_number(conn, "select count(*) from join_member where work_id is null") > 0)
        return MISCOUNTED;
    for (const char *const *ack = (const char *const[]){ACK("1"), ACK("2"), NULL}; *ack; ack++) {
        assert_int_equal(sql_number(conn, CLAIM_ONE), 1);
        sql_run(conn, "%s", *ack);
    }
    return same(sql_text(conn, STATUS), "completed") ? NULL : MISCOUNTED;
}

#define RESOLVE(epochs)                                                                                      \
    "select _resolve(0::smallint, " WORKER                                                                   \
    ", array(select work_id from message where topic = 'join.wait'), " epochs ", "                           \
    "array(select join_id from join_row), '{f}', '{then}', '{p}', '{null}', '{\"\"}', '{null}', "            \
    "array[md5('continuation')::uuid])"

/* The last step ends while the wait is being put off: it must not miss that. BX-044 */
static const char *ended_beside_a_deferral(struct fixture *f) {
    PGconn *waiter = sql_connect(f), *acker = sql_connect(f), *observer = sql_connect(f);
    start(acker, 1);
    sql_run(acker, "select join_wait(" JOIN ", true, 'then', 'p')");
    assert_int_equal(sql_number(waiter, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                        ", '30 s', 1, '{join.wait}', true)"),
                     1);
    sql_run(waiter, "begin");
    assert_string_equal(sql_text(waiter, RESOLVE("null")), "{1}");
    sql_send(acker, ACK("1"));
    bool waits = !sql_is_answered(acker, 100);
    sql_run(waiter, "commit");
    sql_answer(acker);
    sql_run(observer, UPKEEP);
    assert_string_equal(sql_text(observer, STATUS), "completed");
    if (sql_number(observer, "select count(*) from outbox where topic = 'join.wait' and status = 'done'") ==
        0)
        return SLEEPS_ON;
    return waits ? NULL : "a join ended while a wait on it was being evaluated";
}

/* Under an older snapshot nothing is evaluated: then the wait is due for others. BX-044 */
static const char *ended_under_an_older_snapshot(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start(conn, 1);
    sql_run(conn, "select join_wait(" JOIN ", true, 'then', 'p')");
    assert_int_equal(sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                      ", '30 s', 1, '{join.wait}', true)"),
                     1);
    assert_string_equal(sql_text(conn, RESOLVE("null")), "{1}");
    sql_run(
        conn,
        "update parked set available_at = available_at + interval '1 hour'"); /* however slow the machine */
    sql_run(conn, "begin isolation level repeatable read");
    sql_run(conn, ACK("1"));
    sql_run(conn, "commit");
    assert_string_equal(sql_text(conn, STATUS), "completed");
    return sql_number(conn, "select count(*) from parked where topic = 'join.wait' "
                            "and available_at <= clock_timestamp()") == 1
               ? NULL
               : SLEEPS_ON;
}

/* However often a wait is evaluated: one continuation. BX-045 */
static const char *repeated_evaluation(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start(conn, 1);
    sql_run(conn, "select join_wait(" JOIN ", true, 'then', 'p')");
    assert_int_equal(sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                      ", '30 s', 1, '{join.wait}', true)"),
                     1);
    sql_run(conn, ACK("1"));
    sql_run(conn, "select enqueue('then', 'p', message_id => md5('continuation')::uuid)");
    if (!same(sql_text(conn, RESOLVE("null")), "{2}"))
        return "a wait whose continuation was there was not acked";
    return sql_number(conn, "select count(*) from outbox where topic = 'then'") == 1
               ? NULL
               : "a continuation was enqueued twice";
}

enum { PATIENCE_MS = 2500 };

/* Whether a statement is answered while somebody else's transaction stays open. */
static const char *answered_beside(PGconn *holder, PGconn *conn, const char *statement) {
    sql_send(conn, "%s", statement);
    bool hangs = !sql_is_answered(conn, PATIENCE_MS);
    sql_run(holder, "commit");
    sql_answer(conn);
    return hangs ? HANGS : NULL;
}

/* A claim finds an expired lease whose message has used up its attempts: it would count in a join that
 * somebody else's long transaction counts in. BX-020 */
static const char *claim_beside_a_long_ack(struct fixture *f) {
    PGconn *holder = sql_connect(f), *claimer = sql_connect(f);
    start(holder, 2);
    sql_run(holder, "update message set max_attempts = 1");
    sql_run(holder,
            "update lease set until = clock_timestamp() where items @> (select max(work_id) from message)");
    sql_run(holder, "update frontier set lease_from = '-infinity'");
    sql_enqueue(claimer, "other");
    sql_run(holder, "begin");
    assert_int_equal(sql_number(holder, ACK("1")), 1);
    const char *verdict = answered_beside(holder, claimer, CLAIM(OTHER_WORKER, "'30 s'", "10"));
    sql_run(claimer, "select outbox_reap()");
    sql_run(claimer, UPKEEP);
    return verdict || same(sql_text(holder, STATUS), "failed") ? verdict : MISCOUNTED;
}

/* An ack of a member while another transaction holds its join for long: acked at once, counted later.
 * BX-047 */
static const char *ack_beside_a_long_report(struct fixture *f) {
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    start(holder, 2);
    sql_run(holder, "select join_wait(" JOIN ", true, 'then', 'p')");
    assert_int_equal(sql_number(holder, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                        ", '30 s', 1, '{join.wait}', true)"),
                     1);
    assert_string_equal(sql_text(holder, RESOLVE("null")), "{1}");
    sql_run(holder, "update parked set available_at = available_at + interval '1 hour'");
    sql_run(holder, "begin");
    sql_run(holder, REPORT("1"));
    const char *verdict = answered_beside(holder, acker, ACK("2"));
    if (!verdict &&
        sql_number(acker,
                   "select count(*) from parked where available_at < clock_timestamp() + interval '2 s'") ==
            0)
        return SLEEPS_ON;
    sql_run(acker, UPKEEP);
    return verdict || same(sql_text(acker, STATUS), "completed") ? verdict : MISCOUNTED;
}

/* The ack finds its join and its member held by upkeep, which has not seen it: counted as soon as the join is
 * free, not when that member's next look is due. BX-007, BX-041, BX-042 */
static const char *ack_beside_long_upkeep(struct fixture *f) {
    PGconn *upkeep = sql_connect(f), *acker = sql_connect(f);
    sql_enqueue(acker, "1");
    assert_int_equal(sql_number(acker, CLAIM_ONE), 1);
    sql_run(acker, "select join_start(1)");
    sql_run(acker, "select join_attach(" JOIN ", (select message_id from message where payload = '1'))");
    sql_run(acker, "update join_member set created_at = created_at - interval '1 hour'");
    sql_run(upkeep, "begin");
    sql_run(upkeep, UPKEEP);
    assert_int_equal(sql_number(acker, ACK("1")), 1);
    sql_run(upkeep, "commit");
    sql_run(upkeep, UPKEEP);
    return same(sql_text(upkeep, STATUS), "completed") ? NULL : MISCOUNTED;
}

/* Two outcomes of one step were left for later: it failed, was replayed and completed. The first one counts.
 * BX-007 */
static const char *late_failure_and_late_completion(struct fixture *f) {
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    start(holder, 2);
    sql_run(holder, "begin");
    sql_run(holder, REPORT("2"));
    sql_run(acker, "select outbox_fail(" WORKER ", array(select work_id from message where payload = '1'))");
    sql_run(acker, "select dead_replay(array(select work_id from message where payload = '1'))");
    assert_int_equal(sql_number(acker, CLAIM_ONE), 1);
    assert_int_equal(sql_number(acker, ACK("1")), 1);
    sql_run(holder, "commit");
    sql_run(holder, UPKEEP);
    return same(sql_text(holder, "select failed_steps || ' ' || completed_steps from outbox_join"), "1 1")
               ? NULL
               : MISCOUNTED;
}

/* A step was left for later, and its join was purged before anybody counted it. BX-026 */
static const char *late_step_of_a_purged_join(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn,
            "insert into late_step (join_id, first_id, last_id, outcome) values (md5('1')::uuid, 1, 1, 1)");
    sql_run(conn, UPKEEP);
    return sql_number(conn, "select count(*) from late_step") == 0 ? NULL : "a late step is kept for ever";
}

/* The ack found its member being reported by hand, which then did not happen. BX-007, BX-041 */
static const char *ack_beside_a_report_that_fails(struct fixture *f) {
    PGconn *reporter = sql_connect(f), *acker = sql_connect(f);
    start(acker, 1);
    sql_run(reporter, "begin");
    sql_run(reporter, REPORT("1"));
    sql_run(acker, ACK("1"));
    sql_run(reporter, "rollback");
    sql_run(acker, UPKEEP);
    return same(sql_text(acker, STATUS), "completed") ? NULL : MISCOUNTED;
}

/* Upkeep looks at a member whose message is being enqueued in a long transaction. BX-042 */
static const char *upkeep_beside_a_long_enqueue(struct fixture *f) {
    PGconn *holder = sql_connect(f), *other = sql_connect(f);
    sql_run(holder, "select join_start(1)");
    sql_run(holder, "select join_attach(" JOIN ", md5('1')::uuid)");
    sql_run(holder, "begin");
    sql_run(holder, "select enqueue('t', '1', message_id => md5('1')::uuid)");
    const char *verdict = answered_beside(holder, other, "select settled from _maintain(0::smallint)");
    assert_int_equal(sql_number(other, CLAIM_ONE), 1);
    sql_run(other, ACK("1"));
    return verdict || same(sql_text(other, STATUS), "completed") ? verdict : MISCOUNTED;
}

enum { LARGE = 2000 };

static const char *const TABLES[] = {"join_row",     "join_progress", "join_member",
                                     "join_outcome", "join_span",     "join_wait"};
#define TABLE_NAMES "join_row, join_progress, join_member, join_outcome, join_span, join_wait"

static int64_t reads(PGconn *conn) {
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]); i++)
        sum += sql_number(conn,
                          "select sum(pg_stat_get_xact_tuples_returned(c.oid)) from pg_class c "
                          "where c.relnamespace = current_schema()::regnamespace and (c.oid = '%s'::regclass "
                          "or c.oid in (select indexrelid from pg_index where indrelid = '%s'::regclass))",
                          TABLES[i], TABLES[i]);
    return sum;
}

/* A join of its own with four steps in progress and one whose message is unknown; and a large one with a
 * span. */
static void make_steps(PGconn *conn) {
    sql_run(conn, "create temp table j as select join_start(6, 'g') as id");
    sql_run(
        conn,
        "create temp table m as select enqueue('t', 'step', join_id => j.id) from j, generate_series(1, 4)");
    sql_run(conn, "select join_attach(id, gen_random_uuid()) from j");
    sql_run(conn, "create temp table got as select * from _claim_by_topics(0::smallint, " WORKER
                  ", '30 s', 100, '{t}', true)");
    assert_int_equal(sql_number(conn, "select count(*) from got"), 4);
    sql_run(conn, "create temp table k as select join_start(50000, 'g') as id");
    sql_run(conn,
            "create temp table n as select r.* from (select array_agg(gen_random_uuid()) as ids, "
            "array_agg('s'::text) as s, array_agg(k.id) as joins from k, generate_series(1, 64)) a, "
            "_enqueue(0::smallint, ids, s, s, null, null, null, null, null, null, null, true, joins) r");
    sql_run(conn, "create temp table many as select * from _claim_by_topics(0::smallint, " WORKER
                  ", '30 s', 100, '{s}', true)");
    assert_int_equal(sql_number(conn, "select count(*) from many"), 64);
}

/* Count in a row and one by one, report, wait, page, cancel. */
static void use_steps(PGconn *conn) {
    sql_run(conn, "select outbox_ack(" WORKER ", array(select work_id from got order by work_id limit 2))");
    sql_run(conn, "select outbox_fail(" WORKER ", array(select work_id from got))");
    sql_run(conn, "select join_report_completed(j.id, m.message_id) from j, outbox_join_member m "
                  "where m.join_id = j.id and m.work_id is null");
    sql_run(conn, "select join_wait(id, true, 'then', 'p') from j");
    sql_run(conn, "select _join_find(id), _join_members(id, null, 2) from j");
    sql_run(conn, "select _join_page('g', null, null, null, 1)");
    sql_run(conn, "select join_cancel(id) from j");
    sql_run(conn, "delete from message where topic = 'join.wait'");
    sql_run(conn, "select outbox_ack(" WORKER ", array(select work_id from many order by work_id limit 40))");
    sql_run(conn,
            "select outbox_fail(" WORKER ", array(select work_id from many order by work_id offset 50))");
    sql_run(conn, "select join_report_completed(id, n.message_id) from k, n order by n.work_id desc limit 1");
    sql_run(conn, "select _count_later(int8multirange(int8range(min(work_id), max(work_id))), 1::smallint, "
                  "array[id], now()) "
                  "from k, n group by id");
    sql_run(conn, "select join_wait(id, true, 'then', 'p') from k");
    sql_run(conn, "select join_cancel(id) from k");
    sql_run(conn, "drop table j, k, m, n, got, many");
}

#define OLD_JOINS "join_row where created_at < now() - interval '1 hour'"

static void fill_tables(PGconn *conn) {
    sql_run(conn,
            "insert into join_row (join_id, expected_steps, created_at, grouping_key, last_lane) "
            "select md5(i::text)::uuid, 5, now() - interval '1 day', 'g', 4 from generate_series(1, %d) i",
            LARGE);
    sql_run(conn, "insert into join_progress (join_id, lane, seq, completed_steps, failed_steps, updated_at) "
                  "select join_id, lane, 0, 0, 0, now() from generate_series(0, 4) lane, " OLD_JOINS);
    sql_run(conn, "insert into join_span select join_id, -5000 * row_number() over (), "
                  "-5000 * row_number() over () + 99 from " OLD_JOINS);
    sql_run(conn, "insert into join_member (join_id, message_id, work_id, created_at) "
                  "select join_id, gen_random_uuid(), -row_number() over (), now() from " OLD_JOINS);
    sql_run(conn, "insert into join_outcome select join_id, 1, 2, 1 from " OLD_JOINS);
    sql_run(conn, "insert into join_wait select join_id, 1 from " OLD_JOINS);
}

static int64_t reads_of_use(PGconn *conn) {
    make_steps(conn);
    sql_run(conn, "begin");
    int64_t before = reads(conn);
    use_steps(conn);
    int64_t after = reads(conn);
    sql_run(conn, "commit");
    return after - before;
}

/* Plans made while there were no joins must serve many; so must those made anew, with and without statistics.
 * BX-047 */
static const char *plans(struct fixture *f) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]); i++)
        sql_run(other, "alter table %s set (autovacuum_enabled = off)", TABLES[i]);
    sql_run(other, "vacuum analyze " TABLE_NAMES);
    for (int i = 0; i < 7; i++) {
        make_steps(conn);
        use_steps(conn);
    }
    fill_tables(other);
    bool walks = reads_of_use(conn) > LARGE / 2;
    sql_run(conn, "discard plans");
    walks = reads_of_use(conn) > LARGE / 2 || walks;
    sql_run(other, "analyze " TABLE_NAMES);
    sql_run(conn, "discard plans");
    walks = reads_of_use(conn) > LARGE / 2 || walks;
    return walks ? WALKS : NULL;
}

/* What is to follow a join cannot be stored: neither the ack that ends the join nor upkeep fails because of
 * that. BX-044 */
static const char *wait_that_cannot_be_evaluated(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start(conn, 1);
    sql_run(conn, "select join_wait(" JOIN ", true, topic, 'p') from unnest('{then,never}'::text[]) topic");
    sql_run(conn, "alter table message add constraint no_more check (topic <> 'never') not valid");
    if (!same(sql_state(conn, ACK("1")), ""))
        return STOPS;
    assert_string_equal(sql_text(conn, STATUS), "completed");
    if (!same(sql_state(conn, "select _evaluate_due_waits(1000)"), ""))
        return UPKEEP_STOPS;
    if (sql_number(conn, "select count(*) from outbox where topic = 'then'") != 1)
        return "a good wait was not evaluated because of a bad one";
    sql_run(conn, "alter table message drop constraint no_more");
    sql_run(conn, "update parked set available_at = clock_timestamp()");
    sql_run(conn, "select _evaluate_due_waits(1000)");
    return sql_number(conn, "select count(*) from outbox where topic = 'never'") == 1 ? NULL : SLEEPS_ON;
}

#define SET_TOPIC "select _set('join_wait_topic', 0, 'later.wait')"

/* Messages of both topics are parked by a claim that still sees the old setting, and commits after the new
 * one. JOIN-050 */
static const char *waits_of_a_topic_that_changes(struct fixture *f) {
    PGconn *claimer = sql_connect(f), *conn = sql_connect(f);
    sql_run(
        conn,
        "select enqueue(topic, topic) from unnest('{join.wait,later.wait}'::text[]) topic"); /* the pool's */
    sql_run(conn, "select enqueue('later.wait', 'expires', ttl => '1 hour')");
    sql_run(claimer, "begin");
    sql_run(claimer,
            "select _claim_by_topics(0::smallint, " WORKER ", '30 s', 1, '{none}', true)"); /* parks them */
    sql_run(conn, SET_TOPIC);
    sql_run(claimer, "commit");
    sql_run(conn, "select _maintain(0::smallint)");
    if (!strstr(sql_claim(conn, 10), "join.wait"))
        return "a message is nowhere: its topic is not that of waits any more";
    return sql_number(conn, "select count(*) from parked where topic = 'later.wait' and crash_count = -1") ==
                   2
               ? NULL
               : "a wait is parked as an ordinary message";
}

static const struct trap TRAPS[] = {
    {"members_acked_at_once_by_two_both_count",
     two_at_once,
     {{"the lock", "_lock_in_time", "order by j.join_id for no key update;", "order by j.join_id;",
       MISCOUNTED}}},
    {"member_attached_beside_the_ack_of_its_message_counts_in_the_end",
     attached_beside_an_ack,
     {{"the first look", "_attach", "select p_join, i.id, x.work_id, ts, ts",
       "select p_join, i.id, x.work_id, ts, null", MISCOUNTED},
      {"looking again", "_settle_joins", "check_at = case when not l.is_over then",
       "check_at = case when false then", MISCOUNTED}}},
    {"member_attached_beside_the_purge_of_its_message_counts",
     attached_beside_a_purge,
     {{"the lock", "_attach", " limit 1 for key share) x on true", " limit 1) x on true", MISCOUNTED}}},
    {"member_attached_before_its_message_counts",
     attached_before_its_message,
     {{"resolving single ones", "_enqueue_one", "if not p_is_fresh and", "if false and", MISCOUNTED},
      {"resolving many", "_enqueue_messages", "if not fresh_ids and", "if false and", MISCOUNTED},
      {"the flag", "_attach", "where pg_sequence_last_value(", "where false and pg_sequence_last_value(",
       MISCOUNTED}}},
    {"wait_put_off_while_its_join_ends_is_due_at_once",
     ended_beside_a_deferral,
     {{"the lock", "_resolve", "unnest(joins, :\"schema\"._lock_in_time(joins))",
       "unnest(joins, array_fill(0, array[cardinality(joins)]))", SLEEPS_ON},
      {"following", "_end_joins", "perform :\"schema\"._follow_joins(p_joins, ts);", "", SLEEPS_ON}}},
    {"wait_of_a_join_that_ends_under_an_older_snapshot_is_due_at_once",
     ended_under_an_older_snapshot,
     {{"waking", "_end_joins", "p.available_at > ts", "false", SLEEPS_ON}}},
    {"continuation_is_enqueued_once", repeated_evaluation, {{0}}},
    {"claim_does_not_wait_for_a_join_that_somebody_counts_in",
     claim_beside_a_long_ack,
     {{"the bound of the wait", "_lock_in_time", " SET lock_timeout TO '800ms'\n",
       " SET lock_timeout TO '0'\n", HANGS}}},
    {"ack_does_not_wait_long_for_a_join_that_somebody_holds",
     ack_beside_a_long_report,
     {{"the bound of the wait", "_lock_in_time", " SET lock_timeout TO '800ms'\n", "", HANGS},
      {"counting later", "_count_later", "where s.join_id = any (p_joins)", "where false", MISCOUNTED},
      {"waking the counters", "_count_later", "set available_at = ts + interval '1 second'",
       "set available_at = available_at", SLEEPS_ON}}},
    {"ack_that_upkeep_has_not_seen_is_counted_once_the_join_is_free",
     ack_beside_long_upkeep,
     {{"counting later", "_count_later", "where s.join_id = any (p_joins)", "where false", MISCOUNTED},
      {"looking for them", "_maintain_joins", "(overdue || unsure || late)", "(overdue || unsure)",
       MISCOUNTED}}},
    {"failure_that_is_counted_late_comes_before_a_completion",
     late_failure_and_late_completion,
     {{"failures first", "_settle_joins", "filter (where t.outcome = 2)", "filter (where false)",
       MISCOUNTED}}},
    {"late_steps_of_a_purged_join_go_with_it",
     late_step_of_a_purged_join,
     {{"removing them", "_maintain_joins", "where l.join_id = any (late) and not exists",
       "where false and not exists", "a late step is kept for ever"}}},
    {"ack_beside_a_report_that_is_rolled_back_counts",
     ack_beside_a_report_that_fails,
     {{"counting later", "_count_later", "where s.join_id = any (p_joins)", "where false", MISCOUNTED}}},
    {"upkeep_does_not_wait_for_a_member_whose_message_is_being_enqueued",
     upkeep_beside_a_long_enqueue,
     {{"skip locked", "_settle_joins", "for no key update skip locked) m", "for no key update) m", HANGS}}},
    {"wait_that_cannot_be_evaluated_stops_nobody",
     wait_that_cannot_be_evaluated,
     {{"catching", "_follow_joins", "when others then", "when division_by_zero then", STOPS},
      {"catching in upkeep", "_evaluate_due_waits", "when others then\n            evaluated",
       "when division_by_zero then\n            evaluated", UPKEEP_STOPS},
      {"one by one", "_evaluate_due_waits", "when others then\n                    perform",
       "when division_by_zero then\n                    perform", UPKEEP_STOPS}}},
    {"messages_parked_while_the_topic_of_waits_changes_are_found",
     waits_of_a_topic_that_changes,
     {{"sorting", "_maintain", "perform :\"schema\"._sort_waits(most);", "",
       "a message is nowhere: its topic is not that of waits any more"},
      {"sorting what waits now", "_sort_waits", "x.crash_count = 0 and", "false and",
       "a wait is parked as an ordinary message"}}},
    {"plans_made_without_joins_serve_many",
     plans,
     {{"reading run by run", "_steps", "where m.work_id >= lower(r.run)",
       "where m.work_id + 0 >= lower(r.run)", WALKS},
      {"reading span by span", "_steps", "where s.first_id > lower(r.run) - 1000",
       "where s.first_id + 1000 > lower(r.run)", WALKS}}},
};

const struct trap_group JOIN_TRAPS = TRAP_GROUP(TRAPS);
