/* Bad input: each gets an error that names the argument. */
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/limits/limits.h"

static char LONG_ASCII[1100]; /* 'a' repeated */
static char LONG_MULTI[2200]; /* a two-byte character repeated */

static int fill_long_texts(void **state) {
    (void)state;
    memset(LONG_ASCII, 'a', sizeof(LONG_ASCII));
    for (size_t i = 0; i < sizeof(LONG_MULTI); i += 2)
        memcpy(LONG_MULTI + i, "\xC3\xA9", 2);
    return 0;
}

static boxcar_str ascii(size_t characters) { return (boxcar_str){LONG_ASCII, characters}; }
static boxcar_str multi(size_t characters) { return (boxcar_str){LONG_MULTI, characters * 2}; }

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

static void assert_claim_refused(boxcar_claimer options, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_claim(&options, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
}

/* BX-011 */
static void bad_claims_are_refused(void **state) {
    static const int64_t bad_leases[] = {0,         -1,       99, INT64_C(1) << 31, BOXCAR_LEASE_MS_MAX + 1,
                                         INT64_MIN, INT64_MAX};
    static const int64_t bad_sizes[] = {0, -1, 10001, INT64_C(1) << 31, INT64_MIN, INT64_MAX};
    const boxcar_str topics[] = {BOXCAR_STR("ok"), BOXCAR_STR("")};
    boxcar_claimer good = BOXCAR_CLAIMER_INIT, options;
    boxcar_error err;

    (void)state;
    good.owner.uuid = boxcar_uuid_new();
    assert_int_equal(limits_check_claim(&good, &err), BOXCAR_OK);
    for (size_t i = 0; i < COUNT_OF(bad_leases); i++) {
        options = good;
        options.lease_ms = bad_leases[i];
        assert_claim_refused(options, "lease_ms");
    }
    for (size_t i = 0; i < COUNT_OF(bad_sizes); i++) {
        assert_int_equal(limits_check_batch_size(bad_sizes[i], &err), BOXCAR_E_INVALID);
        assert_string_equal(err.argument, "batch_size");
    }
    options = good;
    options.batch_size = 10001;
    assert_claim_refused(options, "batch_size");
    options = good;
    options.owner = (boxcar_owner){0};
    assert_claim_refused(options, "owner");
    options = good;
    options.topic_count = 1;
    assert_claim_refused(options, "topics");
    options.topics = topics;
    options.topic_count = 2;
    assert_claim_refused(options, "topics[1]");
    options.topic_count = SIZE_MAX;
    assert_claim_refused(options, "topic_count");
}

static void claims_at_the_edges_are_accepted(void **state) {
    (void)state;
    assert_int_equal(limits_check_lease_ms(100, NULL), BOXCAR_OK);
    assert_int_equal(limits_check_lease_ms(BOXCAR_LEASE_MS_MAX, NULL), BOXCAR_OK);
    assert_int_equal(limits_check_batch_size(1, NULL), BOXCAR_OK);
    assert_int_equal(limits_check_batch_size(10000, NULL), BOXCAR_OK);
}

/* BX-024 */
static void patterns_are_topics_or_prefixes(void **state) {
    char pattern[300];

    (void)state;
    memset(pattern, 'a', sizeof(pattern));
    pattern[255] = '*';
    assert_int_equal(limits_check_topic_pattern((boxcar_str){pattern, 256}, "t", NULL), BOXCAR_OK);
    pattern[256] = '*';
    assert_int_equal(limits_check_topic_pattern((boxcar_str){pattern, 257}, "t", NULL), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_STR("*"), "t", NULL), BOXCAR_OK);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_STR(""), "t", NULL), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_NO_STR, "t", NULL), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_STR("\0*"), "t", NULL), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_STR("\xFF*"), "t", NULL), BOXCAR_E_INVALID);
}

static boxcar_status read_settlements(boxcar_settle_kind kind, const boxcar_settlement *items, size_t count,
                                      boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_settlement_list list = {items, count};

    return limits_read_settlements(&arena, kind, &list, err);
}

