/* Enqueueing: what is stored, and when it may be claimed. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "joins.h"
#include "streams.h"

/* OBX-001, OBX-002, BX-001 */
static void enqueued_message_is_there_for_every_other_connection(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "orders.paid", "42");
    boxcar_store_close(f->store);
    f->store = fixture_open(f);

    boxcar_message_list *list = find(f, enqueued.work_id);
    assert_text(look(list)->payload, "42");
    assert_text(look(list)->topic, "orders.paid");
    assert_int_equal(look(list)->status, BOXCAR_READY);
    boxcar_list_free(list);
    assert_true(ack(f, f->owner, take(f, f->owner, enqueued.work_id)));
}

static void enqueue_and_die(const struct fixture *f, boxcar_message_id id) {
    boxcar_store *store = NULL;
    boxcar_error err;
    if (fixture_try_open(f, &store, &err) != BOXCAR_OK)
        _exit(1);
    boxcar_new_message message = new_message("t", "from the dead");
    message.message_id = id;
    boxcar_enqueued enqueued;
    _exit(boxcar_enqueue(store, BOXCAR_OUTBOX, &message, &enqueued, &err) == BOXCAR_OK ? 0 : 2);
}

/* BX-001, OBX-001, OBX-002 */
static void enqueued_message_outlives_a_process_that_dies_without_closing(void **state) {
    struct fixture *f = *state;
    boxcar_message_ref ref = {.message_id = (boxcar_message_id){boxcar_uuid_new()}};
    pid_t child = fork();
    if (child == 0)
        enqueue_and_die(f, ref.message_id);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);

    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_find(f->store, BOXCAR_OUTBOX, ref, &list, &f->err));
    take(f, f->owner, look(list)->work_id);
    boxcar_list_free(list);
}

/* OBX-014 */
static void work_ids_start_at_one_and_rise(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued first = enqueue(f, "t", "a"), second = enqueue(f, "t", "a");
    assert_int_equal(first.work_id.value, 1);
    assert_true(second.work_id.value > first.work_id.value);
    assert_false(first.duplicate || second.duplicate);
    assert_memory_not_equal(first.message_id.uuid.bytes, second.message_id.uuid.bytes, 16);
}

/* OBX-014 */
static void new_message_ids_are_uuids_of_version_7(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "t", "a");
    assert_int_equal(enqueued.message_id.uuid.bytes[6] >> 4, 7);
    assert_int_equal(enqueued.message_id.uuid.bytes[8] >> 6, 2);
}

/* OBX-016 */
static void new_message_is_ready_and_has_no_past(void **state) {
    struct fixture *f = *state;
    boxcar_message_list *list = find(f, enqueue(f, "t", "a").work_id);
    const boxcar_message *m = look(list);
    assert_int_equal(m->status, BOXCAR_READY);
    assert_int_equal(m->box, BOXCAR_OUTBOX);
    assert_int_equal(m->retry_count, 0);
    assert_int_equal(m->crash_count, 0);
    assert_int_equal(m->max_attempts, 0);
    assert_absent(m->last_error);
    assert_absent(m->processed_by);
    assert_true(m->processed_at == BOXCAR_TIME_NONE && m->died_at == BOXCAR_TIME_NONE);
    assert_true(m->locked_until == BOXCAR_TIME_NONE && m->expires_at == BOXCAR_TIME_NONE);
    assert_true(boxcar_uuid_is_none(m->owner.uuid));
    assert_int_equal(m->epoch.value, 0);
    assert_int_equal(m->reason, BOXCAR_REASON_NONE);
    boxcar_list_free(list);
}

/* OBX-006 */
static void empty_payload_is_a_payload(void **state) {
    struct fixture *f = *state;
    boxcar_message_list *list = find(f, enqueue(f, "t", "").work_id);
    assert_text(look(list)->payload, "");
    boxcar_list_free(list);
    list = claim(f, f->owner, 1);
    assert_text(look(list)->payload, "");
    boxcar_list_free(list);
}

