/* A server that goes away: what an impatient store says, and what is logged. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conformance.h"
#include "pg.h"
#include "scenes.h"
#include "seam.h"

struct log_book {
    int lost, back; /* records about the connection */
};

static void keep_book(void *context, const boxcar_log_record *record) {
    struct log_book *book = context;
    if (strcmp(record->event, "reconnect") != 0)
        return;
    book->lost += record->level == BOXCAR_LOG_WARN;
    book->back += record->level == BOXCAR_LOG_INFO;
}

/* A store of a role of its own, so that it alone can be locked out. */
struct outage {
    char role[80];
    struct log_book book;
};

static void setup(struct fixture *f, struct outage *o, int64_t patience_ms) {
    boxcar_store_options options = fixture_options(f);
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@');
    PGconn *conn = fixture_connect(f);
    char url[512];

    assert_non_null(server);
    snprintf(o->role, sizeof(o->role), "%s_worker", f->schema);
    snprintf(url, sizeof(url), "postgres://%s:pw@%s", o->role, server + 1);
    pg_exec(conn, "create role %s login password 'pw'", o->role);
    pg_exec(conn, "select grant_access('%s', 'worker')", o->role);
    PQfinish(conn);
    o->book = (struct log_book){0};
    options.url = boxcar_str_of(url);
    options.log = keep_book;
    options.log_context = &o->book;
    options.busy_timeout_ms = patience_ms;
    boxcar_store_close(f->store);
    f->store = NULL;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
}

static void teardown(struct fixture *f, struct outage *o) {
    PGconn *conn = fixture_connect(f);
    boxcar_store_close(f->store);
    f->store = NULL;
    pg_exec(conn, "drop owned by %s", o->role);
    pg_exec(conn, "drop role %s", o->role);
    PQfinish(conn);
}

static void lock_out(struct fixture *f, struct outage *o) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "alter role %s nologin", o->role);
    pg_exec(conn, "select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = '%s'",
            o->role);
    PQfinish(conn);
}

static void let_in(struct fixture *f, struct outage *o) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "alter role %s login", o->role);
    PQfinish(conn);
}

/* BX-001, BX-102: something was sent; then nothing can be, which is certain. */
static void impatient_store_reports_a_loss_at_once(void **state) {
    struct fixture *f = *state;
    struct outage o;
    setup(f, &o, 3600000);
    seam_hurry(f->store, 0);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    boxcar_settlement settlement = settlement_of(taken);
    size_t count = 0;
    lock_out(f, &o);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, &settlement, 1, NULL,
                               &count, &f->err));
    assert_true(f->err.retryable);
    assert_true(f->err.outcome_unknown);
    for (int i = 0; i < 3; i++) {
        ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                     boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, &settlement, 1,
                                   NULL, &count, &f->err));
        assert_true(f->err.retryable);
        assert_false(f->err.outcome_unknown);
    }
    let_in(f, &o);
    assert_true(ack(f, f->owner, taken));
    assert_int_equal(o.book.lost + o.book.back, 0); /* an impatient call reports it itself */
    teardown(f, &o);
}

/* BX-102: every operation, not only batches. */
static void impatient_store_waits_in_no_call(void **state) {
    struct fixture *f = *state;
    struct outage o;
    setup(f, &o, 3600000);
    seam_hurry(f->store, 0);
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    bool drained;
    lock_out(f, &o);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", NULL, 0, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, seam_begin(f->store, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_maintenance_run(f->store, &done, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 seam_is_drained(f->store, BOXCAR_OUTBOX, NULL, 0, 0, &drained, &f->err));
    seam_sleep(f->store, f->owner, false, 1);
    let_in(f, &o);
    ASSERT_OK(f, seam_begin(f->store, &f->err));
    ASSERT_OK(f, seam_commit(f->store, &f->err));
    assert_int_equal(o.book.lost + o.book.back, 0); /* an impatient call reports it itself */
    teardown(f, &o);
}

