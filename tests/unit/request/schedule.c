/* What the strategies say about when to flush. */
#include "unit.h"

#include "request/schedule.h"

static void immediate_waits_for_nothing(void **state) {
    struct schedule s = schedule_of(BOXCAR_STRATEGY_IMMEDIATE, 100, 0);

    (void)state;
    assert_false(schedule_is_full(&s, 0));
    assert_false(schedule_queued(&s, 1000));
    assert_true(schedule_is_full(&s, 1));
    schedule_flushed(&s, 1, true, 1000); /* in vain: it is to go out all the same */
    assert_true(schedule_is_full(&s, 1));
    assert_true(s.due_ms == SCHEDULE_NEVER);
}

static void scope_is_flushed_only_when_told(void **state) {
    struct schedule s = schedule_of(BOXCAR_STRATEGY_SCOPED, 100, 0);

    (void)state;
    assert_false(schedule_queued(&s, 1000));
    assert_false(schedule_is_full(&s, 1000000));
    assert_true(s.due_ms == SCHEDULE_NEVER);
}

static void interval_begins_with_the_first_that_waits(void **state) {
    struct schedule s = schedule_of(BOXCAR_STRATEGY_INTERVAL, 100, 50);

    (void)state;
    assert_true(s.due_ms == SCHEDULE_NEVER);
    assert_true(schedule_queued(&s, 1000));
    assert_false(schedule_queued(&s, 1040)); /* the first one waits no longer for it */
    assert_int_equal(s.due_ms, 1050);
    assert_false(schedule_is_full(&s, 1000000));
    schedule_flushed(&s, 0, false, 1060);
    assert_true(s.due_ms == SCHEDULE_NEVER);
    assert_true(schedule_queued(&s, 2000));
    schedule_flushed(&s, 3, false, 2060); /* were queued meanwhile */
    assert_int_equal(s.due_ms, 2110);
    schedule_put_off(&s, 2200);
    assert_int_equal(s.due_ms, 2250);
    schedule_flushed(&s, 0, false, 2260);
    schedule_put_off(&s, 2300);
    assert_true(s.due_ms == SCHEDULE_NEVER);
}

static void size_is_full_at_its_size(void **state) {
    struct schedule s = schedule_of(BOXCAR_STRATEGY_SIZE, 10, 0);

    (void)state;
    assert_false(schedule_is_full(&s, 9));
    assert_true(schedule_is_full(&s, 10));
    assert_false(schedule_queued(&s, 1000));
    schedule_flushed(&s, 12, true, 1000); /* not by every call while the store is away */
    assert_false(schedule_is_full(&s, 12));
    assert_false(schedule_is_full(&s, 5));
    assert_false(schedule_is_full(&s, 21));
    assert_true(schedule_is_full(&s, 22));
    schedule_flushed(&s, 0, false, 2000);
    assert_true(schedule_is_full(&s, 10));
}

static void flushes_that_fail_are_due_later_and_later(void **state) {
    struct schedule s = schedule_of(BOXCAR_STRATEGY_SIZE, 10, 100);
    int64_t before = 0;

    (void)state;
    assert_true(schedule_queued(&s, 0));
    for (int i = 0; i < 40; i++) {
        schedule_flushed(&s, 1, true, 0);
        assert_true(s.due_ms >= before && s.due_ms > 100 && s.due_ms <= 1000);
        before = s.due_ms;
    }
    assert_int_equal(before, 1000);
    schedule_flushed(&s, 1, false, 0);
    assert_int_equal(s.due_ms, 100);
    s = schedule_of(BOXCAR_STRATEGY_INTERVAL, 0, 5000); /* longer than that: it stays */
    schedule_flushed(&s, 1, true, 0);
    assert_int_equal(s.due_ms, 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(immediate_waits_for_nothing),
        cmocka_unit_test(scope_is_flushed_only_when_told),
        cmocka_unit_test(interval_begins_with_the_first_that_waits),
        cmocka_unit_test(size_is_full_at_its_size),
        cmocka_unit_test(flushes_that_fail_are_due_later_and_later),
    };

    return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