/* OBX-011 */
static void payload_is_opaque_and_comes_back_byte_for_byte(void **state) {
    static const char *const PAYLOADS[] = {
        "{\"broken\": ",
        "'; drop table message; --",
        "$1 ? %s \\ \\x41 :name",
        "\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x83",
        " \t\r\n ",
        "null",
        "\x01\x7f\xef\xbb\xbf",
        "\\N",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(PAYLOADS) / sizeof(PAYLOADS[0]); i++) {
        enqueue(f, "t", PAYLOADS[i]);
        boxcar_message_list *list = claim(f, f->owner, 1);
        assert_text(look(list)->payload, PAYLOADS[i]);
        boxcar_list_free(list);
    }
}

/* OBX-008 */
static void empty_correlation_id_and_stream_are_absent(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "a");
    message.correlation_id = BOXCAR_STR("");
    message.stream = BOXCAR_STR("");
    boxcar_message_list *list = find(f, enqueue_message(f, &message).work_id);
    assert_absent(look(list)->correlation_id);
    assert_absent(look(list)->stream);
    boxcar_list_free(list);
}

/* OBX-009 */
static void correlation_id_of_255_characters_is_kept(void **state) {
    struct fixture *f = *state;
    char text[255 * 3 + 1] = "";
    for (int i = 0; i < 255; i++)
        strcat(text, "\xe2\x82\xac");
    boxcar_new_message message = new_message("t", "a");
    message.correlation_id = boxcar_str_of(text);
    boxcar_message_list *list = find(f, enqueue_message(f, &message).work_id);
    assert_text(look(list)->correlation_id, text);
    boxcar_list_free(list);
}

/* OBX-022 */
static void everything_given_is_found_and_claimed(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t.full", "body");
    message.correlation_id = BOXCAR_STR("corr");
    message.stream = BOXCAR_STR("customer-7");
    message.headers = BOXCAR_STR("{\"a\": \"1\"}");
    message.due_at = database_now(f) - 5000000;
    message.ttl_ms = 3600000;
    message.message_id.uuid = boxcar_uuid_new();
    message.max_attempts = 7;
    boxcar_enqueued enqueued = enqueue_message(f, &message);
    assert_same_message_id(enqueued.message_id, message.message_id);

    boxcar_message_list *lists[2] = {find(f, enqueued.work_id), claim(f, f->owner, 1)};
    for (int i = 0; i < 2; i++) {
        const boxcar_message *m = look(lists[i]);
        assert_int_equal(m->work_id.value, enqueued.work_id.value);
        assert_same_message_id(m->message_id, message.message_id);
        assert_text(m->topic, "t.full");
        assert_text(m->payload, "body");
        assert_text(m->correlation_id, "corr");
        assert_text(m->stream, "customer-7");
        assert_non_null(m->headers.data);
        assert_non_null(memmem(m->headers.data, m->headers.len, "\"a\"", 3));
        assert_true(m->due_at == message.due_at);
        assert_true(m->expires_at == m->created_at + 3600000 * INT64_C(1000));
        assert_int_equal(m->max_attempts, 7);
        boxcar_list_free(lists[i]);
    }
}

