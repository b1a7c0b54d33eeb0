/* The public functions about the inbox over a store in memory: what they refuse, what they hand
 * down, what they report and what they log. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "boxcar.h"
#include "memory_store.h"

static struct memory_store MEMORY;
static boxcar_store *const STORE = &MEMORY.store;
static boxcar_error ERR;

static int fresh_store(void **state) {
    (void)state;
    memory_init(&MEMORY);
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

static boxcar_inbox_key key_of(const char *source, const char *id) {
    return (boxcar_inbox_key){boxcar_str_of(source), boxcar_str_of(id)};
}

static boxcar_new_message delivery(const char *source, const char *id) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

    message.source = boxcar_str_of(source);
    message.external_id = boxcar_str_of(id);
    message.topic = BOXCAR_STR("t");
    message.payload = BOXCAR_STR("secret payload");
    return message;
}

static void assert_text(boxcar_str text, const char *wanted) {
    assert_int_equal(text.len, strlen(wanted));
    assert_memory_equal(text.data, wanted, text.len);
}

/* BX-080 */
static void ids_derive_from_keys_without_mixing_their_parts(void **state) {
    static const char *const KEYS[][2] = {{"a", "bc"}, {"ab", "c"}, {"a", "1:b"},      {"a1", ":b"},
                                          {"1", "a"},  {"a", "1"},  {"\xc3\xa4", "b"}, {"1:a", "b"}};
    char text[BOXCAR_UUID_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        boxcar_message_id id = boxcar_inbox_message_id(key_of(KEYS[i][0], KEYS[i][1]));

        assert_int_equal(id.uuid.bytes[6] >> 4, 8);
        for (size_t k = 0; k < i; k++) {
            boxcar_message_id other = boxcar_inbox_message_id(key_of(KEYS[k][0], KEYS[k][1]));
            assert_memory_not_equal(&id, &other, sizeof(id));
        }
    }
    /* For ever: the first 16 bytes of sha256("boxcar:inbox:4:shoporder-42"), version and variant set. */
    boxcar_uuid_format(boxcar_inbox_message_id(key_of("shop", "order-42")).uuid, text);
    assert_string_equal(text, "83c7c5a5-fd77-8f72-b541-d4c27c7faeee");
}

static void key_that_is_none_has_no_id(void **state) {
    static char longest[4 * 255 + 1];
    const boxcar_str good = BOXCAR_STR("x");

    (void)state;
    memset(longest, 'x', sizeof(longest));
    const boxcar_str bad[] = {BOXCAR_NO_STR, BOXCAR_STR(""), {longest, sizeof(longest)}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_true(boxcar_uuid_is_none(boxcar_inbox_message_id((boxcar_inbox_key){bad[i], good}).uuid));
        assert_true(boxcar_uuid_is_none(boxcar_inbox_message_id((boxcar_inbox_key){good, bad[i]}).uuid));
    }
    boxcar_str most = {longest, 4 * 255};
    assert_false(boxcar_uuid_is_none(boxcar_inbox_message_id((boxcar_inbox_key){most, most}).uuid));
}

/* BX-080 */
static void states_are_the_statuses_in_other_words(void **state) {
    static const char *const NAMES[] = {"seen", "processing", "done", "dead"};
    boxcar_inbox_state parsed = BOXCAR_INBOX_DEAD;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_string_equal(boxcar_inbox_state_name(boxcar_inbox_state_of((boxcar_message_status)i)),
                            NAMES[i]);
        assert_true(boxcar_inbox_state_parse(boxcar_str_of(NAMES[i]), &parsed));
        assert_int_equal(parsed, i);
    }
    assert_string_equal(boxcar_inbox_state_name((boxcar_inbox_state)4), "?");
    assert_string_equal(boxcar_inbox_state_name((boxcar_inbox_state)-1), "?");
    assert_false(boxcar_inbox_state_parse(BOXCAR_STR("Seen"), &parsed));
    assert_false(boxcar_inbox_state_parse(BOXCAR_NO_STR, &parsed));
    assert_int_equal(parsed, BOXCAR_INBOX_DEAD);
}

