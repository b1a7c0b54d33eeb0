/* Acknowledging: done for good, fenced by owner and epoch. */
#include "conformance.h"

/* OBX-027, OBX-028, OBX-029 */
static void acked_message_is_done_and_says_when_and_by_whom(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "t", "a");
    struct taken taken = take(f, f->owner, enqueued.work_id);
    boxcar_time before = database_now(f);
    assert_true(ack(f, f->owner, taken));
    boxcar_time after = database_now(f);

    boxcar_message_list *list = find(f, enqueued.work_id);
    const boxcar_message *m = look(list);
    char owner[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(f->owner.uuid, owner);
    assert_int_equal(m->status, BOXCAR_DONE);
    assert_true(m->processed_at >= before - 5000 && m->processed_at <= after + 5000);
    assert_text(m->processed_by, owner);
    assert_true(m->locked_until == BOXCAR_TIME_NONE);
    assert_true(boxcar_uuid_is_none(m->owner.uuid));
    assert_int_equal(m->retry_count, 0);
    boxcar_list_free(list);
}

/* OBX-032, BX-004 */
static void acked_message_never_comes_back(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "t", "a");
    struct taken taken = take_for(f, f->owner, enqueued.work_id, BOXCAR_LEASE_MS_MIN);
    assert_true(ack(f, f->owner, taken));
    wait_out(f, BOXCAR_LEASE_MS_MIN);
    assert_int_equal(reap(f), 0);
    assert_nothing_claimable(f);
    assert_false(abandon(f, f->owner, taken, 0));
    assert_false(defer(f, f->owner, taken, 0));
    assert_false(bury(f, f->owner, taken, "too late"));
    assert_false(renew(f, f->owner, taken, 30000));
    assert_status(f, enqueued.work_id, BOXCAR_DONE);
    assert_nothing_claimable(f);
}

/* OBX-030, OBX-031, BX-002 */
static void ack_by_another_owner_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued enqueued = enqueue(f, "t", "a");
    struct taken taken = take(f, f->owner, enqueued.work_id);
    assert_false(ack(f, f->other, taken));
    assert_status(f, enqueued.work_id, BOXCAR_IN_PROGRESS);
    assert_true(ack(f, f->owner, taken));
}

/* BX-002 */
static void ack_under_another_epoch_changes_nothing(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "a").work_id), wrong = taken;
    wrong.epoch.value = taken.epoch.value + 1;
    assert_false(ack(f, f->owner, wrong));
    wrong.epoch.value = taken.epoch.value - 1;
    assert_false(ack(f, f->owner, wrong));
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
}

/* OBX-030, BX-002 */
static void ack_without_epoch_is_fenced_by_the_owner_alone(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "a").work_id);
    taken.epoch.value = 0;
    assert_false(ack(f, f->other, taken));
    assert_true(ack(f, f->owner, taken));
    assert_status(f, taken.work_id, BOXCAR_DONE);
}

/* OBX-031, OBX-030 */
static void ack_passes_over_ids_that_do_not_match_and_reports_the_rest(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    enqueue_many(f, "t", 4, ids);
    struct taken mine = take(f, f->owner, ids[0]), theirs = take(f, f->other, ids[1]),
                 also = take(f, f->owner, ids[2]);
    boxcar_settlement settlements[6];
    for (int i = 0; i < 6; i++)
        settlements[i] = settlement_of(mine);
    settlements[0] = settlement_of(also);
    settlements[1] = settlement_of(theirs);
    settlements[2].work_id.value = 123456789;
    settlements[3].work_id = ids[3]; /* never claimed */
    boxcar_work_id affected[6];
    size_t count = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements, 6,
                               affected, &count, &f->err));
    assert_int_equal(count, 2);
    assert_true(affected[0].value == ids[0].value || affected[1].value == ids[0].value);
    assert_int_equal(affected[0].value + affected[1].value, ids[0].value + ids[2].value);
    assert_status(f, ids[0], BOXCAR_DONE);
    assert_status(f, ids[1], BOXCAR_IN_PROGRESS);
    assert_status(f, ids[2], BOXCAR_DONE);
    assert_status(f, ids[3], BOXCAR_READY);
}

