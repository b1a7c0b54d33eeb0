/* Settling messages of several streams: everybody locks them in one order. */
#include "trap.h"

static const char DEADLOCK[] = "a deadlock";

#define ID(payload) "(select work_id from message where payload = '" payload "')"
#define BATCH(ack, list, other)                                                                              \
    "select process_work_batch(" WORKER                                                                      \
    ", jsonb_build_object('outbox', jsonb_build_object('acks', jsonb_build_array(" ID(                       \
        ack) "), '" list "', jsonb_build_array(" ID(other) "))))"

static PGconn *quick_to_see_deadlocks(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "set deadlock_timeout = '100 ms'");
    return conn;
}

/* Two streams, of which the worker has a message each and another is dead. In the order of keys B comes
 * before a. */
static void take_two_streams(PGconn *conn) {
    static const char *const KEYS[] = {"a", "B"};
    for (int i = 0; i < 2; i++) {
        sql_enqueue_streamed(conn, KEYS[i], KEYS[i]);
        sql_run(conn, "select outbox_cancel((enqueue('t', 'dead', stream => '%s')).work_id)", KEYS[i]);
    }
    assert_int_equal(sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                      ", '30 s', 10, null, true)"),
                     2);
}

/* The same, and one lease has both: of B a message that came back, of a one straight from the log. */
static void take_two_streams_of_two_kinds(PGconn *conn) {
    sql_enqueue_streamed(conn, "B", "B");
    assert_string_equal(sql_claim(conn, 1), "B");
    sql_run(conn, "select outbox_defer(" WORKER ", array[" ID("B") "], null, '0')");
    sql_enqueue_streamed(conn, "a", "a");
    sql_run(
        conn,
        "select outbox_cancel((enqueue('t', 'dead', stream => s)).work_id) from unnest('{a,B}'::text[]) s");
    assert_int_equal(sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                      ", '30 s', 10, null, true)"),
                     2);
}

/* A transaction that replays dead letters of both streams waits for the first stream, and the settler comes
 * behind it: the replaying transaction must not have the other stream then. */
static const char *replay_beside(struct fixture *f, void (*take)(PGconn *conn), const char *settle) {
    PGconn *holder = sql_connect(f), *observer = sql_connect(f);
    PGconn *replayer = quick_to_see_deadlocks(f), *settler = quick_to_see_deadlocks(f);
    take(holder);
    sql_run(holder, "begin; select from stream where key = 'B' for update");
    sql_send(replayer, "select dead_replay(array(select work_id from dead))");
    sql_wait_blocked(observer, replayer);
    sql_send(settler, "%s", settle);
    sql_wait_blocked(observer, settler);
    sql_run(holder, "commit");
    const char *replayed = sql_answer(replayer), *settled = sql_answer(settler);
    if (same(replayed, "(40P01)") || same(settled, "(40P01)"))
        return DEADLOCK;
    assert_string_equal(replayed, "2");
    assert_int_equal(sql_number(observer, "select count(*) from lease"), 0);
    return NULL;
}

static const char *settle_against_replay(struct fixture *f, const char *settle) {
    return replay_beside(f, take_two_streams, settle);
}

/* BX-006, BX-025 */
static const char *two_kinds(struct fixture *f) {
    return replay_beside(f, take_two_streams_of_two_kinds,
                         "select outbox_ack(" WORKER ", array[" ID("a") ", " ID("B") "])");
}

/* BX-006, BX-025 */
static const char *one_list(struct fixture *f) {
    return settle_against_replay(f, "select outbox_ack(" WORKER ", array[" ID("a") ", " ID("B") "])");
}

static const char *one_list_back(struct fixture *f) {
    return settle_against_replay(f, "select outbox_defer(" WORKER
                                    ", array[" ID("a") ", " ID("B") "], null, '1 hour')");
}

static const char *two_lists(struct fixture *f) {
    return settle_against_replay(f, BATCH("a", "abandons", "B"));
}

static const char *acked_and_deferred(struct fixture *f) {
    return settle_against_replay(f, BATCH("a", "defers", "B"));
}

static const struct trap TRAPS[] = {
    {"streams_of_one_list_are_locked_in_the_order_that_all_keep",
     one_list,
     {{"an order that does not depend on the database", "_free_runs", "order by k.key) k",
       "order by k.key collate \"und-x-icu\") k", DEADLOCK}}},
    {"streams_of_which_a_message_was_parked_are_locked_with_the_others",
     two_kinds,
     {{"locking all at once", "_unpark", "keys := :\"schema\"._free_runs(p_box, epochs, keys, ts);",
       "keys := keys || :\"schema\"._free_runs(p_box, epochs, null, ts);", DEADLOCK}}},
    {"streams_of_one_list_that_comes_back_are_locked_in_the_order_that_all_keep",
     one_list_back,
     {{"an order that does not depend on the database", "_advance_streams",
       "select distinct k collate \"C\" from unnest(keys) k order by 1",
       "select k from unnest(keys) k order by k collate \"und-x-icu\"", DEADLOCK}}},
    {"streams_of_two_lists_are_locked_in_one_order",
     two_lists,
     {{"locking all of them first", "_lock_ahead",
       "perform :\"schema\"._hold_streams(0::smallint, outbox_parked);", "", DEADLOCK},
      {"knowing which may be in streams", "_hold_leases", "off_path := off_path + wanted * held.parked;", "",
       DEADLOCK}}},
    {"streams_of_what_is_deferred_are_locked_in_the_same_order",
     acked_and_deferred,
     {{"counting defers as a list", "_settled_ids", "'abandons', 'defers', 'fails'", "'abandons', 'fails'",
       DEADLOCK},
      {"the leases of what is deferred", "_lock_ahead", "outbox_ids || outbox_defers", "outbox_ids",
       DEADLOCK}}},
};

const struct trap_group SETTLE_TRAPS = TRAP_GROUP(TRAPS);
