/* Times as RFC 3339 text, and durations. */
#include "unit.h"

#include <string.h>
#include <time.h>

#include "boxcar/types.h"

#define SECOND INT64_C(1000000)

/* Values from GNU date: date -u -d TEXT +%s */
static void times_are_read(void **state) {
    static const struct {
        const char *text;
        boxcar_time time;
    } good[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-01-31T12:00:00.000000Z", INT64_C(1769860800) * SECOND},
        {"2026-01-31t12:00:00z", INT64_C(1769860800) * SECOND},
        {"2026-01-31T13:30:00+01:30", INT64_C(1769860800) * SECOND},
        {"2026-01-31T02:00:00-10:00", INT64_C(1769860800) * SECOND},
        {"2026-01-31T12:00:00-00:00", INT64_C(1769860800) * SECOND},
        {"2026-01-31T12:00:00.5Z", INT64_C(1769860800) * SECOND + 500000},
        {"2026-01-31T12:00:00.000001Z", INT64_C(1769860800) * SECOND + 1},
        {"2026-01-31T12:00:00.123456789Z", INT64_C(1769860800) * SECOND + 123456},
        {"2000-02-29T00:00:00Z", INT64_C(951782400) * SECOND},
        {"1969-12-31T23:59:59.999999Z", -1},
        {"0001-01-01T00:00:00Z", INT64_C(-62135596800) * SECOND},
        {"9999-12-31T23:59:59.999999Z", INT64_C(253402300799) * SECOND + 999999},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        boxcar_time read = BOXCAR_TIME_NONE;
        assert_true(boxcar_time_parse(boxcar_str_of(good[i].text), &read));
        assert_int_equal(read, good[i].time);
    }
}

/* BX-011 */
static void malformed_times_are_refused_and_change_nothing(void **state) {
    static const char *const bad[] = {
        "",
        "now",
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-01-31 12:00:00Z",
        "2026-1-31T12:00:00Z",
        "2026-01-31T12:00Z",
        "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00,5Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T12:60:00Z",
        "2026-01-31T23:59:60Z",
        "2026-00-10T00:00:00Z",
        "2026-13-10T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "-001-01-01T00:00:00Z",
        "2026-01-31T12:00:00+1:00",
        "2026-01-31T12:00:00+0100",
        "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:00+01:60",
        "2026-01-31T12:00:00Zjunk",
        " 2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00.1234567890Z",
        "9999-12-31T23:59:59-00:01",
        "0001-01-01T00:00:00+00:01",
        "2026-01-31T12:00:00Z\n",
        "2026-01-31T+2:00:00Z",
    };
    boxcar_time time = 42;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(boxcar_time_parse(boxcar_str_of(bad[i]), &time));
    assert_false(boxcar_time_parse(BOXCAR_NO_STR, &time));
    assert_false(boxcar_time_parse(BOXCAR_STR("2026-01-31T12:00:00Z\0"), &time));
    assert_int_equal(time, 42);
}

static void times_are_written_in_utc_with_microseconds(void **state) {
    char text[BOXCAR_TIME_TEXT_SIZE];

    (void)state;
    boxcar_time_format(INT64_C(1769860800) * SECOND, text);
    assert_string_equal(text, "2026-01-31T12:00:00.000000Z");
    boxcar_time_format(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999999Z");
    boxcar_time_format(INT64_C(253402300799) * SECOND + 999999, text);
    assert_string_equal(text, "9999-12-31T23:59:59.999999Z");
    boxcar_time_format(BOXCAR_TIME_NONE, text);
    assert_string_equal(text, "");
}

/* Beyond what is ever stored, but a number out of a database must not break anything. */
static void the_ends_of_the_number_range_fit_the_text(void **state) {
    char text[BOXCAR_TIME_TEXT_SIZE];

    (void)state;
    boxcar_time_format(INT64_MAX, text);
    assert_string_equal(text, "294247-01-10T04:00:54.775807Z");
    boxcar_time_format(INT64_MIN + 1, text);
    assert_string_equal(text, "-290308-12-21T19:59:05.224193Z");
}

/* Every day of the years 1 to 9999 against the C library. */
static void every_day_agrees_with_the_c_library(void **state) {
    (void)state;
    for (int64_t day = -719162; day <= 2932896; day++) {
        time_t seconds = (time_t)(day * 86400 + 45296);
        char text[BOXCAR_TIME_TEXT_SIZE], expected[BOXCAR_TIME_TEXT_SIZE];
        boxcar_time back = 0;
        struct tm parts;

        gmtime_r(&seconds, &parts);
        boxcar_time_format(seconds * SECOND, text);
        if (day % 97 == 0) {
            strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.000000Z", &parts);
            assert_string_equal(text + (parts.tm_year < -900 ? 4 : 0),
                                expected + (parts.tm_year < -900 ? strcspn(expected, "-") : 0));
        }
        if (!boxcar_time_parse(boxcar_str_of(text), &back) || back != seconds * SECOND)
            fail_msg("%s does not come back", text);
    }
}

static void durations_are_read(void **state) {
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        {"0", 0},
        {"0s", 0},
        {"500ms", 500},
        {"30s", 30000},
        {"5m", 300000},
        {"2h", 7200000},
        {"7d", 604800000},
        {"007s", 7000},
        {"9223372036854775807ms", INT64_MAX},
        {"106751991167d", INT64_C(106751991167) * 86400000},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        int64_t ms = -1;
        assert_true(boxcar_duration_parse(boxcar_str_of(good[i].text), &ms));
        assert_int_equal(ms, good[i].ms);
    }
}

/* BX-011 */
static void malformed_durations_are_refused_and_change_nothing(void **state) {
    static const char *const bad[] = {
        "",
        "5",
        "s",
        "ms",
        "-1s",
        "+1s",
        "1.5s",
        "1e3s",
        " 1s",
        "1s ",
        "1 s",
        "1S",
        "1w",
        "1sec",
        "1m30s",
        "0x1s",
        "9223372036854775808ms",
        "99999999999999999999s",
        "106751991168d",
        "9223372036854775807d",
    };
    int64_t ms = 42;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (boxcar_duration_parse(boxcar_str_of(bad[i]), &ms))
            fail_msg("accepted \"%s\"", bad[i]);
    }
    assert_false(boxcar_duration_parse(BOXCAR_NO_STR, &ms));
    assert_false(boxcar_duration_parse(BOXCAR_STR("1s\0"), &ms));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(malformed_times_are_refused_and_change_nothing),
        cmocka_unit_test(times_are_written_in_utc_with_microseconds),
        cmocka_unit_test(the_ends_of_the_number_range_fit_the_text),
        cmocka_unit_test(every_day_agrees_with_the_c_library),
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(malformed_durations_are_refused_and_change_nothing),
    };

    return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