static void message_is_handed_down_with_the_id_of_its_key(void **state) {
    boxcar_new_message message = delivery("shop", "1");
    boxcar_enqueued enqueued;
    boxcar_message_id id = boxcar_inbox_message_id(key_of("shop", "1"));

    (void)state;
    message.content_hash = BOXCAR_STR("");
    message.correlation_id = BOXCAR_STR("");
    message.stream = BOXCAR_STR("s");
    message.delay_ms = 5;
    message.ttl_ms = 7;
    message.max_attempts = 3;
    MEMORY.count = 41;
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_INBOX, &message, NULL, NULL), BOXCAR_OK);
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_INBOX, &message, &enqueued, &ERR), BOXCAR_OK);
    assert_int_equal(enqueued.work_id.value, 42);
    assert_true(enqueued.duplicate);
    assert_int_equal(MEMORY.asked.request.base.messages[BOXCAR_INBOX].count, 1);
    assert_memory_equal(&MEMORY.asked.messages[0].message_id, &id, sizeof(id));
    assert_text(MEMORY.asked.messages[0].source, "shop");
    assert_null(MEMORY.asked.messages[0].content_hash.data); /* empty is none */
    assert_null(MEMORY.asked.messages[0].correlation_id.data);
    assert_text(MEMORY.asked.messages[0].stream, "s");
    assert_int_equal(MEMORY.asked.messages[0].delay_ms, 5);
    assert_int_equal(MEMORY.asked.messages[0].ttl_ms, 7);
    assert_int_equal(MEMORY.asked.messages[0].max_attempts, 3);
}

static void many_are_handed_down_in_order(void **state) {
    boxcar_new_message messages[3] = {delivery("a", "1"), delivery("b", "2"), delivery("c", "3")};
    boxcar_enqueued enqueued[3];

    (void)state;
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_INBOX, messages, 3, enqueued, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.request.base.messages[BOXCAR_INBOX].count, 3);
    assert_text(MEMORY.asked.messages[2].external_id, "3");
    assert_int_equal(enqueued[2].work_id.value, 3);
    MEMORY.asked.calls = 0;
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_INBOX, NULL, 0, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.calls, 0);
}

/* A program built for an older library has smaller structs: an array of them is walked in its own steps. */
static void messages_of_an_older_program_are_smaller(void **state) {
    enum {
        SMALL = offsetof(boxcar_new_message, content_hash),
        SMALLER = offsetof(boxcar_new_message, due_at)
    };
    static _Alignas(boxcar_new_message) char bytes[2 * SMALL];

    (void)state;
    for (int i = 0; i < 2; i++) {
        boxcar_new_message message = delivery("shop", i ? "2" : "1");
        message.struct_size = SMALL;
        message.content_hash = BOXCAR_STR("not looked at");
        memcpy(bytes + i * SMALL, &message, SMALL);
    }
    assert_int_equal(
        boxcar_enqueue_many(STORE, BOXCAR_INBOX, (const boxcar_new_message *)bytes, 2, NULL, &ERR),
        BOXCAR_OK);
    assert_text(MEMORY.asked.messages[1].external_id, "2");
    assert_null(MEMORY.asked.messages[1].content_hash.data);
    for (int i = 0; i < 2; i++) {
        boxcar_new_message message = delivery("shop", "1");
        message.struct_size = SMALLER;
        memcpy(bytes + i * SMALLER, &message, SMALLER);
    }
    assert_int_equal(
        boxcar_enqueue_many(STORE, BOXCAR_OUTBOX, (const boxcar_new_message *)bytes, 2, NULL, &ERR),
        BOXCAR_OK);
    assert_int_equal(MEMORY.asked.messages[1].due_at, BOXCAR_TIME_NONE);
    assert_int_equal(MEMORY.asked.messages[1].struct_size, sizeof(boxcar_new_message));
}

