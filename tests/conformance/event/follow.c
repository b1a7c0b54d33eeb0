/* Following events of all streams in the order of positions (BX-066). What only overlapping transactions can
 * do to that order is in postgres.c, many at once in race.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

#define ANY BOXCAR_ANY_VERSION

/* BX-066 */
static void positions_are_1_2_3_across_streams(void **state) {
    struct fixture *f = *state;
    assert_int_equal(last_position(f), 0);
    for (int i = 0; i < 12; i++)
        append(f, i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c", ANY, "p");
    assert_sequence(f, 12);
    append_many(f, "b", 5);
    assert_sequence(f, 17);
}

/* BX-066 */
static void follower_goes_on_behind_what_it_has_seen(void **state) {
    struct fixture *f = *state;
    append_many(f, "s", 5);
    boxcar_event_list *list = read_all(f, 0, 2);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->position, 2);
    boxcar_list_free(list);
    list = read_all(f, 2, 100);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->items[0]->position, 3);
    assert_int_equal(list->items[0]->version, 3);
    assert_int_equal(list->position, 5);
    boxcar_list_free(list);
    list = read_all(f, 5, 100);
    assert_int_equal(list->count, 0);
    assert_int_equal(list->position, 5);
    boxcar_list_free(list);
    append(f, "t", ANY, "p");
    list = read_all(f, 5, 100);
    assert_int_equal(list->count, 1);
    assert_int_equal(list->items[0]->position, 6);
    assert_text(list->items[0]->stream, "t");
    boxcar_list_free(list);
}

#define MIB ((size_t)1024 * 1024)

static void append_large(struct fixture *f, const char *type, size_t size, boxcar_str headers) {
    boxcar_new_event event = new_event(type, NULL);
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    event.payload = (boxcar_str){text, size};
    event.headers = headers;
    append_this(f, "s", ANY, &event);
    free(text);
}

/* Five of 20 MiB, one that has more than a page by itself, and a small one. */
static void append_more_than_a_page(struct fixture *f) {
    for (int i = 0; i < 5; i++)
        append_large(f, "Large", 20 * MIB, BOXCAR_NO_STR);
    append_large(f, "Large", 64 * MIB, BOXCAR_STR("{\"a\": \"b\"}"));
    append_large(f, "Large", 1, BOXCAR_NO_STR);
}

static const size_t PAGES[] = {3, 2, 1, 1, 0};

/* What a reader holds in memory is bounded. Only an empty page is the end. BX-066, BX-015 */
static void page_of_a_stream_is_bounded_in_bytes(void **state) {
    struct fixture *f = *state;
    append_more_than_a_page(f);
    int64_t version = 0;
    for (size_t page = 0; page < sizeof(PAGES) / sizeof(PAGES[0]); page++) {
        boxcar_event_list *list = read_stream(f, "s", version + 1, 1000);
        assert_int_equal(list->count, PAGES[page]);
        for (size_t i = 0; i < list->count; i++)
            assert_int_equal(list->items[i]->version, ++version);
        boxcar_list_free(list);
    }
    assert_int_equal(version, 7);
}

/* Everybody's or a choice: nothing is passed over. The end is where the position stays. BX-066, BX-015 */
static void page_of_a_follower_is_bounded_in_bytes(void **state) {
    struct fixture *f = *state;
    const boxcar_str type = BOXCAR_STR("Lar*");
    append_more_than_a_page(f);
    for (int choice = 0; choice < 2; choice++) {
        boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
        filter.types = &type;
        filter.type_count = (size_t)choice;
        for (size_t page = 0; page < sizeof(PAGES) / sizeof(PAGES[0]); page++) {
            boxcar_event_list *list = read_filtered(f, &filter);
            assert_int_equal(list->count, PAGES[page]);
            for (size_t i = 0; i < list->count; i++)
                assert_int_equal(list->items[i]->position, ++filter.after);
            assert_int_equal(list->position, filter.after);
            boxcar_list_free(list);
        }
        assert_int_equal(filter.after, 7);
    }
}

/* BX-066 */
static void position_beyond_the_end_finds_nothing_and_stays(void **state) {
    struct fixture *f = *state;
    append(f, "s", ANY, "p");
    static const int64_t FAR[] = {1, 2, 1000, INT64_MAX / 2, INT64_MAX};
    for (size_t i = 0; i < sizeof(FAR) / sizeof(FAR[0]); i++) {
        boxcar_event_list *list = read_all(f, FAR[i], 10000);
        assert_int_equal(list->count, 0);
        assert_int_equal(list->position, FAR[i]);
        boxcar_list_free(list);
    }
}

/* BX-066 */
static void positions_are_the_same_for_everybody_and_for_ever(void **state) {
    struct fixture *f = *state;
    boxcar_store *own = f->store, *other = fixture_open(f);
    boxcar_event_id ids[9];
    for (int i = 0; i < 9; i++) {
        boxcar_new_event event = new_event("T", "p");
        event.event_id = ids[i] = (boxcar_event_id){boxcar_uuid_new()};
        append_this(f, i % 2 ? "a" : "b", ANY, &event);
        if (i % 4 == 0)
            boxcar_list_free(read_all(f, 0, 10)); /* positions are given out in several steps */
    }
    for (int turn = 0; turn < 2; turn++) {
        f->store = turn ? other : own;
        for (int after = 0; after < 9; after++) {
            boxcar_event_list *list = read_all(f, after, 3);
            assert_same_event_id(list->items[0]->event_id, ids[after]);
            boxcar_list_free(list);
        }
    }
    f->store = own;
    boxcar_store_close(other);
    boxcar_event_list *list = read_stream(f, "a", 1, 10);
    for (size_t i = 0; i < list->count; i++)
        assert_int_equal(list->items[i]->position, 2 * i + 2);
    boxcar_list_free(list);
}

