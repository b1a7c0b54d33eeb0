/* Leases while they live: renewing them, as a whole and in part. */
#include "conformance.h"

static boxcar_time locked_until(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_list *list = find(f, work_id);
    boxcar_time until = look(list)->locked_until;
    boxcar_list_free(list);
    return until;
}

/* BX-002 */
static void renewed_lease_ends_later(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_for(f, f->owner, enqueue(f, "t", "a").work_id, 10000);
    boxcar_time before = database_now(f);
    assert_true(renew(f, f->owner, taken, 60000));
    boxcar_time after = database_now(f), until = locked_until(f, taken.work_id);
    assert_true(until >= before + 60000000 - 5000 && until <= after + 60000000 + 5000);
    assert_true(ack(f, f->owner, taken));
}

/* BX-002 */
static void renewing_never_shortens_a_lease(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_for(f, f->owner, enqueue(f, "t", "a").work_id, 60000);
    boxcar_time until = locked_until(f, taken.work_id);
    assert_true(renew(f, f->owner, taken, 1000));
    assert_true(locked_until(f, taken.work_id) == until);
}

/* BX-002 */
static void renewed_message_outlives_its_first_lease(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_for(f, f->owner, enqueue(f, "t", "a").work_id, BOXCAR_LEASE_MS_MIN);
    assert_true(renew(f, f->owner, taken, 30000));
    wait_out(f, BOXCAR_LEASE_MS_MIN);
    assert_int_equal(reap(f), 0);
    assert_nothing_claimable(f);
    assert_int_equal(retry_count_of(f, taken.work_id), 0);
    assert_true(ack(f, f->owner, taken));
}

/* BX-002 */
static void renew_passes_over_what_is_not_the_owners(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_for(f, f->owner, enqueue(f, "t", "a").work_id, 10000), wrong = taken,
                 unknown = taken;
    boxcar_time until = locked_until(f, taken.work_id);
    wrong.epoch.value++;
    unknown.work_id.value = 31337;
    assert_false(renew(f, f->other, taken, 60000));
    assert_false(renew(f, f->owner, wrong, 60000));
    assert_false(renew(f, f->owner, unknown, 60000));
    assert_true(locked_until(f, taken.work_id) == until);
}

static void claim_ten(struct fixture *f, struct taken ret_taken[10]) {
    enqueue_many(f, "t", 10, NULL);
    boxcar_message_list *list = claim_for(f, f->owner, 10, 300);
    assert_int_equal(list->count, 10);
    for (size_t i = 0; i < 10; i++) {
        const boxcar_message *m = list->items[i];
        ret_taken[i] = (struct taken){m->work_id, m->epoch, 0, 0};
    }
    boxcar_list_free(list);
}

/* BX-002, BX-003 */
static void part_of_a_claim_may_be_renewed_while_the_rest_expires(void **state) {
    struct fixture *f = *state;
    struct taken taken[10];
    claim_ten(f, taken);
    boxcar_settlement part[3] = {settlement_of(taken[1]), settlement_of(taken[4]), settlement_of(taken[9])};
    size_t count = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER_FOR(BOXCAR_OUTBOX, f->owner, 60000), BOXCAR_RENEW, part, 3,
                               NULL, &count, &f->err));
    assert_int_equal(count, 3);
    reap_wait(f, 7);
    for (int i = 0; i < 10; i++) {
        bool renewed = i == 1 || i == 4 || i == 9;
        assert_status(f, taken[i].work_id, renewed ? BOXCAR_IN_PROGRESS : BOXCAR_READY);
        assert_int_equal(retry_count_of(f, taken[i].work_id), renewed ? 0 : 1);
        assert_true(ack(f, f->owner, taken[i]) == renewed); /* the epoch has not changed */
    }
    assert_int_equal(stats_of(f).done, 3);
}

/* BX-002 */
static void parts_renewed_one_after_the_other_stay_ackable_together(void **state) {
    struct fixture *f = *state;
    struct taken taken[10];
    claim_ten(f, taken);
    for (int i = 0; i < 10; i++)
        assert_true(renew(f, f->owner, taken[i], 30000 + 1000 * i));
    boxcar_settlement all[10];
    for (int i = 0; i < 10; i++)
        all[i] = settlement_of(taken[9 - i]);
    size_t count = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, all, 10, NULL, &count,
                               &f->err));
    assert_int_equal(count, 10);
    assert_int_equal(stats_of(f).done, 10);
}

/* BX-002, OBX-097 */
static void leases_of_several_claims_are_renewed_in_one_call(void **state) {
    struct fixture *f = *state;
    boxcar_settlement all[3];
    for (int i = 0; i < 3; i++)
        all[i] = settlement_of(take_for(f, f->owner, enqueue(f, "t", "a").work_id, 1500));
    size_t count = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER_FOR(BOXCAR_OUTBOX, f->owner, 60000), BOXCAR_RENEW, all, 3,
                               NULL, &count, &f->err));
    assert_int_equal(count, 3);
    wait_out(f, 1500);
    assert_int_equal(reap(f), 0);
    assert_int_equal(stats_of(f).in_progress, 3);
}

static const struct CMUnitTest TESTS[] = {
    TEST(renewed_lease_ends_later),
    TEST(renewing_never_shortens_a_lease),
    TEST(renewed_message_outlives_its_first_lease),
    TEST(renew_passes_over_what_is_not_the_owners),
    TEST(part_of_a_claim_may_be_renewed_while_the_rest_expires),
    TEST(parts_renewed_one_after_the_other_stay_ackable_together),
    TEST(leases_of_several_claims_are_renewed_in_one_call),
};

const struct suite LEASE_SUITE = SUITE(TESTS);
