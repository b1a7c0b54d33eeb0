/* JSON that is taken without jansson: never anything that jansson would refuse. */
#include "unit.h"

#include <jansson.h>
#include <string.h>

#include "cli/input/batch/json_text.h"

static size_t copy(const char *text, char *into, size_t *ret_length) {
    return json_plain_copy(boxcar_str_of(text), into, ret_length);
}

static void assert_plain(const char *text, const char *expected) {
    char into[512];
    size_t length = 0;

    assert_int_equal(copy(text, into, &length), strlen(text));
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(into, expected, length);
}

static void assert_not_plain(const char *text) {
    char into[4096];
    size_t length = 77;

    assert_int_equal(copy(text, into, &length), 0);
    assert_int_equal(length, 77);
}

/* BX-065 */
static void blanks_go_and_everything_else_stays(void **state) {
    (void)state;
    assert_plain("{}", "{}");
    assert_plain("[ ]", "[]");
    assert_plain("{ \"a b\" :\t[ 1 ,\r-2.50, true,false , null,\n\"x  y\" ] , \"\" : { } }",
                 "{\"a b\":[1,-2.50,true,false,null,\"x  y\"],\"\":{}}");
    assert_plain("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", 0, -0, 12345678901234567890123]",
                 "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",0,-0,12345678901234567890123]");
}

static void every_letter_is_plain(void **state) {
    (void)state;
    assert_plain("{\"\xc3\xa9\" : \"\xe2\x82\xac \xf0\x9f\x98\x80\x7f\"}",
                 "{\"\xc3\xa9\":\"\xe2\x82\xac \xf0\x9f\x98\x80\x7f\"}");
}

static void what_follows_is_left_alone(void **state) {
    char into[64];
    size_t length = 0;

    (void)state;
    assert_int_equal(copy("{\"a\":1} , \"b\"", into, &length), 7);
    assert_int_equal(length, 7);
}

static void broken_json_is_not_plain(void **state) {
    static const char *const TEXTS[] = {
        "",         "{",         "[",       "[1",       "[1,",      "[1,]",      "[,1]",
        "[1 2]",    "{\"a\"",    "{\"a\":", "{\"a\":}", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
        "{a:1}",    "{\"a\" 1}", "{1:1}",   "[01]",     "[-]",      "[1.]",      "[.5]",
        "[+1]",     "[tru]",     "[truE]",  "[nul",     "[\"]",     "[\"\\\"]",  "[\"\\x\"]",
        "[\"\t\"]", "[\"\n\"]",  "[}",      "{]",       "[\"\\",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(TEXTS); i++)
        assert_not_plain(TEXTS[i]);
}

/* Good or not: jansson decides. */
static void what_needs_a_closer_look_is_not_plain(void **state) {
    char deep[64], wide[1024] = "{", digits[512] = "[";

    (void)state;
    memset(deep, '[', 30);
    memset(deep + 30, ']', 30);
    deep[60] = '\0';
    for (int i = 0; i < 40; i++)
        sprintf(wide + strlen(wide), "%s\"k%d\":1", i > 0 ? "," : "", i);
    strcat(wide, "}");
    memset(digits + 1, '9', 400);
    strcat(digits, "]");
    assert_not_plain("\"text\"");
    assert_not_plain("7");
    assert_not_plain("[\"\\u0041\"]");
    assert_not_plain("[\"\xff\"]");
    assert_not_plain("[\"\xc3\"]");
    assert_not_plain("[\"\xed\xa0\x80\"]");
    assert_not_plain("[\"\xc0\x80\"]");
    assert_not_plain("[1e5]");
    assert_not_plain("[1E999]");
    assert_not_plain("{\"a\":1,\"a\":2}");
    assert_not_plain("[{\"x\":{\"a\":1,\"b\":2,\"a\":2}}]");
    assert_not_plain("{\"\\n\":1}");
    assert_not_plain(deep);
    assert_not_plain(wide);
    assert_not_plain(digits);
}

/* Small changes of something good: none that jansson refuses may be taken. */
static void plain_json_is_valid_for_jansson(void **state) {
    static const char GOOD[] = "{\"a\":[1,-2.5,{\"b\":\"c\\n\",\"d\":null}],\"e\":true, \"f\" : \"\"}";
    static const char CHANGES[] = "{}[],:\"\\0-.1eEtn \x01\x80\xc3u";
    char text[sizeof(GOOD)], into[sizeof(GOOD)];
    int plain = 0;

    (void)state;
    for (size_t at = 0; at + 1 < sizeof(GOOD); at++)
        for (size_t change = 0; change + 1 < sizeof(CHANGES); change++) {
            size_t length = 0, taken;

            memcpy(text, GOOD, sizeof(GOOD));
            text[at] = CHANGES[change];
            taken = copy(text, into, &length);
            if (taken == 0)
                continue;
            json_t *root = json_loadb(text, taken, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
            json_t *copied = json_loadb(into, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);

            assert_non_null(root);
            assert_true(json_equal(root, copied));
            json_decref(root);
            json_decref(copied);
            plain++;
        }
    assert_true(plain > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_go_and_everything_else_stays),
        cmocka_unit_test(every_letter_is_plain),
        cmocka_unit_test(what_follows_is_left_alone),
        cmocka_unit_test(broken_json_is_not_plain),
        cmocka_unit_test(what_needs_a_closer_look_is_not_plain),
        cmocka_unit_test(plain_json_is_valid_for_jansson),
    };

    return cmocka_run_group_tests_name("json_plain", tests, NULL, NULL);
}
