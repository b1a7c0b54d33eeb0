/* The claimers' turn: bounded, and the last lock anyone takes. The steps are chained by locks: the
 * holder of the turn lets go only when everybody else waits where the scenario wants them. */
#include "trap.h"

static const char HANGS[] = "a claim waits for another's transaction";
static const char DEADLOCK[] = "a deadlock";
static const char FAILS[] = "a claim fails because of another's transaction";

enum { PATIENCE_MS = 3500 };

/* BX-020 */
static const char *bounded_wait(struct fixture *f) {
    PGconn *holder = sql_connect(f), *claimer = sql_connect(f);
    sql_park(holder, "parked");
    sql_enqueue(holder, "fresh");
    sql_run(holder, "begin");
    assert_string_equal(sql_text(holder, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                         ", '30 s', 1, '{none}', true)"),
                        "0");
    sql_enqueue(claimer, "later");
    sql_send(claimer, CLAIM(OTHER_WORKER, "'30 s'", "10"));
    if (!sql_is_answered(claimer, PATIENCE_MS)) {
        sql_cancel(claimer);
        return HANGS;
    }
    const char *got = sql_answer(claimer);
    sql_run(holder, "commit");
    if (got[0] == '(')
        return FAILS;
    if (!same(got, "parked"))
        return "a claimer without the turn took something else than parked work";
    return same(sql_claim(claimer, 10), "fresh,later") ? NULL : "a message was lost";
}

/* What the open claim holds does not hide what lies behind it. BX-020 */
static const char *past_what_is_locked(struct fixture *f) {
    PGconn *holder = sql_connect(f), *claimer = sql_connect(f);
    for (int i = 0; i < 8; i++)
        sql_run(holder, "select enqueue('t', 'parked')");
    assert_int_equal(sql_number(holder, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                        ", '30 s', 8, null, true)"),
                     8);
    sql_run(holder, "select outbox_abandon(" WORKER ", array(select work_id from message), delay => '0')");
    sql_run(holder, "begin");
    assert_int_equal(sql_number(holder, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                        ", '30 s', 4, null, true)"),
                     4);
    int64_t count = sql_number(claimer, "select count(*) from _claim_by_topics(0::smallint, " OTHER_WORKER
                                        ", '30 s', 2, null, true)");
    return count == 2 ? NULL : "a locked message hides the ones behind it";
}

/* What stands in everybody's way at first. */
static PGconn *hold_turn(struct fixture *f) {
    PGconn *holder = sql_connect(f);
    sql_run(holder, "begin");
    sql_run(holder, "lock table outbox_turn in share update exclusive mode");
    return holder;
}

static PGconn *quick_to_see_deadlocks(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "set deadlock_timeout = '100 ms'");
    return conn;
}

/* `first`, then `second` are sent and wait; then the turn is given free. */
static const char *play(struct fixture *f, PGconn *holder, PGconn *first, const char *first_sql,
                        PGconn *second, const char *second_sql) {
    PGconn *observer = sql_connect(f);
    sql_send(first, "%s", first_sql);
    sql_wait_blocked(observer, first);
    sql_send(second, "%s", second_sql);
    sql_wait_blocked(observer, second);
    sql_run(holder, "commit");
    const char *a = sql_answer(first), *b = sql_answer(second);
    return same(a, "(40P01)") || same(b, "(40P01)") ? DEADLOCK : NULL;
}

static bool is_blocked(PGconn *observer, PGconn *conn) {
    return sql_number(observer,
                      "select count(*) from pg_stat_activity where pid = %d and wait_event_type = 'Lock'",
                      PQbackendPID(conn)) > 0;
}

#define CANCEL(payload) "select outbox_cancel(work_id) from message where payload = '" payload "'"

/* A claimer releases an expired lease while a dead letter of the same stream is being replayed, which locks
 * the stream and then wants the turn. BX-020, BX-025 */
