/* Policies: circles that can be seen are refused when a policy is made. */
#include <string.h>

#include "fanouts.h"

/* The way round is named, and nothing is added. */
static void assert_circle(struct fixture *f, const char *name, const char *pattern, const char *destination,
                          const char *way) {
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, try_forward(f, name, pattern, destination));
    assert_non_null(strstr(f->err.message, "a copy would come back: "));
    assert_non_null(strstr(f->err.message, way));
    assert_no_fanout(f, name);
}

/* BX-097, BX-098 */
static void a_policy_that_matches_its_own_copies_is_refused(void **state) {
    struct fixture *f = *state;
    assert_circle(f, "a", "orders", "orders", "a -> a");
    assert_circle(f, "a", "orders.*", "orders.copy", "a -> a");
    assert_circle(f, "a", "*", "audit", "a -> a");
    assert_circle(f, "a", "orders.*", "{topic}.copy", "a -> a");
    assert_circle(f, "a", "o*", "or{topic}", "a -> a");
    assert_circle(f, "a", "x", "{topic}", "a -> a");
    forward(f, "a", "orders.*", "audit.{topic}");
    forward(f, "b", "order", "orders.{topic}");
    forward(f, "c", "aa", "{topic}{topic}");
}

/* BX-098 */
static void a_circle_over_several_policies_is_refused(void **state) {
    struct fixture *f = *state;
    forward(f, "one", "a.*", "b.{topic}");
    forward(f, "two", "b.*", "c");
    forward(f, "three", "c", "store:far/a.x");
    assert_circle(f, "back", "c", "a.y", "back -> one -> two -> back");
    assert_circle(f, "back", "c", "a.{topic}", "back -> one -> two -> back");
    forward(f, "aside", "c", "d");
    ASSERT_OK(f, boxcar_fanout_remove(f->store, BOXCAR_STR("two"), false, &f->err));
    forward(f, "back", "c", "a.y");
    assert_circle(f, "two", "b.*", "c", "two -> back -> one -> two");
}

/* BX-098: one destination of several is enough. */
static void every_destination_counts(void **state) {
    struct fixture *f = *state;
    static const boxcar_str places[] = {{"x", 1}, {"store:far", 9}, {"a", 1}};
    const boxcar_str pattern = BOXCAR_STR("a");
    const boxcar_new_fanout fanout = new_fanout("p", &pattern, places, 3);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_fanout_add(f->store, &fanout, &f->err));
    assert_no_fanout(f, "p");
}

/* BX-098: whatever is between them by name. */
static void every_destination_of_the_others_counts(void **state) {
    struct fixture *f = *state;
    static const boxcar_str places[] = {{"x", 1}, {"store:far", 9}, {"y", 1}};
    const boxcar_str pattern = BOXCAR_STR("a");
    const boxcar_new_fanout fanout = new_fanout("p", &pattern, places, 3);
    forward(f, "p-", "u", "v");
    add_fanout(f, &fanout);
    forward(f, "p0", "v", "w");
    assert_circle(f, "back", "x", "a", "back -> p -> back");
    assert_circle(f, "back", "y", "a", "back -> p -> back");
    assert_circle(f, "back", "w", "u", "back -> p- -> p0 -> back");
    forward(f, "back", "z", "a");
}

/* BX-098, BX-099 */
static void what_follows_a_join_can_come_back_too(void **state) {
    struct fixture *f = *state;
    const boxcar_str pattern = BOXCAR_STR("a"), place = BOXCAR_STR("b");
    boxcar_new_fanout fanout = new_fanout("p", &pattern, &place, 1);
    fanout.then_topic = BOXCAR_STR("a");
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_fanout_add(f->store, &fanout, &f->err));
    fanout.then_topic = BOXCAR_STR("c");
    fanout.else_topic = BOXCAR_STR("a");
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_fanout_add(f->store, &fanout, &f->err));
    fanout.else_topic = BOXCAR_STR("d");
    add_fanout(f, &fanout);
    assert_circle(f, "back", "d", "a", "back -> p -> back");
}

/* BX-098: copies go to outboxes here, and what is elsewhere cannot be seen. */
static void what_leaves_the_store_or_comes_from_the_inbox_is_no_circle(void **state) {
    struct fixture *f = *state;
    const boxcar_str pattern = BOXCAR_STR("t"), place = BOXCAR_STR("t");
    boxcar_new_fanout fanout = new_fanout("in", &pattern, &place, 1);
    fanout.box = BOXCAR_INBOX;
    add_fanout(f, &fanout);
    forward(f, "far", "t", "store:far/t");
    forward(f, "tenants", "*", "tenant:x-tenant");
}

/* Subscriptions without destinations store nothing. */
static void subscriptions_are_no_part_of_circles(void **state) {
    struct fixture *f = *state;
    subscribe(f, "all", "*");
    forward(f, "a", "a", "b");
}

static const struct CMUnitTest TESTS[] = {
    TEST(a_policy_that_matches_its_own_copies_is_refused),
    TEST(a_circle_over_several_policies_is_refused),
    TEST(every_destination_counts),
    TEST(every_destination_of_the_others_counts),
    TEST(what_follows_a_join_can_come_back_too),
    TEST(what_leaves_the_store_or_comes_from_the_inbox_is_no_circle),
    TEST(subscriptions_are_no_part_of_circles),
};

const struct suite FANOUT_CIRCLE_SUITE = SUITE(TESTS);
