/* A batch with both parts filled: one transaction, one round trip, each box by itself. BX-065, design 1 and 5
 */
#include <string.h>

#include "borrow.h"
#include "boxes.h"
#include "joins.h"
#include "seam.h"

static boxcar_settlement_list just(const boxcar_settlement *settlement) {
    return (boxcar_settlement_list){settlement, 1};
}

static void one_batch_claims_from_both_boxes(void **state) {
    struct fixture *f = *state;
    boxcar_work_id in = put_into(f, BOXCAR_INBOX, "t", "in", NULL);
    boxcar_work_id out = put_into(f, BOXCAR_OUTBOX, "t", "out", NULL);
    struct batch batch = batch_for(f->owner);
    batch.parts[BOXCAR_OUTBOX].claim_size = batch.parts[BOXCAR_INBOX].claim_size = 5;
    boxcar_result *result = send_batch(f, &batch);
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->count, 1);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->count, 1);
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->items[0]->work_id.value, out.value);
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->items[0]->box, BOXCAR_OUTBOX);
    assert_text(result->claimed[BOXCAR_OUTBOX]->items[0]->payload, "out");
    assert_int_equal(result->claimed[BOXCAR_INBOX]->items[0]->work_id.value, in.value);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->items[0]->box, BOXCAR_INBOX);
    assert_text(result->claimed[BOXCAR_INBOX]->items[0]->payload, "in");
    boxcar_result_free(result);
}

static void each_box_has_topics_and_size_of_its_own(void **state) {
    struct fixture *f = *state;
    boxcar_str a = BOXCAR_STR("a"), b = BOXCAR_STR("b");
    for (int i = 0; i < 3; i++)
        for (int box = 0; box < BOXES; box++) {
            put_into(f, (boxcar_box)box, "a", "x", NULL);
            put_into(f, (boxcar_box)box, "b", "x", NULL);
        }
    struct batch batch = batch_for(f->owner);
    for (int box = 0; box < BOXES; box++) {
        batch.parts[box].claim_size = box == BOXCAR_OUTBOX ? 2 : 10;
        batch.parts[box].topics = box == BOXCAR_OUTBOX ? &a : &b;
        batch.parts[box].topic_count = 1;
    }
    boxcar_result *result = send_batch(f, &batch);
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->count, 2);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->count, 3);
    for (size_t i = 0; i < 2; i++)
        assert_text(result->claimed[BOXCAR_OUTBOX]->items[i]->topic, "a");
    for (size_t i = 0; i < 3; i++)
        assert_text(result->claimed[BOXCAR_INBOX]->items[i]->topic, "b");
    boxcar_result_free(result);
}

/* Results go out and work comes in at once. */
static void one_batch_enqueues_settles_and_claims_in_both_boxes(void **state) {
    struct fixture *f = *state;
    struct taken held[BOXES];
    boxcar_settlement acks[BOXES];
    boxcar_new_message messages[BOXES];
    struct batch batch = batch_for(f->owner);
    for (int box = 0; box < BOXES; box++) {
        held[box] = take_from(f, (boxcar_box)box, f->owner, put_into(f, (boxcar_box)box, "t", "old", NULL));
        acks[box] = settlement_of(held[box]);
        messages[box] = new_message("t", "new");
        batch.request.messages[box] = (boxcar_new_message_list){&messages[box], 1};
        batch.parts[box].settle[BOXCAR_ACK] = just(&acks[box]);
        batch.parts[box].claim_size = 10;
    }
    come_from(&messages[BOXCAR_INBOX], "1");
    boxcar_result *result = send_batch(f, &batch);
    for (int box = 0; box < BOXES; box++) {
        assert_int_equal(result->settled[box][BOXCAR_ACK].count, 1);
        assert_int_equal(result->settled[box][BOXCAR_ACK].items[0].value, held[box].work_id.value);
        assert_int_equal(look(result->claimed[box])->work_id.value,
                         result->enqueued[box].items[0]->work_id.value);
        assert_int_equal(status_in(f, (boxcar_box)box, held[box].work_id), BOXCAR_DONE);
    }
    boxcar_result_free(result);
}

