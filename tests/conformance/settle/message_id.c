/* A message may be settled by its message id, for callers that do not keep work ids. BX-002, seed 004 */
#include "borrow.h"
#include "boxes.h"
#include "inboxes.h"

static boxcar_message_id new_id(void) { return (boxcar_message_id){boxcar_uuid_new()}; }

static boxcar_settlement by_id(boxcar_message_id id) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    settlement.message_id = id;
    settlement.delay_ms = 3600000;
    return settlement;
}

/* A message of this box that the owner has leased. */
static boxcar_message_id lease_one(struct fixture *f, boxcar_box box, boxcar_owner owner,
                                   struct taken *ret_taken) {
    boxcar_message_list *list = NULL;
    boxcar_work_id id = put_into(f, box, "t", "p", NULL);
    struct taken taken = take_from(f, box, owner, id);
    ASSERT_OK(f, boxcar_message_find(f->store, box, (boxcar_message_ref){.work_id = id}, &list, &f->err));
    boxcar_message_id message_id = look(list)->message_id;
    boxcar_list_free(list);
    *ret_taken = taken;
    return message_id;
}

static size_t settle_list(struct fixture *f, boxcar_box box, boxcar_settle_kind kind,
                          const boxcar_settlement *list, size_t count, boxcar_work_id *affected) {
    size_t affected_count = 99;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(box, f->owner), kind, list, count, affected, &affected_count,
                               &f->err));
    return affected_count;
}

/* In both boxes, with the epoch of the lease and without. */
static void every_way_to_settle_takes_message_ids(void **state) {
    struct fixture *f = *state;
    static const struct {
        boxcar_settle_kind kind;
        boxcar_message_status status;
    } WAYS[] = {{BOXCAR_ACK, BOXCAR_DONE},          {BOXCAR_ABANDON, BOXCAR_READY},
                {BOXCAR_DEFER, BOXCAR_READY},       {BOXCAR_FAIL, BOXCAR_FAILED},
                {BOXCAR_RENEW, BOXCAR_IN_PROGRESS}, {BOXCAR_RECORD, BOXCAR_IN_PROGRESS}};
    for (size_t i = 0; i < 4 * sizeof(WAYS) / sizeof(WAYS[0]); i++) {
        boxcar_box box = i % 2 ? BOXCAR_INBOX : BOXCAR_OUTBOX;
        struct taken taken;
        boxcar_settlement settlement = by_id(lease_one(f, box, f->owner, &taken));
        boxcar_work_id affected = {0};
        if (i % 4 < 2)
            settlement.epoch = taken.epoch;
        settlement.stages = WAYS[i / 4].kind == BOXCAR_RENEW ? 0 : BOXCAR_STAGE_RECEPTOR_PROCESSED;
        assert_int_equal(settle_list(f, box, WAYS[i / 4].kind, &settlement, 1, &affected), 1);
        assert_int_equal(affected.value, taken.work_id.value);
        assert_int_equal(status_in(f, box, taken.work_id), WAYS[i / 4].status);
    }
    assert_int_equal(audit_lost(f), 0);
}

static void ids_that_are_not_the_owners_are_passed_over(void **state) {
    struct fixture *f = *state;
    static const boxcar_settle_kind KINDS[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_DEFER, BOXCAR_FAIL,
                                               BOXCAR_RENEW};
    struct taken mine, others, boxed;
    boxcar_settlement list[5] = {by_id(lease_one(f, BOXCAR_OUTBOX, f->owner, &mine)),
                                 by_id(lease_one(f, BOXCAR_OUTBOX, f->other, &others)),
                                 by_id(lease_one(f, BOXCAR_INBOX, f->owner, &boxed)), by_id(new_id()),
                                 by_id(enqueue(f, "t", "ready").message_id)};
    list[0].epoch.value = mine.epoch.value + 1;
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        assert_int_equal(settle_list(f, BOXCAR_OUTBOX, KINDS[i], list, 5, NULL), 0);
    assert_status(f, mine.work_id, BOXCAR_IN_PROGRESS);
    assert_status(f, others.work_id, BOXCAR_IN_PROGRESS);
    assert_int_equal(status_in(f, BOXCAR_INBOX, boxed.work_id), BOXCAR_IN_PROGRESS);
    assert_int_equal(stats_of(f).ready, 1);
}

/* Both kinds of names in one list, and a message under both. */
static void message_given_twice_counts_once(void **state) {
    struct fixture *f = *state;
    struct taken taken[3];
    boxcar_settlement list[5];
    boxcar_work_id affected[5];
    for (int i = 0; i < 3; i++)
        list[i] = by_id(lease_one(f, BOXCAR_OUTBOX, f->owner, &taken[i]));
    list[1] = settlement_of(taken[1]);
    list[3] = settlement_of(taken[0]);
    list[4] = list[2];
    assert_int_equal(settle_list(f, BOXCAR_OUTBOX, BOXCAR_RENEW, list, 5, affected), 3);
    assert_int_equal(settle_list(f, BOXCAR_OUTBOX, BOXCAR_ACK, list, 5, affected), 3);
    assert_int_equal(stats_of(f).done, 3);
}