static void assert_refused(boxcar_status status, const char *argument) {
    assert_int_equal(status, BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, argument);
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_int_equal(MEMORY.log_count, 0);
}

/* BX-011 */
static void bad_messages_never_reach_the_store(void **state) {
    boxcar_new_message good = delivery("shop", "1"), bad[2] = {good, good};
    boxcar_enqueued enqueued;

    (void)state;
    assert_refused(boxcar_enqueue(NULL, BOXCAR_INBOX, &good, &enqueued, &ERR), "store");
    assert_refused(boxcar_enqueue(STORE, BOXCAR_INBOX, NULL, &enqueued, &ERR), "message");
    bad[1].source = BOXCAR_STR("");
    assert_refused(boxcar_enqueue(STORE, BOXCAR_INBOX, &bad[1], &enqueued, &ERR), "source");
    assert_refused(boxcar_enqueue_many(STORE, BOXCAR_INBOX, bad, 2, NULL, &ERR), "messages[1].source");
    bad[1] = good;
    bad[1].content_hash = (boxcar_str){"a\0b", 3};
    assert_refused(boxcar_enqueue_many(STORE, BOXCAR_INBOX, bad, 2, NULL, &ERR), "messages[1].content_hash");
    bad[1] = good;
    bad[1].struct_size = sizeof(good) - 8;
    assert_refused(boxcar_enqueue_many(STORE, BOXCAR_INBOX, bad, 2, NULL, &ERR), "messages");
    bad[0].struct_size = 3;
    assert_refused(boxcar_enqueue_many(STORE, BOXCAR_INBOX, bad, 2, NULL, &ERR), "messages");
    bad[0].struct_size = 0;
    assert_refused(boxcar_enqueue_many(STORE, BOXCAR_INBOX, bad, 2, NULL, &ERR), "messages");
    assert_refused(boxcar_enqueue_many(STORE, BOXCAR_INBOX, &good, SIZE_MAX, NULL, &ERR), "count");
    assert_refused(boxcar_enqueue_many(STORE, BOXCAR_INBOX, NULL, 1, NULL, &ERR), "messages");
}

/* BX-010 */
static void delivery_is_logged_without_its_payload(void **state) {
    boxcar_new_message message = delivery("shop", "1");

    (void)state;
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_INBOX, &message, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 1);
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_string_equal(MEMORY.last.event, "inbox_enqueue");
    assert_non_null(strstr(MEMORY.last.fields, "source=shop external_id=1 message_id="));
    assert_null(strstr(MEMORY.last.fields, "secret"));
    assert_null(strstr(MEMORY.last.text, "secret"));
}

/* BX-080 */
static void other_hash_is_a_warning_and_no_failure(void **state) {
    boxcar_new_message message = delivery("shop", "1");
    bool answer, mismatch = false;

    (void)state;
    MEMORY.store.log_level = BOXCAR_LOG_WARN;
    MEMORY.other_hash = message.payload.data;
    MEMORY.hash_mismatch = true;
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_INBOX, &message, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 1);
    assert_string_equal(MEMORY.last.event, "inbox_hash_mismatch");
    assert_int_equal(
        boxcar_inbox_already_processed(STORE, key_of("shop", "1"), BOXCAR_STR("h"), &answer, &mismatch, &ERR),
        BOXCAR_OK);
    assert_true(mismatch);
    assert_int_equal(boxcar_inbox_accept(STORE, key_of("shop", "1"), BOXCAR_STR("h"), &answer, NULL, &ERR),
                     BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 3);
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_WARN);
}

