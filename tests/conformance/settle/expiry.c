/* Leases that expire: released by reap or by claim, an attempt counted, late calls fenced. */
#include "conformance.h"

enum { SHORT = BOXCAR_LEASE_MS_MIN };

static struct taken take_expired(struct fixture *f, boxcar_owner owner) {
    struct taken taken = take_for(f, owner, enqueue(f, "t", "a").work_id, SHORT);
    wait_out(f, SHORT);
    return taken;
}

/* OBX-049, OBX-050, OBX-051, BX-003 */
static void reap_releases_expired_leases_and_counts_the_attempt(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_expired(f, f->owner);
    assert_int_equal(reap(f), 1);
    boxcar_message_list *list = find(f, taken.work_id);
    const boxcar_message *m = look(list);
    assert_int_equal(m->status, BOXCAR_READY);
    assert_true(boxcar_uuid_is_none(m->owner.uuid));
    assert_true(m->locked_until == BOXCAR_TIME_NONE);
    assert_int_equal(m->retry_count, 1);
    assert_int_equal(m->crash_count, 1);
    boxcar_list_free(list);
    assert_int_equal(reap(f), 0);
    assert_int_equal(take(f, f->other, taken.work_id).retry_count, 1);
}

/* OBX-049 */
static void reap_releases_every_expired_lease_and_no_other(void **state) {
    struct fixture *f = *state;
    enum { COUNT = 60 };
    struct taken taken[COUNT];
    enqueue_many(f, "t", COUNT, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take_all(f, f->owner, i == 1 ? 60000 : 1500, taken + 20 * i, 20), 20);
    reap_wait(f, 40);
    assert_int_equal(reap(f), 0);
    for (int i = 0; i < COUNT; i++)
        assert_status(f, taken[i].work_id, i / 20 == 1 ? BOXCAR_IN_PROGRESS : BOXCAR_READY);
}

/* OBX-052 */
static void reap_leaves_done_and_failed_alone(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    struct taken taken[3];
    enqueue_many(f, "t", 3, ids);
    assert_int_equal(take_all(f, f->owner, SHORT, taken, 3), 3);
    assert_true(ack(f, f->owner, taken[0]));
    assert_true(bury(f, f->owner, taken[1], "no"));
    reap_wait(f, 1);
    assert_status(f, ids[0], BOXCAR_DONE);
    assert_dead(f, ids[1], BOXCAR_REASON_REJECTED);
    assert_int_equal(retry_count_of(f, ids[0]), 0);
    assert_int_equal(retry_count_of(f, ids[1]), 0);
    assert_status(f, ids[2], BOXCAR_READY);
}

/* OBX-019, OBX-053, BX-020, BX-003 */
static void expired_lease_is_claimable_again_without_anyone_reaping(void **state) {
    struct fixture *f = *state;
    struct taken first = take_for(f, f->owner, enqueue(f, "t", "a").work_id, SHORT);
    struct taken second = take_wait(f, f->other, first.work_id, 30000);
    assert_true(second.epoch.value > first.epoch.value);
    assert_int_equal(second.retry_count, 1);
    assert_int_equal(second.crash_count, 1);
}

/* BX-001, OBX-053 */
static void message_of_a_worker_that_vanished_is_delivered_to_another(void **state) {
    struct fixture *f = *state;
    boxcar_store *own = f->store;
    f->store = fixture_open(f);
    struct taken first = take_for(f, f->owner, enqueue(f, "t", "a").work_id, SHORT);
    boxcar_store_close(f->store);
    f->store = own;
    assert_true(ack(f, f->other, take_wait(f, f->other, first.work_id, 30000)));
}

/* BX-003 */
static void expired_lease_has_no_backoff_and_is_on_record(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_expired(f, f->owner);
    assert_int_equal(reap(f), 1);
    take(f, f->other, taken.work_id);
    boxcar_attempt_list *list = NULL;
    ASSERT_OK(f, boxcar_attempt_read(f->store, taken.work_id, &list, &f->err));
    assert_int_equal(list->count, 1);
    const boxcar_attempt *attempt = list->items[0];
    assert_text(attempt->outcome, "lease_expired");
    assert_int_equal(attempt->retry_count, 1);
    assert_same_owner(attempt->owner, f->owner);
    assert_int_equal(attempt->epoch.value, taken.epoch.value);
    boxcar_list_free(list);
}

/* BX-002 */
static void expired_message_shows_in_progress_and_counts_as_ready_until_released(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_expired(f, f->owner);
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.ready, 1);
    assert_int_equal(stats.in_progress, 0);
}

/* BX-002 */
static void late_ack_counts_while_nobody_took_the_message(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_expired(f, f->owner);
    assert_true(ack(f, f->owner, taken));
    assert_status(f, taken.work_id, BOXCAR_DONE);
    assert_int_equal(reap(f), 0);
    assert_int_equal(retry_count_of(f, taken.work_id), 0);
}

