/* Subscriptions that take topics away from the main reader. BX-092, BX-095 */
#include "joins.h"
#include "subscriptions.h"

static boxcar_box subscribe_only(struct fixture *f, const char *name, const char *pattern) {
    boxcar_str text = boxcar_str_of(pattern);
    boxcar_new_subscription subscription = new_subscription(name, &text);
    subscription.only = true;
    return subscribe_this(f, &subscription);
}

/* BX-092 */
static void the_main_reader_does_not_get_what_is_taken(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe_only(f, "a", "t.*"), b = subscribe(f, "b", "t.*");
    boxcar_work_id taken[] = {enqueue(f, "t.1", "p").work_id, enqueue(f, "t.2", "p").work_id};
    boxcar_work_id left = enqueue(f, "u", "p").work_id;
    assert_int_equal(stats_of(f).ready, 1);
    finish_as(f, BOXCAR_OUTBOX, &left, 1);
    finish_as(f, a, taken, 2);
    finish_as(f, b, taken, 2);
    assert_unknown_to(f, BOXCAR_OUTBOX, taken[0]);
    assert_int_equal(audit_lost(f), 0);
    assert_int_equal(stats_of(f).ready, 0);
}

/* BX-092: in all the ways in which a message may be stored. */
static void streams_delays_and_times_to_live_are_taken_too(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe_only(f, "a", "t");
    boxcar_new_message later = new_message("t", "p"), expiring = new_message("t", "p");
    later.delay_ms = 100;
    expiring.ttl_ms = HOUR;
    boxcar_work_id ids[4] = {enqueue_message(f, &later).work_id, enqueue_message(f, &expiring).work_id};
    enqueue_run(f, "s", 2, &ids[2]);
    wait_out(f, 100);
    assert_nothing_for(f, BOXCAR_OUTBOX);
    struct batch_taken got = {.count = 0};
    for (size_t more = 1; more > 0; got.count += more)
        more = claim_as(f, a, f->owner, RUN_MAX).count;
    assert_int_equal(got.count, 4);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-092 */
static void what_the_main_reader_had_met_stays_its_own(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken held = take_one_as(f, BOXCAR_OUTBOX, id);
    boxcar_settlement back = settlement_of(held);
    back.delay_ms = 0;
    subscribe_only(f, "a", "t");
    assert_true(settle_in_box(f, BOXCAR_OUTBOX, BOXCAR_DEFER, f->owner, &back));
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
}

/* BX-092 */
static void what_it_had_not_met_is_taken(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    boxcar_str pattern = BOXCAR_STR("t");
    boxcar_new_subscription subscription = new_subscription("a", &pattern);
    subscription.only = true;
    subscription.start = BOXCAR_START_BEGINNING;
    boxcar_box a = subscribe_this(f, &subscription);
    assert_nothing_for(f, BOXCAR_OUTBOX);
    finish_as(f, a, &id, 1);
}

/* BX-092, BX-001: what neither the main reader nor the subscription would read. */
static void what_is_taken_is_read_by_somebody(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    boxcar_str pattern = BOXCAR_STR("t*");
    boxcar_new_subscription subscription = new_subscription("a", &pattern);
    subscription.only = true;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_subscription_add(f->store, &subscription, NULL, &f->err));
    boxcar_box other = subscribe_only(f, "b", "u");
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    changes.patterns = &pattern;
    changes.pattern_count = 1;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_subscription_change(f->store, BOXCAR_STR("b"), &changes, &f->err));
    assert_nothing_for(f, other);
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    ASSERT_OK(f, boxcar_subscription_change(f->store, BOXCAR_STR("b"), &changes, &f->err));
}

/* BX-094: nobody claims for the main reader. */
static void what_is_taken_is_purged_once_its_readers_have_ended_it(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe_only(f, "a", "t");
    boxcar_work_id ids[3];
    enqueue_many(f, "t", 3, ids);
    set_setting(f, "retention_done", "0");
    maintain_readers(f);
    finish_as(f, a, ids, 3);
    maintain_readers(f);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_message", "select count(*) from message"), 0);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-092 */
static void the_main_reader_gets_the_topic_back_when_it_is_removed(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe_only(f, "a", "t");
    boxcar_work_id first = enqueue(f, "t", "p").work_id;
    finish_as(f, a, &first, 1);
    assert_nothing_for(f, BOXCAR_OUTBOX);
    ASSERT_OK(f, boxcar_subscription_remove(f->store, BOXCAR_STR("a"), false, &f->err));
    boxcar_work_id next = enqueue(f, "t", "p").work_id;
    finish_as(f, BOXCAR_OUTBOX, &next, 1);
}

/* BX-095 */
static void a_topic_that_is_taken_cannot_be_a_members(void **state) {
    struct fixture *f = *state;
    boxcar_join_id join = start_join(f, 1);
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    subscribe_only(f, "a", "t");
    message.join_id = join;
    ASSERT_INVALID(f, "join_id", boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    message.topic = BOXCAR_STR("u");
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    assert_join(f, join, BOXCAR_JOIN_COMPLETED, 1, 0);
}

/* BX-095, BX-007: a join never waits for a step that cannot come. */
static void a_member_that_is_not_read_yet_is_not_taken(void **state) {
    struct fixture *f = *state;
    boxcar_join_id join = start_join(f, 1);
    boxcar_work_id id = enqueue_step(f, join).work_id;
    boxcar_str pattern = BOXCAR_STR(STEP);
    boxcar_new_subscription subscription = new_subscription("a", &pattern);
    subscription.only = true;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_subscription_add(f->store, &subscription, NULL, &f->err));
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    subscribe_this(f, &subscription);
}

/* BX-095, BX-092 */
static void new_patterns_take_no_member_either(void **state) {
    struct fixture *f = *state;
    subscribe_only(f, "a", "t");
    boxcar_join_id join = start_join(f, 1);
    boxcar_work_id id = enqueue_step(f, join).work_id;
    boxcar_str pattern = BOXCAR_STR(STEP);
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    changes.patterns = &pattern;
    changes.pattern_count = 1;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_subscription_change(f->store, BOXCAR_STR("a"), &changes, &f->err));
    finish_as(f, BOXCAR_OUTBOX, &id, 1);
    ASSERT_OK(f, boxcar_subscription_change(f->store, BOXCAR_STR("a"), &changes, &f->err));
}

static const struct CMUnitTest TESTS[] = {
    TEST(the_main_reader_does_not_get_what_is_taken),
    TEST(streams_delays_and_times_to_live_are_taken_too),
    TEST(what_the_main_reader_had_met_stays_its_own),
    TEST(what_it_had_not_met_is_taken),
    TEST(what_is_taken_is_read_by_somebody),
    TEST(what_is_taken_is_purged_once_its_readers_have_ended_it),
    TEST(the_main_reader_gets_the_topic_back_when_it_is_removed),
    TEST(a_topic_that_is_taken_cannot_be_a_members),
    TEST(a_member_that_is_not_read_yet_is_not_taken),
    TEST(new_patterns_take_no_member_either),
};
const struct suite SUBSCRIPTION_ONLY_SUITE = SUITE(TESTS);
