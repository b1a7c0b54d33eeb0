/* Roles that may not claim cannot keep others from claiming, whatever locks they take. */
#include "trap.h"

static const char HELD_UP[] = "delivery waits for a role that may not claim";
static const char VIEWER_HOLDS[] = "a viewer holds the turn";
static const char TWICE[] = "a message was leased twice";

static const char ACK_WAITS[] = "an ack waits for a role that may not ack";

enum { PATIENCE_MS = 1900 }; /* less than claims wait for the turn */

/* A connection that acts for a role with this access, or with none. */
static PGconn *connect_as(struct fixture *f, const char *access) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "do $$ begin create role %s_%s; exception when duplicate_object then null; end $$",
            f->schema, access ? access : "nobody");
    if (access)
        sql_run(conn, "select grant_access('%s_%s', '%s')", f->schema, access, access);
    sql_run(conn, "set role %s_%s", f->schema, access ? access : "nobody");
    return conn;
}

static void drop_role(struct fixture *f, const char *name) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "drop owned by %s_%s; drop role %s_%s", f->schema, name, f->schema, name);
}

static const char *claims_beside(struct fixture *f, const char *verdict) {
    PGconn *claimer = sql_connect(f);
    sql_enqueue(claimer, "fresh");
    sql_send(claimer, CLAIM(WORKER, "'30 s'", "10"));
    bool in_time = sql_is_answered(claimer, PATIENCE_MS);
    return same(sql_answer(claimer), "fresh") && in_time ? NULL : verdict;
}

/* Any login can take advisory locks, and see which there are. BX-020 */
static const char *advisory_locks(struct fixture *f) {
    PGconn *outsider = connect_as(f, NULL);
    sql_run(outsider,
            "select pg_advisory_lock(c.oid::int, box) from pg_class c, generate_series(0, 1) box "
            "where c.relnamespace = '%s'::regnamespace",
            f->schema);
    const char *verdict = claims_beside(f, HELD_UP);
    sql_run(outsider, "select pg_advisory_unlock_all(); reset role");
    drop_role(f, "nobody");
    return verdict;
}

/* What the turn is taken by can be locked by the owner only. BX-020 */
static const char *locks_of_the_turn(struct fixture *f) {
    static const char *const ACCESS[] = {"producer", "worker", "viewer", "admin"};
    static const char *const TURNS[] = {"outbox_turn",  "inbox_turn", "event_turn",   "outbox_upkeep",
                                        "inbox_upkeep", "frontier",   "join_progress"};
    const char *verdict = NULL;
    for (size_t i = 0; i < sizeof(ACCESS) / sizeof(ACCESS[0]); i++) {
        PGconn *conn = connect_as(f, ACCESS[i]);
        for (size_t k = 0; k < sizeof(TURNS) / sizeof(TURNS[0]); k++) {
            sql_run(conn, "begin");
            if (!same(sql_state(conn, "lock table %s in share update exclusive mode", TURNS[k]), "42501"))
                verdict = HELD_UP;
            sql_run(conn, "rollback");
        }
        sql_run(conn, "reset role");
        drop_role(f, ACCESS[i]);
    }
    return verdict;
}

/* A viewer that has looked at everything keeps its transaction open. BX-020 */
static const char *open_viewer(struct fixture *f) {
    PGconn *conn = sql_connect(f), *viewer = connect_as(f, "viewer");
    sql_enqueue_streamed(conn, "s", "streamed");
    sql_run(viewer, "begin");
    sql_run(viewer, "select _sort_now(0::smallint)"); /* as programs of version 9 do */
    assert_string_equal(sql_text(viewer, "select stream || ' ' || state || ' ' || pending from "
                                         "_stream_page(0::smallint, null, false, '', '', 10)"),
                        "s ready 1");
    sql_run(viewer, "select _stats(0::smallint, true), _checkup(0::smallint, '1 s', '1 s', 10)");
    sql_enqueue(conn, "fresh");
    sql_send(conn, CLAIM(WORKER, "'30 s'", "10"));
    bool in_time = sql_is_answered(conn, PATIENCE_MS);
    bool all = same(sql_answer(conn), "fresh,streamed");
    sql_run(viewer, "rollback; reset role");
    drop_role(f, "viewer");
    return in_time && all ? NULL : VIEWER_HOLDS;
}

