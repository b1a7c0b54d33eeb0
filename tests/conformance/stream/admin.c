/* Streams for people: list, show, resume, skip, and rules. */
#include <stdio.h>
#include <string.h>

#include "findings.h"
#include "streams.h"

static boxcar_stream_list *page_of(struct fixture *f, const boxcar_stream_filter *filter) {
    boxcar_stream_list *list = NULL;
    ASSERT_OK(f, boxcar_stream_page(f->store, filter, &list, &f->err));
    return list;
}

/* The keys of a page, with a space behind each. */
static void assert_page(struct fixture *f, const boxcar_stream_filter *filter, const char *wanted) {
    char keys[400] = "";
    boxcar_stream_list *list = page_of(f, filter);
    for (size_t i = 0; i < list->count; i++) {
        boxcar_str key = list->items[i]->stream;
        snprintf(keys + strlen(keys), sizeof(keys) - strlen(keys), "%.*s ", (int)key.len, key.data);
    }
    boxcar_list_free(list);
    assert_string_equal(keys, wanted);
}

/* BX-006 */
static void streams_are_listed_by_key_in_pages(void **state) {
    struct fixture *f = *state;
    static const char *const KEYS[] = {"b-2", "a", "c", "b-1", "b", "\xc3\xa9", "b-10", "Z"};
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    assert_page(f, &filter, "");
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++)
        enqueue_run(f, KEYS[i], 1 + i % 3, NULL);
    enqueue(f, "t", "no stream");
    assert_page(f, &filter, "Z a b b-1 b-10 b-2 c \xc3\xa9 ");
    filter.limit = 3;
    assert_page(f, &filter, "Z a b ");
    filter.after = BOXCAR_STR("b");
    assert_page(f, &filter, "b-1 b-10 b-2 ");
    filter.after = BOXCAR_STR("b-2");
    assert_page(f, &filter, "c \xc3\xa9 ");
    filter.after = BOXCAR_STR("zz");
    assert_page(f, &filter, "\xc3\xa9 ");
    filter.prefix = BOXCAR_STR("b-");
    filter.after = BOXCAR_NO_STR;
    filter.limit = 50;
    assert_page(f, &filter, "b-1 b-10 b-2 ");
    filter.after = BOXCAR_STR("b-10");
    assert_page(f, &filter, "b-2 ");
    filter.after = BOXCAR_STR("a");
    filter.limit = 2;
    assert_page(f, &filter, "b-1 b-10 ");
    filter.prefix = BOXCAR_STR("nobody");
    assert_page(f, &filter, "");
    filter = BOXCAR_STREAM_FILTER_INIT;
    filter.box = BOXCAR_INBOX;
    assert_page(f, &filter, "");
}

/* BX-006 */
static void only_halted_streams_are_listed_on_request(void **state) {
    struct fixture *f = *state;
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    set_rule(f, "h*", BOXCAR_STREAM_HALT);
    filter.halted = true;
    static const char *const KEYS[] = {"h2", "g", "h1", "h10", "a"};
    for (int i = 0; i < 5; i++) {
        boxcar_work_id ids[2];
        enqueue_run(f, KEYS[i], 2, ids);
        assert_true(bury(f, f->owner, take(f, f->owner, ids[0]), "no"));
        take(f, f->owner, i == 1 || i == 4 ? ids[1] : enqueue(f, "t", "p").work_id);
    }
    assert_page(f, &filter, "h1 h10 h2 ");
    filter.limit = 1;
    assert_page(f, &filter, "h1 ");
    filter.limit = 5;
    filter.after = BOXCAR_STR("h1");
    assert_page(f, &filter, "h10 h2 ");
    filter.prefix = BOXCAR_STR("h2");
    assert_page(f, &filter, "h2 ");
    filter = BOXCAR_STREAM_FILTER_INIT;
    assert_page(f, &filter, "a g h1 h10 h2 ");
}

/* BX-060 */
static void stream_shows_its_head_and_how_many_wait(void **state) {
    struct fixture *f = *state;
    boxcar_work_id first = enqueue_in_stream(f, "s", "the.topic");
    enqueue_run(f, "s", 2, NULL);
    boxcar_stream_list *list = NULL;
    ASSERT_OK(f, boxcar_stream_find(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), &list, &f->err));
    const boxcar_stream *found = list->items[0];
    assert_text(found->stream, "s");
    assert_text(found->topic, "the.topic");
    assert_int_equal(found->state, BOXCAR_STREAM_READY);
    assert_int_equal(found->pending, 3);
    assert_int_equal(found->head.value, first.value);
    assert_int_equal(found->partition,
                     boxcar_stream_partition(BOXCAR_STR("s"), BOXCAR_PARTITION_COUNT_DEFAULT));
    assert_int_equal(found->retry_count, 0);
    assert_true(found->available_at <= database_now(f) + 1000);
    assert_true(boxcar_uuid_is_none(found->owner.uuid));
    assert_true(found->halted_at == BOXCAR_TIME_NONE);
    assert_int_equal(found->halted_by.value, 0);
    assert_int_equal(list->count, 1);
    boxcar_list_free(list);
}