static bool same_text(boxcar_str a, boxcar_str b) {
    return a.len == b.len && !a.data == !b.data && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static void assert_alike(const boxcar_message *a, const boxcar_message *b) {
    assert_true(same_text(a->topic, b->topic));
    assert_true(same_text(a->payload, b->payload));
    assert_true(same_text(a->correlation_id, b->correlation_id));
    assert_true(same_text(a->stream, b->stream));
    assert_true(same_text(a->headers, b->headers));
    assert_int_equal(a->max_attempts, b->max_attempts);
    assert_int_equal(a->status, b->status);
    assert_true((a->due_at == BOXCAR_TIME_NONE) == (b->due_at == BOXCAR_TIME_NONE));
    if (a->due_at != BOXCAR_TIME_NONE && a->due_at != b->due_at)
        assert_true(a->due_at - a->created_at == b->due_at - b->created_at);
    assert_true((a->expires_at == BOXCAR_TIME_NONE) == (b->expires_at == BOXCAR_TIME_NONE));
    if (a->expires_at != BOXCAR_TIME_NONE)
        assert_true(a->expires_at - a->created_at == b->expires_at - b->created_at);
}

/* A store may have a shorter way for a single message. OBX-012, BX-027 */
static void message_is_stored_alike_alone_and_among_others(void **state) {
    struct fixture *f = *state;
    boxcar_join_id join = start_join(f, 100);
    enum { KINDS = 10 };
    for (int kind = 0; kind < KINDS; kind++) {
        boxcar_new_message alone = new_message("t", "body");
        alone.correlation_id = kind == 1 ? BOXCAR_STR("corr") : BOXCAR_NO_STR;
        alone.stream = kind == 2 ? BOXCAR_STR("customer-7") : BOXCAR_NO_STR;
        alone.headers = kind == 3 ? BOXCAR_STR("{\"a\": \"1\"}") : BOXCAR_NO_STR;
        alone.due_at = kind == 4 ? database_now(f) + INT64_C(3600) * 1000000 : BOXCAR_TIME_NONE;
        alone.delay_ms = kind == 5 ? 1500 : 0;
        alone.ttl_ms = kind == 6 ? 3600001 : 0;
        alone.max_attempts = kind == 7 ? 3 : 0;
        if (kind == 8)
            alone.join_id = join;
        if (kind == 9)
            alone.message_id.uuid = boxcar_uuid_new();
        boxcar_new_message many[2] = {alone, new_message("t", "other")};
        if (kind == 9)
            many[0].message_id.uuid = boxcar_uuid_new();
        boxcar_enqueued one = enqueue_message(f, &alone), two[2];
        ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, many, 2, two, &f->err));
        assert_false(one.duplicate || two[0].duplicate);
        boxcar_message_list *lists[2] = {find(f, one.work_id), find(f, two[0].work_id)};
        assert_same_message_id(look(lists[0])->message_id, one.message_id);
        assert_alike(look(lists[0]), look(lists[1]));
        boxcar_list_free(lists[0]);
        boxcar_list_free(lists[1]);
    }
    assert_int_equal(count_members(f, join, BOXCAR_MEMBER_PENDING), 2);
}

/* BX-027, BX-065 */
static void key_is_the_same_key_alone_and_among_others(void **state) {
    struct fixture *f = *state;
    for (int unique = 0; unique < 2; unique++) {
        boxcar_new_message message = new_message("t", "body");
        message.key = unique ? BOXCAR_STR("u") : BOXCAR_STR("k");
        message.unique = (uintptr_t)unique;
        boxcar_enqueued first = enqueue_message(f, &message), again = enqueue_message(f, &message), two[2];
        boxcar_new_message many[2] = {message, new_message("t", "other")};
        ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, many, 2, two, &f->err));
        assert_false(first.duplicate || two[1].duplicate);
        assert_true(again.duplicate && two[0].duplicate);
        assert_int_equal(again.work_id.value, first.work_id.value);
        assert_int_equal(two[0].work_id.value, first.work_id.value);
        assert_same_message_id(again.message_id, first.message_id);
        message.topic = BOXCAR_STR("another");
        assert_false(enqueue_message(f, &message).duplicate);
    }
}

/* OBX-012, OBX-018, BX-005 */
static void message_due_later_is_not_claimable(void **state) {
    struct fixture *f = *state;
    boxcar_new_message by_time = new_message("t", "a"), by_delay = new_message("t", "b");
    by_time.due_at = database_now(f) + INT64_C(3600) * 1000000;
    by_delay.delay_ms = 3600 * 1000;
    boxcar_work_id ids[2] = {enqueue_message(f, &by_time).work_id, enqueue_message(f, &by_delay).work_id};
    assert_nothing_claimable(f);
    for (int i = 0; i < 2; i++) {
        boxcar_message_list *list = find(f, ids[i]);
        assert_int_equal(look(list)->status, BOXCAR_READY);
        assert_true(look(list)->available_at > look(list)->created_at + INT64_C(3000) * 1000000);
        boxcar_list_free(list);
    }
}

/* OBX-012, OBX-018, BX-005 */
static void message_is_claimable_once_it_is_due_and_not_before(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "a");
    message.delay_ms = 150;
    boxcar_enqueued enqueued = enqueue_message(f, &message);
    boxcar_message_list *list = claim_wait(f, f->owner, 1, 30000);
    const boxcar_message *m = look(list);
    assert_int_equal(m->work_id.value, enqueued.work_id.value);
    assert_true(m->due_at >= m->created_at + 150000);
    assert_true(database_now(f) + 5000 >= m->due_at);
    assert_int_equal(m->retry_count, 0);
    boxcar_list_free(list);
}

