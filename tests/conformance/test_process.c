/* boxcar_process(): one call for everything, with an answer for each id. BX-063, BX-065 */
#include <string.h>

#include "borrow.h"
#include "boxes.h"
#include "joins.h"

static boxcar_batch_result *process(struct fixture *f, const boxcar_batch *batch) {
    boxcar_batch_result *result = NULL;
    ASSERT_OK(f, boxcar_process(f->store, batch, &result, &f->err));
    return result;
}

static size_t affected(const boxcar_batch_result *result, boxcar_box box, boxcar_batch_list list) {
    size_t count;
    (void)boxcar_batch_result_affected(result, box, list, &count);
    return count;
}

static boxcar_batch batch_of(struct fixture *f) {
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    batch.owner = f->owner;
    return batch;
}

/* A worker's steady state: results of the last work out, the next work in. */
static void results_go_out_and_work_comes_in(void **state) {
    struct fixture *f = *state;
    boxcar_batch_part parts[BOXES] = {BOXCAR_BATCH_PART_INIT, BOXCAR_BATCH_PART_INIT};
    boxcar_settlement done[BOXES];
    boxcar_new_message message = new_message("t", "next");
    boxcar_batch batch = batch_of(f);
    boxcar_work_id in_next;
    for (int box = 0; box < BOXES; box++) {
        boxcar_work_id id = put_into(f, (boxcar_box)box, "t", "first", NULL);
        done[box] = settlement_of(take_from(f, (boxcar_box)box, f->owner, id));
        parts[box].acks = &done[box];
        parts[box].ack_count = 1;
        parts[box].claim_size = 10;
    }
    in_next = put_into(f, BOXCAR_INBOX, "t", "next", NULL);
    batch.messages = &message;
    batch.message_count = 1;
    batch.outbox = &parts[BOXCAR_OUTBOX];
    batch.inbox = &parts[BOXCAR_INBOX];
    boxcar_batch_result *result = process(f, &batch);
    for (int box = 0; box < BOXES; box++) {
        const boxcar_message_list *list = boxcar_batch_result_claimed(result, (boxcar_box)box);
        assert_int_equal(affected(result, (boxcar_box)box, BOXCAR_BATCH_ACKS), 1);
        assert_int_equal(boxcar_message_list_count(list), 1);
        assert_text(boxcar_message_list_get(list, 0)->payload, "next");
        assert_int_equal(status_in(f, (boxcar_box)box, done[box].work_id), BOXCAR_DONE);
    }
    assert_int_equal(boxcar_message_list_get(boxcar_batch_result_claimed(result, BOXCAR_OUTBOX), 0)->work_id.value,
                     boxcar_batch_result_enqueued(result, 0)->work_id.value);
    assert_int_equal(boxcar_message_list_get(boxcar_batch_result_claimed(result, BOXCAR_INBOX), 0)->work_id.value,
                     in_next.value);
    boxcar_batch_result_free(result);
}

/* BX-065: duplicates are told by a word, not by absence. */
static void duplicates_are_told_per_message(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[3] = {new_message("t", "a"), new_message("t", "b"), new_message("t", "c")};
    messages[0].key = BOXCAR_STR("one");
    messages[1].key = BOXCAR_STR("two");
    messages[2].key = BOXCAR_STR("one");
    boxcar_batch batch = batch_of(f);
    batch.messages = messages;
    batch.message_count = 3;
    boxcar_batch_result *result = process(f, &batch);
    assert_false(boxcar_batch_result_enqueued(result, 0)->duplicate);
    assert_false(boxcar_batch_result_enqueued(result, 1)->duplicate);
    assert_true(boxcar_batch_result_enqueued(result, 2)->duplicate);
    assert_int_equal(boxcar_batch_result_enqueued(result, 2)->work_id.value,
                     boxcar_batch_result_enqueued(result, 0)->work_id.value);
    boxcar_batch_result_free(result);
    result = process(f, &batch);
    for (size_t i = 0; i < 3; i++)
        assert_true(boxcar_batch_result_enqueued(result, i)->duplicate);
    boxcar_batch_result_free(result);
}

