/* Topic patterns. */
#include "unit.h"

#include <stdbool.h>

#include "core/topic.h"

/* BX-024 */
static void patterns_match_exactly_or_by_prefix(void **state) {
    static const struct {
        boxcar_str pattern, topic;
        bool expected;
    } cases[] = {
        {{"orders.paid", 11}, {"orders.paid", 11}, true},
        {{"orders.paid", 11}, {"Orders.paid", 11}, false},
        {{"orders.paid", 11}, {"orders.paid2", 12}, false},
        {{"orders.paid", 11}, {"orders", 6}, false},
        {{"orders.*", 8}, {"orders.paid", 11}, true},
        {{"orders.*", 8}, {"orders.", 7}, true},
        {{"orders.*", 8}, {"orders", 6}, false},
        {{"orders.*", 8}, {"ORDERS.x", 8}, false},
        {{"*", 1}, {"anything", 8}, true},
        {{"a*b", 3}, {"axb", 3}, false},
        {{"a*b", 3}, {"a*b", 3}, true},
        {{"a**", 3}, {"a*c", 3}, true},
        {{"a**", 3}, {"abc", 3}, false},
        {{"", 0}, {"a", 1}, false},
        {{"\xC3\xA9*", 3}, {"\xC3\xA9t\xC3\xA9", 5}, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(topic_matches(cases[i].pattern, cases[i].topic), cases[i].expected);
}

/* BX-024 */
static void the_longest_match_wins_and_an_exact_one_before_any_prefix(void **state) {
    static const boxcar_str patterns[] = {
        {"*", 1}, {"orders.paid.*", 13}, {"orders.*", 8}, {"orders.paid", 11}, {"orders.paid*", 12}};
    size_t stride = sizeof(patterns[0]);

    (void)state;
    assert_int_equal(topic_best_match(patterns, COUNT_OF(patterns), stride, BOXCAR_STR("orders.paid")), 3);
    assert_int_equal(topic_best_match(patterns, COUNT_OF(patterns), stride, BOXCAR_STR("orders.paid.eu")), 1);
    assert_int_equal(topic_best_match(patterns, COUNT_OF(patterns), stride, BOXCAR_STR("orders.paidx")), 4);
    assert_int_equal(topic_best_match(patterns, COUNT_OF(patterns), stride, BOXCAR_STR("orders.new")), 2);
    assert_int_equal(topic_best_match(patterns, COUNT_OF(patterns), stride, BOXCAR_STR("mail")), 0);
    assert_int_equal(topic_best_match(patterns + 1, 2, stride, BOXCAR_STR("mail")), -1);
    assert_int_equal(topic_best_match(NULL, 0, stride, BOXCAR_STR("mail")), -1);
}

static void patterns_may_sit_in_larger_structs(void **state) {
    static const struct {
        boxcar_str pattern;
        int other;
    } rows[] = {{{"a", 1}, 1}, {{"b*", 2}, 2}};

    (void)state;
    assert_int_equal(topic_best_match(&rows[0].pattern, 2, sizeof(rows[0]), BOXCAR_STR("bb")), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_exactly_or_by_prefix),
        cmocka_unit_test(the_longest_match_wins_and_an_exact_one_before_any_prefix),
        cmocka_unit_test(patterns_may_sit_in_larger_structs),
    };

    return cmocka_run_group_tests_name("topic", tests, NULL, NULL);
}