static size_t count_filtered(struct fixture *f, boxcar_event_filter *filter, const char *const *types,
                             const char *stream) {
    boxcar_str patterns[4];
    filter->types = patterns;
    filter->type_count = 0;
    for (; types && types[filter->type_count]; filter->type_count++)
        patterns[filter->type_count] = boxcar_str_of(types[filter->type_count]);
    filter->stream = boxcar_str_of(stream);
    boxcar_event_list *list = read_filtered(f, filter);
    size_t count = list->count;
    for (size_t i = 1; i < count; i++)
        assert_true(list->items[i]->position > list->items[i - 1]->position);
    boxcar_list_free(list);
    return count;
}

/* BX-066 */
static void follower_may_want_only_some_types_and_streams(void **state) {
    struct fixture *f = *state;
    static const char *const WRITTEN[][2] = {{"order-1", "order.placed"}, {"order-1", "order.paid"},
                                             {"order-2", "order.placed"}, {"cart-1", "cart.filled"},
                                             {"order-2", "order"},        {"order-1", "ordered*"},
                                             {"Order-1", "order.paid"},   {"cart-1", "order.paid"}};
    for (size_t i = 0; i < 8; i++) {
        boxcar_new_event event = new_event(WRITTEN[i][1], "p");
        append_this(f, WRITTEN[i][0], ANY, &event);
    }
    static const struct {
        const char *types[4];
        const char *stream;
        size_t count;
    } CASES[] = {
        {{NULL}, NULL, 8},
        {{"order.paid", NULL}, NULL, 3},
        {{"order*", NULL}, NULL, 7},
        {{"order.placed", "cart*", NULL}, NULL, 3},
        {{"*", NULL}, NULL, 8},
        {{"nothing", NULL}, NULL, 0},
        {{NULL}, "order-1", 3},
        {{NULL}, "order-*", 5},
        {{NULL}, "*", 8},
        {{"order.paid", NULL}, "order-*", 1},
        {{"order.p*", "cart.filled", NULL}, "cart-1", 2},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
        assert_int_equal(count_filtered(f, &filter, CASES[i].types, CASES[i].stream), CASES[i].count);
        filter.after = 8;
        assert_int_equal(count_filtered(f, &filter, CASES[i].types, CASES[i].stream), 0);
    }
}

/* BX-066 */
static void filtered_pages_tell_how_far_they_looked(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 10; i++) {
        boxcar_new_event event = new_event(i % 5 == 2 ? "wanted" : "other", "p"); /* at 3 and 8 */
        append_this(f, "s", ANY, &event);
    }
    boxcar_str type = BOXCAR_STR("wanted");
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    filter.types = &type;
    filter.type_count = 1;
    filter.limit = 1;
    static const int64_t LOOKED[] = {3, 8, 10, 10};
    for (int i = 0; i < 4; i++) {
        boxcar_event_list *list = read_filtered(f, &filter);
        assert_int_equal(list->count, i < 2);
        assert_int_equal(list->position, LOOKED[i]);
        filter.after = list->position;
        boxcar_list_free(list);
    }
}

/* BX-066: one call looks through a bounded number of events, and a follower gets past them all the same. */
static void needle_behind_many_others_is_found(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 4; i++)
        append_many(f, "hay", 10000);
    boxcar_new_event needle = new_event("needle", "p");
    append_this(f, "s", ANY, &needle);
    boxcar_str type = BOXCAR_STR("needle");
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    filter.types = &type;
    filter.type_count = 1;
    int calls = 0;
    for (size_t found = 0; found == 0; calls++) {
        boxcar_event_list *list = read_filtered(f, &filter);
        found = list->count;
        assert_true(found == 1 || list->position > filter.after);
        if (found == 1)
            assert_int_equal(list->items[0]->position, 40001);
        filter.after = list->position;
        boxcar_list_free(list);
    }
    assert_true(calls > 1);
    assert_int_equal(filter.after, 40001);
}

static const struct CMUnitTest TESTS[] = {
    TEST(positions_are_1_2_3_across_streams),
    TEST(follower_goes_on_behind_what_it_has_seen),
    TEST(page_of_a_stream_is_bounded_in_bytes),
    TEST(page_of_a_follower_is_bounded_in_bytes),
    TEST(position_beyond_the_end_finds_nothing_and_stays),
    TEST(positions_are_the_same_for_everybody_and_for_ever),
    TEST(follower_may_want_only_some_types_and_streams),
    TEST(filtered_pages_tell_how_far_they_looked),
    TEST(needle_behind_many_others_is_found),
};

const struct suite EVENT_FOLLOW_SUITE = SUITE(TESTS);
