/* When the log names the session that blocks claims: a line a minute at most, and one every ten minutes about
 * the same session. */
#include "store/postgres/claim/claim.h"

#include "unit.h"

#define MINUTE_MS INT64_C(60000)

static bool is_news(struct pg_held_up *held_up, uint64_t id, double seconds, int64_t now_ms) {
    return pg_held_up_is_news(held_up, id, seconds, now_ms);
}

static void first_one_is_named_at_once(void **state) {
    (void)state;
    struct pg_held_up held_up = {0};
    assert_true(is_news(&held_up, 7, 2, 5));
}

static void same_one_is_named_again_after_ten_minutes(void **state) {
    (void)state;
    struct pg_held_up held_up = {0};
    assert_true(is_news(&held_up, 7, 2, 5));
    assert_false(is_news(&held_up, 7, 4, 2005));
    assert_false(is_news(&held_up, 7, 500, 5 + 10 * MINUTE_MS - 1));
    assert_true(is_news(&held_up, 7, 600, 5 + 10 * MINUTE_MS));
    assert_false(is_news(&held_up, 7, 602, 5 + 10 * MINUTE_MS + 2000));
}

static void another_one_is_named_when_a_minute_is_over(void **state) {
    (void)state;
    struct pg_held_up held_up = {0};
    assert_true(is_news(&held_up, 7, 2, 5));
    assert_false(is_news(&held_up, 8, 2, 2005));
    assert_false(is_news(&held_up, 9, 2, 5 + MINUTE_MS - 1));
    assert_true(is_news(&held_up, 8, 60, 5 + MINUTE_MS));
    assert_false(is_news(&held_up, 7, 70, 6 + MINUTE_MS));
}

static void one_of_a_moment_is_not_named(void **state) {
    (void)state;
    struct pg_held_up held_up = {0};
    assert_false(is_news(&held_up, 7, 0.5, 5));
    assert_true(is_news(&held_up, 7, 1, 600));
}

/* This role may not see how long: it has to be there twice. */
static void one_of_unknown_age_is_named_the_second_time(void **state) {
    (void)state;
    struct pg_held_up held_up = {0};
    assert_false(is_news(&held_up, 7, -1, 5));
    assert_false(is_news(&held_up, 8, -1, 2005));
    assert_true(is_news(&held_up, 8, -1, 4005));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_one_is_named_at_once),
        cmocka_unit_test(same_one_is_named_again_after_ten_minutes),
        cmocka_unit_test(another_one_is_named_when_a_minute_is_over),
        cmocka_unit_test(one_of_a_moment_is_not_named),
        cmocka_unit_test(one_of_unknown_age_is_named_the_second_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
