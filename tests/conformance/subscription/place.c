/* Where a subscription starts, and going back. BX-093 */
#include "subscriptions.h"

#include "borrow.h"

static void it_starts_at_the_end(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    boxcar_box a = subscribe_from(f, "a", "t", BOXCAR_START_END);
    assert_nothing_for(f, a);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    finish_as(f, a, &id, 1);
}

static void it_starts_at_the_beginning_of_what_is_kept(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[4];
    enqueue_many(f, "t", 3, ids);
    finish_as(f, BOXCAR_OUTBOX, ids, 3);
    boxcar_box a = subscribe_from(f, "a", "t", BOXCAR_START_BEGINNING);
    ids[3] = enqueue(f, "t", "p").work_id;
    finish_as(f, a, ids, 4);
}

static void it_starts_at_a_time(void **state) {
    struct fixture *f = *state;
    boxcar_str pattern = BOXCAR_STR("t");
    boxcar_new_subscription subscription = new_subscription("a", &pattern);
    boxcar_work_id ids[2];
    enqueue(f, "t", "p");
    wait_out(f, 2);
    subscription.start = BOXCAR_START_TIME;
    subscription.start_time = database_now(f);
    enqueue_many(f, "t", 2, ids);
    wait_out(f, 2);
    boxcar_box a = subscribe_this(f, &subscription);
    finish_as(f, a, ids, 2);
}

/* What a transaction wrote before the subscription was made, and commits after it, is not missed. */
static void it_does_not_skip_what_commits_late(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip(); /* there one transaction writes at a time */
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    boxcar_work_id late = borrowed_enqueue(f, &b, "late").work_id;
    boxcar_box a = subscribe(f, "a", "*");
    boxcar_work_id early = enqueue(f, "t", "p").work_id;
    finish_as(f, a, &early, 1);
    borrowed_exec(&b, "commit");
    finish_as(f, a, &late, 1);
    borrowed_close(&b);
}

static void a_rewind_repeats_exactly_its_own(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_work_id ids[5];
    enqueue_many(f, "t", 5, ids);
    enqueue(f, "u", "p");
    finish_as(f, a, ids, 5);
    finish_as(f, b, ids, 5);
    assert_int_equal(rewind_to(f, "a", ids[2]), 3);
    finish_as(f, a, &ids[2], 3);
    assert_nothing_for(f, a);
    assert_nothing_for(f, b);
    assert_status_as(f, a, ids[0], BOXCAR_DONE);
    assert_int_equal(stats_as(f, a).done, 5);
}

static void a_rewind_is_recorded(void **state) {
    struct fixture *f = *state;
    subscribe(f, "a", "t");
    assert_true(subscription_of(f, "a").rewound_at == BOXCAR_TIME_NONE);
    boxcar_time before = database_now(f);
    rewind_all(f, "a");
    assert_true(subscription_of(f, "a").rewound_at >= before);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_reader_rewind where target = 'beginning'",
                           "select count(*) from reader_rewind where target = 'beginning'"),
        1);
}

/* BX-002 */
static void a_rewind_revokes_leases(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[2];
    enqueue_many(f, "t", 2, ids);
    struct batch_taken before = take_as(f, a, ids, 2);
    rewind_to(f, "a", ids[1]);
    assert_true(settle_as(f, a, BOXCAR_ACK, before.items[0]));
    assert_false(settle_as(f, a, BOXCAR_ACK, before.items[1]));
    struct taken again = take_one_as(f, a, ids[1]);
    assert_true(again.epoch.value > before.items[1].epoch.value);
    assert_int_equal(again.retry_count, 0);
    assert_false(settle_as(f, a, BOXCAR_ACK, before.items[1]));
    assert_true(settle_as(f, a, BOXCAR_ACK, again));
    assert_int_equal(stats_as(f, a).in_progress, 0);
}

static void a_rewind_forgets_retries_and_dead_letters(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[3];
    enqueue_many(f, "t", 3, ids);
    struct batch_taken held = take_as(f, a, ids, 3);
    boxcar_settlement later = settlement_of(held.items[1]);
    later.delay_ms = HOUR;
    assert_true(settle_as(f, a, BOXCAR_FAIL, held.items[0]));
    assert_true(settle_in_box(f, a, BOXCAR_ABANDON, f->owner, &later));
    assert_true(settle_as(f, a, BOXCAR_ACK, held.items[2]));
    assert_int_equal(rewind_all(f, "a"), 3);
    boxcar_stats stats = stats_as(f, a);
    assert_int_equal(stats.failed, 0);
    assert_int_equal(stats.ready, 3);
    held = take_as(f, a, ids, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(held.items[i].retry_count, 0);
    assert_int_equal(audit_lost(f), 0);
}

static void a_rewind_to_a_time_delivers_what_is_younger(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id old = enqueue(f, "t", "p").work_id;
    wait_out(f, 2);
    boxcar_place place = BOXCAR_PLACE_INIT;
    place.start = BOXCAR_START_TIME;
    place.time = database_now(f);
    boxcar_work_id young = enqueue(f, "t", "p").work_id;
    boxcar_work_id both[] = {old, young};
    int64_t count = 0;
    finish_as(f, a, both, 2);
    wait_out(f, 2);
    ASSERT_OK(f, boxcar_subscription_rewind(f->store, BOXCAR_STR("a"), &place, &count, &f->err));
    assert_int_equal(count, 1);
    finish_as(f, a, &young, 1);
}

/* What was not read yet is not skipped by a rewind that names a later place. */
static void a_rewind_never_goes_forward(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[3];
    enqueue_many(f, "t", 3, ids);
    rewind_to(f, "a", ids[2]);
    finish_as(f, a, ids, 3);
}

static void halts_and_streams_go_back_too(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[3];
    set_rule(f, "s", BOXCAR_STREAM_HALT);
    enqueue_run(f, "s", 3, ids);
    struct batch_taken held = claim_as(f, a, f->owner, 1);
    assert_int_equal(held.items[0].work_id.value, ids[0].value);
    assert_true(settle_as(f, a, BOXCAR_FAIL, held.items[0]));
    assert_nothing_for(f, a);
    rewind_all(f, "a");
    finish_as(f, a, ids, 3);
}

static const struct CMUnitTest TESTS[] = {
    TEST(it_starts_at_the_end),
    TEST(it_starts_at_the_beginning_of_what_is_kept),
    TEST(it_starts_at_a_time),
    TEST(it_does_not_skip_what_commits_late),
    TEST(a_rewind_repeats_exactly_its_own),
    TEST(a_rewind_is_recorded),
    TEST(a_rewind_revokes_leases),
    TEST(a_rewind_forgets_retries_and_dead_letters),
    TEST(a_rewind_to_a_time_delivers_what_is_younger),
    TEST(a_rewind_never_goes_forward),
    TEST(halts_and_streams_go_back_too),
};
const struct suite SUBSCRIPTION_PLACE_SUITE = SUITE(TESTS);
