/* Schedules: how the message of a slice ended, for whom, and what is left of it. */
#include "schedules.h"
#include "subscriptions.h"

/* Upkeep removes the message before anybody plans. */
static void finish_and_purge(struct fixture *f) {
    struct taken taken[2];
    add_shards(f, 2);
    assert_int_equal(plan_slices(f), 2);
    take_slices(f, taken, 2);
    assert_true(ack(f, f->owner, taken[0]));
    assert_true(ack(f, f->owner, taken[1]));
    set_setting(f, "retention_done", "0");
    assert_int_equal(maintain_readers(f).purged_done, 2);
    assert_int_equal(plan_slices(f), 0);
    for (int i = 0; i < 2; i++) {
        boxcar_slice slice = slice_of(f, i);
        assert_int_equal(slice.slice, 1);
        assert_int_equal(slice.tries, 1);
        assert_true(slice.completed_at != BOXCAR_TIME_NONE);
        assert_true(slice.due_at > slice.completed_at);
    }
}

/* BX-106 */
static void a_done_message_that_is_gone_has_completed_its_slice(void **state) { finish_and_purge(*state); }

/* BX-106 */
static void the_same_holds_while_there_are_subscriptions(void **state) {
    subscribe(*state, "a", "something.else");
    finish_and_purge(*state);
}

/* BX-106 */
static void a_dead_letter_that_is_gone_was_not_done(void **state) {
    struct fixture *f = *state;
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    assert_true(bury(f, f->owner, take_slice(f), "no"));
    set_setting(f, "retention_dead", "0");
    assert_int_equal(maintain_readers(f).purged_dead, 1);
    assert_int_equal(plan_slices(f), 1);
    assert_int_equal(slice_of(f, 0).slice, 1);
    assert_int_equal(slice_of(f, 0).tries, 2);
}

/* BX-092, BX-106 */
static void a_subscription_that_takes_the_slices_completes_them(void **state) {
    struct fixture *f = *state;
    boxcar_str pattern = BOXCAR_STR("fanout:*");
    boxcar_new_subscription only = new_subscription("a", &pattern);
    only.only = true;
    boxcar_box a = subscribe_this(f, &only);
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    assert_nothing_claimable(f);
    assert_int_equal(plan_slices(f), 0);
    struct batch_taken taken = claim_as(f, a, f->owner, 1);
    assert_int_equal(taken.count, 1);
    assert_true(settle_as(f, a, BOXCAR_ACK, taken.items[0]));
    assert_int_equal(plan_slices(f), 0);
    assert_true(slice_of(f, 0).completed_at != BOXCAR_TIME_NONE);
}

/* BX-106: what other readers do with it does not count. */
static void a_subscription_beside_the_main_reader_completes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "fanout:*");
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    struct batch_taken taken = claim_as(f, a, f->owner, 1);
    assert_int_equal(taken.count, 1);
    assert_true(settle_as(f, a, BOXCAR_ACK, taken.items[0]));
    assert_int_equal(plan_slices(f), 0);
    assert_int_equal(slice_of(f, 0).completed_at, BOXCAR_TIME_NONE);
    assert_true(ack(f, f->owner, take_slice(f)));
    assert_int_equal(plan_slices(f), 0);
    assert_true(slice_of(f, 0).completed_at != BOXCAR_TIME_NONE);
}

static const struct CMUnitTest TESTS[] = {
    TEST(a_done_message_that_is_gone_has_completed_its_slice),
    TEST(the_same_holds_while_there_are_subscriptions),
    TEST(a_dead_letter_that_is_gone_was_not_done),
    TEST(a_subscription_that_takes_the_slices_completes_them),
    TEST(a_subscription_beside_the_main_reader_completes_nothing),
};

const struct suite SCHEDULE_SLICES_SUITE = SUITE(TESTS);
