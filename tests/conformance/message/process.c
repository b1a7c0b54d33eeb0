/* boxcar_process(): one call for everything, with an answer for each id. BX-063, BX-065 */
#include <string.h>

#include "borrow.h"
#include "boxes.h"
#include "inboxes.h"
#include "joins.h"
#include "log_capture.h"

static boxcar_result *process(struct fixture *f, const boxcar_request *batch) {
    boxcar_result *result = NULL;
    ASSERT_OK(f, boxcar_process(f->store, batch, &result, &f->err));
    return result;
}

static size_t affected(const boxcar_result *result, boxcar_box box, boxcar_settle_kind list) {
    size_t count;
    count = result->settled[box][list].count;
    return count;
}

static boxcar_request batch_of(struct fixture *f) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    batch.owner = f->owner;
    return batch;
}

/* A worker's steady state: results of the last work out, the next work in. */
static void results_go_out_and_work_comes_in(void **state) {
    struct fixture *f = *state;
    boxcar_request_part parts[BOXES] = {BOXCAR_REQUEST_PART_INIT, BOXCAR_REQUEST_PART_INIT};
    boxcar_settlement done[BOXES];
    boxcar_new_message message = new_message("t", "next");
    boxcar_request batch = batch_of(f);
    boxcar_work_id in_next;
    for (int box = 0; box < BOXES; box++) {
        boxcar_work_id id = put_into(f, (boxcar_box)box, "t", "first", NULL);
        done[box] = settlement_of(take_from(f, (boxcar_box)box, f->owner, id));
        parts[box].settle[BOXCAR_ACK] = (boxcar_settlement_list){&done[box], 1};
        parts[box].claim_size = 10;
    }
    in_next = put_into(f, BOXCAR_INBOX, "t", "next", NULL);
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&message, 1};
    batch.parts[BOXCAR_OUTBOX] = &parts[BOXCAR_OUTBOX];
    batch.parts[BOXCAR_INBOX] = &parts[BOXCAR_INBOX];
    boxcar_result *result = process(f, &batch);
    for (int box = 0; box < BOXES; box++) {
        const boxcar_message_list *list = result->claimed[(boxcar_box)box];
        assert_int_equal(affected(result, (boxcar_box)box, BOXCAR_ACK), 1);
        assert_int_equal(list->count, 1);
        assert_text(list->items[0]->payload, "next");
        assert_int_equal(status_in(f, (boxcar_box)box, done[box].work_id), BOXCAR_DONE);
    }
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->items[0]->work_id.value,
                     result->enqueued[BOXCAR_OUTBOX].items[0]->work_id.value);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->items[0]->work_id.value, in_next.value);
    boxcar_result_free(result);
}

/* BX-065: duplicates are told by a word, not by absence. */
static void duplicates_are_told_per_message(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[3] = {new_message("t", "a"), new_message("t", "b"), new_message("t", "c")};
    messages[0].key = BOXCAR_STR("one");
    messages[1].key = BOXCAR_STR("two");
    messages[2].key = BOXCAR_STR("one");
    boxcar_request batch = batch_of(f);
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, 3};
    boxcar_result *result = process(f, &batch);
    assert_false(result->enqueued[BOXCAR_OUTBOX].items[0]->duplicate);
    assert_false(result->enqueued[BOXCAR_OUTBOX].items[1]->duplicate);
    assert_true(result->enqueued[BOXCAR_OUTBOX].items[2]->duplicate);
    assert_int_equal(result->enqueued[BOXCAR_OUTBOX].items[2]->work_id.value,
                     result->enqueued[BOXCAR_OUTBOX].items[0]->work_id.value);
    boxcar_result_free(result);
    result = process(f, &batch);
    for (size_t i = 0; i < 3; i++)
        assert_true(result->enqueued[BOXCAR_OUTBOX].items[i]->duplicate);
    boxcar_result_free(result);
}

