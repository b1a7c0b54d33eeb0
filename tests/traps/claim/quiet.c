/* The mark that saves most claims their looks aside: what ends it, and how long it is believed. */
#include "trap.h"

/* One message, as the library claims it: a transaction by itself. */
#define CLAIM_ONE                                                                                            \
    "select coalesce(max(payload), '') from _claim_numbered(0::smallint, " WORKER                            \
    ", '30 s', 1, null, null, false, true, 1, false)"
#define MARK "select coalesce(pg_sequence_last_value('outbox_quiet'), 0)"
#define SET_MARK                                                                                             \
    "select setval('outbox_quiet', floor(extract(epoch from clock_timestamp()) * 1000)::bigint + %d)"

enum { LATER_MS = 3600000, EARLIER_MS = -1000, WRITERS = 12, CLAIMS = 20 };

static bool becomes_quiet(PGconn *conn) {
    sql_run(conn, "select enqueue('t', 'fresh') from generate_series(1, 100)");
    for (int i = 0; i < 50; i++) {
        sql_run(conn, CLAIM_ONE);
        if (sql_number(conn, MARK) > 0)
            return true;
    }
    return false;
}

static void make_quiet(PGconn *conn) {
    if (!becomes_quiet(conn))
        fail_msg("no claim found the store quiet");
}

static bool is_quiet(PGconn *conn) { return sql_number(conn, MARK) > 0; }

/* BX-020 */
static const char *ready_again(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    make_quiet(conn);
    sql_run(conn,
            "select outbox_abandon(" WORKER ", array(select max(lower(items)) from lease), delay => '0')");
    if (is_quiet(conn))
        return "a message that was given back has to wait";
    sql_run(conn, "select outbox_claim(" WORKER ", '30 s', 100)"); /* all that is left */
    sql_run(conn, "select outbox_fail(" WORKER ", array(select max(lower(items)) from lease))");
    make_quiet(conn);
    sql_run(conn, "select _dead_replay(0::smallint, array(select work_id from dead), 'again')");
    if (is_quiet(conn))
        return "a message that is replayed has to wait";
    sql_run(conn, "select outbox_claim(" WORKER ", '30 s', 100)");
    make_quiet(conn);
    sql_run(conn, "select enqueue('t', 'streamed', stream => 's')");
    return is_quiet(conn) ? "a stream has to wait" : NULL;
}

/* Whether one of the next claims brings a message that was given back, though the mark is set to a time other
 * than now. */
static bool is_found_in_spite_of(PGconn *conn, int ms) {
    make_quiet(conn);
    sql_run(conn,
            "select outbox_abandon(" WORKER ", array(select max(lower(items)) from lease), delay => '0')");
    sql_run(conn, SET_MARK, ms);
    for (int i = 0; i < 4; i++)
        sql_run(conn, CLAIM_ONE);
    return sql_number(conn, "select count(*) from parked where epoch is null") == 0;
}

/* BX-009, BX-020 */
static const char *old_mark(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    if (!is_found_in_spite_of(conn, EARLIER_MS))
        return "an old mark is believed";
    return is_found_in_spite_of(conn, LATER_MS)
               ? NULL
               : "a mark is believed that the clock left behind when it was set back";
}

static const char LATE_WAITS[] = "a message of a stream that committed late has to wait";
static const char LOOKED_UP[] = "transactions that have ended are looked up for ever";

/* A message of a stream comes and is dealt with, and claimers notice that nothing of its stream is left. */
static void work_off_a_stream(PGconn *conn) {
    sql_run(conn, "select enqueue('t', 'streamed', stream => 's')");
    for (int i = 0; i < 4; i++)
        sql_run(conn, "select outbox_ack(" WORKER
                      ", array(select work_id from _claim_by_topics(0::smallint, " WORKER
                      ", '30 s', 10, null, true)))");
    assert_int_equal(sql_number(conn, "select count(*) from stream"), 0);
}

/* A message of a stream was handed out beside a transaction that has a number. Claims of plain messages do
 * not care whether that transaction still runs. BX-020 */
static const char *writer_beside_a_stream(struct fixture *f) {
    PGconn *conn = sql_connect(f), *writer = sql_connect(f);
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            sql_run(writer, "begin; select pg_current_xact_id()");
            work_off_a_stream(conn);
        } else {
            sql_run(writer, "commit");
        }
        sql_run(conn, NO_FULL_LOOK);
        sql_run(conn, "select setval('outbox_quiet', 0)");
        if (!becomes_quiet(conn))
            return "one open transaction ends the quiet for ever";
        sql_run(conn, "begin");
        sql_run(conn, CLAIM("gen_random_uuid()", "'30 s'", "40")); /* more than a row of the pool has */
        bool has_turn = sql_has_turn(conn);
        sql_run(conn, "commit");
        if (has_turn)
            return "claims of plain messages take the turn for streams that have nothing";
    }
    return NULL;
}

