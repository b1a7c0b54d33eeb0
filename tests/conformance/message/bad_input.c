/* Bad arguments: a clear typed error that names the argument, and nothing changes. */
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

/* `characters` times a character of three bytes. The caller frees it. */
static char *long_text(size_t characters) {
    char *text = malloc(3 * characters + 1);
    assert_non_null(text);
    for (size_t i = 0; i < characters; i++)
        memcpy(text + 3 * i, "\xe2\x82\xac", 3);
    text[3 * characters] = '\0';
    return text;
}

static void assert_refused(struct fixture *f, const boxcar_new_message *message, const char *argument) {
    boxcar_enqueued enqueued = {.work_id = {-1}};
    ASSERT_INVALID(f, argument, boxcar_enqueue(f->store, BOXCAR_OUTBOX, message, &enqueued, &f->err));
    assert_int_equal(enqueued.work_id.value, -1);
    assert_false(f->err.retryable);
}

static void assert_store_is_empty(struct fixture *f) {
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_message", "select count(*) from message"), 0);
}

/* OBX-004, OBX-007, BX-011 */
static void topic_must_have_1_to_255_characters(void **state) {
    struct fixture *f = *state;
    char *longest = long_text(255), *too_long = long_text(256);
    boxcar_new_message message = new_message("", "p");
    assert_refused(f, &message, "topic");
    message.topic = BOXCAR_NO_STR;
    assert_refused(f, &message, "topic");
    message.topic = boxcar_str_of(too_long);
    assert_refused(f, &message, "topic");
    assert_store_is_empty(f);
    message.topic = boxcar_str_of(longest);
    boxcar_message_list *list = find(f, enqueue_message(f, &message).work_id);
    assert_text(look(list)->topic, longest);
    boxcar_list_free(list);
    free(longest);
    free(too_long);
}

/* OBX-005, BX-011 */
static void payload_must_not_be_absent(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", NULL);
    assert_refused(f, &message, "payload");
    assert_store_is_empty(f);
}

/* `size` bytes. The caller frees it. */
static char *large_text(size_t size) {
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'x', size);
    text[size] = '\0';
    return text;
}

/* BX-011: the limits are settings, 64 MiB and 64 KiB by default. */
static void payload_and_headers_have_the_size_that_the_settings_allow(void **state) {
    struct fixture *f = *state;
    enum { PAYLOAD_MAX = 70000, HEADERS_MAX = 5000 };
    char *payload = large_text(PAYLOAD_MAX), *too_large = large_text(PAYLOAD_MAX + 1);
    char *headers = large_text(HEADERS_MAX);
    memcpy(headers, "{\"a\": \"", 7);
    memcpy(headers + HEADERS_MAX - 2, "\"}", 2);
    boxcar_new_message message = new_message("t", too_large);
    enqueue_message(f, &message);
    message.headers = boxcar_str_of(headers);
    enqueue_message(f, &message);
    set_setting(f, "payload_bytes_max", "70000");
    assert_refused(f, &message, "payload");
    message.payload = boxcar_str_of(payload);
    enqueue_message(f, &message);
    set_setting(f, "headers_bytes_max", "4999");
    assert_refused(f, &message, "headers");
    set_setting(f, "headers_bytes_max", "5000");
    enqueue_message(f, &message);
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;
    event.type = BOXCAR_STR("T");
    event.payload = boxcar_str_of(too_large);
    boxcar_appended appended = BOXCAR_APPENDED_INIT;
    ASSERT_INVALID(
        f, "payload",
        boxcar_event_append(f->store, BOXCAR_STR("s"), BOXCAR_ANY_VERSION, &event, 1, &appended, &f->err));
    event.payload = boxcar_str_of(payload);
    ASSERT_OK(
        f, boxcar_event_append(f->store, BOXCAR_STR("s"), BOXCAR_ANY_VERSION, &event, 1, &appended, &f->err));
    free(payload);
    free(too_large);
    free(headers);
}

/* OBX-009, BX-011 */
static void correlation_id_and_stream_have_at_most_255_characters(void **state) {
    struct fixture *f = *state;
    char *too_long = long_text(256);
    boxcar_new_message message = new_message("t", "p");
    message.correlation_id = boxcar_str_of(too_long);
    assert_refused(f, &message, "correlation_id");
    message.correlation_id = BOXCAR_NO_STR;
    message.stream = boxcar_str_of(too_long);
    assert_refused(f, &message, "stream");
    assert_store_is_empty(f);
    free(too_long);
}

