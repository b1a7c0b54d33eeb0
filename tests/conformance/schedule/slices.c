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

static void purge_dead(struct fixture *f, boxcar_box reader) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    filter.box = reader;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_purge(f->store, &filter, &count, &f->err));
    assert_int_equal(count, 1);
}

static void assert_slice_comes_again(struct fixture *f) {
    assert_int_equal(plan_slices(f), 1);
    assert_int_equal(slice_of(f, 0).slice, 1);
    assert_int_equal(slice_of(f, 0).tries, 2);
    assert_int_equal(slice_of(f, 0).completed_at, BOXCAR_TIME_NONE);
}

/* BX-106: its message stays for the subscription, or goes. */
static void a_purged_dead_letter_comes_again_beside_a_subscription(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "fanout:*");
    add_shards(f, 1);
    for (int tries = 1; tries < 3; tries++) {
        assert_int_equal(plan_slices(f), 1);
        if (tries == 2) {
            struct batch_taken taken = claim_as(f, a, f->owner, 2);
            for (size_t i = 0; i < taken.count; i++)
                assert_true(settle_as(f, a, BOXCAR_ACK, taken.items[i]));
            set_setting(f, "retention_done", "0");
        }
        boxcar_message_ref ref = {.message_id = slice_of(f, 0).message_id};
        ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
        purge_dead(f, BOXCAR_OUTBOX);
        maintain_readers(f);
    }
    assert_int_equal(plan_slices(f), 1);
    assert_int_equal(slice_of(f, 0).slice, 1);
    assert_int_equal(slice_of(f, 0).tries, 3);
}

/* BX-106 */
static void a_purged_dead_letter_comes_again_when_the_subscription_goes(void **state) {
    struct fixture *f = *state;
    subscribe(f, "a", "fanout:*");
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    assert_true(bury(f, f->owner, take_slice(f), "no"));
    purge_dead(f, BOXCAR_OUTBOX);
    ASSERT_OK(f, boxcar_subscription_remove(f->store, BOXCAR_STR("a"), false, &f->err));
    set_setting(f, "retention_done", "0");
    maintain_readers(f);
    assert_slice_comes_again(f);
}

static boxcar_box take_away(struct fixture *f, const char *name) {
    const boxcar_str pattern = BOXCAR_STR("fanout:*");
    boxcar_new_subscription only = new_subscription(name, &pattern);
    only.only = true;
    return subscribe_this(f, &only);
}

static struct taken take_slice_as(struct fixture *f, boxcar_box reader) {
    struct batch_taken taken = claim_as(f, reader, f->owner, 1);
    assert_int_equal(taken.count, 1);
    return taken.items[0];
}

/* BX-092, BX-106 */
static void a_purged_dead_letter_of_a_subscription_that_takes_it_comes_again(void **state) {
    struct fixture *f = *state;
    boxcar_box a = take_away(f, "a");
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    assert_nothing_claimable(f);
    assert_true(settle_as(f, a, BOXCAR_FAIL, take_slice_as(f, a)));
    purge_dead(f, a);
    set_setting(f, "retention_done", "0");
    maintain_readers(f);
    assert_slice_comes_again(f);
}

/* BX-092, BX-106 */
static void what_a_removed_subscription_took_and_did_not_do_comes_again(void **state) {
    struct fixture *f = *state;
    for (int dead = 0; dead < 2; dead++) {
        boxcar_box a = take_away(f, "a");
        add_shards(f, 1);
        assert_int_equal(plan_slices(f), 1);
        assert_nothing_claimable(f);
        if (dead == 1)
            assert_true(settle_as(f, a, BOXCAR_FAIL, take_slice_as(f, a)));
        ASSERT_OK(f, boxcar_subscription_remove(f->store, BOXCAR_STR("a"), false, &f->err));
        set_setting(f, "retention_done", "0");
        maintain_readers(f);
        assert_slice_comes_again(f);
        assert_true(ack(f, f->owner, take_slice(f)));
        ASSERT_OK(f, boxcar_schedule_remove(f->store, REINDEX, &f->err));
    }
}

/* BX-092, BX-106 */
static void what_a_removed_subscription_did_is_completed(void **state) {
    struct fixture *f = *state;
    boxcar_box a = take_away(f, "a");
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    assert_nothing_claimable(f);
    assert_true(settle_as(f, a, BOXCAR_ACK, take_slice_as(f, a)));
    ASSERT_OK(f, boxcar_subscription_remove(f->store, BOXCAR_STR("a"), false, &f->err));
    set_setting(f, "retention_done", "0");
    maintain_readers(f);
    assert_int_equal(plan_slices(f), 0);
    assert_int_equal(slice_of(f, 0).tries, 1);
    assert_true(slice_of(f, 0).completed_at != BOXCAR_TIME_NONE);
}

static const struct CMUnitTest TESTS[] = {
    TEST(a_done_message_that_is_gone_has_completed_its_slice),
    TEST(the_same_holds_while_there_are_subscriptions),
    TEST(a_dead_letter_that_is_gone_was_not_done),
    TEST(a_subscription_that_takes_the_slices_completes_them),
    TEST(a_subscription_beside_the_main_reader_completes_nothing),
    TEST(a_purged_dead_letter_comes_again_beside_a_subscription),
    TEST(a_purged_dead_letter_comes_again_when_the_subscription_goes),
    TEST(a_purged_dead_letter_of_a_subscription_that_takes_it_comes_again),
    TEST(what_a_removed_subscription_took_and_did_not_do_comes_again),
    TEST(what_a_removed_subscription_did_is_completed),
};

const struct suite SCHEDULE_SLICES_SUITE = SUITE(TESTS);