/* BX-060 */
static void state_of_a_stream_follows_its_head(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    assert_no_stream(f, "s");
    enqueue_run(f, "s", 2, ids);
    assert_stream_state(f, "s", BOXCAR_STREAM_READY);
    struct taken taken = take(f, f->owner, ids[0]);
    boxcar_stream found = stream_of(f, "s");
    assert_int_equal(found.state, BOXCAR_STREAM_IN_PROGRESS);
    assert_same_owner(found.owner, f->owner);
    assert_true(found.available_at == BOXCAR_TIME_NONE);
    assert_int_equal(found.head.value, ids[0].value);
    boxcar_time before = database_now(f);
    assert_true(abandon(f, f->owner, taken, HOUR));
    found = stream_of(f, "s");
    assert_int_equal(found.state, BOXCAR_STREAM_WAITING);
    assert_int_equal(found.retry_count, 1);
    assert_in_range(found.available_at, before + HOUR * INT64_C(1000),
                    database_now(f) + 1000 + HOUR * INT64_C(1000));
    assert_true(boxcar_uuid_is_none(found.owner.uuid));
    ASSERT_OK(f, boxcar_stream_skip(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), NULL, &f->err));
    assert_int_equal(stream_of(f, "s").head.value, ids[1].value);
    assert_true(ack(f, f->owner, take(f, f->owner, ids[1])));
    assert_no_stream(f, "s");
}

/* BX-006 */
static void pending_messages_are_counted_up_to_a_limit(void **state) {
    struct fixture *f = *state;
    enqueue_run(f, "s", BOXCAR_STREAM_PENDING_MAX - 1, NULL);
    assert_int_equal(stream_of(f, "s").pending, BOXCAR_STREAM_PENDING_MAX - 1);
    enqueue_run(f, "s", 5, NULL);
    assert_int_equal(stream_of(f, "s").pending, BOXCAR_STREAM_PENDING_MAX);
}

/* BX-006 */
static void skipping_gives_up_the_next_message_whatever_the_policy(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3], skipped = {0};
    set_setting(f, "stream_policy", "halt");
    enqueue_run(f, "s", 3, ids);
    ASSERT_OK(f, boxcar_stream_skip(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), &skipped, &f->err));
    assert_int_equal(skipped.value, ids[0].value);
    assert_dead(f, ids[0], BOXCAR_REASON_CANCELLED);
    assert_stream_state(f, "s", BOXCAR_STREAM_READY);
    take_run(f, f->owner, ids + 1, 2);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_stream_skip(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), &skipped, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_stream_skip(f->store, BOXCAR_OUTBOX, BOXCAR_STR("nobody"), &skipped, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_stream_skip(f->store, BOXCAR_INBOX, BOXCAR_STR("s"), &skipped, &f->err));
    assert_int_equal(skipped.value, ids[0].value);
}

/* BX-006 */
static void only_a_halted_stream_can_be_resumed(void **state) {
    struct fixture *f = *state;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_stream_resume(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), false, &f->err));
    enqueue_streamed(f, "s", "p");
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_stream_resume(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), false, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_stream_resume(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), true, &f->err));
}

static void assert_rules(struct fixture *f, const char *wanted) {
    char text[400] = "";
    boxcar_stream_rule_list *list = NULL;
    ASSERT_OK(f, boxcar_stream_rule_read(f->store, &list, &f->err));
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_stream_rule *rule = list->items[i];
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s=%s ", (int)rule->pattern.len,
                 rule->pattern.data, boxcar_stream_policy_name(rule->policy));
    }
    boxcar_list_free(list);
    assert_string_equal(text, wanted);
}

/* BX-006 */
static void rules_can_be_written_changed_listed_and_removed(void **state) {
    struct fixture *f = *state;
    assert_rules(f, "");
    set_rule(f, "b", BOXCAR_STREAM_HALT);
    set_rule(f, "a*", BOXCAR_STREAM_HALT);
    set_rule(f, "*", BOXCAR_STREAM_CONTINUE);
    assert_rules(f, "*=continue a*=halt b=halt ");
    set_rule(f, "a*", BOXCAR_STREAM_CONTINUE);
    assert_rules(f, "*=continue a*=continue b=halt ");
    ASSERT_OK(f, boxcar_stream_rule_write(f->store, BOXCAR_STR("a*"), BOXCAR_STREAM_DEFAULT, &f->err));
    assert_rules(f, "*=continue b=halt ");
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_stream_rule_write(f->store, BOXCAR_STR("a*"), BOXCAR_STREAM_DEFAULT, &f->err));
    assert_rules(f, "*=continue b=halt ");
}

