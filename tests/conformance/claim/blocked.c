/* Claims that another session keeps from going on: workers notice it and say so, and the doctor names the
 * session that everybody waits for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "lack.h"
#include "pg.h"
#include "scenes.h"

/* A worker for every topic that runs until it is stopped. */
static struct scene *start_worker(struct fixture *f) {
    struct scene *s = scene_new(f);
    s->options.drain = false;
    s->options.maintain_ms = 0;
    scene_make(s);
    scene_handle(s, "*");
    scene_start(s);
    return s;
}

static boxcar_worker_stats worker_stats(struct scene *s) {
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(s->worker, &stats);
    return stats;
}

static void await_state(struct scene *s, boxcar_worker_state state) {
    for (int i = 0; worker_stats(s).state != state; i++) {
        if (i > 4000)
            fail_msg("the worker is %s", boxcar_worker_state_name(worker_stats(s).state));
        pause_ms(5);
    }
}

static void await_log(struct scene *s, const char *text) {
    for (int i = 0; !scene_logged(s, text); i++) {
        if (i > 4000)
            fail_msg("nothing was logged about: %s", text);
        pause_ms(5);
    }
}

static int count_logged(struct scene *s, const char *text) {
    int count = 0;
    pthread_mutex_lock(&s->mutex);
    for (const char *at = s->logged; (at = strstr(at, text)) != NULL; at++)
        count++;
    pthread_mutex_unlock(&s->mutex);
    return count;
}

static PGconn *connect_named(struct fixture *f, const char *name) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "set application_name = '%s'", name);
    return conn;
}

static PGconn *lock_messages(struct fixture *f) {
    PGconn *conn = connect_named(f, "locker");
    pg_exec(conn, "begin");
    pg_exec(conn, "lock table message in access exclusive mode");
    return conn;
}

static PGconn *hold_turn(struct fixture *f, const char *name) {
    PGconn *conn = connect_named(f, name);
    pg_exec(conn, "begin; lock table outbox_turn in share update exclusive mode");
    return conn;
}

/* ---- workers ---- */

/* OBX-055, BX-023: and it stays so until a claim has worked. */
static void worker_whose_claims_wait_for_a_lock_is_detached(void **state) {
    struct fixture *f = *state;
    struct scene *s = start_worker(f);
    await_state(s, BOXCAR_WORKER_RUNNING);
    PGconn *locker = lock_messages(f);
    await_state(s, BOXCAR_WORKER_DETACHED);
    int64_t errors = worker_stats(s).store_errors;
    assert_true(errors > 0);
    for (int i = 0; worker_stats(s).store_errors < errors + 2; i++) {
        assert_int_equal(worker_stats(s).state, BOXCAR_WORKER_DETACHED);
        assert_true(i < 4000);
        pause_ms(5);
    }
    assert_int_equal(worker_stats(s).detachments, 1);
    assert_int_equal(count_logged(s, "detached"), 1);
    PQfinish(locker);
    await_state(s, BOXCAR_WORKER_RUNNING);
    enqueue(f, "t", "p");
    scene_wait_for(&s->calls, 1);
    scene_stop(s);
    scene_free(s);
}

/* A busy worker, too: its acks still work, its claims do not. */
static void worker_that_holds_messages_stays_detached_as_well(void **state) {
    struct fixture *f = *state;
    struct scene *s = start_worker(f);
    s->hold = true;
    enqueue(f, "t", "p");
    scene_wait_for(&s->calls, 1);
    PGconn *locker = lock_messages(f);
    await_state(s, BOXCAR_WORKER_DETACHED);
    int64_t errors = worker_stats(s).store_errors;
    for (int i = 0; worker_stats(s).store_errors < errors + 2; i++) {
        assert_int_equal(worker_stats(s).state, BOXCAR_WORKER_DETACHED);
        assert_true(i < 4000);
        pause_ms(5);
    }
    s->hold = false;
    PQfinish(locker);
    await_state(s, BOXCAR_WORKER_RUNNING);
    scene_stop(s);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from outbox where status = 'done'"), 1);
    assert_int_equal(s->calls, 1);
    scene_free(s);
}

/* A claim that gives up leaves nothing behind that has the turn. BX-020 */
static void claim_that_waits_for_a_lock_gives_the_turn_back(void **state) {
    struct fixture *f = *state;
    struct scene *s = start_worker(f);
    await_state(s, BOXCAR_WORKER_RUNNING);
    PGconn *locker = lock_messages(f);
    await_state(s, BOXCAR_WORKER_DETACHED);
    scene_stop(s);
    scene_free(s);
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "set lock_timeout = '8 s'");
    pg_exec(conn, "begin; lock table outbox_turn in share update exclusive mode; rollback");
    PQfinish(conn);
    PQfinish(locker);
}

