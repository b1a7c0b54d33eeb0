/* Bad filters of lists: each gets an error that names the argument. */
#include "unit.h"

#include <string.h>

#include "base/error.h"
#include "core/limits/limits.h"
#include "long_texts.h"

static void assert_list_refused(boxcar_message_filter options, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_list(&options, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
}

/* BX-011 */
static void bad_listings_are_refused(void **state) {
    boxcar_message_filter good = BOXCAR_MESSAGE_FILTER_INIT, options = good;

    (void)state;
    assert_int_equal(limits_check_list(&good, NULL), BOXCAR_OK);
    options.limit = 0;
    assert_list_refused(options, "limit");
    options.limit = BOXCAR_LIST_LIMIT_MAX + 1;
    assert_list_refused(options, "limit");
    options = good;
    options.after.value = -1;
    assert_list_refused(options, "after");
    options = good;
    options.box = -1;
    assert_list_refused(options, "box");
    options = good;
    options.by_status = true;
    options.status = (boxcar_message_status)9;
    assert_list_refused(options, "status");
    options = good;
    options.topic = BOXCAR_STR("");
    assert_list_refused(options, "topic");
}

static void assert_filter_refused(boxcar_dead_filter filter, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_dead_filter(&filter, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
}

/* BX-011, BX-025 */
static void bad_dead_letter_filters_are_refused(void **state) {
    static const boxcar_message_ref refs[2] = {{.work_id = {1}}, {.work_id = {0}}};
    boxcar_dead_filter good = BOXCAR_DEAD_FILTER_INIT, filter = good;

    (void)state;
    assert_int_equal(limits_check_dead_filter(&good, NULL), BOXCAR_OK);
    filter.reason = (boxcar_reason)77;
    assert_filter_refused(filter, "reason");
    filter = good;
    filter.before = -5;
    assert_filter_refused(filter, "before");
    filter = good;
    filter.topic = multi(256);
    assert_filter_refused(filter, "topic");
    filter = good;
    filter.box = -1;
    assert_filter_refused(filter, "box");
    filter = good;
    filter.ref_count = 1;
    assert_filter_refused(filter, "refs");
    filter.refs = refs;
    filter.ref_count = 2;
    assert_filter_refused(filter, "refs[1]");
}

static void assert_join_filter_refused(boxcar_join_filter filter, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_join_filter(&filter, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
}

/* BX-011 */
static void bad_filters_of_joins_are_refused(void **state) {
    boxcar_join_filter good = BOXCAR_JOIN_FILTER_INIT, filter = good;

    (void)state;
    assert_int_equal(limits_check_join_filter(&good, NULL), BOXCAR_OK);
    filter.grouping_key = BOXCAR_STR("");
    assert_join_filter_refused(filter, "grouping_key");
    filter.grouping_key = multi(256);
    assert_join_filter_refused(filter, "grouping_key");
    filter = good;
    filter.status = (boxcar_join_status)9;
    assert_int_equal(limits_check_join_filter(&filter, NULL), BOXCAR_OK); /* not asked for */
    filter.by_status = true;
    assert_join_filter_refused(filter, "status");
    filter = good;
    filter.before = -5;
    assert_join_filter_refused(filter, "before");
    filter = good;
    filter.limit = 0;
    assert_join_filter_refused(filter, "limit");
    filter.limit = BOXCAR_LIST_LIMIT_MAX + 1;
    assert_join_filter_refused(filter, "limit");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_listings_are_refused),
        cmocka_unit_test(bad_dead_letter_filters_are_refused),
        cmocka_unit_test(bad_filters_of_joins_are_refused),
    };
    return cmocka_run_group_tests(tests, fill_long_texts, NULL);
}
