/* Messages with bad fields: each gets an error that names the argument. */
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/limits/limits.h"
#include "long_texts.h"

static boxcar_new_message good_message(void) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

    message.topic = BOXCAR_STR("orders.paid");
    message.payload = BOXCAR_STR("{}");
    return message;
}

static void assert_accepted(const boxcar_new_message *message) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (limits_check_new_message(BOXCAR_OUTBOX, message, &err) != BOXCAR_OK)
        fail_msg("refused: %s", err.message);
}

static void assert_refused(const boxcar_new_message *message, const char *argument) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    char located[80];

    assert_int_equal(limits_check_new_message(BOXCAR_OUTBOX, message, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
    assert_non_null(strstr(err.message, argument));
    assert_non_null(strstr(err.message, ": ")); /* the remedy follows */
    assert_int_equal(err.status, BOXCAR_E_INVALID);
    assert_false(err.retryable);
    assert_int_equal(
        error_locate_item(limits_check_new_message(BOXCAR_OUTBOX, message, &err), "messages", 3, &err),
        BOXCAR_E_INVALID);
    snprintf(located, sizeof(located), "messages[3].%s", argument);
    assert_string_equal(err.argument, located);
    assert_int_equal(limits_check_new_message(BOXCAR_OUTBOX, message, NULL), BOXCAR_E_INVALID);
}

/* OBX-006, OBX-007, OBX-009, OBX-011, BX-011 */
static void messages_within_the_limits_are_accepted(void **state) {
    boxcar_new_message message = good_message();

    (void)state;
    assert_accepted(&message);
    message.payload = BOXCAR_STR("");
    message.topic = ascii(255);
    message.correlation_id = multi(255);
    message.stream = multi(255);
    message.headers = BOXCAR_STR("{\"a\": \"\", \"\": \"b\"}");
    message.key = multi(1024);
    message.due_at = LIMITS_TIME_MAX;
    message.ttl_ms = BOXCAR_DELAY_MS_MAX;
    message.max_attempts = BOXCAR_MAX_ATTEMPTS_MAX;
    assert_accepted(&message);
    message.topic = multi(255);
    message.correlation_id = message.stream = BOXCAR_STR("");
    message.due_at = 0;
    assert_accepted(&message);
    message.due_at = BOXCAR_TIME_NONE;
    message.delay_ms = BOXCAR_DELAY_MS_MAX;
    assert_accepted(&message);
}

/* OBX-004, OBX-007, BX-011 */
static void bad_topics_are_refused(void **state) {
    const boxcar_str bad[] = {BOXCAR_NO_STR,      BOXCAR_STR(""),     ascii(256),
                              multi(256),         BOXCAR_STR("a\0b"), BOXCAR_STR("\0"),
                              BOXCAR_STR("\xFF"), BOXCAR_STR("\xC3"), {NULL, 3}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        boxcar_new_message message = good_message();
        message.topic = bad[i];
        assert_refused(&message, "topic");
    }
}

static void an_empty_topic_is_told_what_to_give(void **state) {
    boxcar_error err;

    (void)state;
    limits_check_topic(BOXCAR_STR(""), "topic", &err);
    assert_string_equal(err.message, "topic is empty: give 1 to 255 characters");
}

/* OBX-005, BX-010, BX-011 */
static void bad_payloads_are_refused_and_never_shown(void **state) {
    const boxcar_str bad[] = {BOXCAR_NO_STR, BOXCAR_STR("secret\0"), BOXCAR_STR("secret\xFF"), {NULL, 1}};
    boxcar_error err;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        boxcar_new_message message = good_message();
        message.payload = bad[i];
        assert_refused(&message, "payload");
        limits_check_new_message(BOXCAR_OUTBOX, &message, &err);
        assert_null(strstr(err.message, "secret"));
    }
}

