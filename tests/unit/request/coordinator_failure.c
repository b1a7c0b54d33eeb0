/* Coordinators over a store that fails: nothing is lost, nothing happens twice, nothing blocks for ever.
 * BX-064 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator_scene.h"
#include "request/coordinator/coordinator.h"

/* ---- outages ---- */

/* BX-064: what was queued is still queued, in order, before what is queued later. */
static void failed_flush_keeps_everything_in_order(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_flush *flushed;

    (void)state;
    put(s, "0");
    put(s, "1");
    s->memory.down = BOXCAR_E_UNAVAILABLE;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, NULL, &flushed, &s->err), BOXCAR_E_UNAVAILABLE);
    assert_int_equal(flushed->count, 0);
    assert_int_equal(flushed->error->status, BOXCAR_E_UNAVAILABLE);
    boxcar_flush_free(flushed);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 2);
    put(s, "2");
    flush_fails(s, BOXCAR_E_UNAVAILABLE);
    put(s, "3");
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 4);
    s->memory.down = BOXCAR_OK;
    flushed = flush(s);
    assert_int_equal(flushed->count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(flushed->items[i]->outcome, BOXCAR_OUTCOME_ENQUEUED);
    boxcar_flush_free(flushed);
    assert_in_order(s, 4);
    assert_int_equal(s->failed_flushes, 2);
    scene_free(s);
}

/* What may have taken effect is sent again as it was, and says so. */
static void batch_whose_answer_was_lost_is_sent_again_and_takes_effect_once(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_flush *flushed;

    (void)state;
    put(s, "0");
    ack(s, 5);
    s->memory.fail_at = 0;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    s->memory.apply_then_fail = true;
    flush_fails(s, BOXCAR_E_UNAVAILABLE);
    put(s, "1");
    flushed = flush(s);
    assert_int_equal(flushed->items[0]->outcome, BOXCAR_OUTCOME_ENQUEUED);
    assert_int_equal(flushed->items[1]->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(flushed->items[2]->outcome, BOXCAR_OUTCOME_ENQUEUED);
    boxcar_flush_free(flushed);
    assert_in_order(s, 2);
    assert_int_equal(s->memory.messages[4].settled, 1);
    assert_int_equal(s->memory.calls[1].messages, 1); /* the very same batch */
    assert_int_equal(s->memory.calls[1].settlements, 1);
    assert_true(s->memory.calls[1].sent_before);
    assert_false(s->memory.calls[2].sent_before);
    scene_free(s);
}

/* A load with everything in it: conflicts that make it several batches, and something that is refused. */
static void put_load(struct scene *s) {
    boxcar_settlement item;

    for (int i = 0; i < 6; i++)
        put_numbered(s, i);
    for (int64_t id = 1; id < 5; id++) {
        item = a_settlement(id);
        boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_RENEW, &item, 1, 30000, NULL,
                                  &s->err);
        ack(s, id);
    }
    put(s, "bad");
    put_numbered(s, 6);
}

static void assert_load(struct scene *s) {
    assert_in_order(s, 7);
    for (int64_t id = 1; id < 5; id++) {
        assert_int_equal(s->memory.messages[id - 1].settled, 1);
        assert_int_equal(s->memory.messages[id - 1].kind, BOXCAR_ACK);
    }
    assert_int_equal(s->results, 16);
    assert_int_equal(s->refused, 1);
    assert_int_equal(s->enqueued, 7);
    assert_string_equal(s->last_refusal.message, "refused by the store");
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 0);
}

/* The n-th call fails, for every n, in every way. Returns whether a call failed. */
static bool fail_once_at(long n, boxcar_status failure, bool apply_then_fail, boxcar_status refusal) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    bool failed;

    s->memory.refuse = "bad";
    s->memory.refusal = refusal;
    s->memory.fail_at = n;
    s->memory.failure = failure;
    s->memory.apply_then_fail = apply_then_fail;
    put_load(s);
    failed = boxcar_coordinator_flush(s->coordinator, NULL, NULL, &s->err) != BOXCAR_OK;
    if (failed)
        flush_ok(s);
    assert_load(s);
    scene_free(s);
    return failed;
}

