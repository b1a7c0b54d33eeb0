/* UTF-8: what is well-formed, how long it is, where it may be cut. */
#include "unit.h"

#include <string.h>

#include "base/utf8.h"

/* BX-011 */
static void well_formed_text_is_accepted(void **state) {
    static const char *const good[] = {
        "",
        "plain",
        "\x7F",
        "\xC2\x80",
        "\xDF\xBF",
        "\xE0\xA0\x80",
        "\xED\x9F\xBF",
        "\xEE\x80\x80",
        "\xEF\xBF\xBF",
        "\xF0\x90\x80\x80",
        "\xF4\x8F\xBF\xBF",
        "eight by"
        "te ASCII \xC3\xA9 tail",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(utf8_is_valid(boxcar_str_of(good[i])));
    assert_true(utf8_is_valid(BOXCAR_NO_STR));
    assert_true(utf8_is_valid(BOXCAR_STR("a\0b")));
}

/* BX-011 */
static void malformed_text_is_refused(void **state) {
    static const char *const bad[] = {
        "\x80",             /* continuation alone */
        "\xC0\x80",         /* overlong NUL */
        "\xC1\xBF",         /* overlong */
        "\xE0\x9F\xBF",     /* overlong, three bytes */
        "\xF0\x8F\xBF\xBF", /* overlong, four bytes */
        "\xED\xA0\x80",     /* first surrogate */
        "\xED\xBF\xBF",     /* last surrogate */
        "\xF4\x90\x80\x80", /* beyond U+10FFFF */
        "\xF5\x80\x80\x80",
        "\xFF",
        "\xFE",
        "\xC3", /* cut off */
        "\xE2\x82",
        "\xF0\x9F\x98",
        "\xC3(",
        "\xE2(\xA1",
        "\xE2\x82(",
        "\xF0\x9F\x98(",
        "01234567\xFF",
        "0123456789\xC3",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(utf8_is_valid(boxcar_str_of(bad[i])));
}

/* Every pair of bytes, against the definition: ASCII twice, or C2..DF and a continuation. */
static void all_two_byte_texts_are_judged_by_the_definition(void **state) {
    (void)state;
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            char text[2] = {(char)a, (char)b};
            bool expected = (a < 0x80 && b < 0x80) || (a >= 0xC2 && a <= 0xDF && b >= 0x80 && b <= 0xBF);
            assert_int_equal(utf8_is_valid((boxcar_str){text, 2}), expected);
        }
    }
}

static void length_counts_characters(void **state) {
    (void)state;
    assert_int_equal(utf8_length(BOXCAR_NO_STR), 0);
    assert_int_equal(utf8_length(BOXCAR_STR("abc")), 3);
    assert_int_equal(utf8_length(BOXCAR_STR("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")), 3);
}

static void a_cut_never_splits_a_character(void **state) {
    boxcar_str text = BOXCAR_STR("a\xE2\x82\xAC"
                                 "b"); /* a, euro sign, b */
    static const size_t expected[] = {0, 1, 1, 1, 4, 5, 5};

    (void)state;
    for (size_t max = 0; max < COUNT_OF(expected); max++)
        assert_int_equal(utf8_cut(text, max).len, expected[max]);
    assert_null(utf8_cut(BOXCAR_NO_STR, 3).data);
}

static void a_partial_character_at_the_end_is_taken_off(void **state) {
    (void)state;
    assert_int_equal(utf8_cut_partial(BOXCAR_STR("ab")).len, 2);
    assert_int_equal(utf8_cut_partial(BOXCAR_STR("a\xE2\x82\xAC")).len, 4);
    assert_int_equal(utf8_cut_partial(BOXCAR_STR("a\xE2\x82")).len, 1);
    assert_int_equal(utf8_cut_partial(BOXCAR_STR("a\xF0")).len, 1);
    assert_int_equal(utf8_cut_partial(BOXCAR_NO_STR).len, 0);
}

static void texts_compare_by_bytes(void **state) {
    (void)state;
    assert_true(str_equal(BOXCAR_STR("a"), BOXCAR_STR("a")));
    assert_false(str_equal(BOXCAR_STR("a"), BOXCAR_STR("A")));
    assert_false(str_equal(BOXCAR_STR("a"), BOXCAR_STR("ab")));
    assert_true(str_equal(BOXCAR_NO_STR, BOXCAR_NO_STR));
    assert_false(str_equal(BOXCAR_NO_STR, BOXCAR_STR("")));
    assert_true(str_starts_with(BOXCAR_STR("abc"), BOXCAR_STR("ab")));
    assert_true(str_starts_with(BOXCAR_STR("abc"), BOXCAR_STR("")));
    assert_false(str_starts_with(BOXCAR_STR("ab"), BOXCAR_STR("abc")));
    assert_int_equal(str_compare(BOXCAR_STR("a"), BOXCAR_STR("a")), 0);
    assert_true(str_compare(BOXCAR_STR("a"), BOXCAR_STR("ab")) < 0);
    assert_true(str_compare(BOXCAR_STR("b"), BOXCAR_STR("ab")) > 0);
    assert_true(str_compare(BOXCAR_STR("\xc3"), BOXCAR_STR("a")) > 0);
    assert_true(str_compare(BOXCAR_NO_STR, BOXCAR_STR("a")) < 0);
    assert_int_equal(str_compare(BOXCAR_NO_STR, BOXCAR_STR("")), 0);
    assert_true(str_has_nul(BOXCAR_STR("a\0b")));
    assert_false(str_has_nul(BOXCAR_STR("ab")));
    assert_false(str_has_nul(BOXCAR_NO_STR));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_text_is_accepted),
        cmocka_unit_test(malformed_text_is_refused),
        cmocka_unit_test(all_two_byte_texts_are_judged_by_the_definition),
        cmocka_unit_test(length_counts_characters),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(a_partial_character_at_the_end_is_taken_off),
        cmocka_unit_test(texts_compare_by_bytes),
    };

    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
