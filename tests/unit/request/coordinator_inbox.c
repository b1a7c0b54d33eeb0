/* Messages from outside in a coordinator: they go with the batch, with a result for each ticket. BX-064,
 * BX-065, BX-080 */
#include "unit.h"

#include <string.h>

#include "coordinator_scene.h"
#include "request/coordinator/coordinator.h"

static boxcar_new_message a_delivery(const char *id, const char *payload) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

    message.source = BOXCAR_STR("bank");
    message.external_id = boxcar_str_of(id);
    message.topic = BOXCAR_STR("t");
    message.payload = boxcar_str_of(payload);
    return message;
}

static uint64_t deliver(struct scene *s, const char *id, const char *payload) {
    boxcar_new_message message = a_delivery(id, payload);
    uint64_t ticket = 0;

    if (boxcar_coordinator_enqueue(s->coordinator, BOXCAR_INBOX, &message, 1, &ticket, &s->err) != BOXCAR_OK)
        fail_msg("inbox_enqueue: %s", s->err.message);
    return ticket;
}

/* BX-065 */
static void both_boxes_go_with_one_batch_and_each_ticket_is_answered(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_message_id id = boxcar_inbox_message_id((boxcar_inbox_key){BOXCAR_STR("bank"), BOXCAR_STR("1")});
    uint64_t out, first, again;
    boxcar_flush *flushed;

    (void)state;
    first = deliver(s, "1", "in");
    out = put(s, "out");
    ack(s, 7);
    again = deliver(s, "1", "in again");
    flushed = flush(s);
    assert_int_equal(s->memory.call_count, 1);
    assert_int_equal(s->memory.count, 2);
    assert_int_equal(s->memory.messages[1].box, BOXCAR_INBOX);
    assert_string_equal(s->memory.messages[1].source, "bank");
    assert_int_equal(boxcar_flush_find(flushed, first)->outcome, BOXCAR_OUTCOME_ENQUEUED);
    assert_int_equal(boxcar_flush_find(flushed, first)->enqueues, true);
    assert_int_equal(boxcar_flush_find(flushed, first)->box, BOXCAR_INBOX);
    assert_memory_equal(&boxcar_flush_find(flushed, first)->message_id, &id, sizeof(id));
    assert_int_equal(boxcar_flush_find(flushed, again)->outcome, BOXCAR_OUTCOME_DUPLICATE);
    assert_int_equal(boxcar_flush_find(flushed, again)->work_id.value,
                     boxcar_flush_find(flushed, first)->work_id.value);
    assert_int_equal(boxcar_flush_find(flushed, out)->box, BOXCAR_OUTBOX);
    assert_int_equal(boxcar_flush_find(flushed, out)->outcome, BOXCAR_OUTCOME_ENQUEUED);
    boxcar_flush_free(flushed);
    scene_free(s);
}

/* What is queued is copied: texts of the caller may go. */
static void queued_texts_are_copies(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    char id[] = "1", payload[] = "in";
    boxcar_new_message message = a_delivery(id, payload);

    (void)state;
    assert_int_equal(boxcar_coordinator_enqueue(s->coordinator, BOXCAR_INBOX, &message, 1, NULL, &s->err),
                     BOXCAR_OK);
    memset(id, 'x', 1);
    memset(payload, 'x', 2);
    flush_ok(s);
    assert_string_equal(s->memory.messages[0].text, "in");
    scene_free(s);
}

/* BX-080 */
static void other_hash_is_told_with_the_ticket_and_logged(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    uint64_t good = deliver(s, "1", "same"), bad = deliver(s, "2", "other");
    boxcar_flush *flushed;

    (void)state;
    s->memory.other_hash = "other";
    flushed = flush(s);
    assert_false(boxcar_flush_find(flushed, good)->hash_mismatch);
    assert_true(boxcar_flush_find(flushed, bad)->hash_mismatch);
    assert_int_equal(s->memory.log_count, 1);
    assert_int_equal(s->memory.log[0].level, BOXCAR_LOG_WARN);
    assert_string_equal(s->memory.log[0].event, "inbox_hash_mismatch");
    boxcar_flush_free(flushed);
    scene_free(s);
}

