/* What becomes of a message, and of what its handler wrote, by the handler's verdict. */
#include "scenes.h"

/* OBX-056, OBX-061, OBX-063, BX-021 */
static void failed_attempt_is_retried_by_the_workers_policy(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_backoff_topic quick = {BOXCAR_STR("orders"), {1, 1.0, 1, 0.0}};
    boxcar_backoff_policy policy = BOXCAR_BACKOFF_POLICY_INIT;
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    policy.curve = (boxcar_backoff_curve){3600000, 1.0, 3600000, 0.0};
    policy.topics = &quick;
    policy.topic_count = 1;
    s->options.backoff = &policy;
    s->verdict = BOXCAR_VERDICT_RETRY;
    s->good_from_attempt = 4;
    s->error = "not yet";
    scene_drain(s, "orders");
    assert_int_equal(s->calls, 4);
    assert_status(f, sent.work_id, BOXCAR_DONE);
    assert_true(scene_logged(s, "error verdict"));
    assert_true(scene_logged(s, "not yet"));
    scene_free(s);
}

/* OBX-064, OBX-065, OBX-105 */
static void message_is_buried_when_its_attempts_are_used_up(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_new_message message = new_message("orders", "x");
    message.max_attempts = 3;
    boxcar_enqueued sent = enqueue_message(f, &message);
    s->verdict = BOXCAR_VERDICT_RETRY;
    s->delay_ms = 0;
    s->error = "broken";
    scene_drain(s, "orders");
    assert_int_equal(s->calls, 3);
    assert_dead(f, sent.work_id, BOXCAR_REASON_EXHAUSTED);
    assert_true(scene_logged(s, "error buried"));
    boxcar_message_list *list = find(f, sent.work_id);
    assert_text(look(list)->last_error, "broken");
    assert_int_equal(look(list)->retry_count, 3);
    boxcar_list_free(list);
    scene_free(s);
}

/* OBX-056 */
static void rejected_message_is_dead_at_once(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    s->verdict = BOXCAR_VERDICT_FAIL;
    s->error = "no such customer";
    scene_drain(s, "orders");
    assert_int_equal(s->calls, 1);
    assert_dead(f, sent.work_id, BOXCAR_REASON_REJECTED);
    scene_free(s);
}

/* BX-022 */
static boxcar_verdict defer_twice(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    boxcar_delivery_set_delay_ms(delivery, 1);
    return atomic_fetch_add(&s->calls, 1) < 2 ? BOXCAR_VERDICT_DEFER : BOXCAR_VERDICT_ACK;
}

static void deferring_spends_no_attempt(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    scene_make(s);
    ASSERT_OK(f, boxcar_worker_handle(s->worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("orders"), defer_twice, s),
                                      &f->err));
    scene_run(s);
    assert_int_equal(s->calls, 3);
    assert_status(f, sent.work_id, BOXCAR_DONE);
    boxcar_message_list *list = find(f, sent.work_id);
    assert_int_equal(look(list)->retry_count, 0);
    boxcar_list_free(list);
    scene_free(s);
}

static boxcar_verdict effect_and_message(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    boxcar_store *store = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_new_message next = new_message("orders.shipped", "y");
    int call = atomic_fetch_add(&s->calls, 1);
    if (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK ||
        boxcar_enqueue(store, BOXCAR_OUTBOX, &next, NULL, &err) != BOXCAR_OK) {
        boxcar_delivery_set_error(delivery, boxcar_str_of(err.message));
        return BOXCAR_VERDICT_FAIL;
    }
    boxcar_delivery_set_delay_ms(delivery, 0);
    return call == 0 ? BOXCAR_VERDICT_RETRY : BOXCAR_VERDICT_ACK;
}

/* BX-008: what the handler enqueued in the transaction of a failed attempt never was. */
static void what_a_handler_writes_commits_with_the_ack(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued sent = enqueue(f, "orders.paid", "x");
    scene_make(s);
    ASSERT_OK(
        f, boxcar_worker_handle(
               s->worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("orders.paid"), effect_and_message, s), &f->err));
    scene_run(s);
    assert_int_equal(s->calls, 2);
    assert_status(f, sent.work_id, BOXCAR_DONE);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_text(look(list)->topic, "orders.shipped"); /* look() also says that it is the only one */
    boxcar_list_free(list);
    scene_free(s);
}

static boxcar_verdict lose_lease_in_transaction(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store = NULL;
    boxcar_store *other = NULL;
    const boxcar_message *message = boxcar_delivery_message(delivery);
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    boxcar_new_message next = new_message("orders.shipped", "y");
    settlement.work_id = message->work_id;
    atomic_fetch_add(&s->calls, 1);
    if (fixture_try_open(s->f, &other, &err) != BOXCAR_OK ||
        boxcar_settle(other, CLAIMER(BOXCAR_OUTBOX, message->owner), BOXCAR_FAIL, &settlement, 1, NULL, NULL,
                      &err) != BOXCAR_OK ||
        boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK ||
        boxcar_enqueue(store, BOXCAR_OUTBOX, &next, NULL, &err) != BOXCAR_OK)
        atomic_fetch_add(&s->cancelled, 1);
    boxcar_store_close(other);
    return BOXCAR_VERDICT_ACK;
}

/* BX-002, BX-008 */
static void lost_lease_undoes_what_the_handler_wrote(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued sent = enqueue(f, "orders.paid", "x");
    scene_make(s);
    ASSERT_OK(f,
              boxcar_worker_handle(
                  s->worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("orders.paid"), lose_lease_in_transaction, s),
                  &f->err));
    scene_run(s);
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->cancelled, 0);
    assert_dead(f, sent.work_id, BOXCAR_REASON_REJECTED);
    assert_nothing_claimable(f);
    scene_free(s);
}

static const struct CMUnitTest TESTS[] = {
    TEST(failed_attempt_is_retried_by_the_workers_policy),
    TEST(message_is_buried_when_its_attempts_are_used_up),
    TEST(rejected_message_is_dead_at_once),
    TEST(deferring_spends_no_attempt),
    TEST(what_a_handler_writes_commits_with_the_ack),
    TEST(lost_lease_undoes_what_the_handler_wrote),
};

const struct suite WORKER_VERDICT_SUITE = SUITE(TESTS);
