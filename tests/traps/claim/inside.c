/* Claims inside a transaction of the caller's own, next to claims that are transactions by themselves
 * (BX-030): the first to come has the message, and nobody else. */
#include <string.h>

#include "trap.h"

static const char TWICE[] = "a message is leased twice";
static const char STUCK[] = "a message stays with a transaction that has ended";
static const char UNCOMMITTED[] = "a claim could not be committed";
static const char TOO_MANY[] = "a claim keeps more streams than it was to take";
static const char EARLY[] = "a message is handed out before it is due";
static const char HELD[] = "a message in an open claim is handed out";

enum { PATIENCE_MS = 1500 };

/* A claim of one in an open transaction. */
#define CLAIM_INSIDE                                                                                         \
    "select coalesce(string_agg(payload, ','), '') from outbox_claim(" OTHER_WORKER ", '30 s', 1)"

static void enqueue_abc(PGconn *conn) {
    for (const char *name = "abc"; *name; name++)
        sql_run(conn, "select enqueue('t', '%c')", *name);
}

/* The same, in the pool. */
static void pool_abc(PGconn *conn) {
    sql_enqueue(conn, "first");
    enqueue_abc(conn);
    assert_string_equal(sql_claim(conn, 1), "first");
    sql_run(conn, "select outbox_ack(" WORKER ", array[1])");
    assert_int_equal(sql_number(conn, "select sum(size) from pool"), 3);
}

static bool are_leased_twice(PGconn *conn) {
    return sql_number(
               conn,
               "select count(*) from lease a join lease b on a.items && b.items and a.epoch < b.epoch") > 0;
}

/* A claim that is a transaction by itself has taken the first message and has not committed yet; the claim
 * inside a transaction still sees the message where it was. It may wait for the other claim, which ends
 * soon. */
static const char *beside_one_alone(struct fixture *f, void (*prepare)(PGconn *)) {
    PGconn *alone = sql_connect(f), *inside = sql_connect(f);
    prepare(alone);
    sql_run(alone, "begin");
    assert_string_equal(sql_claim(alone, 1), "a");
    sql_run(inside, "begin");
    sql_send(inside, CLAIM_INSIDE);
    sql_is_answered(inside, PATIENCE_MS);
    sql_run(alone, "commit");
    const char *got = sql_answer(inside);
    if (!same(sql_state(inside, "commit"), ""))
        return UNCOMMITTED;
    if (are_leased_twice(alone))
        return TWICE;
    return same(got, "b") ? NULL : "a claim got something else than the next message";
}

/* BX-002, BX-030 */
static const char *beside_the_pool(struct fixture *f) { return beside_one_alone(f, pool_abc); }

/* BX-002, BX-030 */
static const char *beside_the_log(struct fixture *f) { return beside_one_alone(f, enqueue_abc); }

/* The other way round: the claim inside a transaction came first and stays open. */
static const char *before_one_alone(struct fixture *f, int count) {
    PGconn *alone = sql_connect(f), *inside = sql_connect(f);
    pool_abc(alone);
    sql_run(inside, "begin");
    assert_string_equal(sql_text(inside, CLAIM_INSIDE), "a");
    if (!same(sql_claim(alone, count), count == 2 ? "b,c" : "b"))
        return HELD;
    sql_run(inside, "rollback");
    if (!same(sql_claim(alone, 10), count == 2 ? "a" : "a,c"))
        return STUCK;
    return sql_number(alone, "select count(*) from pool") == 0 ? NULL : STUCK;
}

/* BX-002, BX-030 */
static const char *before_a_claim_of_one(struct fixture *f) { return before_one_alone(f, 1); }

/* BX-002, BX-030 */
static const char *before_a_claim_of_more(struct fixture *f) { return before_one_alone(f, 2); }

/* It commits; the traces of its locks are gone by then. */
static const char *committed(struct fixture *f, void (*prepare)(PGconn *)) {
    PGconn *alone = sql_connect(f), *inside = sql_connect(f);
    prepare(alone);
    sql_run(inside, "begin");
    assert_string_equal(sql_text(inside, CLAIM_INSIDE), "a");
    sql_run(inside, "commit");
    sql_run(alone, "vacuum freeze message");
    const char *got = sql_claim(alone, 10);
    if (are_leased_twice(alone))
        return TWICE;
    return same(got, "b,c") ? NULL : "a claim got something else than the rest";
}

/* BX-002, BX-030 */
static const char *committed_from_the_pool(struct fixture *f) { return committed(f, pool_abc); }