/* BX-020: the session that keeps the turn is named, once. */
static void worker_says_who_keeps_the_turn(void **state) {
    struct fixture *f = *state;
    char holder_is[96];
    struct scene *s = start_worker(f);
    await_state(s, BOXCAR_WORKER_RUNNING);
    PGconn *holder = hold_turn(f, "slowpoke");
    enqueue(f, "t", "s3cret");
    snprintf(holder_is, sizeof(holder_is), "session %d (slowpoke, role ", PQbackendPID(holder));
    await_log(s, holder_is);
    int64_t held_up = worker_stats(s).held_up;
    assert_true(held_up > 0);
    for (int i = 0; worker_stats(s).held_up < held_up + 2; i++) {
        assert_true(i < 4000);
        pause_ms(5);
    }
    assert_int_equal(count_logged(s, "held_up"), 1);
    assert_int_equal(worker_stats(s).state, BOXCAR_WORKER_RUNNING);
    assert_true(scene_logged(s, "; query: begin; lock table outbox_turn in share update exclusive mode"));
    PQfinish(holder);
    scene_wait_for(&s->calls, 1);
    scene_stop(s);
    assert_false(scene_logged(s, "s3cret"));
    scene_free(s);
}

/* A claim that fails, since it waits for a lock on a table, has somebody in its way as well. BX-020 */
static void worker_says_who_has_locked_a_table(void **state) {
    struct fixture *f = *state;
    char locker_is[96];
    struct scene *s = start_worker(f);
    await_state(s, BOXCAR_WORKER_RUNNING);
    PGconn *locker = lock_messages(f);
    snprintf(locker_is, sizeof(locker_is), "session %d (locker, role ", PQbackendPID(locker));
    await_log(s, locker_is);
    assert_true(scene_logged(s, "has a lock on message (AccessExclusiveLock)"));
    assert_true(scene_logged(s, "; query: lock table message in access exclusive mode"));
    int64_t errors = worker_stats(s).store_errors;
    for (int i = 0; worker_stats(s).store_errors < errors + 2; i++) {
        assert_true(i < 4000);
        pause_ms(5);
    }
    assert_int_equal(count_logged(s, "held_up"), 1);
    PQfinish(locker);
    await_state(s, BOXCAR_WORKER_RUNNING);
    scene_stop(s);
    scene_free(s);
}

/* Nobody waits for one: claims pass such streams over. Upkeep looks. */
static void worker_says_who_holds_a_stream(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("other", "p");
    message.stream = BOXCAR_STR("order-7");
    take(f, f->owner, enqueue_message(f, &message).work_id);
    PGconn *holder = connect_named(f, "dawdler");
    pg_exec(holder, "begin");
    pg_exec(holder, "select from stream where key = 'order-7' for update");
    struct scene *s = scene_new(f);
    s->options.drain = false;
    s->options.maintain_ms = 300;
    scene_make(s);
    scene_handle(s, "t");
    scene_start(s);
    await_log(s, "(dawdler, role ");
    assert_true(scene_logged(s, "holds the stream order-7, in a transaction of "));
    pause_ms(1000); /* nothing may be told again: several rounds of upkeep */
    assert_int_equal(count_logged(s, "dawdler"), 1);
    scene_stop(s);
    PQfinish(holder);
    scene_free(s);
}

static void claims_that_wait_a_moment_are_nothing_to_tell(void **state) {
    struct fixture *f = *state;
    struct scene *s = start_worker(f);
    await_state(s, BOXCAR_WORKER_RUNNING);
    PGconn *holder = hold_turn(f, "quick");
    pause_ms(300); /* the moment: nothing may show it */
    PQfinish(holder);
    enqueue(f, "t", "p");
    scene_wait_for(&s->calls, 1);
    assert_int_equal(worker_stats(s).held_up, 0);
    scene_stop(s);
    assert_false(scene_logged(s, "held_up"));
    scene_free(s);
}

/* A program that is gone does not keep its session, nor what that has locked, until somebody else gives way.
 */
