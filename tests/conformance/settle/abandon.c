/* Giving work back: abandon spends an attempt and backs off, defer does neither. */
#include <stdlib.h>

#include "conformance.h"

/* OBX-035, OBX-036, OBX-041 */
static void abandon_releases_the_lease_and_counts_an_attempt(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "t", "a");
    assert_true(abandon(f, f->owner, take(f, f->owner, enqueued.work_id), 3600000));
    boxcar_message_list *list = find(f, enqueued.work_id);
    const boxcar_message *m = look(list);
    assert_int_equal(m->status, BOXCAR_READY);
    assert_true(boxcar_uuid_is_none(m->owner.uuid));
    assert_true(m->locked_until == BOXCAR_TIME_NONE);
    assert_int_equal(m->retry_count, 1);
    assert_int_equal(m->crash_count, 0);
    assert_text(m->last_error, "it did not work");
    boxcar_list_free(list);
}

/* OBX-041 */
static void abandon_without_error_keeps_the_one_before(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "a").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    boxcar_settlement settlement = settlement_of(take(f, f->owner, id));
    settlement.delay_ms = 0;
    assert_true(settle(f, BOXCAR_ABANDON, f->owner, &settlement));
    boxcar_message_list *list = find(f, id);
    assert_int_equal(look(list)->retry_count, 2);
    assert_text(look(list)->last_error, "it did not work");
    boxcar_list_free(list);
}

/* Abandons with the store's backoff and asserts the delay that follows. */
static void assert_backoff(struct fixture *f, struct taken taken, int64_t wanted_ms) {
    boxcar_time before = database_now(f);
    assert_true(abandon(f, f->owner, taken, BOXCAR_BACKOFF));
    boxcar_time after = database_now(f);
    boxcar_message_list *list = find(f, taken.work_id);
    boxcar_time available_at = look(list)->available_at;
    boxcar_list_free(list);
    assert_true(available_at >= before + wanted_ms * 1000 - 5000);
    assert_true(available_at <= after + wanted_ms * 1000 + 5000);
}

/* OBX-037, BX-021 */
static void first_backoff_is_two_seconds_by_default(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "a").work_id;
    assert_backoff(f, take(f, f->owner, id), 2000);
}

/* OBX-037, BX-021 */
static void backoff_doubles_with_every_attempt_up_to_its_cap(void **state) {
    struct fixture *f = *state;
    set_setting(f, "backoff_base", "20ms");
    set_setting(f, "backoff_cap", "200ms");
    boxcar_work_id id = enqueue(f, "t", "a").work_id;
    static const int64_t WANTED[] = {40, 80, 160, 200, 200};
    for (size_t i = 0; i < sizeof(WANTED) / sizeof(WANTED[0]); i++)
        assert_backoff(f, take_wait(f, f->owner, id, 30000), WANTED[i]);
}

/* BX-021 */
static void backoff_of_many_attempts_does_not_overflow(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "a");
    message.max_attempts = 1000;
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    for (int i = 0; i < 70; i++)
        assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_backoff(f, take(f, f->owner, id), 60000);
    assert_int_equal(retry_count_of(f, id), 71);
}

/* BX-021 */
static void jitter_only_shortens_a_backoff(void **state) {
    struct fixture *f = *state;
    set_setting(f, "backoff_base", "10m"); /* so long that none comes back meanwhile */
    set_setting(f, "backoff_cap", "1h");
    set_setting(f, "backoff_jitter", "0.5");
    boxcar_time first = 0;
    bool differ = false;
    for (int i = 0; i < 10; i++) {
        boxcar_work_id id = enqueue(f, "t", "a").work_id;
        struct taken taken = take(f, f->owner, id);
        boxcar_time before = database_now(f);
        assert_true(abandon(f, f->owner, taken, BOXCAR_BACKOFF));
        boxcar_time after = database_now(f);
        boxcar_message_list *list = find(f, id);
        boxcar_time available_at = look(list)->available_at;
        boxcar_list_free(list);
        assert_true(available_at >= before + INT64_C(600000000) - 5000 &&
                    available_at <= after + INT64_C(1200000000) + 5000);
        differ = differ || (i > 0 && llabs((long long)(available_at - before - first)) > 20000);
        first = i == 0 ? available_at - before : first;
    }
    assert_true(differ);
}

/* OBX-040, BX-005, BX-001 */
static void abandoned_message_is_claimable_after_its_delay_and_not_before(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "a").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 150));
    boxcar_message_list *list = find(f, id);
    boxcar_time available_at = look(list)->available_at;
    boxcar_list_free(list);
    struct taken again = take_wait(f, f->other, id, 30000);
    assert_true(database_now(f) + 5000 >= available_at);
    assert_int_equal(again.retry_count, 1);
}

/* OBX-040, BX-005 */
static void abandoned_message_waits_while_its_delay_lasts(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "a").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 3600000));
    assert_nothing_claimable(f);
    assert_int_equal(stats_of(f).waiting, 1);
    assert_int_equal(stats_of(f).ready, 0);
}

