/* Messages from outside: stored once for each key, then claimed and settled as any other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inboxes.h"

/* BX-080, BX-082 */
static void message_is_stored_once_for_its_key(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued first = deliver(f, "shop", "1");
    assert_false(first.duplicate);
    assert_false(first.hash_mismatch);
    assert_true(first.work_id.value > 0);
    boxcar_enqueued again = deliver(f, "shop", "1");
    assert_true(again.duplicate);
    assert_int_equal(again.work_id.value, first.work_id.value);
    assert_same_message_id(again.message_id, first.message_id);
    assert_int_equal(count_messages(f), 1);
    assert_int_equal(receipt_of(f, "shop", "1").is.seen_count, 2);
}

/* BX-080 */
static void sources_have_ids_of_their_own(void **state) {
    struct fixture *f = *state;
    static const char *const KEYS[][2] = {{"a", "1"},  {"b", "1"},   {"a", "2"},
                                          {"a1", "1"}, {"1", "1:a"}, {"A", "1"}};
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++) {
        boxcar_enqueued enqueued = deliver(f, KEYS[i][0], KEYS[i][1]);
        assert_false(enqueued.duplicate);
        assert_same_message_id(enqueued.message_id, boxcar_inbox_message_id(key_of(KEYS[i][0], KEYS[i][1])));
    }
    assert_int_equal(count_messages(f), 6);
}

/* BX-080 */
static void key_and_fields_come_with_the_message(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = delivery("Gr\xc3\xbc\xc3\x9f", "id \xe2\x82\xac", "the payload");
    message.correlation_id = BOXCAR_STR("c");
    message.stream = BOXCAR_STR("s");
    message.headers = BOXCAR_STR("{\"a\":\"b\"}");
    message.max_attempts = 3;
    boxcar_work_id id = deliver_message(f, &message).work_id;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    options.box = BOXCAR_INBOX;
    options.owner = f->owner;
    ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
    for (int round = 0; round < 2; round++) { /* as claimed, as found */
        const boxcar_message *m = look(list);
        assert_int_equal(m->box, BOXCAR_INBOX);
        assert_text(m->source, "Gr\xc3\xbc\xc3\x9f");
        assert_text(m->external_id, "id \xe2\x82\xac");
        assert_text(m->topic, "t");
        assert_text(m->payload, "the payload");
        assert_text(m->correlation_id, "c");
        assert_text(m->stream, "s");
        assert_int_equal(m->max_attempts, 3);
        assert_non_null(strstr(m->headers.data, "\"b\""));
        boxcar_list_free(list);
        list = inbox_message(f, id);
    }
    boxcar_list_free(list);
}

static void outbox_messages_have_no_source(void **state) {
    struct fixture *f = *state;
    boxcar_message_list *list = find(f, enqueue(f, "t", "p").work_id);
    assert_absent(look(list)->source);
    assert_absent(look(list)->external_id);
    boxcar_list_free(list);
    list = claim(f, f->owner, 1);
    assert_absent(look(list)->source);
    assert_absent(look(list)->external_id);
    boxcar_list_free(list);
}

/* One lifecycle, two boxes. */
static void boxes_do_not_see_each_other(void **state) {
    struct fixture *f = *state;
    boxcar_work_id in = deliver(f, "shop", "1").work_id;
    assert_nothing_claimable(f);
    boxcar_work_id out = enqueue(f, "t", "p").work_id;
    struct taken taken = inbox_take(f, f->owner, in);
    assert_inbox_empty(f);
    assert_false(ack(f, f->owner, taken)); /* the outbox has no such lease */
    struct taken other = take(f, f->owner, out);
    assert_false(inbox_ack(f, other));
    assert_true(inbox_ack(f, taken));
    assert_true(ack(f, f->owner, other));
    boxcar_message_list *list = NULL;
    ASSERT_FAILS(
        f, BOXCAR_E_NOT_FOUND,
        boxcar_message_find(f->store, BOXCAR_OUTBOX, (boxcar_message_ref){.work_id = in}, &list, &f->err));
}

/* BX-082: whatever has become of it */
static void known_message_stays_as_it_is(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued done = deliver_done(f, "shop", "done");
    boxcar_enqueued dead = deliver_dead(f, "shop", "dead");
    boxcar_enqueued held = deliver(f, "shop", "held");
    struct taken taken = inbox_take(f, f->owner, held.work_id);
    assert_true(accept_key(f, "shop", "accepted"));
    boxcar_enqueued again[] = {deliver(f, "shop", "done"), deliver(f, "shop", "dead"),
                               deliver(f, "shop", "held"), deliver(f, "shop", "accepted")};
    for (int i = 0; i < 4; i++)
        assert_true(again[i].duplicate);
    assert_int_equal(again[0].work_id.value, done.work_id.value);
    assert_int_equal(again[1].work_id.value, dead.work_id.value);
    assert_int_equal(again[3].work_id.value, 0);
    assert_inbox_status(f, done.work_id, BOXCAR_DONE);
    assert_inbox_status(f, dead.work_id, BOXCAR_FAILED);
    assert_inbox_status(f, held.work_id, BOXCAR_IN_PROGRESS);
    assert_inbox_empty(f);
    assert_true(inbox_ack(f, taken));
    assert_int_equal(count_messages(f), 3);
}

