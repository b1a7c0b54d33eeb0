/* JSON: what is valid, and what a shortage of memory looks like. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"

static const char *const VALID[] = {
    "{}",
    "[]",
    " [ ] ",
    "{\"a\": 1}",
    "[1, -0, 0.5, 1e9, 1E-2, 10e+3]",
    "[true, false, null]",
    "\"text\"",
    "0",
    "-1",
    "{\"a\": {\"b\": [{}, [], \"\\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u00e9 \\ud83d\\ude00\"]}, \"c\": null}",
    "\n\t\r [\"\xC3\xA9\"]\n",
    "[[[[[[[[[[[[[[[[[[[[{\"deep\": [1]}]]]]]]]]]]]]]]]]]]]]",
};

static const char *const INVALID[] = {
    "",
    " ",
    "{",
    "}",
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\": 1,}",
    "{a: 1}",
    "{1: 2}",
    "[}",
    "{]",
    "[1 2]",
    "01",
    "-",
    "1.",
    ".5",
    "1e",
    "+1",
    "tru",
    "nulll",
    "True",
    "'a'",
    "\"",
    "\"a",
    "\"\\\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\\ud800\"",
    "\"\\ud800x\"",
    "\"\\ud800\\u0041\"",
    "\"\\udc00\"",
    "\"tab\there\"",
    "\"\xC3\"",
    "{} {}",
    "[] x",
    "/**/ []",
};

static bool jansson_takes(boxcar_str text) {
    json_t *value =
        json_loadb(text.data, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    bool takes = value != NULL;

    json_decref(value);
    return takes;
}

static void valid_and_invalid_texts_are_told_apart(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(VALID) / sizeof(VALID[0]); i++)
        if (!json_is_valid(boxcar_str_of(VALID[i])))
            fail_msg("refused: %s", VALID[i]);
    for (size_t i = 0; i < sizeof(INVALID) / sizeof(INVALID[0]); i++)
        if (json_is_valid(boxcar_str_of(INVALID[i])))
            fail_msg("accepted: %s", INVALID[i]);
}

static void depth_has_an_end(void **state) {
    static char text[6000];

    (void)state;
    for (size_t depth = 2040; depth < 2060; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        assert_int_equal(json_is_valid((boxcar_str){text, 2 * depth}),
                         jansson_takes((boxcar_str){text, 2 * depth}));
    }
}

/* Texts that are nearly right: jansson and we are of one mind about each. */
static void agrees_with_jansson_about_broken_texts(void **state) {
    static const char PIECES[] = "{}[]\",:\\u0d8e1.-+ntx \x01\xC3";
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[256];
        const char *from = VALID[round % (int)(sizeof(VALID) / sizeof(VALID[0]))];
        size_t len = strlen(from);

        memcpy(text, from, len);
        for (int change = rand_r(&seed) % 3; change >= 0; change--)
            text[(size_t)rand_r(&seed) % len] = PIECES[(size_t)rand_r(&seed) % (sizeof(PIECES) - 1)];
        if (json_is_valid((boxcar_str){text, len}) != jansson_takes((boxcar_str){text, len}))
            fail_msg("%s: %.*s", json_is_valid((boxcar_str){text, len}) ? "accepted" : "refused", (int)len,
                     text);
    }
}

static long allocations_left;

static void *allocate(size_t size) { return allocations_left-- == 0 ? NULL : malloc(size); }

/* BX-008: a good text is never called bad because memory is short. */
static void shortage_of_memory_is_no_fault_of_the_text(void **state) {
    static const char TEXT[] =
        "{\"joinId\": \"0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69\", \"payload\": \"a text that needs room\", "
        "\"more\": [1, 2.5, true, null, {}]}";
    bool no_memory = true;
    long failures = 0;

    (void)state;
    json_set_alloc_funcs(allocate, free);
    for (allocations_left = 0;; failures++, allocations_left = failures) {
        json_t *value = json_read(boxcar_str_of(TEXT), 0, &no_memory);

        if (!value && !no_memory)
            fail_msg("a good text is called bad when allocation %ld fails", failures);
        if (value)
            assert_string_equal(json_string_value(json_object_get(value, "payload")),
                                "a text that needs room");
        if (value)
            assert_int_equal(json_string_length(json_object_get(value, "joinId")), 36);
        json_decref(value);
        if (allocations_left >= 0)
            break;
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(failures > 20);
    assert_null(json_read(BOXCAR_STR("{\"a\": }"), 0, &no_memory));
    assert_false(no_memory);
    assert_null(json_read(BOXCAR_STR("5"), 0, &no_memory)); /* needs JSON_DECODE_ANY */
    assert_false(no_memory);
    assert_null(json_read(BOXCAR_STR("{\"a\": 1, \"a\": 2}"), JSON_REJECT_DUPLICATES, &no_memory));
    assert_false(no_memory);
}

static void what_is_right_is_read(void **state) {
    static const char *const MORE[] = {"{\"a\": \"x\", \"a\": \"yz\"}",
                                       "[\"\\u0000\", \"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"]"};
    bool no_memory = true;

    (void)state;
    for (size_t i = 0; i < sizeof(VALID) / sizeof(VALID[0]) + sizeof(MORE) / sizeof(MORE[0]); i++) {
        size_t known = sizeof(VALID) / sizeof(VALID[0]);
        json_t *value = json_read(boxcar_str_of(i < known ? VALID[i] : MORE[i - known]),
                                  JSON_DECODE_ANY | JSON_ALLOW_NUL, &no_memory);

        assert_non_null(value);
        assert_false(no_memory);
        json_decref(value);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_and_invalid_texts_are_told_apart),
        cmocka_unit_test(depth_has_an_end),
        cmocka_unit_test(agrees_with_jansson_about_broken_texts),
        cmocka_unit_test(shortage_of_memory_is_no_fault_of_the_text),
        cmocka_unit_test(what_is_right_is_read),
    };

    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
