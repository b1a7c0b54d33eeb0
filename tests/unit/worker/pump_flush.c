/* When a worker stores verdicts: the strategies of coordinators. */
#include "unit.h"

#include "scene.h"
#include "worker/loop/pump.h"

/* A loop that holds ten messages and has some verdicts. */
struct loop {
    struct boxcar_worker worker;
    struct pump pump;
};

static void loop_init(struct loop *loop, boxcar_strategy strategy) {
    *loop =
        (struct loop){.worker = {.tuning = {.strategy = strategy, .flush_interval_ms = 50, .flush_size = 4}}};
    loop->pump.worker = &loop->worker;
    loop->pump.held_count = 10;
    pump_set_strategy(&loop->pump);
}

static void turn(struct loop *loop, size_t finished, int64_t now_ms) {
    loop->pump.finished.count = finished;
    loop->pump.now_ms = now_ms;
    pump_note_finished(&loop->pump);
}

static void immediate_verdicts_wait_for_nothing(void **state) {
    struct loop loop;

    (void)state;
    loop_init(&loop, BOXCAR_STRATEGY_IMMEDIATE);
    turn(&loop, 0, 1000);
    assert_false(pump_flush_is_due(&loop.pump));
    turn(&loop, 1, 1000);
    assert_true(pump_flush_is_due(&loop.pump));
}

static void verdicts_wait_for_the_interval(void **state) {
    struct loop loop;

    (void)state;
    loop_init(&loop, BOXCAR_STRATEGY_INTERVAL);
    turn(&loop, 1, 1000);
    assert_false(pump_flush_is_due(&loop.pump));
    assert_int_equal(pump_next_flush_ms(&loop.pump), 1050);
    turn(&loop, 9, 1049); /* the first one's time counts */
    assert_false(pump_flush_is_due(&loop.pump));
    turn(&loop, 9, 1050);
    assert_true(pump_flush_is_due(&loop.pump));
    loop.pump.finished.count = 0;
    pump_note_flushed(&loop.pump);
    assert_true(pump_next_flush_ms(&loop.pump) == INT64_MAX);
    turn(&loop, 1, 2000);
    assert_int_equal(pump_next_flush_ms(&loop.pump), 2050);
}

static void verdicts_wait_until_there_are_enough(void **state) {
    struct loop loop;

    (void)state;
    loop_init(&loop, BOXCAR_STRATEGY_SIZE);
    turn(&loop, 3, 1000);
    assert_false(pump_flush_is_due(&loop.pump));
    turn(&loop, 4, 1001);
    assert_true(pump_flush_is_due(&loop.pump));
    turn(&loop, 3, 1050);
    assert_true(pump_flush_is_due(&loop.pump)); /* but not for ever */
}

/* The last ones have nobody to wait for; a worker that stops does not wait, nor does a suspect have to. */
static void verdicts_do_not_wait_in_vain(void **state) {
    struct job suspect = {.sent = false};
    struct loop loop;

    (void)state;
    loop_init(&loop, BOXCAR_STRATEGY_INTERVAL);
    loop.pump.held_count = 2;
    turn(&loop, 2, 1000);
    assert_true(pump_flush_is_due(&loop.pump));
    loop_init(&loop, BOXCAR_STRATEGY_INTERVAL);
    turn(&loop, 2, 1000);
    loop.pump.stopping = true;
    assert_true(pump_flush_is_due(&loop.pump));
    loop.pump.stopping = false;
    assert_false(pump_flush_is_due(&loop.pump));
    loop.pump.waiting = &suspect;
    assert_true(pump_flush_is_due(&loop.pump));
}

static void work(struct scene *s, boxcar_delivery *delivery) {
    (void)s;
    for (int64_t i = boxcar_delivery_message(delivery)->work_id.value % 5; i > 0; i--)
        sched_yield();
}

/* Whatever the strategy: everything is settled, once, also through an outage and with refusals. */
static void every_strategy_settles_everything(void **state) {
    (void)state;
    for (int strategy = 0; strategy <= BOXCAR_STRATEGY_SIZE; strategy++)
        for (int failure = 0; failure < 3; failure++) {
            boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
            struct scene *s;

            if (strategy == BOXCAR_STRATEGY_SCOPED)
                continue;
            options.strategy = (boxcar_strategy)strategy;
            options.flush_size = 7;
            options.flush_interval_ms = failure == 0 ? BOXCAR_FLUSH_INTERVAL_MS_MAX : 2;
            s = scene_new(&options, true, true);
            s->during = work;
            s->memory.failure = failure == 1 ? BOXCAR_E_UNAVAILABLE : BOXCAR_E_STORE;
            s->memory.fail_next = failure == 0 ? 0 : 3;
            for (int i = 0; i < 60; i++)
                scene_add(s, i % 2 ? BOXCAR_OUTBOX : BOXCAR_INBOX, i % 3 ? NULL : "s");
            scene_run(s);
            for (int i = 0; i < 60; i++)
                assert_int_equal(s->memory.messages[i].settled, 1);
            scene_free(s);
        }
}

static void bad_strategies_are_refused(void **state) {
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_worker *worker = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    store.url = BOXCAR_STR("sqlite:nowhere");
    options.store = &store;
    options.strategy = BOXCAR_STRATEGY_SCOPED;
    assert_int_equal(boxcar_worker_new(&options, &worker, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "strategy");
    options.strategy = (boxcar_strategy)4;
    assert_int_equal(boxcar_worker_new(&options, &worker, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "strategy");
    options.strategy = BOXCAR_STRATEGY_SIZE;
    options.flush_size = 0;
    assert_int_equal(boxcar_worker_new(&options, &worker, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "flush_size");
    options.flush_size = 1;
    options.flush_interval_ms = BOXCAR_FLUSH_INTERVAL_MS_MAX + 1;
    assert_int_equal(boxcar_worker_new(&options, &worker, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "flush_interval_ms");
    assert_null(worker);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(immediate_verdicts_wait_for_nothing),
        cmocka_unit_test(verdicts_wait_for_the_interval),
        cmocka_unit_test(verdicts_wait_until_there_are_enough),
        cmocka_unit_test(verdicts_do_not_wait_in_vain),
        cmocka_unit_test(every_strategy_settles_everything),
        cmocka_unit_test(bad_strategies_are_refused),
    };

    return cmocka_run_group_tests_name("pump_flush", tests, NULL, NULL);
}
