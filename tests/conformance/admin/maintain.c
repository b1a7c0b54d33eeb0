/* Upkeep: retention, reaping, and the audit for messages without a trace. */
#include "conformance.h"

/* All there is to do, in as many rounds as it takes. */
static boxcar_maintenance maintain_all(struct fixture *f) {
    boxcar_maintenance sum = BOXCAR_MAINTENANCE_INIT,
                       round = {.struct_size = sizeof(boxcar_maintenance), .more = true};
    while (round.more) {
        ASSERT_OK(f, boxcar_maintenance_run(f->store, &round, &f->err));
        sum.reaped += round.reaped;
        sum.expired += round.expired;
        sum.purged_done += round.purged_done;
        sum.purged_dead += round.purged_dead;
    }
    return sum;
}

static void assert_gone(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_ref ref = {.work_id = work_id};
    boxcar_message_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_message_find(f->store, BOXCAR_OUTBOX, ref, &list, &f->err));
}

/* BX-026 */
static void done_and_dead_messages_are_kept_for_their_retention(void **state) {
    struct fixture *f = *state;
    boxcar_work_id done = enqueue_done(f, "t").work_id, dead = enqueue_dead(f, "t", "no").work_id;
    boxcar_maintenance maintenance = maintain_all(f);
    assert_int_equal(maintenance.purged_done + maintenance.purged_dead, 0);
    assert_status(f, done, BOXCAR_DONE);
    assert_dead(f, dead, BOXCAR_REASON_REJECTED);
}

/* BX-026 */
static void done_messages_go_after_seven_days_and_dead_ones_after_thirty(void **state) {
    struct fixture *f = *state;
    boxcar_work_id done = enqueue_done(f, "t").work_id, dead = enqueue_dead(f, "t", "no").work_id;
    fixture_sql(f,
                "update boxcar_finished set at = at - 86400000000 * 8; update boxcar_dead set died_at = "
                "died_at - 86400000000 * 8",
                "update finished set at = at - interval '8 days'; update dead set died_at = died_at - "
                "interval '8 days'");
    boxcar_maintenance maintenance = maintain_all(f);
    assert_int_equal(maintenance.purged_done, 1);
    assert_int_equal(maintenance.purged_dead, 0);
    assert_gone(f, done);
    assert_dead(f, dead, BOXCAR_REASON_REJECTED);
    fixture_sql(f, "update boxcar_dead set died_at = died_at - 86400000000 * 23",
                "update dead set died_at = died_at - interval '23 days'");
    assert_int_equal(maintain_all(f).purged_dead, 1);
    assert_gone(f, dead);
}

/* BX-026 */
static void retention_of_zero_removes_at_the_next_maintenance(void **state) {
    struct fixture *f = *state;
    boxcar_work_id done = enqueue_done(f, "t").work_id, dead = enqueue_dead(f, "t", "no").work_id;
    boxcar_work_id ready = enqueue(f, "t", "p").work_id;
    set_setting(f, "retention_done", "0");
    boxcar_maintenance maintenance = maintain_all(f);
    assert_int_equal(maintenance.purged_done, 1);
    assert_int_equal(maintenance.purged_dead, 0);
    set_setting(f, "retention_dead", "0");
    assert_int_equal(maintain_all(f).purged_dead, 1);
    assert_gone(f, done);
    assert_gone(f, dead);
    assert_int_equal(stats_of(f).done, 0);
    assert_int_equal(stats_of(f).failed, 0);
    take(f, f->owner, ready);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-026 */
static void history_goes_with_its_message(void **state) {
    struct fixture *f = *state;
    enqueue_dead(f, "t", "no");
    set_setting(f, "retention_dead", "0");
    assert_int_equal(maintain_all(f).purged_dead, 1);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_attempt", "select count(*) from attempt"), 0);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_message", "select count(*) from message"), 0);
}

/* BX-026 */
static void purging_takes_only_what_is_done_in_a_lease_acked_in_part(void **state) {
    struct fixture *f = *state;
    set_setting(f, "retention_done", "0");
    struct taken taken[50];
    enqueue_many(f, "t", 50, NULL);
    assert_int_equal(take_all(f, f->owner, 60000, taken, 50), 50);
    for (int i = 0; i < 50; i += 3)
        assert_true(ack(f, f->owner, taken[i]));
    assert_int_equal(maintain_all(f).purged_done, 17);
    assert_int_equal(stats_of(f).in_progress, 33);
    for (int i = 0; i < 50; i++)
        if (i % 3 != 0)
            assert_true(ack(f, f->owner, taken[i]));
    assert_int_equal(maintain_all(f).purged_done, 33);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_message", "select count(*) from message"), 0);
}

