/* Messages that are events: stored with the next version of their stream, in the same transaction, once.
 * BX-067 */
#include <string.h>

#include "events.h"
#include "inboxes.h"

static boxcar_new_message event_message(const char *topic, const char *payload, const char *stream) {
    boxcar_new_message message = new_message(topic, payload);
    message.stream = boxcar_str_of(stream);
    return message;
}

static boxcar_new_message event_delivery(const char *id, const char *topic, const char *stream) {
    boxcar_new_message message = delivery("bank", id, "p");
    message.topic = boxcar_str_of(topic);
    message.stream = boxcar_str_of(stream);
    return message;
}

static int stages_of(struct fixture *f, boxcar_box box, boxcar_work_id id) {
    boxcar_message_ref ref = {.work_id = id};
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_find(f->store, box, ref, &list, &f->err));
    int stages = look(list)->stages;
    boxcar_list_free(list);
    return stages;
}

/* BX-067: everything that an event has comes from its message. */
static void message_that_says_so_is_an_event(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = event_message("orders.paid", "p1", "order-1");
    append(f, "order-1", 0, "first");
    message.is_event = BOXCAR_EVENT_YES;
    message.correlation_id = BOXCAR_STR("corr");
    message.causation_id = BOXCAR_STR("cause");
    message.headers = BOXCAR_STR("{\"h\": \"1\"}");
    boxcar_enqueued enqueued = enqueue_message(f, &message);
    boxcar_event_list *list = read_stream(f, "order-1", 1, 10);
    assert_int_equal(list->count, 2);
    const boxcar_event *event = list->items[1];
    assert_same_message_id(message_id_of(event->event_id), enqueued.message_id);
    assert_int_equal(event->version, 2);
    assert_text(event->type, "paid");
    assert_text(event->payload, "p1");
    assert_text(event->correlation_id, "corr");
    assert_text(event->causation_id, "cause");
    assert_text(event->headers, "{\"h\": \"1\"}");
    boxcar_list_free(list);
    boxcar_message_list *found = find(f, enqueued.work_id);
    assert_text(look(found)->event_type, "paid");
    boxcar_list_free(found);
    found = claim(f, f->owner, 1); /* and it is a message like any other */
    assert_same_message_id(look(found)->message_id, enqueued.message_id);
    assert_text(look(found)->event_type, "paid");
    boxcar_list_free(found);
}

/* BX-067: which messages are events, and of what type. */
static void type_tells_events_from_other_messages(void **state) {
    static const struct {
        const char *topic, *stream, *type;
        int is_event;
        const char *wanted; /* NULL: it is no event */
    } CASES[] = {
        {"orders.OrderPaidEvent", "s", NULL, BOXCAR_EVENT_BY_TYPE, "OrderPaidEvent"},
        {"OrderPaidEvent", "s", NULL, BOXCAR_EVENT_BY_TYPE, "OrderPaidEvent"},
        {"shop/orders:PaidEvent", "s", NULL, BOXCAR_EVENT_BY_TYPE, "PaidEvent"},
        {"orders.Event", "s", NULL, BOXCAR_EVENT_BY_TYPE, "Event"},
        {"orders.paid", "s", NULL, BOXCAR_EVENT_BY_TYPE, NULL},
        {"orders.PaidEvents", "s", NULL, BOXCAR_EVENT_BY_TYPE, NULL},
        {"orders.paidevent", "s", NULL, BOXCAR_EVENT_BY_TYPE, NULL},
        {"orders.OrderPaidEvent", "", NULL, BOXCAR_EVENT_BY_TYPE,
         NULL}, /* no stream: nothing to append it to */
        {"orders.OrderPaidEvent", "s", NULL, BOXCAR_EVENT_NO, NULL},
        {"orders.paid", "s", NULL, BOXCAR_EVENT_YES, "paid"},
        {"orders.", "s", NULL, BOXCAR_EVENT_YES, "orders."},
        {"orders.paid", "s", "Paid.v2", BOXCAR_EVENT_YES, "Paid.v2"},
        {"orders.paid", "s", "Paid.v2", BOXCAR_EVENT_BY_TYPE, "Paid.v2"},
        {"orders.OrderPaidEvent", "s", "Other", BOXCAR_EVENT_BY_TYPE, "Other"},
    };
    struct fixture *f = *state;
    size_t events = 0;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        boxcar_new_message message = event_message(CASES[i].topic, "p", CASES[i].stream);
        message.is_event = CASES[i].is_event;
        message.event_type = boxcar_str_of(CASES[i].type);
        boxcar_enqueued enqueued = enqueue_message(f, &message);
        assert_int_equal(stages_of(f, BOXCAR_OUTBOX, enqueued.work_id), CASES[i].wanted ? 3 : 1);
        events += CASES[i].wanted != NULL;
        assert_int_equal(count_stream(f, "s"), events);
        if (!CASES[i].wanted)
            continue;
        boxcar_event_list *list = read_stream(f, "s", (int64_t)events, 1);
        assert_text(list->items[0]->type, CASES[i].wanted);
        boxcar_list_free(list);
    }
}

