/* Policies: what is done with all destinations at once, and with one of them. */
#include <string.h>

#include "fanouts.h"

static const boxcar_str ORDERS = {"orders.*", 8};
static const boxcar_str NAME = {"copies", 6};
static const boxcar_str TWO[] = {{"left", 4}, {"right", 5}};
#define LEFT "copies/left"
#define RIGHT "copies/right"

static void add_copies(struct fixture *f) {
    const boxcar_new_fanout fanout = new_fanout("copies", &ORDERS, TWO, 2);
    add_fanout(f, &fanout);
}

static bool is_paused(struct fixture *f, const char *name) {
    return subscription_of(f, name).paused_at != BOXCAR_TIME_NONE;
}

/* BX-096, BX-097 */
static void a_pause_is_one_of_every_destination(void **state) {
    struct fixture *f = *state;
    add_copies(f);
    boxcar_work_id id = enqueue(f, "orders.paid", "p").work_id;
    ASSERT_OK(f, boxcar_fanout_pause(f->store, NAME, &f->err));
    ASSERT_OK(f, boxcar_fanout_pause(f->store, NAME, &f->err));
    assert_true(is_paused(f, LEFT) && is_paused(f, RIGHT));
    assert_nothing_for(f, route_of(f, LEFT));
    assert_nothing_for(f, route_of(f, RIGHT));
    ASSERT_OK(f, boxcar_fanout_resume(f->store, NAME, &f->err));
    assert_false(is_paused(f, LEFT) || is_paused(f, RIGHT));
    finish_as(f, route_of(f, LEFT), &id, 1);
    finish_as(f, route_of(f, RIGHT), &id, 1);
}

/* BX-097 */
static void one_destination_is_paused_and_rewound_by_its_own_name(void **state) {
    struct fixture *f = *state;
    add_copies(f);
    pause_subscription(f, LEFT);
    boxcar_work_id id = enqueue(f, "orders.paid", "p").work_id;
    assert_nothing_for(f, route_of(f, LEFT));
    finish_as(f, route_of(f, RIGHT), &id, 1);
    resume_subscription(f, LEFT);
    finish_as(f, route_of(f, LEFT), &id, 1);
    assert_int_equal(rewind_all(f, RIGHT), 1);
    finish_as(f, route_of(f, RIGHT), &id, 1);
    assert_nothing_for(f, route_of(f, LEFT));
}

/* BX-093, BX-097 */
static void a_rewind_is_one_of_every_destination(void **state) {
    struct fixture *f = *state;
    boxcar_place place = BOXCAR_PLACE_INIT;
    int64_t count = 0;
    add_copies(f);
    boxcar_work_id ids[3];
    enqueue_many(f, "orders.paid", 3, ids);
    finish_as(f, route_of(f, LEFT), ids, 3);
    finish_as(f, route_of(f, RIGHT), ids, 3);
    place.start = BOXCAR_START_WORK_ID;
    place.work_id = ids[1];
    ASSERT_OK(f, boxcar_fanout_rewind(f->store, NAME, &place, &count, &f->err));
    assert_int_equal(count, 4);
    finish_as(f, route_of(f, LEFT), ids + 1, 2);
    finish_as(f, route_of(f, RIGHT), ids + 1, 2);
}

/* BX-097 */
static void a_place_before_what_is_kept_rewinds_no_destination(void **state) {
    struct fixture *f = *state;
    boxcar_place place = BOXCAR_PLACE_INIT;
    add_copies(f);
    boxcar_work_id first = enqueue(f, "orders.paid", "p").work_id;
    finish_as(f, route_of(f, LEFT), &first, 1);
    finish_as(f, route_of(f, RIGHT), &first, 1);
    finish_as(f, BOXCAR_OUTBOX, &first, 1);
    set_setting(f, "retention_done", "0");
    maintain_readers(f);
    boxcar_work_id kept = enqueue(f, "orders.paid", "p").work_id;
    place.start = BOXCAR_START_WORK_ID;
    place.work_id = first;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_fanout_rewind(f->store, NAME, &place, NULL, &f->err));
    assert_int_equal(subscription_of(f, LEFT).rewound_at, BOXCAR_TIME_NONE);
    assert_int_equal(subscription_of(f, RIGHT).rewound_at, BOXCAR_TIME_NONE);
    finish_as(f, route_of(f, LEFT), &kept, 1);
}

