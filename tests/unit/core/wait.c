/* Waits: their payload, what they come to, and when they are looked at again. */
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "core/wait.h"

#define ID "0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69"

static void assert_text(boxcar_str text, const char *expected) {
    if (!expected) {
        assert_null(text.data);
        return;
    }
    assert_non_null(text.data);
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.data, expected, text.len);
}

/* JOIN-051 */
static void what_is_written_is_read_back(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_BUF struct buf payload = BUF_INIT;
    boxcar_new_wait new_wait = BOXCAR_NEW_WAIT_INIT;
    struct wait wait = {.correlation_id = BOXCAR_STR("kept"), .continuation_id = {{{5}}}};

    (void)state;
    new_wait.join_id.uuid.bytes[0] = 1;
    new_wait.allow_failures = true;
    new_wait.on_complete_topic = BOXCAR_STR("\xC3\xA9tl.done");
    new_wait.on_complete_payload = BOXCAR_STR("{\"a\": \"\\u0000 \\\" \x01\n\"}");
    new_wait.on_fail_topic = BOXCAR_STR("etl.failed");
    new_wait.on_fail_payload = BOXCAR_STR("\xF0\x9F\x98\x80");
    assert_int_equal(wait_format(&new_wait, &payload, NULL), BOXCAR_OK);
    assert_int_equal(wait_parse((boxcar_str){payload.data, payload.len}, &arena, &wait, NULL), BOXCAR_OK);
    assert_memory_equal(&wait.join_id, &new_wait.join_id, sizeof(wait.join_id));
    assert_true(wait.allow_failures);
    assert_true(str_equal(wait.on_complete_topic, new_wait.on_complete_topic));
    assert_true(str_equal(wait.on_complete_payload, new_wait.on_complete_payload));
    assert_true(str_equal(wait.on_fail_topic, new_wait.on_fail_topic));
    assert_true(str_equal(wait.on_fail_payload, new_wait.on_fail_payload));
    assert_text(wait.correlation_id, "kept");
    assert_int_equal(wait.continuation_id.uuid.bytes[0], 5);
}

/* JOIN-051 */
static void the_payload_is_json_with_the_contracts_names(void **state) {
    AUTO_BUF struct buf payload = BUF_INIT;
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;

    (void)state;
    assert_true(boxcar_uuid_parse(BOXCAR_STR(ID), &wait.join_id.uuid));
    wait.on_complete_topic = BOXCAR_STR("t");
    assert_int_equal(wait_format(&wait, &payload, NULL), BOXCAR_OK);
    assert_string_equal(payload.data, "{\"join_id\":\"" ID "\",\"fail_if_any_step_failed\":true,"
                                      "\"on_complete_topic\":\"t\",\"on_complete_payload\":\"\","
                                      "\"on_fail_topic\":null,\"on_fail_payload\":null}");
}

/* JOIN-054, BX-045 */
static void empty_payloads_are_payloads_and_an_empty_topic_is_none(void **state) {
    static const char *const same[] = {
        "{\"join_id\":\"" ID "\",\"on_complete_topic\":\"t\"}",
        "{\"join_id\":\"" ID "\",\"on_complete_topic\":\"t\",\"on_fail_topic\":null}",
        "{\"join_id\":\"" ID "\",\"on_complete_topic\":\"t\",\"on_fail_topic\":\"\"}",
        "{\"join_id\":\"" ID "\",\"on_complete_topic\":\"t\",\"on_complete_payload\":\"\"}",
        "{\"join_id\":\"" ID "\",\"on_complete_topic\":\"t\",\"on_complete_payload\":null,"
        "\"fail_if_any_step_failed\":null,\"on_fail_payload\":null}",
        " {\"more\": [1, {}], \"on_complete_topic\" : \"t\", \"join_id\" : \"" ID "\"} ",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct wait wait = {.allow_failures = true};

        assert_int_equal(wait_parse(boxcar_str_of(same[i]), &arena, &wait, NULL), BOXCAR_OK);
        assert_false(wait.allow_failures); /* left out it is the careful choice */
        assert_text(wait.on_complete_payload, "");
        assert_text(wait.on_fail_topic, NULL);
        assert_text(wait.on_fail_payload, "");
    }
}

