/* Streams: one message at a time, in the order of arrival, each stream for itself. */
#include <stdio.h>

#include "conformance.h"

/* BX-005: to claimers that have room for one. */
static void stream_is_handed_out_one_at_a_time_in_order(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = enqueue_streamed(f, "s", "p").work_id;
    for (int i = 0; i < 5; i++) {
        boxcar_message_list *list = claim(f, f->owner, 1);
        struct taken taken = {look(list)->work_id, look(list)->epoch, 0, 0};
        boxcar_list_free(list);
        assert_int_equal(taken.work_id.value, ids[i].value);
        assert_nothing_claimable(f);
        assert_true(ack(f, f->owner, taken));
    }
    assert_nothing_claimable(f);
    assert_int_equal(stats_of(f).done, 5);
}

/* BX-005 */
static void messages_of_one_call_keep_their_order_in_a_stream(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[6];
    boxcar_enqueued enqueued[6];
    for (int i = 0; i < 6; i++) {
        messages[i] = new_message("t", "p");
        messages[i].stream = i % 2 ? BOXCAR_STR("odd") : BOXCAR_STR("even");
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 6, enqueued, &f->err));
    for (int i = 0; i < 6; i += 2) {
        struct taken pair[2];
        boxcar_message_list *list = claim(f, f->owner, 2);
        assert_int_equal(list->count, 2);
        for (size_t k = 0; k < 2; k++) {
            const boxcar_message *m = list->items[k];
            pair[k] = (struct taken){m->work_id, m->epoch, 0, 0};
        }
        boxcar_list_free(list);
        assert_int_equal(pair[0].work_id.value + pair[1].work_id.value,
                         enqueued[i].work_id.value + enqueued[i + 1].work_id.value);
        assert_true(ack(f, f->owner, pair[0]) && ack(f, f->owner, pair[1]));
    }
}

/* BX-005 */
static void streams_do_not_wait_for_each_other(void **state) {
    struct fixture *f = *state;
    boxcar_work_id a = enqueue_streamed(f, "a", "p").work_id;
    take(f, f->owner, a);
    enqueue_streamed(f, "a", "p");
    boxcar_work_id b = enqueue_streamed(f, "b", "p").work_id, plain = enqueue(f, "t", "p").work_id;
    struct taken taken[5];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 5), 2);
    assert_int_equal(taken[0].work_id.value + taken[1].work_id.value, b.value + plain.value);
}

/* BX-005, BX-022 */
static void head_that_waits_holds_its_stream(void **state) {
    struct fixture *f = *state;
    boxcar_work_id head = enqueue_streamed(f, "s", "1").work_id;
    boxcar_work_id next = enqueue_streamed(f, "s", "2").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, head), 3600000));
    assert_nothing_claimable(f);
    assert_int_equal(stats_of(f).waiting, 2);
    assert_status(f, next, BOXCAR_READY);
    boxcar_work_id other = enqueue_streamed(f, "other", "1").work_id;
    enqueue_streamed(f, "other", "2");
    assert_true(defer(f, f->owner, take(f, f->owner, other), 3600000));
    assert_nothing_claimable(f);
}

/* BX-005 */
static void abandoned_head_comes_back_before_its_successors(void **state) {
    struct fixture *f = *state;
    boxcar_work_id head = enqueue_streamed(f, "s", "1").work_id;
    boxcar_work_id next = enqueue_streamed(f, "s", "2").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, head), 100));
    struct taken again = take_wait(f, f->other, head, 30000);
    assert_int_equal(again.retry_count, 1);
    assert_true(ack(f, f->other, again));
    take(f, f->owner, next);
}

/* BX-005 */
static void head_that_is_not_due_holds_its_stream(void **state) {
    struct fixture *f = *state;
    boxcar_new_message later = new_message("t", "p");
    later.stream = BOXCAR_STR("s");
    later.delay_ms = 3600000;
    boxcar_work_id head = enqueue_message(f, &later).work_id;
    boxcar_work_id next = enqueue_streamed(f, "s", "2").work_id;
    assert_nothing_claimable(f);
    boxcar_message_ref ref = {.work_id = head};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    take(f, f->owner, next);
}

/* BX-005, BX-002 */
static void crashed_head_is_handed_out_again_before_its_successors(void **state) {
    struct fixture *f = *state;
    boxcar_work_id head = enqueue_streamed(f, "s", "1").work_id;
    boxcar_work_id next = enqueue_streamed(f, "s", "2").work_id;
    struct taken lost = take_for(f, f->owner, head, BOXCAR_LEASE_MS_MIN);
    struct taken again = take_wait(f, f->other, head, 30000);
    assert_int_equal(again.crash_count, 1);
    assert_nothing_claimable(f);
    assert_false(ack(f, f->owner, lost));
    assert_nothing_claimable(f);
    assert_true(ack(f, f->other, again));
    assert_int_equal(take(f, f->other, next).crash_count, 0);
}