static size_t ack_run(struct fixture *f, const struct taken *taken, size_t count,
                      boxcar_work_id *ret_affected) {
    boxcar_settlement settlements[10];
    size_t affected = 0;
    for (size_t i = 0; i < count; i++)
        settlements[i] = settlement_of(taken[i]);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements, count,
                               ret_affected, &affected, &f->err));
    return affected;
}

/* Neighbours under one epoch: all of a lease, a part of one, a part with one that is done. OBX-031, BX-002 */
static void neighbours_are_acked_and_reported_one_by_one(void **state) {
    struct fixture *f = *state;
    struct taken taken[10];
    boxcar_work_id affected[10];
    enqueue_many(f, "t", 10, NULL);
    assert_int_equal(take_all(f, f->owner, 30000, taken, 10), 10);
    assert_int_equal(ack_run(f, taken, 3, affected), 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(affected[i].value == taken[i].work_id.value);
    assert_int_equal(ack_run(f, taken + 2, 3, affected), 2);
    assert_true(affected[0].value == taken[3].work_id.value && affected[1].value == taken[4].work_id.value);
    assert_int_equal(stats_of(f).in_progress, 5);
    assert_int_equal(ack_run(f, taken + 5, 5, affected), 5);
    for (size_t i = 0; i < 5; i++)
        assert_true(affected[i].value == taken[5 + i].work_id.value);
    assert_int_equal(ack_run(f, taken + 5, 5, affected), 0);
    enqueue_many(f, "t", 4, NULL);
    assert_int_equal(take_all(f, f->owner, 30000, taken, 4), 4);
    assert_int_equal(ack_run(f, taken, 4, affected), 4); /* all of a lease */
    for (size_t i = 0; i < 4; i++)
        assert_true(affected[i].value == taken[i].work_id.value);
    assert_int_equal(stats_of(f).done, 14);
    assert_nothing_claimable(f);
}

/* OBX-031 */
static void second_ack_affects_nothing(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "a").work_id);
    assert_true(ack(f, f->owner, taken));
    assert_false(ack(f, f->owner, taken));
    assert_int_equal(stats_of(f).done, 1);
}

/* OBX-027 */
static void outputs_of_an_ack_may_be_left_out(void **state) {
    struct fixture *f = *state;
    boxcar_settlement settlement = settlement_of(take(f, f->owner, enqueue(f, "t", "a").work_id));
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, &settlement, 1, NULL,
                               NULL, &f->err));
    assert_status(f, settlement.work_id, BOXCAR_DONE);
}

static size_t ack_every(struct fixture *f, const struct taken *taken, size_t count, size_t step,
                        size_t remainder) {
    boxcar_settlement settlements[300];
    size_t wanted = 0, affected = 0;
    for (size_t i = 0; i < count; i++)
        if (i % step == remainder)
            settlements[wanted++] = settlement_of(taken[i]);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements, wanted,
                               NULL, &affected, &f->err));
    assert_int_equal(affected, wanted);
    return affected;
}

/* BX-002, OBX-027 */
static void big_lease_may_be_acked_in_parts(void **state) {
    struct fixture *f = *state;
    struct taken taken[300];
    enqueue_many(f, "t", 300, NULL);
    assert_int_equal(take_all(f, f->owner, 30000, taken, 300), 300);
    assert_int_equal(ack_every(f, taken, 300, 3, 1), 100);
    for (size_t i = 0; i < 9; i++)
        assert_status(f, taken[i].work_id, i % 3 == 1 ? BOXCAR_DONE : BOXCAR_IN_PROGRESS);
    assert_int_equal(stats_of(f).in_progress, 200);
    assert_nothing_claimable(f);
    ack_every(f, taken, 300, 3, 0);
    ack_every(f, taken, 300, 3, 2);
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.done, 300);
    assert_int_equal(stats.in_progress, 0);
    assert_int_equal(audit_lost(f), 0);
}

/* OBX-031, BX-011 */
static void ids_at_the_end_of_the_range_are_passed_over_too(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    boxcar_settlement settlements[] = {BOXCAR_SETTLEMENT_INIT, BOXCAR_SETTLEMENT_INIT};
    settlements[0].work_id.value = INT64_MAX;
    settlements[1].work_id = taken.work_id;
    boxcar_work_id affected[2];
    size_t count = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements, 2,
                               affected, &count, &f->err));
    assert_int_equal(count, 1);
    assert_int_equal(affected[0].value, taken.work_id.value);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ABANDON, settlements, 1,
                               affected, &count, &f->err));
    assert_int_equal(count, 0);
}