/* OBX-013 */
static void message_due_in_the_past_is_claimable_at_once(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "a");
    message.due_at = 0;
    take(f, f->owner, enqueue_message(f, &message).work_id);
    take(f, f->owner, enqueue(f, "t", "no due time").work_id);
}

/* OBX-097 */
static void many_messages_are_stored_in_the_order_given(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[3] = {new_message("t", "0"), new_message("t", "1"), new_message("t", "2")};
    boxcar_enqueued enqueued[3];
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 3, enqueued, &f->err));
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(list->count, 3);
    for (size_t i = 0; i < 3; i++) {
        const boxcar_message *m = list->items[i];
        assert_int_equal(m->work_id.value, enqueued[i].work_id.value);
        assert_int_equal(m->payload.data[0], '0' + (int)i);
    }
    boxcar_list_free(list);
}

/* OBX-097, BX-011 */
static void one_bad_message_among_many_stores_none(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[3] = {new_message("t", "0"), new_message("t", "1"), new_message("", "2")};
    boxcar_enqueued enqueued[3] = {{.work_id = {-7}}};
    ASSERT_INVALID(f, "messages[2].topic",
                   boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 3, enqueued, &f->err));
    assert_int_equal(enqueued[0].work_id.value, -7);
    assert_int_equal(stats_of(f).ready, 0);
    assert_nothing_claimable(f);
}

/* OBX-001, BX-001, BX-005: plain neighbours may go into the log together, those between them not. */
static void messages_of_every_kind_in_one_call_keep_their_order_and_what_they_say(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[24];
    boxcar_enqueued enqueued[24];
    for (int i = 0; i < 24; i++) {
        messages[i] = new_message(i % 2 ? "odd" : "even", "p");
        messages[i].max_attempts = i + 1;
        messages[i].correlation_id = BOXCAR_STR("c");
    }
    messages[9].delay_ms = 3600000;
    messages[10].ttl_ms = 3600000;
    messages[20].stream = BOXCAR_STR("s");
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 24, enqueued, &f->err));
    for (int i = 0; i < 24; i++) {
        boxcar_message_list *list = find(f, enqueued[i].work_id);
        assert_int_equal(enqueued[i].work_id.value, enqueued[0].work_id.value + i);
        assert_memory_equal(&look(list)->message_id, &enqueued[i].message_id, sizeof(boxcar_message_id));
        assert_text(look(list)->topic, i % 2 ? "odd" : "even");
        assert_text(look(list)->correlation_id, "c");
        assert_int_equal(look(list)->max_attempts, i + 1);
        boxcar_list_free(list);
    }
    assert_int_equal(claim_batch(f, f->owner, 50).count, 23);
    assert_int_equal(stats_of(f).in_progress, 23);
}

/* OBX-001 */
static void results_of_enqueueing_many_may_be_left_out(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[2] = {new_message("t", "0"), new_message("t", "1")};
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 2, NULL, &f->err));
    assert_int_equal(stats_of(f).ready, 2);
}

static const struct CMUnitTest TESTS[] = {
    TEST(enqueued_message_is_there_for_every_other_connection),
    TEST(enqueued_message_outlives_a_process_that_dies_without_closing),
    TEST(work_ids_start_at_one_and_rise),
    TEST(new_message_ids_are_uuids_of_version_7),
    TEST(new_message_is_ready_and_has_no_past),
    TEST(empty_payload_is_a_payload),
    TEST(payload_is_opaque_and_comes_back_byte_for_byte),
    TEST(empty_correlation_id_and_stream_are_absent),
    TEST(correlation_id_of_255_characters_is_kept),
    TEST(everything_given_is_found_and_claimed),
    TEST(message_is_stored_alike_alone_and_among_others),
    TEST(key_is_the_same_key_alone_and_among_others),
    TEST(message_due_later_is_not_claimable),
    TEST(message_is_claimable_once_it_is_due_and_not_before),
    TEST(message_due_in_the_past_is_claimable_at_once),
    TEST(many_messages_are_stored_in_the_order_given),
    TEST(one_bad_message_among_many_stores_none),
    TEST(messages_of_every_kind_in_one_call_keep_their_order_and_what_they_say),
    TEST(results_of_enqueueing_many_may_be_left_out),
};

const struct suite ENQUEUE_SUITE = SUITE(TESTS);
