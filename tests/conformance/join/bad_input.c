/* Bad arguments of the calls about joins: a typed error that names the argument, and nothing changes. */
#include <stdlib.h>
#include <string.h>

#include "joins.h"

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

static void assert_start_refused(struct fixture *f, const boxcar_new_join *join, const char *argument) {
    boxcar_join_id id = {{{7}}};
    ASSERT_INVALID(f, argument, boxcar_join_start(f->store, join, &id, &f->err));
    assert_int_equal(id.uuid.bytes[0], 7);
    assert_false(f->err.retryable);
}

static void assert_wait_refused(struct fixture *f, const boxcar_new_wait *wait, const char *argument) {
    boxcar_enqueued enqueued = {.work_id = {-1}};
    ASSERT_INVALID(f, argument, boxcar_join_wait(f->store, wait, &enqueued, &f->err));
    assert_int_equal(enqueued.work_id.value, -1);
}

static void assert_nothing_there(struct fixture *f) {
    assert_int_equal(fixture_sql_number(
                         f, "select (select count(*) from boxcar_outbox_join) + count(*) from boxcar_message",
                         "select (select count(*) from outbox_join) + count(*) from message"),
                     0);
}

/* JOIN-002, BX-011 */
static void expected_steps_must_be_a_positive_number_of_31_bits(void **state) {
    struct fixture *f = *state;
    static const int64_t BAD[] = {0, -1, INT64_C(1) << 31, INT64_C(1) << 32, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        boxcar_new_join join = new_join(BAD[i]);
        assert_start_refused(f, &join, "expected_steps");
    }
    assert_nothing_there(f);
    assert_int_equal(join_of(f, start_join(f, BOXCAR_EXPECTED_STEPS_MAX)).expected_steps, INT32_MAX);
}

/* JOIN-003, JOIN-004, BX-011 */
static void grouping_key_has_at_most_255_characters_and_empty_is_none(void **state) {
    struct fixture *f = *state;
    char *longest = long_text(255), *too_long = long_text(256);
    boxcar_new_join join = new_join(1);
    join.grouping_key = boxcar_str_of(too_long);
    assert_start_refused(f, &join, "grouping_key");
    assert_nothing_there(f);
    boxcar_join_list *list = NULL;
    join.grouping_key = boxcar_str_of(longest);
    ASSERT_OK(f, boxcar_join_find(f->store, start_this(f, &join), &list, &f->err));
    assert_text(list->items[0]->grouping_key, longest);
    boxcar_list_free(list);
    join.grouping_key = BOXCAR_STR("");
    ASSERT_OK(f, boxcar_join_find(f->store, start_this(f, &join), &list, &f->err));
    assert_absent(list->items[0]->grouping_key);
    boxcar_list_free(list);
    free(longest);
    free(too_long);
}

/* BX-011 */
static void texts_of_a_join_must_be_utf_8_without_nul(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < BAD_COUNT; i++) {
        boxcar_new_join key = new_join(1), metadata = new_join(1);
        key.grouping_key = metadata.metadata = BAD_TEXTS[i];
        assert_start_refused(f, &key, "grouping_key");
        assert_start_refused(f, &metadata, "metadata");
        boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
        boxcar_join_list *list = NULL;
        filter.grouping_key = BAD_TEXTS[i];
        ASSERT_INVALID(f, "grouping_key", boxcar_join_page(f->store, &filter, &list, &f->err));
    }
    assert_nothing_there(f);
}

/* BX-011 */
static void deadline_must_be_a_time_of_ours_and_the_only_one(void **state) {
    struct fixture *f = *state;
    static const boxcar_time BAD[] = {-1, INT64_MAX, INT64_MIN + 1, INT64_C(253402300800000000)};
    static const int64_t BAD_MS[] = {-1, BOXCAR_DELAY_MS_MAX + 1, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        boxcar_new_join join = new_join(1);
        join.deadline = BAD[i];
        assert_start_refused(f, &join, "deadline");
        join.deadline = BOXCAR_TIME_NONE;
        join.deadline_ms = BAD_MS[i];
        assert_start_refused(f, &join, "deadline_ms");
    }
    boxcar_new_join both = new_join(1);
    both.deadline = database_now(f) + 3600000000;
    both.deadline_ms = 1;
    assert_start_refused(f, &both, "deadline_ms");
    assert_nothing_there(f);
    both.deadline_ms = 0;
    assert_true(join_of(f, start_this(f, &both)).deadline == both.deadline);
}

