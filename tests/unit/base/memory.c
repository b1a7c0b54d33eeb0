/* Arena, buffer and error: the parts everything else is made with. */
#include "unit.h"

#include <stdalign.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/options.h"

static bool is_zero(const unsigned char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static void arena_memory_is_zeroed_aligned_and_apart(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    static unsigned char *pieces[3000];
    static size_t sizes[3000];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        sizes[i] = i % 50 == 0 ? i * 37 : i % 61;
        pieces[i] = arena_alloc(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        assert_true(is_zero(pieces[i], sizes[i]));
        memset(pieces[i], (int)(i & 0xFF), sizes[i]);
    }
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], i & 0xFF);
    }
}

static void arena_refuses_sizes_that_cannot_be(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;

    (void)state;
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc_array(&arena, SIZE_MAX / 2, 3));
    assert_null(arena_alloc_text(&arena, SIZE_MAX));
    assert_non_null(arena_alloc_array(&arena, 0, 8));
    assert_non_null(arena_alloc(&arena, 0));
}

static void array_that_grows_keeps_what_is_in_it(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    size_t *numbers = NULL, capacity = 0, copies = 0;

    (void)state;
    for (size_t i = 0; i < 10000; i++) {
        size_t *room = arena_make_room(&arena, numbers, i, &capacity, sizeof(*numbers));
        assert_non_null(room);
        assert_true(capacity > i);
        copies += room != numbers;
        numbers = room;
        assert_true(is_zero((const unsigned char *)&numbers[i], sizeof(numbers[i])));
        numbers[i] = i;
    }
    assert_in_range(copies, 1, 12); /* it doubles */
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(numbers[i], i);
}

static void array_of_large_items_and_one_that_cannot_be(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    size_t capacity = 0, huge = SIZE_MAX / 4;

    (void)state;
    assert_non_null(arena_make_room(&arena, NULL, 0, &capacity, 100000));
    assert_true(capacity > 1);
    assert_null(arena_make_room(&arena, &capacity, huge, &huge, 16));
    assert_int_equal(huge, SIZE_MAX / 4); /* as it was */
}

static void list_grows_by_empty_items_and_can_be_filled_anew(void **state) {
    struct {
        LIST_OF(uint64_t);
    } *list = calloc(1, sizeof(*list));
    (void)state;

    assert_non_null(list);
    for (int round = 0; round < 2; round++) {
        list_clear(list);
        assert_int_equal(list->count, 0);
        for (uint64_t i = 0; i < 1000; i++) {
            uint64_t *item = list_add(list, sizeof(*item));
            assert_ptr_equal(item, &list->items[i]);
            assert_int_equal(*item, 0);
            *item = i + 1;
        }
        assert_int_equal(list->count, 1000);
        for (uint64_t i = 0; i < 1000; i++)
            assert_int_equal(list->items[i], i + 1);
    }
    list_free(list);
}

static void arena_copies_text_with_a_nul_behind(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_str copy = BOXCAR_STR("x");

    (void)state;
    assert_true(arena_copy_str(&arena, BOXCAR_STR("abc"), &copy));
    assert_string_equal(copy.data, "abc");
    assert_true(arena_copy_str(&arena, BOXCAR_STR(""), &copy));
    assert_non_null(copy.data);
    assert_int_equal(copy.len, 0);
    assert_true(arena_copy_str(&arena, BOXCAR_NO_STR, &copy));
    assert_null(copy.data);
}

static void arena_takes_over_what_another_has(void **state) {
    AUTO_ARENA struct arena a = ARENA_INIT;
    struct arena b = ARENA_INIT, empty = ARENA_INIT;
    boxcar_str in_a, in_b, later;

    (void)state;
    assert_true(arena_copy_str(&a, BOXCAR_STR("from a"), &in_a));
    assert_true(arena_copy_str(&b, BOXCAR_STR("from b"), &in_b));
    assert_non_null(arena_alloc(&b, 100000));
    arena_adopt(&a, &b);
    arena_adopt(&a, &empty);
    assert_null(b.blocks);
    assert_true(arena_copy_str(&a, BOXCAR_STR("later"), &later));
    assert_string_equal(in_a.data, "from a");
    assert_string_equal(in_b.data, "from b");
    arena_adopt(&b, &a);
    assert_string_equal(later.data, "later");
    arena_adopt(&a, &b);
    arena_release(&b);
}