/* BX-002: each list says which of its ids were the owner's. */
static void every_list_answers_for_its_ids(void **state) {
    struct fixture *f = *state;
    static const boxcar_settle_kind KINDS[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_DEFER, BOXCAR_FAIL,
                                               BOXCAR_RENEW};
    boxcar_settlement lists[5][2];
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = batch_of(f);
    for (int i = 0; i < 5; i++) {
        boxcar_work_id id = put_into(f, BOXCAR_OUTBOX, "t", "x", NULL);
        lists[i][0] = settlement_of(take_from(f, BOXCAR_OUTBOX, f->owner, id));
        lists[i][1] = lists[i][0];
        lists[i][1].epoch.value++; /* somebody else's lease */
        lists[i][1].work_id.value += 1000;
    }
    lists[1][0].delay_ms = 60000;
    lists[2][0].delay_ms = 60000;
    for (int i = 0; i < 5; i++)
        part.settle[KINDS[i]] = (boxcar_settlement_list){lists[i], 2};
    batch.parts[BOXCAR_OUTBOX] = &part;
    boxcar_result *result = process(f, &batch);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(result->settled[BOXCAR_OUTBOX][KINDS[i]].count, 1);
        assert_int_equal(result->settled[BOXCAR_OUTBOX][KINDS[i]].items[0].value, lists[i][0].work_id.value);
    }
    boxcar_result_free(result);
    assert_status(f, lists[0][0].work_id, BOXCAR_DONE);
    assert_int_equal(retry_count_of(f, lists[1][0].work_id), 1);
    assert_int_equal(retry_count_of(f, lists[2][0].work_id), 0);
    assert_dead(f, lists[3][0].work_id, BOXCAR_REASON_REJECTED);
    assert_status(f, lists[4][0].work_id, BOXCAR_IN_PROGRESS);
}

/* BX-011 */
static void batch_with_a_fault_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[2] = {new_message("t", "a"), new_message("", "b")};
    boxcar_settlement done =
        settlement_of(take_from(f, BOXCAR_OUTBOX, f->owner, put_into(f, BOXCAR_OUTBOX, "t", "x", NULL)));
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = batch_of(f);
    boxcar_result *result = NULL;
    part.settle[BOXCAR_ACK] = (boxcar_settlement_list){&done, 1};
    part.claim_size = 5;
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, 2};
    batch.parts[BOXCAR_OUTBOX] = &part;
    ASSERT_INVALID(f, "messages[1].topic", boxcar_process(f->store, &batch, &result, &f->err));
    assert_status(f, done.work_id, BOXCAR_IN_PROGRESS);
    assert_int_equal(stats_of(f).ready, 0);
}

/* What the store refuses is refused as a whole too. */
static void batch_that_the_store_refuses_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[2] = {new_message("t", "a"), new_message("t", "b")};
    boxcar_settlement done =
        settlement_of(take_from(f, BOXCAR_INBOX, f->owner, put_into(f, BOXCAR_INBOX, "t", "x", NULL)));
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = batch_of(f);
    boxcar_result *result = NULL;
    part.settle[BOXCAR_ACK] = (boxcar_settlement_list){&done, 1};
    messages[1].join_id = unknown_join();
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, 2};
    batch.parts[BOXCAR_INBOX] = &part;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_process(f->store, &batch, &result, &f->err));
    assert_int_equal(status_in(f, BOXCAR_INBOX, done.work_id), BOXCAR_IN_PROGRESS);
    assert_int_equal(stats_of(f).ready, 0);
}

/* BX-065 */
static void empty_batch_answers(void **state) {
    struct fixture *f = *state;
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_result *result = process(f, &batch);
    boxcar_result_free(result);
    batch = batch_of(f);
    part.claim_size = 10;
    batch.parts[BOXCAR_OUTBOX] = &part;
    batch.parts[BOXCAR_INBOX] = &part;
    result = process(f, &batch);
    for (int box = 0; box < BOXES; box++)
        assert_int_equal(result->claimed[(boxcar_box)box]->count, 0);
    boxcar_result_free(result);
}

/* BX-061 */
static void heartbeat_goes_with_the_batch(void **state) {
    struct fixture *f = *state;
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = batch_of(f);
    boxcar_str topic = BOXCAR_STR("mail.*");
    heartbeat.host = BOXCAR_STR("here");
    part.topics = &topic;
    part.topic_count = 1;
    batch.parts[BOXCAR_INBOX] = &part;
    batch.heartbeat = &heartbeat;
    boxcar_result_free(process(f, &batch));
    assert_int_equal(
        fixture_sql_number(f,
                           "select count(*) from boxcar_instance where host = 'here' and box = 'inbox' "
                           "and topics = '[\"mail.*\"]'",
                           "select count(*) from instance where host = 'here' and box = 'inbox' "
                           "and topics = '{mail.*}'"),
        1);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_instance", "select count(*) from instance"), 1);
}

/* ---- messages from outside ---- */

