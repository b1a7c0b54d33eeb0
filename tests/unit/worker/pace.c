/* How much a worker holds and how long it waits. */
#include "unit.h"

#include "worker/loop/pace.h"

static struct pace_view view_of(size_t queued, size_t running) {
    return (struct pace_view){
        .concurrency = 4, .batch_size = 50, .queued = queued, .running = running, .lease_ms = 30000};
}

static size_t ask(const struct pace *pace, size_t queued, size_t running) {
    struct pace_view view = view_of(queued, running);

    return pace_claim_size(pace, &view);
}

/* BX-023: before anything has finished, no more is taken than can run. */
static void nothing_is_hoarded_before_a_message_has_finished(void **state) {
    struct pace pace = {0};

    (void)state;
    assert_int_equal(ask(&pace, 0, 0), 4);
    assert_int_equal(ask(&pace, 0, 3), 1);
    assert_int_equal(ask(&pace, 0, 4), 0);
    assert_int_equal(ask(&pace, 4, 0), 0);
}

/* BX-023 */
static void fast_handlers_get_whole_batches(void **state) {
    struct pace pace = {0};

    (void)state;
    pace_learn(&pace, 100);
    assert_int_equal(ask(&pace, 0, 0), 50);
    assert_int_equal(ask(&pace, 0, 4), 50);
    assert_int_equal(ask(&pace, 30, 4), 0); /* more than half a queue */
    assert_int_equal(ask(&pace, 20, 4), 30);
}

static void grow(struct pace *pace, const struct pace_view *view, int asked, size_t brought) {
    pace_grow(pace, view, (int[]){asked, 0}, (size_t[]){brought, 0});
}

/* BX-023: many quick messages take fewer claims. */
static void batches_grow_while_claims_come_back_full(void **state) {
    struct pace pace = {0};
    struct pace_view view = view_of(0, 0);

    (void)state;
    view.batch_limit = 300;
    pace_learn(&pace, 100);
    assert_int_equal(pace_claim_size(&pace, &view), 50);
    grow(&pace, &view, 50, 50);
    assert_int_equal(pace_claim_size(&pace, &view), 100);
    grow(&pace, &view, 10, 10); /* a small one says little */
    assert_int_equal(pace_claim_size(&pace, &view), 100);
    grow(&pace, &view, 100, 100);
    grow(&pace, &view, 200, 200);
    assert_int_equal(pace_claim_size(&pace, &view), 300);
    grow(&pace, &view, 300, 80); /* large ones, or there are no more */
    assert_int_equal(pace_claim_size(&pace, &view), 80);
    grow(&pace, &view, 80, 0);
    assert_int_equal(pace_claim_size(&pace, &view), 50);
    view.batch_limit = 10; /* below batch_size: batches do not grow */
    grow(&pace, &view, 50, 50);
    assert_int_equal(pace_claim_size(&pace, &view), 50);
}

/* A box that has nothing is asked now and then, which is no reason to make the other one's batches smaller.
 */
static void one_full_box_is_enough_to_grow(void **state) {
    struct pace pace = {0};
    struct pace_view view = view_of(0, 0);

    (void)state;
    view.batch_limit = 1000;
    pace_learn(&pace, 100);
    pace_grow(&pace, &view, (int[]){25, 25}, (size_t[]){0, 25});
    assert_int_equal(pace_claim_size(&pace, &view), 100);
    pace_grow(&pace, &view, (int[]){50, 50}, (size_t[]){30, 40});
    assert_int_equal(pace_claim_size(&pace, &view), 70);
}

/* BX-023: a batch above batch_size is finished in a tenth of a second, so that other workers do not stand
 * idle meanwhile. */
static void slow_handlers_do_not_get_grown_batches(void **state) {
    static const struct {
        int64_t message_us;
        size_t expected;
    } CASES[] = {{100, 1000}, {1000, 400}, {4000, 100}, {10000, 50}, {100000, 50}};

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct pace pace = {.grown = 100000};
        struct pace_view view = view_of(0, 0);

        view.batch_limit = 1000;
        pace_learn(&pace, CASES[i].message_us);
        assert_int_equal(pace_claim_size(&pace, &view), CASES[i].expected);
    }
}

/* BX-023: the time that running handlers have taken so far counts too. */
static void grown_batches_shrink_when_handlers_hang(void **state) {
    struct pace pace = {.grown = 1000};
    struct pace_view view = view_of(0, 4);

    (void)state;
    view.batch_limit = 1000;
    pace_learn(&pace, 100);
    assert_int_equal(pace_claim_size(&pace, &view), 1000);
    view.elapsed_ms = 40;
    assert_int_equal(pace_claim_size(&pace, &view), 50);
}

/* BX-023: held work takes at most a quarter of a lease: 7.5 s, with 4 threads 30 s of work. */
static void slow_handlers_get_what_they_can_finish(void **state) {
    struct pace pace = {0};

    (void)state;
    pace_learn(&pace, 1000000);
    assert_int_equal(ask(&pace, 0, 0), 34);
    pace = (struct pace){0};
    pace_learn(&pace, 10000000);
    assert_int_equal(ask(&pace, 0, 0), 4);
    assert_int_equal(ask(&pace, 0, 4), 0);
}