/* The lanes of a large join. BX-041 */
static const char *lanes(struct fixture *f) {
    PGconn *outsider = connect_as(f, NULL), *acker = sql_connect(f);
    sql_run(acker, "select join_start(100000)");
    sql_run(acker, "select enqueue('t', 'p', join_id => (select join_id from join_row))");
    sql_run(acker, "select _claim_by_topics(0::smallint, " WORKER ", '30 s', 1, null, true)");
    for (int lane = 0; lane <= 4; lane++)
        sql_run(outsider, "select pg_advisory_lock(%s)",
                sql_text(acker, "select uuid_hash_extended(join_id, %d)::text from join_row", lane));
    sql_run(acker, "alter function _lock_in_time(uuid[], bigint[]) set lock_timeout = '60s'");
    sql_send(acker, "select outbox_ack(" WORKER ", array[1])");
    bool in_time = sql_is_answered(acker, PATIENCE_MS);
    sql_run(outsider, "select pg_advisory_unlock_all()");
    sql_answer(acker);
    sql_run(outsider, "reset role");
    drop_role(f, "nobody");
    assert_int_equal(sql_number(acker, "select completed_steps from outbox_join"), 1);
    return in_time ? NULL : ACK_WAITS;
}

/* A transaction that took the turn as version 9 did is open while the functions become those of version 10:
 * the key of the frontier keeps the two apart. BX-002, BX-029 */
static const char *two_kinds_of_turn(struct fixture *f) {
    PGconn *old = sql_connect(f), *conn = sql_connect(f), *observer = sql_connect(f);
    for (int i = 0; i < 4; i++)
        sql_enqueue(conn, "p");
    const char *now = sql_text(conn, "select pg_get_functiondef('_turn'::regproc)");
    sql_run(conn, "create or replace function _turn(box smallint, wait boolean) returns boolean language "
                  "plpgsql as $$ begin "
                  "if wait then perform pg_advisory_xact_lock(1, box); end if; return wait; end $$");
    sql_run(old, "begin");
    assert_int_equal(sql_number(old, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                     ", '30 s', 2, null, true)"),
                     2);
    sql_run(conn, "%s", now);
    sql_send(conn, CLAIM(OTHER_WORKER, "'30 s'", "2"));
    bool waits = !sql_is_answered(conn, PATIENCE_MS);
    sql_run(old, "commit");
    const char *got = sql_answer(conn);
    if (sql_number(observer,
                   "select count(*) from lease a join lease b on a.items && b.items and a.epoch < b.epoch") >
        0)
        return TWICE;
    assert_true(waits && same(got, "(23505)")); /* the library tries again by itself */
    assert_string_equal(sql_claim(conn, 10), "p,p");
    return NULL;
}

static const struct trap TRAPS[] = {
    {"advisory_locks_of_others_hold_nobody_up",
     advisory_locks,
     {{"a lock that needs rights", "*", "box = 0 then\n        lock table",
       "box = 0 then\n        perform pg_advisory_xact_lock(':\"schema\".frontier'::regclass::oid::int, "
       "box);\n"
       "        lock table",
       HELD_UP}}},
    {"only_the_owner_can_lock_what_turns_are_taken_by", locks_of_the_turn, {{0}}},
    {"a_viewer_holds_nobody_up",
     open_viewer,
     {{"leaving the turn alone", "_sort_now", "null;", "perform :\"schema\"._turn(p_box, true);",
       VIEWER_HOLDS}}},
    {"advisory_locks_of_others_stop_no_join",
     lanes,
     {{"locks of rows", "_lock_join", "for i in 0 .. lanes - 1 loop",
       "perform pg_advisory_xact_lock(uuid_hash_extended(p_join, 1)); for i in 0 .. lanes - 1 loop",
       ACK_WAITS}}},
    {"claims_under_the_turns_of_two_versions_lease_nothing_twice",
     two_kinds_of_turn,
     {{"the key of the frontier", "_add_frontier", "insert into :\"schema\".frontier select f.*;",
       "f.seq := f.seq + pg_backend_pid(); insert into :\"schema\".frontier select f.*;", TWICE}}},
};

const struct trap_group OUTSIDER_TRAPS = TRAP_GROUP(TRAPS);