static const char *expiry_against_replay(struct fixture *f) {
    PGconn *claimer = quick_to_see_deadlocks(f), *replayer = quick_to_see_deadlocks(f);
    sql_enqueue_streamed(claimer, "s", "head");
    assert_string_equal(sql_text(claimer, CLAIM(WORKER, "'100 ms'", "1")), "head");
    sql_enqueue_streamed(claimer, "s", "next");
    sql_run(claimer, CANCEL("next"));
    sql_run(claimer, "update lease set until = clock_timestamp()");
    sql_run(claimer, "update frontier set lease_from = '-infinity'");
    PGconn *holder = hold_turn(f);
    return play(f, holder, claimer, CLAIM(WORKER, "'30 s'", "10"), replayer,
                "select _dead_replay(0::smallint, array(select work_id from dead), null)");
}

/* Somebody holds a stream of which a claimer finds an expired lease: the rest goes on. BX-020 */
static const char *expiry_against_a_held_stream(struct fixture *f) {
    PGconn *holder = sql_connect(f), *claimer = sql_connect(f);
    sql_enqueue_streamed(claimer, "s", "head");
    assert_string_equal(sql_text(claimer, CLAIM(WORKER, "'100 ms'", "1")), "head");
    sql_run(claimer, "update lease set until = clock_timestamp()");
    sql_run(claimer, "update frontier set lease_from = '-infinity'");
    sql_enqueue(claimer, "other");
    sql_run(holder, "begin; select from stream for update");
    sql_send(claimer, "select string_agg(payload, ',') from outbox_claim(" OTHER_WORKER ", '30 s', 10)");
    bool hangs = !sql_is_answered(claimer, PATIENCE_MS);
    sql_run(holder, "commit");
    const char *got = sql_answer(claimer);
    if (hangs)
        return HANGS;
    return same(got, "other") ? NULL : "a claim next to an expired lease did not get the ready message";
}

/* A claimer wants the head of a stream of which a dead letter is being replayed. BX-006, BX-025 */
static const char *head_against_replay(struct fixture *f) {
    PGconn *claimer = quick_to_see_deadlocks(f), *replayer = quick_to_see_deadlocks(f);
    sql_enqueue_streamed(claimer, "s", "head");
    sql_enqueue_streamed(claimer, "s", "next");
    sql_run(claimer, SORT_STREAMS);
    sql_run(claimer, CANCEL("next"));
    PGconn *holder = hold_turn(f);
    return play(f, holder, claimer, CLAIM(WORKER, "'30 s'", "10"), replayer,
                "select _dead_replay(0::smallint, array(select work_id from dead), null)");
}

/* The head itself is being cancelled: its row is locked, its stream's is not yet. BX-006, BX-028 */
static const char *head_being_cancelled(struct fixture *f) {
    PGconn *claimer = quick_to_see_deadlocks(f), *canceller = quick_to_see_deadlocks(f),
           *observer = sql_connect(f);
    sql_enqueue_streamed(claimer, "s", "head");
    assert_string_equal(sql_claim(claimer, 1), "head");
    sql_run(claimer, "select outbox_abandon(" WORKER ", array(select work_id from message), delay => '0')");
    PGconn *holder = sql_connect(f);
    sql_run(holder, "begin; lock table attempt in exclusive mode"); /* stops the canceller half-way */
    sql_send(canceller, CANCEL("head"));
    sql_wait_blocked(observer, canceller);
    sql_send(claimer, CLAIM(WORKER, "'30 s'", "10"));
    bool waits = !sql_is_answered(claimer, PATIENCE_MS / 2);
    sql_run(holder, "commit");
    const char *a = sql_answer(claimer), *b = sql_answer(canceller);
    if (same(a, "(40P01)") || same(b, "(40P01)"))
        return DEADLOCK;
    return waits ? HANGS : NULL;
}

/* A claimer wants a parked message that another session cancels; that session then wants the turn, to cancel
 * a message of a stream. BX-020, BX-028 */
static const char *parked_against_cancel(struct fixture *f) {
    PGconn *claimer = quick_to_see_deadlocks(f), *canceller = quick_to_see_deadlocks(f);
    sql_park(claimer, "parked");
    sql_enqueue_streamed(claimer, "s", "fresh");
    PGconn *holder = hold_turn(f);
    sql_run(canceller, "begin");
    sql_run(canceller, CANCEL("parked"));
    return play(f, holder, claimer, CLAIM(WORKER, "'30 s'", "10"), canceller, CANCEL("fresh") "; commit");
}