/* BX-002: neighbours that are acked together are fenced one by one. */
static void ack_of_many_neighbours_passes_over_those_that_are_not_held(void **state) {
    enum { COUNT = 60, DONE = 7, ABANDONED = 20, WRONG = 33, OTHERS = 45 };
    struct fixture *f = *state;
    struct taken taken[COUNT];
    boxcar_settlement settlements[COUNT];
    boxcar_work_id ids[COUNT];
    size_t affected = 0;
    enqueue_many(f, "t", OTHERS, NULL);
    assert_int_equal(take_all(f, f->owner, 30000, taken, OTHERS), OTHERS);
    enqueue_many(f, "t", 1, NULL);
    assert_int_equal(take_all(f, f->other, 30000, taken + OTHERS, 1), 1);
    enqueue_many(f, "t", COUNT - OTHERS - 1, NULL);
    assert_int_equal(take_all(f, f->owner, 30000, taken + OTHERS + 1, COUNT - OTHERS - 1),
                     COUNT - OTHERS - 1);
    for (int i = 0; i < COUNT; i++)
        settlements[i] = settlement_of(taken[i]);
    assert_true(ack(f, f->owner, taken[DONE]));
    assert_true(abandon(f, f->owner, taken[ABANDONED], 3600000));
    settlements[WRONG].epoch.value++;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK,
                               settlements + COUNT / 2, COUNT / 2, ids, &affected, &f->err));
    assert_int_equal(affected, COUNT / 2 - 2);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements, COUNT / 2,
                               ids, &affected, &f->err));
    assert_int_equal(affected, COUNT / 2 - 2);
    assert_status(f, taken[ABANDONED].work_id, BOXCAR_READY);
    assert_status(f, taken[WRONG].work_id, BOXCAR_IN_PROGRESS);
    assert_status(f, taken[OTHERS].work_id, BOXCAR_IN_PROGRESS);
    assert_status(f, taken[COUNT - 1].work_id, BOXCAR_DONE);
    assert_int_equal(stats_of(f).done, COUNT - 3);
    assert_int_equal(stats_of(f).in_progress, 2);
}

/* BX-002: a lease with a gap, and as many names as the gap makes it wide. */
static void ack_that_names_a_message_twice_finishes_no_other(void **state) {
    struct fixture *f = *state;
    boxcar_work_id first = enqueue(f, "a", "1").work_id, between = enqueue(f, "b", "2").work_id,
                   last = enqueue(f, "a", "3").work_id;
    boxcar_message_list *list = claim_topic(f, f->owner, 2, "a");
    boxcar_settlement acks[3];
    size_t affected = 0;
    assert_int_equal(list->count, 2);
    for (int i = 0; i < 3; i++) {
        acks[i] = (boxcar_settlement)BOXCAR_SETTLEMENT_INIT;
        acks[i].work_id = i < 2 ? first : last;
        acks[i].epoch = list->items[0]->epoch;
    }
    boxcar_list_free(list);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, acks, 3, NULL,
                               &affected, &f->err));
    assert_int_equal(affected, 2);
    assert_status(f, first, BOXCAR_DONE);
    assert_status(f, between, BOXCAR_READY);
    assert_status(f, last, BOXCAR_DONE);
    assert_int_equal(stats_of(f).done, 2);
    (void)take(f, f->owner, between);
}

static const struct CMUnitTest TESTS[] = {
    TEST(ack_that_names_a_message_twice_finishes_no_other),
    TEST(ack_of_many_neighbours_passes_over_those_that_are_not_held),
    TEST(ids_at_the_end_of_the_range_are_passed_over_too),
    TEST(acked_message_is_done_and_says_when_and_by_whom),
    TEST(acked_message_never_comes_back),
    TEST(ack_by_another_owner_changes_nothing),
    TEST(ack_under_another_epoch_changes_nothing),
    TEST(ack_without_epoch_is_fenced_by_the_owner_alone),
    TEST(ack_passes_over_ids_that_do_not_match_and_reports_the_rest),
    TEST(neighbours_are_acked_and_reported_one_by_one),
    TEST(second_ack_affects_nothing),
    TEST(outputs_of_an_ack_may_be_left_out),
    TEST(big_lease_may_be_acked_in_parts),
};

const struct suite ACK_SUITE = SUITE(TESTS);