/* OBX-038, OBX-039, BX-002 */
static void abandon_passes_over_what_is_not_the_owners(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "a").work_id), wrong = taken, unknown = taken;
    wrong.epoch.value++;
    unknown.work_id.value = 987654321;
    assert_false(abandon(f, f->other, taken, 0));
    assert_false(abandon(f, f->owner, wrong, 0));
    assert_false(abandon(f, f->owner, unknown, 0));
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    assert_int_equal(retry_count_of(f, taken.work_id), 0);
}

/* OBX-036 */
static void id_given_twice_is_abandoned_once(void **state) {
    struct fixture *f = *state;
    boxcar_settlement twice[2];
    twice[0] = twice[1] = settlement_of(take(f, f->owner, enqueue(f, "t", "a").work_id));
    twice[0].delay_ms = twice[1].delay_ms = 0;
    size_t count = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ABANDON, twice, 2, NULL,
                               &count, &f->err));
    assert_int_equal(count, 1);
    assert_int_equal(retry_count_of(f, twice[0].work_id), 1);
}

/* OBX-036, OBX-041 */
static void every_message_of_a_call_has_its_own_error_and_delay(void **state) {
    struct fixture *f = *state;
    struct taken taken[2];
    enqueue_many(f, "t", 2, NULL);
    assert_int_equal(take_all(f, f->owner, 30000, taken, 2), 2);
    boxcar_settlement both[2] = {settlement_of(taken[0]), settlement_of(taken[1])};
    both[0].error = BOXCAR_STR("first");
    both[0].delay_ms = 3600000;
    both[1].error = BOXCAR_STR("second");
    both[1].delay_ms = 0;
    size_t count = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ABANDON, both, 2, NULL,
                               &count, &f->err));
    assert_int_equal(count, 2);
    boxcar_message_list *list = claim(f, f->owner, 2);
    assert_int_equal(look(list)->work_id.value, both[1].work_id.value);
    assert_text(look(list)->last_error, "second");
    boxcar_list_free(list);
    list = find(f, both[0].work_id);
    assert_text(look(list)->last_error, "first");
    boxcar_list_free(list);
}

/* BX-022 */
static void defer_releases_the_lease_and_spends_no_attempt(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "a").work_id;
    struct taken taken = take(f, f->owner, id);
    assert_true(defer(f, f->owner, taken, 3600000));
    boxcar_message_list *list = find(f, id);
    assert_int_equal(look(list)->status, BOXCAR_READY);
    assert_int_equal(look(list)->retry_count, 0);
    assert_true(boxcar_uuid_is_none(look(list)->owner.uuid));
    boxcar_list_free(list);
    assert_nothing_claimable(f);
    assert_false(ack(f, f->owner, taken));
}

/* BX-022 */
static void deferred_messages_come_back_as_often_as_it_takes(void **state) {
    struct fixture *f = *state;
    set_setting(f, "max_attempts", "2");
    boxcar_work_id id = enqueue(f, "t", "a").work_id;
    for (int i = 0; i < 12; i++)
        assert_true(defer(f, f->owner, take(f, f->owner, id), 0));
    struct taken taken = take(f, f->owner, id);
    assert_int_equal(taken.retry_count, 0);
    boxcar_attempt_list *attempts = NULL;
    ASSERT_OK(f, boxcar_attempt_read(f->store, id, &attempts, &f->err));
    assert_int_equal(attempts->count, 0);
    boxcar_list_free(attempts);
}

/* BX-022, BX-005 */
static void deferred_message_is_claimable_after_its_delay(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "a").work_id;
    assert_true(defer(f, f->owner, take(f, f->owner, id), 150));
    boxcar_message_list *list = find(f, id);
    boxcar_time available_at = look(list)->available_at;
    boxcar_list_free(list);
    take_wait(f, f->other, id, 30000);
    assert_true(database_now(f) + 5000 >= available_at);
}

/* BX-022, BX-002 */
static void defer_passes_over_what_is_not_the_owners(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "a").work_id), wrong = taken;
    wrong.epoch.value++;
    assert_false(defer(f, f->other, taken, 0));
    assert_false(defer(f, f->owner, wrong, 0));
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    assert_true(ack(f, f->owner, taken));
}

static const struct CMUnitTest TESTS[] = {
    TEST(abandon_releases_the_lease_and_counts_an_attempt),
    TEST(abandon_without_error_keeps_the_one_before),
    TEST(first_backoff_is_two_seconds_by_default),
    TEST(backoff_doubles_with_every_attempt_up_to_its_cap),
    TEST(backoff_of_many_attempts_does_not_overflow),
    TEST(jitter_only_shortens_a_backoff),
    TEST(abandoned_message_is_claimable_after_its_delay_and_not_before),
    TEST(abandoned_message_waits_while_its_delay_lasts),
    TEST(abandon_passes_over_what_is_not_the_owners),
    TEST(id_given_twice_is_abandoned_once),
    TEST(every_message_of_a_call_has_its_own_error_and_delay),
    TEST(defer_releases_the_lease_and_spends_no_attempt),
    TEST(deferred_messages_come_back_as_often_as_it_takes),
    TEST(deferred_message_is_claimable_after_its_delay),
    TEST(defer_passes_over_what_is_not_the_owners),
};

const struct suite ABANDON_SUITE = SUITE(TESTS);