/* A suspect that somebody cancels is not waited for. BX-003, BX-028 */
static const char *suspect_against_cancel(struct fixture *f) {
    PGconn *claimer = sql_connect(f), *canceller = sql_connect(f);
    sql_enqueue(claimer, "suspect");
    assert_string_equal(sql_claim(claimer, 1), "suspect");
    sql_run(claimer, "update lease set until = clock_timestamp()");
    assert_int_equal(sql_number(claimer, "select outbox_reap()"), 1);
    sql_run(canceller, "begin");
    sql_run(canceller, CANCEL("suspect"));
    sql_send(claimer, CLAIM(WORKER, "'30 s'", "10"));
    bool waits = !sql_is_answered(claimer, PATIENCE_MS / 2);
    sql_run(canceller, "commit");
    sql_answer(claimer);
    return waits ? HANGS : NULL;
}

/* A message behind the head is cancelled while the head is acked, or two of one run are acked at once: the
 * second transaction must see what the first one did. BX-006, BX-028 */
static const char *stream_goes_on(struct fixture *f) {
    static const char STANDS_STILL[] = "a stream stands still";
    PGconn *acker = sql_connect(f), *other = sql_connect(f), *observer = sql_connect(f);
    for (int i = 1; i <= 5; i++)
        sql_run(acker, "select enqueue('t', '%d', stream => 's')", i);
    assert_string_equal(sql_claim(acker, 1), "1");
    sql_run(acker, "begin");
    assert_int_equal(sql_number(acker, "select outbox_ack(" WORKER ", array[1])"), 1);
    sql_send(other, CANCEL("2"));
    sql_wait_blocked(observer, other);
    sql_run(acker, "commit");
    assert_string_equal(sql_answer(other), "2");
    if (!same(sql_claim(acker, 2), "3,4"))
        return STANDS_STILL;
    sql_run(acker, "select outbox_renew(" WORKER ", array[4])"); /* a lease of its own */
    sql_run(acker, "begin");
    assert_int_equal(sql_number(acker, "select outbox_ack(" WORKER ", array[3])"), 3);
    sql_send(other, "select outbox_ack(" WORKER ", array[4])");
    sql_wait_blocked(observer, other);
    sql_run(acker, "commit");
    assert_string_equal(sql_answer(other), "4");
    return same(sql_claim(acker, 10), "5") ? NULL : STANDS_STILL;
}

/* A message that is cancelled was claimed and has failed meanwhile: the cancellation is too late and says so.
 * BX-004, BX-028 */
static const char *cancelled_too_late(struct fixture *f) {
    PGconn *claimer = sql_connect(f), *canceller = sql_connect(f), *observer = sql_connect(f);
    sql_enqueue_streamed(claimer, "s", "fresh");
    sql_run(claimer, "begin");
    assert_string_equal(sql_claim(claimer, 1), "fresh");
    sql_run(claimer, "select outbox_fail(" WORKER ", array[1])");
    sql_send(canceller, CANCEL("fresh"));
    sql_wait_blocked(observer, canceller);
    sql_run(claimer, "commit");
    const char *answer = sql_answer(canceller);
    return same(answer, "(BX003)") || same(answer, "(40001)") ? NULL
                                                              : "a cancel fails in a way nobody expects";
}

static const char TWICE[] = "a message is dead and parked";

/* One session cancels a message that no claim has met, and replays it. A second one that cancels it, too,
 * cannot see what was parked meanwhile. BX-004, BX-028 */
