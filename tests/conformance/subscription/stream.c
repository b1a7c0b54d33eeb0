/* Streams: each reader has its own order, halts and heads. BX-091, BX-006 */
#include "subscriptions.h"

/* BX-006 */
static void a_stream_is_in_order_for_each_reader(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[6];
    enqueue_run(f, "s", 6, ids);
    struct batch_taken first = claim_as(f, a, f->owner, 2);
    assert_taken(&first, ids, 2);
    assert_nothing_for(f, a); /* while it is leased, its stream waits */
    finish_as(f, BOXCAR_OUTBOX, ids, 6);
    assert_true(settle_as(f, a, BOXCAR_ACK, first.items[0]));
    assert_true(settle_as(f, a, BOXCAR_ACK, first.items[1]));
    finish_as(f, a, &ids[2], 4);
    assert_int_equal(violations(f), 0);
}

/* BX-006 */
static void while_a_message_waits_for_a_retry_its_stream_waits(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_work_id ids[3], other;
    enqueue_run(f, "s", 3, ids);
    struct batch_taken held = claim_as(f, a, f->owner, 1);
    assert_taken(&held, ids, 1);
    boxcar_settlement later = settlement_of(held.items[0]);
    later.delay_ms = HOUR;
    assert_true(settle_in_box(f, a, BOXCAR_ABANDON, f->owner, &later));
    enqueue_run(f, "other", 1, &other);
    finish_as(f, a, &other, 1);
    boxcar_work_id all[] = {ids[0], ids[1], ids[2], other};
    struct batch_taken batch = claim_as(f, b, f->owner, RUN_MAX);
    assert_taken(&batch, all, 4);
}

/* BX-006, BX-091 */
static void a_halt_is_one_readers(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_work_id ids[3];
    set_rule(f, "s", BOXCAR_STREAM_HALT);
    enqueue_run(f, "s", 3, ids);
    struct batch_taken held = claim_as(f, a, f->owner, 1);
    assert_true(settle_as(f, a, BOXCAR_FAIL, held.items[0]));
    assert_nothing_for(f, a);
    boxcar_stream_list *list = NULL;
    ASSERT_OK(f, boxcar_stream_find(f->store, a, BOXCAR_STR("s"), &list, &f->err));
    assert_int_equal(list->items[0]->state, BOXCAR_STREAM_HALTED);
    assert_int_equal(list->items[0]->halted_by.value, ids[0].value);
    boxcar_list_free(list);
    finish_as(f, b, ids, 3);
    finish_as(f, BOXCAR_OUTBOX, ids, 3);
    ASSERT_OK(f, boxcar_stream_resume(f->store, a, BOXCAR_STR("s"), false, &f->err));
    finish_as(f, a, &ids[1], 2);
    assert_status_as(f, a, ids[0], BOXCAR_FAILED);
}

/* BX-006 */
static void a_halted_stream_goes_on_with_a_replay(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[3];
    set_rule(f, "s", BOXCAR_STREAM_HALT);
    enqueue_run(f, "s", 3, ids);
    struct batch_taken held = claim_as(f, a, f->owner, 1);
    assert_true(settle_as(f, a, BOXCAR_FAIL, held.items[0]));
    ASSERT_OK(f, boxcar_stream_resume(f->store, a, BOXCAR_STR("s"), true, &f->err));
    finish_as(f, a, ids, 3);
}

/* BX-006 */
static void a_head_can_be_skipped(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[3], skipped;
    enqueue_run(f, "s", 3, ids);
    ASSERT_OK(f, boxcar_stream_skip(f->store, a, BOXCAR_STR("s"), &skipped, &f->err));
    assert_int_equal(skipped.value, ids[0].value);
    finish_as(f, a, &ids[1], 2);
    assert_status_as(f, a, ids[0], BOXCAR_FAILED);
    finish_as(f, BOXCAR_OUTBOX, ids, 3);
}

/* BX-060, BX-092: what the patterns leave out holds nothing up. */
static void messages_of_other_topics_are_not_in_its_streams(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[] = {enqueue_in_stream(f, "s", "t"), enqueue_in_stream(f, "s", "u"),
                            enqueue_in_stream(f, "s", "t")};
    boxcar_work_id wanted[] = {ids[0], ids[2]};
    finish_as(f, a, wanted, 2);
    assert_unknown_to(f, a, ids[1]);
}

/* BX-060 */
static void a_long_stream_does_not_hold_up_others(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id plain, ids[100], other;
    enqueue_run(f, "long", 100, ids);
    enqueue_run(f, "other", 1, &other);
    plain = enqueue(f, "t", "p").work_id;
    struct batch_taken first = claim_as(f, a, f->owner, 20);
    assert_true(first.count > 1 && first.count <= 20);
    bool seen = false;
    for (size_t i = 0; i < first.count; i++)
        seen |= first.items[i].work_id.value == other.value || first.items[i].work_id.value == plain.value;
    assert_true(seen);
}

/* BX-002 */
static void an_expired_lease_brings_its_stream_back_in_order(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[3];
    enqueue_run(f, "s", 3, ids);
    assert_int_equal(claim_as_for(f, a, f->other, 2, 100).count, 2);
    wait_out(f, 100);
    for (size_t i = 0; i < 3; i++) {
        struct batch_taken batch = claim_as(f, a, f->owner, 1);
        assert_taken(&batch, &ids[i], 1);
        assert_int_equal(batch.items[0].retry_count, i < 2);
        assert_true(settle_as(f, a, BOXCAR_ACK, batch.items[0]));
    }
}

/* BX-006: deliveries out of order are seen for each reader. */
static void acks_out_of_order_are_evidence(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[2];
    enqueue_run(f, "s", 2, ids);
    struct batch_taken held = claim_as(f, a, f->owner, 2);
    assert_taken(&held, ids, 2);
    assert_true(settle_as(f, a, BOXCAR_ACK, held.items[1]));
    assert_int_equal(violations(f), 1);
    assert_true(settle_as(f, a, BOXCAR_ACK, held.items[0]));
}

static const struct CMUnitTest TESTS[] = {
    TEST(a_stream_is_in_order_for_each_reader),
    TEST(while_a_message_waits_for_a_retry_its_stream_waits),
    TEST(a_halt_is_one_readers),
    TEST(a_halted_stream_goes_on_with_a_replay),
    TEST(a_head_can_be_skipped),
    TEST(messages_of_other_topics_are_not_in_its_streams),
    TEST(a_long_stream_does_not_hold_up_others),
    TEST(an_expired_lease_brings_its_stream_back_in_order),
    TEST(acks_out_of_order_are_evidence),
};
const struct suite SUBSCRIPTION_STREAM_SUITE = SUITE(TESTS);