/* BX-002, BX-030 */
static const char *committed_from_the_log(struct fixture *f) { return committed(f, enqueue_abc); }

#define WAITING(verdict)                                                                                     \
    {                                                                                                        \
        "waiting for faster claims", "_claim_inside",                                                        \
            "in_time := :\"schema\"._let_others_end(f.box, places, ahead <> '{}');", "in_time := true;",     \
            verdict                                                                                          \
    }

/* A claim that wants nothing of what it comes past. */
#define SORT_ALL "select count(*) from _claim_by_topics(0::smallint, " WORKER ", '30 s', 1, '{none}', true)"

/* A message that is not ready, beyond the frontier: the claim that sorts it parks it. BX-002, BX-030 */
static const char *one_that_is_due_later(struct fixture *f) {
    PGconn *inside = sql_connect(f);
    sql_run(inside, "select enqueue('t', 'a', due_at => now() + '1 hour')");
    sql_run(inside, "begin");
    const char *got = sql_text(inside, CLAIM_INSIDE);
    sql_run(inside, "commit");
    return same(got, "") ? NULL : EARLY;
}

/* The same while somebody cancels it. BX-004, BX-028 */
static const char *one_that_is_cancelled(struct fixture *f) {
    PGconn *canceller = sql_connect(f), *alone = sql_connect(f);
    sql_run(alone, "select enqueue('t', 'a', due_at => now() + '1 hour')");
    sql_run(canceller, "begin");
    sql_run(canceller, "select outbox_cancel(1)");
    sql_run(alone, SORT_ALL);
    sql_run(canceller, "commit");
    if (sql_number(alone, "select count(*) from dead join parked using (work_id)") > 0)
        return "a message is dead and parked";
    sql_run(alone, "select enqueue('t', 'b', due_at => now() + '1 hour')");
    sql_run(canceller, "begin");
    sql_run(canceller, "select outbox_cancel(2)");
    sql_run(alone, SORT_ALL);
    sql_run(canceller, "rollback");
    if (!same(sql_claim(alone, 10), "") || !same(sql_claim(alone, 10), ""))
        return EARLY;
    return sql_number(alone, "select count(*) from parked where work_id = 2") == 1 ? NULL
                                                                                   : "a message is lost";
}

/* What is held lies in the pool under the number of its holder, which may be that of a savepoint that was
 * rolled back: then it is freed, and the holder finds it elsewhere when it commits. BX-002, BX-030 */
static const char *moved_meanwhile(struct fixture *f) {
    PGconn *inside = sql_connect(f), *alone = sql_connect(f);
    pool_abc(alone);
    sql_run(inside, "begin");
    assert_string_equal(sql_text(inside, CLAIM_INSIDE), "a");
    assert_string_equal(sql_claim(alone, 1), "b");
    sql_run(alone, "update pool set holder = null");
    if (!same(sql_state(inside, "commit"), ""))
        return UNCOMMITTED;
    return same(sql_claim(alone, 10), "c") ? NULL : TWICE;
}

/* What is done for others at the end goes wrong. BX-001, BX-030 */
static const char *trouble_at_the_end(struct fixture *f) {
    PGconn *inside = sql_connect(f);
    enqueue_abc(inside);
    sql_run(inside, "begin");
    assert_string_equal(sql_text(inside, CLAIM_INSIDE), "a");
    sql_run(inside, "create or replace function _clear_expired(p_box smallint, overdue interval) returns "
                    "void language plpgsql as "
                    "$$ begin raise exception using errcode = '40P01'; end $$");
    return same(sql_state(inside, "commit"), "") ? NULL : UNCOMMITTED;
}

#define SORT_STREAMS_BY(from, to)                                                                            \
    "execute replace(pg_get_functiondef('_come_past_streams'::regproc), 'is null then " from                 \
    " else', 'is null then " to " else');"

/* A claim that is not the first statement of its transaction. */
static const char *claim_later(PGconn *conn) {
    sql_run(conn, "begin");
    sql_run(conn, "select 1");
    const char *got = sql_text(conn, CLAIM_INSIDE);
    sql_run(conn, "commit");
    return got;
}

/* In the log the second message of a stream comes before the first, because its transaction began earlier,
 * and claimers have met only that one. BX-030, BX-060 */
