/* Bad joins and waits: each gets an error that names the argument. */
#include "unit.h"

#include <string.h>

#include "base/error.h"
#include "core/limits/limits.h"
#include "long_texts.h"

static boxcar_new_join good_join(void) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;

    join.expected_steps = 1;
    return join;
}

static void assert_join_accepted(boxcar_new_join join) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (limits_check_new_join(&join, &err) != BOXCAR_OK)
        fail_msg("refused: %s", err.message);
}

static void assert_join_refused(boxcar_new_join join, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_new_join(&join, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
    assert_non_null(strstr(err.message, argument));
    assert_non_null(strstr(err.message, ": ")); /* the remedy follows */
    assert_int_equal(limits_check_new_join(&join, NULL), BOXCAR_E_INVALID);
}

/* JOIN-003, BX-011 */
static void joins_within_the_limits_are_accepted(void **state) {
    boxcar_new_join join = good_join();

    (void)state;
    assert_join_accepted(join);
    join.expected_steps = INT32_MAX;
    join.grouping_key = multi(255);
    join.metadata = multi(1000);
    join.deadline = LIMITS_TIME_MAX;
    assert_join_accepted(join);
    join.grouping_key = join.metadata = BOXCAR_STR("");
    join.deadline = BOXCAR_TIME_NONE;
    join.deadline_ms = BOXCAR_DELAY_MS_MAX;
    assert_join_accepted(join);
}

/* JOIN-002, JOIN-004, BX-011 */
static void bad_joins_are_refused(void **state) {
    static const int64_t bad_steps[] = {0, -1, INT64_C(1) << 31, INT64_MIN, INT64_MAX};
    static const int64_t bad_delays[] = {-1, BOXCAR_DELAY_MS_MAX + 1, INT64_MIN, INT64_MAX};
    static const boxcar_time bad_times[] = {-1, LIMITS_TIME_MAX + 1, INT64_MAX, INT64_MIN + 1};
    const boxcar_str bad_keys[] = {ascii(256), multi(256), BOXCAR_STR("a\0b"), BOXCAR_STR("\xFF"), {NULL, 1}};
    boxcar_new_join join;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_steps); i++) {
        join = good_join();
        join.expected_steps = bad_steps[i];
        assert_join_refused(join, "expected_steps");
    }
    for (size_t i = 0; i < COUNT_OF(bad_delays); i++) {
        join = good_join();
        join.deadline_ms = bad_delays[i];
        assert_join_refused(join, "deadline_ms");
        join = good_join();
        join.deadline = bad_times[i];
        assert_join_refused(join, "deadline");
    }
    for (size_t i = 0; i < COUNT_OF(bad_keys); i++) {
        join = good_join();
        join.grouping_key = bad_keys[i];
        assert_join_refused(join, "grouping_key");
    }
    for (size_t i = 2; i < COUNT_OF(bad_keys); i++) { /* its length has no limit */
        join = good_join();
        join.metadata = bad_keys[i];
        assert_join_refused(join, "metadata");
    }
    join = good_join();
    join.deadline = join.deadline_ms = 1;
    assert_join_refused(join, "deadline_ms");
}

static boxcar_new_wait good_wait(void) {
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;

    wait.join_id.uuid.bytes[0] = 1;
    wait.on_complete_topic = BOXCAR_STR("done");
    wait.on_complete_payload = BOXCAR_STR("");
    return wait;
}

static void assert_wait_refused(boxcar_new_wait wait, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_new_wait(&wait, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
    assert_non_null(strstr(err.message, argument));
    assert_null(strstr(err.message, "secret"));
}

static void waits_within_the_limits_are_accepted(void **state) {
    boxcar_new_wait wait = good_wait();

    (void)state;
    assert_int_equal(limits_check_new_wait(&wait, NULL), BOXCAR_OK);
    wait.on_complete_topic = wait.on_fail_topic = multi(255);
    wait.on_complete_payload = wait.on_fail_payload = multi(1000);
    wait.correlation_id = multi(255);
    assert_int_equal(limits_check_new_wait(&wait, NULL), BOXCAR_OK);
    wait.on_complete_payload = wait.on_fail_payload = wait.correlation_id = BOXCAR_STR("");
    wait.on_fail_topic = BOXCAR_NO_STR;
    assert_int_equal(limits_check_new_wait(&wait, NULL), BOXCAR_OK);
}

/* BX-010, BX-011 */
static void bad_waits_are_refused(void **state) {
    const boxcar_str bad_topics[] = {
        ascii(256), multi(256), BOXCAR_STR("a\0b"), BOXCAR_STR("\xFF"), {NULL, 1}};
    const boxcar_str bad_payloads[] = {BOXCAR_STR("secret\0"), BOXCAR_STR("secret\xFF"), {NULL, 1}};
    boxcar_new_wait wait = good_wait();

    (void)state;
    wait.join_id = (boxcar_join_id){0};
    assert_wait_refused(wait, "join_id");
    wait = good_wait();
    wait.on_complete_topic = BOXCAR_NO_STR;
    assert_wait_refused(wait, "on_complete_topic");
    wait.on_complete_topic = BOXCAR_STR("");
    assert_wait_refused(wait, "on_complete_topic");
    wait = good_wait();
    wait.on_fail_topic = BOXCAR_STR("");
    assert_wait_refused(wait, "on_fail_topic");
    wait = good_wait();
    wait.on_complete_payload = BOXCAR_NO_STR;
    assert_wait_refused(wait, "on_complete_payload");
    for (size_t i = 0; i < COUNT_OF(bad_topics); i++) {
        wait = good_wait();
        wait.on_complete_topic = bad_topics[i];
        assert_wait_refused(wait, "on_complete_topic");
        wait = good_wait();
        wait.on_fail_topic = bad_topics[i];
        assert_wait_refused(wait, "on_fail_topic");
        wait = good_wait();
        wait.correlation_id = bad_topics[i];
        assert_wait_refused(wait, "correlation_id");
    }
    for (size_t i = 0; i < COUNT_OF(bad_payloads); i++) {
        wait = good_wait();
        wait.on_complete_payload = bad_payloads[i];
        assert_wait_refused(wait, "on_complete_payload");
        wait = good_wait();
        wait.on_fail_payload = bad_payloads[i];
        assert_wait_refused(wait, "on_fail_payload");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_within_the_limits_are_accepted),
        cmocka_unit_test(bad_joins_are_refused),
        cmocka_unit_test(waits_within_the_limits_are_accepted),
        cmocka_unit_test(bad_waits_are_refused),
    };
    return cmocka_run_group_tests(tests, fill_long_texts, NULL);
}