/* Whether every field of this payload is read. */
static void assert_read(const char *payload) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct wait wait = {.allow_failures = false};
    char text[BOXCAR_UUID_TEXT_SIZE];

    assert_int_equal(wait_parse(boxcar_str_of(payload), &arena, &wait, NULL), BOXCAR_OK);
    boxcar_uuid_format(wait.join_id.uuid, text);
    assert_string_equal(text, ID);
    assert_true(wait.allow_failures);
    assert_text(wait.on_complete_topic, "a");
    assert_text(wait.on_complete_payload, "b");
    assert_text(wait.on_fail_topic, "c");
    assert_text(wait.on_fail_payload, "d");
}

/* JOIN-051: the spelling of the programs that the fields come from. */
static void camel_case_is_read_as_well(void **state) {
    (void)state;
    assert_read("{\"joinId\": \"0190F3C2-7B1E-7C2D-9A55-3F1D2C4B5A69\", \"failIfAnyStepFailed\": false, "
                "\"onCompleteTopic\": \"a\", \"onCompletePayload\": \"b\", "
                "\"onFailTopic\": \"c\", \"onFailPayload\": \"d\"}");
}

/* JOIN-051 */
static void pascal_case_is_read_as_well(void **state) {
    (void)state;
    assert_read("{\"JoinId\": \"0190F3C2-7B1E-7C2D-9A55-3F1D2C4B5A69\", \"FailIfAnyStepFailed\": false, "
                "\"OnCompleteTopic\": \"a\", \"OnCompletePayload\": \"b\", "
                "\"OnFailTopic\": \"c\", \"OnFailPayload\": \"d\"}");
}

#define WITH(fields) "{\"join_id\":\"" ID "\",\"on_complete_topic\":\"t\"," fields "}"