static void questions_are_checked_and_handed_down(void **state) {
    boxcar_inbox_key key = key_of("shop", "1"), bad = key_of("shop", "");
    boxcar_inbox_receipt_list *list = NULL;
    bool answer = false;

    (void)state;
    assert_refused(boxcar_inbox_already_processed(STORE, bad, BOXCAR_NO_STR, &answer, NULL, &ERR),
                   "external_id");
    assert_refused(boxcar_inbox_accept(STORE, bad, BOXCAR_NO_STR, &answer, NULL, &ERR), "external_id");
    assert_refused(boxcar_inbox_find(STORE, bad, &list, &ERR), "external_id");
    assert_refused(boxcar_inbox_find(STORE, key, NULL, &ERR), "ret_list");
    assert_refused(boxcar_inbox_accept(NULL, key, BOXCAR_NO_STR, &answer, NULL, &ERR), "store");
    assert_refused(boxcar_inbox_accept(STORE, key, BOXCAR_NO_STR, NULL, NULL, &ERR), "ret_is_new");
    assert_refused(boxcar_inbox_already_processed(STORE, key, BOXCAR_NO_STR, NULL, NULL, &ERR),
                   "ret_processed");
    MEMORY.inbox_answer = true;
    assert_int_equal(boxcar_inbox_accept(STORE, key, BOXCAR_STR("h"), &answer, NULL, &ERR), BOXCAR_OK);
    assert_true(answer);
    assert_text(MEMORY.asked.origin.content_hash, "h");
    assert_int_equal(MEMORY.asked.question, INBOX_ACCEPT);
    assert_int_equal(boxcar_inbox_already_processed(STORE, key, BOXCAR_NO_STR, &answer, NULL, &ERR),
                     BOXCAR_OK);
    assert_int_equal(MEMORY.asked.question, INBOX_IS_PROCESSED);
    assert_int_equal(boxcar_inbox_find(STORE, key, &list, &ERR), BOXCAR_OK);
    assert_int_equal(list->count, 0);
    assert_null(list->items[0]);
    boxcar_list_free(list);
    boxcar_list_free(NULL);
}

/* BX-084 */
static void reviving_replays_one_dead_letter_of_the_inbox(void **state) {
    boxcar_message_ref ref = {.message_id = {{{9}}}};
    boxcar_work_id work_id;

    (void)state;
    MEMORY.found = (boxcar_message){.work_id = {42}, .status = BOXCAR_FAILED};
    MEMORY.dead_left = 1;
    assert_int_equal(boxcar_inbox_revive(STORE, ref, BOXCAR_STR("fixed"), &work_id, &ERR), BOXCAR_OK);
    assert_int_equal(work_id.value, 42);
    assert_int_equal(MEMORY.asked.box, BOXCAR_INBOX);
    assert_int_equal(MEMORY.asked.ref.message_id.uuid.bytes[0], 9);
    assert_int_equal(MEMORY.asked.dead_filter.box, BOXCAR_INBOX);
    assert_int_equal(MEMORY.asked.dead_filter.ref_count, 1);
    assert_text(MEMORY.asked.note, "fixed");
    assert_string_equal(MEMORY.last.event, "inbox_revive");
}

/* BX-084 */
static void what_is_not_dead_is_not_revived(void **state) {
    boxcar_message_ref ref = {.work_id = {42}};

    (void)state;
    MEMORY.found = (boxcar_message){.work_id = {42}, .status = BOXCAR_DONE};
    assert_int_equal(boxcar_inbox_revive(STORE, ref, BOXCAR_STR("why"), NULL, &ERR), BOXCAR_E_CONFLICT);
    assert_non_null(strstr(ERR.message, "done"));
    assert_int_equal(MEMORY.asked.dead_calls, 0);
    MEMORY.found.status = BOXCAR_FAILED; /* but somebody is faster, each time */
    assert_int_equal(boxcar_inbox_revive(STORE, ref, BOXCAR_STR("why"), NULL, &ERR), BOXCAR_E_CONFLICT);
    MEMORY.asked.calls = MEMORY.log_count = 0;
    assert_refused(boxcar_inbox_revive(STORE, ref, BOXCAR_STR(""), NULL, &ERR), "reason");
    assert_refused(
        boxcar_inbox_revive(STORE, (boxcar_message_ref){{0}, {{{0}}}}, BOXCAR_STR("why"), NULL, &ERR), "ref");
}

