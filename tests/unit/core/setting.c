/* The table of settings, and the names of the enumerations. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "boxcar/log.h"
#include "core/names.h"
#include "core/setting.h"

static void every_default_is_valid_and_in_canonical_form(void **state) {
    (void)state;
    for (size_t i = 0; i < SETTING_COUNT_ALL; i++) {
        const struct setting *setting = &SETTINGS[i];
        double number;
        char text[32];

        assert_ptr_equal(setting_find(boxcar_str_of(setting->name)), setting);
        assert_true(strlen(setting->help) > 0);
        assert_int_equal(setting_parse(setting, boxcar_str_of(setting->default_value), &number, NULL),
                         BOXCAR_OK);
        if (setting_is_text(setting))
            continue;
        setting_format(setting, number, text);
        assert_string_equal(text, setting->default_value);
    }
}

static void names_are_sorted(void **state) {
    (void)state;
    for (size_t i = 1; i < SETTING_COUNT_ALL; i++)
        assert_true(strcmp(SETTINGS[i - 1].name, SETTINGS[i].name) < 0);
}

/* BX-003, BX-021, BX-026, OBX-062 */
static void defaults_are_those_promised(void **state) {
    static const struct {
        const char *name;
        double number;
    } expected[] = {
        {"max_attempts", 10},
        {"retention_done", 7 * 86400e3},
        {"retention_dead", 30 * 86400e3},
        {"backoff_base", 1000},
        {"backoff_factor", 2},
        {"backoff_cap", 60000},
        {"backoff_jitter", 0},
        {"instance_timeout", 30e3},
        {"join_wait_topic", 0},
        {"retention_joins", 30 * 86400e3},
        {"retention_inbox", 30 * 86400e3},
        {"partition_count", 10000},
        {"partitions_per_instance_max", 0},
        {"stream_policy", 0},
        {"payload_bytes_max", 67108864},
        {"headers_bytes_max", 65536},
    };

    (void)state;
    assert_int_equal(SETTING_COUNT_ALL, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const struct setting *setting = setting_find(boxcar_str_of(expected[i].name));
        double number = -1;

        assert_non_null(setting);
        assert_int_equal(setting_parse(setting, boxcar_str_of(setting->default_value), &number, NULL),
                         BOXCAR_OK);
        assert_true(number == expected[i].number);
    }
}

