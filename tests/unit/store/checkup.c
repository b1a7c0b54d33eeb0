/* The rules by which facts become findings, where no test can make the facts. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "store/checkup.h"

#define MIB ((int64_t)1 << 20)

/* The severity of the only finding, and whether it brings a remedy just when there is something to do. */
static boxcar_severity judged(struct findings *findings, const char *part) {
    struct finding_rows *list = NULL;
    assert_int_equal(findings_end(findings, BOXCAR_OK, &list, NULL), BOXCAR_OK);
    assert_int_equal(list->count, 1);
    const boxcar_finding *finding = &list->items[0];
    boxcar_severity severity = finding->severity;
    assert_non_null(strstr(finding->text.data, part));
    assert_int_equal(finding->remedy.data != NULL, severity != BOXCAR_SEVERITY_OK);
    list_free(list);
    return severity;
}

static boxcar_severity disk(int64_t free_bytes, int64_t all_bytes, const char *part) {
    struct findings findings = findings_begin();
    checkup_disk(&findings, free_bytes, all_bytes);
    return judged(&findings, part);
}

static void little_space_is_a_warning_by_share_and_by_size(void **state) {
    (void)state;
    assert_int_equal(disk(1000 * MIB, 10000 * MIB, "1000 MiB (10%)"), BOXCAR_SEVERITY_OK);
    assert_int_equal(disk(499 * MIB, 10000 * MIB, "499 MiB (5%)"), BOXCAR_SEVERITY_WARNING);
    assert_int_equal(disk(255 * MIB, 300 * MIB, "255 MiB"), BOXCAR_SEVERITY_WARNING);
    assert_int_equal(disk(256 * MIB, 300 * MIB, "256 MiB"), BOXCAR_SEVERITY_OK);
    assert_int_equal(disk(0, 0, "0 bytes"), BOXCAR_SEVERITY_WARNING);
}

static boxcar_severity skew(int64_t ahead_us, int64_t uncertain_us, const char *part) {
    struct findings findings = findings_begin();
    checkup_clock(&findings, ahead_us, uncertain_us);
    return judged(&findings, part);
}

/* BX-009 */
static void clocks_differ_only_beyond_what_the_round_trip_explains(void **state) {
    (void)state;
    assert_int_equal(skew(0, 100, "differ by 0.000s"), BOXCAR_SEVERITY_OK);
    assert_int_equal(skew(2000000, 0, "differ by 2.000s"), BOXCAR_SEVERITY_OK);
    assert_int_equal(skew(2000001, 0, "2.0s ahead of"), BOXCAR_SEVERITY_WARNING);
    assert_int_equal(skew(-2000001, 0, "2.0s behind"), BOXCAR_SEVERITY_WARNING);
    assert_int_equal(skew(5000000, 3000000, "differ"), BOXCAR_SEVERITY_OK);
    assert_int_equal(skew(5000001, 3000000, "ahead of"), BOXCAR_SEVERITY_WARNING);
}

/* BX-029 */
static void newer_schema_is_noted(void **state) {
    (void)state;
    struct findings findings = findings_begin();
    checkup_schema(&findings, STORE_SCHEMA_VERSION + 1, 1);
    assert_int_equal(judged(&findings, "newer"), BOXCAR_SEVERITY_NOTE);
    findings = findings_begin();
    checkup_schema(&findings, STORE_SCHEMA_VERSION, 1);
    assert_int_equal(judged(&findings, "programs from version 1"), BOXCAR_SEVERITY_OK);
}

static void ages_are_written_as_durations(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } CASES[] = {{0, "0.0s"},    {9.94, "9.9s"}, {42, "42s"},    {119, "119s"},  {120, "2m"},    {600, "10m"},
                 {7199, "120m"}, {7200, "2h"},   {86400, "24h"}, {172800, "2d"}, {1e9, "11574d"}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        assert_string_equal(CHECKUP_AGE(CASES[i].seconds), CASES[i].text);
    assert_string_equal(CHECKUP_BYTES(1023), "1023 bytes");
    assert_string_equal(CHECKUP_BYTES(1536), "1.5 KiB");
    assert_string_equal(CHECKUP_BYTES(80 * MIB), "80 MiB");
    assert_true(strlen(CHECKUP_BYTES(INT64_MAX)) > 0);
}

/* Findings beyond the first room, with remedies that belong to the right ones. */
static void list_grows_and_keeps_what_it_has(void **state) {
    (void)state;
    struct findings findings = findings_begin();
    struct finding_rows *list = NULL;
    for (int i = 0; i < 100; i++) {
        findings_add(&findings, "many", BOXCAR_SEVERITY_NOTE, "number %d", i);
        if (i % 2)
            findings_remedy(&findings, "remedy %d", i);
    }
    assert_int_equal(findings_end(&findings, BOXCAR_OK, &list, NULL), BOXCAR_OK);
    assert_int_equal(list->count, 100);
    assert_string_equal(list->items[0].text.data, "number 0");
    assert_null(list->items[98].remedy.data);
    assert_string_equal(list->items[99].remedy.data, "remedy 99");
    list_free(list);
}

static void severities_have_names(void **state) {
    (void)state;
    assert_string_equal(boxcar_severity_name(BOXCAR_SEVERITY_OK), "ok");
    assert_string_equal(boxcar_severity_name(BOXCAR_SEVERITY_NOTE), "note");
    assert_string_equal(boxcar_severity_name(BOXCAR_SEVERITY_WARNING), "warning");
    assert_string_equal(boxcar_severity_name(BOXCAR_SEVERITY_PROBLEM), "problem");
    assert_string_equal(boxcar_severity_name((boxcar_severity)4), "?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_space_is_a_warning_by_share_and_by_size),
        cmocka_unit_test(clocks_differ_only_beyond_what_the_round_trip_explains),
        cmocka_unit_test(newer_schema_is_noted),
        cmocka_unit_test(ages_are_written_as_durations),
        cmocka_unit_test(list_grows_and_keeps_what_it_has),
        cmocka_unit_test(severities_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