static const char *cancelled_while_replayed(struct fixture *f) {
    PGconn *first = sql_connect(f), *second = sql_connect(f), *observer = sql_connect(f);
    sql_run(first, "select enqueue('t', 'fresh', stream => 's', ttl => '1 hour')");
    sql_run(first, "begin");
    sql_run(first, CANCEL("fresh"));
    assert_int_equal(sql_number(first, "select dead_replay(array[1])"), 1);
    sql_send(second, CANCEL("fresh"));
    sql_is_answered(second, PATIENCE_MS / 2);
    sql_run(first, "commit");
    const char *answer = sql_answer(second);
    if (sql_number(observer, "select count(*) from dead join parked using (work_id)") > 0)
        return TWICE;
    assert_string_equal(answer, "(55P03)");
    sql_run(second, CANCEL("fresh"));
    assert_int_equal(sql_number(observer, "select count(*) from dead"), 1);
    assert_int_equal(sql_number(observer, "select count(*) from parked"), 0);
    return NULL;
}

static const char UNDER_THE_TURN[] = "somebody waits under the turn";

/* A stream that halts when a message dies. Its head is leased; what comes behind has expired before anybody
 * met it. */
static void expire_behind_a_head(PGconn *conn) {
    sql_run(conn, "select stream_rule('s', 'halt')");
    sql_enqueue_streamed(conn, "s", "head");
    assert_string_equal(sql_claim(conn, 1), "head");
    sql_run(conn, "select enqueue('t', 'expired', stream => 's', ttl => '1 millisecond')");
    sql_run(conn, "select pg_sleep(0.01)");
}

#define EXPIRE "select _expire_fresh(0::smallint, 1::smallint, 10)"

/* Upkeep wants to bury a message, which would halt a stream that another session holds; that session claims,
 * too. Neither waits, and the stream halts later. BX-006, BX-020 */
static const char *halt_of_a_held_stream(struct fixture *f) {
    PGconn *settler = quick_to_see_deadlocks(f), *upkeep = quick_to_see_deadlocks(f),
           *claimer = sql_connect(f);
    expire_behind_a_head(settler);
    sql_enqueue(settler, "other");
    sql_run(settler, "begin");
    sql_run(settler, "select outbox_ack(" WORKER ", array[1])");
    sql_send(upkeep, EXPIRE);
    bool waits = !sql_is_answered(upkeep, PATIENCE_MS / 2);
    const char *claimed = waits ? "" : sql_claim(claimer, 1);
    sql_send(settler, CLAIM(WORKER, "'30 s'", "10") "; commit");
    const char *settled = sql_answer(settler), *buried = sql_answer(upkeep);
    if (same(settled, "(40P01)") || same(buried, "(40P01)"))
        return DEADLOCK;
    if (waits)
        return "upkeep waits for another's transaction";
    assert_string_equal(claimed, "other");
    if (!same(buried, "0"))
        return "upkeep fails because of another's transaction";
    sql_run(claimer, "select _bury_expired(0::smallint, 10)"); /* claims have met it */
    return sql_number(claimer, "select count(*) from stream where halted_at is not null") == 1
               ? NULL
               : "a stream went on";
}

/* The row of the stream comes, and somebody has it, after upkeep has looked for it. BX-006, BX-020 */
static const char *halt_of_a_new_stream(struct fixture *f) {
    PGconn *upkeep = sql_connect(f), *settler = sql_connect(f), *observer = sql_connect(f);
    sql_run(upkeep, "select stream_rule('s', 'halt')");
    sql_run(upkeep, "select enqueue('t', 'expired', stream => 's', ttl => '1 millisecond')");
    sql_run(upkeep, "select pg_sleep(0.01)");
    PGconn *holder = hold_turn(f);
    sql_send(upkeep, EXPIRE);
    sql_wait_blocked(observer, upkeep);
    sql_run(observer,
            "insert into stream (box, key, partition, position, taken_from) values (0, 's', 0, 0, 0)");
    sql_run(settler, "begin; select from stream for update");
    sql_run(holder, "commit");
    bool waits = !sql_is_answered(upkeep, PATIENCE_MS / 2);
    sql_run(settler, "commit");
    const char *answer = sql_answer(upkeep);
    if (waits)
        return UNDER_THE_TURN;
    assert_string_equal(answer, "(40001)");
    assert_int_equal(sql_number(upkeep, EXPIRE), 1);
    return sql_number(upkeep, "select count(*) from stream where halted_at is not null") == 1
               ? NULL
               : "a stream went on";
}

