/* The rules of joins: what is counted, and when a join has ended. */
#include "unit.h"

#include <string.h>

#include "core/join.h"
#include "core/names.h"

static const boxcar_time START = 1000000, NOW = 2000000;

static boxcar_join pending(int64_t expected) {
    return (boxcar_join){.expected_steps = expected,
                         .created_at = START,
                         .last_updated_at = START,
                         .deadline = BOXCAR_TIME_NONE};
}

static void assert_counters(const boxcar_join *join, int64_t completed, int64_t failed) {
    assert_int_equal(join->completed_steps, completed);
    assert_int_equal(join->failed_steps, failed);
}

/* JOIN-040, JOIN-041, JOIN-043 */
static void the_last_completed_step_completes_the_join(void **state) {
    boxcar_join join = pending(2);

    (void)state;
    assert_int_equal(join_remaining(&join), 2);
    assert_int_equal(join_count(&join, BOXCAR_MEMBER_COMPLETED, 1, NOW), 1);
    assert_int_equal(join.status, BOXCAR_JOIN_PENDING);
    assert_int_equal(join.last_updated_at, NOW);
    assert_int_equal(join_count(&join, BOXCAR_MEMBER_COMPLETED, 1, NOW + 1), 1);
    assert_int_equal(join.status, BOXCAR_JOIN_COMPLETED);
    assert_int_equal(join.reason, BOXCAR_JOIN_REASON_NONE);
    assert_int_equal(join.last_updated_at, NOW + 1);
    assert_int_equal(join.created_at, START);
    assert_counters(&join, 2, 0);
}

/* JOIN-041, BX-040 */
static void one_failed_step_fails_the_join_when_all_are_counted(void **state) {
    boxcar_join first = pending(2), last = pending(2);

    (void)state;
    join_count(&first, BOXCAR_MEMBER_FAILED, 1, NOW);
    assert_int_equal(first.status, BOXCAR_JOIN_PENDING); /* not before the others have ended */
    join_count(&first, BOXCAR_MEMBER_COMPLETED, 1, NOW);
    assert_int_equal(first.status, BOXCAR_JOIN_FAILED);
    assert_int_equal(first.reason, BOXCAR_JOIN_REASON_NONE);
    join_count(&last, BOXCAR_MEMBER_COMPLETED, 1, NOW);
    join_count(&last, BOXCAR_MEMBER_FAILED, 1, NOW);
    assert_int_equal(last.status, BOXCAR_JOIN_FAILED);
    assert_counters(&last, 1, 1);
}

/* JOIN-023, BX-043 */
static void counting_stops_at_the_expected_number(void **state) {
    boxcar_join join = pending(3);

    (void)state;
    assert_int_equal(join_count(&join, BOXCAR_MEMBER_COMPLETED, 2, NOW), 2);
    assert_int_equal(join_count(&join, BOXCAR_MEMBER_FAILED, 5, NOW), 1);
    assert_counters(&join, 2, 1);
    assert_int_equal(join_remaining(&join), 0);
    assert_int_equal(join.status, BOXCAR_JOIN_FAILED);
}

/* JOIN-043 */
static void counting_nothing_changes_nothing(void **state) {
    static const int64_t steps[] = {0, -1, INT64_MIN};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        boxcar_join join = pending(1), before = join;

        assert_int_equal(join_count(&join, BOXCAR_MEMBER_COMPLETED, steps[i], NOW), 0);
        assert_memory_equal(&join, &before, sizeof(join));
    }
}

/* JOIN-042 */
static void after_the_end_nothing_is_counted(void **state) {
    static const boxcar_join_status ended[] = {BOXCAR_JOIN_COMPLETED, BOXCAR_JOIN_FAILED,
                                               BOXCAR_JOIN_CANCELLED};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ended); i++) {
        boxcar_join join = pending(3), before;

        join.status = ended[i]; /* also one that ended before all its steps */
        before = join;
        assert_int_equal(join_count(&join, BOXCAR_MEMBER_COMPLETED, 1, NOW), 0);
        assert_int_equal(join_count(&join, BOXCAR_MEMBER_FAILED, 1, NOW), 0);
        assert_memory_equal(&join, &before, sizeof(join));
    }
}

