/* The worker through its public face: what it takes, and how much of it at a time. */
#include <string.h>

#include "scenes.h"

/* OBX-054, OBX-057, OBX-060 */
static void every_ready_message_is_handled_once_and_done(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    enqueue_many(f, "orders.paid", 500, NULL);
    scene_drain(s, "orders.paid");
    assert_int_equal(s->calls, 500);
    assert_int_equal(stats_of(f).done, 500);
    assert_int_equal(stats_of(f).in_progress, 0);
    scene_free(s);
}

/* BX-065 */
static void results_are_stored_by_every_strategy(void **state) {
    static const boxcar_strategy STRATEGIES[] = {BOXCAR_STRATEGY_INTERVAL, BOXCAR_STRATEGY_SIZE};
    struct fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        struct scene *s = scene_new(f);
        s->options.strategy = STRATEGIES[i];
        s->options.flush_interval_ms = 5000; /* longer than it takes: nobody waits for the last ones */
        s->options.flush_size = 20;
        s->good_from_attempt = 2;
        s->verdict = BOXCAR_VERDICT_RETRY;
        s->delay_ms = 0;
        enqueue_many(f, "t", 200, NULL);
        scene_drain(s, "t");
        assert_int_equal(s->calls, 400);
        assert_int_equal(stats_of(f).done, 200 * (i + 1));
        assert_int_equal(stats_of(f).in_progress, 0);
        scene_free(s);
    }
}

/* OBX-054, BX-024 */
static boxcar_verdict count_call(void *context, boxcar_delivery *delivery) {
    (void)delivery;
    atomic_fetch_add((_Atomic int *)context, 1);
    return BOXCAR_VERDICT_ACK;
}

static void longest_matching_pattern_gets_the_message(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    static const char *const PATTERNS[] = {"*", "orders.*", "orders.eu.*", "orders.eu.paid"};
    _Atomic int calls[4] = {0};
    scene_make(s);
    for (size_t i = 0; i < 4; i++)
        ASSERT_OK(f, boxcar_worker_handle(
                         s->worker, HANDLER(BOXCAR_OUTBOX, boxcar_str_of(PATTERNS[i]), count_call, &calls[i]),
                         &f->err));
    enqueue_many(f, "mail", 1, NULL);
    enqueue_many(f, "orders.us", 2, NULL);
    enqueue_many(f, "orders.eu.new", 3, NULL);
    enqueue_many(f, "orders.eu.paid", 4, NULL);
    scene_run(s);
    for (int i = 0; i < 4; i++)
        assert_int_equal(calls[i], i + 1);
    scene_free(s);
}

/* BX-024 */
static void two_handlers_for_one_topic_are_refused(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    scene_make(s);
    scene_handle(s, "orders.*");
    ASSERT_FAILS(
        f, BOXCAR_E_CONFLICT,
        boxcar_worker_handle(s->worker, HANDLER_DISCARD(BOXCAR_OUTBOX, BOXCAR_STR("orders.*")), &f->err));
    assert_string_equal(f->err.argument, "topic");
    scene_handle(s, "Orders.*"); /* topics are case-sensitive */
    scene_free(s);
}

/* BX-024 */
static void topics_of_others_are_not_touched(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued foreign = enqueue(f, "mail.send", "x");
    enqueue_many(f, "orders", 20, NULL);
    scene_drain(s, "orders");
    assert_int_equal(s->calls, 20);
    assert_status(f, foreign.work_id, BOXCAR_READY);
    assert_int_equal(retry_count_of(f, foreign.work_id), 0);
    scene_free(s);
}

/* OBX-060: that many at a time, no more. */
static void no_more_handlers_run_than_the_concurrency(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.concurrency = 3;
    s->work_ms = 5;
    enqueue_many(f, "orders", 60, NULL);
    scene_drain(s, "orders");
    assert_int_equal(s->calls, 60);
    assert_int_equal(s->most_running, 3);
    scene_free(s);
}

/* BX-003: ten messages that crashed once run one at a time; one that crashed three times runs
 * with nothing else. */
static void suspects_run_one_at_a_time(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    struct taken taken[16];
    enqueue_many(f, "orders", 10, NULL);
    assert_int_equal(take_all(f, f->owner, BOXCAR_LEASE_MS_MIN, taken, 10), 10);
    reap_wait(f, 10);
    s->options.concurrency = 8;
    s->work_ms = 5;
    scene_drain(s, "orders");
    assert_int_equal(s->calls, 10);
    assert_int_equal(s->most_running, 1);
    assert_int_equal(stats_of(f).done, 10);
    scene_free(s);
}

struct alone {
    _Atomic int running, most_beside, calls;
};

static boxcar_verdict watch_company(void *context, boxcar_delivery *delivery) {
    struct alone *a = context;
    bool suspect = boxcar_delivery_message(delivery)->crash_count >= 3;
    int before = atomic_fetch_add(&a->running, 1);
    atomic_fetch_add(&a->calls, 1);
    pause_ms(3); /* the work: long enough to meet others at it */
    if (suspect && (before > 0 || atomic_load(&a->running) > 1))
        atomic_fetch_add(&a->most_beside, 1);
    atomic_fetch_sub(&a->running, 1);
    return BOXCAR_VERDICT_ACK;
}