static void count_release(void *resource) { ++*(int *)resource; }

static void arena_releases_what_was_attached_exactly_once(void **state) {
    struct arena a = ARENA_INIT, b = ARENA_INIT;
    int first = 0, second = 0, third = 0;

    (void)state;
    assert_true(arena_attach(&a, &first, count_release));
    assert_true(arena_attach(&b, &second, count_release));
    assert_true(arena_attach(&b, &third, count_release));
    arena_adopt(&a, &b);
    arena_release(&b);
    assert_int_equal(first + second + third, 0);
    arena_release(&a);
    arena_release(&a);
    assert_int_equal(first, 1);
    assert_int_equal(second, 1);
    assert_int_equal(third, 1);
}

static void arena_can_be_used_again_after_release(void **state) {
    struct arena arena = ARENA_INIT;

    (void)state;
    assert_non_null(arena_alloc(&arena, 10));
    arena_release(&arena);
    assert_null(arena.blocks);
    assert_non_null(arena_alloc(&arena, 10));
    arena_release(&arena);
    arena_release(&arena);
}

static void buf_grows_and_stays_terminated(void **state) {
    AUTO_BUF struct buf buf = BUF_INIT;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        buf_append_char(&buf, (char)('a' + i % 26));
        assert_int_equal(buf.data[buf.len], '\0');
    }
    assert_int_equal(buf.len, 10000);
    assert_int_equal(buf.data[9999], 'a' + 9999 % 26);
    assert_false(buf.failed);
}

static void buf_appends_every_kind(void **state) {
    static const unsigned char numbers[] = {0x12, 0x34, 0x89, 0xAB, 0xCD, 0xEF, 1, 2, 3, 4, 5, 6, 7, 8};
    AUTO_BUF struct buf buf = BUF_INIT;

    (void)state;
    buf_append(&buf, NULL, 0);
    buf_append_str(&buf, BOXCAR_NO_STR);
    assert_null(buf.data);
    buf_append_text(&buf, "one ");
    buf_append_str(&buf, BOXCAR_STR("two "));
    buf_append_format(&buf, "%d %0*d", 3, 200, 4);
    assert_int_equal(buf.len, 4 + 4 + 2 + 200);
    assert_memory_equal(buf.data, "one two 3 000", 13);
    buf_release(&buf);
    assert_null(buf.data);
    buf_append_u16(&buf, 0x1234);
    buf_append_u32(&buf, 0x89ABCDEF);
    buf_append_u64(&buf, UINT64_C(0x0102030405060708));
    assert_int_equal(buf.len, sizeof(numbers));
    assert_memory_equal(buf.data, numbers, sizeof(numbers));
}

