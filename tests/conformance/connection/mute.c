/* A server that takes connections and statements and never answers, as a proxy does whose backend is gone:
 * every call ends by itself. A test that would wait for ever is ended by its time limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "pg.h"
#include "scenes.h"
#include "seam.h"

enum { ANSWER_MS = 400, CALL_MS = 150, ANSWERS_MAX = 4, LARGE = 24 << 20 };

/* The fixture's store behind a link, in its place. */
struct far_store {
    struct fixture *f;
    struct link link;
    boxcar_store *near_store;
    char url[600];
};

static boxcar_store_options far_options(struct far_store *far) {
    boxcar_store_options options = fixture_options(far->f);
    options.url = boxcar_str_of(far->url);
    options.answer_timeout_ms = ANSWER_MS;
    options.busy_timeout_ms = 60000;
    return options;
}

static void open_far(struct far_store *far) {
    boxcar_store_options options = far_options(far);
    struct fixture *f = far->f;
    options.answer_timeout_ms = 30000; /* the machine may be busy */
    f->store = NULL;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
}

static void setup(struct fixture *f, struct far_store *far) {
    *far = (struct far_store){.f = f, .near_store = f->store};
    link_open(&far->link, f->url);
    snprintf(far->url, sizeof(far->url), "%s?port=%d", f->url, far->link.port);
    open_far(far);
}

static void teardown(struct far_store *far) {
    boxcar_store_close(far->f->store);
    far->f->store = far->near_store;
    link_close(&far->link);
}

/* ---- one call ---- */

/* BX-023, BX-102: the caller learns that it does not know, and the same message is enqueued once in the end.
 */
static void enqueue_ends_although_the_server_is_silent(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    setup(f, &far);
    boxcar_store_close(f->store);
    boxcar_store_options options = far_options(&far);
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    message.message_id.uuid = boxcar_uuid_new();
    link_mute(&far.link, 1); /* the server does its work */
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    assert_true(f->err.outcome_unknown);
    assert_true(f->err.retryable);
    assert_non_null(strstr(f->err.message, "did not answer within 400 ms"));
    link_reset(&far.link);
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    assert_true(enqueued.duplicate);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from message"), 1);
    teardown(&far);
}

/* From the login to the first look at the store. */
static void opening_ends_although_the_server_is_silent(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    boxcar_store_options options = far_options(&far);
    for (int which = 1; which <= 7; which++) {
        boxcar_store *store = NULL;
        link_mute(&far.link, which);
        boxcar_status status = boxcar_store_open(&options, &store, &f->err);
        if (status != BOXCAR_OK) {
            assert_int_equal(status, BOXCAR_E_UNAVAILABLE);
            assert_null(store);
        }
        boxcar_store_close(store);
        link_reset(&far.link);
    }
    teardown(&far);
}

/* More than the sockets hold: what cannot be sent is not waited for either. */
static void large_request_ends_although_the_server_does_not_read(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    char *payload = malloc(LARGE);
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    setup(f, &far);
    boxcar_store_close(f->store);
    boxcar_store_options options = far_options(&far);
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    assert_non_null(payload);
    memset(payload, 'x', LARGE);
    message.payload = (boxcar_str){payload, LARGE};
    link_mute(&far.link, 0);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    link_reset(&far.link);
    ASSERT_OK(f, boxcar_store_deploy(f->store, &f->err));
    free(payload);
    teardown(&far);
}

/* ---- every call, silent from its first, second, ... answer on ---- */

typedef boxcar_status call_fn(struct fixture *f);

static boxcar_status call_heartbeat(struct fixture *f) {
    return say_alive(f->store, f->owner, BOXCAR_OUTBOX, "h", NULL, 0, &f->err);
}

static boxcar_status call_claim(struct fixture *f) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    options.owner = f->owner;
    boxcar_status status = boxcar_claim(f->store, &options, &list, &f->err);
    boxcar_list_free(list);
    return status;
}

static boxcar_status call_enqueue(struct fixture *f) {
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    return boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err);
}

static boxcar_status call_accept(struct fixture *f) {
    boxcar_inbox_key key = {BOXCAR_STR("shop"), BOXCAR_STR("1")};
    bool is_new;
    return boxcar_inbox_accept(f->store, key, BOXCAR_NO_STR, &is_new, NULL, &f->err);
}

static boxcar_status call_transaction(struct fixture *f) {
    boxcar_status status = seam_begin(f->store, &f->err);
    if (status == BOXCAR_OK)
        status = call_enqueue(f);
    if (status == BOXCAR_OK)
        return seam_commit(f->store, &f->err);
    seam_roll_back(f->store);
    return status;
}

static boxcar_status call_sleep(struct fixture *f) {
    seam_sleep(f->store, f->owner, true, 30);
    seam_sleep(f->store, f->owner, true, 30);
    return BOXCAR_OK;
}

static boxcar_status call_maintain(struct fixture *f) {
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    return boxcar_maintenance_run(f->store, &done, &f->err);
}

static boxcar_status call_deploy(struct fixture *f) { return boxcar_store_deploy(f->store, &f->err); }

static boxcar_status call_diagnose(struct fixture *f) {
    boxcar_finding_list *list = NULL;
    boxcar_status status = boxcar_doctor_run(f->store, BOXCAR_OUTBOX, &list, &f->err);
    boxcar_list_free(list);
    return status;
}

static call_fn *const CALLS[] = {call_heartbeat, call_claim,    call_enqueue, call_accept,  call_transaction,
                                 call_sleep,     call_maintain, call_deploy,  call_diagnose};