/* OBX-123: what a worker does besides claiming needs no right on any table either. */
static void worker_role_may_live_sleep_and_drain(void **state) {
    struct fixture *f = *state;
    struct outage o;
    setup(f, &o, 3600000);
    bool drained = false;
    ASSERT_OK(f, say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", NULL, 0, &f->err));
    seam_sleep(f->store, f->owner, true, 100);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from sleeper"), 1);
    ASSERT_OK(f, seam_is_drained(f->store, BOXCAR_OUTBOX, NULL, 0, 0, &drained, &f->err));
    assert_true(drained);
    ASSERT_OK(f, seam_farewell(f->store, f->owner, &f->err));
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from sleeper"), 0);
    teardown(f, &o);
}

/* BX-061, OBX-124 */
static void viewer_role_sees_the_instances(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    ASSERT_OK(f, say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", NULL, 0, &f->err));
    pg_exec(conn, "create role %s_viewer", f->schema);
    pg_exec(conn, "select grant_access('%s_viewer', 'viewer')", f->schema);
    pg_exec(conn, "set role %s_viewer", f->schema);
    assert_int_equal(pg_number(conn, "select count(*) from instance where concurrency = 4"), 1);
    pg_fails(conn, "42501", "select * from instance_row");
    pg_fails(conn, "42501", "select * from sleeper");
    pg_exec(conn, "reset role");
    pg_exec(conn, "drop owned by %s_viewer", f->schema);
    pg_exec(conn, "drop role %s_viewer", f->schema);
    PQfinish(conn);
}

/* BX-001: one line for each change, however many tries. */
static void patient_store_logs_the_loss_and_the_return_once_each(void **state) {
    struct fixture *f = *state;
    struct outage o;
    setup(f, &o, 300);
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    lock_out(f, &o);
    for (int i = 0; i < 2; i++)
        ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                     boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    assert_int_equal(o.book.lost, 1);
    assert_int_equal(o.book.back, 0);
    let_in(f, &o);
    enqueue(f, "t", "p");
    enqueue(f, "t", "p");
    assert_int_equal(o.book.lost, 1);
    assert_int_equal(o.book.back, 1);
    teardown(f, &o);
}

/* BX-023: a server that is connected but does not answer does not hold the work loop. */
static void impatient_store_gives_up_on_an_answer_that_does_not_come(void **state) {
    struct fixture *f = *state;
    PGconn *holder = fixture_connect(f);
    ASSERT_OK(f, say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", NULL, 0, &f->err));
    PQclear(PQexec(holder, "begin; lock table instance_row in access exclusive mode"));
    seam_hurry(f->store, 200);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", NULL, 0, &f->err));
    assert_true(f->err.retryable);
    PQclear(PQexec(holder, "rollback"));
    ASSERT_OK(f, say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", NULL, 0, &f->err));
    PQfinish(holder);
}

/* BX-083: a handler is not told of a connection that died while nobody needed it. */
static void transaction_begins_on_a_new_connection_when_the_old_one_is_dead(void **state) {
    struct fixture *f = *state;
    struct outage o;
    setup(f, &o, 3600000);
    seam_hurry(f->store, 0);
    lock_out(f, &o);
    let_in(f, &o);
    ASSERT_OK(f, seam_begin(f->store, &f->err));
    seam_roll_back(f->store);
    teardown(f, &o);
}

/* BX-083: a second try would find what the first did, and say that the message is known. Everything else
 * about the inbox may be repeated. */
static void accept_is_not_repeated_when_the_answer_is_lost(void **state) {
    struct fixture *f = *state;
    struct outage o;
    boxcar_inbox_key key = {BOXCAR_STR("shop"), BOXCAR_STR("1")};
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_enqueued enqueued;
    bool answer = false;
    setup(f, &o, 60000);
    lock_out(f, &o);
    let_in(f, &o);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 boxcar_inbox_accept(f->store, key, BOXCAR_NO_STR, &answer, NULL, &f->err));
    assert_true(f->err.outcome_unknown);
    ASSERT_OK(f, boxcar_inbox_accept(f->store, key, BOXCAR_NO_STR, &answer, NULL, &f->err));
    assert_true(answer); /* nothing had happened */
    lock_out(f, &o);
    let_in(f, &o);
    ASSERT_OK(f, boxcar_inbox_already_processed(f->store, key, BOXCAR_NO_STR, &answer, NULL, &f->err));
    assert_true(answer);
    lock_out(f, &o);
    let_in(f, &o);
    message.source = key.source;
    message.external_id = BOXCAR_STR("2");
    message.topic = message.payload = BOXCAR_STR("t");
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_INBOX, &message, &enqueued, &f->err));
    assert_false(enqueued.duplicate);
    teardown(f, &o);
}

#define SLOW_UPKEEP                                                                                          \
    "alter function _maintain rename to _maintain_quickly; "                                                 \
    "create function _maintain(p_box smallint, out reaped bigint, out expired bigint, out purged_done "      \
    "bigint, "                                                                                               \
    "out purged_dead bigint, out more boolean, out settled bigint, out timed_out bigint, out purged_joins "  \
    "bigint, "                                                                                               \
    "out ended uuid[], out purged_keys bigint) language plpgsql set search_path from current as $$ begin "   \
    "perform pg_advisory_xact_lock_shared('frontier'::regclass::oid::bigint); "                              \
    "perform pg_sleep(%s); "                                                                                 \
    "select * into reaped, expired, purged_done, purged_dead, more, settled, timed_out, purged_joins, "      \
    "ended, purged_keys "                                                                                    \
    "from _maintain_quickly(p_box); end $$"

static void make_upkeep_slow(struct fixture *f, const char *seconds) {
    char sql[1000];
    snprintf(sql, sizeof(sql), SLOW_UPKEEP, seconds);
    fixture_sql(f, NULL, sql);
    seam_hurry(f->store, 100);
}

#define AT_SLOW_UPKEEP "from pg_locks where locktype = 'advisory' and objid = 'frontier'::regclass::oid"

/* Whether the server is at the slow upkeep of this schema. Off the main thread: an error is no reason to wait
 * on. */
static bool is_at_upkeep(PGconn *watcher) {
    PGresult *result = PQexec(watcher, "select " AT_SLOW_UPKEEP);
    bool is = PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) > 0;
    PQclear(result);
    return is;
}

