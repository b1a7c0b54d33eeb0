/* Events: one order for all followers, whichever transaction commits when, at a cost that does not grow with
 * the number of events. All of it is BX-066. */
#include "trap.h"

static const char LOST[] = "an event was overlooked";
static const char OVERTAKEN[] = "version 2 came before version 1";
static const char HANGS[] = "a reader waits for another's open transaction";
static const char REFUSED[] = "an append failed during another one";
static const char STUCK[] = "readers that have written before see nothing new";
static const char WALKS[] = "a call reads events it has nothing to do with";

#define APPEND(stream) "select version from event_append('" stream "', 'T', 'p')"
/* What follows, as "stream:version,...". */
#define FOLLOW                                                                                               \
    "select coalesce(string_agg(stream || version, ',' order by position), '') from event_read_all(0, "      \
    "10000)"

static const char *follow(PGconn *conn) { return sql_text(conn, FOLLOW); }

/* Running when somebody looked, with others that had ended behind it. */
static const char *late_commit(struct fixture *f) {
    PGconn *late = sql_connect(f), *other = sql_connect(f);
    sql_run(late, "begin");
    sql_run(late, APPEND("a"));
    sql_run(other, APPEND("b"));
    assert_string_equal(follow(other), "b1");
    sql_run(late, APPEND("a"));
    sql_run(late, "commit");
    sql_run(other, APPEND("b"));
    return same(follow(other), "b1,a1,a2,b2") ? NULL : LOST;
}

/* Running when somebody looked, with nobody behind it that had ended: the snapshot ends before it. Others on
 * the same server may end meanwhile, so it is tried until it was so. */
static const char *late_commit_behind_the_snapshot(struct fixture *f) {
    PGconn *late = sql_connect(f), *other = sql_connect(f);
    for (int i = 0; i < 500; i++) {
        sql_run(other, APPEND("b"));
        sql_run(late, "begin");
        sql_run(late, APPEND("a"));
        const char *xid = sql_text(late, "select pg_current_xact_id()");
        sql_run(other, FOLLOW);
        int64_t behind =
            sql_number(other,
                       "select (pg_snapshot_xmax(target) <= '%s'::xid8)::int from event_frontier "
                       "order by seq desc limit 1",
                       xid);
        sql_run(late, "commit");
        if (behind)
            break;
    }
    sql_run(other, FOLLOW);
    return sql_number(other, "select count(*) from event where position is null") == 0 ? NULL : LOST;
}

/* One transaction appends, reads, and appends again. */
static const char *own_transaction(struct fixture *f) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    sql_run(conn, "begin");
    sql_run(conn, APPEND("a"));
    sql_run(other, APPEND("b"));
    sql_run(conn, FOLLOW);
    sql_run(conn, APPEND("a"));
    sql_run(conn, "commit");
    sql_run(other, FOLLOW);
    return sql_number(other, "select count(*) from event where position is null") == 0 ? NULL : LOST;
}

/* The transaction with the lower number appends the later version. */
static const char *older_transaction(struct fixture *f) {
    PGconn *t1 = sql_connect(f), *t2 = sql_connect(f);
    sql_run(t2, "begin");
    sql_run(t2, APPEND("other"));
    sql_run(t1, APPEND("s"));
    sql_run(t2, APPEND("s"));
    sql_run(t2, "commit");
    return same(follow(t1), "other1,s1,s2") ? NULL : OVERTAKEN;
}

/* The same with late transactions that are looked up one by one, cut by the size of a step. */
static const char *late_ones_in_steps(struct fixture *f) {
    PGconn *t1 = sql_connect(f), *t2 = sql_connect(f), *other = sql_connect(f);
    sql_run(t2, "begin");
    sql_run(t2, APPEND("t"));
    sql_run(t1, "begin");
    sql_run(t1, APPEND("s"));
    sql_run(other, APPEND("b"));
    assert_string_equal(follow(other), "b1");
    sql_run(t1, "commit");
    sql_run(t2, APPEND("s"));
    sql_run(t2, "commit");
    for (int i = 0; i < 6; i++)
        sql_run(other, "select _sequence_events(1, true)");
    if (sql_number(other, "select count(*) from event where position is null") > 0)
        return LOST;
    return sql_number(
               other,
               "select count(*) from event a join event b on a.stream = b.stream and a.version < b.version "
               "and a.position > b.position") == 0
               ? NULL
               : OVERTAKEN;
}

/* A step took just what there was, and then only sessions read that have written before, as projections
 * do. */
static const char *used_up_window(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    const char *seen = "";
    sql_run(conn, APPEND("a"));
    sql_run(conn, "select _sequence_events(1, true)");
    sql_run(conn, APPEND("b"));
    for (int i = 0; i < 2; i++) { /* the first finds the window used up, the second takes the next */
        sql_run(conn, "begin");
        sql_run(conn, "select pg_current_xact_id()");
        seen = follow(conn);
        sql_run(conn, "commit");
    }
    return same(seen, "a1,b1") ? NULL : STUCK;
}

static const char *two_writers(struct fixture *f) {
    PGconn *first = sql_connect(f), *second = sql_connect(f), *observer = sql_connect(f);
    sql_run(first, APPEND("s"));
    sql_run(first, "begin");
    sql_run(first, APPEND("s"));
    sql_send(second, APPEND("s"));
    sql_wait_blocked(observer, second);
    sql_run(first, "commit");
    return same(sql_answer(second), "3") ? NULL : REFUSED;
}

