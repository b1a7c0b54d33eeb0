/* Cancelling: a message that nobody works on is buried; any other is left alone. */
#include "conformance.h"

static boxcar_status cancel(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_ref ref = {.work_id = work_id};
    return boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err);
}

/* BX-028 */
static void fresh_message_can_be_cancelled_by_either_id(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued a = enqueue(f, "t", "p"), b = enqueue(f, "t", "p"), c = enqueue(f, "t", "p");
    ASSERT_OK(f, cancel(f, a.work_id));
    boxcar_message_ref ref = {.message_id = b.message_id};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    assert_dead(f, a.work_id, BOXCAR_REASON_CANCELLED);
    assert_dead(f, b.work_id, BOXCAR_REASON_CANCELLED);
    take(f, f->owner, c.work_id);
    assert_nothing_claimable(f);
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.failed, 2);
    assert_int_equal(stats.in_progress, 1);
    assert_int_equal(stats.ready + stats.waiting, 0);
}

/* BX-028 */
static void waiting_message_can_be_cancelled(void **state) {
    struct fixture *f = *state;
    boxcar_new_message later = new_message("t", "p");
    later.delay_ms = 3600000;
    boxcar_work_id due_later = enqueue_message(f, &later).work_id;
    boxcar_work_id retrying = enqueue(f, "t", "p").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, retrying), 3600000));
    ASSERT_OK(f, cancel(f, due_later));
    ASSERT_OK(f, cancel(f, retrying));
    assert_dead(f, due_later, BOXCAR_REASON_CANCELLED);
    assert_dead(f, retrying, BOXCAR_REASON_CANCELLED);
    assert_int_equal(retry_count_of(f, retrying), 1);
    assert_nothing_claimable(f);
}

/* BX-028 */
static void message_passed_over_by_topic_can_be_cancelled(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "unwanted", "p").work_id;
    boxcar_list_free(claim_topic(f, f->owner, 5, "wanted"));
    ASSERT_OK(f, cancel(f, id));
    assert_dead(f, id, BOXCAR_REASON_CANCELLED);
    assert_nothing_claimable(f);
}

/* BX-028 */
static void message_in_progress_done_or_dead_cannot_be_cancelled(void **state) {
    struct fixture *f = *state;
    boxcar_work_id done = enqueue_done(f, "t").work_id, dead = enqueue_dead(f, "t", "no").work_id;
    struct taken held = take(f, f->owner, enqueue(f, "t", "p").work_id);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, cancel(f, done));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, cancel(f, dead));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, cancel(f, held.work_id));
    assert_status(f, done, BOXCAR_DONE);
    assert_dead(f, dead, BOXCAR_REASON_REJECTED);
    assert_true(ack(f, f->owner, held));
}

/* BX-028 */
static void message_cannot_be_cancelled_twice(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    ASSERT_OK(f, cancel(f, id));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, cancel(f, id));
    assert_int_equal(stats_of(f).failed, 1);
}

/* BX-028 */
static void unknown_message_is_not_found(void **state) {
    struct fixture *f = *state;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, cancel(f, (boxcar_work_id){4711}));
    boxcar_message_ref ref = {.message_id = (boxcar_message_id){boxcar_uuid_new()}};
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    boxcar_message_ref other_box = {.work_id = enqueue(f, "t", "p").work_id};
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_message_cancel(f->store, BOXCAR_INBOX, other_box, &f->err));
}

/* BX-028, BX-025 */
static void cancelling_is_in_the_history_and_can_be_replayed(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    ASSERT_OK(f, cancel(f, id));
    boxcar_attempt_list *list = NULL;
    ASSERT_OK(f, boxcar_attempt_read(f->store, id, &list, &f->err));
    assert_int_equal(list->count, 1);
    assert_text(list->items[0]->outcome, "cancelled");
    boxcar_list_free(list);
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.reason = BOXCAR_REASON_CANCELLED;
    int64_t count = 0;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 1);
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
    assert_int_equal(audit_lost(f), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(fresh_message_can_be_cancelled_by_either_id),
    TEST(waiting_message_can_be_cancelled),
    TEST(message_passed_over_by_topic_can_be_cancelled),
    TEST(message_in_progress_done_or_dead_cannot_be_cancelled),
    TEST(message_cannot_be_cancelled_twice),
    TEST(unknown_message_is_not_found),
    TEST(cancelling_is_in_the_history_and_can_be_replayed),
};

const struct suite CANCEL_SUITE = SUITE(TESTS);