/* BX-065, BX-080 to BX-082: stored with everything else, each with an answer of its own. */
static void inbox_messages_go_with_everything_else(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued known = deliver(f, "bank", "known");
    struct taken held = inbox_take(f, f->owner, known.work_id);
    boxcar_settlement done = settlement_of(held);
    boxcar_new_message out = new_message("t", "out");
    boxcar_new_message in[4] = {delivery("bank", "1", "first"), delivery("bank", "known", "p"),
                                delivery("bank", "2", "second"), delivery("bank", "1", "again")};
    boxcar_request_part parts[BOXES] = {BOXCAR_REQUEST_PART_INIT, BOXCAR_REQUEST_PART_INIT};
    boxcar_request batch = batch_of(f);
    parts[BOXCAR_INBOX].settle[BOXCAR_ACK] = (boxcar_settlement_list){&done, 1};
    parts[BOXCAR_OUTBOX].claim_size = parts[BOXCAR_INBOX].claim_size = 10;
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&out, 1};
    batch.messages[BOXCAR_INBOX] = (boxcar_new_message_list){in, 4};
    batch.parts[BOXCAR_OUTBOX] = &parts[BOXCAR_OUTBOX];
    batch.parts[BOXCAR_INBOX] = &parts[BOXCAR_INBOX];
    boxcar_result *result = process(f, &batch);
    const boxcar_enqueued *first = result->enqueued[BOXCAR_INBOX].items[0];
    const boxcar_enqueued *second = result->enqueued[BOXCAR_INBOX].items[2];
    assert_false(first->duplicate || second->duplicate);
    assert_same_message_id(first->message_id, boxcar_inbox_message_id(key_of("bank", "1")));
    assert_true(result->enqueued[BOXCAR_INBOX].items[1]->duplicate);
    assert_int_equal(result->enqueued[BOXCAR_INBOX].items[1]->work_id.value, known.work_id.value);
    assert_true(result->enqueued[BOXCAR_INBOX].items[3]->duplicate);
    assert_int_equal(result->enqueued[BOXCAR_INBOX].items[3]->work_id.value, first->work_id.value);
    assert_null(result->enqueued[BOXCAR_INBOX].items[4]);
    assert_false(result->enqueued[BOXCAR_OUTBOX].items[0]->duplicate);
    assert_int_equal(affected(result, BOXCAR_INBOX, BOXCAR_ACK), 1);
    const boxcar_message_list *list = result->claimed[BOXCAR_INBOX];
    assert_int_equal(list->count, 2);
    assert_text(list->items[0]->payload, "first");
    assert_text(list->items[0]->source, "bank");
    assert_text(list->items[1]->external_id, "2");
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->count, 1);
    boxcar_result_free(result);
    assert_state(f, "bank", "known", BOXCAR_INBOX_DONE);
    assert_state(f, "bank", "2", BOXCAR_INBOX_PROCESSING);
    assert_int_equal(receipt_of(f, "bank", "1").is.seen_count, 2);
}

/* BX-080: reported per message and logged, never fatal. */
static void other_hash_is_told_and_logged(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    log_capture_reopen(captured, f);
    deliver_hashed(f, "bank", "1", "abc");
    boxcar_new_message in[2] = {delivery("bank", "1", "p"), delivery("bank", "2", "p")};
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    in[0].content_hash = in[1].content_hash = BOXCAR_STR("xyz");
    batch.messages[BOXCAR_INBOX] = (boxcar_new_message_list){in, 2};
    boxcar_result *result = process(f, &batch);
    assert_true(result->enqueued[BOXCAR_INBOX].items[0]->hash_mismatch);
    assert_false(result->enqueued[BOXCAR_INBOX].items[1]->hash_mismatch);
    assert_true(log_capture_has(captured, "warn", "inbox_hash_mismatch", "source=bank", "external_id=1"));
    assert_false(log_capture_has(captured, "warn", "inbox_hash_mismatch", "source=bank", "external_id=2"));
    boxcar_result_free(result);
    log_capture_free(captured);
}