/* BX-081 */
static void redelivery_spends_no_attempt(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = delivery("shop", "1", "p");
    message.max_attempts = 2;
    boxcar_work_id id = deliver_message(f, &message).work_id;
    for (int i = 0; i < 5; i++)
        assert_true(deliver_message(f, &message).duplicate);
    struct taken taken = inbox_take(f, f->owner, id);
    assert_int_equal(taken.retry_count, 0);
    assert_true(deliver_message(f, &message).duplicate);
    assert_true(inbox_ack(f, taken));
    assert_int_equal(receipt_of(f, "shop", "1").is.seen_count, 7);
}

/* BX-081 */
static void sighting_becomes_a_message(void **state) {
    struct fixture *f = *state;
    assert_false(is_processed(f, "shop", "1"));
    assert_inbox_empty(f); /* it is no work */
    boxcar_enqueued enqueued = deliver(f, "shop", "1");
    assert_false(enqueued.duplicate);
    assert_true(deliver(f, "shop", "1").duplicate);
    assert_int_equal(receipt_of(f, "shop", "1").is.seen_count, 3);
    assert_true(inbox_ack(f, inbox_take(f, f->owner, enqueued.work_id)));
}

/* BX-065: in one call, told one by one */
static void many_are_stored_in_order_and_a_key_that_comes_twice_once(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued known = deliver(f, "shop", "known"), results[7];
    assert_false(is_processed(f, "shop", "seen"));
    const char *const IDS[] = {"z", "known", "a", "z", "seen", "a", "seen"};
    boxcar_new_message messages[7];
    for (int i = 0; i < 7; i++)
        messages[i] = delivery("shop", IDS[i], IDS[i]);
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_INBOX, messages, 7, results, &f->err));
    static const bool DUPLICATE[] = {false, true, false, true, false, true, true};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(results[i].duplicate, DUPLICATE[i]);
        assert_same_message_id(results[i].message_id, boxcar_inbox_message_id(key_of("shop", IDS[i])));
    }
    assert_int_equal(results[1].work_id.value, known.work_id.value);
    assert_int_equal(results[3].work_id.value, results[0].work_id.value);
    assert_int_equal(results[6].work_id.value, results[4].work_id.value);
    assert_true(results[0].work_id.value < results[2].work_id.value);
    assert_true(results[2].work_id.value < results[4].work_id.value);
    assert_int_equal(count_messages(f), 4);
    assert_int_equal(receipt_of(f, "shop", "z").is.seen_count, 2);
    assert_int_equal(receipt_of(f, "shop", "seen").is.seen_count, 3);
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_INBOX, NULL, 0, NULL, &f->err));
}

static void thousand_are_stored_and_known_again(void **state) {
    enum { COUNT = 1000 };
    struct fixture *f = *state;
    static char ids[COUNT][8];
    static boxcar_new_message messages[COUNT];
    static boxcar_enqueued first[COUNT], again[COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%d", i);
        messages[i] = delivery("shop", ids[i], ids[i]);
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_INBOX, messages, COUNT, first, &f->err));
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_INBOX, messages, COUNT, again, &f->err));
    for (int i = 0; i < COUNT; i++) {
        assert_false(first[i].duplicate);
        assert_true(again[i].duplicate);
        assert_int_equal(again[i].work_id.value, first[i].work_id.value);
        assert_true(i == 0 || first[i - 1].work_id.value < first[i].work_id.value);
    }
    assert_int_equal(count_messages(f), COUNT);
}

/* All or none. */
static void bad_message_among_many_stores_none(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[3] = {delivery("shop", "1", "p"), delivery("shop", "2", "p"),
                                      delivery("shop", "", "p")};
    ASSERT_INVALID(f, "messages[2].external_id",
                   boxcar_enqueue_many(f->store, BOXCAR_INBOX, messages, 3, NULL, &f->err));
    assert_int_equal(count_messages(f) + count_keys(f), 0);
}