/* BX-097 */
static void one_destination_is_not_removed_alone(void **state) {
    struct fixture *f = *state;
    add_copies(f);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_subscription_remove(f->store, BOXCAR_STR(LEFT), false, &f->err));
    assert_non_null(strstr(f->err.message, "belongs to the policy \"copies\""));
    assert_non_null(strstr(f->err.message, "boxcar fanout rm copies"));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_subscription_remove(f->store, BOXCAR_STR(LEFT), true, &f->err));
    assert_true(route_of(f, LEFT) > BOXCAR_INBOX);
}

/* BX-097 */
static void one_destination_has_no_patterns_of_its_own(void **state) {
    struct fixture *f = *state;
    boxcar_str pattern = BOXCAR_STR("mail");
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    add_copies(f);
    changes.max_lag_count = 5;
    ASSERT_OK(f, boxcar_subscription_change(f->store, BOXCAR_STR(LEFT), &changes, &f->err));
    assert_int_equal(subscription_of(f, LEFT).max_lag_count, 5);
    assert_int_equal(subscription_of(f, RIGHT).max_lag_count, 0);
    changes.patterns = &pattern;
    changes.pattern_count = 1;
    changes.max_lag_count = 7;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_subscription_change(f->store, BOXCAR_STR(LEFT), &changes, &f->err));
    assert_int_equal(subscription_of(f, LEFT).max_lag_count, 5);
}

/* BX-097 */
static void a_policy_is_removed_with_all_its_routes(void **state) {
    struct fixture *f = *state;
    boxcar_box reader;
    add_copies(f);
    boxcar_box left = route_of(f, LEFT);
    boxcar_work_id id = enqueue(f, "orders.paid", "p").work_id;
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    ASSERT_OK(f, boxcar_fanout_remove(f->store, NAME, false, &f->err));
    assert_no_fanout(f, "copies");
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_subscription_find(f->store, BOXCAR_STR(RIGHT), &reader, &f->err));
    maintain_readers(f);
    assert_int_equal(audit_lost(f), 0);
    add_copies(f);
    assert_int_not_equal(route_of(f, LEFT), left);
    assert_nothing_for(f, route_of(f, LEFT));
}

/* BX-096, BX-097 */
static void a_policy_that_forwards_is_removed_by_force_alone(void **state) {
    struct fixture *f = *state;
    add_copies(f);
    boxcar_work_id id = enqueue(f, "orders.paid", "p").work_id;
    boxcar_box right = route_of(f, RIGHT);
    struct taken taken = take_one_as(f, right, id);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_fanout_remove(f->store, NAME, false, &f->err));
    assert_true(route_of(f, LEFT) > BOXCAR_INBOX); /* none of them is gone */
    assert_true(settle_as(f, right, BOXCAR_DEFER, taken));
    take_one_as(f, right, id);
    ASSERT_OK(f, boxcar_fanout_remove(f->store, NAME, true, &f->err));
    assert_no_fanout(f, "copies");
}

static const struct CMUnitTest TESTS[] = {
    TEST(a_pause_is_one_of_every_destination),
    TEST(one_destination_is_paused_and_rewound_by_its_own_name),
    TEST(a_rewind_is_one_of_every_destination),
    TEST(a_place_before_what_is_kept_rewinds_no_destination),
    TEST(one_destination_is_not_removed_alone),
    TEST(one_destination_has_no_patterns_of_its_own),
    TEST(a_policy_is_removed_with_all_its_routes),
    TEST(a_policy_that_forwards_is_removed_by_force_alone),
};

const struct suite FANOUT_WHOLE_SUITE = SUITE(TESTS);
