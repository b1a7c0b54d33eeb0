/* Structs in the caller's memory: what an older program has, what a newer one has, what was never set. */
#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "base/options.h"

struct older {
    size_t struct_size;
    int64_t number;
};

struct today {
    size_t struct_size;
    int64_t number;
    int64_t added; /* its default is 7 */
};

#define TODAY_INIT                                                                                           \
    { .struct_size = sizeof(struct today), .added = 7 }

static void smaller_struct_keeps_the_defaults_of_its_missing_end(void **state) {
    struct older given = {sizeof(given), 5};
    struct today read = TODAY_INIT;

    (void)state;
    assert_int_equal(options_read(&read, sizeof(read), &given, "options", NULL), BOXCAR_OK);
    assert_int_equal(read.struct_size, sizeof(read));
    assert_int_equal(read.number, 5);
    assert_int_equal(read.added, 7);
}

static void array_of_todays_size_is_used_where_it_is(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    const struct today given[2] = {TODAY_INIT, TODAY_INIT};
    const struct today *items = given;

    (void)state;
    assert_int_equal(OPTIONS_READ_ARRAY(&arena, TODAY_INIT, &items, 2, "items", NULL), BOXCAR_OK);
    assert_ptr_equal(items, given);
}

static void older_array_is_copied_element_by_element(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    const struct older given[3] = {{sizeof(given[0]), 1}, {sizeof(given[0]), 2}, {sizeof(given[0]), 3}};
    const struct today *items = (const void *)given;

    (void)state;
    assert_int_equal(OPTIONS_READ_ARRAY(&arena, TODAY_INIT, &items, 3, "items", NULL), BOXCAR_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(items[i].struct_size, sizeof(items[i]));
        assert_int_equal(items[i].number, i + 1);
        assert_int_equal(items[i].added, 7);
    }
}

static void sizes_that_are_wrong_are_refused(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct today given[2] = {TODAY_INIT, TODAY_INIT};
    const struct today *items = given;
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    given[1].struct_size = 0;
    assert_int_equal(OPTIONS_READ_ARRAY(&arena, TODAY_INIT, &items, 2, "items", &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "items");
    assert_non_null(strstr(err.message, "items[1]"));
    given[0].struct_size = sizeof(given[0]) + 8;
    assert_int_equal(OPTIONS_READ_ARRAY(&arena, TODAY_INIT, &items, 2, "items", &err), BOXCAR_E_INVALID);
    given[0].struct_size = 0;
    assert_int_equal(OPTIONS_READ_ARRAY(&arena, TODAY_INIT, &items, 2, "items", &err), BOXCAR_E_INVALID);
    assert_int_equal(answer_check(&given[0], "ret_items", &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "ret_items");
    memset(given, 0x55, sizeof(given));
    assert_int_equal(answer_check(&given[0], "ret_items", &err), BOXCAR_E_INVALID);
    assert_int_equal(answer_check(NULL, "ret_items", &err), BOXCAR_OK);
}

static void answers_end_where_an_older_struct_does(void **state) {
    const struct today answers[2] = {{0, 1, 10}, {0, 2, 20}};
    struct {
        struct older items[2];
        int64_t behind;
    } caller = {.items = {{.struct_size = sizeof(struct older)}}, .behind = 99};

    (void)state;
    answers_write(caller.items, answers, 2, sizeof(answers[0]));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(caller.items[i].struct_size, sizeof(struct older));
        assert_int_equal(caller.items[i].number, i + 1);
    }
    assert_int_equal(caller.behind, 99);
}

static void what_a_newer_struct_has_besides_becomes_zero(void **state) {
    const struct older answers[1] = {{0, 4}};
    struct today caller = {.struct_size = sizeof(caller), .added = 99};

    (void)state;
    answers_write(&caller, answers, 1, sizeof(answers[0]));
    assert_int_equal(caller.struct_size, sizeof(caller));
    assert_int_equal(caller.number, 4);
    assert_int_equal(caller.added, 0);
    answers_write(NULL, answers, 1, sizeof(answers[0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smaller_struct_keeps_the_defaults_of_its_missing_end),
        cmocka_unit_test(array_of_todays_size_is_used_where_it_is),
        cmocka_unit_test(older_array_is_copied_element_by_element),
        cmocka_unit_test(sizes_that_are_wrong_are_refused),
        cmocka_unit_test(answers_end_where_an_older_struct_does),
        cmocka_unit_test(what_a_newer_struct_has_besides_becomes_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
