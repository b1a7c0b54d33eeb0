/* What is kept for subscriptions, and what becomes of it: retention, max_lag, removal. BX-094, BX-096 */
#include <stdio.h>

#include "subscriptions.h"

static void assert_gone(struct fixture *f, boxcar_work_id work_id) {
    assert_unknown_to(f, BOXCAR_OUTBOX, work_id);
}

static int64_t messages_kept(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from boxcar_message", "select count(*) from message");
}

/* BX-094, BX-026 */
static void a_message_is_kept_until_the_last_reader_has_ended_it(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id, other = enqueue(f, "u", "p").work_id;
    boxcar_work_id both[] = {id, other};
    set_setting(f, "retention_done", "0");
    finish_as(f, BOXCAR_OUTBOX, both, 2);
    maintain_readers(f);
    assert_gone(f, other);
    assert_int_equal(messages_kept(f), 1);
    struct taken held = take_one_as(f, a, id);
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 1);
    assert_true(settle_as(f, a, BOXCAR_ACK, held));
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 1);
    assert_int_equal(subscription_of(f, "b").held_messages, 1);
    finish_as(f, b, &id, 1);
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 0);
    assert_gone(f, id);
    assert_unknown_to(f, a, id);
    assert_int_equal(audit_lost(f), 0);
    assert_int_equal(stats_as(f, a).done, 0);
    assert_int_equal(stats_of(f).done, 0);
}

/* BX-094: the main reader may be the last one. */
static void a_message_is_kept_for_the_main_reader(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    set_setting(f, "retention_done", "0");
    finish_as(f, a, &id, 1);
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 1);
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 0);
}

/* BX-094: of a long run only what somebody wants stays. */
static void what_nobody_wants_goes_from_between(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[9];
    for (size_t i = 0; i < 9; i++)
        ids[i] = enqueue(f, i % 4 == 1 ? "t" : "u", "p").work_id;
    finish_as(f, BOXCAR_OUTBOX, ids, 9);
    set_setting(f, "retention_done", "0");
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 2);
    boxcar_work_id wanted[] = {ids[1], ids[5]};
    assert_status(f, ids[1], BOXCAR_DONE);
    finish_as(f, a, wanted, 2);
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 0);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-025, BX-094 */
static void a_dead_letter_keeps_its_message_until_it_is_purged(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    set_setting(f, "retention_done", "0");
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    assert_true(settle_as(f, a, BOXCAR_FAIL, take_one_as(f, a, id)));
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 1);
    filter.box = a;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_purge(f->store, &filter, &count, &f->err));
    assert_int_equal(count, 1);
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 0);
    assert_int_equal(stats_as(f, a).failed, 0);
}

/* BX-025, BX-094 */
static void purging_a_dead_letter_leaves_the_message_to_others(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id id = enqueue_dead(f, "t", "no").work_id;
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_purge(f->store, &filter, NULL, &f->err));
    assert_gone(f, id);
    assert_int_equal(audit_lost(f), 0);
    finish_as(f, a, &id, 1);
    set_setting(f, "retention_done", "0");
    maintain_readers(f);
    assert_int_equal(messages_kept(f), 0);
}

/* BX-094 */
static void a_reader_that_lags_too_far_behind_gives_up_its_oldest(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t"), b = subscribe(f, "b", "t");
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    boxcar_work_id ids[5];
    enqueue_many(f, "t", 5, ids);
    maintain_readers(f);
    assert_int_equal(stats_as(f, a).failed, 0);
    changes.max_lag_count = 2;
    ASSERT_OK(f, boxcar_subscription_change(f->store, BOXCAR_STR("a"), &changes, &f->err));
    assert_int_equal(subscription_of(f, "a").max_lag_count, 2);
    maintain_readers(f);
    for (size_t i = 0; i < 3; i++)
        assert_status_as(f, a, ids[i], BOXCAR_FAILED);
    assert_int_equal(
        fixture_sql_number(
            f, "select count(*) from boxcar_dead_letter where reason = 'expired' and subscription = 'a'",
            "select count(*) from dead_letter where reason = 'expired' and subscription = 'a'"),
        3);
    finish_as(f, a, &ids[3], 2);
    finish_as(f, b, ids, 5);
    finish_as(f, BOXCAR_OUTBOX, ids, 5);
}

/* BX-094 */
static void what_is_older_than_max_lag_is_given_up(void **state) {
    struct fixture *f = *state;
    boxcar_str pattern = BOXCAR_STR("t");
    boxcar_new_subscription subscription = new_subscription("a", &pattern);
    subscription.max_lag_ms = 1000;
    boxcar_box a = subscribe_this(f, &subscription);
    boxcar_work_id old = enqueue(f, "t", "p").work_id;
    wait_out(f, 1000);
    boxcar_work_id young = enqueue(f, "t", "p").work_id;
    assert_int_equal(maintain_readers(f).expired, 1);
    assert_status_as(f, a, old, BOXCAR_FAILED);
    finish_as(f, a, &young, 1);
    assert_status(f, old, BOXCAR_READY);
}