/* BX-002: each list says which of its ids were the owner's. */
static void every_list_answers_for_its_ids(void **state) {
    struct fixture *f = *state;
    boxcar_settlement lists[5][2];
    boxcar_batch_part part = BOXCAR_BATCH_PART_INIT;
    boxcar_batch batch = batch_of(f);
    for (int i = 0; i < 5; i++) {
        boxcar_work_id id = put_into(f, BOXCAR_OUTBOX, "t", "x", NULL);
        lists[i][0] = settlement_of(take_from(f, BOXCAR_OUTBOX, f->owner, id));
        lists[i][1] = lists[i][0];
        lists[i][1].epoch.value++; /* somebody else's lease */
        lists[i][1].work_id.value += 1000;
    }
    lists[1][0].delay_ms = 60000;
    lists[2][0].delay_ms = 60000;
    part.acks = lists[0];
    part.abandons = lists[1];
    part.defers = lists[2];
    part.fails = lists[3];
    part.renews = lists[4];
    part.ack_count = part.abandon_count = part.defer_count = part.fail_count = part.renew_count = 2;
    batch.outbox = &part;
    boxcar_batch_result *result = process(f, &batch);
    for (int i = 0; i < 5; i++) {
        size_t count;
        const boxcar_work_id *ids =
            boxcar_batch_result_affected(result, BOXCAR_OUTBOX, (boxcar_batch_list)i, &count);
        assert_int_equal(count, 1);
        assert_int_equal(ids[0].value, lists[i][0].work_id.value);
    }
    boxcar_batch_result_free(result);
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
    boxcar_batch_part part = BOXCAR_BATCH_PART_INIT;
    boxcar_batch batch = batch_of(f);
    boxcar_batch_result *result = NULL;
    part.acks = &done;
    part.ack_count = 1;
    part.claim_size = 5;
    batch.messages = messages;
    batch.message_count = 2;
    batch.outbox = &part;
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
    boxcar_batch_part part = BOXCAR_BATCH_PART_INIT;
    boxcar_batch batch = batch_of(f);
    boxcar_batch_result *result = NULL;
    part.acks = &done;
    part.ack_count = 1;
    messages[1].join_id = unknown_join();
    batch.messages = messages;
    batch.message_count = 2;
    batch.inbox = &part;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_process(f->store, &batch, &result, &f->err));
    assert_int_equal(status_in(f, BOXCAR_INBOX, done.work_id), BOXCAR_IN_PROGRESS);
    assert_int_equal(stats_of(f).ready, 0);
}

/* BX-065 */
static void empty_batch_answers(void **state) {
    struct fixture *f = *state;
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_batch_part part = BOXCAR_BATCH_PART_INIT;
    boxcar_batch_result *result = process(f, &batch);
    boxcar_batch_result_free(result);
    batch = batch_of(f);
    part.claim_size = 10;
    batch.outbox = &part;
    batch.inbox = &part;
    result = process(f, &batch);
    for (int box = 0; box < BOXES; box++)
        assert_int_equal(boxcar_message_list_count(boxcar_batch_result_claimed(result, (boxcar_box)box)), 0);
    boxcar_batch_result_free(result);
}

/* BX-061 */
static void heartbeat_goes_with_the_batch(void **state) {
    struct fixture *f = *state;
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_batch_part part = BOXCAR_BATCH_PART_INIT;
    boxcar_batch batch = batch_of(f);
    boxcar_str topic = BOXCAR_STR("mail.*");
    heartbeat.host = BOXCAR_STR("here");
    part.topics = &topic;
    part.topic_count = 1;
    batch.inbox = &part;
    batch.heartbeat = &heartbeat;
    boxcar_batch_result_free(process(f, &batch));
    assert_int_equal(fixture_sql_number(f,
                                        "select count(*) from boxcar_instance where host = 'here' and box = 'inbox' "
                                        "and topics = '[\"mail.*\"]'",
                                        "select count(*) from instance where host = 'here' and box = 'inbox' "
                                        "and topics = '{mail.*}'"),
                     1);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_instance", "select count(*) from instance"), 1);
}

/* In the caller's transaction: everything, claims too. */
static void batch_on_a_borrowed_handle_goes_with_its_transaction(void **state) {
    struct fixture *f = *state;
    boxcar_work_id waiting = put_into(f, BOXCAR_INBOX, "t", "x", NULL);
    boxcar_new_message message = new_message("t", "mine");
    boxcar_batch_part part = BOXCAR_BATCH_PART_INIT;
    boxcar_batch batch = batch_of(f);
    part.claim_size = 5;
    batch.messages = &message;
    batch.message_count = 1;
    batch.inbox = &part;
    struct borrowed b = borrow(f);
    for (int commit = 0; commit < 2; commit++) {
        boxcar_batch_result *result = NULL;
        borrowed_exec(&b, "begin");
        ASSERT_OK(f, boxcar_process(b.store, &batch, &result, &f->err));
        assert_int_equal(boxcar_message_list_count(boxcar_batch_result_claimed(result, BOXCAR_INBOX)), 1);
        boxcar_batch_result_free(result);
        if (commit)
            borrowed_exec(&b, "commit");
        else
            borrowed_exec(&b, "rollback");
        assert_int_equal(status_in(f, BOXCAR_INBOX, waiting), commit ? BOXCAR_IN_PROGRESS : BOXCAR_READY);
        assert_int_equal(stats_of(f).ready, commit);
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
    TEST(batch_on_a_borrowed_handle_goes_with_its_transaction),
};

const struct suite PROCESS_SUITE = SUITE("process", TESTS, ON_EVERY_STORE);
