/* Dead entries: while somebody holds an old snapshot, what was deleted stays in the indexes. The
 * usual claim must not walk through it (now and then one may: the full look). */
#include "trap.h"

enum { DEAD = 5000, CLAIMS = 5, READS_MAX = 500 };

static const char WALKS[] = "every claim walks through dead entries";
static const char ACK_WALKS[] = "every ack walks through dead entries";

static void hold_snapshot(struct fixture *f) {
    PGconn *holder = sql_connect(f);
    sql_run(holder, "begin isolation level repeatable read");
    sql_run(holder, "select count(*) from message");
}

/* All that is read of the tables that change, by any way. */
static int64_t reads(PGconn *conn) {
    return sql_number(conn,
                      "select sum(pg_stat_get_xact_tuples_returned(c.oid)) from pg_class c "
                      "where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'i')");
}

static int64_t reads_of(PGconn *conn, const char *call) {
    sql_run(conn, "select _end_quiet(0::smallint)"); /* else it may not look at all */
    sql_run(conn, "begin");
    int64_t before = reads(conn);
    sql_run(conn, "%s", call);
    int64_t count = reads(conn) - before;
    sql_run(conn, "commit");
    return count;
}

/* The reads of the cheapest of a few calls: the full look is not to be seen in all of them. */
static int64_t cheapest(PGconn *conn, const char *call) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < CLAIMS; i++) {
        int64_t count = reads_of(conn, call);
        least = count < least ? count : least;
    }
    return least;
}

static void make_fresh(PGconn *conn) {
    sql_run(conn, "select enqueue('t', 'p') from generate_series(1, 20)");
}

static void claim_all(PGconn *conn) {
    make_fresh(conn);
    assert_int_equal(sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                      ", '30 s', 20, null, true)"),
                     20);
}

static void make_parked(PGconn *conn) {
    claim_all(conn);
    sql_run(conn, "select outbox_abandon(" WORKER ", array(select _ids(items) from lease), delay => '0')");
}

static void make_suspects(PGconn *conn) {
    claim_all(conn);
    sql_run(conn, "update lease set until = clock_timestamp()");
    assert_int_equal(sql_number(conn, "select outbox_reap()"), 20);
}

/* Claims of what is ready now, behind all that is dead. */
static const char *claims(PGconn *conn) {
    sql_run(conn, CLAIM(WORKER, "'30 s'", "2")); /* the full look */
    int64_t count = cheapest(conn, CLAIM(WORKER, "'30 s'", "2"));
    if (count > READS_MAX)
        print_message("%lld entries read by a claim of two\n", (long long)count);
    return count > READS_MAX ? WALKS : NULL;
}

/* The same for claims each of which takes the turn, because the pool is empty. */
static const char *claims_of_new(PGconn *conn) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < CLAIMS + 1; i++) { /* one of them has the full look */
        sql_enqueue(conn, "p");
        int64_t count = reads_of(conn, CLAIM(WORKER, "'30 s'", "2"));
        least = count < least ? count : least;
    }
    return least > READS_MAX ? WALKS : NULL;
}

static const char *claims_of_fresh(PGconn *conn) {
    make_fresh(conn);
    return claims(conn);
}

/* Leases of DEAD claims, all settled since; they would have ended around `until`. */
static PGconn *leases_gone(struct fixture *f, const char *until) {
    PGconn *conn = sql_connect(f);
    hold_snapshot(f);
    sql_run(conn,
            "insert into lease select 0, i, 0, " WORKER ", now() + interval '%s' + i * interval '1 ms', "
            "'{[1000000,1000001)}', false from generate_series(1, %d) i",
            until, DEAD);
    sql_run(conn, "delete from lease");
    return conn;
}

/* BX-020 */
static const char *leases_ended(struct fixture *f) { return claims_of_fresh(leases_gone(f, "-1 hour")); }

/* Acked in time, so that they would still run. BX-020 */
static const char *leases_settled(struct fixture *f) { return claims_of_new(leases_gone(f, "10 s")); }

/* BX-002 */
static const char *acks(struct fixture *f) {
    PGconn *conn = leases_gone(f, "-1 hour");
    make_fresh(conn);
    sql_run(conn, CLAIM(WORKER, "'30 s'", "1"));
    sql_run(conn, CLAIM(WORKER, "'30 s'", "10"));
    return cheapest(conn, "select outbox_ack(" WORKER ", array[2])") > READS_MAX ? ACK_WALKS : NULL;
}