/* OBX-009, BX-011 */
static void bad_correlation_ids_and_streams_are_refused(void **state) {
    const boxcar_str bad[] = {
        ascii(256), multi(256), BOXCAR_STR("a\0b"), BOXCAR_STR("\xED\xA0\x80"), {NULL, 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        boxcar_new_message message = good_message();
        message.correlation_id = bad[i];
        assert_refused(&message, "correlation_id");
        message = good_message();
        message.stream = bad[i];
        assert_refused(&message, "stream");
    }
}

/* BX-011 */
static void bad_headers_are_refused(void **state) {
    static const boxcar_str bad[] = {
        {"", 0},
        {"x", 1},
        {"{", 1},
        {"[]", 2},
        {"\"a\"", 3},
        {"null", 4},
        {"{\"a\": 1}", 8},
        {"{\"a\": null}", 11},
        {"{\"a\": {}}", 9},
        {"{\"a\": [\"b\"]}", 12},
        {"{\"a\": \"b\"} x", 12},
        {"{\"a\": \"\\u0000\"}", 15},
        {"{\"a\\u0000\": \"\"}", 15},
        {"{\"a\": \"\0\"}", 10},
        {"{\"a\": \"\xFF\"}", 10},
        {"{\"a\": \"1\", \"a\": \"2\"}", 20},
        {"{\"a\": \"\\ud800\"}", 15},
        {"{'a': 'b'}", 10},
        {NULL, 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        boxcar_new_message message = good_message();
        message.headers = bad[i];
        assert_refused(&message, "headers");
    }
}

/* BX-011 */
static void numbers_out_of_range_are_refused(void **state) {
    static const int64_t bad[] = {-1, BOXCAR_DELAY_MS_MAX + 1, INT64_MIN, INT64_MAX};
    static const int bad_attempts[] = {-1, BOXCAR_MAX_ATTEMPTS_MAX + 1, INT_MIN, INT_MAX};
    static const boxcar_time bad_times[] = {-1, LIMITS_TIME_MAX + 1, INT64_MAX, INT64_MIN + 1};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        boxcar_new_message message = good_message();
        message.delay_ms = bad[i];
        assert_refused(&message, "delay_ms");
        message = good_message();
        message.ttl_ms = bad[i];
        assert_refused(&message, "ttl_ms");
        message = good_message();
        message.max_attempts = bad_attempts[i];
        assert_refused(&message, "max_attempts");
        message = good_message();
        message.due_at = bad_times[i];
        assert_refused(&message, "due_at");
    }
}

/* BX-011, BX-027 */
static void things_that_exclude_each_other_are_refused_together(void **state) {
    boxcar_new_message message = good_message();

    (void)state;
    message.due_at = 1;
    message.delay_ms = 1;
    assert_refused(&message, "delay_ms");
    message = good_message();
    message.key = BOXCAR_STR("k");
    message.message_id.uuid.bytes[0] = 1;
    assert_refused(&message, "key");
    message = good_message();
    message.unique = true;
    assert_refused(&message, "unique");
}

/* BX-011: each box has fields of its own. */
static void fields_of_the_other_box_are_refused(void **state) {
    boxcar_new_message outbox = good_message(), inbox = good_message(), bad;
    boxcar_error err;

    (void)state;
    inbox.source = inbox.external_id = BOXCAR_STR("s");
    assert_int_equal(limits_check_new_message(BOXCAR_INBOX, &inbox, &err), BOXCAR_OK);
    assert_refused(&inbox, "source");
    assert_int_equal(limits_check_new_message(BOXCAR_INBOX, &outbox, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "source");
    bad = inbox;
    bad.key = BOXCAR_STR("k");
    assert_int_equal(limits_check_new_message(BOXCAR_INBOX, &bad, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "key");
    bad = inbox;
    bad.join_id.uuid.bytes[0] = 1;
    assert_int_equal(limits_check_new_message(BOXCAR_INBOX, &bad, &err), BOXCAR_E_INVALID);
    bad = inbox;
    bad.message_id.uuid.bytes[0] = 1;
    assert_int_equal(limits_check_new_message(BOXCAR_INBOX, &bad, &err), BOXCAR_E_INVALID);
    bad = inbox;
    bad.unique = true;
    assert_int_equal(limits_check_new_message(BOXCAR_INBOX, &bad, &err), BOXCAR_E_INVALID);
}

/* BX-011, BX-027 */
static void bad_keys_are_refused(void **state) {
    const boxcar_str bad[] = {BOXCAR_STR(""),   ascii(1025),        multi(1025),
                              BOXCAR_STR("\0"), BOXCAR_STR("\xC0"), {NULL, 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        boxcar_new_message message = good_message();
        message.key = bad[i];
        assert_refused(&message, "key");
    }
}

static void a_reference_names_exactly_one_id(void **state) {
    boxcar_message_ref by_work_id = {.work_id = {1}}, both = {.work_id = {1}, .message_id = {{{1}}}};
    boxcar_message_ref neither = {.work_id = {0}}, negative = {.work_id = {-1}};
    boxcar_error err;

    (void)state;
    assert_int_equal(limits_check_ref(by_work_id, "ref", &err), BOXCAR_OK);
    assert_int_equal(limits_check_ref((boxcar_message_ref){.message_id = {{{1}}}}, "ref", &err), BOXCAR_OK);
    assert_int_equal(limits_check_ref(both, "ref", &err), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_ref(neither, "ref", &err), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_ref(negative, "ref", &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "ref");
}

/* BX-011 */
static void bad_message_ids_are_refused_by_index(void **state) {
    const boxcar_message_id ids[2] = {{{{1}}}, {{{0}}}};
    boxcar_error err;

    (void)state;
    assert_int_equal(limits_check_message_ids(ids, 1, &err), BOXCAR_OK);
    assert_int_equal(limits_check_message_ids(NULL, 0, &err), BOXCAR_OK);
    assert_int_equal(limits_check_message_ids(ids, 2, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "message_ids[1]");
    assert_int_equal(limits_check_message_ids(NULL, 1, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "message_ids");
    assert_int_equal(limits_check_message_ids(ids, SIZE_MAX, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "count");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_within_the_limits_are_accepted),
        cmocka_unit_test(bad_topics_are_refused),
        cmocka_unit_test(an_empty_topic_is_told_what_to_give),
        cmocka_unit_test(bad_payloads_are_refused_and_never_shown),
        cmocka_unit_test(bad_correlation_ids_and_streams_are_refused),
        cmocka_unit_test(bad_headers_are_refused),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(things_that_exclude_each_other_are_refused_together),
        cmocka_unit_test(fields_of_the_other_box_are_refused),
        cmocka_unit_test(bad_keys_are_refused),
        cmocka_unit_test(a_reference_names_exactly_one_id),
        cmocka_unit_test(bad_message_ids_are_refused_by_index),
    };
    return cmocka_run_group_tests(tests, fill_long_texts, NULL);
}