/* BX-064 */
static void failure_at_any_point_loses_nothing_and_repeats_nothing(void **state) {
    static const boxcar_status FAILURES[] = {BOXCAR_E_UNAVAILABLE, BOXCAR_E_FULL, BOXCAR_E_NO_MEMORY,
                                             BOXCAR_E_READ_ONLY};
    static const boxcar_status REFUSALS[] = {BOXCAR_E_NOT_FOUND, BOXCAR_E_STORE};
    long points = 0;

    (void)state;
    for (size_t r = 0; r < COUNT_OF(REFUSALS); r++)
        for (size_t i = 0; i < COUNT_OF(FAILURES); i++)
            for (int applied = 0; applied < 2; applied++)
                for (long n = 0; n < 30; n++)
                    points += fail_once_at(n, FAILURES[i], applied, REFUSALS[r]);
    assert_true(points > 100);
}

/* ---- refusals ---- */

/* One bad operation in the middle is dropped alone, found in a few tries. */
static void refused_operation_is_dropped_alone(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    uint64_t bad = 0;
    boxcar_flush *flushed;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        put_numbered(s, i);
        if (i == 699)
            bad = put(s, "bad");
    }
    s->memory.refuse = "bad";
    s->memory.refusal = BOXCAR_E_CONFLICT;
    flushed = flush(s);
    assert_int_equal(flushed->count, 1001);
    assert_int_equal(flushed->refused_count, 1);
    assert_int_equal(boxcar_flush_find(flushed, bad)->outcome, BOXCAR_OUTCOME_REFUSED);
    assert_int_equal(boxcar_flush_find(flushed, bad)->enqueues, true);
    assert_int_equal(boxcar_flush_find(flushed, bad)->work_id.value, 0);
    assert_int_equal(boxcar_flush_find(flushed, bad)->error->status, BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_flush_find(flushed, bad + 1)->outcome, BOXCAR_OUTCOME_ENQUEUED);
    boxcar_flush_free(flushed);
    assert_in_order(s, 1000);
    assert_true(s->memory.call_count < 25);
    assert_int_equal(s->memory.log_count, 1); /* it is logged, too */
    assert_string_equal(s->memory.log[0].event, "refused");
    assert_int_equal(s->memory.log[0].level, BOXCAR_LOG_ERROR);
    scene_free(s);
}

static void refused_settlement_says_whose_it_was(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_flush *flushed;

    (void)state;
    ack(s, 1);
    ack(s, 2);
    s->memory.refuse_work_id = 2;
    s->memory.refusal = BOXCAR_E_STORE;
    flushed = flush(s);
    assert_int_equal(flushed->items[0]->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(flushed->items[1]->outcome, BOXCAR_OUTCOME_REFUSED);
    assert_int_equal(flushed->items[1]->kind, BOXCAR_ACK);
    assert_int_equal(flushed->items[1]->work_id.value, 2);
    boxcar_flush_free(flushed);
    scene_free(s);
}

/* A refused one that is alone goes as well: it cannot be the others. */
static void lone_operation_with_a_bad_argument_is_dropped(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);

    (void)state;
    put(s, "bad");
    s->memory.refuse = "bad";
    s->memory.refusal = BOXCAR_E_NOT_FOUND;
    flush_ok(s);
    assert_int_equal(s->refused, 1);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 0);
    scene_free(s);
}

/* A disk that fails refuses everything, one by one too: that drops nothing. */
static void store_that_takes_nothing_drops_nothing(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);

    (void)state;
    for (int i = 0; i < 100; i++)
        put_numbered(s, i);
    s->memory.down = BOXCAR_E_STORE;
    for (int i = 0; i < 5; i++)
        flush_fails(s, BOXCAR_E_STORE);
    assert_int_equal(s->results, 0);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 100);
    s->memory.down = BOXCAR_OK;
    flush_ok(s);
    assert_in_order(s, 100);
    assert_int_equal(s->refused, 0);
    scene_free(s);
}

/* It stays as long as it may be the store, and goes when the store takes something else. */
static void refusal_that_may_be_the_stores_is_decided_by_what_else_it_takes(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;

    (void)state;
    s->memory.refuse = "bad";
    s->memory.refusal = BOXCAR_E_STORE;
    put(s, "bad");
    flush_fails(s, BOXCAR_E_STORE);
    flush_fails(s, BOXCAR_E_STORE);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 1);
    put(s, "0");
    flush_ok(s);
    assert_int_equal(s->refused, 1);
    assert_in_order(s, 1);
    put(s, "bad");
    options.claims[BOXCAR_OUTBOX] = &claim;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, &options, NULL, &s->err), BOXCAR_OK);
    assert_int_equal(s->refused, 2);
    scene_free(s);
}

