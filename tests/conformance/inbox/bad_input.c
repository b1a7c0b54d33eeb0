/* Bad arguments of the calls about the inbox: a typed error that names the argument, and nothing changes. */
#include <stdlib.h>
#include <string.h>

#include "inboxes.h"

/* `characters` times a character of three bytes. The caller frees it. */
static char *long_text(size_t characters) {
    char *text = malloc(3 * characters + 1);
    assert_non_null(text);
    for (size_t i = 0; i < characters; i++)
        memcpy(text + 3 * i, "\xe2\x82\xac", 3);
    text[3 * characters] = '\0';
    return text;
}

static const boxcar_str BAD_TEXTS[] = {{"a\0b", 3},         {"\xff", 1},     {"\xc3", 1},
                                       {"\xed\xa0\x80", 3}, {"\xc0\x80", 2}, {NULL, 3}};
enum { BAD_COUNT = sizeof(BAD_TEXTS) / sizeof(BAD_TEXTS[0]) };

static void assert_nothing_there(struct fixture *f) {
    assert_int_equal(count_messages(f) + count_keys(f), 0);
}

/* Every call that takes a key and a hash refuses it, and says which part. */
static void assert_refused(struct fixture *f, boxcar_inbox_key key, boxcar_str hash, const char *argument) {
    boxcar_new_message message = delivery("s", "i", "p");
    boxcar_enqueued enqueued = {.work_id = {-1}};
    boxcar_inbox_receipt_list *list = NULL;
    bool answer = true;
    message.source = key.source;
    message.external_id = key.external_id;
    message.content_hash = hash;
    ASSERT_INVALID(f, argument, boxcar_enqueue(f->store, BOXCAR_INBOX, &message, &enqueued, &f->err));
    assert_int_equal(enqueued.work_id.value, -1);
    assert_false(f->err.retryable);
    ASSERT_INVALID(f, argument, boxcar_inbox_already_processed(f->store, key, hash, &answer, NULL, &f->err));
    ASSERT_INVALID(f, argument, boxcar_inbox_accept(f->store, key, hash, &answer, NULL, &f->err));
    assert_true(answer);
    if (strcmp(argument, "content_hash") != 0)
        ASSERT_INVALID(f, argument, boxcar_inbox_find(f->store, key, &list, &f->err));
    assert_nothing_there(f);
}

/* BX-080, BX-011 */
static void keys_have_1_to_255_characters(void **state) {
    struct fixture *f = *state;
    char *longest = long_text(255), *too_long = long_text(256);
    boxcar_str good = BOXCAR_STR("x"), none = BOXCAR_NO_STR;
    boxcar_str bad[] = {BOXCAR_NO_STR, BOXCAR_STR(""), boxcar_str_of(too_long)};
    for (int i = 0; i < 3; i++) {
        assert_refused(f, (boxcar_inbox_key){bad[i], good}, none, "source");
        assert_refused(f, (boxcar_inbox_key){good, bad[i]}, none, "external_id");
    }
    assert_refused(f, (boxcar_inbox_key){good, good}, bad[2], "content_hash");
    boxcar_new_message message = delivery(longest, longest, "p");
    message.content_hash = boxcar_str_of(longest);
    assert_false(deliver_message(f, &message).duplicate);
    assert_true(deliver_message(f, &message).duplicate);
    free(longest);
    free(too_long);
}

/* BX-011 */
static void texts_are_utf8_without_nul(void **state) {
    struct fixture *f = *state;
    boxcar_str good = BOXCAR_STR("x");
    for (int i = 0; i < BAD_COUNT; i++) {
        assert_refused(f, (boxcar_inbox_key){BAD_TEXTS[i], good}, BOXCAR_NO_STR, "source");
        assert_refused(f, (boxcar_inbox_key){good, BAD_TEXTS[i]}, BOXCAR_NO_STR, "external_id");
        assert_refused(f, (boxcar_inbox_key){good, good}, BAD_TEXTS[i], "content_hash");
    }
}

/* BX-011: the rules of the outbox */
static void message_obeys_the_rules_of_the_outbox(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *argument;
        size_t offset;
    } TEXTS[] = {{"topic", offsetof(boxcar_new_message, topic)},
                 {"payload", offsetof(boxcar_new_message, payload)},
                 {"correlation_id", offsetof(boxcar_new_message, correlation_id)},
                 {"stream", offsetof(boxcar_new_message, stream)},
                 {"headers", offsetof(boxcar_new_message, headers)}};
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        boxcar_new_message message = delivery("s", "i", "p");
        *(boxcar_str *)((char *)&message + TEXTS[i].offset) = (boxcar_str){"\xff", 1};
        ASSERT_INVALID(f, TEXTS[i].argument, boxcar_enqueue(f->store, BOXCAR_INBOX, &message, NULL, &f->err));
    }
    boxcar_new_message message = delivery("s", "i", NULL);
    ASSERT_INVALID(f, "payload", boxcar_enqueue(f->store, BOXCAR_INBOX, &message, NULL, &f->err));
    message = delivery("s", "i", "p");
    message.max_attempts = -1;
    ASSERT_INVALID(f, "max_attempts", boxcar_enqueue(f->store, BOXCAR_INBOX, &message, NULL, &f->err));
    message = delivery("s", "i", "p");
    message.ttl_ms = -1;
    ASSERT_INVALID(f, "ttl_ms", boxcar_enqueue(f->store, BOXCAR_INBOX, &message, NULL, &f->err));
    message = delivery("s", "i", "p");
    message.delay_ms = 1;
    message.due_at = 1;
    ASSERT_INVALID(f, "delay_ms", boxcar_enqueue(f->store, BOXCAR_INBOX, &message, NULL, &f->err));
    assert_nothing_there(f);
}

