/* Commands of exec handlers: words, the program in PATH, and the end of its output. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "exec_fixture.h"
#include "worker/exec/child.h"

#define MOST_WORDS 6

/* Design 7, exec handlers: no shell, quotes work. */
static void commands_are_split_as_a_shell_reads_quotes(void **state) {
    static const struct {
        const char *command;
        const char *words[MOST_WORDS];
    } cases[] = {
        {"true", {"true"}},
        {"  a\tb\nc  ", {"a", "b", "c"}},
        {"a 'b c' \"d e\"", {"a", "b c", "d e"}},
        {"a '' \"\"", {"a", "", ""}},
        {"a''", {"a"}},
        {"a'b'\"c\"d", {"abcd"}},
        {"a b\\ c", {"a", "b c"}},
        {"a \\\"b\\' \\\\", {"a", "\"b'", "\\"}},
        {"a '\\n\"$'", {"a", "\\n\"$"}},
        {"a \"\\\"\\\\\\n\\$'\"", {"a", "\"\\\\n\\$'"}},
        {"a \\\nb", {"a", "\nb"}},
        {"a $HOME ~ * ?x | > #b ; & `c`", {"a", "$HOME", "~", "*", "?x", "|"}},
        {"'two words' x", {"two words", "x"}},
        {"a \xC3\xA9\xE2\x82\xAC", {"a", "\xC3\xA9\xE2\x82\xAC"}},
        {"a\rb c", {"a\rb", "c"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AUTO_ARENA struct arena arena = ARENA_INIT;
        boxcar_error err = BOXCAR_ERROR_INIT;
        char **words = NULL;
        size_t n = 0;

        assert_int_equal(exec_words_split(&arena, boxcar_str_of(cases[i].command), &words, &err), BOXCAR_OK);
        for (; n < MOST_WORDS && cases[i].words[n]; n++)
            assert_string_equal(words[n], cases[i].words[n]);
        if (n < MOST_WORDS)
            assert_null(words[n]);
    }
}

/* Every other byte a word is the most there can be. */
static void many_short_words_have_room(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    char command[9999];
    char **words = NULL;
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(command); i++)
        command[i] = i % 2 ? ' ' : 'w';
    assert_int_equal(exec_words_split(&arena, (boxcar_str){command, sizeof(command)}, &words, NULL),
                     BOXCAR_OK);
    for (; words[count]; count++)
        assert_string_equal(words[count], "w");
    assert_int_equal(count, 5000);
}

/* BX-011 */
static void bad_commands_are_refused_by_name(void **state) {
    static const struct {
        boxcar_str command;
        const char *says;
    } cases[] = {
        {{NULL, 0}, "empty"},
        {{"", 0}, "empty"},
        {{" \t\n", 3}, "empty"},
        {{"''", 2}, "empty"},
        {{"'' a", 4}, "empty"},
        {{"a 'b", 4}, "single quote"},
        {{"a \"b", 4}, "double quote"},
        {{"a \"b\\\"", 6}, "double quote"},
        {{"a \"b\\", 5}, "double quote"},
        {{"a b\\", 4}, "backslash"},
        {{"a\0b", 3}, "NUL"},
        {{"a \xFF", 3}, "UTF-8"},
        {{NULL, 4}, "no data"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct exec_command *command = (void *)&cases;
        boxcar_error err = BOXCAR_ERROR_INIT;

        assert_int_equal(exec_command_new(cases[i].command, &command, &err), BOXCAR_E_INVALID);
        assert_string_equal(err.argument, "command");
        assert_non_null(strstr(err.message, cases[i].says));
        assert_ptr_equal(command, &cases);
        assert_int_equal(exec_command_new(cases[i].command, &command, NULL), BOXCAR_E_INVALID);
    }
}

static void find(struct arena *arena, const char *name, const char *search_path, boxcar_status expected,
                 const char *expected_text) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    const char *path = NULL;

    assert_int_equal(exec_find_program(arena, name, search_path, &path, &err), expected);
    if (expected == BOXCAR_OK)
        assert_string_equal(path, expected_text);
    else
        assert_non_null(strstr(err.message, expected_text));
}

static void programs_are_found_as_execvp_finds_them(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;

    (void)state;
    find(&arena, "true", "/bin:/usr/bin", BOXCAR_OK, "/bin/true");
    find(&arena, "true", "/nowhere:/usr/bin", BOXCAR_OK, "/usr/bin/true");
    find(&arena, "true", NULL, BOXCAR_OK, "/bin/true");
    find(&arena, "/bin/true", "", BOXCAR_OK, "/bin/true");
    assert_int_equal(chdir("/bin"), 0);
    find(&arena, "./true", "", BOXCAR_OK, "./true");
    find(&arena, "true", "/nowhere:", BOXCAR_OK, "./true");
    assert_int_equal(chdir("/"), 0);
}

/* BX-011 */
static void what_cannot_be_executed_is_told_apart(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    char search_path[256];

    (void)state;
    fixture_write("plain", BOXCAR_STR("#!/bin/sh\n"));
    assert_int_equal(chmod(fixture_path("plain"), 0644), 0);
    find(&arena, "no-such-program", "/bin:/usr/bin", BOXCAR_E_NOT_FOUND, "no-such-program");
    find(&arena, "/no/such", NULL, BOXCAR_E_NOT_FOUND, "/no/such");
    find(&arena, "/bin/true/x", NULL, BOXCAR_E_NOT_FOUND, "/bin/true/x");
    find(&arena, fixture_path("plain"), NULL, BOXCAR_E_DENIED, "chmod");
    find(&arena, fixture_path(""), NULL, BOXCAR_E_DENIED, "directory");
    find(&arena, "plain", fixture_path(""), BOXCAR_E_DENIED, "plain");
    fixture_write("true", BOXCAR_STR("not executable: the search goes on"));
    assert_int_equal(chmod(fixture_path("true"), 0644), 0);
    snprintf(search_path, sizeof(search_path), "%s:/bin", fixture_path(""));
    find(&arena, "true", search_path, BOXCAR_OK, "/bin/true");
}

static void add(struct exec_tail *tail, boxcar_str text) {
    for (size_t done = 0; done < text.len;) {
        size_t len = text.len - done < EXEC_TAIL_MAX ? text.len - done : EXEC_TAIL_MAX;
        memcpy(exec_tail_room(tail), text.data + done, len);
        exec_tail_add(tail, len);
        done += len;
    }
}

static void assert_tail(boxcar_str text, size_t max_bytes, const char *expected, size_t expected_len) {
    AUTO_BUF struct buf got = BUF_INIT;
    struct exec_tail tail = {.len = 0};

    add(&tail, text);
    exec_tail_append_to(&tail, max_bytes, &got);
    assert_false(got.failed);
    assert_int_equal(got.len, expected_len);
    if (expected_len > 0)
        assert_memory_equal(got.data, expected, expected_len);
}

static void a_short_tail_is_kept_without_the_blanks_at_its_end(void **state) {
    (void)state;
    assert_tail(BOXCAR_STR(""), EXEC_TAIL_MAX, "", 0);
    assert_tail(BOXCAR_STR("\n \r\n"), EXEC_TAIL_MAX, "", 0);
    assert_tail(BOXCAR_STR(" one\ntwo \r\n\n"), EXEC_TAIL_MAX, " one\ntwo", 8);
}

/* BX-010: capped at 4 KiB, between characters. */
static void a_long_tail_is_cut_between_characters(void **state) {
    char euros[3 * 3000], *end = euros + sizeof(euros);

    (void)state;
    for (size_t i = 0; i < sizeof(euros); i += 3)
        memcpy(euros + i, "\xE2\x82\xAC", 3);
    assert_tail((boxcar_str){euros, sizeof(euros)}, EXEC_TAIL_MAX, end - 4095, 4095);
    assert_tail((boxcar_str){euros, sizeof(euros)}, 10, end - 9, 9);
    memset(euros, 'x', sizeof(euros));
    assert_tail((boxcar_str){euros, sizeof(euros)}, EXEC_TAIL_MAX, end - 4096, 4096);
    assert_tail((boxcar_str){euros, 4096}, EXEC_TAIL_MAX, end - 4096, 4096);
}

static void what_is_not_text_is_replaced_and_the_end_is_kept(void **state) {
    char wild[EXEC_TAIL_MAX];
    char expected[EXEC_TAIL_MAX];

    (void)state;
    assert_tail(BOXCAR_STR("a\xFF\0b\xE2\x82"), EXEC_TAIL_MAX,
                "a\xEF\xBF\xBD\xEF\xBF\xBD"
                "b\xEF\xBF\xBD\xEF\xBF\xBD",
                14);
    memset(wild, 0xFF, sizeof(wild));
    memcpy(wild + sizeof(wild) - 3, "end", 3);
    for (size_t i = 0; i < 4092; i += 3)
        memcpy(expected + i, "\xEF\xBF\xBD", 3);
    memcpy(expected + 4092, "end", 3);
    assert_tail((boxcar_str){wild, sizeof(wild)}, EXEC_TAIL_MAX, expected, 4095);
    memset(wild, 0x80, sizeof(wild)); /* continuation bytes only */
    assert_tail((boxcar_str){wild, sizeof(wild)}, 10, expected, 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_split_as_a_shell_reads_quotes),
        cmocka_unit_test(many_short_words_have_room),
        cmocka_unit_test(bad_commands_are_refused_by_name),
        cmocka_unit_test(programs_are_found_as_execvp_finds_them),
        cmocka_unit_test(what_cannot_be_executed_is_told_apart),
        cmocka_unit_test(a_short_tail_is_kept_without_the_blanks_at_its_end),
        cmocka_unit_test(a_long_tail_is_cut_between_characters),
        cmocka_unit_test(what_is_not_text_is_replaced_and_the_end_is_kept),
    };

    return cmocka_run_group_tests_name("exec_words", tests, fixture_setup, fixture_teardown);
}