/* BX-002: the box is part of the fence. */
static void settlement_in_the_wrong_box_changes_nothing(void **state) {
    struct fixture *f = *state;
    static const boxcar_settle_kind KINDS[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_DEFER, BOXCAR_FAIL,
                                               BOXCAR_RENEW};
    for (int box = 0; box < BOXES; box++) {
        boxcar_box other = box == BOXCAR_OUTBOX ? BOXCAR_INBOX : BOXCAR_OUTBOX;
        boxcar_work_id id = put_into(f, (boxcar_box)box, "t", "x", NULL);
        boxcar_settlement given = settlement_of(take_from(f, (boxcar_box)box, f->owner, id));
        for (size_t k = 0; k < sizeof(KINDS) / sizeof(KINDS[0]); k++) {
            struct batch batch = batch_for(f->owner);
            batch.parts[other].settle[KINDS[k]] = just(&given);
            batch.parts[other].renew_lease_ms = 30000;
            boxcar_result *result = send_batch(f, &batch);
            assert_int_equal(result->settled[other][KINDS[k]].count, 0);
            assert_int_equal(result->settled[box][KINDS[k]].count, 0);
            boxcar_result_free(result);
            assert_int_equal(status_in(f, (boxcar_box)box, id), BOXCAR_IN_PROGRESS);
        }
        struct batch batch = batch_for(f->owner);
        batch.parts[box].settle[BOXCAR_ACK] = just(&given);
        boxcar_result *result = send_batch(f, &batch);
        assert_int_equal(result->settled[box][BOXCAR_ACK].count, 1);
        boxcar_result_free(result);
    }
}

/* Different ways to settle in the two boxes, in one batch. */
static void boxes_are_settled_each_in_its_way(void **state) {
    struct fixture *f = *state;
    boxcar_settlement out =
        settlement_of(take_from(f, BOXCAR_OUTBOX, f->owner, put_into(f, BOXCAR_OUTBOX, "t", "x", NULL)));
    boxcar_settlement in =
        settlement_of(take_from(f, BOXCAR_INBOX, f->owner, put_into(f, BOXCAR_INBOX, "t", "x", NULL)));
    struct batch batch = batch_for(f->owner);
    out.delay_ms = 60000;
    batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_ABANDON] = just(&out);
    batch.parts[BOXCAR_INBOX].settle[BOXCAR_FAIL] = just(&in);
    boxcar_result *result = send_batch(f, &batch);
    assert_int_equal(result->settled[BOXCAR_OUTBOX][BOXCAR_ABANDON].count, 1);
    assert_int_equal(result->settled[BOXCAR_INBOX][BOXCAR_FAIL].count, 1);
    boxcar_result_free(result);
    assert_int_equal(status_in(f, BOXCAR_OUTBOX, out.work_id), BOXCAR_READY);
    assert_int_equal(retry_count_of(f, out.work_id), 1);
    assert_int_equal(status_in(f, BOXCAR_INBOX, in.work_id), BOXCAR_FAILED);
}

