/* Handlers that take long: their leases, their time limit, and a worker that is to stop. */
#include "scenes.h"

/* BX-023 */
static void handler_longer_than_its_lease_keeps_it(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.lease_ms = 1000;
    s->work_ms = 2500;
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    scene_drain(s, "orders");
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->cancelled, 0);
    assert_status(f, sent.work_id, BOXCAR_DONE);
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(s->worker, &stats);
    assert_true(stats.leases_renewed >= 2);
    assert_int_equal(stats.leases_lost, 0);
    scene_free(s);
}

/* BX-023: somebody else settles the message while it is handled. */
static void handler_is_told_when_its_lease_is_lost(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.drain = false;
    s->options.lease_ms = 300;
    atomic_store(&s->hold, true);
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    scene_make(s);
    scene_handle(s, "orders");
    scene_start(s);
    scene_wait_for(&s->calls, 1);
    struct taken taken = {.work_id = sent.work_id};
    assert_true(bury(f, boxcar_worker_owner(s->worker), taken, "taken away"));
    scene_wait_for(&s->cancelled, 1);
    scene_stop(s);
    assert_dead(f, sent.work_id, BOXCAR_REASON_REJECTED);
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    assert_true(boxcar_worker_handler_stats_read(s->worker, 0, &stats));
    assert_int_equal(stats.lost, 1);
    assert_int_equal(stats.acked, 0);
    assert_true(scene_logged(s, "warn lease_lost"));
    scene_free(s);
}

/* Design section 7: the handler timeout. */
static void handler_is_cancelled_when_its_time_is_over(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_new_message message = new_message("orders", "x");
    message.max_attempts = 1;
    boxcar_enqueued sent = enqueue_message(f, &message);
    s->options.handler_timeout_ms = 50;
    s->verdict = BOXCAR_VERDICT_RETRY;
    atomic_store(&s->hold, true);
    scene_drain(s, "orders");
    assert_int_equal(s->cancelled, 1);
    assert_dead(f, sent.work_id, BOXCAR_REASON_EXHAUSTED);
    boxcar_message_list *list = find(f, sent.work_id);
    assert_text(look(list)->last_error, "timed out");
    boxcar_list_free(list);
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    assert_true(boxcar_worker_handler_stats_read(s->worker, 0, &stats));
    assert_int_equal(stats.timed_out, 1);
    scene_free(s);
}

static void await_in_progress(struct fixture *f, int64_t least, int64_t most) {
    int64_t count = stats_of(f).in_progress;
    for (int i = 0; count < least || count > most; i++) {
        assert_true(i < 4000);
        pause_ms(5);
        count = stats_of(f).in_progress;
    }
}

/* Design section 7: SIGTERM. What runs may finish, what is unstarted goes back unharmed. */
static void stopping_finishes_what_runs_and_gives_back_the_rest(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_work_id ids[40];
    s->options.drain = false;
    s->options.concurrency = 2;
    s->work_ms = 1; /* fast at first, so that more is claimed than runs */
    enqueue_many(f, "warm.up", 50, NULL);
    scene_make(s);
    scene_handle(s, "*");
    scene_start(s);
    scene_wait_for(&s->calls, 50);
    while (atomic_load(&s->running) > 0)
        pause_ms(1);
    atomic_store(&s->hold, true);
    enqueue_many(f, "orders", 40, ids);
    scene_wait_for(&s->calls, 52);
    await_in_progress(f, 3, 42);
    boxcar_worker_stop(s->worker);
    await_in_progress(f, 2, 2);
    atomic_store(&s->hold, false);
    pthread_join(s->thread, NULL);
    assert_int_equal(s->ended, BOXCAR_OK);
    assert_int_equal(s->calls, 52);
    assert_int_equal(stats_of(f).done, 52);
    assert_int_equal(stats_of(f).in_progress, 0);
    for (int i = 0; i < 40; i++)
        assert_int_equal(retry_count_of(f, ids[i]), 0);
    scene_free(s);
}

/* Design section 7: a second request ends the grace time. */
static void second_stop_cancels_the_handlers(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.drain = false;
    s->verdict = BOXCAR_VERDICT_RETRY;
    atomic_store(&s->hold, true);
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    scene_make(s);
    scene_handle(s, "orders");
    scene_start(s);
    scene_wait_for(&s->calls, 1);
    boxcar_worker_stop(s->worker);
    scene_stop(s);
    assert_int_equal(s->cancelled, 1);
    assert_status(f, sent.work_id, BOXCAR_READY);
    assert_int_equal(retry_count_of(f, sent.work_id), 0); /* it was not its fault */
    scene_free(s);
}

static const struct CMUnitTest TESTS[] = {
    TEST(handler_longer_than_its_lease_keeps_it),
    TEST(handler_is_told_when_its_lease_is_lost),
    TEST(handler_is_cancelled_when_its_time_is_over),
    TEST(stopping_finishes_what_runs_and_gives_back_the_rest),
    TEST(second_stop_cancels_the_handlers),
};

const struct suite WORKER_STOP_SUITE = SUITE(TESTS);
