/* Joins of joins: a wait, or the continuation of one, as a step of another join; handlers with transactions
 * of their own; ids that come back. */
#include <stdatomic.h>

#include "joins.h"
#include "runner.h"

/* BX-007, JOIN-056, JOIN-030: acking a wait is acking a message. */
static void wait_may_be_a_step_of_another_join(void **state) {
    struct fixture *f = *state;
    boxcar_join_id inner = start_join(f, 1), outer = start_join(f, 3);
    boxcar_enqueued good = enqueue_wait(f, inner), lonely, cancelled = enqueue_wait(f, inner);
    attach(f, outer, good.message_id);
    attach(f, outer, cancelled.message_id);
    ASSERT_OK(f, cancel_message(f, cancelled.work_id));
    assert_join(f, outer, BOXCAR_JOIN_PENDING, 0, 1);
    assert_int_equal(evaluate(f, good), WAIT_DEFERRED);
    assert_join(f, outer, BOXCAR_JOIN_PENDING, 0, 1);
    lonely = enqueue(f, WAIT,
                     "{\"join_id\": \"0190a6a0-0000-7000-8000-000000000001\", \"on_complete_topic\": \"t\"}");
    attach(f, outer, lonely.message_id);
    assert_int_equal(evaluate(f, lonely), WAIT_NO_JOIN);
    assert_join(f, outer, BOXCAR_JOIN_PENDING, 0, 2);
    assert_true(ack(f, f->owner, take_step(f, inner)));
    assert_int_equal(evaluate(f, good), WAIT_COMPLETED);
    assert_join(f, outer, BOXCAR_JOIN_FAILED, 1, 2);
}

/* BX-044, BX-045: one evaluation ends a join, whose wait wakes in turn. */
static void evaluation_that_ends_another_join_wakes_its_waits(void **state) {
    struct fixture *f = *state;
    boxcar_join_id inner = start_join(f, 1), outer = start_join(f, 1);
    boxcar_enqueued first = enqueue_wait(f, inner), second = enqueue_wait(f, outer);
    attach(f, outer, first.message_id);
    assert_int_equal(evaluate(f, first), WAIT_DEFERRED);
    assert_int_equal(evaluate(f, second), WAIT_DEFERRED);
    assert_true(bury(f, f->owner, take_step(f, inner), "no"));
    assert_int_equal(evaluate(f, first), WAIT_FAILED);
    assert_join(f, outer, BOXCAR_JOIN_COMPLETED, 1, 0); /* the wait was done, whatever it found */
    assert_int_equal(evaluate(f, second), WAIT_COMPLETED);
}

/* BX-042, BX-045: its id is known before it is there. */
static void continuation_may_be_attached_before_it_is_enqueued(void **state) {
    struct fixture *f = *state;
    boxcar_join_id inner = start_join(f, 1), outer = start_join(f, 1);
    boxcar_enqueued wait = enqueue_wait(f, inner);
    boxcar_message_id continuation = boxcar_join_continuation_id(wait.message_id);
    assert_false(attach(f, outer, continuation).message_exists);
    assert_true(ack(f, f->owner, take_step(f, inner)));
    assert_int_equal(evaluate(f, wait), WAIT_COMPLETED);
    boxcar_join_member member = member_of(f, outer, continuation);
    assert_true(member.work_id.value > 0);
    assert_true(ack(f, f->owner, take_topic(f, f->owner, "completed", member.work_id)));
    assert_join(f, outer, BOXCAR_JOIN_COMPLETED, 1, 0);
}

/* A stage: takes the join for its next message from the payload, and enqueues it in its transaction. */
struct stage {
    struct fixture *f;
    boxcar_join_id next;
    _Atomic int calls;
};

static boxcar_verdict fan_out_in_transaction(void *context, boxcar_delivery *delivery) {
    struct stage *stage = context;
    boxcar_store *store = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    if (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK)
        return BOXCAR_VERDICT_FAIL;
    boxcar_new_message message = new_message("second", "ack");
    message.join_id = stage->next;
    if (boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &err) != BOXCAR_OK)
        return BOXCAR_VERDICT_FAIL;
    boxcar_delivery_set_delay_ms(delivery, 0);
    return atomic_fetch_add(&stage->calls, 1) == 0 ? BOXCAR_VERDICT_RETRY : BOXCAR_VERDICT_ACK;
}