/* What comes behind one that is undecided is undecided with it, or the first would go along. */
static void certain_refusal_does_not_decide_about_others(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);

    (void)state;
    s->memory.refuse = "bad";
    s->memory.refusal = BOXCAR_E_STORE;
    s->memory.orphan = "orphan";
    put(s, "bad");
    put(s, "orphan");
    flush_fails(s, BOXCAR_E_STORE);
    assert_int_equal(s->refused, 0);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 2);
    s->memory.refuse = NULL; /* it was the store after all */
    flush_ok(s);
    assert_int_equal(s->refused, 1);
    assert_int_equal(s->last_refusal.status, BOXCAR_E_NOT_FOUND);
    assert_string_equal(s->memory.messages[0].text, "bad");
    scene_free(s);
}

/* More bad ones in a row than one flush has patience for: the next flushes have more. */
static void many_refusals_in_a_row_do_not_block_for_ever(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    int flushes = 0;

    (void)state;
    s->memory.refuse = "bad";
    s->memory.refusal = BOXCAR_E_STORE;
    for (int i = 0; i < 200; i++)
        put(s, "bad");
    put(s, "0");
    while (boxcar_coordinator_flush(s->coordinator, NULL, NULL, &s->err) != BOXCAR_OK)
        assert_true(++flushes < 20);
    assert_true(flushes > 0);
    assert_int_equal(s->refused, 200);
    assert_in_order(s, 1);
    scene_free(s);
}

/* ---- the strategies and a store that is down ---- */

/* BX-064: still queued, and the ticket says so. */
static void immediate_call_reports_the_failure_and_stays_queued(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_IMMEDIATE);
    boxcar_new_message message = a_message("0");
    uint64_t ticket = 0;

    (void)state;
    s->memory.down = BOXCAR_E_UNAVAILABLE;
    assert_int_equal(boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, &message, 1, &ticket, &s->err),
                     BOXCAR_E_UNAVAILABLE);
    assert_int_equal(ticket, 1);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 1);
    s->memory.down = BOXCAR_OK;
    assert_int_equal(put(s, "1"), 2);
    assert_in_order(s, 2);
    scene_free(s);
}

static void immediate_call_reports_the_refusal_of_its_own_operations(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_IMMEDIATE);
    boxcar_new_message messages[2] = {a_message("0"), a_message("bad")};
    uint64_t ticket = 9;

    (void)state;
    s->memory.refuse = "bad";
    s->memory.refusal = BOXCAR_E_NOT_FOUND;
    assert_int_equal(
        boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, &messages[1], 1, &ticket, &s->err),
        BOXCAR_E_NOT_FOUND);
    assert_int_equal(ticket, 0); /* nothing is left of it */
    assert_string_equal(s->err.message, "refused by the store");
    assert_int_equal(boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, messages, 2, &ticket, &s->err),
                     BOXCAR_E_NOT_FOUND);
    assert_int_equal(ticket, 2); /* one of the two is stored */
    assert_in_order(s, 1);
    scene_free(s);
}

/* BX-064 */
static void close_with_the_store_down_fails_and_can_be_repeated(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_INTERVAL);

    (void)state;
    s->memory.down = BOXCAR_E_UNAVAILABLE;
    put(s, "0");
    assert_int_equal(boxcar_coordinator_close(s->coordinator, &s->err), BOXCAR_E_UNAVAILABLE);
    put(s, "1"); /* as usable as before */
    assert_int_equal(boxcar_coordinator_close(s->coordinator, &s->err), BOXCAR_E_UNAVAILABLE);
    pthread_mutex_lock(&s->memory.mutex);
    s->memory.down = BOXCAR_OK;
    pthread_mutex_unlock(&s->memory.mutex);
    scene_await_results(s, 2); /* its thread goes on as well */
    put(s, "2");
    assert_int_equal(boxcar_coordinator_close(s->coordinator, &s->err), BOXCAR_OK);
    assert_in_order(s, 3);
    scene_free(s);
}

/* One line when the store goes, one when it is back. */
static void outage_is_logged_once(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);

    (void)state;
    s->memory.store.log_level = BOXCAR_LOG_INFO;
    s->memory.down = BOXCAR_E_UNAVAILABLE;
    ack(s, 1);
    for (int i = 0; i < 3; i++)
        flush_fails(s, BOXCAR_E_UNAVAILABLE);
    s->memory.down = BOXCAR_OK;
    flush_ok(s);
    ack(s, 2);
    flush_ok(s);
    assert_int_equal(s->memory.log_count, 2);
    assert_string_equal(s->memory.log[0].event, "flush");
    assert_int_equal(s->memory.log[0].level, BOXCAR_LOG_WARN);
    assert_int_equal(s->memory.log[1].level, BOXCAR_LOG_INFO);
    scene_free(s);
}