/* BX-067, BX-027 */
static void event_is_stored_once_however_often_its_message_is_enqueued(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = event_message("PaidEvent", "p", "s");
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    message.key = BOXCAR_STR("k");
    boxcar_enqueued first = enqueue_message(f, &message);
    assert_true(enqueue_message(f, &message).duplicate);
    message.key = BOXCAR_NO_STR;
    message.message_id = first.message_id;
    message.stream = BOXCAR_STR("elsewhere"); /* a duplicate is a no-op, whatever it says */
    assert_true(enqueue_message(f, &message).duplicate);
    assert_int_equal(count_stream(f, "s"), 1);
    assert_int_equal(count_stream(f, "elsewhere"), 0);
    /* Also when the message is long gone. */
    assert_true(ack(f, f->owner, take(f, f->owner, first.work_id)));
    set_setting(f, "retention_done", "0");
    do {
        ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    } while (done.more);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    message.stream = BOXCAR_STR("s");
    boxcar_enqueued again = enqueue_message(f, &message);
    assert_false(again.duplicate);
    assert_int_equal(count_stream(f, "s"), 1);
    assert_int_equal(stages_of(f, BOXCAR_OUTBOX, again.work_id), 3);
    take(f, f->owner, again.work_id);
}

/* BX-067, BX-081: a delivery that is repeated, before and after it was handled. */
static void event_from_outside_is_stored_once_however_often_it_is_delivered(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = event_delivery("1", "bank.MoneyArrivedEvent", "account-1");
    boxcar_enqueued first = deliver_message(f, &message);
    assert_true(deliver_message(f, &message).duplicate);
    boxcar_new_message both[2] = {message, event_delivery("2", "bank.closed", "account-1")};
    boxcar_enqueued enqueued[2];
    both[1].is_event = BOXCAR_EVENT_YES;
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_INBOX, both, 2, enqueued, &f->err));
    assert_true(enqueued[0].duplicate);
    assert_false(enqueued[1].duplicate);
    assert_int_equal(count_stream(f, "account-1"), 2);
    assert_int_equal(stages_of(f, BOXCAR_INBOX, first.work_id), 3);
    boxcar_event_list *list = read_stream(f, "account-1", 1, 10);
    assert_text(list->items[0]->type, "MoneyArrivedEvent");
    assert_text(list->items[1]->type, "closed");
    assert_same_message_id(message_id_of(list->items[0]->event_id), first.message_id);
    boxcar_list_free(list);
}

/* A key that was only seen is stored by its first delivery. BX-081 */
static void event_whose_key_was_only_seen_is_stored(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = event_delivery("1", "SeenEvent", "s");
    message.causation_id = BOXCAR_STR("cause");
    message.metadata = BOXCAR_STR("{}");
    assert_false(is_processed(f, "bank", "1"));
    assert_false(deliver_message(f, &message).duplicate);
    assert_int_equal(count_stream(f, "s"), 1);
}

/* BX-067: versions without gaps, in the order of the batch, in several streams, among messages that are
 * not events. */
static void batch_of_events_has_one_version_after_the_other(void **state) {
    enum { COUNT = 60 };
    struct fixture *f = *state;
    boxcar_new_message messages[COUNT];
    boxcar_enqueued enqueued[COUNT];
    static const char *const STREAMS[] = {"a", "b", "c"};
    for (size_t i = 0; i < COUNT; i++)
        messages[i] = event_message(i % 4 == 3 ? "other" : "NextEvent", "p", STREAMS[i % 3]);
    messages[7].message_id.uuid = messages[8].message_id.uuid = boxcar_uuid_new(); /* twice: once */
    messages[7].stream = messages[8].stream = BOXCAR_STR("d");
    messages[7].topic = messages[8].topic = BOXCAR_STR("TwiceEvent");
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, COUNT, enqueued, &f->err));
    assert_true(enqueued[8].duplicate);
    assert_int_equal(count_stream(f, "d"), 1);
    size_t at[3] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        if (i % 4 == 3 || i == 7 || i == 8)
            continue;
        boxcar_event_list *list = read_stream(f, STREAMS[i % 3], (int64_t)++at[i % 3], 1);
        assert_int_equal(list->count, 1);
        assert_same_message_id(message_id_of(list->items[0]->event_id), enqueued[i].message_id);
        boxcar_list_free(list);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(count_stream(f, STREAMS[i]), at[i]);
    assert_sequence(f, (int64_t)(at[0] + at[1] + at[2]) + 1);
}