#define WORK(topic)                                                                                          \
    "select outbox_ack(" WORKER ", array(select work_id from _claim_by_topics(0::smallint, " WORKER          \
    ", '30 s', 10, '{" topic "}', true)))"
#define UPKEEP "select purged_done from _maintain(0::smallint)"

/* Two workers' upkeep at once: each counts what was done of one topic, then wants what the other has
 * counted. BX-020 */
static const char *two_upkeeps(struct fixture *f) {
    PGconn *one = quick_to_see_deadlocks(f), *other = quick_to_see_deadlocks(f), *observer = sql_connect(f);
    sql_run(observer, "select enqueue(t, 'p') from unnest('{a,b}'::text[]) t");
    sql_run(observer, WORK("b"));
    sql_run(one, "begin");
    sql_run(one, UPKEEP);
    sql_run(observer, WORK("a"));
    sql_run(observer, "insert into setting (name, number) values ('retention_done', 0)");
    sql_send(other, UPKEEP);
    while (!sql_is_answered(other, 50) && !is_blocked(observer, other))
        ;
    sql_run(observer, "select enqueue('a', 'p')");
    sql_run(observer, WORK("a"));
    const char *second = sql_state(one, UPKEEP);
    sql_run(one, "%s", second[0] ? "rollback" : "commit");
    if (same(second, "40P01") || same(sql_answer(other), "(40P01)"))
        return DEADLOCK;
    sql_run(one, UPKEEP);
    assert_int_equal(sql_number(one, "select count(*) from finished"), 0);
    assert_int_equal(sql_number(one, "select count(*) from tally_delta"), 0);
    return sql_number(one, "select count(*) from tally where done <> 0") == 0 ? NULL : "counters are wrong";
}

/* A replay waits for the row of one stream. Meanwhile a claimer makes the row of another that the replay is
 * about, and somebody locks both in their order: the replay must not want the new row while it has the old
 * one. BX-004, BX-006 */
static const char *replay_beside_a_new_stream(struct fixture *f) {
    PGconn *conn = sql_connect(f), *first = sql_connect(f);
    PGconn *replayer = quick_to_see_deadlocks(f), *settler = quick_to_see_deadlocks(f);
    sql_enqueue_streamed(conn, "a", "1");
    sql_enqueue_streamed(conn, "b", "2");
    assert_string_equal(sql_claim(conn, 10), "1,2");
    sql_run(conn, "select outbox_fail(" WORKER ", array(select work_id from message))");
    assert_string_equal(sql_claim(conn, 10), "");
    sql_run(conn, "select enqueue('t', 'tomorrow', stream => 'b', due_at => now() + interval '1 day')");
    assert_string_equal(sql_claim(conn, 10), "");
    sql_run(first, "begin; select from stream where key = 'b' for update");
    sql_send(replayer, "select dead_replay(array(select work_id from dead))");
    sql_wait_blocked(conn, replayer);
    sql_run(conn, "select enqueue('t', 'tomorrow', stream => 'a', due_at => now() + interval '1 day')");
    sql_run(conn, SORT_STREAMS);
    sql_run(settler, "begin; select from stream where key = 'a' for update");
    sql_send(settler, "select 1 from stream where key = 'b' for update");
    sql_wait_blocked(conn, settler);
    sql_run(first, "commit");
    const char *replayed = sql_answer(replayer), *settled = sql_answer(settler);
    if (same(replayed, "(40P01)") || same(settled, "(40P01)"))
        return DEADLOCK;
    sql_run(settler, "commit");
    assert_string_equal(replayed, "2");
    sql_run(conn, "update frontier set look_at = '-infinity'");
    return same(sql_claim(conn, 10), "1,2") ? NULL : "a replayed message is not found";
}

/* Somebody holds a stream of the inbox in which a message's lease has expired, so long ago that claims inside
 * a transaction see to that, too. */