/* BX-011 */
static void bad_settlements_are_refused_by_index(void **state) {
    static const struct {
        struct {
            int64_t work_id, epoch, delay_ms;
            boxcar_str error;
            boxcar_message_id message_id;
        } bad;
        const char *argument;
    } cases[] = {
        {{.work_id = 0}, "settlements[1].work_id"},
        {{.work_id = -1}, "settlements[1].work_id"},
        {{.work_id = 1, .epoch = -1}, "settlements[1].epoch"},
        {{.work_id = 1, .delay_ms = -2}, "settlements[1].delay_ms"},
        {{.work_id = 1, .delay_ms = BOXCAR_DELAY_MS_MAX + 1}, "settlements[1].delay_ms"},
        {{.work_id = 1, .error = {"\xFF", 1}}, "settlements[1].error"},
        {{.work_id = 1, .error = {"a\0", 2}}, "settlements[1].error"},
        {{.work_id = 1, .message_id = {{{1}}}}, "settlements[1].message_id"},
        {{.work_id = -1, .message_id = {{{1}}}}, "settlements[1].message_id"},
        {{.epoch = -1, .message_id = {{{1}}}}, "settlements[1].epoch"},
    };
    boxcar_settlement list[2] = {BOXCAR_SETTLEMENT_INIT, BOXCAR_SETTLEMENT_INIT};
    boxcar_error err;

    (void)state;
    list[0].work_id.value = 1;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        list[1].work_id.value = cases[i].bad.work_id;
        list[1].epoch.value = cases[i].bad.epoch;
        list[1].delay_ms = cases[i].bad.delay_ms;
        list[1].error = cases[i].bad.error;
        list[1].message_id = cases[i].bad.message_id;
        assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err), BOXCAR_E_INVALID);
        assert_string_equal(err.argument, cases[i].argument);
    }
    list[1] = list[0];
    list[1].work_id.value = 0;
    list[1].message_id.uuid.bytes[0] = 1;
    assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err), BOXCAR_OK);
    list[1].struct_size = 0;
    assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "settlements");
    list[1] = list[0]; /* twice the same is fine */
    list[0].stages = 1;
    list[1].stages = 32;
    assert_int_equal(read_settlements(BOXCAR_RECORD, list, 2, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "settlements[1].stages");
    assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err),
                     BOXCAR_E_INVALID); /* a result may have some */
    assert_string_equal(err.argument, "settlements[1].stages");
    list[1].stages = 0; /* but only a record needs them */
    assert_int_equal(read_settlements(BOXCAR_RECORD, list, 2, &err), BOXCAR_E_INVALID);
    assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err), BOXCAR_OK);
    assert_int_equal(read_settlements(BOXCAR_ACK, NULL, 0, &err), BOXCAR_OK);
    assert_int_equal(read_settlements(BOXCAR_ACK, NULL, 1, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "settlements");
    assert_int_equal(read_settlements(BOXCAR_ACK, list, SIZE_MAX, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "count");
}

/* BX-011 */
static void schema_names_are_plain_identifiers(void **state) {
    static const char *const good[] = {"boxcar", "_", "a1", "Boxcar_2", "PG_like"};
    static const char *const bad[] = {"",    "1a",   "a b", "a\"b",          "a'b", "a;drop",
                                      "a-b", "pg_x", "a.b", "sch\xC3\xA9ma", "a\n", "pg_toast"};
    boxcar_error err;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_int_equal(limits_check_schema_name(boxcar_str_of(good[i]), &err), BOXCAR_OK);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(limits_check_schema_name(boxcar_str_of(bad[i]), &err), BOXCAR_E_INVALID);
        assert_string_equal(err.argument, "schema");
    }
    assert_int_equal(limits_check_schema_name(ascii(63), &err), BOXCAR_OK);
    assert_int_equal(limits_check_schema_name(ascii(64), &err), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_schema_name(BOXCAR_STR("a\0"), &err), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_schema_name(BOXCAR_NO_STR, &err), BOXCAR_OK);
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

static void assert_list_refused(boxcar_message_filter options, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_list(&options, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
}

/* BX-011 */
static void bad_listings_are_refused(void **state) {
    boxcar_message_filter good = BOXCAR_MESSAGE_FILTER_INIT, options = good;

    (void)state;
    assert_int_equal(limits_check_list(&good, NULL), BOXCAR_OK);
    options.limit = 0;
    assert_list_refused(options, "limit");
    options.limit = BOXCAR_LIST_LIMIT_MAX + 1;
    assert_list_refused(options, "limit");
    options = good;
    options.after.value = -1;
    assert_list_refused(options, "after");
    options = good;
    options.box = -1;
    assert_list_refused(options, "box");
    options = good;
    options.by_status = true;
    options.status = (boxcar_message_status)9;
    assert_list_refused(options, "status");
    options = good;
    options.topic = BOXCAR_STR("");
    assert_list_refused(options, "topic");
}

static void assert_filter_refused(boxcar_dead_filter filter, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_dead_filter(&filter, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
}

/* BX-011, BX-025 */
static void bad_dead_letter_filters_are_refused(void **state) {
    static const boxcar_message_ref refs[2] = {{.work_id = {1}}, {.work_id = {0}}};
    boxcar_dead_filter good = BOXCAR_DEAD_FILTER_INIT, filter = good;

    (void)state;
    assert_int_equal(limits_check_dead_filter(&good, NULL), BOXCAR_OK);
    filter.reason = (boxcar_reason)77;
    assert_filter_refused(filter, "reason");
    filter = good;
    filter.before = -5;
    assert_filter_refused(filter, "before");
    filter = good;
    filter.topic = multi(256);
    assert_filter_refused(filter, "topic");
    filter = good;
    filter.box = -1;
    assert_filter_refused(filter, "box");
    filter = good;
    filter.ref_count = 1;
    assert_filter_refused(filter, "refs");
    filter.refs = refs;
    filter.ref_count = 2;
    assert_filter_refused(filter, "refs[1]");
}

static boxcar_new_join good_join(void) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;

    join.expected_steps = 1;
    return join;
}

static void assert_join_accepted(boxcar_new_join join) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (limits_check_new_join(&join, &err) != BOXCAR_OK)
        fail_msg("refused: %s", err.message);
}

static void assert_join_refused(boxcar_new_join join, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_new_join(&join, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
    assert_non_null(strstr(err.message, argument));
    assert_non_null(strstr(err.message, ": ")); /* the remedy follows */
    assert_int_equal(limits_check_new_join(&join, NULL), BOXCAR_E_INVALID);
}

/* JOIN-003, BX-011 */
static void joins_within_the_limits_are_accepted(void **state) {
    boxcar_new_join join = good_join();

    (void)state;
    assert_join_accepted(join);
    join.expected_steps = INT32_MAX;
    join.grouping_key = multi(255);
    join.metadata = multi(1000);
    join.deadline = LIMITS_TIME_MAX;
    assert_join_accepted(join);
    join.grouping_key = join.metadata = BOXCAR_STR("");
    join.deadline = BOXCAR_TIME_NONE;
    join.deadline_ms = BOXCAR_DELAY_MS_MAX;
    assert_join_accepted(join);
}

/* JOIN-002, JOIN-004, BX-011 */
static void bad_joins_are_refused(void **state) {
    static const int64_t bad_steps[] = {0, -1, INT64_C(1) << 31, INT64_MIN, INT64_MAX};
    static const int64_t bad_delays[] = {-1, BOXCAR_DELAY_MS_MAX + 1, INT64_MIN, INT64_MAX};
    static const boxcar_time bad_times[] = {-1, LIMITS_TIME_MAX + 1, INT64_MAX, INT64_MIN + 1};
    const boxcar_str bad_keys[] = {ascii(256), multi(256), BOXCAR_STR("a\0b"), BOXCAR_STR("\xFF"), {NULL, 1}};
    boxcar_new_join join;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_steps); i++) {
        join = good_join();
        join.expected_steps = bad_steps[i];
        assert_join_refused(join, "expected_steps");
    }
    for (size_t i = 0; i < COUNT_OF(bad_delays); i++) {
        join = good_join();
        join.deadline_ms = bad_delays[i];
        assert_join_refused(join, "deadline_ms");
        join = good_join();
        join.deadline = bad_times[i];
        assert_join_refused(join, "deadline");
    }
    for (size_t i = 0; i < COUNT_OF(bad_keys); i++) {
        join = good_join();
        join.grouping_key = bad_keys[i];
        assert_join_refused(join, "grouping_key");
    }
    for (size_t i = 2; i < COUNT_OF(bad_keys); i++) { /* its length has no limit */
        join = good_join();
        join.metadata = bad_keys[i];
        assert_join_refused(join, "metadata");
    }
    join = good_join();
    join.deadline = join.deadline_ms = 1;
    assert_join_refused(join, "deadline_ms");
}