/* BX-023: handlers that have become slow are seen before they finish. */
static void running_handlers_that_take_long_stop_the_hoarding(void **state) {
    struct pace pace = {0};
    struct pace_view view = view_of(0, 4);

    (void)state;
    pace_learn(&pace, 1000);
    assert_int_equal(pace_claim_size(&pace, &view), 50);
    view.elapsed_ms = 20000;
    assert_int_equal(pace_claim_size(&pace, &view), 0);
}

static void slow_messages_weigh_more_than_fast_ones(void **state) {
    struct pace pace = {0};
    double before;

    (void)state;
    pace_learn(&pace, 1000);
    pace_learn(&pace, 100000);
    before = pace.message_us;
    assert_true(before > 30000);
    pace_learn(&pace, 1000);
    assert_true(pace.message_us > before * 0.9);
    for (int i = 0; i < 100; i++)
        pace_learn(&pace, 0);
    assert_true(pace.message_us < before);
}

/* OBX-122 */
static void pauses_double_up_to_the_poll_interval(void **state) {
    static const int64_t expected[] = {1, 2, 4, 8, 16, 32, 64, 100, 100};
    int64_t pause_ms = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        assert_int_equal(pace_pause(&pause_ms, 100), expected[i]);
    pause_ms = PACE_PAUSE_FIRST_MS;
    assert_int_equal(pace_pause(&pause_ms, 100), 1);
}

/* A store that wakes the worker in vain, since others enqueue what is not for it, is ignored for a
 * while; one that is right is not. */
static void wake_ups_in_vain_are_ignored_for_a_while(void **state) {
    static const int64_t expected[] = {1, 3, 7, 15, 15};
    struct pace pace = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        pace_wake(&pace);
        pace_in_vain(&pace);
        assert_int_equal(pace.deaf_ms, expected[i]);
    }
    pace_in_vain(&pace); /* a look of its own */
    assert_int_equal(pace.deaf_ms, 0);
    pace_wake(&pace);
    pace_in_vain(&pace);
    pace_found(&pace);
    assert_int_equal(pace.deaf_ms, 0);
}

/* BX-062, BX-023: what waits for the one before it in its stream keeps no thread busy. */
static void messages_held_back_in_streams_leave_no_thread_idle(void **state) {
    struct pace pace = {0};
    struct pace_view view = view_of(0, 1);

    (void)state;
    pace_learn(&pace, 100);
    view.behind = 49;
    assert_int_equal(pace_claim_size(&pace, &view), 4); /* 54 in all */
    view.behind = 1000;
    assert_int_equal(pace_claim_size(&pace, &view), 3); /* for the idle threads */
    view.running = 4;
    assert_int_equal(pace_claim_size(&pace, &view), 0);
}

/* Neither box starves: halves, and what cannot be halved goes to each in turn. */
static void claims_are_shared_between_the_boxes(void **state) {
    static const struct {
        size_t size;
        bool asked[2];
        unsigned turn;
        int expected[2];
    } CASES[] = {
        {50, {true, false}, 0, {50, 0}}, {50, {false, true}, 0, {0, 50}}, {50, {true, true}, 1, {25, 25}},
        {51, {true, true}, 0, {26, 25}}, {51, {true, true}, 1, {25, 26}}, {1, {true, true}, 0, {1, 0}},
        {1, {true, true}, 1, {0, 1}},    {1, {true, false}, 1, {1, 0}},   {9, {false, false}, 0, {0, 0}}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        int sizes[2];

        pace_share(CASES[i].size, CASES[i].asked, CASES[i].turn, sizes);
        assert_memory_equal(sizes, CASES[i].expected, sizeof(sizes));
    }
}

static void tries_of_a_lost_store_come_at_growing_intervals(void **state) {
    (void)state;
    assert_int_equal(pace_retry_ms(1, 0), 25);
    assert_true(pace_retry_ms(1, 0.999) <= 50);
    for (int i = 1; i < 10; i++)
        assert_true(pace_retry_ms(i + 1, 0) >= pace_retry_ms(i, 0));
    assert_int_equal(pace_retry_ms(1000000, 0), 1000);
    assert_true(pace_retry_ms(1000000, 0.999) <= 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_hoarded_before_a_message_has_finished),
        cmocka_unit_test(fast_handlers_get_whole_batches),
        cmocka_unit_test(batches_grow_while_claims_come_back_full),
        cmocka_unit_test(one_full_box_is_enough_to_grow),
        cmocka_unit_test(slow_handlers_do_not_get_grown_batches),
        cmocka_unit_test(grown_batches_shrink_when_handlers_hang),
        cmocka_unit_test(slow_handlers_get_what_they_can_finish),
        cmocka_unit_test(running_handlers_that_take_long_stop_the_hoarding),
        cmocka_unit_test(slow_messages_weigh_more_than_fast_ones),
        cmocka_unit_test(pauses_double_up_to_the_poll_interval),
        cmocka_unit_test(wake_ups_in_vain_are_ignored_for_a_while),
        cmocka_unit_test(messages_held_back_in_streams_leave_no_thread_idle),
        cmocka_unit_test(claims_are_shared_between_the_boxes),
        cmocka_unit_test(tries_of_a_lost_store_come_at_growing_intervals),
    };

    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