/* BX-011 */
static void bad_arguments_are_refused_by_name(void **state) {
    struct fixture *f = *state;
    char long_key[BOXCAR_STREAM_MAX + 2];
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    boxcar_stream_list *list = NULL;
    boxcar_work_id id;
    memset(long_key, 'x', sizeof(long_key));
    boxcar_str too_long = {long_key, sizeof(long_key) - 1}, no_utf8 = BOXCAR_STR("\xff"),
               empty = BOXCAR_STR("");
    filter.limit = 0;
    ASSERT_INVALID(f, "limit", boxcar_stream_page(f->store, &filter, &list, &f->err));
    filter.limit = 10001;
    ASSERT_INVALID(f, "limit", boxcar_stream_page(f->store, &filter, &list, &f->err));
    filter = BOXCAR_STREAM_FILTER_INIT;
    filter.prefix = no_utf8;
    ASSERT_INVALID(f, "prefix", boxcar_stream_page(f->store, &filter, &list, &f->err));
    filter = BOXCAR_STREAM_FILTER_INIT;
    filter.after = too_long;
    ASSERT_INVALID(f, "after", boxcar_stream_page(f->store, &filter, &list, &f->err));
    ASSERT_INVALID(f, "stream", boxcar_stream_find(f->store, BOXCAR_OUTBOX, empty, &list, &f->err));
    ASSERT_INVALID(f, "stream", boxcar_stream_resume(f->store, BOXCAR_OUTBOX, too_long, false, &f->err));
    ASSERT_INVALID(f, "stream", boxcar_stream_skip(f->store, BOXCAR_OUTBOX, no_utf8, &id, &f->err));
    ASSERT_INVALID(f, "box", boxcar_stream_skip(f->store, -1, BOXCAR_STR("s"), &id, &f->err));
    ASSERT_INVALID(f, "pattern", boxcar_stream_rule_write(f->store, empty, BOXCAR_STREAM_HALT, &f->err));
    ASSERT_INVALID(f, "pattern",
                   boxcar_stream_rule_write(f->store, too_long, BOXCAR_STREAM_DEFAULT, &f->err));
    ASSERT_INVALID(f, "policy",
                   boxcar_stream_rule_write(f->store, BOXCAR_STR("a"), (boxcar_stream_policy)7, &f->err));
    ASSERT_INVALID(f, "value",
                   boxcar_setting_write(f->store, BOXCAR_STR("stream_policy"), BOXCAR_STR("stop"), &f->err));
    assert_null(list);
    assert_rules(f, "");
    too_long.len--;
    long_key[BOXCAR_STREAM_MAX] = '*';
    ASSERT_OK(f, boxcar_stream_rule_write(f->store, (boxcar_str){long_key, BOXCAR_STREAM_MAX + 1},
                                          BOXCAR_STREAM_HALT, &f->err));
}

/* BX-006 */
static void doctor_tells_about_halted_streams_and_broken_order(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    assert_found(f, "halted_streams", BOXCAR_SEVERITY_OK, "no stream is halted");
    assert_found(f, "stream_order", BOXCAR_SEVERITY_OK, "no stream");
    set_setting(f, "stream_policy", "halt");
    assert_true(bury(f, f->owner, take(f, f->owner, enqueue_streamed(f, "h", "p").work_id), "no"));
    assert_found(f, "halted_streams", BOXCAR_SEVERITY_WARNING, "1 stream is halted");
    resume(f, "h", false);
    assert_found(f, "halted_streams", BOXCAR_SEVERITY_OK, "no stream is halted");
    enqueue_run(f, "s", 2, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 2);
    assert_true(ack(f, f->owner, batch.items[1]));
    assert_found(f, "stream_order", BOXCAR_SEVERITY_PROBLEM, "1 message of streams");
}

static const struct CMUnitTest TESTS[] = {
    TEST(streams_are_listed_by_key_in_pages),
    TEST(only_halted_streams_are_listed_on_request),
    TEST(stream_shows_its_head_and_how_many_wait),
    TEST(state_of_a_stream_follows_its_head),
    TEST(pending_messages_are_counted_up_to_a_limit),
    TEST(skipping_gives_up_the_next_message_whatever_the_policy),
    TEST(only_a_halted_stream_can_be_resumed),
    TEST(rules_can_be_written_changed_listed_and_removed),
    TEST(bad_arguments_are_refused_by_name),
    TEST(doctor_tells_about_halted_streams_and_broken_order),
};

const struct suite STREAM_ADMIN_SUITE = SUITE(TESTS);