/* BX-011, and what the store refuses: neither message, key nor settlement. */
static void batch_with_a_bad_inbox_message_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_new_message taken = new_message("t", "x"), out = new_message("t", "out");
    boxcar_settlement done =
        settlement_of(take_from(f, BOXCAR_INBOX, f->owner, put_into(f, BOXCAR_INBOX, "t", "x", NULL)));
    boxcar_new_message in[2] = {delivery("bank", "1", "p"), delivery("", "2", "p")};
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = batch_of(f);
    boxcar_result *result = NULL;
    taken.message_id = boxcar_inbox_message_id(key_of("bank", "2"));
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &taken, NULL, &f->err));
    part.settle[BOXCAR_ACK] = (boxcar_settlement_list){&done, 1};
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&out, 1};
    batch.messages[BOXCAR_INBOX] = (boxcar_new_message_list){in, 2};
    batch.parts[BOXCAR_INBOX] = &part;
    ASSERT_INVALID(f, "inbox.messages[1].source", boxcar_process(f->store, &batch, &result, &f->err));
    in[1].source = BOXCAR_STR("bank");
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_process(f->store, &batch, &result, &f->err));
    assert_unknown(f, "bank", "1");
    assert_unknown(f, "bank", "2");
    assert_int_equal(status_in(f, BOXCAR_INBOX, done.work_id), BOXCAR_IN_PROGRESS);
    assert_int_equal(stats_of(f).ready, 1);
}

/* A key is the caller's: if it is there, the store cannot tell which program stored it. The same holds for
 * given message ids. */
static void repeated_batch_stores_once_and_tells_duplicates(void **state) {
    struct fixture *f = *state;
    boxcar_new_message out = new_message("t", "out");
    boxcar_new_message in = delivery("bank", "1", "p");
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_work_id ids[BOXES];
    out.key = BOXCAR_STR("mine");
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&out, 1};
    batch.messages[BOXCAR_INBOX] = (boxcar_new_message_list){&in, 1};
    for (int i = 0; i < 2; i++) {
        boxcar_result *result = process(f, &batch);
        const boxcar_enqueued *sent = result->enqueued[BOXCAR_OUTBOX].items[0];
        const boxcar_enqueued *received = result->enqueued[BOXCAR_INBOX].items[0];
        assert_int_equal(sent->duplicate, i);
        assert_int_equal(received->duplicate, i);
        if (i > 0) {
            assert_int_equal(sent->work_id.value, ids[BOXCAR_OUTBOX].value);
            assert_int_equal(received->work_id.value, ids[BOXCAR_INBOX].value);
        }
        ids[BOXCAR_OUTBOX] = sent->work_id;
        ids[BOXCAR_INBOX] = received->work_id;
        boxcar_result_free(result);
        batch.sent_before = true;
    }
    assert_int_equal(count_messages(f), BOXES);
}

/* In the caller's transaction: everything, claims too. */
static void batch_on_a_borrowed_handle_goes_with_its_transaction(void **state) {
    struct fixture *f = *state;
    boxcar_work_id waiting = put_into(f, BOXCAR_INBOX, "t", "x", NULL);
    boxcar_new_message message = new_message("t", "mine");
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request batch = batch_of(f);
    boxcar_new_message in = delivery("bank", "1", "p");
    part.claim_size = 1;
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&message, 1};
    batch.messages[BOXCAR_INBOX] = (boxcar_new_message_list){&in, 1};
    batch.parts[BOXCAR_INBOX] = &part;
    struct borrowed b = borrow(f);
    for (int commit = 0; commit < 2; commit++) {
        boxcar_result *result = NULL;
        borrowed_exec(&b, "begin");
        ASSERT_OK(f, boxcar_process(b.store, &batch, &result, &f->err));
        assert_int_equal(result->claimed[BOXCAR_INBOX]->count, 1);
        boxcar_result_free(result);
        if (commit)
            borrowed_exec(&b, "commit");
        else
            borrowed_exec(&b, "rollback");
        assert_int_equal(status_in(f, BOXCAR_INBOX, waiting), commit ? BOXCAR_IN_PROGRESS : BOXCAR_READY);
        assert_int_equal(stats_of(f).ready, commit);
        if (commit)
            assert_state(f, "bank", "1", BOXCAR_INBOX_SEEN);
        else
            assert_unknown(f, "bank", "1");
    }
    borrowed_close(&b);
}

static const struct CMUnitTest TESTS[] = {
    TEST(results_go_out_and_work_comes_in),
    TEST(duplicates_are_told_per_message),
    TEST(every_list_answers_for_its_ids),
    TEST(batch_with_a_fault_changes_nothing),
    TEST(batch_that_the_store_refuses_changes_nothing),
    TEST(empty_batch_answers),
    TEST(heartbeat_goes_with_the_batch),
    TEST(inbox_messages_go_with_everything_else),
    TEST(other_hash_is_told_and_logged),
    TEST(batch_with_a_bad_inbox_message_changes_nothing),
    TEST(repeated_batch_stores_once_and_tells_duplicates),
    TEST(batch_on_a_borrowed_handle_goes_with_its_transaction),
};

const struct suite PROCESS_SUITE = SUITE(TESTS);