/* JOIN-051, BX-010, BX-011 */
static void malformed_payloads_are_refused_and_never_shown(void **state) {
    static const struct {
        boxcar_str payload;
        const char *argument;
    } bad[] = {
        {{NULL, 0}, "payload"},
        {{"", 0}, "payload"},
        {{" ", 1}, "payload"},
        {{"secret", 6}, "payload"},
        {{"{\"secret\"", 9}, "payload"},
        {{"[\"secret\"]", 10}, "payload"},
        {{"\"secret\"", 8}, "payload"},
        {{"null", 4}, "payload"},
        {{"{} secret", 9}, "payload"},
        {{"{\"a\": \"\xFF\"}", 10}, "payload"},
        {{"{}\0", 3}, "payload"},
        {{"{}", 2}, "join_id"},
        {BOXCAR_STR("{\"join_id\": null, \"on_complete_topic\": \"t\"}"), "join_id"},
        {BOXCAR_STR("{\"join_id\": 7, \"on_complete_topic\": \"t\"}"), "join_id"},
        {BOXCAR_STR("{\"join_id\": \"secret\", \"on_complete_topic\": \"t\"}"), "join_id"},
        {BOXCAR_STR("{\"join_id\": \"" ID "0\", \"on_complete_topic\": \"t\"}"), "join_id"},
        {BOXCAR_STR("{\"join_id\": \"00000000-0000-0000-0000-000000000000\", \"on_complete_topic\": \"t\"}"),
         "join_id"},
        {BOXCAR_STR("{\"join_id\": \"" ID "\"}"), "on_complete_topic"},
        {BOXCAR_STR("{\"join_id\": \"" ID "\", \"on_complete_topic\": null}"), "on_complete_topic"},
        {BOXCAR_STR("{\"join_id\": \"" ID "\", \"on_complete_topic\": \"\"}"), "on_complete_topic"},
        {BOXCAR_STR("{\"join_id\": \"" ID "\", \"on_complete_topic\": 1}"), "on_complete_topic"},
        {BOXCAR_STR("{\"join_id\": \"" ID "\", \"on_complete_topic\": \"secret\\u0000\"}"),
         "on_complete_topic"},
        {BOXCAR_STR("{\"joinId\": \"" ID "\", \"onCompleteTopic\": \"\"}"), "on_complete_topic"},
        {BOXCAR_STR(WITH("\"fail_if_any_step_failed\": 0")), "fail_if_any_step_failed"},
        {BOXCAR_STR(WITH("\"fail_if_any_step_failed\": \"false\"")), "fail_if_any_step_failed"},
        {BOXCAR_STR(WITH("\"failIfAnyStepFailed\": []")), "fail_if_any_step_failed"},
        {BOXCAR_STR(WITH("\"on_complete_payload\": {\"secret\": 1}")), "on_complete_payload"},
        {BOXCAR_STR(WITH("\"on_complete_payload\": \"secret\\u0000\"")), "on_complete_payload"},
        {BOXCAR_STR(WITH("\"on_fail_topic\": {}")), "on_fail_topic"},
        {BOXCAR_STR(WITH("\"on_fail_topic\": \"a\\u0000\"")), "on_fail_topic"},
        {BOXCAR_STR(WITH("\"on_fail_payload\": 3")), "on_fail_payload"},
        {BOXCAR_STR(WITH("\"on_fail_payload\": \"\\u0000secret\"")), "on_fail_payload"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct wait wait = {.on_complete_topic = BOXCAR_STR("untouched")};
        boxcar_error err = BOXCAR_ERROR_INIT;

        if (wait_parse(bad[i].payload, &arena, &wait, &err) != BOXCAR_E_INVALID)
            fail_msg("number %zu was not refused", i);
        assert_string_equal(err.argument, bad[i].argument);
        assert_null(strstr(err.message, "secret"));
        assert_text(wait.on_complete_topic, "untouched");
    }
}

/* BX-011 */
static void topics_have_at_most_255_characters(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    char payload[1200];
    struct wait wait = {.allow_failures = false};
    boxcar_error err;

    (void)state;
    for (int characters = 255; characters <= 256; characters++) {
        int len = snprintf(payload, sizeof(payload), "{\"join_id\":\"" ID "\",\"on_complete_topic\":\"");

        for (int i = 0; i < characters; i++, len += 2)
            memcpy(payload + len, "\xC3\xA9", 2);
        memcpy(payload + len, "\"}", 3);
        assert_int_equal(wait_parse(boxcar_str_of(payload), &arena, &wait, &err),
                         characters == 255 ? BOXCAR_OK : BOXCAR_E_INVALID);
    }
    assert_string_equal(err.argument, "on_complete_topic");
}

/* BX-045 */
static void a_continuation_has_one_id_that_is_not_the_waits(void **state) {
    boxcar_message_id wait = {{{1, 2, 3}}}, other = {{{1, 2, 4}}};
    boxcar_message_id first = boxcar_join_continuation_id(wait), again = boxcar_join_continuation_id(wait);
    boxcar_message_id of_other = boxcar_join_continuation_id(other);

    (void)state;
    assert_memory_equal(&first, &again, sizeof(first));
    assert_memory_not_equal(&first, &of_other, sizeof(first));
    assert_memory_not_equal(&first, &wait, sizeof(first));
    assert_int_equal(first.uuid.bytes[6] >> 4, 8); /* derived, not drawn */
}

/* What became of the join, and what the wait says about it. */
struct decision {
    boxcar_join_status status;
    boxcar_join_reason reason;
    int64_t failed_steps;
    bool allow_failures;
    enum wait_outcome with_on_fail, without;
};

static const struct decision DECISIONS[] = {
    /* JOIN-053: pending, whatever was counted so far */
    {BOXCAR_JOIN_PENDING, BOXCAR_JOIN_REASON_NONE, 0, false, WAIT_DEFERRED, WAIT_DEFERRED},
    {BOXCAR_JOIN_PENDING, BOXCAR_JOIN_REASON_NONE, 1, false, WAIT_DEFERRED, WAIT_DEFERRED},
    {BOXCAR_JOIN_PENDING, BOXCAR_JOIN_REASON_NONE, 1, true, WAIT_DEFERRED, WAIT_DEFERRED},
    /* JOIN-055: no step failed */
    {BOXCAR_JOIN_COMPLETED, BOXCAR_JOIN_REASON_NONE, 0, false, WAIT_COMPLETED, WAIT_COMPLETED},
    {BOXCAR_JOIN_COMPLETED, BOXCAR_JOIN_REASON_NONE, 0, true, WAIT_COMPLETED, WAIT_COMPLETED},
    /* JOIN-054, JOIN-055: some failed, and the wait decides */
    {BOXCAR_JOIN_FAILED, BOXCAR_JOIN_REASON_NONE, 1, false, WAIT_FAILED, WAIT_SILENT},
    {BOXCAR_JOIN_FAILED, BOXCAR_JOIN_REASON_NONE, 1, true, WAIT_COMPLETED, WAIT_COMPLETED},
    {BOXCAR_JOIN_FAILED, BOXCAR_JOIN_REASON_NONE, 3, true, WAIT_COMPLETED, WAIT_COMPLETED},
    /* BX-046: timed out or cancelled, whatever the flag and the counters */
    {BOXCAR_JOIN_FAILED, BOXCAR_JOIN_REASON_TIMED_OUT, 0, false, WAIT_FAILED, WAIT_SILENT},
    {BOXCAR_JOIN_FAILED, BOXCAR_JOIN_REASON_TIMED_OUT, 0, true, WAIT_FAILED, WAIT_SILENT},
    {BOXCAR_JOIN_FAILED, BOXCAR_JOIN_REASON_TIMED_OUT, 2, true, WAIT_FAILED, WAIT_SILENT},
    {BOXCAR_JOIN_CANCELLED, BOXCAR_JOIN_REASON_NONE, 0, false, WAIT_FAILED, WAIT_SILENT},
    {BOXCAR_JOIN_CANCELLED, BOXCAR_JOIN_REASON_NONE, 0, true, WAIT_FAILED, WAIT_SILENT},
    {BOXCAR_JOIN_CANCELLED, BOXCAR_JOIN_REASON_NONE, 2, true, WAIT_FAILED, WAIT_SILENT},
};

/* JOIN-053, JOIN-054, JOIN-055, BX-045, BX-046 */
static void a_wait_comes_to_what_the_join_and_its_flag_say(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(DECISIONS); i++) {
        const struct decision *row = &DECISIONS[i];
        boxcar_join join = {.expected_steps = 3,
                            .completed_steps = 3 - row->failed_steps,
                            .failed_steps = row->failed_steps,
                            .status = row->status,
                            .reason = row->reason};
        struct wait wait = {.allow_failures = row->allow_failures, .on_fail_topic = BOXCAR_STR("f")};

        if (wait_decide(&wait, &join) != row->with_on_fail)
            fail_msg("row %zu with on_fail: %d", i, wait_decide(&wait, &join));
        wait.on_fail_topic = BOXCAR_NO_STR;
        if (wait_decide(&wait, &join) != row->without)
            fail_msg("row %zu without on_fail: %d", i, wait_decide(&wait, &join));
    }
}