/* JOIN-032, BX-083: the first attempt is taken back, with the member it had made. */
static void handlers_transaction_counts_its_step_and_adds_its_members_together(void **state) {
    struct fixture *f = *state;
    struct stage stage = {.f = f, .next = start_join(f, 2)};
    boxcar_join_id first = start_join(f, 2);
    boxcar_enqueued wait = enqueue_wait(f, stage.next);
    for (int i = 0; i < 2; i++) {
        boxcar_new_message message = new_message("first", "ack");
        message.join_id = first;
        enqueue_message(f, &message);
    }
    struct runner *runner = runner_new(f);
    runner_handle(runner, "second");
    runner_handle(runner, "completed");
    ASSERT_OK(f, boxcar_worker_handle(
                     runner->worker,
                     HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("first"), fan_out_in_transaction, &stage), &f->err));
    runner_drain(runner);
    assert_int_equal(stage.calls, 3);
    assert_join(f, first, BOXCAR_JOIN_COMPLETED, 2, 0);
    assert_join(f, stage.next, BOXCAR_JOIN_COMPLETED, 2, 0);
    assert_int_equal(runner_count(runner, "second"), 2);
    assert_int_equal(runner_count(runner, "completed"), 1);
    assert_status(f, wait.work_id, BOXCAR_DONE);
    runner_free(runner);
}

/* BX-027, BX-042 */
static void id_twice_in_one_call_is_a_member_of_both_joins(void **state) {
    struct fixture *f = *state;
    boxcar_join_id one = start_join(f, 1), two = start_join(f, 1);
    boxcar_new_message messages[2] = {new_message(STEP, "a"), new_message(STEP, "b")};
    messages[0].key = messages[1].key = BOXCAR_STR("the same");
    messages[0].join_id = one;
    messages[1].join_id = two;
    boxcar_enqueued enqueued[2];
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 2, enqueued, &f->err));
    assert_true(!enqueued[0].duplicate && enqueued[1].duplicate);
    assert_true(ack(f, f->owner, take(f, f->owner, enqueued[0].work_id)));
    assert_join(f, one, BOXCAR_JOIN_COMPLETED, 1, 0);
    assert_join(f, two, BOXCAR_JOIN_COMPLETED, 1, 0);
}

/* BX-007, BX-027: the id was counted; another message with it is another life. */
static void id_that_comes_back_after_a_purge_is_not_counted_again(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 3), fresh = start_join(f, 1);
    boxcar_new_message message = new_message(STEP, "p");
    message.key = BOXCAR_STR("k");
    message.join_id = id;
    boxcar_work_id first = enqueue_message(f, &message).work_id;
    assert_true(bury(f, f->owner, take(f, f->owner, first), "no"));
    set_setting(f, "retention_dead", "0");
    assert_int_equal(maintain_joins(f).purged_dead, 1);
    boxcar_enqueued again = enqueue_message(f, &message);
    assert_false(again.duplicate);
    attach(f, fresh, again.message_id);
    assert_true(ack(f, f->owner, take(f, f->owner, again.work_id)));
    maintain_joins(f);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 1);
    assert_join(f, fresh, BOXCAR_JOIN_COMPLETED, 1, 0);
}

/* BX-042, BX-007: the id is attached while its message lies dead and gone, and comes back. */
static void member_attached_between_two_lives_of_its_id_counts_the_next(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_new_message message = new_message(STEP, "p");
    message.key = BOXCAR_STR("k");
    boxcar_enqueued first = enqueue_message(f, &message);
    assert_true(ack(f, f->owner, take(f, f->owner, first.work_id)));
    set_setting(f, "retention_done", "0");
    assert_int_equal(maintain_joins(f).purged_done, 1);
    assert_false(attach(f, id, first.message_id).message_exists);
    assert_int_equal(maintain_joins(f).settled, 0);
    assert_true(ack(f, f->owner, take(f, f->owner, enqueue_message(f, &message).work_id)));
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 1, 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(wait_may_be_a_step_of_another_join),
    TEST(evaluation_that_ends_another_join_wakes_its_waits),
    TEST(continuation_may_be_attached_before_it_is_enqueued),
    TEST(handlers_transaction_counts_its_step_and_adds_its_members_together),
    TEST(id_twice_in_one_call_is_a_member_of_both_joins),
    TEST(id_that_comes_back_after_a_purge_is_not_counted_again),
    TEST(member_attached_between_two_lives_of_its_id_counts_the_next),
};

const struct suite JOIN_CHAIN_SUITE = SUITE(TESTS);