/* BX-005, BX-022, BX-003: the lifecycle is that of the outbox. */
static void lifecycle_is_that_of_the_outbox(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = delivery("shop", "1", "p");
    message.max_attempts = 2;
    boxcar_work_id id = deliver_message(f, &message).work_id;
    boxcar_settlement s = settlement_of(inbox_take(f, f->owner, id));
    s.delay_ms = 0;
    assert_true(settle_in_box(f, BOXCAR_INBOX, BOXCAR_DEFER, f->owner, &s));
    s = settlement_of(inbox_take(f, f->owner, id));
    assert_int_equal(boxcar_settle(f->store, CLAIMER_FOR(BOXCAR_INBOX, f->owner, 60000), BOXCAR_RENEW, &s, 1,
                                   NULL, NULL, &f->err),
                     BOXCAR_OK);
    s.delay_ms = 0;
    assert_true(settle_in_box(f, BOXCAR_INBOX, BOXCAR_ABANDON, f->owner, &s));
    struct taken taken = inbox_take(f, f->owner, id);
    assert_int_equal(taken.retry_count, 1);
    s = settlement_of(taken);
    assert_true(settle_in_box(f, BOXCAR_INBOX, BOXCAR_ABANDON, f->owner, &s)); /* the last attempt */
    assert_state(f, "shop", "1", BOXCAR_INBOX_DEAD);
    boxcar_message_list *list = inbox_message(f, id);
    assert_int_equal(look(list)->reason, BOXCAR_REASON_EXHAUSTED);
    assert_text(look(list)->source, "shop");
    boxcar_list_free(list);
}

/* BX-003 */
static void expired_lease_is_reaped_in_its_box(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = deliver(f, "shop", "1").work_id;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    int64_t count = 0, total = 0;
    options.box = BOXCAR_INBOX;
    options.owner = f->owner;
    options.lease_ms = BOXCAR_LEASE_MS_MIN;
    ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
    assert_int_equal(look(list)->work_id.value, id.value);
    boxcar_list_free(list);
    for (int i = 0; i < 1000 && total == 0; i++, pause_ms(5)) {
        if (!fixture_is_sqlite(f)) { /* where a reap is one for the whole file */
            ASSERT_OK(f, boxcar_reap(f->store, BOXCAR_OUTBOX, &count, &f->err));
            assert_int_equal(count, 0);
        }
        ASSERT_OK(f, boxcar_reap(f->store, BOXCAR_INBOX, &total, &f->err));
    }
    assert_int_equal(total, 1);
    struct taken taken = inbox_take(f, f->owner, id);
    assert_int_equal(taken.retry_count, 1);
    assert_int_equal(taken.crash_count, 1);
}

/* BX-006 */
static void stream_of_the_inbox_is_handled_in_order(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    for (int i = 0; i < 2; i++) {
        boxcar_new_message message = delivery("shop", i ? "2" : "1", "p");
        message.stream = BOXCAR_STR("customer");
        ids[i] = deliver_message(f, &message).work_id;
    }
    struct taken taken = inbox_take(f, f->owner, ids[0]);
    assert_inbox_empty(f);
    assert_true(inbox_ack(f, taken));
    assert_true(inbox_ack(f, inbox_take(f, f->owner, ids[1])));
}

/* The id derives from the key: a join can be told of it before it comes. BX-042 */
static void message_that_was_attached_before_counts_in_its_join(void **state) {
    struct fixture *f = *state;
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    boxcar_join_id join_id;
    boxcar_message_id id = boxcar_inbox_message_id(key_of("shop", "1"));
    boxcar_join_list *list = NULL;
    join.expected_steps = 1;
    ASSERT_OK(f, boxcar_join_start(f->store, &join, &join_id, &f->err));
    ASSERT_OK(f, boxcar_join_attach(f->store, join_id, &id, 1, NULL, &f->err));
    deliver_done(f, "shop", "1");
    ASSERT_OK(f, boxcar_join_find(f->store, join_id, &list, &f->err));
    assert_int_equal(list->items[0]->status, BOXCAR_JOIN_COMPLETED);
    boxcar_list_free(list);
}

/* BX-084, BX-004 */
static void dead_letter_is_revived_with_a_reason(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued dead[3] = {deliver_dead(f, "shop", "1"), deliver_dead(f, "shop", "2")};
    boxcar_message_ref refs[2] = {{.work_id = dead[0].work_id},
                                  {.message_id = boxcar_inbox_message_id(key_of("shop", "2"))}};
    for (int i = 0; i < 2; i++) {
        boxcar_work_id revived = {0};
        boxcar_attempt_list *attempts = NULL;
        ASSERT_OK(f, boxcar_inbox_revive(f->store, refs[i], BOXCAR_STR("it was fixed"), &revived, &f->err));
        assert_int_equal(revived.value, dead[i].work_id.value);
        assert_state(f, "shop", i ? "2" : "1", BOXCAR_INBOX_SEEN);
        ASSERT_OK(f, boxcar_attempt_read(f->store, revived, &attempts, &f->err));
        const boxcar_attempt *last = attempts->items[attempts->count - 1];
        assert_text(last->outcome, "replayed");
        assert_text(last->error, "it was fixed");
        boxcar_list_free(attempts);
        struct taken taken = inbox_take(f, f->owner, revived);
        assert_int_equal(taken.retry_count, 0);
        assert_true(inbox_ack(f, taken));
    }
    assert_true(is_processed(f, "shop", "2"));
}