static const char *half_a_window(struct fixture *f) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    sql_run(other, "begin");
    sql_text(other, "select pg_current_xact_id()");
    sql_enqueue_streamed(conn, "s", "first");
    sql_enqueue_streamed(other, "s", "second");
    sql_run(other, "commit");
    sql_run(conn, "update frontier set target_fence = null"); /* which numbers there were is not known */
    sql_run(conn,
            "do $$ begin " SORT_STREAMS_BY(
                "5000", "1") "perform _turn(0::smallint, true); perform _come_past_streams(0::smallint, "
                             "now(), 1000); " SORT_STREAMS_BY("1", "5000") "end $$");
    assert_string_equal(sql_text(conn, "select key from stream"), "s");
    const char *got = claim_later(conn);
    if (!same(got, ""))
        return "a message has overtaken another of its stream";
    return same(claim_later(conn), "first") ? NULL : "nobody has sorted the stream";
}

/* A stream from which a claim takes nothing stays free for others. BX-030 */
static const char *streams_left_alone(struct fixture *f) {
    PGconn *conn = sql_connect(f), *inside = sql_connect(f);
    for (const char *name = "abc"; *name; name++)
        sql_run(conn, "select enqueue('t', '%c', stream => '%c')", *name, *name);
    sql_run(conn, SORT_STREAMS);
    sql_run(inside, "begin");
    sql_run(inside, "select 1");
    bool took_one = strlen(sql_text(inside, CLAIM_INSIDE)) == strlen("a");
    return took_one && strlen(sql_claim(conn, 10)) == strlen("b,c") ? NULL : TOO_MANY;
}

/* Rows of the pool cannot be changed, for whatever reason. BX-002 */
static const char *pool_that_stays(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    pool_abc(conn);
    sql_run(conn, "create function nothing() returns trigger language plpgsql as 'begin return null; end'");
    sql_run(conn,
            "create trigger nothing before update or delete on pool for each row execute function nothing()");
    for (int count = 1; count <= 3; count += 2)
        sql_state(conn, CLAIM(WORKER, "'30 s'", "%d"), count);
    return sql_number(conn, "select count(*) from lease") == 0 ? NULL : "what is in the pool is leased";
}

/* SET CONSTRAINTS calls what is to be done at the end, for all claims of the transaction. BX-030 */
static const char *constraints_made_immediate(struct fixture *f) {
    PGconn *inside = sql_connect(f), *alone = sql_connect(f);
    pool_abc(alone);
    sql_run(inside, "begin");
    assert_string_equal(sql_text(inside, CLAIM_INSIDE), "a");
    assert_string_equal(sql_text(inside, CLAIM_INSIDE), "b");
    sql_run(inside, "set constraints all immediate");
    const char *got = sql_claim(alone, 1);
    sql_run(inside, "commit");
    return same(got, "c") ? NULL : "an open claim keeps a row of the pool";
}

/* Somebody sits on many messages in the pool, and all others claim inside transactions, too. BX-030 */
static const char *many_that_are_held(struct fixture *f) {
    PGconn *sitter = sql_connect(f), *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', 'p') from generate_series(1, 400)");
    sql_run(conn, "do $$ begin perform _turn(0::smallint, true); perform _fill_pool(0::smallint); end $$");
    sql_run(sitter, "begin");
    assert_int_equal(sql_number(sitter, "select count(*) from outbox_claim(" WORKER ", '30 s', 300)"), 300);
    assert_string_equal(claim_later(conn), "p");
    int64_t aside = sql_number(conn, "select coalesce(sum(size), 0) from pool where holder is not null");
    sql_run(sitter, "rollback");
    if (sql_number(conn, "select count(*) from outbox_claim(" OTHER_WORKER ", '30 s', 1000)") != 399 ||
        are_leased_twice(conn))
        return STUCK;
    return aside == 300 ? NULL : "claims meet held messages one by one";
}