/* JOIN-052, BX-045 */
static void a_wait_for_no_join_comes_to_nothing(void **state) {
    struct wait wait = {.allow_failures = true, .on_fail_topic = BOXCAR_STR("f")};

    (void)state;
    assert_int_equal(wait_decide(&wait, NULL), WAIT_NO_JOIN);
}

#define SECOND INT64_C(1000000)

/* BX-044 */
static void older_waits_are_looked_at_less_often(void **state) {
    static const struct {
        int64_t age_seconds, expected_ms;
    } cases[] = {{0, 1000},   {1, 1000},   {2, 2000},       {30, 30000},
                 {60, 60000}, {61, 60000}, {864000, 60000}, {-5, 1000}};
    const boxcar_time created = 1000000 * SECOND;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(wait_delay_ms(created + cases[i].age_seconds * SECOND, created, BOXCAR_TIME_NONE),
                         cases[i].expected_ms);
}

/* BX-044, BX-046 */
static void a_wait_is_looked_at_again_when_the_deadline_has_come(void **state) {
    const boxcar_time created = 1000000 * SECOND, now = created + 30 * SECOND;

    (void)state;
    assert_int_equal(wait_delay_ms(now, created, now + 3600 * SECOND), 30000);
    assert_int_equal(wait_delay_ms(now, created, now + 5 * SECOND), 5000);
    assert_int_equal(wait_delay_ms(now, created, now + 1), 1); /* not before it */
    assert_int_equal(wait_delay_ms(now, created, now + 1001), 2);
    assert_int_equal(wait_delay_ms(now, created, now), 0);
    assert_int_equal(wait_delay_ms(now, created, now - SECOND), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(the_payload_is_json_with_the_contracts_names),
        cmocka_unit_test(empty_payloads_are_payloads_and_an_empty_topic_is_none),
        cmocka_unit_test(camel_case_is_read_as_well),
        cmocka_unit_test(pascal_case_is_read_as_well),
        cmocka_unit_test(malformed_payloads_are_refused_and_never_shown),
        cmocka_unit_test(topics_have_at_most_255_characters),
        cmocka_unit_test(a_continuation_has_one_id_that_is_not_the_waits),
        cmocka_unit_test(a_wait_comes_to_what_the_join_and_its_flag_say),
        cmocka_unit_test(a_wait_for_no_join_comes_to_nothing),
        cmocka_unit_test(older_waits_are_looked_at_less_often),
        cmocka_unit_test(a_wait_is_looked_at_again_when_the_deadline_has_come),
    };

    return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
