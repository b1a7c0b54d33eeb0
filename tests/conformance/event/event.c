/* Events: appending with and without an expected version, repeating, reading a stream. Following is in
 * follow.c. All of it is BX-066. */
#include <stdlib.h>
#include <string.h>

#include "events.h"

#define ANY BOXCAR_ANY_VERSION

/* BX-066 */
static void versions_of_a_stream_begin_at_1_and_have_no_gaps(void **state) {
    struct fixture *f = *state;
    assert_int_equal(append(f, "a", ANY, "1"), 1);
    assert_int_equal(append(f, "b", ANY, "1"), 1);
    assert_int_equal(append(f, "a", ANY, "2"), 2);
    append_many(f, "a", 3);
    assert_int_equal(append(f, "a", ANY, "6"), 6);
    assert_int_equal(append(f, "b", ANY, "2"), 2);
    assert_sequence(f, 8);
}

/* BX-066, BX-009 */
static void event_is_read_back_as_it_was_written(void **state) {
    struct fixture *f = *state;
    boxcar_new_event full = new_event("order.paid", "{\"amount\": \"12 \xe2\x82\xac\"}"),
                     bare = new_event("T", "");
    full.correlation_id = BOXCAR_STR("c-1");
    full.headers = BOXCAR_STR("{\"tenant\": \"acme\"}");
    full.event_id.uuid = boxcar_uuid_new();
    boxcar_time before = database_now(f);
    boxcar_appended first = append_this(f, "order-1", 0, &full), second = append_this(f, "order-1", 1, &bare);
    boxcar_time after = database_now(f);
    assert_same_event_id(first.event_id, full.event_id);
    assert_false(first.duplicate || second.duplicate);
    assert_int_equal(second.event_id.uuid.bytes[6] >> 4, 7); /* a UUIDv7 */
    boxcar_event_list *list = read_stream(f, "order-1", 1, 10);
    assert_int_equal(list->count, 2);
    const boxcar_event *event = list->items[0];
    assert_same_event_id(event->event_id, full.event_id);
    assert_text(event->stream, "order-1");
    assert_int_equal(event->version, 1);
    assert_text(event->type, "order.paid");
    assert_text(event->payload, "{\"amount\": \"12 \xe2\x82\xac\"}");
    assert_text(event->headers, "{\"tenant\": \"acme\"}");
    assert_text(event->correlation_id, "c-1");
    assert_true(event->created_at >= before - 5000 && event->created_at <= after + 5000);
    event = list->items[1];
    assert_same_event_id(event->event_id, second.event_id);
    assert_int_equal(event->version, 2);
    assert_text(event->payload, "");
    assert_absent(event->headers);
    assert_absent(event->correlation_id);
    assert_int_equal(list->count, 2);
    boxcar_list_free(list);
}

/* BX-066 */
static void expected_version_must_be_the_streams(void **state) {
    struct fixture *f = *state;
    assert_append_conflicts(f, "s", 1);
    assert_int_equal(append(f, "s", 0, "1"), 1);
    assert_append_conflicts(f, "s", 0);
    assert_append_conflicts(f, "s", 2);
    assert_append_conflicts(f, "s", INT64_MAX);
    assert_int_equal(append(f, "s", 1, "2"), 2);
    assert_int_equal(append(f, "s", ANY, "3"), 3);
    assert_append_conflicts(f, "s", 2);
    assert_int_equal(append(f, "other", 0, "1"), 1); /* streams do not know each other */
    assert_sequence(f, 4);
}

