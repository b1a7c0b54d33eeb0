/* Big things: payloads, batches, texts. */
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

enum { BIG = 64 * 1024 * 1024 };

/* Printable bytes without a short period, so that a piece in the wrong place shows. */
static char *big_text(size_t len) {
    char *text = malloc(len);
    assert_non_null(text);
    uint32_t chance = 12345;
    for (size_t i = 0; i < len; i++) {
        chance = chance * 1664525 + 1013904223;
        text[i] = (char)(' ' + (chance >> 24) % 95);
    }
    return text;
}

static void assert_same_bytes(boxcar_str actual, const char *wanted, size_t len) {
    assert_int_equal(actual.len, len);
    assert_true(memcmp(actual.data, wanted, len) == 0);
}

/* OBX-114, OBX-011 */
static void payload_of_64_mebibytes_arrives_byte_for_byte(void **state) {
    struct fixture *f = *state;
    char *text = big_text(BIG);
    boxcar_new_message message = new_message("t", NULL);
    message.payload = (boxcar_str){text, BIG};
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(look(list)->work_id.value, id.value);
    assert_same_bytes(look(list)->payload, text, BIG);
    boxcar_message_list_free(list);
    list = find(f, id);
    assert_same_bytes(look(list)->payload, text, BIG);
    boxcar_message_list_free(list);
    free(text);
}

/* OBX-026, OBX-097 */
static void ten_thousand_messages_are_enqueued_claimed_and_acked_in_a_call_each(void **state) {
    struct fixture *f = *state;
    enum { COUNT = BOXCAR_BATCH_SIZE_MAX };
    static boxcar_settlement settlements[COUNT];
    static boxcar_work_id affected[COUNT];
    boxcar_work_id *ids = calloc(COUNT, sizeof(*ids));
    assert_non_null(ids);
    enqueue_many(f, "t", COUNT, ids);
    boxcar_message_list *list = claim(f, f->owner, COUNT);
    assert_int_equal(boxcar_message_list_count(list), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const boxcar_message *m = boxcar_message_list_get(list, i);
        assert_int_equal(m->work_id.value, ids[i].value);
        settlements[i] = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
    }
    boxcar_message_list_free(list);
    size_t count = 0;
    ASSERT_OK(f, boxcar_ack(f->store, f->owner, settlements, COUNT, affected, &count, &f->err));
    assert_int_equal(count, COUNT);
    assert_int_equal(stats_of(f).done, COUNT);
    free(ids);
}

/* OBX-114 */
static void thousand_messages_of_ten_kibibytes_fit_in_a_call(void **state) {
    struct fixture *f = *state;
    enum { COUNT = 1000, SIZE = 10 * 1024 };
    static boxcar_new_message messages[COUNT];
    char *text = big_text(SIZE + COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        messages[i] = new_message("t", NULL);
        messages[i].payload = (boxcar_str){text + i, SIZE};
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, messages, COUNT, NULL, &f->err));
    boxcar_message_list *list = claim(f, f->owner, COUNT);
    assert_int_equal(boxcar_message_list_count(list), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_same_bytes(boxcar_message_list_get(list, i)->payload, text + i, SIZE);
    boxcar_message_list_free(list);
    free(text);
}

/* OBX-007 */
static void topics_and_streams_of_255_characters_of_four_bytes_work_throughout(void **state) {
    struct fixture *f = *state;
    char name[255 * 4 + 1], pattern[255 * 4 + 1];
    for (int i = 0; i < 255; i++)
        memcpy(name + 4 * i, "\xf0\x9f\x9a\x83", 4);
    name[255 * 4] = '\0';
    memcpy(pattern, name, 254 * 4);
    strcpy(pattern + 254 * 4, "*");
    boxcar_new_message message = new_message(name, "p");
    message.stream = message.correlation_id = boxcar_str_of(name);
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    boxcar_message_list *list = claim_topic(f, f->owner, 5, pattern);
    assert_int_equal(look(list)->work_id.value, id.value);
    assert_text(look(list)->topic, name);
    assert_text(look(list)->stream, name);
    assert_text(look(list)->correlation_id, name);
    boxcar_message_list_free(list);
    boxcar_list_options options = BOXCAR_LIST_OPTIONS_INIT;
    options.topic = boxcar_str_of(name);
    ASSERT_OK(f, boxcar_message_page(f->store, &options, &list, &f->err));
    assert_int_equal(look(list)->work_id.value, id.value);
    boxcar_message_list_free(list);
}

static const struct CMUnitTest TESTS[] = {
    TEST(payload_of_64_mebibytes_arrives_byte_for_byte),
    TEST(ten_thousand_messages_are_enqueued_claimed_and_acked_in_a_call_each),
    TEST(thousand_messages_of_ten_kibibytes_fit_in_a_call),
    TEST(topics_and_streams_of_255_characters_of_four_bytes_work_throughout),
};

const struct suite LARGE_SUITE = SUITE("large", TESTS, ON_EVERY_STORE);