/* Whether one of the next claims brings what committed late; none of them has a full look. */
static bool is_late_one_found(PGconn *conn) {
    for (int i = 0; i < CLAIMS; i++) {
        sql_run(conn, SET_MARK, EARLIER_MS);
        if (same(sql_text(conn, CLAIM_ONE), "late"))
            return true;
    }
    return false;
}

/* The same, and then the transaction commits a message of a stream. BX-001, BX-060 */
static const char *late_in_the_quiet(struct fixture *f) {
    PGconn *conn = sql_connect(f), *late = sql_connect(f);
    sql_run(late, "begin; select enqueue('t', 'late', stream => 's')");
    work_off_a_stream(conn);
    sql_run(conn, NO_FULL_LOOK);
    make_quiet(conn);
    sql_run(late, "commit");
    return is_late_one_found(conn) ? NULL : LATE_WAITS;
}

/* Transactions that have ended are forgotten in the end: to look for messages of each costs every claim. One
 * that still runs is not. BX-001, BX-020 */
static const char *ended_writers(struct fixture *f) {
    PGconn *conn = sql_connect(f), *late = sql_connect(f), *writers[WRITERS];
    sql_run(late, "begin; select enqueue('t', 'late', stream => 's')");
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = sql_connect(f);
        sql_run(writers[i], "begin; select pg_current_xact_id()");
    }
    work_off_a_stream(conn);
    for (int i = 0; i < WRITERS; i++)
        sql_run(writers[i], "commit");
    for (int i = 0; i < 4; i++) {
        sql_run(conn, FULL_LOOK);
        sql_run(conn, CLAIM_ONE);
    }
    if (sql_number(conn, "select cardinality(array(select pg_snapshot_xip(base))) from frontier "
                         "where box = 0 and lane = 1 order by seq desc limit 1") >= WRITERS)
        return LOOKED_UP;
    sql_run(conn, NO_FULL_LOOK);
    sql_run(late, "commit");
    return is_late_one_found(conn) ? NULL : "a message of a stream that committed late is lost";
}

/* OBX-098 */
static const char *isolation(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    make_quiet(conn);
    sql_run(conn, "set default_transaction_isolation = 'repeatable read'");
    return same(sql_state(conn, CLAIM_ONE), "BX004") ? NULL : "a claim ran in another isolation";
}

#define END_QUIET "perform :\"schema\"._end_quiet(p_box);"
#define RUNNING_IN "pg_snapshot_xmin(f.base) <> pg_snapshot_xmax(f.base)"
#define NEW_STREAMED ":\"schema\"._has_new_streamed("
#define BELIEVED "between 0 and 19"

static const struct trap TRAPS[] = {
    {"what_becomes_ready_ends_the_quiet",
     ready_again,
     {{"the end at a release", "_release", END_QUIET, "", "a message that was given back has to wait"},
      {"the end at a streamed message", "_enqueue_one", "perform :\"schema\"._end_quiet(0::smallint);", "",
       "a stream has to wait"},
      {"the end at a replay", "_unbury", END_QUIET, "", "a message that is replayed has to wait"}}},
    {"the_mark_is_believed_for_a_moment",
     old_mark,
     {{"its end", "_claim_at_once", BELIEVED, "between 0 and 3600000", "an old mark is believed"},
      {"its beginning", "_claim_at_once", BELIEVED, "< 20",
       "a mark is believed that the clock left behind when it was set back"}}},
    {"a_transaction_beside_a_streamed_message_does_not_end_the_quiet",
     writer_beside_a_stream,
     {{"asking for its messages only", "_has_new_streamed", RUNNING_IN " and exists", RUNNING_IN " or exists",
       "one open transaction ends the quiet for ever"},
      {"the same for the turn", "_claim_items", "if not (" NEW_STREAMED, "if not (true or " NEW_STREAMED,
       "claims of plain messages take the turn for streams that have nothing"}}},
    {"a_streamed_message_that_commits_late_ends_the_quiet",
     late_in_the_quiet,
     {{"looking for it", "_has_new_streamed", RUNNING_IN " and exists", "false and exists", LATE_WAITS},
      {"looking in the quiet", "_is_quiet", "or " NEW_STREAMED, "or false and " NEW_STREAMED, LATE_WAITS},
      {"the same for the turn", "_claim_items", "if not (" NEW_STREAMED, "if not (false and " NEW_STREAMED,
       LATE_WAITS}}},
    {"transactions_that_have_ended_are_forgotten",
     ended_writers,
     {{"noticing", "_come_past_streams", "if ts >= f.look_at then", "if false then", LOOKED_UP},
      {"a look where no stream is due", "_claim_items", "if not with_streams then", "if false then",
       LOOKED_UP}}},
    {"a_claim_from_the_pool_refuses_another_isolation",
     isolation,
     {{"the look at it", "_claim_at_once", "current_setting('transaction_isolation') <> 'read committed'",
       "false", "a claim ran in another isolation"}}},
};

const struct trap_group QUIET_TRAPS = TRAP_GROUP(TRAPS);