/* BX-066: an append whose answer was lost is simply made again, whatever has happened since. */
static void repeating_an_append_stores_it_once_whatever_is_expected(void **state) {
    struct fixture *f = *state;
    boxcar_new_event events[2] = {new_event("T", "1"), new_event("T", "2")};
    boxcar_appended first[2] = {BOXCAR_APPENDED_INIT}, again[2] = {BOXCAR_APPENDED_INIT};
    events[0].event_id.uuid = boxcar_uuid_new();
    events[1].event_id.uuid = boxcar_uuid_new();
    ASSERT_OK(f, boxcar_event_append(f->store, BOXCAR_STR("s"), 0, events, 2, first, &f->err));
    assert_int_equal(append(f, "s", 2, "3"), 3);
    for (int64_t expected = ANY; expected < 5; expected++) {
        ASSERT_OK(f, boxcar_event_append(f->store, BOXCAR_STR("s"), expected, events, 2, again, &f->err));
        for (int i = 0; i < 2; i++) {
            assert_true(again[i].duplicate);
            assert_int_equal(again[i].version, i + 1);
            assert_same_event_id(again[i].event_id, events[i].event_id);
        }
    }
    events[0].payload = BOXCAR_STR("something else");
    assert_true(append_this(f, "s", 0, &events[0]).duplicate);
    boxcar_event_list *list = read_stream(f, "s", 1, 1);
    assert_text(list->items[0]->payload, "1");
    boxcar_list_free(list);
    assert_sequence(f, 3);
}

/* BX-066 */
static void new_events_beside_known_ones_are_appended_if_the_version_is_as_expected(void **state) {
    struct fixture *f = *state;
    boxcar_new_event known = new_event("T", "1");
    known.event_id.uuid = boxcar_uuid_new();
    append_this(f, "s", 0, &known);
    boxcar_new_event events[3] = {new_event("T", "2"), known, new_event("T", "3")};
    boxcar_appended appended[3] = {BOXCAR_APPENDED_INIT};
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_event_append(f->store, BOXCAR_STR("s"), 0, events, 3, appended, &f->err));
    assert_int_equal(count_stream(f, "s"), 1);
    ASSERT_OK(f, boxcar_event_append(f->store, BOXCAR_STR("s"), 1, events, 3, appended, &f->err));
    assert_int_equal(appended[0].version, 2);
    assert_int_equal(appended[1].version, 1);
    assert_int_equal(appended[2].version, 3);
    assert_true(!appended[0].duplicate && appended[1].duplicate && !appended[2].duplicate);
    assert_sequence(f, 3);
}

/* BX-066 */
static void id_given_twice_in_one_call_is_appended_once(void **state) {
    struct fixture *f = *state;
    boxcar_new_event events[4] = {new_event("T", "1"), new_event("T", "2"), new_event("T", "1"),
                                  new_event("T", "3")};
    boxcar_appended appended[4] = {BOXCAR_APPENDED_INIT};
    events[0].event_id = events[2].event_id = (boxcar_event_id){boxcar_uuid_new()};
    ASSERT_OK(f, boxcar_event_append(f->store, BOXCAR_STR("s"), 0, events, 4, appended, &f->err));
    static const int VERSIONS[] = {1, 2, 1, 3};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(appended[i].version, VERSIONS[i]);
        assert_int_equal(appended[i].duplicate, i == 2);
    }
    assert_sequence(f, 3);
}

/* BX-066 */
static void id_of_another_streams_event_is_a_conflict(void **state) {
    struct fixture *f = *state;
    boxcar_new_event events[2] = {new_event("T", "new"), new_event("T", "known")};
    events[1].event_id.uuid = boxcar_uuid_new();
    append_this(f, "a", ANY, &events[1]);
    for (int from = 0; from < 2; from++) {
        ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                     boxcar_event_append(f->store, BOXCAR_STR("b"), ANY, events + from, 2 - (size_t)from,
                                         NULL, &f->err));
        assert_string_equal(f->err.argument, "event_id");
    }
    assert_int_equal(count_stream(f, "b"), 0);
    assert_sequence(f, 1);
}

/* BX-066 */
static void stream_is_read_from_any_version_in_pages(void **state) {
    struct fixture *f = *state;
    append_many(f, "s", 7);
    append_many(f, "t", 2);
    static const struct {
        int64_t from;
        int limit;
        int first;
        size_t count;
    } PAGES[] = {{0, 10, 1, 7}, {1, 3, 1, 3}, {4, 3, 4, 3},
                 {7, 3, 7, 1},  {8, 3, 0, 0}, {INT64_MAX, 10000, 0, 0}};
    for (size_t i = 0; i < sizeof(PAGES) / sizeof(PAGES[0]); i++) {
        boxcar_event_list *list = read_stream(f, "s", PAGES[i].from, PAGES[i].limit);
        assert_int_equal(list->count, PAGES[i].count);
        for (size_t k = 0; k < PAGES[i].count; k++) {
            assert_int_equal(list->items[k]->version, PAGES[i].first + (int)k);
            assert_text(list->items[k]->stream, "s");
        }
        boxcar_list_free(list);
    }
}