/* BX-026 */
static void thousands_of_done_messages_are_purged_in_rounds(void **state) {
    struct fixture *f = *state;
    static struct taken taken[5000];
    static boxcar_settlement settlements[5000];
    enqueue_many(f, "t", 5000, NULL);
    assert_int_equal(take_all(f, f->owner, 60000, taken, 5000), 5000);
    for (int i = 0; i < 5000; i++)
        settlements[i] = settlement_of(taken[i]);
    size_t affected = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements, 5000,
                               NULL, &affected, &f->err));
    assert_int_equal(affected, 5000);
    set_setting(f, "retention_done", "0");
    assert_int_equal(maintain_all(f).purged_done, 5000);
    assert_int_equal(stats_of(f).done, 0);
}

/* OBX-014 */
static void work_ids_are_not_used_again_after_purging(void **state) {
    struct fixture *f = *state;
    boxcar_work_id last = enqueue_done(f, "t").work_id;
    set_setting(f, "retention_done", "0");
    assert_int_equal(maintain_all(f).purged_done, 1);
    boxcar_store_close(f->store);
    f->store = fixture_open(f);
    boxcar_work_id next = enqueue(f, "t", "p").work_id;
    assert_true(next.value > last.value);
    take(f, f->owner, next);
}

/* OBX-053, BX-003 */
static void maintenance_reaps(void **state) {
    struct fixture *f = *state;
    struct taken taken = take_for(f, f->owner, enqueue(f, "t", "p").work_id, BOXCAR_LEASE_MS_MIN);
    wait_out(f, BOXCAR_LEASE_MS_MIN);
    assert_int_equal(maintain_all(f).reaped, 1);
    assert_status(f, taken.work_id, BOXCAR_READY);
    assert_int_equal(retry_count_of(f, taken.work_id), 1);
}

static const char *maintain_and_audit(struct crew_member *member) {
    for (int i = 0; i < 5; i++) {
        boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
        if (boxcar_maintenance_run(member->store, &maintenance, &member->err) != BOXCAR_OK)
            return "maintain";
        boxcar_audit audit = BOXCAR_AUDIT_INIT;
        if (boxcar_audit_run(member->store, true, &audit, &member->err) != BOXCAR_OK || audit.lost != 0)
            return "audit";
    }
    return NULL;
}

/* BX-026 */
static void maintenance_may_run_from_many_at_once(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 10; i++)
        enqueue_done(f, "t");
    set_setting(f, "retention_done", "0");
    enqueue_many(f, "t", 10, NULL);
    crew_run(f, 4, maintain_and_audit, NULL);
    assert_int_equal(stats_of(f).done, 0);
    struct taken taken[20];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 20), 10);
}

/* BX-001 */
static void audit_finds_nothing_in_a_store_with_messages_in_every_state(void **state) {
    struct fixture *f = *state;
    enqueue_done(f, "t");
    enqueue_dead(f, "t", "no");
    enqueue_streamed(f, "s", "1");
    enqueue_streamed(f, "s", "2");
    boxcar_new_message later = new_message("t", "p");
    later.delay_ms = 3600000;
    enqueue_message(f, &later);
    enqueue_many(f, "u", 5, NULL);
    boxcar_list_free(claim(f, f->owner, 3));
    assert_int_equal(audit_lost(f), 0);
}

/* BX-001 */
static void message_without_a_trace_is_found_and_made_ready_again(void **state) {
    struct fixture *f = *state;
    struct taken taken[3];
    enqueue_many(f, "t", 3, NULL);
    assert_int_equal(take_all(f, f->owner, 60000, taken, 3), 3);
    fixture_sql(f, "delete from boxcar_lease where work_id = 2",
                "update lease set items = items - '{[2,3)}'::int8multirange");
    assert_int_equal(audit_lost(f), 1);
    boxcar_audit audit = BOXCAR_AUDIT_INIT;
    ASSERT_OK(f, boxcar_audit_run(f->store, true, &audit, &f->err));
    assert_int_equal(audit.lost, 1);
    assert_int_equal(audit.repaired, 1);
    assert_true(ack(f, f->other, take(f, f->other, taken[1].work_id)));
    assert_true(ack(f, f->owner, taken[0]) && ack(f, f->owner, taken[2]));
    assert_int_equal(audit_lost(f), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(done_and_dead_messages_are_kept_for_their_retention),
    TEST(done_messages_go_after_seven_days_and_dead_ones_after_thirty),
    TEST(retention_of_zero_removes_at_the_next_maintenance),
    TEST(history_goes_with_its_message),
    TEST(purging_takes_only_what_is_done_in_a_lease_acked_in_part),
    TEST(thousands_of_done_messages_are_purged_in_rounds),
    TEST(work_ids_are_not_used_again_after_purging),
    TEST(maintenance_reaps),
    TEST(maintenance_may_run_from_many_at_once),
    TEST(audit_finds_nothing_in_a_store_with_messages_in_every_state),
    TEST(message_without_a_trace_is_found_and_made_ready_again),
};

const struct suite MAINTAIN_SUITE = SUITE(TESTS);
