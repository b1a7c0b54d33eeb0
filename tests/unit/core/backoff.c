/* Delays before the next attempt: the default, other curves, policies, and nonsense. */
#include "unit.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/backoff.h"

/* OBX-062, BX-021 */
static void default_is_two_to_the_attempts_up_to_a_minute(void **state) {
    static const int64_t expected[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    boxcar_backoff_curve curve = BOXCAR_BACKOFF_CURVE_INIT;

    (void)state;
    for (int i = 0; i < (int)COUNT_OF(expected); i++)
        assert_int_equal(backoff_curve_delay_ms(&curve, i, 0.5), expected[i]);
}

/* BX-021 */
static void no_number_of_attempts_overflows(void **state) {
    static const double factors[] = {1.0, 1.0000001, 2.0, 100.0, DBL_MAX, INFINITY};
    static const int64_t caps[] = {0, 1, 60000, INT64_MAX};
    static const int64_t bases[] = {0, 1, 1000, INT64_MAX};
    static const int attempts[] = {0, 1, 63, 64, 1023, 1024, 1000000, INT_MAX};

    (void)state;
    for (size_t n = 0; n < COUNT_OF(factors) * COUNT_OF(caps) * COUNT_OF(bases) * COUNT_OF(attempts); n++) {
        size_t rest = n;
        boxcar_backoff_curve curve = {.jitter = 0};
        int64_t delay;

        curve.factor = factors[rest % COUNT_OF(factors)], rest /= COUNT_OF(factors);
        curve.cap_ms = caps[rest % COUNT_OF(caps)], rest /= COUNT_OF(caps);
        curve.base_ms = bases[rest % COUNT_OF(bases)], rest /= COUNT_OF(bases);
        delay = backoff_curve_delay_ms(&curve, attempts[rest], 0.5);
        assert_true(delay >= 0 && delay <= curve.cap_ms);
    }
}

static void never_shrinks_with_more_attempts(void **state) {
    boxcar_backoff_curve curve = {.base_ms = 3, .factor = 1.7, .cap_ms = INT64_MAX, .jitter = 0};
    int64_t last = 0;

    (void)state;
    for (int attempts = 0; attempts < 2000; attempts++) {
        int64_t delay = backoff_curve_delay_ms(&curve, attempts, 0);
        assert_true(delay >= last);
        last = delay;
    }
    assert_int_equal(last, INT64_MAX);
}

/* BX-021 */
static void nonsense_is_clamped_to_sense(void **state) {
    static const struct {
        boxcar_backoff_curve curve;
        int64_t expected;
    } cases[] = {
        {{1000, (double)NAN, 60000, 0}, 1000},
        {{1000, 0.5, 60000, 0}, 1000},
        {{1000, -2, 60000, 0}, 1000},
        {{-1, 2, 60000, 0}, 0},
        {{1000, 2, -1, 0}, 0},
        {{INT64_MIN, 2, INT64_MIN, 0}, 0},
        {{1000, 2, 60000, (double)NAN}, 8000},
        {{1000, 2, 60000, -1}, 8000},
        {{0, (double)INFINITY, 60000, 0}, 0},
        {{1000, 2, 60000, 7}, 4000},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(backoff_curve_delay_ms(&cases[i].curve, 3, 0.5), cases[i].expected);
}

/* BX-021 */
static void jitter_takes_away_its_share_and_no_more(void **state) {
    boxcar_backoff_curve curve = {.base_ms = 1000, .factor = 2, .cap_ms = 60000, .jitter = 0.25};

    (void)state;
    assert_int_equal(backoff_curve_delay_ms(&curve, 3, 0), 8000);
    assert_int_equal(backoff_curve_delay_ms(&curve, 3, 0.5), 7000);
    assert_int_equal(backoff_curve_delay_ms(&curve, 3, 1), 6000);
    assert_int_equal(backoff_curve_delay_ms(&curve, 3, -5), 8000);
    assert_int_equal(backoff_curve_delay_ms(&curve, 3, 5), 6000);
    assert_int_equal(backoff_curve_delay_ms(&curve, 3, (double)NAN), 8000);
    curve.jitter = 1;
    assert_int_equal(backoff_curve_delay_ms(&curve, 3, 1), 0);
    curve = (boxcar_backoff_curve){.base_ms = INT64_MAX, .factor = 2, .cap_ms = INT64_MAX, .jitter = 1};
    assert_int_equal(backoff_curve_delay_ms(&curve, 1, 1), 0);
}

/* BX-021 */
static void a_topic_has_its_own_curve(void **state) {
    static const boxcar_backoff_topic topics[] = {{{"mail.*", 6}, {10, 2, 1000, 0}},
                                                  {{"mail.urgent", 11}, {1, 2, 1000, 0}},
                                                  {{"*", 1}, {100, 2, 1000, 0}}};
    boxcar_backoff_policy policy = BOXCAR_BACKOFF_POLICY_INIT;
    boxcar_message message = {.topic = BOXCAR_STR("mail.urgent"), .retry_count = 2};

    (void)state;
    policy.topics = topics;
    policy.topic_count = COUNT_OF(topics);
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), 8);
    message.topic = BOXCAR_STR("mail.slow");
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), 80);
    message.topic = BOXCAR_STR("sms");
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), 800);
    policy.topic_count = 2;
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), 8000);
}

static int64_t decide(void *context, const boxcar_message *message, int attempts) {
    assert_int_equal(message->work_id.value, 7);
    assert_in_range(attempts, 1, INT_MAX);
    return *(int64_t *)context;
}

/* BX-021 */
static void a_function_decides_within_the_allowed_range(void **state) {
    boxcar_message message = {.work_id = {7}, .retry_count = INT_MAX};
    boxcar_backoff_policy policy = BOXCAR_BACKOFF_POLICY_INIT;
    int64_t answer = 123;

    (void)state;
    policy.decide = decide;
    policy.decide_context = &answer;
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), 123);
    answer = -5;
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), 0);
    answer = INT64_MAX;
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), BOXCAR_DELAY_MS_MAX);
}

static void an_older_or_missing_policy_means_the_default(void **state) {
    boxcar_message message = {.topic = BOXCAR_STR("t"), .retry_count = 1};
    boxcar_backoff_policy policy = {.struct_size = offsetof(boxcar_backoff_policy, topics),
                                    .curve = {5, 2, 1000, 0},
                                    .topics = (const boxcar_backoff_topic *)(uintptr_t)1,
                                    .topic_count = 99};

    (void)state;
    assert_int_equal(boxcar_backoff_delay_ms(NULL, &message, 0), 4000);
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), 20);
    policy.struct_size = 0;
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), 4000);
    policy.struct_size = sizeof(policy) + 8;
    assert_int_equal(boxcar_backoff_delay_ms(&policy, &message, 0), 4000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_is_two_to_the_attempts_up_to_a_minute),
        cmocka_unit_test(no_number_of_attempts_overflows),
        cmocka_unit_test(never_shrinks_with_more_attempts),
        cmocka_unit_test(nonsense_is_clamped_to_sense),
        cmocka_unit_test(jitter_takes_away_its_share_and_no_more),
        cmocka_unit_test(a_topic_has_its_own_curve),
        cmocka_unit_test(a_function_decides_within_the_allowed_range),
        cmocka_unit_test(an_older_or_missing_policy_means_the_default),
    };

    return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
