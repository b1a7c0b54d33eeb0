/* Coordinators in many hands: threads that queue, flush and are told at the same time. BX-064 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator_scene.h"
#include "request/coordinator/coordinator.h"

#define THREADS 8
#define EACH 500

struct producer {
    pthread_t thread;
    struct scene *scene;
    int number;
    int failures;
};

/* Each queues messages and settles ids of its own, and flushes now and then. */
static void *produce(void *context) {
    struct producer *producer = context;
    boxcar_coordinator *coordinator = producer->scene->coordinator;
    char payload[24];

    for (int i = 0; i < EACH; i++) {
        boxcar_settlement settlement = a_settlement(1 + producer->number * EACH + i);
        boxcar_new_message message;

        snprintf(payload, sizeof(payload), "%d %d", producer->number, i);
        message = a_message(payload);
        producer->failures +=
            boxcar_coordinator_enqueue(coordinator, BOXCAR_OUTBOX, &message, 1, NULL, NULL) != BOXCAR_OK;
        producer->failures += boxcar_coordinator_settle(coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, &settlement,
                                                        1, 0, NULL, NULL) != BOXCAR_OK;
        if (i % 100 == 99)
            (void)boxcar_coordinator_flush(coordinator, NULL, NULL, NULL);
    }
    return NULL;
}

static void produce_together(struct scene *s) {
    struct producer producers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        producers[i] = (struct producer){.scene = s, .number = i};
        assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(producers[i].thread, NULL);
        assert_int_equal(producers[i].failures, 0);
    }
}

/* Everything is there once, what one thread queued in its order. */
static void assert_all_there(struct scene *s) {
    int next[THREADS] = {0}, number, i;

    assert_int_equal(s->memory.count, THREADS * EACH);
    for (size_t k = 0; k < s->memory.count; k++) {
        assert_int_equal(sscanf(s->memory.messages[k].text, "%d %d", &number, &i), 2);
        assert_int_equal(i, next[number]++);
    }
    for (int64_t id = 1; id <= THREADS * EACH && id < MEMORY_IDS; id++)
        assert_int_equal(s->memory.messages[id - 1].settled, 1);
    assert_int_equal(s->results, 2 * THREADS * EACH);
    assert_int_equal(s->enqueued, THREADS * EACH);
}

/* Threads queue while the thread of the interval flushes; the store fails again and again. */
static void many_threads_queue_while_the_interval_flushes(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_INTERVAL);

    (void)state;
    s->memory.fail_at = 3;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    s->memory.apply_then_fail = true;
    produce_together(s);
    assert_int_equal(boxcar_coordinator_close(s->coordinator, &s->err), BOXCAR_OK);
    assert_all_there(s);
    scene_free(s);
}

static void many_threads_share_every_other_strategy(void **state) {
    static const boxcar_strategy STRATEGIES[] = {BOXCAR_STRATEGY_IMMEDIATE, BOXCAR_STRATEGY_SCOPED,
                                                 BOXCAR_STRATEGY_SIZE};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(STRATEGIES); k++) {
        boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
        struct scene *s;

        options.strategy = STRATEGIES[k];
        options.queue_max = 300; /* it fills up, too */
        options.size = 50;
        options.interval_ms = STRATEGIES[k] == BOXCAR_STRATEGY_SIZE ? 1 : 0;
        s = scene_new_with(options);
        produce_together(s);
        assert_int_equal(boxcar_coordinator_close(s->coordinator, &s->err), BOXCAR_OK);
        assert_all_there(s);
        scene_free(s);
    }
}

static void *flush_once(void *context) {
    struct scene *s = context;

    (void)boxcar_coordinator_flush(s->coordinator, NULL, NULL, NULL);
    return NULL;
}

/* BX-064: a flush that must happen waits for the one under way, then flushes what is left. */
static void flush_waits_for_the_one_under_way(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    pthread_t first, second;

    (void)state;
    put(s, "0");
    s->memory.gate_closed = true;
    assert_int_equal(pthread_create(&first, NULL, flush_once, s), 0);
    memory_await_gate(&s->memory);
    put(s, "1"); /* not in the batch that is on its way */
    assert_int_equal(pthread_create(&second, NULL, flush_once, s), 0);
    put(s, "2");
    memory_open_gate(&s->memory);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    flush_ok(s);
    assert_in_order(s, 3);
    assert_int_equal(s->memory.calls[0].messages, 1);
    assert_int_equal(s->memory.most_inside, 1);
    scene_free(s);
}