/* BX-066, BX-067: an event of another stream has the id; then neither the message is stored nor an event. */
static void event_id_of_another_stream_is_a_conflict(void **state) {
    struct fixture *f = *state;
    boxcar_new_event event = new_event("T", "p");
    event.event_id.uuid = boxcar_uuid_new();
    append_this(f, "one", 0, &event);
    boxcar_new_message messages[2] = {new_message("t", "p"), event_message("PaidEvent", "p", "two")};
    messages[1].message_id = message_id_of(event.event_id);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, 2, NULL, &f->err));
    assert_int_equal(count_stream(f, "two"), 0);
    assert_int_equal(stats_of(f).ready + stats_of(f).waiting, 0);
}

/* An event that is enqueued by its append says so, too. */
static void message_of_an_appended_event_knows_that_it_is_one(void **state) {
    struct fixture *f = *state;
    boxcar_new_event event = new_event("Type", "p");
    event.topic = BOXCAR_STR("projection.ChangedEvent");
    event.causation_id = BOXCAR_STR("cause");
    append_this(f, "s", 0, &event);
    boxcar_message_list *list = claim(f, f->owner, 1);
    assert_text(look(list)->event_type, "Type");
    assert_text(look(list)->causation_id, "cause");
    assert_int_equal(look(list)->stages, 3);
    boxcar_list_free(list);
    assert_int_equal(count_stream(f, "s"), 1);
}

/* BX-011 */
static void event_without_a_stream_is_refused(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("orders.paid", "p");
    message.is_event = BOXCAR_EVENT_YES;
    ASSERT_INVALID(f, "is_event", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    message.is_event = 3;
    ASSERT_INVALID(f, "is_event", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    message.is_event = BOXCAR_EVENT_BY_TYPE;
    message.event_type = BOXCAR_STR("T");
    ASSERT_INVALID(f, "event_type", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    message.stream = BOXCAR_STR("s");
    message.is_event = BOXCAR_EVENT_NO;
    ASSERT_INVALID(f, "event_type", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    message.is_event = BOXCAR_EVENT_YES;
    message.event_type = BOXCAR_STR("");
    ASSERT_INVALID(f, "event_type", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    boxcar_new_message inbox = delivery("bank", "1", "p");
    inbox.is_event = BOXCAR_EVENT_YES;
    ASSERT_INVALID(f, "is_event", boxcar_enqueue(f->store, BOXCAR_INBOX, &inbox, NULL, &f->err));
    assert_int_equal(stats_of(f).ready + stats_of(f).waiting, 0);
}

/* A program that forgot to fill in its id would put everything into one stream. BX-011 */
static void nil_uuid_is_no_stream(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = event_message("t", "p", "00000000-0000-0000-0000-000000000000");
    boxcar_new_message inbox = event_delivery("1", "t", "00000000-0000-0000-0000-000000000000");
    boxcar_new_event event = new_event("T", "p");
    ASSERT_INVALID(f, "stream", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    ASSERT_INVALID(f, "stream", boxcar_enqueue(f->store, BOXCAR_INBOX, &inbox, NULL, &f->err));
    ASSERT_INVALID(
        f, "stream",
        boxcar_event_append(f->store, message.stream, BOXCAR_ANY_VERSION, &event, 1, NULL, &f->err));
}

static const struct CMUnitTest TESTS[] = {
    TEST(message_that_says_so_is_an_event),
    TEST(type_tells_events_from_other_messages),
    TEST(event_is_stored_once_however_often_its_message_is_enqueued),
    TEST(event_from_outside_is_stored_once_however_often_it_is_delivered),
    TEST(event_whose_key_was_only_seen_is_stored),
    TEST(batch_of_events_has_one_version_after_the_other),
    TEST(event_id_of_another_stream_is_a_conflict),
    TEST(message_of_an_appended_event_knows_that_it_is_one),
    TEST(event_without_a_stream_is_refused),
    TEST(nil_uuid_is_no_stream),
};

const struct suite EVENT_MESSAGE_SUITE = SUITE(TESTS);
