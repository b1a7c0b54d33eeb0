/* Coordinators and a store that goes away: nothing is lost, the same batch succeeds afterwards, once. BX-064
 */
#include <stdio.h>
#include <string.h>

#include "boxcar/postgres.h"
#include "coordinators.h"
#include "downtime.h"
#include "pg.h"

static void flush_while_the_store_is_down_loses_nothing(void **state) {
    struct fixture *f = *state;
    struct downtime d;
    boxcar_store_options store;
    downtime_setup(f, &d, &store);
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, &store, NULL);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "old").work_id);
    for (int i = 0; i < 20; i++)
        queue_message(f, c, "p");
    queue_ack(f, c, taken);
    downtime_begin(&d);
    for (int i = 0; i < 3; i++) {
        ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_coordinator_flush(c, NULL, NULL, &f->err));
        assert_true(f->err.retryable);
    }
    queue_message(f, c, "later");
    assert_int_equal(boxcar_coordinator_queued(c), 22);
    downtime_end(&d);
    boxcar_flush *flushed = flush(f, c);
    assert_int_equal(flushed->count, 22);
    for (size_t i = 0; i < 22; i++) {
        assert_int_equal(flushed->items[i]->outcome,
                         i == 20 ? BOXCAR_OUTCOME_SETTLED : BOXCAR_OUTCOME_ENQUEUED);
        if (i > 0 && i != 20 && i != 21) /* as it was queued */
            assert_true(flushed->items[i]->work_id.value > flushed->items[i - 1]->work_id.value);
    }
    boxcar_flush_free(flushed);
    assert_int_equal(stats_of(f).ready, 21);
    assert_status(f, taken.work_id, BOXCAR_DONE);
    coordinator_shut(f, c);
    downtime_teardown(&d);
}

/* It comes back by itself, and the callers that queue notice nothing. */
static void interval_goes_on_when_the_store_is_back(void **state) {
    struct fixture *f = *state;
    struct downtime d;
    boxcar_store_options store;
    struct ear ear;
    ear_init(&ear);
    downtime_setup(f, &d, &store);
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_INTERVAL, &store, &ear);
    queue_message(f, c, "p");
    ear_await_results(&ear, 1);
    downtime_begin(&d);
    queue_message(f, c, "p");
    ear_await_failures(&ear, 2);
    queue_message(f, c, "p");
    downtime_end(&d);
    ear_await_results(&ear, 3);
    assert_int_equal(stats_of(f).ready, 3);
    assert_int_equal(ear.enqueued, 3);
    coordinator_shut(f, c);
    downtime_teardown(&d);
    ear_release(&ear);
}

/* BX-064 */
static void best_effort_flush_of_a_store_that_is_down_is_no_error(void **state) {
    struct fixture *f = *state;
    struct downtime d;
    boxcar_store_options store;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    options.best_effort = true;
    downtime_setup(f, &d, &store);
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, &store, NULL);
    downtime_begin(&d);
    queue_message(f, c, "a");
    ASSERT_OK(f, boxcar_coordinator_flush(c, &options, NULL, &f->err));
    assert_int_equal(boxcar_coordinator_queued(c), 1);
    downtime_end(&d);
    coordinator_shut(f, c);
    assert_int_equal(stats_of(f).ready, 1);
    downtime_teardown(&d);
}

static void close_fails_while_the_store_is_down_and_succeeds_afterwards(void **state) {
    struct fixture *f = *state;
    struct downtime d;
    boxcar_store_options store;
    downtime_setup(f, &d, &store);
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_INTERVAL, &store, NULL);
    downtime_begin(&d);
    queue_message(f, c, "a");
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_coordinator_close(c, &f->err));
    queue_message(f, c, "b");
    downtime_end(&d);
    coordinator_shut(f, c);
    assert_int_equal(stats_of(f).ready, 2);
    downtime_teardown(&d);
}

static void make_read_only(struct fixture *f, struct downtime *d, boxcar_coordinator *c, bool read_only) {
    sqlite3 *lite = coordinator_sqlite(c);
    if (lite) {
        assert_int_equal(sqlite3_exec(lite, read_only ? "pragma query_only = on" : "pragma query_only = off",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        return;
    }
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "alter role %s set default_transaction_read_only = %s", d->role, read_only ? "on" : "off");
    PQfinish(conn);
    downtime_cut(d);
}

/* One that can be reached and refuses to write: the same, whatever is queued. */
static void read_only_store_loses_nothing(void **state) {
    struct fixture *f = *state;
    struct downtime d;
    boxcar_store_options store;
    downtime_setup(f, &d, &store);
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, &store, NULL);
    for (int i = 0; i < 3; i++)
        queue_message(f, c, "p");
    make_read_only(f, &d, c, true);
    ASSERT_FAILS(f, BOXCAR_E_READ_ONLY, boxcar_coordinator_flush(c, NULL, NULL, &f->err));
    assert_int_equal(boxcar_coordinator_queued(c), 3);
    make_read_only(f, &d, c, false);
    coordinator_shut(f, c);
    assert_int_equal(stats_of(f).ready, 3);
    downtime_teardown(&d);
}

static void *flush_and_fail(void *context) {
    struct fixture *f = ((void **)context)[0];
    boxcar_coordinator *c = ((void **)context)[1];
    return boxcar_coordinator_flush(c, NULL, NULL, &f->err) == BOXCAR_OK ? f : NULL;
}

/* The server is cut off in the middle of the batch: nobody knows whether it happened. */
static void batch_that_was_cut_off_takes_effect_once(void **state) {
    struct fixture *f = *state;
    struct downtime d;
    boxcar_store_options store;
    if (fixture_is_sqlite(f))
        skip();
    downtime_setup(f, &d, &store);
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, &store, NULL);
    PGconn *holder = fixture_connect(f), *watcher = fixture_connect(f);
    void *context[2] = {f, c}, *succeeded;
    pthread_t thread;
    for (int i = 0; i < 5; i++)
        queue_message(f, c, "p");
    pg_exec(holder, "begin");
    pg_exec(holder, "lock table message in access exclusive mode");
    assert_int_equal(pthread_create(&thread, NULL, flush_and_fail, context), 0);
    while (
        pg_number(watcher,
                  "select count(*) from pg_stat_activity where usename = '%s' and wait_event_type = 'Lock'",
                  d.role) == 0)
        pause_ms(5);
    downtime_begin(&d);
    pthread_join(thread, &succeeded);
    assert_null(succeeded);
    assert_int_equal(f->err.status, BOXCAR_E_UNAVAILABLE);
    assert_true(f->err.outcome_unknown);
    pg_exec(holder, "rollback");
    downtime_end(&d);
    coordinator_shut(f, c);
    assert_int_equal(stats_of(f).ready, 5);
    PQfinish(holder);
    PQfinish(watcher);
    downtime_teardown(&d);
}

static const struct CMUnitTest TESTS[] = {
    TEST(flush_while_the_store_is_down_loses_nothing),
    TEST(interval_goes_on_when_the_store_is_back),
    TEST(best_effort_flush_of_a_store_that_is_down_is_no_error),
    TEST(close_fails_while_the_store_is_down_and_succeeds_afterwards),
    TEST(read_only_store_loses_nothing),
    TEST(batch_that_was_cut_off_takes_effect_once),
};

const struct suite COORDINATOR_OUTAGE_SUITE = SUITE(TESTS);