static void session_of_a_client_that_is_gone_ends_although_it_waits(void **state) {
    struct fixture *f = *state;
    PGconn *conn, *locker;
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    boxcar_enqueued enqueued;
    boxcar_new_message message = new_message("t", "p");
    if (f->kind == FIXTURE_PGBOUNCER)
        skip(); /* the session is the pooler's */
    options.answer_timeout_ms = 300;
    ASSERT_OK(f, boxcar_store_open(&options, &store, &f->err));
    conn = fixture_connect(f);
    locker = lock_messages(f);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_enqueue(store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    for (int i = 0;
         pg_number(conn,
                   "select count(*) from pg_locks where relation = 'message'::regclass and not granted") > 0;
         i++) {
        assert_true(i < 400);
        pause_ms(50);
    }
    boxcar_store_close(store);
    PQfinish(locker);
    PQfinish(conn);
}

/* ---- the doctor ---- */

static void assert_root(struct fixture *f, PGconn *root, const char *does, PGconn *victim) {
    char named[96], remedy[96];
    boxcar_finding_list *list = diagnose(f);
    const boxcar_finding *finding = only_finding(list, "claim");
    snprintf(named, sizeof(named), "session %d (", PQbackendPID(root));
    snprintf(remedy, sizeof(remedy), "select pg_terminate_backend(%d);", PQbackendPID(root));
    assert_int_equal(finding->severity, BOXCAR_SEVERITY_PROBLEM);
    assert_true(has_text(only_finding(list, "workers")->text, "not checked"));
    if (!has_text(finding->text, named) || !has_text(finding->text, does) ||
        !has_text(finding->remedy, remedy))
        fail_msg("%.*s -> %.*s", (int)finding->text.len, finding->text.data, (int)finding->remedy.len,
                 finding->remedy.data);
    if (victim) {
        snprintf(remedy, sizeof(remedy), "select pg_terminate_backend(%d);", PQbackendPID(victim));
        assert_false(has_text(finding->remedy, remedy));
    }
    boxcar_list_free(list);
}

static void lock_on_a_table_is_named_by_the_doctor(void **state) {
    struct fixture *f = *state;
    PGconn *locker = lock_messages(f);
    assert_root(f, locker,
                "idle in transaction) has a lock on message (AccessExclusiveLock), in a transaction of ",
                NULL);
    assert_root(f, locker, "; query: lock table message in access exclusive mode", NULL);
    PQfinish(locker);
    assert_found(f, "claim", BOXCAR_SEVERITY_OK, "had its turn after");
}

/* The one that has the turn waits itself: ending it would not help. */
static void doctor_names_the_session_that_the_others_wait_for(void **state) {
    struct fixture *f = *state;
    PGconn *locker = lock_messages(f), *victim = connect_named(f, "victim"), *watcher = fixture_connect(f);
    assert_true(PQsendQuery(victim, "select outbox_claim(gen_random_uuid(), '30 s', 1)"));
    pg_await_blocked(watcher, victim);
    assert_root(f, locker, "(locker, role ", victim);
    PQfinish(locker);
    PQfinish(victim);
    PQfinish(watcher);
}

/* Behind a statement that waits for a reader, claims queue up. The reader has no lock that a claim minds. */
static void doctor_follows_the_queue_to_its_head(void **state) {
    struct fixture *f = *state;
    PGconn *reader = connect_named(f, "reader"), *changer = connect_named(f, "changer"),
           *watcher = fixture_connect(f);
    pg_exec(reader, "begin");
    pg_exec(reader, "select count(*) from message where payload = 's3cret'");
    assert_true(PQsendQuery(changer, "begin; lock table message in access exclusive mode"));
    pg_await_blocked(watcher, changer);
    assert_root(f, reader, "keeps session ", changer);
    boxcar_finding_list *list = diagnose(f);
    assert_false(has_text(only_finding(list, "claim")->text, "s3cret"));
    boxcar_list_free(list);
    PQfinish(reader);
    PQfinish(changer);
    PQfinish(watcher);
}

/* On a server that has them. */
static void prepared_transaction_is_named_with_what_ends_it(void **state) {
    struct fixture *f = *state;
    char gid[96], named[160], remedy[160];
    PGconn *conn = fixture_connect(f);
    if (pg_number(conn, "select current_setting('max_prepared_transactions')::int") == 0) {
        PQfinish(conn);
        if (f->kind == FIXTURE_PGBOUNCER)
            skip();                                  /* it is about the server: proven without the pooler */
        assert_null(getenv("BOXCAR_TEST_PREPARED")); /* then with-prepared has started this server */
        SKIP_LACKING("prepared transactions (BOXCAR_TEST_PREPARED=10)");
    }
    snprintf(gid, sizeof(gid), "lost-%s", f->schema);
    snprintf(named, sizeof(named), "the prepared transaction '%s' (role ", gid);
    snprintf(remedy, sizeof(remedy), "rollback prepared '%s';", gid);
    pg_exec(conn, "begin");
    pg_exec(conn, "lock table outbox_turn in share update exclusive mode"); /* a claim cannot be prepared */
    pg_exec(conn, "prepare transaction '%s'", gid);
    boxcar_finding_list *list = diagnose(f);
    const boxcar_finding *finding = only_finding(list, "claim");
    bool is_named =
        has_text(finding->text, named) && has_text(finding->text, "has the claimers' turn, prepared ");
    bool has_remedy = has_text(finding->remedy, remedy);
    pg_exec(conn, "%s", remedy);
    assert_true(is_named && has_remedy);
    assert_int_equal(finding->severity, BOXCAR_SEVERITY_PROBLEM);
    boxcar_list_free(list);
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(worker_whose_claims_wait_for_a_lock_is_detached),
    TEST(worker_that_holds_messages_stays_detached_as_well),
    TEST(claim_that_waits_for_a_lock_gives_the_turn_back),
    TEST(worker_says_who_keeps_the_turn),
    TEST(worker_says_who_has_locked_a_table),
    TEST(worker_says_who_holds_a_stream),
    TEST(claims_that_wait_a_moment_are_nothing_to_tell),
    TEST(session_of_a_client_that_is_gone_ends_although_it_waits),
    TEST(lock_on_a_table_is_named_by_the_doctor),
    TEST(doctor_names_the_session_that_the_others_wait_for),
    TEST(doctor_follows_the_queue_to_its_head),
    TEST(prepared_transaction_is_named_with_what_ends_it),
};

const struct suite BLOCKED_SUITE = SUITE(TESTS);