/* Queueing does not wait for the store. */
static void queueing_goes_on_while_a_flush_is_under_way(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_INTERVAL);

    (void)state;
    s->memory.gate_closed = true;
    put(s, "0");
    memory_await_gate(&s->memory);
    for (int i = 1; i < 100; i++)
        put_numbered(s, i);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 100);
    memory_open_gate(&s->memory);
    scene_await_results(s, 100);
    assert_in_order(s, 100);
    scene_free(s);
}

/* A lost answer and a full queue, while others queue on: the batch on its way is not touched. */
static void what_is_queued_meanwhile_gets_behind_a_batch_that_failed(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    pthread_t first;

    (void)state;
    put(s, "0");
    s->memory.fail_at = 0;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    s->memory.apply_then_fail = true;
    s->memory.gate_closed = true;
    assert_int_equal(pthread_create(&first, NULL, flush_once, s), 0);
    memory_await_gate(&s->memory);
    put(s, "1");
    memory_open_gate(&s->memory);
    pthread_join(first, NULL);
    flush_ok(s);
    assert_in_order(s, 2);
    assert_int_equal(s->memory.calls[1].messages, 1);
    assert_true(s->memory.calls[1].sent_before);
    scene_free(s);
}

/* ---- on_flush ---- */

struct chain {
    boxcar_coordinator *coordinator;
    _Atomic int left;
    _Atomic int close_status;
};

static void queue_the_next(void *context, const boxcar_flush *flush) {
    struct chain *chain = context;
    boxcar_new_message message = a_message("next");

    (void)flush;
    if (atomic_fetch_sub(&chain->left, 1) > 0)
        (void)boxcar_coordinator_enqueue(chain->coordinator, BOXCAR_OUTBOX, &message, 1, NULL, NULL);
}

/* It is called outside all locks: it may use the coordinator. */
static void on_flush_may_queue_and_flush(void **state) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    struct chain chain = {.left = 5};
    struct scene *s;

    (void)state;
    options.on_flush = queue_the_next;
    options.on_flush_context = &chain;
    s = scene_new_with(options);
    chain.coordinator = s->coordinator;
    put(s, "first");
    assert_int_equal(s->memory.count, 6);
    scene_free(s);
}

static void try_to_close(void *context, const boxcar_flush *flush) {
    struct chain *chain = context;

    (void)flush;
    chain->close_status = boxcar_coordinator_close(chain->coordinator, NULL);
    atomic_fetch_sub(&chain->left, 1);
}

static void on_flush_of_the_thread_cannot_close(void **state) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    struct chain chain = {.left = 1};
    struct scene *s;

    (void)state;
    options.strategy = BOXCAR_STRATEGY_INTERVAL;
    options.interval_ms = 1;
    options.on_flush = try_to_close;
    options.on_flush_context = &chain;
    s = scene_new_with(options);
    chain.coordinator = s->coordinator;
    s->memory.gate_closed = true; /* until the context is complete */
    put(s, "first");
    memory_await_gate(&s->memory);
    memory_open_gate(&s->memory);
    boxcar_coordinator_free(s->coordinator); /* waits for the thread */
    scene_forget(s);
    assert_int_equal(chain.close_status, BOXCAR_E_CONFLICT);
    scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_queue_while_the_interval_flushes),
        cmocka_unit_test(many_threads_share_every_other_strategy),
        cmocka_unit_test(flush_waits_for_the_one_under_way),
        cmocka_unit_test(queueing_goes_on_while_a_flush_is_under_way),
        cmocka_unit_test(what_is_queued_meanwhile_gets_behind_a_batch_that_failed),
        cmocka_unit_test(on_flush_may_queue_and_flush),
        cmocka_unit_test(on_flush_of_the_thread_cannot_close),
    };

    return cmocka_run_group_tests_name("coordinator_threads", tests, NULL, NULL);
}