/* BX-096 */
static void a_subscription_with_leases_is_removed_by_force_only(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken held = take_one_as(f, a, id);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_subscription_remove(f->store, BOXCAR_STR("a"), false, &f->err));
    assert_status_as(f, a, id, BOXCAR_IN_PROGRESS);
    ASSERT_OK(f, boxcar_subscription_remove(f->store, BOXCAR_STR("a"), true, &f->err));
    boxcar_settlement settlement = settlement_of(held);
    size_t affected;
    ASSERT_FAILS(
        f, BOXCAR_E_NOT_FOUND,
        boxcar_settle(f->store, CLAIMER(a, f->owner), BOXCAR_ACK, &settlement, 1, NULL, &affected, &f->err));
    take_one_as(f, BOXCAR_OUTBOX, id);
}

static int64_t rows_of(struct fixture *f, boxcar_box reader) {
    char sqlite[600], postgres[600];
    snprintf(sqlite, sizeof(sqlite),
             "select (select count(*) from boxcar_reader_parked where box = %d) + "
             "(select count(*) from boxcar_reader_dead where box = %d) + "
             "(select count(*) from boxcar_reader_finished where box = %d) + "
             "(select count(*) from boxcar_reader_attempt where box = %d) + "
             "(select count(*) from boxcar_reader where number = %d)",
             reader, reader, reader, reader, reader);
    snprintf(
        postgres, sizeof(postgres),
        "select (select count(*) from parked where box = %d) + (select count(*) from dead where box = %d) "
        "+ (select count(*) from finished where box = %d) + (select count(*) from attempt where reader = %d)",
        reader, reader, reader, reader);
    return fixture_sql_number(f, sqlite, postgres);
}

/* BX-096, BX-094 */
static void what_a_removed_one_knew_is_gone_after_maintenance(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id ids[4];
    enqueue_many(f, "t", 4, ids);
    struct batch_taken held = take_as(f, a, ids, 4);
    assert_true(settle_as(f, a, BOXCAR_FAIL, held.items[0]));
    assert_true(settle_as(f, a, BOXCAR_DEFER, held.items[1]));
    assert_true(settle_as(f, a, BOXCAR_ACK, held.items[2]));
    assert_true(settle_as(f, a, BOXCAR_ABANDON, held.items[3]));
    set_setting(f, "retention_done", "0");
    ASSERT_OK(f, boxcar_subscription_remove(f->store, BOXCAR_STR("a"), false, &f->err));
    boxcar_subscription_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_subscription_read(f->store, BOXCAR_STR("a"), &list, &f->err));
    finish_as(f, BOXCAR_OUTBOX, ids, 4);
    maintain_readers(f);
    assert_int_equal(rows_of(f, a), 0);
    assert_int_equal(messages_kept(f), 0);
}

/* BX-096, BX-090 */
static void a_name_is_free_again_but_a_number_never_is(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_true(settle_as(f, a, BOXCAR_FAIL, take_one_as(f, a, id)));
    ASSERT_OK(f, boxcar_subscription_remove(f->store, BOXCAR_STR("a"), false, &f->err));
    boxcar_box again = subscribe_from(f, "a", "t", BOXCAR_START_BEGINNING);
    assert_true(again > a);
    maintain_readers(f);
    assert_int_equal(stats_as(f, again).failed, 0);
    finish_as(f, again, &id, 1);
    ASSERT_OK(f, boxcar_subscription_remove(f->store, BOXCAR_STR("a"), false, &f->err));
    maintain_readers(f);
    assert_true(subscribe(f, "b", "t") > again);
}

static const struct CMUnitTest TESTS[] = {
    TEST(a_message_is_kept_until_the_last_reader_has_ended_it),
    TEST(a_message_is_kept_for_the_main_reader),
    TEST(what_nobody_wants_goes_from_between),
    TEST(a_dead_letter_keeps_its_message_until_it_is_purged),
    TEST(purging_a_dead_letter_leaves_the_message_to_others),
    TEST(a_reader_that_lags_too_far_behind_gives_up_its_oldest),
    TEST(what_is_older_than_max_lag_is_given_up),
    TEST(a_subscription_with_leases_is_removed_by_force_only),
    TEST(what_a_removed_one_knew_is_gone_after_maintenance),
    TEST(a_name_is_free_again_but_a_number_never_is),
};
const struct suite SUBSCRIPTION_KEEP_SUITE = SUITE(TESTS);
