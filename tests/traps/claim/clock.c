/* The clock of the server set back by an hour: bounds in the frontier lie ahead of it. Work that was parked,
 * leased or enqueued since must not wait until the clock is there again. */
#include "trap.h"

static const char WAITS[] = "parked work waits until the clock is there again";
static const char HELD[] = "an expired lease is kept until the clock is there again";
static const char IGNORED[] = "the owner of a lease is not known until the clock is there again";
static const char LIVES[] = "what expired lives on until the clock is there again";

/* The last claim was made an hour ahead of the clock. */
static void set_back(PGconn *conn) {
    sql_run(conn, "update frontier set lease_from = lease_from + interval '1 hour', due_from = due_from + "
                  "interval '1 hour', "
                  "expiring_from = expiring_from + interval '1 hour', look_at = look_at + interval '1 hour' "
                  "where lane = 0");
    sql_run(conn, "update frontier set expired_from = now() + interval '1 hour'");
}

/* A store in which something was claimed lately. */
static PGconn *begin(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_enqueue(conn, "first");
    assert_string_equal(sql_claim(conn, 1), "first");
    return conn;
}

/* BX-009, BX-020 */
static const char *due_retry(struct fixture *f) {
    PGconn *conn = begin(f);
    set_back(conn);
    sql_run(conn,
            "select outbox_abandon(" WORKER ", array[1], array[(select epoch from lease)], delay => '0')");
    return same(sql_claim(conn, 1), "first") ? NULL : WAITS;
}

/* One that was committed late lies before bounds that are true; only a full look finds it. BX-009, BX-020 */
static const char *late_retry(struct fixture *f) {
    PGconn *conn = begin(f);
    sql_run(conn, "select outbox_abandon(" WORKER ", array[1], delay => '0')");
    sql_run(conn, "update parked set available_at = now() - interval '1 minute'");
    sql_run(conn,
            "update frontier set due_from = now() - interval '1 second', look_at = now() + interval '1 hour' "
            "where lane = 0");
    return same(sql_claim(conn, 1), "first") ? NULL : WAITS;
}

/* BX-003, BX-009 */
static const char *expired_lease(struct fixture *f) {
    PGconn *conn = begin(f);
    set_back(conn);
    sql_run(conn, "update lease set until = clock_timestamp()");
    return same(sql_claim(conn, 1), "first") ? NULL : HELD;
}

/* Calls that name the owner alone. BX-002, BX-009 */
static const char *owner_alone(struct fixture *f) {
    PGconn *conn = begin(f);
    set_back(conn);
    if (sql_number(conn, "select count(*) from outbox_renew(" WORKER ", array[1])") != 1 ||
        sql_number(conn, "select count(*) from outbox_record_stages(" WORKER ", array[1], null, 8)") != 1)
        return IGNORED;
    sql_run(conn, "select _lock_ahead(" WORKER ", array[1], '{}', '{}', '{}', '{}')");
    return sql_number(conn, "select count(*) from outbox_ack(" WORKER ", array[1])") == 1 ? NULL : IGNORED;
}

/* BX-005, BX-009 */
static const char *expired_while_parked(struct fixture *f) {
    PGconn *conn = begin(f);
    sql_run(conn, "select outbox_abandon(" WORKER ", array[1], delay => '1 hour')");
    set_back(conn);
    sql_run(conn, "update parked set expires_at = clock_timestamp()");
    assert_string_equal(sql_claim(conn, 1), "");
    return sql_number(conn, "select count(*) from dead") == 1 ? NULL : LIVES;
}

/* BX-005, BX-009 */
static const char *expired_while_fresh(struct fixture *f) {
    PGconn *conn = begin(f);
    set_back(conn);
    sql_run(conn, "select enqueue('t', 'p', ttl => '1 millisecond'), pg_sleep(0.01)");
    return sql_number(conn, "select _expire_fresh(0::smallint, 0::smallint, 10)") == 1 ? NULL : LIVES;
}

#define NOT_BELIEVING(verdict)                                                                               \
    {                                                                                                        \
        {                                                                                                    \
            "not believing bounds ahead of the clock", "_frontier", "if greatest(",                          \
                "if false and greatest(", verdict                                                            \
        }                                                                                                    \
    }

static const struct trap TRAPS[] = {
    {"a_retry_is_due_by_the_clock_that_was_set_back", due_retry, NOT_BELIEVING(WAITS)},
    {"a_full_look_comes_by_the_clock_that_was_set_back",
     late_retry,
     {{"not believing when to look", "_frontier", "f.look_at - interval '1 minute'", "'-infinity'", WAITS},
      {"not believing bounds ahead of the clock", "_frontier", "if greatest(", "if false and greatest(",
       WAITS}}},
    {"a_lease_expires_by_the_clock_that_was_set_back", expired_lease, NOT_BELIEVING(HELD)},
    {"an_owner_keeps_its_leases_when_the_clock_is_set_back", owner_alone, NOT_BELIEVING(IGNORED)},
    {"a_parked_message_expires_by_the_clock_that_was_set_back", expired_while_parked, NOT_BELIEVING(LIVES)},
    {"a_fresh_message_expires_by_the_clock_that_was_set_back", expired_while_fresh, NOT_BELIEVING(LIVES)},
};

const struct trap_group CLOCK_TRAPS = TRAP_GROUP(TRAPS);