/* BX-011 */
static void nil_ids_are_refused_everywhere(void **state) {
    struct fixture *f = *state;
    boxcar_join_id nil = {0}, id = start_join(f, 1);
    boxcar_message_id no_message = {0}, message = enqueue(f, STEP, "p").message_id;
    boxcar_message_id ids[2] = {message, no_message};
    boxcar_join_list *list = NULL;
    boxcar_join_member_list *members = NULL;
    bool counted = true;
    ASSERT_INVALID(f, "join_id", boxcar_join_attach(f->store, nil, &message, 1, NULL, &f->err));
    ASSERT_INVALID(f, "message_ids[1]", boxcar_join_attach(f->store, id, ids, 2, NULL, &f->err));
    ASSERT_INVALID(f, "join_id",
                   boxcar_join_report(f->store, nil, message, BOXCAR_MEMBER_COMPLETED, &counted, &f->err));
    ASSERT_INVALID(f, "message_id",
                   boxcar_join_report(f->store, id, no_message, BOXCAR_MEMBER_COMPLETED, &counted, &f->err));
    ASSERT_INVALID(f, "join_id",
                   boxcar_join_report(f->store, nil, message, BOXCAR_MEMBER_FAILED, &counted, &f->err));
    ASSERT_INVALID(f, "message_id",
                   boxcar_join_report(f->store, id, no_message, BOXCAR_MEMBER_FAILED, &counted, &f->err));
    ASSERT_INVALID(f, "join_id", boxcar_join_cancel(f->store, nil, &f->err));
    ASSERT_INVALID(f, "join_id", boxcar_join_find(f->store, nil, &list, &f->err));
    ASSERT_INVALID(f, "join_id", boxcar_join_member_page(f->store, nil, no_message, 10, &members, &f->err));
    boxcar_new_wait wait = new_wait(nil);
    assert_wait_refused(f, &wait, "join_id");
    assert_true(counted);
    assert_true(!list && !members);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
    assert_int_equal(count_members(f, id, BOXCAR_MEMBER_PENDING), 0);
}

