/* Several readers of one log: what one of them takes early or locks is no other's business, and what one has
 * not ended stays. */
#include "trap.h"

static const char MISSED[] = "a subscription does not get a message";
static const char TWICE[] = "a message is handed out twice to one reader";
static const char WAITS[] = "a subscription waits for a claim of another reader";
static const char PURGED[] = "a message is gone that a reader has not ended";
static const char BOTH[] = "a message is leased twice after a rewind";

#define INSIDE "select string_agg(payload, ',' order by payload) from outbox_claim(" WORKER ", '30 s', 1)"
#define CLAIM_AUDIT                                                                                          \
    "select coalesce(string_agg(payload, ',' order by payload), '') from outbox_claim(" OTHER_WORKER         \
    ", '30 s', 10, alone => true, subscription => 'audit')"

#define CLAIM_ONE                                                                                            \
    "select string_agg(payload, ',') from outbox_claim(" OTHER_WORKER                                        \
    ", '30 s', 1, alone => true, subscription => 'audit')"

static void subscribe(PGconn *conn) { sql_run(conn, "select subscription_add('audit', '{t}')"); }

/* BX-091, BX-030 */
static const char *taken_early(struct fixture *f) {
    PGconn *conn = sql_connect(f), *inside = sql_connect(f);
    subscribe(conn);
    sql_run(conn, "select enqueue('t', 'a')");
    sql_run(inside, "begin");
    assert_true(same(sql_text(inside, INSIDE), "a"));
    sql_run(inside, "commit");
    return same(sql_text(conn, CLAIM_AUDIT), "a") ? NULL : MISSED;
}

/* BX-002, BX-030: a claimer comes past a message while it is held, and looks again when it is taken. */
static const char *taken_while_others_come_past(struct fixture *f) {
    PGconn *conn = sql_connect(f), *inside = sql_connect(f);
    subscribe(conn);
    sql_run(conn, "select enqueue('t', 'a')");
    sql_run(conn, "select enqueue('t', 'b')");
    sql_run(inside, "begin");
    assert_true(same(sql_text(inside, INSIDE), "a"));
    assert_true(same(sql_text(conn, CLAIM(OTHER_WORKER, "'30 s'", "10")), "b"));
    sql_run(inside, "commit");
    const char *again = sql_text(conn, CLAIM(OTHER_WORKER, "'30 s'", "10"));
    return same(again, "") ? NULL : TWICE;
}

/* BX-030, BX-091 */
static const char *held_by_another_reader(struct fixture *f) {
    PGconn *conn = sql_connect(f), *inside = sql_connect(f);
    subscribe(conn);
    sql_run(conn, "select enqueue('t', 'a')");
    sql_run(inside, "begin");
    assert_true(same(sql_text(inside, INSIDE), "a"));
    const char *got = sql_text(conn, CLAIM_AUDIT);
    sql_run(inside, "rollback");
    if (!same(got, "a"))
        return WAITS;
    return same(sql_text(conn, CLAIM(WORKER, "'30 s'", "10")), "a") ? NULL : MISSED;
}

/* BX-093 */
static const char *open_at_the_start(struct fixture *f) {
    PGconn *conn = sql_connect(f), *writer = sql_connect(f);
    sql_run(writer, "begin");
    sql_run(writer, "select enqueue('t', 'late')");
    sql_run(conn, "select enqueue('t', 'before')");
    subscribe(conn);
    sql_run(writer, "commit");
    return same(sql_text(conn, CLAIM_AUDIT), "late") ? NULL : MISSED;
}

/* BX-094 */
static const char *not_ended_by_all(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    subscribe(conn);
    sql_run(conn, "select enqueue('t', 'a')");
    sql_run(conn, "select _set('retention_done', 0)");
    assert_true(same(sql_text(conn, CLAIM(WORKER, "'30 s'", "10")), "a"));
    sql_run(conn, "select outbox_ack(" WORKER ", '{1}')");
    sql_run(conn, "select _maintain(0::smallint)");
    return same(sql_text(conn, CLAIM_AUDIT), "a") ? NULL : PURGED;
}

/* BX-002, BX-093: a claim is under way when its subscription is rewound. */
static const char *rewound_under_a_claim(struct fixture *f) {
    PGconn *conn = sql_connect(f), *claimer = sql_connect(f), *watcher = sql_connect(f);
    subscribe(conn);
    sql_run(conn, "select enqueue('t', 'a')");
    sql_run(conn, "select enqueue('t', 'b')");
    assert_true(
        same(sql_text(conn, CLAIM_ONE), "a")); /* the other one is in the pool now: that takes no turn */
    sql_run(claimer, "begin");
    assert_true(same(sql_text(claimer, CLAIM_ONE), "b"));
    sql_send(conn, "select subscription_rewind('audit', 'beginning')");
    sql_wait_blocked(watcher, conn);
    sql_run(claimer, "commit");
    sql_answer(conn);
    sql_text(conn, CLAIM_AUDIT);
    return sql_number(conn, "select count(*) from lease where items @> 2::bigint") == 1 ? NULL : BOTH;
}

static const struct trap TRAPS[] = {
    {"what_one_reader_takes_early_is_left_to_others",
     taken_early,
     {{"leaving it in the log", "_leave_out",
       "insert into :\"schema\".reader_skip (box, work_id) select p_box, i from unnest(ids) i on conflict do "
       "nothing;",
       "update :\"schema\".message m set lane = 2 where m.work_id = any (ids);", MISSED}}},
    {"what_a_reader_has_taken_early_does_not_come_again",
     taken_while_others_come_past,
     {{"looking again", "_sidestep", "select i from unnest(locked || not_ours) i where not",
       "select i from unnest(locked || not_ours) i where i > 0 or not", TWICE},
      {"remembering it", "_leave_out",
       "insert into :\"schema\".reader_skip (box, work_id) select p_box, i from unnest(ids) i on conflict do "
       "nothing;",
       "null;", TWICE}}},
    {"a_subscription_does_not_wait_for_a_claim_of_another_reader",
     held_by_another_reader,
     {{"saying for whom", "_claim_inside", "perform :\"schema\"._note_holder(f.box, pooled || ahead);",
       "null;", WAITS},
      {"asking for whom", "_sidestep", "<> p_box) end;", "is null) end;", WAITS}}},
    {"a_subscription_starts_with_what_commits_late",
     open_at_the_start,
     {{"the snapshot", "_start_reader", "case when p_end then :\"schema\"._snapshot() else",
       "case when p_end then format('%s:%s:', pg_snapshot_xmax(pg_current_snapshot()), "
       "pg_snapshot_xmax(pg_current_snapshot()))::pg_snapshot else",
       MISSED}}},
    {"a_message_stays_until_all_readers_have_ended_it",
     not_ended_by_all,
     {{"asking the others", "_remove_ended", "when f.at is null then not :\"schema\"._wants(",
       "when f.at is null then true or not :\"schema\"._wants(", PURGED}}},
    {"a_subscription_is_not_rewound_under_a_claim",
     rewound_under_a_claim,
     {{"keeping claims out", "subscription_rewind", "perform :\"schema\"._stop_claims(n, r.box);", "null;",
       BOTH}}},
};

const struct trap_group SUBSCRIPTION_TRAPS = TRAP_GROUP(TRAPS);