/* BX-011 */
static void texts_must_be_utf_8_without_nul(void **state) {
    struct fixture *f = *state;
    static const boxcar_str BAD[] = {
        {"a\0b", 3}, {"\xff", 1}, {"\xc3", 1}, {"\xed\xa0\x80", 3}, {"\xc0\x80", 2}};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        boxcar_new_message topic = new_message("t", "p"), payload = topic, correlation_id = topic,
                           stream = topic, key = topic, headers = topic;
        topic.topic = payload.payload = correlation_id.correlation_id = stream.stream = key.key =
            headers.headers = BAD[i];
        assert_refused(f, &topic, "topic");
        assert_refused(f, &payload, "payload");
        assert_refused(f, &correlation_id, "correlation_id");
        assert_refused(f, &stream, "stream");
        assert_refused(f, &key, "key");
        assert_refused(f, &headers, "headers");
    }
    assert_store_is_empty(f);
}

/* BX-011 */
static void headers_must_be_a_json_object_of_strings(void **state) {
    struct fixture *f = *state;
    static const char *const BAD[] = {
        "{", "[]", "\"x\"", "{\"a\": 1}", "{\"a\": null}", "{\"a\": {\"b\": \"c\"}}", "", "{\"a\": \"b\"} x"};
    boxcar_new_message message = new_message("t", "p");
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        message.headers = boxcar_str_of(BAD[i]);
        assert_refused(f, &message, "headers");
    }
    assert_store_is_empty(f);
}

/* BX-011 */
static void numbers_of_a_new_message_must_be_in_range(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    static const int64_t BAD_MS[] = {-1, BOXCAR_DELAY_MS_MAX + 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < 4; i++) {
        message.delay_ms = BAD_MS[i];
        assert_refused(f, &message, "delay_ms");
        message.delay_ms = 0;
        message.ttl_ms = BAD_MS[i];
        assert_refused(f, &message, "ttl_ms");
        message.ttl_ms = 0;
    }
    message.max_attempts = -1;
    assert_refused(f, &message, "max_attempts");
    message.max_attempts = BOXCAR_MAX_ATTEMPTS_MAX + 1;
    assert_refused(f, &message, "max_attempts");
    assert_store_is_empty(f);
}

/* BX-011 */
static void due_time_must_be_a_time_of_ours_and_the_only_one(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    static const boxcar_time BAD[] = {-1, INT64_MAX, INT64_MIN + 1, INT64_C(253402300800000000)};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        message.due_at = BAD[i];
        assert_refused(f, &message, "due_at");
    }
    message.due_at = 1;
    message.delay_ms = 1;
    assert_refused(f, &message, "delay_ms");
    assert_store_is_empty(f);
}

/* BX-011, BX-027 */
static void key_must_not_be_empty_too_long_or_beside_an_id(void **state) {
    struct fixture *f = *state;
    char *too_long = long_text(1025);
    boxcar_new_message message = new_message("t", "p");
    message.key = BOXCAR_STR("");
    assert_refused(f, &message, "key");
    message.key = boxcar_str_of(too_long);
    assert_refused(f, &message, "key");
    message.key = BOXCAR_STR("k");
    message.message_id.uuid = boxcar_uuid_new();
    assert_refused(f, &message, "key");
    assert_store_is_empty(f);
    free(too_long);
}

static void assert_claim_refused(struct fixture *f, const boxcar_claimer *options, const char *argument) {
    boxcar_message_list *list = NULL;
    ASSERT_INVALID(f, argument, boxcar_claim(f->store, options, &list, &f->err));
    assert_null(list);
}

/* BX-011, OBX-026 */
static void lease_batch_size_and_owner_of_a_claim_must_be_in_range(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    boxcar_claimer good = BOXCAR_CLAIMER_INIT;
    good.owner = f->owner;
    static const int64_t BAD_LEASES[] = {0, -1, 99, BOXCAR_LEASE_MS_MAX + 1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(BAD_LEASES) / sizeof(BAD_LEASES[0]); i++) {
        boxcar_claimer options = good;
        options.lease_ms = BAD_LEASES[i];
        assert_claim_refused(f, &options, "lease_ms");
    }
    static const int BAD_SIZES[] = {0, -1, 10001, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof(BAD_SIZES) / sizeof(BAD_SIZES[0]); i++) {
        boxcar_claimer options = good;
        options.batch_size = BAD_SIZES[i];
        assert_claim_refused(f, &options, "batch_size");
    }
    boxcar_claimer nobody = good;
    nobody.owner = (boxcar_owner){0};
    assert_claim_refused(f, &nobody, "owner");
    assert_status(f, id, BOXCAR_READY);
}