/* BX-011 */
static void missing_pointers_are_named(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = delivery("s", "i", "p");
    boxcar_inbox_key key = key_of("s", "i");
    boxcar_message_list *claimed = NULL;
    bool answer;
    ASSERT_INVALID(f, "store", boxcar_enqueue(NULL, BOXCAR_INBOX, &message, NULL, &f->err));
    ASSERT_INVALID(f, "message", boxcar_enqueue(f->store, BOXCAR_INBOX, NULL, NULL, &f->err));
    ASSERT_INVALID(f, "messages", boxcar_enqueue_many(f->store, BOXCAR_INBOX, NULL, 1, NULL, &f->err));
    ASSERT_INVALID(f, "store",
                   boxcar_inbox_already_processed(NULL, key, BOXCAR_NO_STR, &answer, NULL, &f->err));
    ASSERT_INVALID(f, "ret_processed",
                   boxcar_inbox_already_processed(f->store, key, BOXCAR_NO_STR, NULL, NULL, &f->err));
    ASSERT_INVALID(f, "ret_is_new", boxcar_inbox_accept(f->store, key, BOXCAR_NO_STR, NULL, NULL, &f->err));
    ASSERT_INVALID(f, "ret_list", boxcar_inbox_find(f->store, key, NULL, &f->err));
    ASSERT_INVALID(f, "claimer", boxcar_claim(f->store, NULL, &claimed, &f->err));
    message.struct_size = 0;
    ASSERT_INVALID(f, "message", boxcar_enqueue(f->store, BOXCAR_INBOX, &message, NULL, &f->err));
    message.struct_size = 1 << 20;
    ASSERT_INVALID(f, "message", boxcar_enqueue(f->store, BOXCAR_INBOX, &message, NULL, &f->err));
    assert_nothing_there(f);
}

/* BX-084, BX-011 */
static void reviving_needs_a_reason_and_one_id(void **state) {
    struct fixture *f = *state;
    boxcar_message_ref ref = {.work_id = deliver_dead(f, "s", "i").work_id}, both = ref, none = {0};
    both.message_id.uuid = boxcar_uuid_new();
    ASSERT_INVALID(f, "reason", boxcar_inbox_revive(f->store, ref, BOXCAR_NO_STR, NULL, &f->err));
    ASSERT_INVALID(f, "reason", boxcar_inbox_revive(f->store, ref, BOXCAR_STR(""), NULL, &f->err));
    ASSERT_INVALID(f, "reason", boxcar_inbox_revive(f->store, ref, (boxcar_str){"\xff", 1}, NULL, &f->err));
    ASSERT_INVALID(f, "ref", boxcar_inbox_revive(f->store, both, BOXCAR_STR("why"), NULL, &f->err));
    ASSERT_INVALID(f, "ref", boxcar_inbox_revive(f->store, none, BOXCAR_STR("why"), NULL, &f->err));
    assert_state(f, "s", "i", BOXCAR_INBOX_DEAD);
}

/* BX-011: no SQL in them */
static void keys_may_look_like_sql(void **state) {
    struct fixture *f = *state;
    static const char *const NASTY[] = {"'; drop table message; --", "{\"a\"}", "%", "\\", "\"", "null", " "};
    for (size_t i = 0; i < sizeof(NASTY) / sizeof(NASTY[0]); i++) {
        assert_false(deliver(f, NASTY[i], NASTY[i]).duplicate);
        assert_true(deliver(f, NASTY[i], NASTY[i]).duplicate);
        assert_int_equal(receipt_of(f, NASTY[i], NASTY[i]).is.seen_count, 2);
    }
}

static const struct CMUnitTest TESTS[] = {
    TEST(keys_have_1_to_255_characters),         TEST(texts_are_utf8_without_nul),
    TEST(message_obeys_the_rules_of_the_outbox), TEST(missing_pointers_are_named),
    TEST(reviving_needs_a_reason_and_one_id),    TEST(keys_may_look_like_sql),
};

const struct suite INBOX_BAD_INPUT_SUITE = SUITE(TESTS);