static void buf_remembers_failure_and_keeps_what_it_had(void **state) {
    AUTO_BUF struct buf buf = BUF_INIT;

    (void)state;
    buf_append_text(&buf, "kept");
    assert_false(buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
    buf_append_text(&buf, "ignored");
    assert_string_equal(buf.data, "kept");
    buf_release(&buf);
    buf_append_text(&buf, "again");
    assert_string_equal(buf.data, "again");
}

static void text_is_copied_with_its_end(void **state) {
    AUTO_FREE char *copy = memory_copy_text(BOXCAR_STR("abc"));

    (void)state;
    assert_string_equal(copy, "abc");
    assert_null(memory_copy_text(BOXCAR_NO_STR));
}

static void errors_are_one_line_of_utf8(void **state) {
    boxcar_error err = {.must_roll_back = true, .sqlstate = "40001"};

    (void)state;
    assert_int_equal(error_set(&err, BOXCAR_E_STORE, "two\nlines\t%s", "\xFF\xC3\xA9\x01"), BOXCAR_E_STORE);
    assert_string_equal(err.message, "two lines ?\xC3\xA9 ");
    assert_string_equal(err.sqlstate, "");
    assert_string_equal(err.argument, "");
    assert_false(err.must_roll_back);
    assert_false(err.retryable);
}

static void long_errors_are_cut_between_characters(void **state) {
    boxcar_error err;
    char text[1200];

    (void)state;
    for (size_t i = 0; i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xC3\xA9", 3);
    error_set(&err, BOXCAR_E_STORE, "%s", text);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 2);
    assert_null(strchr(err.message, '?'));
}

static void an_error_may_be_made_from_itself(void **state) {
    boxcar_error err;

    (void)state;
    error_set(&err, BOXCAR_E_STORE, "inner");
    error_set(&err, BOXCAR_E_UNAVAILABLE, "outer: %s", err.message);
    assert_string_equal(err.message, "outer: inner");
    assert_true(err.retryable);
}

static void an_argument_is_located(void **state) {
    boxcar_error err;

    (void)state;
    assert_int_equal(error_invalid(&err, "topic", "topic is %s", "empty"), BOXCAR_E_INVALID);
    assert_int_equal(error_locate(BOXCAR_E_INVALID, "messages[3].", &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "messages[3].topic");
    error_locate(BOXCAR_E_INVALID, "a prefix that leaves no room for the rest of the argument....", &err);
    assert_int_equal(strlen(err.argument), sizeof(err.argument) - 1);
    assert_int_equal(error_locate(BOXCAR_OK, "x.", NULL), BOXCAR_OK);
    assert_int_equal(error_no_memory(NULL), BOXCAR_E_NO_MEMORY);
    assert_int_equal(error_invalid(NULL, "x", "y"), BOXCAR_E_INVALID);
}

struct sample {
    size_t struct_size;
    int first;
    int second;
};

static void options_of_an_older_program_keep_the_new_defaults(void **state) {
    struct sample options = {sizeof(options), 1, 2}, given = {offsetof(struct sample, second), 10, 20};
    boxcar_error err;

    (void)state;
    assert_int_equal(options_read(&options, sizeof(options), &given, "options", &err), BOXCAR_OK);
    assert_int_equal(options.struct_size, sizeof(options));
    assert_int_equal(options.first, 10);
    assert_int_equal(options.second, 2);
}

/* BX-011 */
static void options_without_or_beyond_their_size_are_refused(void **state) {
    struct sample options = {sizeof(options), 1, 2}, given = {0, 10, 20};
    boxcar_error err;

    (void)state;
    assert_int_equal(options_read(&options, sizeof(options), &given, "options", &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "options");
    given.struct_size = sizeof(given) + 1;
    assert_int_equal(options_read(&options, sizeof(options), &given, "options", &err), BOXCAR_E_INVALID);
    assert_int_equal(options_read(&options, sizeof(options), NULL, "options", &err), BOXCAR_E_INVALID);
    assert_int_equal(options.first, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(arena_refuses_sizes_that_cannot_be),
        cmocka_unit_test(array_that_grows_keeps_what_is_in_it),
        cmocka_unit_test(array_of_large_items_and_one_that_cannot_be),
        cmocka_unit_test(list_grows_by_empty_items_and_can_be_filled_anew),
        cmocka_unit_test(arena_copies_text_with_a_nul_behind),
        cmocka_unit_test(arena_takes_over_what_another_has),
        cmocka_unit_test(arena_releases_what_was_attached_exactly_once),
        cmocka_unit_test(arena_can_be_used_again_after_release),
        cmocka_unit_test(buf_grows_and_stays_terminated),
        cmocka_unit_test(buf_appends_every_kind),
        cmocka_unit_test(buf_remembers_failure_and_keeps_what_it_had),
        cmocka_unit_test(text_is_copied_with_its_end),
        cmocka_unit_test(errors_are_one_line_of_utf8),
        cmocka_unit_test(long_errors_are_cut_between_characters),
        cmocka_unit_test(an_error_may_be_made_from_itself),
        cmocka_unit_test(an_argument_is_located),
        cmocka_unit_test(options_of_an_older_program_keep_the_new_defaults),
        cmocka_unit_test(options_without_or_beyond_their_size_are_refused),
    };

    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
