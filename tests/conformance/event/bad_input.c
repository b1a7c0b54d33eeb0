/* Bad arguments of the calls about events: a typed error that names the argument, and nothing changes
 * (BX-011, BX-066). */
#include <stdlib.h>
#include <string.h>

#include "events.h"

#define ANY BOXCAR_ANY_VERSION

/* `characters` times a character of three bytes. The caller frees it. */
static char *long_text(size_t characters) {
    char *text = malloc(3 * characters + 1);
    assert_non_null(text);
    for (size_t i = 0; i < characters; i++)
        memcpy(text + 3 * i, "\xe2\x82\xac", 3);
    text[3 * characters] = '\0';
    return text;
}

static const boxcar_str BAD_TEXTS[] = {
    {"a\0b", 3}, {"\xff", 1}, {"\xc3", 1}, {"\xed\xa0\x80", 3}, {"\xc0\x80", 2}};
enum { BAD_COUNT = sizeof(BAD_TEXTS) / sizeof(BAD_TEXTS[0]) };

static void assert_refused(struct fixture *f, boxcar_str stream, int64_t expected,
                           const boxcar_new_event *event, const char *argument) {
    boxcar_appended appended = {.struct_size = sizeof(boxcar_appended), .version = -7};
    ASSERT_INVALID(f, argument,
                   boxcar_event_append(f->store, stream, expected, event, 1, &appended, &f->err));
    assert_int_equal(appended.version, -7);
    assert_false(f->err.retryable);
}

static void assert_nothing_there(struct fixture *f) {
    assert_int_equal(
        fixture_sql_number(f, "select (select count(*) from boxcar_event) + count(*) from boxcar_message",
                           "select (select count(*) from event) + count(*) from message"),
        0);
}

static void streams_and_types_have_1_to_255_characters(void **state) {
    struct fixture *f = *state;
    char *longest = long_text(255), *too_long = long_text(256);
    boxcar_new_event event = new_event("T", "p");
    boxcar_event_list *list = NULL;
    boxcar_str bad[] = {boxcar_str_of(too_long), BOXCAR_STR(""), BOXCAR_NO_STR};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        boxcar_new_event typed = new_event("T", "p");
        typed.type = bad[i];
        assert_refused(f, bad[i], ANY, &event, "stream");
        assert_refused(f, BOXCAR_STR("s"), ANY, &typed, "type");
        ASSERT_INVALID(f, "stream", boxcar_event_read(f->store, bad[i], 1, 10, &list, &f->err));
    }
    assert_nothing_there(f);
    event.type = boxcar_str_of(longest);
    event.topic = boxcar_str_of(longest);
    append_this(f, longest, 0, &event);
    list = read_stream(f, longest, 1, 1);
    assert_text(list->items[0]->type, longest);
    assert_text(list->items[0]->stream, longest);
    boxcar_list_free(list);
    free(longest);
    free(too_long);
}

static void texts_must_be_utf_8_without_nul(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < BAD_COUNT; i++) {
        static const size_t AT[] = {offsetof(boxcar_new_event, type), offsetof(boxcar_new_event, payload),
                                    offsetof(boxcar_new_event, correlation_id),
                                    offsetof(boxcar_new_event, headers), offsetof(boxcar_new_event, topic)};
        static const char *const NAMES[] = {"type", "payload", "correlation_id", "headers", "topic"};
        boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
        boxcar_event_list *list = NULL;
        boxcar_new_event event = new_event("T", "p");
        assert_refused(f, BAD_TEXTS[i], ANY, &event, "stream");
        for (size_t k = 0; k < sizeof(AT) / sizeof(AT[0]); k++) {
            event = new_event("T", "p");
            *(boxcar_str *)((char *)&event + AT[k]) = BAD_TEXTS[i];
            assert_refused(f, BOXCAR_STR("s"), ANY, &event, NAMES[k]);
        }
        filter.stream = BAD_TEXTS[i];
        ASSERT_INVALID(f, "stream", boxcar_event_read_all(f->store, &filter, &list, &f->err));
        filter = BOXCAR_EVENT_FILTER_INIT;
        filter.types = &BAD_TEXTS[i];
        filter.type_count = 1;
        ASSERT_INVALID(f, "types[0]", boxcar_event_read_all(f->store, &filter, &list, &f->err));
    }
    assert_nothing_there(f);
}