static const struct trap TRAPS[] = {
    {"a_claim_inside_a_transaction_leaves_what_was_taken_from_the_pool",
     beside_the_pool,
     {WAITING(UNCOMMITTED),
      {"looking again", "_claim_inside", "not :\"schema\"._are_in_pool(f.box, pooled, places) or", "",
       UNCOMMITTED}}},
    {"a_claim_inside_a_transaction_leaves_what_was_taken_from_the_log",
     beside_the_log,
     {WAITING(TWICE),
      {"looking again", "_claim_inside", "where m.work_id = any (ahead) and (m.era", "where false and (m.era",
       TWICE}}},
    {"what_is_claimed_inside_a_transaction_is_left_by_a_claim_of_one",
     before_a_claim_of_one,
     {{"looking for locks at once", "_claim_at_once", "one.locker = 0 and", "", HELD},
      {"looking for locks", "_leave_held", "or met.touched", "", HELD},
      {"freeing what is not held any more", "_free_pool", "set holder = null", "set holder = p.holder",
       STUCK}}},
    {"what_is_claimed_inside_a_transaction_is_left_by_a_claim_of_more",
     before_a_claim_of_more,
     {{"looking for locks at once", "_claim_at_once", "and not bool_or(m.xmax <> 0 or m.lane <> 0)", "",
       HELD},
      {"looking for locks", "_leave_held", "or met.touched", "", HELD},
      {"freeing what is not held any more", "_free_pool", "set holder = null", "set holder = p.holder",
       STUCK}}},
    {"what_was_claimed_inside_a_transaction_leaves_the_pool",
     committed_from_the_pool,
     {{"taking it out", "_at_end", "perform :\"schema\"._leave_pool(new.box, new.places, new.items);",
       "null;", TWICE}}},
    {"what_was_moved_meanwhile_leaves_the_pool",
     moved_meanwhile,
     {{"looking everywhere", "_leave_pool", "i > 2 or", "", UNCOMMITTED},
      {"failing otherwise", "_leave_pool",
       "(i > 2 or p.place = any (p_places) or p.holder is not null) and p.items && rest", "i > 20",
       UNCOMMITTED}}},
    {"a_claim_inside_a_transaction_leaves_what_is_not_ready_to_others",
     one_that_is_due_later,
     {{"leaving it", "_lock_beyond", "where x.reads and x.due_at is null and x.expires_at is null",
       "where true", EARLY}}},
    {"a_message_that_is_cancelled_before_it_is_due_is_not_parked",
     one_that_is_cancelled,
     {{"leaving it alone", "_sort_window", "m.xmax = 0 and m.lane = 0", "true",
       "a message is dead and parked"},
      {"marking it", "_sidestep", "m.due_at is not null or", "", EARLY},
      {"parking it afterwards", "_free_pool", "perform :\"schema\"._park_fresh(", "perform (",
       "a message is lost"}}},
    {"what_goes_wrong_after_a_claim_does_not_stop_its_commit",
     trouble_at_the_end,
     {{"catching it", "_at_end", "exception when others then", "exception when too_many_columns then",
       UNCOMMITTED}}},
    {"what_was_claimed_inside_a_transaction_leaves_the_log",
     committed_from_the_log,
     {{"taking it out of its lane", "_claim_inside", "perform :\"schema\"._leave_out(f.box, ahead);", "null;",
       TWICE}}},
    {"set_constraints_makes_no_claim_keep_the_pool",
     constraints_made_immediate,
     {{"waiting for the end", "_at_end", "elsif not :\"schema\"._is_ending(new.noted_at) then",
       "elsif false then", "an open claim keeps a row of the pool"},
      {"all of them", "_is_ending", "if extract(epoch from p_noted_at) <", "if 0 >",
       "an open claim keeps a row of the pool"}}},
    {"what_is_held_is_set_aside_by_claims_inside_a_transaction",
     many_that_are_held,
     {{"noting where it is", "_claim_inside", "if crowded.total > 100 and crowded.places is not null then",
       "if false then", "claims meet held messages one by one"},
      {"setting it aside", "_at_end", "perform :\"schema\"._set_aside(new.box, new.places[2:]);", "null;",
       "claims meet held messages one by one"}}},
    {"what_stays_in_the_pool_is_not_leased",
     pool_that_stays,
     {{"looking whether it has left", "_take_pooled", "if not found then", "if false then",
       "what is in the pool is leased"},
      {"the same at once", "_claim_at_once", "if not found then", "if false then",
       "what is in the pool is leased"}}},
    {"a_claim_inside_a_transaction_takes_no_head_of_half_a_window",
     half_a_window,
     {{"looking whether all is sorted", "_log_runs", "where f.is_open or has_turn", "where true",
       "a message has overtaken another of its stream"},
      {"sorting at the end", "_tend_streams", "if :\"schema\"._come_past_streams(p_box, ts, 1000) then",
       "if false then", "nobody has sorted the stream"}}},
    {"a_claim_inside_a_transaction_leaves_other_streams_alone",
     streams_left_alone,
     {{"giving locks back", "_heads_inside", "raise exception using errcode = 'BX099';", "null;", TOO_MANY}}},
};

const struct trap_group INSIDE_TRAPS = TRAP_GROUP(TRAPS);