/* The second time statements are prepared, which is a round trip of its own. */
static void make_silent(struct far_store *far, call_fn *call, int which) {
    struct fixture *f = far->f;
    boxcar_store_close(f->store);
    open_far(far);
    f->err = BOXCAR_ERROR_INIT;
    ASSERT_OK(f, call(f));
    seam_hurry(f->store, CALL_MS);
    link_mute(&far->link, which);
}

/* BX-023 */
static void every_call_ends_although_the_server_is_silent(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    int unavailable = 0;
    setup(f, &far);
    for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++)
        for (int which = 1; which <= ANSWERS_MAX; which++) {
            make_silent(&far, CALLS[i], which);
            boxcar_status status = CALLS[i](f);
            if (status != BOXCAR_OK)
                assert_int_equal(status, BOXCAR_E_UNAVAILABLE);
            unavailable += status != BOXCAR_OK;
            link_reset(&far.link);
        }
    assert_true(unavailable > (int)(sizeof(CALLS) / sizeof(CALLS[0])));
    teardown(&far);
}

/* ---- not cut too early ---- */

/* Upkeep may take longer than other calls: here for a lock that is held for more than the time of those. */
static void long_statement_is_not_cut(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    PGconn *holder = fixture_connect(f);
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    setup(f, &far);
    boxcar_store_close(f->store);
    boxcar_store_options options = far_options(&far);
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    pg_exec(holder, "begin");
    pg_exec(holder, "lock table lease in access exclusive mode");
    assert_true(PQsendQuery(holder, "select pg_sleep(1.2); rollback"));
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    PQfinish(holder);
    teardown(&far);
}

/* ---- a borrowed connection ---- */

static PGconn *connect_far(struct far_store *far) {
    PGconn *conn = PQconnectdb(far->url);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    return conn;
}

/* The lender of a connection says whether it is cut. Its mode stays as it was. */
static void borrowed_connection_is_cut_when_its_owner_wants_that(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    boxcar_store *borrowed = NULL;
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    setup(f, &far);
    PGconn *conn = connect_far(&far);
    boxcar_store_options options = far_options(&far);
    ASSERT_OK(f, boxcar_store_borrow_postgres(conn, &options, &borrowed, &f->err));
    ASSERT_OK(f, boxcar_enqueue(borrowed, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    assert_int_equal(PQisnonblocking(conn), 0);
    link_mute(&far.link, 0);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 boxcar_enqueue(borrowed, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE,
                 boxcar_enqueue(borrowed, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    boxcar_store_close(borrowed);
    PQfinish(conn);
    link_reset(&far.link);
    teardown(&far);
}

/* By default it is not: waiting for a lock is its owner's business. */
static void borrowed_connection_waits_as_long_as_it_takes(void **state) {
    struct fixture *f = *state;
    PGconn *holder = fixture_connect(f), *conn = fixture_connect(f);
    boxcar_store_options options = fixture_options(f);
    boxcar_store *borrowed = NULL;
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    ASSERT_OK(f, boxcar_store_borrow_postgres(conn, &options, &borrowed, &f->err));
    pg_exec(holder, "begin");
    pg_exec(holder, "lock table message in access exclusive mode");
    assert_true(PQsendQuery(holder, "select pg_sleep(1); rollback"));
    ASSERT_OK(f, boxcar_enqueue(borrowed, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    boxcar_store_close(borrowed);
    PQfinish(conn);
    PQfinish(holder);
}

/* ---- a worker ---- */

/* BX-023, design section 7: it goes although it cannot tell the store anything. */
static void worker_stops_although_the_server_is_silent(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    struct scene *s = scene_new(f);
    s->store = far_options(&far);
    s->options.drain = false;
    s->options.grace_ms = 500;
    s->options.lease_ms = 3000;
    s->options.maintain_ms = 50;
    atomic_store(&s->hold, true);
    enqueue(f, "orders", "x");
    scene_make(s);
    scene_handle(s, "orders");
    scene_start(s);
    scene_wait_for(&s->calls, 1);
    link_mute(&far.link, 0);
    boxcar_worker_stop(s->worker);
    pthread_join(s->thread, NULL);
    assert_int_equal(s->ended, BOXCAR_E_UNAVAILABLE); /* what it holds is left until its lease ends */
    assert_int_equal(s->cancelled, 1);
    scene_free(s);
    link_reset(&far.link);
    teardown(&far);
}

/* BX-023: a handler's time limit does not wait for the store. */
static void handler_times_out_although_the_server_is_silent(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    struct scene *s = scene_new(f);
    s->store = far_options(&far);
    s->options.drain = false;
    s->options.lease_ms = 3000;
    s->options.handler_timeout_ms = 1500;
    atomic_store(&s->hold, true);
    enqueue(f, "orders", "x");
    scene_make(s);
    scene_handle(s, "orders");
    scene_start(s);
    scene_wait_for(&s->calls, 1);
    link_mute(&far.link, 0);
    scene_wait_for(&s->cancelled, 1);
    link_reset(&far.link);
    scene_stop(s);
    scene_free(s);
    teardown(&far);
}

static const struct CMUnitTest TESTS[] = {
    TEST(enqueue_ends_although_the_server_is_silent),
    TEST(opening_ends_although_the_server_is_silent),
    TEST(large_request_ends_although_the_server_does_not_read),
    TEST(every_call_ends_although_the_server_is_silent),
    TEST(long_statement_is_not_cut),
    TEST(borrowed_connection_is_cut_when_its_owner_wants_that),
    TEST(borrowed_connection_waits_as_long_as_it_takes),
    TEST(worker_stops_although_the_server_is_silent),
    TEST(handler_times_out_although_the_server_is_silent),
};

const struct suite MUTE_SUITE = SUITE(TESTS);
