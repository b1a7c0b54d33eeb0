/* Settings: kept in the store, the same for every program that uses it. */
#include <string.h>

#include "conformance.h"

static const char *const DEFAULTS[][2] = {
    {"backoff_base", "1s"},        {"backoff_cap", "60s"},       {"backoff_factor", "2"},
    {"backoff_jitter", "0"},       {"max_attempts", "10"},       {"retention_dead", "30d"},
    {"retention_done", "7d"},      {"retention_joins", "30d"},   {"join_wait_topic", "join.wait"},
    {"retention_inbox", "30d"},    {"partition_count", "10000"}, {"partitions_per_instance_max", "0"},
    {"stream_policy", "continue"},
};
enum { DEFAULT_COUNT = sizeof(DEFAULTS) / sizeof(DEFAULTS[0]) };

static const boxcar_setting *setting_named(const boxcar_setting_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_setting *setting = list->items[i];
        if (setting->name.len == strlen(name) && memcmp(setting->name.data, name, strlen(name)) == 0)
            return setting;
    }
    fail_msg("no setting %s", name);
    return NULL;
}

static void assert_setting(struct fixture *f, const char *name, const char *value) {
    boxcar_setting_list *list = NULL;
    ASSERT_OK(f, boxcar_setting_read(f->store, &list, &f->err));
    assert_text(setting_named(list, name)->value, value);
    boxcar_list_free(list);
}

static int64_t duration_ms(boxcar_str text) {
    int64_t ms = -1;
    assert_true(boxcar_duration_parse(text, &ms));
    return ms;
}

/* BX-026, BX-021 */
static void settings_have_the_documented_defaults(void **state) {
    struct fixture *f = *state;
    boxcar_setting_list *list = NULL;
    ASSERT_OK(f, boxcar_setting_read(f->store, &list, &f->err));
    assert_true(list->count >= DEFAULT_COUNT);
    for (size_t i = 0; i < DEFAULT_COUNT; i++) {
        const boxcar_setting *setting = setting_named(list, DEFAULTS[i][0]);
        char unit = DEFAULTS[i][1][strlen(DEFAULTS[i][1]) - 1];
        if (unit == 's' || unit == 'd') /* 60s may be written 1m */
            assert_int_equal(duration_ms(setting->value), duration_ms(boxcar_str_of(DEFAULTS[i][1])));
        else
            assert_text(setting->value, DEFAULTS[i][1]);
        assert_true(setting->help.len > 0);
        assert_int_equal(setting->value.len, setting->default_value.len);
        assert_memory_equal(setting->value.data, setting->default_value.data, setting->value.len);
    }
    boxcar_list_free(list);
}

static void settings_are_listed_by_name(void **state) {
    struct fixture *f = *state;
    boxcar_setting_list *list = NULL;
    ASSERT_OK(f, boxcar_setting_read(f->store, &list, &f->err));
    for (size_t i = 1; i < list->count; i++) {
        boxcar_str a = list->items[i - 1]->name, b = list->items[i]->name;
        int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
        assert_true(order < 0 || (order == 0 && a.len < b.len));
    }
    boxcar_list_free(list);
}

static void setting_written_by_one_handle_counts_for_all(void **state) {
    struct fixture *f = *state;
    set_setting(f, "max_attempts", "1");
    assert_setting(f, "max_attempts", "1");
    boxcar_store *writer = f->store;
    f->store = fixture_open(f);
    assert_setting(f, "max_attempts", "1");
    set_setting(f, "max_attempts", "2");
    boxcar_store_close(f->store);
    f->store = writer;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_status(f, id, BOXCAR_READY);
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_dead(f, id, BOXCAR_REASON_EXHAUSTED);
}

static void absent_value_restores_the_default(void **state) {
    struct fixture *f = *state;
    set_setting(f, "retention_done", "12h");
    assert_setting(f, "retention_done", "12h");
    set_setting(f, "retention_done", NULL);
    assert_setting(f, "retention_done", "7d");
    set_setting(f, "retention_done", NULL);
}

/* BX-011 */
static void unknown_setting_is_not_found(void **state) {
    struct fixture *f = *state;
    static const char *const NAMES[] = {"max_attempt", "MAX_ATTEMPTS", ""};
    for (size_t i = 0; i < 3; i++)
        ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                     boxcar_setting_write(f->store, boxcar_str_of(NAMES[i]), BOXCAR_STR("1"), &f->err));
}

/* BX-011 */
static void value_out_of_range_is_refused_and_changes_nothing(void **state) {
    struct fixture *f = *state;
    static const char *const BAD[][2] = {
        {"max_attempts", "0"},
        {"max_attempts", "-1"},
        {"max_attempts", "1000001"},
        {"max_attempts", "ten"},
        {"max_attempts", ""},
        {"max_attempts", "1.5"},
        {"max_attempts", "99999999999999999999"},
        {"retention_done", "7"},
        {"retention_done", "-1d"},
        {"retention_done", "3651d"},
        {"retention_done", "7 d"},
        {"backoff_factor", "0.5"},
        {"backoff_factor", "101"},
        {"backoff_factor", "nan"},
        {"backoff_factor", "inf"},
        {"backoff_jitter", "1.1"},
        {"backoff_jitter", "-0.1"},
        {"backoff_base", "1"},
        {"retention_joins", "30"},
        {"join_wait_topic", ""},
        {"join_wait_topic", "a\xff"},
    };
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        ASSERT_FAILS(
            f, BOXCAR_E_INVALID,
            boxcar_setting_write(f->store, boxcar_str_of(BAD[i][0]), boxcar_str_of(BAD[i][1]), &f->err));
        assert_true(f->err.argument[0] != '\0');
        assert_non_null(strstr(f->err.message, BAD[i][0]));
    }
    assert_setting(f, "max_attempts", "10");
    assert_setting(f, "retention_done", "7d");
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_setting", "select count(*) from setting"), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(settings_have_the_documented_defaults),
    TEST(settings_are_listed_by_name),
    TEST(setting_written_by_one_handle_counts_for_all),
    TEST(absent_value_restores_the_default),
    TEST(unknown_setting_is_not_found),
    TEST(value_out_of_range_is_refused_and_changes_nothing),
};

const struct suite SETTING_SUITE = SUITE(TESTS);