/* BX-002 */
static void late_renew_abandon_defer_and_fail_count_too(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_expired(f, f->owner);
    assert_true(renew(f, f->owner, taken, 60000));
    assert_int_equal(reap(f), 0);
    assert_true(ack(f, f->owner, taken));
    taken = take_expired(f, f->owner);
    assert_true(defer(f, f->owner, taken, 3600000));
    assert_int_equal(retry_count_of(f, taken.work_id), 0);
    taken = take_expired(f, f->owner);
    assert_true(abandon(f, f->owner, taken, 3600000));
    assert_int_equal(retry_count_of(f, taken.work_id), 1);
    taken = take_expired(f, f->owner);
    assert_true(bury(f, f->owner, taken, "late but sure"));
    assert_dead(f, taken.work_id, BOXCAR_REASON_REJECTED);
}

static void assert_powerless(struct fixture *f, boxcar_owner owner, struct taken taken) {
    assert_false(ack(f, owner, taken));
    assert_false(abandon(f, owner, taken, 0));
    assert_false(defer(f, owner, taken, 0));
    assert_false(bury(f, owner, taken, "late"));
    assert_false(renew(f, owner, taken, 60000));
}

/* BX-002 */
static void late_calls_change_nothing_after_reap(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_expired(f, f->owner);
    assert_int_equal(reap(f), 1);
    assert_powerless(f, f->owner, taken);
    taken.epoch.value = 0;
    assert_powerless(f, f->owner, taken);
    assert_status(f, taken.work_id, BOXCAR_READY);
    assert_int_equal(retry_count_of(f, taken.work_id), 1);
}

/* BX-002 */
static void late_calls_change_nothing_after_another_claim(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_for(f, f->owner, enqueue(f, "t", "a").work_id, SHORT);
    struct taken theirs = take_wait(f, f->other, taken.work_id, 30000);
    assert_powerless(f, f->owner, taken);
    taken.epoch.value = 0;
    assert_powerless(f, f->owner, taken);
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    assert_true(ack(f, f->other, theirs));
}

/* BX-002 */
static void old_epoch_is_powerless_even_for_the_same_owner(void **state) {
    struct fixture *f = *state;
    struct taken first = take_for(f, f->owner, enqueue(f, "t", "a").work_id, SHORT);
    struct taken second = take_wait(f, f->owner, first.work_id, 30000);
    assert_powerless(f, f->owner, first);
    assert_status(f, first.work_id, BOXCAR_IN_PROGRESS);
    assert_true(ack(f, f->owner, second));
}

/* BX-002, BX-003, OBX-052 */
static void expired_lease_that_was_acked_in_part_releases_only_the_rest(void **state) {
    struct fixture *f = *state;
    struct taken taken[10];
    enqueue_many(f, "t", 10, NULL);
    assert_int_equal(take_all(f, f->owner, 400, taken, 10), 10);
    for (int i = 0; i < 10; i += 2)
        assert_true(ack(f, f->owner, taken[i]));
    reap_wait(f, 5);
    for (int i = 0; i < 10; i++) {
        assert_status(f, taken[i].work_id, i % 2 ? BOXCAR_READY : BOXCAR_DONE);
        assert_int_equal(retry_count_of(f, taken[i].work_id), i % 2);
    }
    assert_int_equal(audit_lost(f), 0);
}

/* BX-003 */
static void attempts_used_up_by_expired_leases_bury_at_reap(void **state) {
    struct fixture *f = *state;
    set_setting(f, "max_attempts", "2");
    struct taken taken = take_expired(f, f->owner);
    assert_int_equal(reap(f), 1);
    take_for(f, f->owner, taken.work_id, SHORT);
    reap_wait(f, 1);
    assert_dead(f, taken.work_id, BOXCAR_REASON_EXHAUSTED);
    assert_int_equal(retry_count_of(f, taken.work_id), 2);
}

/* BX-003, BX-004 */
static void attempts_used_up_by_expired_leases_bury_at_claim(void **state) {
    struct fixture *f = *state;
    boxcar_new_message one_try = new_message("t", "a");
    one_try.max_attempts = 1;
    boxcar_work_id id = enqueue_message(f, &one_try).work_id;
    take_for(f, f->owner, id, SHORT);
    wait_out(f, SHORT);
    assert_nothing_claimable(f);
    assert_dead(f, id, BOXCAR_REASON_EXHAUSTED);
    assert_int_equal(stats_of(f).failed, 1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(reap_releases_expired_leases_and_counts_the_attempt),
    TEST(reap_releases_every_expired_lease_and_no_other),
    TEST(reap_leaves_done_and_failed_alone),
    TEST(expired_lease_is_claimable_again_without_anyone_reaping),
    TEST(message_of_a_worker_that_vanished_is_delivered_to_another),
    TEST(expired_lease_has_no_backoff_and_is_on_record),
    TEST(expired_message_shows_in_progress_and_counts_as_ready_until_released),
    TEST(late_ack_counts_while_nobody_took_the_message),
    TEST(late_renew_abandon_defer_and_fail_count_too),
    TEST(late_calls_change_nothing_after_reap),
    TEST(late_calls_change_nothing_after_another_claim),
    TEST(old_epoch_is_powerless_even_for_the_same_owner),
    TEST(expired_lease_that_was_acked_in_part_releases_only_the_rest),
    TEST(attempts_used_up_by_expired_leases_bury_at_reap),
    TEST(attempts_used_up_by_expired_leases_bury_at_claim),
};

const struct suite EXPIRY_SUITE = SUITE(TESTS);