static PGconn *hold_an_expired_stream(struct fixture *f) {
    PGconn *holder = sql_connect(f);
    sql_run(holder, "select inbox_enqueue('t', 'source', '1', 'p', stream => 's')");
    assert_int_equal(sql_number(holder, "select count(*) from inbox_claim(" WORKER ", '100 ms', 1)"), 1);
    sql_run(holder, "update lease set until = clock_timestamp() - interval '11 s'");
    sql_run(holder, "update frontier set lease_from = '-infinity'");
    sql_run(holder, "alter function _try_expire_leases(smallint, timestamptz, int) set lock_timeout = '60s'");
    sql_run(holder, "begin; select from stream for update");
    return holder;
}

/* Whether the waiting session has the outbox's turn meanwhile. */
static const char *waits_without_a_turn(PGconn *holder, PGconn *claimer, PGconn *observer) {
    sql_wait_blocked(observer, claimer);
    int64_t turns = sql_number(observer,
                               "select count(*) from pg_locks where pid = %d and granted "
                               "and relation in ('outbox_turn'::regclass, 'inbox_turn'::regclass)",
                               PQbackendPID(claimer));
    sql_run(holder, "commit");
    assert_string_equal(sql_answer(claimer), "1");
    return turns ? UNDER_THE_TURN : NULL;
}

/* A batch that claims from both boxes releases the leases of both before it takes a turn. BX-020 */
static const char *batch_of_both_boxes(struct fixture *f) {
    PGconn *holder = hold_an_expired_stream(f), *claimer = sql_connect(f);
    sql_enqueue(claimer, "fresh");
    sql_send(
        claimer,
        "select (header #>> '{claimed,outbox}')::int from process_work_batch(" OTHER_WORKER ", "
        "'{\"outbox\": {\"claim\": {\"batch_size\": 1}}, \"inbox\": {\"claim\": {\"batch_size\": 1}}}')");
    return waits_without_a_turn(holder, claimer, sql_connect(f));
}

/* The library's claims from both boxes in a transaction of its user's. BX-020 */
static const char *claims_of_both_boxes(struct fixture *f) {
    PGconn *holder = hold_an_expired_stream(f), *claimer = sql_connect(f);
    sql_enqueue(claimer, "fresh");
    sql_send(claimer, "begin; select _before_claims(); "
                      "select count(*) from _claim_numbered(0::smallint, " OTHER_WORKER
                      ", '30 s', 1, null, null, true, true, null, true)");
    const char *verdict = waits_without_a_turn(holder, claimer, sql_connect(f));
    assert_int_equal(sql_number(claimer, "select count(*) from _claim_numbered(1::smallint, " OTHER_WORKER
                                         ", '30 s', 1, null, null, true, true, null, true)"),
                     1);
    sql_run(claimer, "commit");
    return verdict;
}

#define CLAIM_ONE_ALONE                                                                                      \
    "select count(*) from _claim_numbered(0::smallint, " WORKER                                              \
    ", '30 s', 1, null, null, false, true, 1, false)"

static int64_t claim_alone(PGconn *conn, int times) {
    int64_t count = 0;
    for (int i = 0; i < times; i++)
        count += sql_number(conn, CLAIM_ONE_ALONE);
    return count;
}

/* Small claims take from the pool without the turn. If it were empty before somebody fills it, all of them
 * would come to wait at the same time. BX-020 */
static const char *filled_in_time(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', 'p') from generate_series(1, 2500)");
    assert_int_equal(claim_alone(conn, 1), 1);
    assert_int_equal(sql_number(conn, "select sum(size) from pool"), 999);
    assert_int_equal(claim_alone(conn, 40), 40);
    return sql_number(conn, "select sum(size) from pool") > 999 ? NULL
                                                                : "the pool is filled only when it is empty";
}

/* BX-020 */
static const char *nobody_waits_to_fill(struct fixture *f) {
    PGconn *holder = sql_connect(f), *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', 'p') from generate_series(1, 2500)");
    assert_int_equal(claim_alone(conn, 1), 1);
    sql_run(holder, "begin");
    sql_run(holder, "lock table outbox_turn in share update exclusive mode");
    sql_run(conn, "set statement_timeout = '1s'");
    for (int i = 0; i < 40; i++)
        if (!same(sql_state(conn, CLAIM_ONE_ALONE), ""))
            return HANGS;
    return NULL;
}