/* BX-003 */
static void message_that_crashed_three_times_runs_alone(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    struct alone a = {0};
    boxcar_enqueued sent = enqueue(f, "orders", "poison");
    for (int i = 0; i < 3; i++) {
        (void)take_wait(f, f->owner, sent.work_id, BOXCAR_LEASE_MS_MIN);
        reap_wait(f, 1);
    }
    enqueue_many(f, "orders", 200, NULL);
    s->options.concurrency = 8;
    scene_make(s);
    ASSERT_OK(f, boxcar_worker_handle(
                     s->worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("orders"), watch_company, &a), &f->err));
    scene_run(s);
    assert_int_equal(a.calls, 201);
    assert_int_equal(a.most_beside, 0);
    scene_free(s);
}

/* BX-006 */
static void streams_stay_in_order(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.concurrency = 8;
    for (int i = 0; i < 30; i++)
        enqueue_streamed(f, "customer-7", "x");
    scene_drain(s, "*");
    assert_int_equal(s->calls, 30);
    assert_int_equal(s->most_running, 1);
    for (int i = 1; i < 30; i++)
        assert_true(s->seen[i - 1] < s->seen[i]);
    scene_free(s);
}

static int64_t claims_for_2000(struct fixture *f, int batch_limit) {
    struct scene *s = scene_new(f);
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;

    enqueue_many(f, "t", 2000, NULL);
    s->options.batch_size = 10;
    s->options.batch_limit = batch_limit;
    scene_make(s);
    ASSERT_OK(f, boxcar_worker_handle(s->worker, HANDLER_DISCARD(BOXCAR_OUTBOX, BOXCAR_STR("t")),
                                      &f->err)); /* takes no time */
    scene_run(s);
    boxcar_worker_stats_read(s->worker, &stats);
    assert_int_equal(stats.claimed, 2000);
    scene_free(s);
    return stats.claims;
}

/* A claim costs a round trip: 2,000 quick messages take 200 of them by tens, and few once batches have grown.
 */
static void batches_of_quick_messages_grow_to_the_limit(void **state) {
    struct fixture *f = *state;
    assert_true(claims_for_2000(f, 10) >= 200);
    assert_in_range(claims_for_2000(f, 250), 2000 / 250, 60);
}

/* Design section 7 */
static void discarding_acks_without_a_handler(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    enqueue_many(f, "orders", 300, NULL);
    scene_make(s);
    ASSERT_OK(f,
              boxcar_worker_handle(s->worker, HANDLER_DISCARD(BOXCAR_OUTBOX, BOXCAR_STR("orders")), &f->err));
    scene_run(s);
    assert_int_equal(stats_of(f).done, 300);
    scene_free(s);
}

/* BX-022, design section 7: a drain waits for retries, not for what is due tomorrow. */
static void drain_does_not_wait_for_the_far_future(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_new_message later = new_message("orders", "x");
    later.delay_ms = 86400000;
    boxcar_enqueued sent = enqueue_message(f, &later);
    enqueue(f, "orders", "y");
    scene_drain(s, "orders");
    assert_int_equal(s->calls, 1);
    assert_status(f, sent.work_id, BOXCAR_READY);
    scene_free(s);
}

static size_t count_logged(struct scene *s, const char *text) {
    size_t count = 0;
    pthread_mutex_lock(&s->mutex);
    for (const char *at = s->logged;
         (at = memmem(at, (size_t)(s->logged + s->logged_len - at), text, strlen(text))); at++)
        count++;
    pthread_mutex_unlock(&s->mutex);
    return count;
}

/* Each round of upkeep that expires something says so. */
static void wait_for_upkeep(struct scene *s, size_t rounds) {
    size_t wanted = count_logged(s, "debug maintain expired") + rounds;
    for (int i = 0; i < 1000 && count_logged(s, "debug maintain expired") < wanted; i++) {
        boxcar_new_message mortal = new_message("mortal", "x");
        mortal.ttl_ms = 1;
        enqueue_message(s->f, &mortal);
        pause_ms(20);
    }
    assert_true(count_logged(s, "debug maintain expired") >= wanted);
}

/* BX-024: at the first look, and not again because the number or the age has changed. */
static void topics_that_nobody_handles_are_warned_about_once_in_a_while(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.drain = false;
    s->options.maintain_ms = 20;
    s->store.log_level = BOXCAR_LOG_DEBUG;
    enqueue(f, "orphan", "x");
    enqueue(f, "waif", "x");
    scene_make(s);
    scene_handle(s, "orders");
    scene_start(s);
    for (int i = 0; i < 1000 && count_logged(s, "warn unhandled") == 0; i++)
        pause_ms(20);
    wait_for_upkeep(s, 1);
    size_t at_first = count_logged(s, "handles orphan") + count_logged(s, "handles waif");
    enqueue(f, "orphan", "y");
    wait_for_upkeep(s, 3);
    scene_stop(s);
    assert_int_equal(at_first, 2);
    assert_int_equal(count_logged(s, "handles orphan") + count_logged(s, "handles waif"), 2);
    scene_free(s);
}

static const struct CMUnitTest TESTS[] = {
    TEST(every_ready_message_is_handled_once_and_done),
    TEST(results_are_stored_by_every_strategy),
    TEST(longest_matching_pattern_gets_the_message),
    TEST(two_handlers_for_one_topic_are_refused),
    TEST(topics_of_others_are_not_touched),
    TEST(no_more_handlers_run_than_the_concurrency),
    TEST(suspects_run_one_at_a_time),
    TEST(message_that_crashed_three_times_runs_alone),
    TEST(streams_stay_in_order),
    TEST(batches_of_quick_messages_grow_to_the_limit),
    TEST(discarding_acks_without_a_handler),
    TEST(drain_does_not_wait_for_the_far_future),
    TEST(topics_that_nobody_handles_are_warned_about_once_in_a_while),
};

const struct suite WORKER_SUITE = SUITE(TESTS);
