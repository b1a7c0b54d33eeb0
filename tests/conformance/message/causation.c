/* What caused a message, and the metadata that it carries: the same everywhere that a message can be seen. */
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "inboxes.h"

static void assert_extras(const boxcar_message *message, const char *causation, const char *metadata) {
    assert_text(message->causation_id, causation);
    assert_text(message->metadata, metadata);
}

/* One by one, many at once, with everything else and alone. */
static void messages_keep_what_caused_them_and_their_metadata(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[6];
    boxcar_enqueued enqueued[6];
    for (size_t i = 0; i < 6; i++) {
        messages[i] = new_message("t", "p");
        messages[i].causation_id = BOXCAR_STR("cause");
        messages[i].metadata = BOXCAR_STR("{\"n\": [1, {\"deep\": null}]}");
    }
    messages[1].stream = BOXCAR_STR("s");
    messages[2].key = BOXCAR_STR("k");
    messages[3].delay_ms = 3600000;
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 6, enqueued, &f->err));
    messages[2].key = BOXCAR_STR("other");
    enqueued[2] = enqueue_message(f, &messages[2]);
    enqueued[5] = enqueue_message(f, &messages[5]);
    for (size_t i = 0; i < 6; i++) {
        boxcar_message_list *list = find(f, enqueued[i].work_id);
        assert_extras(look(list), "cause", "{\"n\": [1, {\"deep\": null}]}");
        boxcar_list_free(list);
    }
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(list->count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_extras(list->items[i], "cause", "{\"n\": [1, {\"deep\": null}]}");
    boxcar_list_free(list);
}

static void messages_of_the_inbox_keep_them_too(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[2] = {delivery("bank", "1", "p"), delivery("bank", "2", "p")};
    for (int i = 0; i < 2; i++) {
        messages[i].causation_id = BOXCAR_STR("cause");
        messages[i].metadata = BOXCAR_STR("{\"a\": 1}");
    }
    deliver_message(f, &messages[0]);
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_INBOX, messages, 2, NULL, &f->err));
    struct batch batch = batch_for(f->owner);
    batch.parts[BOXCAR_INBOX].claim_size = 10;
    boxcar_result *result = send_batch(f, &batch);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_extras(result->claimed[BOXCAR_INBOX]->items[i], "cause", "{\"a\": 1}");
    boxcar_result_free(result);
}

/* A retry, a list, a dead letter. */
static void retries_and_dead_letters_have_them(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    message.causation_id = BOXCAR_STR("cause");
    message.metadata = BOXCAR_STR("{\"a\": 1}");
    boxcar_enqueued enqueued = enqueue_message(f, &message);
    assert_true(abandon(f, f->owner, take(f, f->owner, enqueued.work_id), 0));
    boxcar_message_list *list = claim(f, f->owner, 1);
    assert_extras(look(list), "cause", "{\"a\": 1}");
    struct taken taken = {look(list)->work_id, look(list)->epoch, 0, 0};
    boxcar_list_free(list);
    assert_true(bury(f, f->owner, taken, "no"));
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_page(f->store, &filter, 10, (boxcar_work_id){0}, &list, &f->err));
    assert_extras(look(list), "cause", "{\"a\": 1}");
    boxcar_list_free(list);
}

static void empty_causation_is_none(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    message.causation_id = BOXCAR_STR("");
    enqueue_message(f, &message);
    boxcar_message_list *list = claim(f, f->owner, 1);
    assert_absent(look(list)->causation_id);
    assert_absent(look(list)->metadata);
    assert_absent(look(list)->event_type);
    boxcar_list_free(list);
}

/* BX-011 */
static void bad_causation_and_metadata_are_refused(void **state) {
    static const char *const BAD[] = {"", "x", "[]", "1", "null", "\"text\"", "{\"a\": 1, \"a\": 2}", "{"};
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    char text[257], *large = calloc(1, 70000);
    memset(text, 'x', sizeof(text) - 1);
    text[256] = '\0';
    message.causation_id = boxcar_str_of(text);
    ASSERT_INVALID(f, "causation_id", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    message.causation_id = BOXCAR_STR("\xff");
    ASSERT_INVALID(f, "causation_id", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    message.causation_id = BOXCAR_NO_STR;
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        message.metadata = boxcar_str_of(BAD[i]);
        ASSERT_INVALID(f, "metadata", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    }
    assert_non_null(large);
    memset(large, ' ', 69999);
    memcpy(large, "{\"a\": \"", 7);
    memset(large + 7, 'x', 69980);
    memcpy(large + 69987, "\"}", 2);
    message.metadata = boxcar_str_of(large);
    ASSERT_INVALID(f, "metadata", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    boxcar_new_message many[5] = {new_message("t", "p"), new_message("t", "p"), new_message("t", "p"),
                                  new_message("t", "p"), message};
    ASSERT_INVALID(f, "metadata", boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, many, 5, NULL, &f->err));
    free(large);
    assert_nothing_claimable(f);
}

static const struct CMUnitTest TESTS[] = {
    TEST(messages_keep_what_caused_them_and_their_metadata),
    TEST(messages_of_the_inbox_keep_them_too),
    TEST(retries_and_dead_letters_have_them),
    TEST(empty_causation_is_none),
    TEST(bad_causation_and_metadata_are_refused),
};

const struct suite CAUSATION_SUITE = SUITE(TESTS);