static boxcar_new_wait good_wait(void) {
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;

    wait.join_id.uuid.bytes[0] = 1;
    wait.on_complete_topic = BOXCAR_STR("done");
    wait.on_complete_payload = BOXCAR_STR("");
    return wait;
}

static void assert_wait_refused(boxcar_new_wait wait, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_new_wait(&wait, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
    assert_non_null(strstr(err.message, argument));
    assert_null(strstr(err.message, "secret"));
}

static void waits_within_the_limits_are_accepted(void **state) {
    boxcar_new_wait wait = good_wait();

    (void)state;
    assert_int_equal(limits_check_new_wait(&wait, NULL), BOXCAR_OK);
    wait.on_complete_topic = wait.on_fail_topic = multi(255);
    wait.on_complete_payload = wait.on_fail_payload = multi(1000);
    wait.correlation_id = multi(255);
    assert_int_equal(limits_check_new_wait(&wait, NULL), BOXCAR_OK);
    wait.on_complete_payload = wait.on_fail_payload = wait.correlation_id = BOXCAR_STR("");
    wait.on_fail_topic = BOXCAR_NO_STR;
    assert_int_equal(limits_check_new_wait(&wait, NULL), BOXCAR_OK);
}

/* BX-010, BX-011 */
static void bad_waits_are_refused(void **state) {
    const boxcar_str bad_topics[] = {
        ascii(256), multi(256), BOXCAR_STR("a\0b"), BOXCAR_STR("\xFF"), {NULL, 1}};
    const boxcar_str bad_payloads[] = {BOXCAR_STR("secret\0"), BOXCAR_STR("secret\xFF"), {NULL, 1}};
    boxcar_new_wait wait = good_wait();

    (void)state;
    wait.join_id = (boxcar_join_id){0};
    assert_wait_refused(wait, "join_id");
    wait = good_wait();
    wait.on_complete_topic = BOXCAR_NO_STR;
    assert_wait_refused(wait, "on_complete_topic");
    wait.on_complete_topic = BOXCAR_STR("");
    assert_wait_refused(wait, "on_complete_topic");
    wait = good_wait();
    wait.on_fail_topic = BOXCAR_STR("");
    assert_wait_refused(wait, "on_fail_topic");
    wait = good_wait();
    wait.on_complete_payload = BOXCAR_NO_STR;
    assert_wait_refused(wait, "on_complete_payload");
    for (size_t i = 0; i < COUNT_OF(bad_topics); i++) {
        wait = good_wait();
        wait.on_complete_topic = bad_topics[i];
        assert_wait_refused(wait, "on_complete_topic");
        wait = good_wait();
        wait.on_fail_topic = bad_topics[i];
        assert_wait_refused(wait, "on_fail_topic");
        wait = good_wait();
        wait.correlation_id = bad_topics[i];
        assert_wait_refused(wait, "correlation_id");
    }
    for (size_t i = 0; i < COUNT_OF(bad_payloads); i++) {
        wait = good_wait();
        wait.on_complete_payload = bad_payloads[i];
        assert_wait_refused(wait, "on_complete_payload");
        wait = good_wait();
        wait.on_fail_payload = bad_payloads[i];
        assert_wait_refused(wait, "on_fail_payload");
    }
}

static void assert_join_filter_refused(boxcar_join_filter filter, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_join_filter(&filter, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
}

/* BX-011 */
static void bad_filters_of_joins_are_refused(void **state) {
    boxcar_join_filter good = BOXCAR_JOIN_FILTER_INIT, filter = good;

    (void)state;
    assert_int_equal(limits_check_join_filter(&good, NULL), BOXCAR_OK);
    filter.grouping_key = BOXCAR_STR("");
    assert_join_filter_refused(filter, "grouping_key");
    filter.grouping_key = multi(256);
    assert_join_filter_refused(filter, "grouping_key");
    filter = good;
    filter.status = (boxcar_join_status)9;
    assert_int_equal(limits_check_join_filter(&filter, NULL), BOXCAR_OK); /* not asked for */
    filter.by_status = true;
    assert_join_filter_refused(filter, "status");
    filter = good;
    filter.before = -5;
    assert_join_filter_refused(filter, "before");
    filter = good;
    filter.limit = 0;
    assert_join_filter_refused(filter, "limit");
    filter.limit = BOXCAR_LIST_LIMIT_MAX + 1;
    assert_join_filter_refused(filter, "limit");
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
        cmocka_unit_test(bad_claims_are_refused),
        cmocka_unit_test(claims_at_the_edges_are_accepted),
        cmocka_unit_test(patterns_are_topics_or_prefixes),
        cmocka_unit_test(bad_settlements_are_refused_by_index),
        cmocka_unit_test(schema_names_are_plain_identifiers),
        cmocka_unit_test(a_reference_names_exactly_one_id),
        cmocka_unit_test(bad_listings_are_refused),
        cmocka_unit_test(bad_dead_letter_filters_are_refused),
        cmocka_unit_test(joins_within_the_limits_are_accepted),
        cmocka_unit_test(bad_joins_are_refused),
        cmocka_unit_test(waits_within_the_limits_are_accepted),
        cmocka_unit_test(bad_waits_are_refused),
        cmocka_unit_test(bad_filters_of_joins_are_refused),
        cmocka_unit_test(bad_message_ids_are_refused_by_index),
    };

    return cmocka_run_group_tests_name("limits", tests, fill_long_texts, NULL);
}