/* One transaction: what one part cannot do, the other has not done. */
static void batch_that_fails_in_one_box_changes_nothing_in_the_other(void **state) {
    struct fixture *f = *state;
    boxcar_settlement in =
        settlement_of(take_from(f, BOXCAR_INBOX, f->owner, put_into(f, BOXCAR_INBOX, "t", "x", NULL)));
    boxcar_new_message messages[BOXES] = {new_message("t", "x"), new_message("t", "x")};
    boxcar_result *result = NULL;
    messages[BOXCAR_OUTBOX].join_id = unknown_join();
    come_from(&messages[BOXCAR_INBOX], "1");
    struct batch batch = batch_for(f->owner);
    for (int box = 0; box < BOXES; box++)
        batch.request.messages[box] = (boxcar_new_message_list){&messages[box], 1};
    batch.parts[BOXCAR_INBOX].settle[BOXCAR_ACK] = just(&in);
    batch.request.parts[BOXCAR_INBOX] = &batch.parts[BOXCAR_INBOX];
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_process(f->store, &batch.request, &result, &f->err));
    assert_null(result);
    assert_int_equal(status_in(f, BOXCAR_INBOX, in.work_id), BOXCAR_IN_PROGRESS);
    assert_int_equal(fixture_sql_number(f,
                                        "select count(*) from boxcar_inbox_receipt where external_id = '1'",
                                        "select count(*) from inbox_receipt where external_id = '1'"),
                     0);
}

/* Steps in both boxes count in the transaction of the batch. BX-041 */
static void steps_in_both_boxes_count_together(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    boxcar_new_message message = new_message("in", "x");
    come_from(&message, "1");
    boxcar_message_id in_id =
        boxcar_inbox_message_id((boxcar_inbox_key){message.source, message.external_id});
    ASSERT_OK(f, boxcar_join_attach(f->store, id, &in_id, 1, NULL, &f->err)); /* before it is there */
    boxcar_enqueued put;
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_INBOX, &message, &put, &f->err));
    boxcar_settlement in = settlement_of(take_from(f, BOXCAR_INBOX, f->owner, put.work_id));
    boxcar_settlement out = settlement_of(take_step(f, id));
    struct batch batch = batch_for(f->owner);
    batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK] = just(&out);
    batch.parts[BOXCAR_INBOX].settle[BOXCAR_FAIL] = just(&in);
    boxcar_result_free(send_batch(f, &batch));
    assert_join(f, id, BOXCAR_JOIN_FAILED, 1, 1);
    assert_consistent(f, id);
}

/* What an earlier try has done counts, in either box. */
static void repeated_batch_reports_what_the_first_did(void **state) {
    struct fixture *f = *state;
    boxcar_settlement given[BOXES];
    struct batch batch = batch_for(f->owner);
    for (int box = 0; box < BOXES; box++) {
        boxcar_work_id id = put_into(f, (boxcar_box)box, "t", "x", NULL);
        given[box] = settlement_of(take_from(f, (boxcar_box)box, f->owner, id));
        batch.parts[box].settle[BOXCAR_ACK] = just(&given[box]);
    }
    boxcar_result_free(send_batch(f, &batch));
    batch.request.sent_before = true;
    boxcar_result *result = send_batch(f, &batch);
    for (int box = 0; box < BOXES; box++) /* no answer of SQLite is ever lost */
        assert_int_equal(result->settled[box][BOXCAR_ACK].count, fixture_is_sqlite(f) ? 0 : 1);
    boxcar_result_free(result);
}

/* Some were settled by the first try, the others by this one, and one is nobody's: each counts once. */
static void repeated_batch_adds_what_it_does_to_what_the_first_did(void **state) {
    enum { COUNT = 40, FIRST = 25 };
    struct fixture *f = *state;
    boxcar_settlement given[COUNT + 1] = {{.work_id = {0}}};
    struct taken taken[COUNT];
    int seen[COUNT] = {0};
    struct batch batch = batch_for(f->owner);
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    assert_int_equal(take_all(f, f->owner, 30000, taken, COUNT), COUNT);
    for (int i = 0; i < COUNT; i++) /* not in their order, and mixed */
        given[i] = settlement_of(taken[i * 7 % COUNT]);
    given[COUNT] = given[0];
    given[COUNT].work_id.value = INT64_MAX;
    batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK] = (boxcar_settlement_list){given, FIRST};
    boxcar_result *result = send_batch(f, &batch);
    assert_int_equal(result->settled[BOXCAR_OUTBOX][BOXCAR_ACK].count, FIRST);
    boxcar_result_free(result);
    batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK].count = COUNT + 1;
    batch.request.sent_before = true;
    result = send_batch(f, &batch);
    const boxcar_work_id_list *settled = &result->settled[BOXCAR_OUTBOX][BOXCAR_ACK];
    assert_int_equal(settled->count, fixture_is_sqlite(f) ? COUNT - FIRST : COUNT);
    for (size_t i = 0; i < settled->count; i++)
        for (int k = 0; k < COUNT; k++)
            seen[k] += settled->items[i].value == given[k].work_id.value;
    for (int k = 0; k < COUNT; k++)
        assert_int_equal(seen[k], fixture_is_sqlite(f) && k < FIRST ? 0 : 1);
    boxcar_result_free(result);
}