/* JOIN-012, BX-011 */
static void unknown_joins_are_not_found_anywhere(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = unknown_join();
    boxcar_message_id message = enqueue(f, STEP, "p").message_id;
    boxcar_join_list *list = NULL;
    boxcar_join_member_list *members = NULL;
    boxcar_new_wait wait = new_wait(id);
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_attach(f->store, id, &message, 1, NULL, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_join_report(f->store, id, message, BOXCAR_MEMBER_COMPLETED, NULL, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_join_report(f->store, id, message, BOXCAR_MEMBER_FAILED, NULL, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_cancel(f->store, id, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_wait(f->store, &wait, NULL, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_find(f->store, id, &list, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_join_member_page(f->store, id, (boxcar_message_id){0}, 10, &members, &f->err));
    assert_true(!list && !members);
    assert_int_equal(stats_of(f).ready, 1);
}

/* JOIN-051, BX-011 */
static void wait_needs_a_topic_and_texts_that_are_texts(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    char *too_long = long_text(256), *longest = long_text(255);
    boxcar_new_wait wait = new_wait(id);
    wait.on_complete_topic = BOXCAR_NO_STR;
    assert_wait_refused(f, &wait, "on_complete_topic");
    wait.on_complete_topic = BOXCAR_STR("");
    assert_wait_refused(f, &wait, "on_complete_topic");
    wait.on_complete_topic = boxcar_str_of(too_long);
    assert_wait_refused(f, &wait, "on_complete_topic");
    wait = new_wait(id);
    wait.on_fail_topic = boxcar_str_of(too_long);
    assert_wait_refused(f, &wait, "on_fail_topic");
    wait.on_fail_topic = BOXCAR_STR("");
    assert_wait_refused(f, &wait, "on_fail_topic");
    wait = new_wait(id);
    wait.on_complete_payload = BOXCAR_NO_STR;
    assert_wait_refused(f, &wait, "on_complete_payload");
    wait = new_wait(id);
    wait.correlation_id = boxcar_str_of(too_long);
    assert_wait_refused(f, &wait, "correlation_id");
    for (int i = 0; i < BAD_COUNT; i++) {
        boxcar_new_wait topic = new_wait(id), payload = topic, fail_topic = topic, fail_payload = topic,
                        correlation_id = topic;
        topic.on_complete_topic = payload.on_complete_payload = fail_topic.on_fail_topic =
            fail_payload.on_fail_payload = correlation_id.correlation_id = BAD_TEXTS[i];
        assert_wait_refused(f, &topic, "on_complete_topic");
        assert_wait_refused(f, &payload, "on_complete_payload");
        assert_wait_refused(f, &fail_topic, "on_fail_topic");
        assert_wait_refused(f, &fail_payload, "on_fail_payload");
        assert_wait_refused(f, &correlation_id, "correlation_id");
    }
    assert_nothing_claimable(f);
    wait = new_wait(id);
    wait.on_complete_topic = wait.on_fail_topic = wait.correlation_id = boxcar_str_of(longest);
    boxcar_enqueued enqueued = enqueue_this_wait(f, &wait);
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    assert_continuation(f, enqueued, longest, "no");
    free(too_long);
    free(longest);
}

/* BX-011 */
static void listings_of_joins_must_be_in_range(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    static const int BAD[] = {0, -1, BOXCAR_LIST_LIMIT_MAX + 1, INT32_MAX, INT32_MIN};
    boxcar_join_list *list = NULL;
    boxcar_join_member_list *members = NULL;
    for (int i = 0; i < 5; i++) {
        boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
        filter.limit = BAD[i];
        ASSERT_INVALID(f, "limit", boxcar_join_page(f->store, &filter, &list, &f->err));
        ASSERT_INVALID(
            f, "limit",
            boxcar_join_member_page(f->store, id, (boxcar_message_id){0}, BAD[i], &members, &f->err));
    }
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    filter.by_status = true;
    filter.status = (boxcar_join_status)4;
    ASSERT_INVALID(f, "status", boxcar_join_page(f->store, &filter, &list, &f->err));
    filter.status = (boxcar_join_status)-1;
    ASSERT_INVALID(f, "status", boxcar_join_page(f->store, &filter, &list, &f->err));
    assert_true(!list && !members);
}

/* BX-011: a program that forgot something hears of it. */
static void missing_arguments_are_named(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_new_join join = new_join(1);
    boxcar_new_wait wait = new_wait(id);
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    ASSERT_INVALID(f, "store", boxcar_join_start(NULL, &join, &id, &f->err));
    ASSERT_INVALID(f, "join", boxcar_join_start(f->store, NULL, &id, &f->err));
    ASSERT_INVALID(f, "ret_join_id", boxcar_join_start(f->store, &join, NULL, &f->err));
    ASSERT_INVALID(f, "message_ids", boxcar_join_attach(f->store, id, NULL, 1, NULL, &f->err));
    ASSERT_INVALID(f, "wait", boxcar_join_wait(f->store, NULL, NULL, &f->err));
    ASSERT_INVALID(f, "store", boxcar_join_wait(NULL, &wait, NULL, &f->err));
    ASSERT_INVALID(f, "ret_list", boxcar_join_find(f->store, id, NULL, &f->err));
    ASSERT_INVALID(f, "ret_list", boxcar_join_page(f->store, &filter, NULL, &f->err));
    boxcar_list_free(NULL);
}

/* JOIN-003, OBX-080 */
static void metadata_of_64_mebibytes_comes_back_byte_for_byte(void **state) {
    struct fixture *f = *state;
    enum { BIG = 64 * 1024 * 1024 };
    char *text = malloc(BIG);
    assert_non_null(text);
    uint32_t chance = 4711;
    for (size_t i = 0; i < BIG; i++) {
        chance = chance * 1664525 + 1013904223;
        text[i] = (char)(' ' + (chance >> 24) % 95);
    }
    boxcar_new_join join = new_join(1);
    join.metadata = (boxcar_str){text, BIG};
    boxcar_join_id id = start_this(f, &join);
    boxcar_join_list *list = NULL;
    ASSERT_OK(f, boxcar_join_find(f->store, id, &list, &f->err));
    boxcar_str metadata = list->items[0]->metadata;
    assert_int_equal(metadata.len, BIG);
    assert_true(memcmp(metadata.data, text, BIG) == 0);
    boxcar_list_free(list);
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 1, 0);
    free(text);
}

/* BX-011 */
static void metadata_has_the_size_that_the_setting_allows(void **state) {
    struct fixture *f = *state;
    enum { MAX = 70000 };
    char text[MAX + 1];
    memset(text, 'x', sizeof(text));
    boxcar_new_join join = new_join(1);
    join.metadata = (boxcar_str){text, MAX + 1};
    start_this(f, &join);
    set_setting(f, "payload_bytes_max", "70000");
    assert_start_refused(f, &join, "metadata");
    join.metadata.len = MAX;
    start_this(f, &join);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_outbox_join", "select count(*) from outbox_join"),
        2);
}

static const struct CMUnitTest TESTS[] = {
    TEST(expected_steps_must_be_a_positive_number_of_31_bits),
    TEST(grouping_key_has_at_most_255_characters_and_empty_is_none),
    TEST(texts_of_a_join_must_be_utf_8_without_nul),
    TEST(deadline_must_be_a_time_of_ours_and_the_only_one),
    TEST(nil_ids_are_refused_everywhere),
    TEST(unknown_joins_are_not_found_anywhere),
    TEST(wait_needs_a_topic_and_texts_that_are_texts),
    TEST(listings_of_joins_must_be_in_range),
    TEST(missing_arguments_are_named),
    TEST(metadata_has_the_size_that_the_setting_allows),
    TEST(metadata_of_64_mebibytes_comes_back_byte_for_byte),
};

const struct suite JOIN_BAD_INPUT_SUITE = SUITE(TESTS);
