/* Circles of policies. */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "core/circle.h"

static boxcar_str text(const char *given) { return boxcar_str_of(given); }

static void patterns_overlap_if_a_topic_matches_both(void **state) {
    static const struct {
        const char *a, *b;
        bool expected;
    } cases[] = {
        {"orders.paid", "orders.paid", true}, {"orders.paid", "orders.sent", false},
        {"orders.*", "orders.paid", true},    {"orders.paid.*", "orders.paid", false},
        {"orders.*", "orders.paid.*", true},  {"orders.*", "goods.*", false},
        {"*", "orders.paid", true},           {"*", "orders.*", true},
        {"orders*", "orders.*", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(circle_patterns_overlap(text(cases[i].a), text(cases[i].b)), cases[i].expected);
        assert_int_equal(circle_patterns_overlap(text(cases[i].b), text(cases[i].a)), cases[i].expected);
    }
}

static size_t find(const struct circle_policy *policies, size_t count, size_t path[8]) {
    size_t before[8];
    const struct circle_search search = {
        .policies = policies, .count = count, .before = before, .path = path};

    return circle_find(&search);
}

/* Whether the policy that forwards from there to there leads to itself. */
static bool is_circle(const char *from, const char *to) {
    const boxcar_str pattern = text(from), destination = text(to);
    const struct circle_policy policy = {.name = BOXCAR_STR("a"),
                                         .patterns = &pattern,
                                         .pattern_count = 1,
                                         .destinations = &destination,
                                         .destination_count = 1};
    size_t path[8];

    return find(&policy, 1, path) > 0;
}

/* BX-104 */
static void a_copy_that_its_own_policy_matches_is_a_circle(void **state) {
    (void)state;
    assert_true(is_circle("orders.*", "orders.copy"));
    assert_false(is_circle("orders.*", "copies.orders"));
    assert_false(is_circle("orders.paid", "orders.copy"));
    assert_true(is_circle("orders.paid", "orders.paid"));
    assert_true(is_circle("*", "audit"));
}

/* BX-104 */
static void the_topic_takes_the_place_of_its_placeholder(void **state) {
    (void)state;
    assert_true(is_circle("orders.*", "{topic}.copy"));
    assert_false(is_circle("orders.*", "audit.{topic}"));
    assert_true(is_circle("*", "audit.{topic}"));
    assert_false(is_circle("orders", "{topic}.copy"));
    assert_true(is_circle("a", "{topic}"));
    assert_true(is_circle("a*", "{topic}b{topic}"));
    assert_false(is_circle("a.b", "{topic}{topic}"));
    assert_true(is_circle("audit.*", "audit.{topic}"));
    assert_false(is_circle("audit.x.*", "audit.{topic}"));
    assert_true(is_circle("aa*", "a{topic}"));
}

static void what_goes_to_other_stores_cannot_be_seen(void **state) {
    (void)state;
    assert_false(is_circle("*", "store:other"));
    assert_false(is_circle("*", "store:other/{topic}"));
    assert_false(is_circle("*", "tenant:customer"));
}

static void a_topic_that_no_message_can_have_leads_nowhere(void **state) {
    char pattern[1021], destination[600] = "";

    (void)state;
    memset(pattern, 'a', sizeof(pattern) - 1);
    pattern[sizeof(pattern) - 1] = '\0';
    pattern[sizeof(pattern) - 2] = '*';
    assert_true(is_circle(pattern, "{topic}"));
    assert_false(is_circle(pattern, "aa{topic}"));
    for (int i = 0; i < 50; i++)
        strcat(destination, "{topic}");
    assert_false(is_circle("aaaaaaaaaaaaaaaaaaaaaaaaa", destination));
}

/* BX-104 */
static void a_circle_over_others_is_found_and_its_shortest_way_is_told(void **state) {
    static const boxcar_str a[] = {{"a", 1}}, b[] = {{"b", 1}, {"bb", 2}}, c[] = {{"c.*", 3}},
                            d[] = {{"d", 1}};
    static const boxcar_str to_b[] = {{"x", 1}, {"bb", 2}}, to_c[] = {{"c.{topic}", 9}}, to_a[] = {{"a", 1}};
    const struct circle_policy policies[] = {
        {.name = BOXCAR_STR("pa"), a, 1, to_b, 2, {0}, {0}},
        {.name = BOXCAR_STR("pd"), d, 1, to_a, 1, {0}, {0}}, /* nothing leads to it */
        {.name = BOXCAR_STR("pc"), c, 1, to_a, 1, {0}, {0}},
        {.name = BOXCAR_STR("pb"), b, 2, to_c, 1, {0}, {0}},
    };
    size_t path[8];

    (void)state;
    assert_int_equal(find(policies, 4, path), 3);
    assert_int_equal(path[0], 0);
    assert_int_equal(path[1], 3);
    assert_int_equal(path[2], 2);
    assert_int_equal(find(policies, 3, path), 0); /* without the link */
}

/* A circle that was there before is not that of the new policy, and does not keep the search going. */
static void a_circle_of_others_is_left_alone(void **state) {
    static const boxcar_str a[] = {{"a", 1}}, b[] = {{"b", 1}};
    const struct circle_policy policies[] = {
        {.name = BOXCAR_STR("new"), a, 1, b, 1, {0}, {0}},
        {.name = BOXCAR_STR("round"), b, 1, b, 1, {0}, {0}},
    };
    size_t path[8];

    (void)state;
    assert_int_equal(find(policies, 2, path), 0);
}

static void what_follows_a_join_is_a_copy_too(void **state) {
    static const boxcar_str a[] = {{"a", 1}}, b[] = {{"b", 1}};
    struct circle_policy policy = {.name = BOXCAR_STR("p"),
                                   .patterns = a,
                                   .pattern_count = 1,
                                   .destinations = b,
                                   .destination_count = 1};
    size_t path[8];

    (void)state;
    policy.then_topic = BOXCAR_STR("a");
    assert_int_equal(find(&policy, 1, path), 1);
    policy.then_topic = BOXCAR_STR("c");
    assert_int_equal(find(&policy, 1, path), 0);
    policy.else_topic = BOXCAR_STR("a");
    assert_int_equal(find(&policy, 1, path), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_overlap_if_a_topic_matches_both),
        cmocka_unit_test(a_copy_that_its_own_policy_matches_is_a_circle),
        cmocka_unit_test(the_topic_takes_the_place_of_its_placeholder),
        cmocka_unit_test(what_goes_to_other_stores_cannot_be_seen),
        cmocka_unit_test(a_topic_that_no_message_can_have_leads_nowhere),
        cmocka_unit_test(a_circle_over_others_is_found_and_its_shortest_way_is_told),
        cmocka_unit_test(a_circle_of_others_is_left_alone),
        cmocka_unit_test(what_follows_a_join_is_a_copy_too),
    };

    return cmocka_run_group_tests_name("circle", tests, NULL, NULL);
}