static const char *reader_in_an_open_transaction(struct fixture *f) {
    PGconn *first = sql_connect(f), *second = sql_connect(f);
    sql_run(first, APPEND("s"));
    sql_run(first, "begin");
    assert_string_equal(follow(first), "s1");
    sql_send(second, FOLLOW);
    bool answered = sql_is_answered(second, 5000);
    sql_run(first, "commit");
    (void)sql_answer(second);
    return answered ? NULL : HANGS;
}

#define MANY                                                                                                 \
    "select count(*) from event_append_many('s', (select jsonb_agg('{\"type\": \"T\", \"payload\": "         \
    "\"\"}'::jsonb) "                                                                                        \
    "from generate_series(1, 1000)))"

static int64_t event_reads(PGconn *conn) {
    return sql_reads(conn, "event_row_pkey") + sql_reads(conn, "event_row_xid") +
           sql_reads(conn, "event_row") + sql_reads(conn, "event_row_event_id") +
           sql_reads(conn, "event_row_version");
}

/* All positions are given out by transactions that had their own number before. */
static const char *idle_reader(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    for (int i = 0; i < 5; i++) {
        sql_run(conn, MANY);
        sql_run(conn, "begin");
        sql_run(conn, "select pg_current_xact_id()");
        sql_run(conn, "select count(*) from event_read_all(%d)", 1000 * i);
        sql_run(conn, "commit");
    }
    sql_run(conn, "begin");
    int64_t before = event_reads(conn);
    sql_run(conn, "select count(*) from event_read_all(5000)");
    int64_t reads = event_reads(conn) - before;
    sql_run(conn, "commit");
    return reads < 50 ? NULL : WALKS;
}

/* An append reads the end of its stream, a reader its page. */
static const char *calls_in_a_long_log(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    for (int i = 0; i < 5; i++)
        sql_run(conn, MANY);
    sql_run(conn, "select count(*) from event_read_all()");
    sql_run(conn, "begin");
    int64_t before = event_reads(conn);
    sql_run(conn, APPEND("s"));
    sql_run(conn, "select count(*) from event_read('s', 4000, 5)");
    sql_run(conn, "select count(*) from event_read_all(3000, 5)");
    int64_t reads = event_reads(conn) - before;
    sql_run(conn, "commit");
    return reads < 50 ? NULL : WALKS;
}

/* Plans were made while the tables were empty. */
static const char *pins(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    return sql_number(
               conn,
               "select count(*) from pg_proc p where p.pronamespace = current_schema()::regnamespace "
               "and p.proname in ('_event_append', '_event_frontier', '_event_choice', '_event_read_all', "
               "'_event_spans', '_event_window', '_events_at', '_sequence_events', "
               "'_sequence_events_behind', 'event_append', 'event_append_many', 'event_read', "
               "'event_read_all') and p.proconfig @> array['plan_cache_mode=force_generic_plan', "
               "'enable_seqscan=off', 'jit=off', 'search_path=pg_catalog, pg_temp']") == 13
               ? NULL
               : "a function on the hot path is not pinned";
}

#define RUNNING "select pg_snapshot_xip(f.base) as x"

static const struct trap TRAPS[] = {
    {"an_event_committed_late_is_still_followed",
     late_commit,
     {{"the look at transactions that were running", "_event_window", RUNNING, "select '0'::xid8 as x",
       LOST}}},
    {"an_event_that_lies_behind_the_snapshots_end_is_still_followed",
     late_commit_behind_the_snapshot,
     {{"the look at transactions behind it", "_event_window", "f.base_xid::text::bigint", "0::bigint",
       LOST}}},
    {"an_event_appended_after_reading_in_the_same_transaction_is_followed",
     own_transaction,
     {{"counting our own transaction as running", "_snapshot", "if own is null or",
       "if true or own is null or", LOST}}},
    {"versions_are_followed_in_order_whatever_the_transactions_numbers",
     older_transaction,
     {{"the order of numbers", "_event_window", "order by e.event_no limit wanted - found_late",
       "order by e.xid, e.event_no limit wanted - found_late", OVERTAKEN}}},
    {"late_versions_are_followed_in_order_in_steps",
     late_ones_in_steps,
     {{"keeping the window open", "_sequence_events", "cardinality(ids) >= p_most", "false", LOST}}},
    {"a_window_that_is_used_up_is_closed_by_whoever_reads",
     used_up_window,
     {{"closing it", "_sequence_events", "and not f.is_open and", "and", STUCK}}},
    {"writers_of_a_stream_take_turns",
     two_writers,
     {{"the lock on the stream", "_event_append", "for no key update", "", REFUSED}}},
    {"a_reader_in_an_open_transaction_is_not_waited_for",
     reader_in_an_open_transaction,
     {{"the turn", "_event_turn", "if p_wait then", "if true then null; elsif p_wait then", HANGS},
      {"the bound", "_event_turn", " SET lock_timeout TO '250ms'\n", "", HANGS}}},
    {"an_idle_reader_reads_no_old_events",
     idle_reader,
     {{"the numbers of the next base", "_sequence_events", "f.target_low := low;", "", WALKS}}},
    {"calls_read_what_they_return", calls_in_a_long_log, {{0}}},
    {"plans_are_pinned", pins, {{0}}},
};

const struct trap_group EVENT_TRAPS = TRAP_GROUP(TRAPS);
