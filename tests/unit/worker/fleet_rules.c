/* Many stores: which one claims next, and how long one without work or in trouble is left alone. */
#include "unit.h"

#include "worker/fleet/pause.h"
#include "worker/share/select.h"

#define STORES 4

static boxcar_candidate candidates[STORES];
static const boxcar_candidate *pointers[STORES];

/* Those of these orders want to claim. */
static size_t choose(boxcar_selection selection, const int64_t *orders, size_t count,
                     struct select_last last) {
    for (size_t i = 0; i < count; i++) {
        candidates[i] = (boxcar_candidate){.struct_size = sizeof(candidates[i]), .order = orders[i]};
        pointers[i] = &candidates[i];
    }
    return select_next(selection, pointers, count, last);
}

/* BX-100, OBX-068: one batch from each store, in order, then the first again. */
static void round_robin_goes_through_the_stores_in_order(void **state) {
    const int64_t all[] = {1, 2, 3};
    struct select_last last = {0, 0};

    (void)state;
    for (int i = 0; i < 9; i++) {
        size_t chosen = choose(BOXCAR_SELECT_ROUND_ROBIN, all, 3, last);
        assert_int_equal(chosen, i % 3);
        last = (struct select_last){all[chosen], 5};
    }
}

static void round_robin_passes_over_stores_that_do_not_want_to_claim(void **state) {
    const int64_t some[] = {2, 5};

    (void)state;
    assert_int_equal(choose(BOXCAR_SELECT_ROUND_ROBIN, some, 2, (struct select_last){2, 1}), 1);
    assert_int_equal(choose(BOXCAR_SELECT_ROUND_ROBIN, some, 2, (struct select_last){3, 1}), 1);
    assert_int_equal(choose(BOXCAR_SELECT_ROUND_ROBIN, some, 2, (struct select_last){5, 1}), 0);
}

/* BX-100, OBX-069 */
static void drain_first_stays_with_a_store_until_a_claim_brings_nothing(void **state) {
    const int64_t all[] = {1, 2, 3};

    (void)state;
    assert_int_equal(choose(BOXCAR_SELECT_DRAIN_FIRST, all, 3, (struct select_last){0, 0}), 0);
    assert_int_equal(choose(BOXCAR_SELECT_DRAIN_FIRST, all, 3, (struct select_last){2, 7}), 1);
    assert_int_equal(choose(BOXCAR_SELECT_DRAIN_FIRST, all, 3, (struct select_last){2, 0}), 2);
    assert_int_equal(choose(BOXCAR_SELECT_DRAIN_FIRST, all, 3, (struct select_last){3, 0}), 0);
}

/* BX-102 */
static void a_store_that_is_down_is_tried_less_and_less_often(void **state) {
    (void)state;
    assert_int_equal(pause_down_ms(1, 0), 250);
    assert_int_equal(pause_down_ms(2, 0), 500);
    for (int64_t i = 1; i < 20; i++)
        assert_true(pause_down_ms(i + 1, 0) >= pause_down_ms(i, 0));
    assert_int_equal(pause_down_ms(1000000, 0), 30000);
    assert_true(pause_down_ms(1000000, 0.999) <= 60000);
}

static void an_idle_store_is_looked_at_less_and_less_often(void **state) {
    int64_t pause = 0;

    (void)state;
    assert_int_equal(pause = pause_idle_ms(pause, 500, 30000), 500);
    assert_int_equal(pause = pause_idle_ms(pause, 500, 30000), 1000);
    for (int i = 0; i < 20; i++)
        pause = pause_idle_ms(pause, 500, 30000);
    assert_int_equal(pause, 30000);
}

static void few_stores_are_looked_at_soon_and_many_cost_little(void **state) {
    (void)state;
    assert_int_equal(pause_idle_longest_ms(1, 30000), 2000);
    assert_int_equal(pause_idle_longest_ms(50, 30000), 15000);
    assert_int_equal(pause_idle_longest_ms(100000, 30000), 30000);
    assert_int_equal(pause_idle_longest_ms(1, 500), 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_robin_goes_through_the_stores_in_order),
        cmocka_unit_test(round_robin_passes_over_stores_that_do_not_want_to_claim),
        cmocka_unit_test(drain_first_stays_with_a_store_until_a_claim_brings_nothing),
        cmocka_unit_test(a_store_that_is_down_is_tried_less_and_less_often),
        cmocka_unit_test(an_idle_store_is_looked_at_less_and_less_often),
        cmocka_unit_test(few_stores_are_looked_at_soon_and_many_cost_little),
    };

    return cmocka_run_group_tests_name("fleet_rules", tests, NULL, NULL);
}