static void claiming_and_settling_are_for_the_inbox(void **state) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    int64_t count = -1;

    (void)state;
    settlement.work_id.value = 1;
    options.box = BOXCAR_INBOX;
    options.owner.uuid.bytes[0] = 1;
    for (int kind = BOXCAR_ACK; kind <= BOXCAR_FAIL; kind++) {
        assert_int_equal(
            boxcar_settle(STORE, &options, (boxcar_settle_kind)kind, &settlement, 1, NULL, NULL, &ERR),
            BOXCAR_OK);
        assert_int_equal(MEMORY.asked.request.parts[BOXCAR_INBOX].settle[kind].count, 1);
    }
    assert_int_equal(boxcar_settle(STORE, CLAIMER_FOR(BOXCAR_INBOX, options.owner, 5000), BOXCAR_RENEW,
                                   &settlement, 1, NULL, NULL, &ERR),
                     BOXCAR_OK);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_INBOX].settle[BOXCAR_RENEW].count, 1);
    assert_int_equal(boxcar_claim(STORE, &options, &list, &ERR), BOXCAR_OK);
    boxcar_list_free(list);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_INBOX].claim_size, 50);
    assert_int_equal(boxcar_reap(STORE, BOXCAR_INBOX, &count, &ERR), BOXCAR_OK);
    assert_true(MEMORY.asked.request.parts[BOXCAR_INBOX].reap);
}

static void what_the_store_refuses_is_passed_on_and_outputs_stay_untouched(void **state) {
    boxcar_new_message message = delivery("shop", "1");
    boxcar_enqueued enqueued = {.work_id = {77}};
    boxcar_inbox_receipt_list *list = NULL;
    bool answer = true, mismatch = true;

    (void)state;
    MEMORY.down = BOXCAR_E_UNAVAILABLE;
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_INBOX, &message, &enqueued, &ERR), BOXCAR_E_UNAVAILABLE);
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_INBOX, &message, 1, &enqueued, &ERR),
                     BOXCAR_E_UNAVAILABLE);
    assert_int_equal(boxcar_inbox_accept(STORE, key_of("a", "b"), BOXCAR_NO_STR, &answer, &mismatch, &ERR),
                     BOXCAR_E_UNAVAILABLE);
    assert_int_equal(boxcar_inbox_find(STORE, key_of("a", "b"), &list, &ERR), BOXCAR_E_UNAVAILABLE);
    assert_int_equal(
        boxcar_inbox_revive(STORE, (boxcar_message_ref){.work_id = {1}}, BOXCAR_STR("x"), NULL, &ERR),
        BOXCAR_E_UNAVAILABLE);
    assert_int_equal(enqueued.work_id.value, 77);
    assert_true(answer && mismatch && !list);
    assert_int_equal(MEMORY.log_count, 0);
}

#define TEST(function) cmocka_unit_test_setup(function, fresh_store)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(ids_derive_from_keys_without_mixing_their_parts),
        TEST(key_that_is_none_has_no_id),
        TEST(states_are_the_statuses_in_other_words),
        TEST(message_is_handed_down_with_the_id_of_its_key),
        TEST(many_are_handed_down_in_order),
        TEST(messages_of_an_older_program_are_smaller),
        TEST(bad_messages_never_reach_the_store),
        TEST(delivery_is_logged_without_its_payload),
        TEST(other_hash_is_a_warning_and_no_failure),
        TEST(questions_are_checked_and_handed_down),
        TEST(reviving_replays_one_dead_letter_of_the_inbox),
        TEST(what_is_not_dead_is_not_revived),
        TEST(claiming_and_settling_are_for_the_inbox),
        TEST(what_the_store_refuses_is_passed_on_and_outputs_stay_untouched),
    };

    return cmocka_run_group_tests_name("api_inbox", tests, NULL, NULL);
}