/* BX-066 */
static void stream_that_nobody_has_appended_to_is_empty(void **state) {
    struct fixture *f = *state;
    assert_int_equal(count_stream(f, "nothing"), 0);
    assert_append_conflicts(f, "nothing", 5);
    assert_int_equal(count_stream(f, "nothing"), 0);
    boxcar_list_free(NULL);
}

/* BX-066: the message it belongs to. */
static void event_with_a_topic_is_a_message_too(void **state) {
    struct fixture *f = *state;
    boxcar_new_event events[3] = {new_event("T", "p1"), new_event("T", "only an event"),
                                  new_event("T", "p2")};
    boxcar_appended appended[3] = {BOXCAR_APPENDED_INIT};
    events[0].topic = events[2].topic = BOXCAR_STR("projection");
    events[0].correlation_id = BOXCAR_STR("c");
    events[0].headers = BOXCAR_STR("{\"h\": \"1\"}");
    ASSERT_OK(f, boxcar_event_append(f->store, BOXCAR_STR("s"), 0, events, 3, appended, &f->err));
    for (int i = 0; i < 3; i += 2) {
        boxcar_message_list *list = claim_topic(f, f->owner, 1, "projection");
        const boxcar_message *message = look(list); /* in order: it is a stream */
        assert_same_message_id(message->message_id, message_id_of(appended[i].event_id));
        assert_text(message->payload, i == 0 ? "p1" : "p2");
        assert_text(message->stream, "s");
        if (i == 0) {
            assert_text(message->correlation_id, "c");
            assert_text(message->headers, "{\"h\": \"1\"}");
        }
        struct taken taken = {message->work_id, message->epoch, 0, 0};
        boxcar_list_free(list);
        assert_true(ack(f, f->owner, taken));
    }
    assert_nothing_claimable(f);
}

/* BX-066 */
static void repeated_or_refused_append_enqueues_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_new_event event = new_event("T", "p");
    event.topic = BOXCAR_STR("t");
    event.event_id.uuid = boxcar_uuid_new();
    append_this(f, "s", 0, &event);
    assert_true(append_this(f, "s", 0, &event).duplicate);
    boxcar_new_event refused = event;
    refused.event_id.uuid = boxcar_uuid_new();
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_event_append(f->store, BOXCAR_STR("s"), 0, &refused, 1, NULL, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_event_append(f->store, BOXCAR_STR("u"), ANY, &event, 1, NULL, &f->err));
    assert_int_equal(stats_of(f).ready + stats_of(f).waiting, 1);
}

/* BX-066: a message that somebody enqueued under the same id is left alone, and is not taken for the event's.
 */
static void event_whose_id_a_message_has_already_is_not_appended_as_one(void **state) {
    struct fixture *f = *state;
    boxcar_new_event events[2] = {new_event("T", "another"), new_event("T", "of the event")};
    boxcar_appended appended = BOXCAR_APPENDED_INIT;
    events[1].event_id.uuid = boxcar_uuid_new();
    events[0].topic = events[1].topic = BOXCAR_STR("t");
    boxcar_new_message message = new_message("t", "of the message");
    message.message_id = message_id_of(events[1].event_id);
    boxcar_enqueued enqueued = enqueue_message(f, &message);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_event_append(f->store, BOXCAR_STR("s"), 0, events, 2, NULL, &f->err));
    assert_string_equal(f->err.argument, "event_id");
    assert_non_null(strstr(f->err.message, "is the id of a message"));
    assert_int_equal(count_stream(f, "s"), 0);
    assert_int_equal(stats_of(f).ready + stats_of(f).waiting, 1);
    boxcar_message_list *list = find(f, enqueued.work_id);
    assert_text(look(list)->payload, "of the message");
    boxcar_list_free(list);
    events[1].topic = BOXCAR_NO_STR; /* only an event: they do not meet */
    appended = append_this(f, "s", 0, &events[1]);
    assert_int_equal(appended.version, 1);
    assert_true(append_this(f, "s", 0, &events[1]).duplicate);
    assert_int_equal(stats_of(f).ready, 1);
}