/* BX-005, BX-004 */
static void dead_head_lets_its_stream_go_on(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    for (int i = 0; i < 4; i++) {
        boxcar_new_message message = new_message("t", "p");
        message.stream = BOXCAR_STR("s");
        message.max_attempts = 1;
        ids[i] = enqueue_message(f, &message).work_id;
    }
    assert_true(bury(f, f->owner, take(f, f->owner, ids[0]), "no"));
    assert_true(abandon(f, f->owner, take(f, f->owner, ids[1]), 0));
    take_for(f, f->owner, ids[2], BOXCAR_LEASE_MS_MIN);
    take_wait(f, f->owner, ids[3], 30000);
    assert_dead(f, ids[0], BOXCAR_REASON_REJECTED);
    assert_dead(f, ids[1], BOXCAR_REASON_EXHAUSTED);
    assert_dead(f, ids[2], BOXCAR_REASON_EXHAUSTED);
}

/* BX-005 */
static void cancelled_message_in_the_middle_is_passed_by(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = enqueue_streamed(f, "s", "p").work_id;
    boxcar_message_ref ref = {.work_id = ids[1]};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    assert_true(ack(f, f->owner, take(f, f->owner, ids[0])));
    assert_true(ack(f, f->owner, take(f, f->owner, ids[2])));
    assert_dead(f, ids[1], BOXCAR_REASON_CANCELLED);
}

/* BX-005 */
static void message_that_joins_a_stream_in_flight_waits_its_turn(void **state) {
    struct fixture *f = *state;
    struct taken first = take(f, f->owner, enqueue_streamed(f, "s", "1").work_id);
    boxcar_work_id second = enqueue_streamed(f, "s", "2").work_id;
    assert_nothing_claimable(f);
    assert_int_equal(stats_of(f).waiting, 1);
    assert_true(ack(f, f->owner, first));
    assert_true(ack(f, f->owner, take(f, f->owner, second)));
    take(f, f->owner, enqueue_streamed(f, "s", "3").work_id);
}

/* BX-005, BX-020 */
static void head_of_an_unwanted_topic_holds_its_stream_for_claims_by_topic(void **state) {
    struct fixture *f = *state;
    boxcar_new_message head = new_message("unwanted", "p"), next = new_message("wanted", "p");
    head.stream = next.stream = BOXCAR_STR("s");
    boxcar_work_id first = enqueue_message(f, &head).work_id, second = enqueue_message(f, &next).work_id;
    boxcar_message_list *list = claim_topic(f, f->owner, 5, "wanted");
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
    assert_true(ack(f, f->owner, take(f, f->owner, first)));
    list = claim_topic(f, f->owner, 5, "wanted");
    assert_int_equal(look(list)->work_id.value, second.value);
    boxcar_list_free(list);
}

/* BX-005, BX-020 */
static void hundred_streams_are_worked_off_in_order(void **state) {
    struct fixture *f = *state;
    enum { STREAMS = 100, LENGTH = 5 };
    static boxcar_new_message messages[STREAMS * LENGTH];
    static char names[STREAMS][16];
    int64_t last[STREAMS] = {0};
    for (int i = 0; i < STREAMS * LENGTH; i++) {
        snprintf(names[i % STREAMS], sizeof(names[0]), "s%02d", i % STREAMS);
        messages[i] = new_message("t", "p");
        messages[i].stream = boxcar_str_of(names[i % STREAMS]);
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, STREAMS * LENGTH, NULL, &f->err));
    for (int done = 0; done < STREAMS * LENGTH;) {
        boxcar_settlement settlements[64];
        boxcar_message_list *list = claim(f, f->owner, 64);
        size_t count = list->count, affected = 0;
        assert_true(count > 0);
        for (size_t i = 0; i < count; i++) {
            const boxcar_message *m = list->items[i];
            int64_t *before = &last[(m->stream.data[1] - '0') * 10 + m->stream.data[2] - '0'];
            assert_true(m->work_id.value == (*before ? *before + STREAMS : m->work_id.value));
            *before = m->work_id.value;
            settlements[i] = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
        }
        boxcar_list_free(list);
        ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements, count,
                                   NULL, &affected, &f->err));
        assert_int_equal(affected, count);
        done += (int)count;
    }
    assert_nothing_claimable(f);
}

static const struct CMUnitTest TESTS[] = {
    TEST(stream_is_handed_out_one_at_a_time_in_order),
    TEST(messages_of_one_call_keep_their_order_in_a_stream),
    TEST(streams_do_not_wait_for_each_other),
    TEST(head_that_waits_holds_its_stream),
    TEST(abandoned_head_comes_back_before_its_successors),
    TEST(head_that_is_not_due_holds_its_stream),
    TEST(crashed_head_is_handed_out_again_before_its_successors),
    TEST(dead_head_lets_its_stream_go_on),
    TEST(cancelled_message_in_the_middle_is_passed_by),
    TEST(message_that_joins_a_stream_in_flight_waits_its_turn),
    TEST(head_of_an_unwanted_topic_holds_its_stream_for_claims_by_topic),
    TEST(hundred_streams_are_worked_off_in_order),
};

const struct suite STREAM_SUITE = SUITE(TESTS);