static void rest_of_an_event_is_checked_as_a_messages_is(void **state) {
    struct fixture *f = *state;
    char *too_long = long_text(256);
    boxcar_new_event event = new_event("T", "p");
    event.payload = BOXCAR_NO_STR;
    assert_refused(f, BOXCAR_STR("s"), ANY, &event, "payload");
    event = new_event("T", "p");
    event.correlation_id = boxcar_str_of(too_long);
    assert_refused(f, BOXCAR_STR("s"), ANY, &event, "correlation_id");
    event = new_event("T", "p");
    event.topic = boxcar_str_of(too_long);
    assert_refused(f, BOXCAR_STR("s"), ANY, &event, "topic");
    static const char *const HEADERS[] = {"", "[]", "{\"a\": 1}", "{\"a\": \"1\", \"a\": \"2\"}", "{"};
    for (size_t i = 0; i < sizeof(HEADERS) / sizeof(HEADERS[0]); i++) {
        event = new_event("T", "p");
        event.headers = boxcar_str_of(HEADERS[i]);
        assert_refused(f, BOXCAR_STR("s"), ANY, &event, "headers");
    }
    event = new_event("T", "p");
    event.struct_size = 0;
    assert_refused(f, BOXCAR_STR("s"), ANY, &event, "events");
    event.struct_size = sizeof(event) + 1;
    assert_refused(f, BOXCAR_STR("s"), ANY, &event, "events");
    assert_nothing_there(f);
    free(too_long);
}

static void numbers_out_of_range_are_refused(void **state) {
    struct fixture *f = *state;
    boxcar_new_event event = new_event("T", "p");
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    boxcar_event_list *list = NULL;
    assert_refused(f, BOXCAR_STR("s"), -2, &event, "expected_version");
    assert_refused(f, BOXCAR_STR("s"), INT64_MIN, &event, "expected_version");
    static const int LIMITS[] = {0, -1, 10001, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof(LIMITS) / sizeof(LIMITS[0]); i++) {
        filter.limit = LIMITS[i];
        ASSERT_INVALID(f, "limit", boxcar_event_read_all(f->store, &filter, &list, &f->err));
        ASSERT_INVALID(f, "limit",
                       boxcar_event_read(f->store, BOXCAR_STR("s"), 1, LIMITS[i], &list, &f->err));
    }
    filter = BOXCAR_EVENT_FILTER_INIT;
    filter.after = -1;
    ASSERT_INVALID(f, "after", boxcar_event_read_all(f->store, &filter, &list, &f->err));
    ASSERT_INVALID(f, "from_version", boxcar_event_read(f->store, BOXCAR_STR("s"), -1, 1, &list, &f->err));
    assert_null(list);
    assert_nothing_there(f);
}

static void bad_one_among_many_is_named_and_nothing_is_stored(void **state) {
    struct fixture *f = *state;
    boxcar_new_event events[3] = {new_event("T", "p"), new_event("T", "p"), new_event("", "p")};
    ASSERT_INVALID(f, "events[2].type",
                   boxcar_event_append(f->store, BOXCAR_STR("s"), ANY, events, 3, NULL, &f->err));
    ASSERT_INVALID(f, "count", boxcar_event_append(f->store, BOXCAR_STR("s"), ANY, events, 0, NULL, &f->err));
    ASSERT_INVALID(f, "count",
                   boxcar_event_append(f->store, BOXCAR_STR("s"), ANY, events, 10001, NULL, &f->err));
    ASSERT_INVALID(f, "events", boxcar_event_append(f->store, BOXCAR_STR("s"), ANY, NULL, 1, NULL, &f->err));
    assert_nothing_there(f);
}

/* BX-066 */
static void payload_of_64_mebibytes_is_an_event_like_any_other(void **state) {
    struct fixture *f = *state;
    size_t size = (size_t)64 << 20;
    char *payload = malloc(size);
    assert_non_null(payload);
    for (size_t i = 0; i < size; i++)
        payload[i] = (char)('a' + (i * 7 + i / 251) % 26);
    boxcar_new_event event = new_event("T", "");
    event.payload = (boxcar_str){payload, size};
    append_this(f, "s", 0, &event);
    boxcar_event_list *list = read_all(f, 0, 1);
    boxcar_str read = list->items[0]->payload;
    assert_int_equal(read.len, size);
    assert_memory_equal(read.data, payload, size);
    boxcar_list_free(list);
    free(payload);
}

static const struct CMUnitTest TESTS[] = {
    TEST(streams_and_types_have_1_to_255_characters),
    TEST(texts_must_be_utf_8_without_nul),
    TEST(rest_of_an_event_is_checked_as_a_messages_is),
    TEST(numbers_out_of_range_are_refused),
    TEST(bad_one_among_many_is_named_and_nothing_is_stored),
    TEST(payload_of_64_mebibytes_is_an_event_like_any_other),
};

const struct suite EVENT_BAD_INPUT_SUITE = SUITE(TESTS);