static PGconn *parked_gone(struct fixture *f, const char *available, const char *expires) {
    PGconn *conn = sql_connect(f);
    hold_snapshot(f);
    sql_run(conn,
            "insert into parked (work_id, box, available_at, expires_at, topic, crash_count) "
            "select 1000000 + i, 0, now() + interval '%s', %s, 't', i %% 2 "
            "from generate_series(1, 2 * %d) i",
            available, expires, DEAD);
    sql_run(conn, "delete from parked");
    return conn;
}

/* Retried since. BX-020 */
static const char *parked_served(struct fixture *f) {
    return claims_of_fresh(parked_gone(f, "-1 hour", "null"));
}

/* The same while others of their kind are ready. BX-020 */
static const char *parked_served_and_ready(struct fixture *f) {
    PGconn *conn = parked_gone(f, "-1 hour", "null");
    make_parked(conn);
    make_fresh(conn);
    return claims(conn);
}

/* BX-003, BX-020 */
static const char *suspects_served_and_ready(struct fixture *f) {
    PGconn *conn = parked_gone(f, "-1 hour", "null");
    make_suspects(conn);
    return claims(conn);
}

/* Cancelled before they were due. BX-020 */
static const char *parked_cancelled(struct fixture *f) {
    return claims_of_new(parked_gone(f, "1 hour", "null"));
}

/* Messages with a time to live that were retried since. BX-005, BX-020 */
static const char *parked_expired(struct fixture *f) {
    return claims_of_fresh(parked_gone(f, "-2 hours", "now() - interval '1 hour'"));
}

/* Streams that were served since, and some that still live. BX-006, BX-020 */
static const char *streams_served(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    hold_snapshot(f);
    sql_run(conn,
            "insert into stream (box, key, available_at, position, taken_from) select 0, 's' || i, now() - "
            "interval '1 hour', 0, 0 "
            "from generate_series(1, %d) i",
            DEAD);
    sql_run(conn, "delete from stream");
    return claims_of_fresh(conn);
}

#define DUE "k.available_at >= f.due_from and"

static const struct trap TRAPS[] = {
    {"claims_do_not_walk_through_leases_that_ended",
     leases_ended,
     {{"the lower bound of leases", "_is_quiet", "l.until >= f.lease_from and", "", WALKS},
      {"looking in full only now and then", "_move_frontier", "f.look_at := looked",
       "f.look_at := looked - interval '1 hour'", WALKS},
      {"moving the bound", "_move_frontier", "f.seq := f.seq + 1;",
       "f.lease_from := '-infinity'; f.seq := f.seq + 1;", WALKS}}},
    {"claims_do_not_walk_through_leases_that_were_settled",
     leases_settled,
     {{"the upper bound of the look", "_move_frontier", "and l.until <= ts", "", WALKS}}},
    {"acks_do_not_walk_through_leases_that_ended",
     acks,
     {{"the lower bound of leases", "_take", "and l.until >= lease_from", "", ACK_WALKS}}},
    {"claims_do_not_walk_through_retried_messages",
     parked_served,
     {{"the lower bound of parked messages", "_is_quiet", DUE, "", WALKS},
      {"looking in full only now and then", "_move_frontier", "f.look_at := looked",
       "f.look_at := looked - interval '1 hour'", WALKS},
      {"moving the bound", "_move_frontier", "f.seq := f.seq + 1;",
       "f.due_from := '-infinity'; f.seq := f.seq + 1;", WALKS}}},
    {"claims_of_parked_messages_do_not_walk_through_retried_ones",
     parked_served_and_ready,
     {{"the lower bound of parked messages", "_claim_parked", "and p.available_at >= due_from", "", WALKS}}},
    {"claims_of_suspects_do_not_walk_through_retried_ones",
     suspects_served_and_ready,
     {{"the lower bound of suspects", "_claim_suspect", "and p.available_at >= due_from", "", WALKS}}},
    {"claims_do_not_walk_through_cancelled_messages",
     parked_cancelled,
     {{"the upper bound of the look", "_move_frontier", "and p.available_at <= ts", "", WALKS}}},
    {"claims_do_not_walk_through_messages_that_expired",
     parked_expired,
     {{"the lower bound of expiries", "_is_quiet", "k.expires_at >= f.expiring_from and", "", WALKS}}},
    {"claims_do_not_walk_through_streams_that_were_served",
     streams_served,
     {{"the lower bound of streams", "_has_due_stream", "s.available_at >= due_from and", "", WALKS}}},
};

const struct trap_group DEAD_ENTRY_TRAPS = TRAP_GROUP(TRAPS);
