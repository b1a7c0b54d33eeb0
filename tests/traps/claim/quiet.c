/* The mark that saves most claims their looks aside: what ends it, and how long it is believed. */
#include "trap.h"

/* One message, as the library claims it: a transaction by itself. */
#define CLAIM_ONE \
    "select coalesce(max(payload), '') from _claim_numbered(0::smallint, " WORKER ", '30 s', 1, null, null, false, true, 1, false)"
#define MARK "select coalesce(pg_sequence_last_value('outbox_quiet'), 0)"
#define SET_MARK "select setval('outbox_quiet', floor(extract(epoch from clock_timestamp()) * 1000)::bigint + %d)"

enum { LATER_MS = 3600000, EARLIER_MS = -1000 };

static void make_quiet(PGconn *conn)
{
    sql_run(conn, "select enqueue('t', 'fresh') from generate_series(1, 100)");
    for (int i = 0; i < 50; i++) {
        sql_run(conn, CLAIM_ONE);
        if (sql_number(conn, MARK) > 0)
            return;
    }
    fail_msg("no claim found the store quiet");
}

static bool is_quiet(PGconn *conn) { return sql_number(conn, MARK) > 0; }

/* BX-020 */
static const char *ready_again(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    make_quiet(conn);
    sql_run(conn, "select outbox_abandon(" WORKER ", array(select max(lower(items)) from lease), delay => '0')");
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

/* Whether one of the next claims brings a message that was given back, though the mark is set to a time other than now. */
static bool is_found_in_spite_of(PGconn *conn, int ms)
{
    make_quiet(conn);
    sql_run(conn, "select outbox_abandon(" WORKER ", array(select max(lower(items)) from lease), delay => '0')");
    sql_run(conn, SET_MARK, ms);
    for (int i = 0; i < 4; i++)
        sql_run(conn, CLAIM_ONE);
    return sql_number(conn, "select count(*) from parked where epoch is null") == 0;
}

/* BX-009, BX-020 */
static const char *old_mark(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    if (!is_found_in_spite_of(conn, EARLIER_MS))
        return "an old mark is believed";
    return is_found_in_spite_of(conn, LATER_MS) ? NULL : "a mark is believed that the clock left behind when it was set back";
}

/* OBX-098 */
static const char *isolation(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    make_quiet(conn);
    sql_run(conn, "set default_transaction_isolation = 'repeatable read'");
    return same(sql_state(conn, CLAIM_ONE), "BX004") ? NULL : "a claim ran in another isolation";
}

#define END_QUIET "perform :\"schema\"._end_quiet(p_box);"
#define BELIEVED "between 0 and 19"

static const struct trap TRAPS[] = {
    {"what_becomes_ready_ends_the_quiet", ready_again,
     {{"the end at a release", "_release", END_QUIET, "", "a message that was given back has to wait"},
      {"the end at a streamed message", "_enqueue_one", "perform :\"schema\"._end_quiet(0::smallint);", "", "a stream has to wait"},
      {"the end at a replay", "_unbury", END_QUIET, "", "a message that is replayed has to wait"}}},
    {"the_mark_is_believed_for_a_moment", old_mark,
     {{"its end", "_claim_at_once", BELIEVED, "between 0 and 3600000", "an old mark is believed"},
      {"its beginning", "_claim_at_once", BELIEVED, "< 20", "a mark is believed that the clock left behind when it was set back"}}},
    {"a_claim_from_the_pool_refuses_another_isolation", isolation,
     {{"the look at it", "_claim_at_once", "current_setting('transaction_isolation') <> 'read committed'", "false",
       "a claim ran in another isolation"}}},
};

const struct trap_group QUIET_TRAPS = TRAP_GROUP(TRAPS);