/* JOIN-001 */
static void the_largest_join_does_not_overflow(void **state) {
    boxcar_join join = pending(BOXCAR_EXPECTED_STEPS_MAX);

    (void)state;
    assert_int_equal(join_count(&join, BOXCAR_MEMBER_FAILED, INT64_MAX, NOW), BOXCAR_EXPECTED_STEPS_MAX);
    assert_counters(&join, 0, BOXCAR_EXPECTED_STEPS_MAX);
    assert_int_equal(join.status, BOXCAR_JOIN_FAILED);
}

/* BX-046 */
static void a_pending_join_is_overdue_from_its_deadline_on(void **state) {
    boxcar_join join = pending(1);

    (void)state;
    assert_false(join_is_overdue(&join, INT64_MAX)); /* it has none */
    join.deadline = NOW;
    assert_false(join_is_overdue(&join, NOW - 1));
    assert_true(join_is_overdue(&join, NOW));
    assert_true(join_is_overdue(&join, NOW + 1));
    for (boxcar_join_status status = BOXCAR_JOIN_COMPLETED; status <= BOXCAR_JOIN_CANCELLED; status++) {
        join.status = status;
        assert_false(join_is_overdue(&join, NOW));
    }
}

/* BX-046, JOIN-043 */
static void timing_out_and_cancelling_leave_the_counters(void **state) {
    boxcar_join join = pending(3);

    (void)state;
    join_count(&join, BOXCAR_MEMBER_COMPLETED, 1, START);
    join_time_out(&join, NOW);
    assert_int_equal(join.status, BOXCAR_JOIN_FAILED);
    assert_int_equal(join.reason, BOXCAR_JOIN_REASON_TIMED_OUT);
    assert_int_equal(join.last_updated_at, NOW);
    assert_counters(&join, 1, 0);
    join = pending(3);
    join_count(&join, BOXCAR_MEMBER_FAILED, 1, START);
    join_cancel(&join, NOW);
    assert_int_equal(join.status, BOXCAR_JOIN_CANCELLED);
    assert_int_equal(join.reason, BOXCAR_JOIN_REASON_NONE);
    assert_int_equal(join.last_updated_at, NOW);
    assert_counters(&join, 0, 1);
}

static void names_are_those_of_the_design(void **state) {
    static const char *const statuses[] = {"pending", "completed", "failed", "cancelled"};
    boxcar_join_status status = BOXCAR_JOIN_FAILED;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_string_equal(boxcar_join_status_name((boxcar_join_status)i), statuses[i]);
        assert_true(join_status_parse(boxcar_str_of(statuses[i]), &status));
        assert_int_equal(status, i);
    }
    for (int i = 0; i < 3; i++)
        assert_string_equal(boxcar_member_status_name((boxcar_member_status)i), statuses[i]);
    assert_string_equal(boxcar_join_reason_name(BOXCAR_JOIN_REASON_NONE), "none");
    assert_string_equal(boxcar_join_reason_name(BOXCAR_JOIN_REASON_TIMED_OUT), "timed_out");
    assert_string_equal(boxcar_join_status_name((boxcar_join_status)4), "?");
    assert_string_equal(boxcar_member_status_name((boxcar_member_status)3), "?");
    assert_string_equal(boxcar_join_reason_name((boxcar_join_reason)2), "?");
    assert_false(join_status_parse(BOXCAR_STR("Pending"), &status));
    assert_false(join_status_parse(BOXCAR_STR(""), &status));
    assert_false(join_status_parse(BOXCAR_NO_STR, &status));
    assert_int_equal(status, BOXCAR_JOIN_CANCELLED); /* left alone */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_completed_step_completes_the_join),
        cmocka_unit_test(one_failed_step_fails_the_join_when_all_are_counted),
        cmocka_unit_test(counting_stops_at_the_expected_number),
        cmocka_unit_test(counting_nothing_changes_nothing),
        cmocka_unit_test(after_the_end_nothing_is_counted),
        cmocka_unit_test(the_largest_join_does_not_overflow),
        cmocka_unit_test(a_pending_join_is_overdue_from_its_deadline_on),
        cmocka_unit_test(timing_out_and_cancelling_leave_the_counters),
        cmocka_unit_test(names_are_those_of_the_design),
    };

    return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