/* Everything in one request, and the answer has work ids. */
static void lists_of_a_request_take_message_ids(void **state) {
    struct fixture *f = *state;
    struct taken out[3], in;
    boxcar_settlement acks[2], fail, defer;
    boxcar_request_part parts[BOXES] = {BOXCAR_REQUEST_PART_INIT, BOXCAR_REQUEST_PART_INIT};
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;
    for (int i = 0; i < 2; i++)
        acks[i] = by_id(lease_one(f, BOXCAR_OUTBOX, f->owner, &out[i]));
    fail = by_id(lease_one(f, BOXCAR_OUTBOX, f->owner, &out[2]));
    defer = by_id(lease_one(f, BOXCAR_INBOX, f->owner, &in));
    acks[1].stages = BOXCAR_STAGE_RECEPTOR_PROCESSED;
    fail.error = BOXCAR_STR("no");
    request.owner = f->owner;
    request.parts[BOXCAR_OUTBOX] = &parts[BOXCAR_OUTBOX];
    request.parts[BOXCAR_INBOX] = &parts[BOXCAR_INBOX];
    parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK] = (boxcar_settlement_list){acks, 2};
    parts[BOXCAR_OUTBOX].settle[BOXCAR_FAIL] = (boxcar_settlement_list){&fail, 1};
    parts[BOXCAR_INBOX].settle[BOXCAR_DEFER] = (boxcar_settlement_list){&defer, 1};
    ASSERT_OK(f, boxcar_process(f->store, &request, &result, &f->err));
    const boxcar_work_id_list *acked = &result->settled[BOXCAR_OUTBOX][BOXCAR_ACK];
    assert_int_equal(acked->count, 2);
    assert_int_equal(acked->items[0].value + acked->items[1].value,
                     out[0].work_id.value + out[1].work_id.value);
    assert_int_equal(result->settled[BOXCAR_OUTBOX][BOXCAR_FAIL].items[0].value, out[2].work_id.value);
    assert_int_equal(result->settled[BOXCAR_INBOX][BOXCAR_DEFER].items[0].value, in.work_id.value);
    boxcar_result_free(result);
    boxcar_message_list *list = find(f, out[1].work_id);
    assert_true(look(list)->stages & BOXCAR_STAGE_RECEPTOR_PROCESSED);
    boxcar_list_free(list);
    assert_dead(f, out[2].work_id, BOXCAR_REASON_REJECTED);
    assert_int_equal(status_in(f, BOXCAR_INBOX, in.work_id), BOXCAR_READY);
}

/* BX-001, BX-002: with the caller's transaction. */
static void ack_by_message_id_goes_with_the_callers_transaction(void **state) {
    struct fixture *f = *state;
    struct taken taken;
    boxcar_settlement done = by_id(lease_one(f, BOXCAR_OUTBOX, f->owner, &taken));
    struct borrowed b = borrow(f);
    for (int commit = 0; commit < 2; commit++) {
        size_t affected = 0;
        borrowed_exec(&b, "begin");
        ASSERT_OK(f,
                  boxcar_ack(b.store, CLAIMER(BOXCAR_OUTBOX, f->owner), &done, 1, NULL, &affected, &f->err));
        assert_int_equal(affected, 1);
        borrowed_exec(&b, commit ? "commit" : "rollback");
        assert_status(f, taken.work_id, commit ? BOXCAR_DONE : BOXCAR_IN_PROGRESS);
    }
    borrowed_close(&b);
}

/* BX-011 */
static void message_has_one_name(void **state) {
    struct fixture *f = *state;
    struct taken taken;
    boxcar_settlement list[2], good = by_id(lease_one(f, BOXCAR_OUTBOX, f->owner, &taken));
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;
    list[0] = list[1] = good;
    list[1].work_id = taken.work_id;
    ASSERT_INVALID(
        f, "settlements[1].message_id",
        boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, list, 2, NULL, NULL, &f->err));
    part.settle[BOXCAR_ACK] = (boxcar_settlement_list){list, 2};
    request.owner = f->owner;
    request.parts[BOXCAR_OUTBOX] = &part;
    ASSERT_INVALID(f, "outbox.acks[1].message_id", boxcar_process(f->store, &request, &result, &f->err));
    list[1].work_id.value = 0;
    list[1].message_id = (boxcar_message_id){0};
    ASSERT_INVALID(f, "outbox.acks[1].work_id", boxcar_process(f->store, &request, &result, &f->err));
    list[1].struct_size = 0;
    ASSERT_INVALID(f, "outbox.acks", boxcar_process(f->store, &request, &result, &f->err));
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
}

static const struct CMUnitTest TESTS[] = {
    TEST(every_way_to_settle_takes_message_ids),
    TEST(ids_that_are_not_the_owners_are_passed_over),
    TEST(message_given_twice_counts_once),
    TEST(lists_of_a_request_take_message_ids),
    TEST(ack_by_message_id_goes_with_the_callers_transaction),
    TEST(message_has_one_name),
};

const struct suite MESSAGE_ID_SUITE = SUITE(TESTS);
