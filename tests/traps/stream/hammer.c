/* Everything at once on a few streams: no caller of the SQL functions may see a deadlock, and
 * afterwards every message must be in exactly one place. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crew.h"
#include "trap.h"

enum { CONNECTIONS = 8, SECONDS = 3 };

#define MINE "array(select _ids(items) from lease where owner = current_setting('hammer.owner')::uuid)"
#define ME "current_setting('hammer.owner')::uuid"

/* Half of them in one list, half in another. */
#define HALF(n) "(select coalesce(jsonb_agg(i), '[]') from unnest(" MINE ") i where i % 2 = " n ")"
#define BATCH(list, other)                                                                                   \
    "select process_work_batch(" ME ", jsonb_build_object('outbox', jsonb_build_object('" list               \
    "', " HALF("0") ", "                                                                                     \
                    "'" other "', " HALF("1") ")))"

#define CANCEL_ONE                                                                                           \
    "select outbox_cancel(work_id) from (select * from message order by work_id desc limit 5) m "            \
    "order by random() limit 1"

#define REPLAY_SOME "select dead_replay(array(select work_id from dead order by random() limit 2))"

static const char *const CALLS[] = {
    "select enqueue('t', 'p', stream => 's' || (random() * 2)::int)",
    "select enqueue('t', 'p')",
    "select count(*) from outbox_claim(" ME ", '100 ms', 3)",
    "select count(*) from outbox_claim(" ME ", '100 ms', 3, alone => true)",
    "select outbox_ack(" ME ", " MINE ")",
    "select outbox_abandon(" ME ", " MINE ", delay => '0')",
    "select outbox_fail(" ME ", " MINE ")",
    BATCH("acks", "abandons"),
    BATCH("fails", "defers"),
    "select outbox_renew(" ME ", " MINE ", lease => '100 ms')",
    "select enqueue('t', 'p', stream => 's0', ttl => '1 ms')",
    "select _expire_fresh(0::smallint, 1::smallint, 10)", /* halts the stream */
    "select stream_skip('s0')",
    "select stream_resume('s0', true)",
    CANCEL_ONE,
    CANCEL_ONE,
    REPLAY_SOME, /* locks streams, then wants the turn: often, so that a claim without care meets it soon */
    REPLAY_SOME,
    REPLAY_SOME,
    REPLAY_SOME,
    "select outbox_reap()",
    "select _maintain(0::smallint)",
};
enum { CALL_COUNT = sizeof(CALLS) / sizeof(CALLS[0]) };

/* What a caller has to expect of cancel and replay. */
static const char *const EXPECTED[] = {"BX002", "BX003", "40001", "55P03"};

struct findings {
    pthread_mutex_t mutex;
    bool deadlock;
    char error[2048]; /* of the first deadlock, or else of the first unexpected one */
    long calls;
};

static bool is_expected(const char *state) {
    for (size_t i = 0; i < sizeof(EXPECTED) / sizeof(EXPECTED[0]); i++)
        if (strcmp(state, EXPECTED[i]) == 0)
            return true;
    return false;
}

static void note(struct findings *findings, const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    pthread_mutex_lock(&findings->mutex);
    findings->calls++;
    bool deadlock = state && strcmp(state, "40P01") == 0;
    if ((deadlock && !findings->deadlock) || (state && !is_expected(state) && findings->error[0] == '\0'))
        snprintf(findings->error, sizeof(findings->error), "%s", PQresultErrorMessage(result));
    findings->deadlock = findings->deadlock || deadlock;
    pthread_mutex_unlock(&findings->mutex);
}

static PGconn *connect_member(const struct crew_member *member) {
    char set_up[256];
    /* What is given up after 100 ms (_try_bury_expired) is no deadlock. */
    snprintf(set_up, sizeof(set_up),
             "set search_path = \"%s\"; set deadlock_timeout = '200 ms'; set client_min_messages = error; "
             "set hammer.owner = '00000000-0000-0000-0000-0000000001%02d'",
             member->f->schema, member->number);
    PGconn *conn = PQconnectdb(member->f->url);
    PQclear(PQexec(conn, set_up));
    return conn;
}

static const char *hammer(struct crew_member *member) {
    struct findings *findings = member->context;
    PGconn *conn = connect_member(member);
    unsigned chance = 7u * (unsigned)member->number + 1;
    time_t end = time(NULL) + SECONDS;
    while (time(NULL) <= end && !findings->deadlock) {
        PGresult *result = PQexec(conn, CALLS[(unsigned)rand_r(&chance) % CALL_COUNT]);
        note(findings, result);
        PQclear(result);
    }
    bool fine = PQstatus(conn) == CONNECTION_OK;
    PQfinish(conn);
    return fine ? NULL : "the connection broke";
}

/* BX-001, BX-002, BX-006, BX-020, BX-028 */
static const char *everything_at_once(struct fixture *f) {
    struct findings findings = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    sql_run(sql_connect(f), "select stream_rule('s0', 'halt')");
    crew_run_bare(f, CONNECTIONS, hammer, &findings);
    if (findings.error[0] != '\0')
        print_message("%s", findings.error);
    if (findings.error[0] != '\0')
        return findings.deadlock ? "a deadlock" : "an unexpected error";
    assert_true(findings.calls > 10 * CONNECTIONS);
    PGconn *conn = sql_connect(f);
    if (sql_number(conn, "select lost from audit()") > 0)
        return "a message was lost";
    if (sql_number(
            conn,
            "select count(*) from stream s where s.available_at is null and s.halted_at is null and not "
            "exists (select from parked p where p.box = s.box and p.stream = s.key and p.epoch is not "
            "null)") > 0)
        return "a stream waits for nobody";
    return sql_number(conn, "select (select count(*) from outbox) - (select count(*) from message)") == 0
               ? NULL
               : "a message is in two places";
}

static const struct trap TRAPS[] = {
    {"calls_in_any_order_meet_no_deadlock",
     everything_at_once,
     {{"skip locked", "_lock_ready", "for update skip locked", "for update", "a deadlock"}}},
};

const struct trap_group HAMMER_TRAPS = TRAP_GROUP(TRAPS);