/* A claim that finds nothing is in nobody's way. BX-020 */
static const char *idle_claim(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "only");
    assert_string_equal(sql_claim(conn, 10), "only");
    sql_run(conn, NO_FULL_LOOK);
    sql_run(conn, "begin");
    assert_string_equal(sql_claim(conn, 10), "");
    bool has_turn = sql_has_turn(conn);
    sql_run(conn, "commit");
    return has_turn ? "a claim that finds nothing takes the turn" : NULL;
}

static const char NEVER_LOOKED[] = "a claim takes the log for empty, and it is not";

enum { BULK = 1500, FIRST = 90, NEXT = 100 }; /* BULK: more than a claim comes past at once */

/* How many this claim brings. */
static int64_t claim_some(PGconn *conn, int wanted) {
    return sql_number(
        conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER ", '30 s', %d, null, true)",
        wanted);
}

/* Before it takes the turn, a claim looks whether the log has anything for it: what came last, what committed
 * late, and the rest of what committed late and was too much for one look. BX-001, BX-020 */
static const char *beyond_the_frontier(struct fixture *f) {
    PGconn *conn = sql_connect(f), *late = sql_connect(f);
    sql_run(late, "begin; select enqueue('t', 'late')");
    sql_enqueue(conn, "first");
    assert_string_equal(sql_claim(conn, 10), "first");
    sql_run(conn, NO_FULL_LOOK);
    sql_enqueue(conn, "next");
    if (!same(sql_claim(conn, 10), "next"))
        return NEVER_LOOKED;
    sql_run(late, "commit");
    if (!same(sql_claim(conn, 10), "late"))
        return NEVER_LOOKED;
    sql_run(late, "begin; select enqueue('t', 'bulk') from generate_series(1, %d)", BULK);
    sql_enqueue(conn, "last");
    assert_string_equal(sql_claim(conn, 10), "last");
    sql_run(late, "commit");
    sql_run(conn, NO_FULL_LOOK);
    int64_t total =
        claim_some(conn, FIRST); /* the pool gets rows of as many: less than what the others want */
    for (int64_t got = total; got > 0; total += got)
        got = claim_some(conn, NEXT);
    return total == BULK ? NULL : NEVER_LOOKED;
}