/* OBX-049: the leases of a box are released, and nobody else's. */
static void reaping_a_box_leaves_the_other_alone(void **state) {
    struct fixture *f = *state;
    int64_t count = -1;
    for (int box = 0; box < BOXES; box++)
        take_from(f, (boxcar_box)box, f->owner, put_into(f, (boxcar_box)box, "t", "x", NULL));
    fixture_sql(f, "update boxcar_lease set until = 1", "update lease set until = clock_timestamp()");
    ASSERT_OK(f, boxcar_reap(f->store, BOXCAR_OUTBOX, &count, &f->err));
    assert_int_equal(count, 1);
    ASSERT_OK(f, boxcar_reap(f->store, BOXCAR_OUTBOX, &count, &f->err));
    assert_int_equal(count, 0);
    ASSERT_OK(f, boxcar_reap(f->store, BOXCAR_INBOX, &count, &f->err));
    assert_int_equal(count, 1);
}

static void batch_that_asks_nothing_answers(void **state) {
    struct fixture *f = *state;
    struct batch batch = batch_for(f->owner);
    boxcar_result *result = send_batch(f, &batch);
    for (int box = 0; box < BOXES; box++)
        assert_int_equal(result->claimed[box]->count, 0);
    boxcar_result_free(result);
}

/* In the caller's transaction both boxes go with it. */
static void batch_in_a_transaction_goes_with_it(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[BOXES];
    for (int box = 0; box < BOXES; box++)
        ids[box] = put_into(f, (boxcar_box)box, "t", "x", NULL);
    struct batch batch = batch_for(f->owner);
    batch.parts[BOXCAR_OUTBOX].claim_size = batch.parts[BOXCAR_INBOX].claim_size = 5;
    ASSERT_OK(f, seam_begin(f->store, &f->err));
    boxcar_result *result = send_batch(f, &batch);
    for (int box = 0; box < BOXES; box++)
        assert_int_equal(result->claimed[box]->count, 1);
    boxcar_result_free(result);
    seam_roll_back(f->store);
    for (int box = 0; box < BOXES; box++)
        assert_int_equal(status_in(f, (boxcar_box)box, ids[box]), BOXCAR_READY);
}

static const struct CMUnitTest TESTS[] = {
    TEST(one_batch_claims_from_both_boxes),
    TEST(each_box_has_topics_and_size_of_its_own),
    TEST(one_batch_enqueues_settles_and_claims_in_both_boxes),
    TEST(settlement_in_the_wrong_box_changes_nothing),
    TEST(boxes_are_settled_each_in_its_way),
    TEST(batch_that_fails_in_one_box_changes_nothing_in_the_other),
    TEST(steps_in_both_boxes_count_together),
    TEST(repeated_batch_reports_what_the_first_did),
    TEST(repeated_batch_adds_what_it_does_to_what_the_first_did),
    TEST(reaping_a_box_leaves_the_other_alone),
    TEST(batch_that_asks_nothing_answers),
    TEST(batch_in_a_transaction_goes_with_it),
};

const struct suite BOXES_SUITE = SUITE(TESTS);