/* An answer that was lost: nobody can tell whose a known key is. Messages whose ids the library made are. */
static void repeated_batch_stores_once_and_tells_duplicates_of_keys(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    uint64_t in, out;
    boxcar_flush *flushed;

    (void)state;
    s->memory.fail_at = 0;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    s->memory.apply_then_fail = true;
    in = deliver(s, "1", "in");
    out = put(s, "out");
    flush_fails(s, BOXCAR_E_UNAVAILABLE);
    flushed = flush(s);
    assert_true(s->memory.calls[1].sent_before);
    assert_int_equal(s->memory.count, 2);
    assert_int_equal(boxcar_flush_find(flushed, in)->outcome, BOXCAR_OUTCOME_DUPLICATE);
    assert_int_equal(boxcar_flush_find(flushed, out)->outcome, BOXCAR_OUTCOME_ENQUEUED);
    boxcar_flush_free(flushed);
    scene_free(s);
}

static void refused_one_is_dropped_alone(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_message_id id = boxcar_inbox_message_id((boxcar_inbox_key){BOXCAR_STR("bank"), BOXCAR_STR("2")});
    uint64_t bad;
    boxcar_flush *flushed;

    (void)state;
    s->memory.refuse = "bad";
    s->memory.refusal = BOXCAR_E_CONFLICT;
    deliver(s, "1", "a");
    bad = deliver(s, "2", "bad");
    deliver(s, "3", "c");
    flushed = flush(s);
    assert_int_equal(flushed->refused_count, 1);
    assert_int_equal(boxcar_flush_find(flushed, bad)->outcome, BOXCAR_OUTCOME_REFUSED);
    assert_int_equal(boxcar_flush_find(flushed, bad)->work_id.value, 0);
    assert_memory_equal(&boxcar_flush_find(flushed, bad)->message_id, &id, sizeof(id));
    assert_int_equal(s->memory.count, 2);
    boxcar_flush_free(flushed);
    scene_free(s);
}

static void assert_refused(struct scene *s, boxcar_status status, uint64_t ticket, const char *argument) {
    assert_int_equal(status, BOXCAR_E_INVALID);
    assert_string_equal(s->err.argument, argument);
    assert_int_equal(ticket, 0);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 0);
}

/* BX-011 */
static void bad_messages_are_refused_at_once(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_coordinator *c = s->coordinator;
    boxcar_new_message good = a_delivery("1", "p"), bad[2] = {good, a_delivery("", "p")};
    boxcar_status status;
    uint64_t ticket = 77;

    (void)state;
    status = boxcar_coordinator_enqueue(NULL, BOXCAR_INBOX, &good, 1, &ticket, &s->err);
    assert_refused(s, status, ticket, "coordinator");
    ticket = 77;
    status = boxcar_coordinator_enqueue(c, BOXCAR_INBOX, NULL, 1, &ticket, &s->err);
    assert_refused(s, status, ticket, "messages");
    ticket = 77;
    status = boxcar_coordinator_enqueue(c, BOXCAR_INBOX, &bad[1], 1, &ticket, &s->err);
    assert_refused(s, status, ticket, "messages[0].external_id");
    ticket = 77;
    status = boxcar_coordinator_enqueue(c, BOXCAR_INBOX, bad, 2, &ticket, &s->err);
    assert_refused(s, status, ticket, "messages[1].external_id");
    ticket = 77;
    status = boxcar_coordinator_enqueue(c, BOXCAR_INBOX, NULL, 2, &ticket, &s->err);
    assert_refused(s, status, ticket, "messages");
    assert_int_equal(boxcar_coordinator_enqueue(c, BOXCAR_INBOX, NULL, 0, &ticket, &s->err), BOXCAR_OK);
    assert_int_equal(ticket, 0);
    scene_free(s);
}

static void many_get_tickets_in_a_row(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_IMMEDIATE);
    boxcar_new_message messages[100];
    char ids[100][2] = {{0}};
    uint64_t ticket = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        ids[i][0] = (char)(i + 1);
        messages[i] = a_delivery(ids[i], "p");
    }
    put(s, "before");
    assert_int_equal(
        boxcar_coordinator_enqueue(s->coordinator, BOXCAR_INBOX, messages, 100, &ticket, &s->err), BOXCAR_OK);
    assert_int_equal(ticket, 2);
    assert_int_equal(s->last_ticket, 101);
    assert_int_equal(s->memory.count, 101);
    assert_int_equal(s->enqueued, 101);
    scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_boxes_go_with_one_batch_and_each_ticket_is_answered),
        cmocka_unit_test(queued_texts_are_copies),
        cmocka_unit_test(other_hash_is_told_with_the_ticket_and_logged),
        cmocka_unit_test(repeated_batch_stores_once_and_tells_duplicates_of_keys),
        cmocka_unit_test(refused_one_is_dropped_alone),
        cmocka_unit_test(bad_messages_are_refused_at_once),
        cmocka_unit_test(many_get_tickets_in_a_row),
    };

    return cmocka_run_group_tests_name("coordinator_inbox", tests, NULL, NULL);
}