static const struct trap TRAPS[] = {
    {"a_claim_that_finds_nothing_takes_no_turn",
     idle_claim,
     {{"looking first", "_claim_fresh", "if not :\"schema\"._is_any_beyond(f) then", "if false then",
       "a claim that finds nothing takes the turn"}}},
    {"a_claim_looks_at_all_that_may_be_beyond_the_frontier",
     beyond_the_frontier,
     {{"what comes after the position", "_is_any_beyond", "(m.xid, m.work_id) > (from_xid, from_id)", "false",
       NEVER_LOOKED},
      {"what was running in target", "_is_any_beyond",
       "pg_snapshot_xmin(f.target) <> pg_snapshot_xmax(f.target)", "false", NEVER_LOOKED},
      {"what was running in base", "_is_any_beyond", "pg_snapshot_xmin(f.base) <> base_end", "false",
       NEVER_LOOKED}}},
    {"the_pool_is_filled_before_it_is_empty",
     filled_in_time,
     {{"filling it", "_claim_at_once", "perform :\"schema\"._refill(p_box, wanted);", "null;",
       "the pool is filled only when it is empty"}}},
    {"nobody_waits_for_the_turn_to_fill_the_pool",
     nobody_waits_to_fill,
     {{"trying", "_refill", "._turn(p_box, false)", "._turn(p_box, true)", HANGS}}},
    {"a_batch_of_both_boxes_waits_before_it_takes_a_turn",
     batch_of_both_boxes,
     {{"the order", "process_work_batch", "perform :\"schema\"._before_claim(",
       "perform :\"schema\"._turn(0::smallint, true); perform :\"schema\"._before_claim(", UNDER_THE_TURN}}},
    {"claims_of_both_boxes_in_one_transaction_wait_before_a_turn",
     claims_of_both_boxes,
     {{"the order", "_before_claims", "perform :\"schema\"._before_claim(0::smallint);",
       "perform :\"schema\"._turn(0::smallint, true);", UNDER_THE_TURN}}},
    {"a_claim_inside_a_long_transaction_leaves_parked_work_to_others",
     bounded_wait,
     {{"the turn", "_turn", "if wait and box = 0 then", "if true then null; elsif wait and box = 0 then",
       FAILS}}},
    {"a_claim_without_the_turn_gets_past_what_is_locked",
     past_what_is_locked,
     {{"skip locked in the choice", "_claim_parked", "limit wanted for update skip locked", "limit wanted",
       "a locked message hides the ones behind it"}}},
    {"an_expired_lease_is_released_before_the_turn",
     expiry_against_replay,
     {{"the turn being the last lock", "_clear_expired", "perform :\"schema\"._try_expire_leases(",
       "perform :\"schema\"._turn(p_box, true);\n    perform :\"schema\"._expire_leases(", DEADLOCK}}},
    {"an_expired_lease_of_a_stream_that_somebody_holds_is_left_for_later",
     expiry_against_a_held_stream,
     {{"the bound of the wait", "_try_expire_leases", " SET lock_timeout TO '100ms'\n", "", HANGS}}},
    {"a_claim_passes_over_a_stream_that_is_locked",
     head_against_replay,
     {{"skip locked", "_lock_ready", "for update skip locked", "for update", DEADLOCK}}},
    {"a_claim_passes_over_a_head_that_is_locked",
     head_being_cancelled,
     {{"skip locked", "_head_runs", "for update skip locked", "for update", DEADLOCK}}},
    {"a_claim_passes_over_a_parked_message_that_is_locked",
     parked_against_cancel,
     {{"skip locked", "_claim_parked", "for update skip locked", "for update", DEADLOCK}}},
    {"a_claim_passes_over_a_suspect_that_is_locked",
     suspect_against_cancel,
     {{"skip locked", "_claim_suspect", "for update skip locked", "for update", HANGS}}},
    {"a_stream_goes_on_when_two_settle_at_once",
     stream_goes_on,
     {{"locking before looking", "_advance_streams", "limit 1 for update) s;", "limit 1) s;",
       "a stream stands still"}}},
    {"who_cancels_too_late_is_told_so",
     cancelled_too_late,
     {{"saying that it may be tried again", "_bury_fresh", "when unique_violation then",
       "when too_many_columns then", "a cancel fails in a way nobody expects"}}},
    {"a_message_cancelled_beside_one_who_replays_it_is_in_one_place",
     cancelled_while_replayed,
     {{"taking its row before anything else", "_bury_fresh",
       "any (ids) and m.lane = p_lane\n                   for update skip locked", "any (ids)", TWICE}}},
    {"what_would_halt_a_stream_that_somebody_holds_is_buried_later",
     halt_of_a_held_stream,
     {{"skip locked", "_free_to_die", "for update skip locked", "for update",
       "upkeep waits for another's transaction"},
      {"looking before the turn", "_expire_fresh",
       "case p_lane when 1 then :\"schema\"._free_to_die(p_box, due) else due end", "due",
       "upkeep waits for another's transaction"}}},
    {"a_stream_that_came_meanwhile_is_not_waited_for_under_the_turn",
     halt_of_a_new_stream,
     {{"skip locked", "_halt_streams", "for update skip locked", "for update", UNDER_THE_TURN}}},
    {"a_replay_locks_no_stream_that_came_meanwhile",
     replay_beside_a_new_stream,
     {{"staying with what it locked", "_requeue_streams", "_advance_streams(p_box, known, ts)",
       "_advance_streams(p_box, keys, ts)", DEADLOCK}}},
    {"two_upkeeps_at_once_meet_no_deadlock",
     two_upkeeps,
     {{"one at a time", "_maintain", "if :\"schema\"._upkeep_turn(p_box) then", "if true then", DEADLOCK}}},
};

const struct trap_group TURN_TRAPS = TRAP_GROUP(TRAPS);