static struct scene *small_scene(boxcar_strategy strategy) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;

    options.strategy = strategy;
    options.queue_max = 5;
    options.size = 5;
    return scene_new_with(options);
}

/* Memory is bounded: a full queue flushes itself, or refuses. */
static void full_queue_flushes_itself(void **state) {
    struct scene *s = small_scene(BOXCAR_STRATEGY_SCOPED);

    (void)state;
    for (int i = 0; i < 12; i++)
        put_numbered(s, i);
    assert_int_equal(s->memory.call_count, 2);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 2);
    flush_ok(s);
    assert_in_order(s, 12);
    scene_free(s);
}

static void full_queue_refuses_when_the_store_is_down(void **state) {
    static const boxcar_strategy STRATEGIES[] = {BOXCAR_STRATEGY_IMMEDIATE, BOXCAR_STRATEGY_SCOPED,
                                                 BOXCAR_STRATEGY_SIZE};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(STRATEGIES); k++) {
        struct scene *s = small_scene(STRATEGIES[k]);
        boxcar_new_message message = a_message("x"), three[3] = {message, message, message};
        uint64_t ticket;
        char payload[8];

        s->memory.down = BOXCAR_E_READ_ONLY;
        for (int i = 0; i < 5; i++) {
            snprintf(payload, sizeof(payload), "%d", i);
            message.payload = boxcar_str_of(payload);
            (void)boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, &message, 1, &ticket, &s->err);
            assert_int_equal(ticket, i + 1);
        }
        for (int i = 0; i < 3; i++) {
            assert_int_equal(
                boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, &message, 1, &ticket, &s->err),
                BOXCAR_E_UNAVAILABLE);
            assert_int_equal(ticket, 0);
            assert_true(s->err.retryable);
            assert_non_null(strstr(s->err.message, "the store is down"));
        }
        assert_int_equal(boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, three, 3, NULL, &s->err),
                         BOXCAR_E_UNAVAILABLE);
        assert_int_equal(boxcar_coordinator_queued(s->coordinator), 5);
        s->memory.down = BOXCAR_OK;
        flush_ok(s);
        assert_in_order(s, 5);
        scene_free(s);
    }
}

static void more_at_once_than_the_queue_holds_is_invalid(void **state) {
    struct scene *s = small_scene(BOXCAR_STRATEGY_SCOPED);
    boxcar_new_message six[6];

    (void)state;
    for (int i = 0; i < 6; i++)
        six[i] = a_message("x");
    assert_int_equal(boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, six, 6, NULL, &s->err),
                     BOXCAR_E_INVALID);
    assert_string_equal(s->err.argument, "count");
    assert_int_equal(boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, six, 5, NULL, &s->err),
                     BOXCAR_OK);
    scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_flush_keeps_everything_in_order),
        cmocka_unit_test(batch_whose_answer_was_lost_is_sent_again_and_takes_effect_once),
        cmocka_unit_test(failure_at_any_point_loses_nothing_and_repeats_nothing),
        cmocka_unit_test(refused_operation_is_dropped_alone),
        cmocka_unit_test(refused_settlement_says_whose_it_was),
        cmocka_unit_test(lone_operation_with_a_bad_argument_is_dropped),
        cmocka_unit_test(store_that_takes_nothing_drops_nothing),
        cmocka_unit_test(refusal_that_may_be_the_stores_is_decided_by_what_else_it_takes),
        cmocka_unit_test(certain_refusal_does_not_decide_about_others),
        cmocka_unit_test(many_refusals_in_a_row_do_not_block_for_ever),
        cmocka_unit_test(immediate_call_reports_the_failure_and_stays_queued),
        cmocka_unit_test(immediate_call_reports_the_refusal_of_its_own_operations),
        cmocka_unit_test(close_with_the_store_down_fails_and_can_be_repeated),
        cmocka_unit_test(outage_is_logged_once),
        cmocka_unit_test(full_queue_flushes_itself),
        cmocka_unit_test(full_queue_refuses_when_the_store_is_down),
        cmocka_unit_test(more_at_once_than_the_queue_holds_is_invalid),
    };

    return cmocka_run_group_tests_name("coordinator_failure", tests, NULL, NULL);
}