static void values_go_back_and_forth(void **state) {
    static const struct {
        const char *name, *text, *canonical;
    } cases[] = {
        {"max_attempts", "1", "1"},           {"max_attempts", "1000000", "1000000"},
        {"max_attempts", "007", "7"},         {"retention_done", "0", "0"},
        {"retention_done", "48h", "2d"},      {"retention_done", "90m", "90m"},
        {"retention_done", "3650d", "3650d"}, {"backoff_base", "1500ms", "1500ms"},
        {"backoff_base", "60s", "1m"},        {"backoff_factor", "1.5", "1.5"},
        {"backoff_factor", "100", "100"},     {"backoff_factor", "2.50", "2.5"},
        {"backoff_jitter", "0.1", "0.1"},     {"backoff_jitter", "0.000001", "0.000001"},
        {"backoff_jitter", "1.0", "1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct setting *setting = setting_find(boxcar_str_of(cases[i].name));
        double number;
        char text[32];

        assert_int_equal(setting_parse(setting, boxcar_str_of(cases[i].text), &number, NULL), BOXCAR_OK);
        setting_format(setting, number, text);
        assert_string_equal(text, cases[i].canonical);
    }
}

/* BX-011 */
static void bad_values_are_refused_with_the_range(void **state) {
    static const struct {
        const char *name, *text;
    } bad[] = {
        {"max_attempts", "0"},
        {"max_attempts", "1000001"},
        {"max_attempts", "-1"},
        {"max_attempts", "1.5"},
        {"max_attempts", ""},
        {"max_attempts", "ten"},
        {"max_attempts", "99999999999999999999"},
        {"retention_done", "7"},
        {"retention_done", "-1d"},
        {"retention_done", "3651d"},
        {"retention_done", "d"},
        {"backoff_factor", "0.9"},
        {"backoff_factor", "100.1"},
        {"backoff_factor", "nan"},
        {"backoff_factor", "inf"},
        {"backoff_factor", "1e1"},
        {"backoff_factor", "2."},
        {"backoff_factor", ".5"},
        {"backoff_factor", "1,5"},
        {"backoff_jitter", "1.1"},
        {"backoff_jitter", "-0"},
        {"backoff_jitter", "0.0000001"},
        {"backoff_jitter", "99999999999999999999"},
        {"join_wait_topic", ""},
        {"join_wait_topic", "*"},
        {"join_wait_topic", "waits.*"},
        {"join_wait_topic", "\xFF"},
        {"retention_joins", "30"},
        {"partition_count", "0"},
        {"partition_count", "1000001"},
        {"partitions_per_instance_max", "1000001"},
        {"stream_policy", ""},
        {"stream_policy", "Halt"},
        {"stream_policy", "stop"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const struct setting *setting = setting_find(boxcar_str_of(bad[i].name));
        boxcar_error err = BOXCAR_ERROR_INIT;
        double number = 42;

        assert_int_equal(setting_parse(setting, boxcar_str_of(bad[i].text), &number, &err), BOXCAR_E_INVALID);
        assert_string_equal(err.argument, "value");
        assert_non_null(strstr(err.message, bad[i].name));
        assert_true(number == 42);
    }
}

/* JOIN-050, BX-011 */
static void the_topic_of_waits_is_any_topic(void **state) {
    const struct setting *setting = setting_find(BOXCAR_STR("join_wait_topic"));
    char topic[256];
    double number = 42;

    (void)state;
    assert_true(setting_is_text(setting));
    assert_string_equal(setting->default_value, "join.wait");
    memset(topic, 't', sizeof(topic));
    assert_int_equal(setting_parse(setting, (boxcar_str){topic, 255}, &number, NULL), BOXCAR_OK);
    assert_true(number == 0);
    assert_int_equal(setting_parse(setting, (boxcar_str){topic, 256}, &number, NULL), BOXCAR_E_INVALID);
    assert_int_equal(setting_parse(setting, BOXCAR_STR("a\0b"), &number, NULL), BOXCAR_E_INVALID);
}

static void unknown_settings_are_not_found(void **state) {
    (void)state;
    assert_null(setting_find(BOXCAR_STR("max_attempt")));
    assert_null(setting_find(BOXCAR_STR("MAX_ATTEMPTS")));
    assert_null(setting_find(BOXCAR_STR("")));
    assert_null(setting_find(BOXCAR_NO_STR));
}

static void numbers_out_of_range_are_shown_within_it(void **state) {
    const struct setting *setting = setting_find(BOXCAR_STR("max_attempts"));
    char text[32];

    (void)state;
    setting_format(setting, 1e300, text);
    assert_string_equal(text, "1000000");
    setting_format(setting, (double)NAN, text);
    assert_string_equal(text, "1");
}

static void check_statuses(void) {
    for (int i = 0; i <= BOXCAR_E_STORE; i++)
        assert_string_not_equal(boxcar_status_name((boxcar_status)i), "?");
    assert_string_equal(boxcar_status_name((boxcar_status)(BOXCAR_E_STORE + 1)), "?");
    assert_string_equal(boxcar_status_name((boxcar_status)-1), "?");
    assert_string_equal(boxcar_status_name(BOXCAR_E_NOT_FOUND), "not_found");
}

#define CHECK_NAMES(type, last, name_of, parse)                                                              \
    do {                                                                                                     \
        type read = (type)0;                                                                                 \
        for (int i = 0; i <= (int)(last); i++) {                                                             \
            assert_true(parse(boxcar_str_of(name_of((type)i)), &read));                                      \
            assert_int_equal(read, i);                                                                       \
        }                                                                                                    \
        assert_string_equal(name_of((type)((last) + 1)), "?");                                               \
        assert_string_equal(name_of((type)-1), "?");                                                         \
        assert_false(parse(BOXCAR_STR("?"), &read));                                                         \
        assert_false(parse(BOXCAR_STR(""), &read));                                                          \
        assert_false(parse(BOXCAR_NO_STR, &read));                                                           \
        assert_int_equal(read, (last));                                                                      \
    } while (0)

static void names_go_back_and_forth(void **state) {
    (void)state;
    CHECK_NAMES(boxcar_box, BOXCAR_INBOX, boxcar_box_name, box_parse);
    CHECK_NAMES(boxcar_message_status, BOXCAR_FAILED, boxcar_message_status_name, message_status_parse);
    assert_string_equal(boxcar_reason_name((boxcar_reason)(BOXCAR_REASON_CANCELLED + 1)), "?");
    assert_string_equal(boxcar_reason_name((boxcar_reason)-1), "?");
    assert_string_equal(boxcar_log_level_name((boxcar_log_level)(BOXCAR_LOG_ERROR + 1)), "?");
    assert_string_equal(boxcar_log_level_name((boxcar_log_level)-1), "?");
    check_statuses();
    assert_string_equal(boxcar_message_status_name(BOXCAR_IN_PROGRESS), "in_progress");
    assert_string_equal(boxcar_reason_name(BOXCAR_REASON_NO_HANDLER), "no_handler");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_valid_and_in_canonical_form),
        cmocka_unit_test(names_are_sorted),
        cmocka_unit_test(defaults_are_those_promised),
        cmocka_unit_test(values_go_back_and_forth),
        cmocka_unit_test(bad_values_are_refused_with_the_range),
        cmocka_unit_test(the_topic_of_waits_is_any_topic),
        cmocka_unit_test(unknown_settings_are_not_found),
        cmocka_unit_test(numbers_out_of_range_are_shown_within_it),
        cmocka_unit_test(names_go_back_and_forth),
    };

    return cmocka_run_group_tests_name("setting", tests, NULL, NULL);
}