/* BX-011 */
static void topics_of_a_claim_must_be_patterns(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    char *too_long = long_text(256);
    boxcar_str topics[2] = {BOXCAR_STR("t"), BOXCAR_STR("")};
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = f->owner;
    options.topics = topics;
    options.topic_count = 2;
    assert_claim_refused(f, &options, "topics[1]");
    topics[1] = boxcar_str_of(too_long);
    assert_claim_refused(f, &options, "topics[1]");
    topics[1] = BOXCAR_STR("\xff*");
    assert_claim_refused(f, &options, "topics[1]");
    topics[1] = BOXCAR_STR("orders.*.paid");
    assert_claim_refused(f, &options, "topics[1]");
    topics[1] = BOXCAR_STR("orders**");
    assert_claim_refused(f, &options, "topics[1]");
    assert_int_equal(stats_of(f).ready, 1);
    free(too_long);
}

/* BX-011 */
static void settlements_must_name_messages_and_sensible_delays(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    static const boxcar_settle_kind HOW[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_DEFER, BOXCAR_FAIL};
    for (size_t i = 0; i < 4; i++) {
        boxcar_settlement good = settlement_of(taken), list[2] = {good, good};
        size_t count = 99;
        list[1].work_id.value = 0;
        ASSERT_INVALID(f, "settlements[1].work_id",
                       boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), HOW[i], list, 2, NULL,
                                     &count, &f->err));
        list[1] = good;
        list[1].epoch.value = -1;
        ASSERT_INVALID(f, "settlements[1].epoch",
                       boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), HOW[i], list, 2, NULL,
                                     &count, &f->err));
        list[1] = good;
        list[1].delay_ms = BOXCAR_DELAY_MS_MAX + 1;
        ASSERT_INVALID(f, "settlements[1].delay_ms",
                       boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), HOW[i], list, 2, NULL,
                                     &count, &f->err));
        list[1] = good;
        list[1].error = (boxcar_str){"a\0b", 3};
        ASSERT_INVALID(f, "settlements[1].error",
                       boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), HOW[i], list, 2, NULL,
                                     &count, &f->err));
        boxcar_owner nobody = {0};
        ASSERT_INVALID(
            f, "owner",
            boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, nobody), HOW[i], &good, 1, NULL, &count, &f->err));
        assert_int_equal(count, 99);
    }
    boxcar_settlement settlement = settlement_of(taken);
    ASSERT_INVALID(f, "lease_ms",
                   boxcar_settle(f->store, CLAIMER_FOR(BOXCAR_OUTBOX, f->owner, 0), BOXCAR_RENEW, &settlement,
                                 1, NULL, NULL, &f->err));
    ASSERT_INVALID(f, "lease_ms",
                   boxcar_settle(f->store, CLAIMER_FOR(BOXCAR_OUTBOX, f->owner, INT64_C(1) << 31),
                                 BOXCAR_RENEW, &settlement, 1, NULL, NULL, &f->err));
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    assert_int_equal(retry_count_of(f, taken.work_id), 0);
}

/* BX-011 */
static void listings_must_be_in_range(void **state) {
    struct fixture *f = *state;
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_message_list *list = NULL;
    static const int BAD[] = {0, -1, BOXCAR_LIST_LIMIT_MAX + 1};
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    for (size_t i = 0; i < 3; i++) {
        options.limit = BAD[i];
        ASSERT_INVALID(f, "limit", boxcar_message_page(f->store, &options, &list, &f->err));
        ASSERT_INVALID(f, "limit",
                       boxcar_dead_page(f->store, &filter, BAD[i], (boxcar_work_id){0}, &list, &f->err));
    }
    boxcar_message_ref none = {.work_id = {0}},
                       both = {.work_id = {1}, .message_id = (boxcar_message_id){boxcar_uuid_new()}};
    ASSERT_INVALID(f, "ref", boxcar_message_find(f->store, BOXCAR_OUTBOX, none, &list, &f->err));
    ASSERT_INVALID(f, "ref", boxcar_message_find(f->store, BOXCAR_OUTBOX, both, &list, &f->err));
    ASSERT_INVALID(f, "ref", boxcar_message_cancel(f->store, BOXCAR_OUTBOX, none, &f->err));
    assert_null(list);
}

static const struct CMUnitTest TESTS[] = {
    TEST(topic_must_have_1_to_255_characters),
    TEST(payload_must_not_be_absent),
    TEST(payload_and_headers_have_the_size_that_the_settings_allow),
    TEST(correlation_id_and_stream_have_at_most_255_characters),
    TEST(texts_must_be_utf_8_without_nul),
    TEST(headers_must_be_a_json_object_of_strings),
    TEST(numbers_of_a_new_message_must_be_in_range),
    TEST(due_time_must_be_a_time_of_ours_and_the_only_one),
    TEST(key_must_not_be_empty_too_long_or_beside_an_id),
    TEST(lease_batch_size_and_owner_of_a_claim_must_be_in_range),
    TEST(topics_of_a_claim_must_be_patterns),
    TEST(settlements_must_name_messages_and_sensible_delays),
    TEST(listings_must_be_in_range),
};

const struct suite BAD_INPUT_SUITE = SUITE(TESTS);