/* BX-066 */
static void ten_thousand_events_are_one_append(void **state) {
    struct fixture *f = *state;
    append_many(f, "s", BOXCAR_EVENT_COUNT_MAX);
    assert_int_equal(append(f, "s", BOXCAR_EVENT_COUNT_MAX, "one more"), BOXCAR_EVENT_COUNT_MAX + 1);
    assert_sequence(f, BOXCAR_EVENT_COUNT_MAX + 1);
}

/* BX-066: they stay when everything else is purged. */
static void upkeep_removes_no_events(void **state) {
    struct fixture *f = *state;
    boxcar_new_event event = new_event("T", "p");
    event.topic = BOXCAR_STR("t");
    boxcar_appended appended = append_this(f, "s", 0, &event);
    boxcar_message_list *list = claim(f, f->owner, 1);
    struct taken taken = {look(list)->work_id, look(list)->epoch, 0, 0};
    boxcar_list_free(list);
    assert_true(ack(f, f->owner, taken));
    set_setting(f, "retention_done", "0");
    boxcar_maintenance sum = {.struct_size = sizeof(boxcar_maintenance), .more = true};
    int64_t purged = 0;
    for (int round = 0; round < 100 && (sum.more || purged == 0); round++) {
        ASSERT_OK(f, boxcar_maintenance_run(f->store, &sum, &f->err));
        purged += sum.purged_done;
    }
    assert_int_equal(purged, 1);
    assert_int_equal(count_stream(f, "s"), 1);
    event.event_id = appended.event_id;
    assert_true(append_this(f, "s", 0, &event).duplicate); /* nor is the purged message enqueued again */
    assert_nothing_claimable(f);
}

/* BX-066, BX-010 */
static void view_shows_events(void **state) {
    struct fixture *f = *state;
    boxcar_new_event event = new_event("order.paid", "p");
    event.correlation_id = BOXCAR_STR("c");
    append_this(f, "s", 0, &event);
    boxcar_list_free(read_all(f, 0, 1));
    assert_int_equal(
        fixture_sql_number(
            f,
            "select count(*) from boxcar_event where stream = 's' and version = 1 and position = 1 and "
            "type = 'order.paid' and payload = 'p' and headers is null and correlation_id = 'c' and "
            "length(event_id) = 36 and created_at like '20%Z'",
            "select count(*) from event where stream = 's' and version = 1 and position = 1 and "
            "type = 'order.paid' and payload = 'p' and headers is null and correlation_id = 'c' and "
            "event_id is not null and created_at > now() - interval '1 hour'"),
        1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(versions_of_a_stream_begin_at_1_and_have_no_gaps),
    TEST(event_is_read_back_as_it_was_written),
    TEST(expected_version_must_be_the_streams),
    TEST(repeating_an_append_stores_it_once_whatever_is_expected),
    TEST(new_events_beside_known_ones_are_appended_if_the_version_is_as_expected),
    TEST(id_given_twice_in_one_call_is_appended_once),
    TEST(id_of_another_streams_event_is_a_conflict),
    TEST(stream_is_read_from_any_version_in_pages),
    TEST(stream_that_nobody_has_appended_to_is_empty),
    TEST(event_with_a_topic_is_a_message_too),
    TEST(repeated_or_refused_append_enqueues_nothing),
    TEST(event_whose_id_a_message_has_already_is_not_appended_as_one),
    TEST(ten_thousand_events_are_one_append),
    TEST(upkeep_removes_no_events),
    TEST(view_shows_events),
};

const struct suite EVENT_SUITE = SUITE(TESTS);