/* BX-084 */
static void only_dead_letters_of_the_inbox_are_revived(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[] = {deliver_done(f, "shop", "done").work_id, deliver(f, "shop", "held").work_id, {0}};
    inbox_take(f, f->owner, ids[1]);
    ids[2] = deliver(f, "shop", "ready").work_id;
    for (int i = 0; i < 3; i++)
        ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                     boxcar_inbox_revive(f->store, (boxcar_message_ref){.work_id = ids[i]}, BOXCAR_STR("why"),
                                         NULL, &f->err));
    boxcar_message_ref unknown[] = {{.work_id = {4711}},
                                    {.message_id = boxcar_inbox_message_id(key_of("shop", "unknown"))},
                                    {.work_id = enqueue_dead(f, "t", "no").work_id}};
    for (int i = 0; i < 3; i++)
        ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                     boxcar_inbox_revive(f->store, unknown[i], BOXCAR_STR("why"), NULL, &f->err));
}

/* An id is one in the whole store: nobody's message is taken for another's. */
static void outbox_message_with_the_id_of_a_key_is_a_conflict(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    boxcar_new_message wanted = delivery("shop", "1", "p");
    message.message_id = boxcar_inbox_message_id(key_of("shop", "1"));
    enqueue_message(f, &message);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_enqueue(f->store, BOXCAR_INBOX, &wanted, NULL, &f->err));
    assert_unknown(f, "shop", "1");
}

static void views_show_source_and_state(void **state) {
    struct fixture *f = *state;
    deliver_dead(f, "shop", "dead");
    deliver_done(f, "shop", "done");
    inbox_take(f, f->owner, deliver(f, "shop", "held").work_id);
    deliver(f, "shop", "ready");
    is_processed(f, "shop", "seen");
    static const char INBOX[] =
        "select count(*) from %sinbox where source = 'shop' and (external_id, state) in (values "
        "('dead', 'dead'), ('done', 'done'), ('held', 'processing'), ('ready', 'seen'))";
    static const char RECEIPT[] =
        "select count(*) from %sinbox_receipt where source = 'shop' and (external_id, state, "
        "work_id is null) in (values ('dead', 'dead', %s), ('done', 'done', %s), "
        "('held', 'processing', %s), ('ready', 'seen', %s), ('seen', 'seen', %s))";
    char sqlite_text[512], postgres_text[512];
    snprintf(sqlite_text, sizeof(sqlite_text), INBOX, "boxcar_");
    snprintf(postgres_text, sizeof(postgres_text), INBOX, "");
    assert_int_equal(fixture_sql_number(f, sqlite_text, postgres_text), 4);
    snprintf(sqlite_text, sizeof(sqlite_text), RECEIPT, "boxcar_", "0", "0", "0", "0", "1");
    snprintf(postgres_text, sizeof(postgres_text), RECEIPT, "", "false", "false", "false", "false", "true");
    assert_int_equal(fixture_sql_number(f, sqlite_text, postgres_text), 5);
    assert_int_equal(fixture_sql_number(f,
                                        "select count(*) from boxcar_dead_letter where external_id = 'dead'",
                                        "select count(*) from dead_letter where external_id = 'dead'"),
                     1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(message_is_stored_once_for_its_key),
    TEST(sources_have_ids_of_their_own),
    TEST(key_and_fields_come_with_the_message),
    TEST(outbox_messages_have_no_source),
    TEST(boxes_do_not_see_each_other),
    TEST(known_message_stays_as_it_is),
    TEST(redelivery_spends_no_attempt),
    TEST(sighting_becomes_a_message),
    TEST(many_are_stored_in_order_and_a_key_that_comes_twice_once),
    TEST(thousand_are_stored_and_known_again),
    TEST(bad_message_among_many_stores_none),
    TEST(lifecycle_is_that_of_the_outbox),
    TEST(expired_lease_is_reaped_in_its_box),
    TEST(stream_of_the_inbox_is_handled_in_order),
    TEST(message_that_was_attached_before_counts_in_its_join),
    TEST(dead_letter_is_revived_with_a_reason),
    TEST(only_dead_letters_of_the_inbox_are_revived),
    TEST(outbox_message_with_the_id_of_a_key_is_a_conflict),
    TEST(views_show_source_and_state),
};

const struct suite INBOX_SUITE = SUITE(TESTS);
