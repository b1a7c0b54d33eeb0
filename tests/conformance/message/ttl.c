/* Time to live: an expired message is never claimed, and is buried as expired. */
#include "conformance.h"

enum { TTL = 100 };

static boxcar_enqueued enqueue_mortal(struct fixture *f, int64_t ttl_ms) {
    boxcar_new_message message = new_message("t", "mortal");
    message.ttl_ms = ttl_ms;
    return enqueue_message(f, &message);
}

static boxcar_maintenance maintain(struct fixture *f) {
    boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &maintenance, &f->err));
    return maintenance;
}

/* BX-005 */
static void message_within_its_time_to_live_is_claimed(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue_mortal(f, 3600000).work_id;
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
}

/* BX-005, BX-025 */
static void expired_message_is_never_claimed_and_claim_buries_it(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue_mortal(f, TTL).work_id;
    wait_out(f, TTL);
    assert_nothing_claimable(f);
    assert_dead(f, id, BOXCAR_REASON_EXPIRED);
    assert_int_equal(retry_count_of(f, id), 0);
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.failed, 1);
    assert_int_equal(stats.ready + stats.waiting, 0);
}

/* BX-005 */
static void expired_message_does_not_keep_a_claim_from_live_ones(void **state) {
    struct fixture *f = *state;
    boxcar_work_id dead = enqueue_mortal(f, TTL).work_id;
    boxcar_work_id alive = enqueue(f, "t", "p").work_id;
    wait_out(f, TTL);
    struct taken taken[3];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 3), 1);
    assert_int_equal(taken[0].work_id.value, alive.value);
    assert_dead(f, dead, BOXCAR_REASON_EXPIRED);
}

/* BX-005 */
static void of_thousands_of_expired_messages_none_is_claimed(void **state) {
    struct fixture *f = *state;
    enum { COUNT = 3000 };
    static boxcar_new_message messages[COUNT];
    static struct taken taken[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        messages[i] = new_message("t", "p");
        messages[i].ttl_ms = TTL;
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, COUNT, NULL, &f->err));
    wait_out(f, TTL);
    for (int i = 0; i < 5; i++)
        assert_int_equal(take_all(f, f->owner, 30000, taken, COUNT), 0);
    boxcar_maintenance maintenance = {.struct_size = sizeof(boxcar_maintenance), .more = true};
    while (maintenance.more)
        maintenance = maintain(f);
    assert_int_equal(stats_of(f).failed, COUNT);
}

/* BX-005 */
static void maintenance_buries_expired_messages(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue_mortal(f, TTL).work_id;
    boxcar_work_id other = enqueue_mortal(f, 3600000).work_id;
    wait_out(f, TTL);
    assert_int_equal(maintain(f).expired, 1);
    assert_dead(f, id, BOXCAR_REASON_EXPIRED);
    assert_status(f, other, BOXCAR_READY);
    assert_int_equal(maintain(f).expired, 0);
    take(f, f->owner, other);
}

/* BX-005 */
static void message_that_expires_before_it_is_due_is_buried(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    message.ttl_ms = TTL;
    message.delay_ms = 3600000;
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    wait_out(f,
             TTL); /* no claim meanwhile: on a slow machine it would come late, and bury the message itself */
    assert_int_equal(maintain(f).expired, 1);
    assert_dead(f, id, BOXCAR_REASON_EXPIRED);
    assert_nothing_claimable(f);
}

/* BX-005 */
static void leased_message_does_not_expire_and_may_be_acked(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue_mortal(f, 1500).work_id;
    struct taken taken = take(f, f->owner, id);
    wait_out(f, 1500);
    assert_int_equal(maintain(f).expired, 0);
    assert_nothing_claimable(f);
    assert_status(f, id, BOXCAR_IN_PROGRESS);
    assert_true(ack(f, f->owner, taken));
    assert_status(f, id, BOXCAR_DONE);
}

/* BX-005 */
static void message_given_back_after_its_time_expires(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue_mortal(f, 1500).work_id;
    struct taken taken = take(f, f->owner, id);
    wait_out(f, 1500);
    assert_true(abandon(f, f->owner, taken, 0));
    assert_nothing_claimable(f);
    assert_dead(f, id, BOXCAR_REASON_EXPIRED);
    assert_int_equal(retry_count_of(f, id), 1);
}

/* BX-005 */
static void expired_head_lets_its_stream_go_on(void **state) {
    struct fixture *f = *state;
    boxcar_new_message head = new_message("t", "p");
    head.ttl_ms = TTL;
    head.stream = BOXCAR_STR("s");
    boxcar_work_id id = enqueue_message(f, &head).work_id;
    boxcar_work_id next = enqueue_streamed(f, "s", "p").work_id;
    wait_out(f, TTL);
    take_wait(f, f->owner, next, 30000);
    assert_dead(f, id, BOXCAR_REASON_EXPIRED);
}

/* BX-025 */
static void expiry_is_in_the_history(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue_mortal(f, TTL).work_id;
    wait_out(f, TTL);
    assert_int_equal(maintain(f).expired, 1);
    boxcar_attempt_list *list = NULL;
    ASSERT_OK(f, boxcar_attempt_read(f->store, id, &list, &f->err));
    assert_int_equal(list->count, 1);
    assert_text(list->items[0]->outcome, "expired");
    assert_int_equal(list->items[0]->retry_count, 0);
    boxcar_list_free(list);
}

/* BX-025, BX-004 */
static void replayed_message_is_not_held_back_by_its_old_time_to_live(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue_mortal(f, TTL).work_id;
    wait_out(f, TTL);
    assert_int_equal(maintain(f).expired, 1);
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.reason = BOXCAR_REASON_EXPIRED;
    int64_t count = 0;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 1);
    assert_int_equal(maintain(f).expired, 0);
    struct taken taken = take(f, f->owner, id);
    assert_true(abandon(f, f->owner, taken, 0));
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
}

static const struct CMUnitTest TESTS[] = {
    TEST(message_within_its_time_to_live_is_claimed),
    TEST(expired_message_is_never_claimed_and_claim_buries_it),
    TEST(expired_message_does_not_keep_a_claim_from_live_ones),
    TEST(of_thousands_of_expired_messages_none_is_claimed),
    TEST(maintenance_buries_expired_messages),
    TEST(message_that_expires_before_it_is_due_is_buried),
    TEST(leased_message_does_not_expire_and_may_be_acked),
    TEST(message_given_back_after_its_time_expires),
    TEST(expired_head_lets_its_stream_go_on),
    TEST(expiry_is_in_the_history),
    TEST(replayed_message_is_not_held_back_by_its_old_time_to_live),
};

const struct suite TTL_SUITE = SUITE(TESTS);