/* What the server goes on with although nobody waits for its answer would meet the end of the schema. */
static void end_slow_upkeep(struct fixture *f) {
    fixture_sql(f, NULL, "select count(pg_terminate_backend(pid, 30000)) " AT_SLOW_UPKEEP);
}

/* The upkeep of a worker: BX-026, BX-023 */
static void impatient_store_gives_upkeep_its_time(void **state) {
    struct fixture *f = *state;
    _Atomic bool is_over = false;
    make_upkeep_slow(f, "0.5");
    ASSERT_OK(f, seam_upkeep(f->store, &is_over, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, seam_upkeep(f->store, NULL, &f->err));
    end_slow_upkeep(f);
}

struct upkeep_end {
    PGconn *watcher;
    _Atomic bool is_over;
};

static void *end_upkeep(void *context) {
    struct upkeep_end *end = context;
    for (int i = 0; i < 4000 && !is_at_upkeep(end->watcher); i++)
        pause_ms(5);
    atomic_store(&end->is_over, true);
    return NULL;
}

/* BX-023 */
static void upkeep_ends_when_its_worker_does(void **state) {
    struct fixture *f = *state;
    struct upkeep_end end = {.watcher = fixture_connect(f)};
    pthread_t ender;
    make_upkeep_slow(f, "60"); /* longer than the test would wait for it */
    assert_int_equal(pthread_create(&ender, NULL, end_upkeep, &end), 0);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, seam_upkeep(f->store, &end.is_over, &f->err));
    pthread_join(ender, NULL);
    PQfinish(end.watcher);
    assert_non_null(strstr(f->err.message, "did not answer within 100 ms"));
    end_slow_upkeep(f);
}

/* A third of the lease is too short for this server. A worker that was never more patient would try for ever.
 * BX-023 */
static void worker_gets_through_to_a_slow_server(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, NULL,
                "create or replace function _sign_of_life(p_owner uuid) returns void language plpgsql "
                "as 'begin perform pg_sleep(1.2); end'");
    enqueue(f, "t", "p");
    struct scene *s = scene_new(f);
    s->options.lease_ms = 3000;
    s->options.maintain_ms = 0;
    scene_make(s);
    scene_handle(s, "t");
    scene_start(s);
    scene_wait_for(&s->calls, 1);
    scene_stop(s);
    assert_true(scene_logged(s, "did not answer within 1000 ms"));
    scene_free(s);
}

static const struct CMUnitTest TESTS[] = {
    TEST(impatient_store_gives_upkeep_its_time),
    TEST(upkeep_ends_when_its_worker_does),
    TEST(impatient_store_reports_a_loss_at_once),
    TEST(impatient_store_waits_in_no_call),
    TEST(worker_role_may_live_sleep_and_drain),
    TEST(viewer_role_sees_the_instances),
    TEST(impatient_store_gives_up_on_an_answer_that_does_not_come),
    TEST(patient_store_logs_the_loss_and_the_return_once_each),
    TEST(transaction_begins_on_a_new_connection_when_the_old_one_is_dead),
    TEST(accept_is_not_repeated_when_the_answer_is_lost),
    TEST(worker_gets_through_to_a_slow_server),
};

const struct suite OUTAGE_SUITE = SUITE(TESTS);
