/* Planning: what is enqueued when, and by whom. */
#include "boxcar/schedule.h"

#include <string.h>

#include "joins.h"
#include "subscriptions.h"

#define TOPIC "reindex"
#define KEY "products"
#define SLICES "fanout:reindex:products"

static boxcar_new_schedule new_schedule(int shards) {
    boxcar_new_schedule schedule = BOXCAR_NEW_SCHEDULE_INIT;
    schedule.topic = BOXCAR_STR(TOPIC);
    schedule.work_key = BOXCAR_STR(KEY);
    schedule.every_ms = 60000;
    schedule.shards = shards;
    return schedule;
}

static void add_schedule(struct fixture *f, int shards) {
    boxcar_new_schedule schedule = new_schedule(shards);
    ASSERT_OK(f, boxcar_schedule_add(f->store, &schedule, &f->err));
}

static boxcar_planned plan_this(struct fixture *f, const boxcar_plan *plan) {
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    ASSERT_OK(f, boxcar_schedule_plan(f->store, plan, &planned, &f->err));
    return planned;
}

/* How many slices that enqueues, for f->owner. */
static int64_t plan(struct fixture *f) {
    boxcar_plan given = BOXCAR_PLAN_INIT;
    given.owner = f->owner;
    boxcar_planned planned = plan_this(f, &given);
    assert_true(planned.fence > 0);
    return planned.count;
}

static boxcar_slice slice_of(struct fixture *f, int shard) {
    boxcar_slice_list *list;
    ASSERT_OK(f, boxcar_schedule_slice_read(f->store, BOXCAR_STR(TOPIC), BOXCAR_STR(KEY), &list, &f->err));
    assert_true((size_t)shard < list->count);
    boxcar_slice slice = *list->items[shard];
    assert_int_equal(slice.shard, shard);
    boxcar_list_free(list);
    return slice;
}

static void assert_slice(struct fixture *f, int shard, int64_t number, int tries) {
    boxcar_slice slice = slice_of(f, shard);
    assert_int_equal(slice.slice, number);
    assert_int_equal(slice.tries, tries);
}

/* Every shard whose slice is completed is due. */
static void make_due(struct fixture *f) {
    fixture_sql(f, "update boxcar_schedule_shard set due_at = 0 where due_at is not null",
                "update schedule_shard set due_at = '2000-01-01' where due_at is not null");
}

/* Claims every slice there is and acks it. */
static void finish_slices(struct fixture *f, size_t count) {
    boxcar_message_list *list = claim_topic(f, f->owner, 100, SLICES);
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++) {
        const struct taken taken = {.work_id = list->items[i]->work_id, .epoch = list->items[i]->epoch};
        assert_true(ack(f, f->owner, taken));
    }
    boxcar_list_free(list);
}

static void bury_slice(struct fixture *f) {
    boxcar_message_list *list = claim_topic(f, f->owner, 1, SLICES);
    const boxcar_message *message = look(list);
    const struct taken taken = {.work_id = message->work_id, .epoch = message->epoch};
    assert_true(bury(f, f->owner, taken, "no"));
    boxcar_list_free(list);
}

/* ---- slices; BX-105 ---- */

static void each_shard_gets_a_message_that_says_which_slice(void **state) {
    struct fixture *f = *state;
    add_schedule(f, 2);
    assert_int_equal(plan(f), 2);
    boxcar_message_list *list = claim_topic(f, f->owner, 10, SLICES);
    assert_int_equal(list->count, 2);
    for (int i = 0; i < 2; i++) {
        boxcar_slice slice = slice_of(f, i);
        bool found = false;
        for (size_t j = 0; j < list->count; j++) {
            const boxcar_message *message = list->items[j];
            char text[200];
            if (memcmp(&message->message_id, &slice.message_id, sizeof(slice.message_id)) != 0)
                continue;
            found = true;
            snprintf(text, sizeof(text),
                     "{\"topic\": \"reindex\", \"work_key\": \"products\", \"shard\": %d, \"shards\": 2, "
                     "\"slice\": 1}",
                     i);
            assert_text(message->payload, text);
        }
        assert_true(found);
        assert_slice(f, i, 1, 1);
        assert_true(slice.due_at == BOXCAR_TIME_NONE);
        assert_true(slice.completed_at == BOXCAR_TIME_NONE);
    }
    boxcar_list_free(list);
}

static void a_shard_has_one_slice_at_a_time(void **state) {
    struct fixture *f = *state;
    add_schedule(f, 3);
    assert_int_equal(plan(f), 3);
    make_due(f);
    assert_int_equal(plan(f), 0);
    assert_slice(f, 0, 1, 1);
}

static void a_slice_that_is_done_is_completed_and_the_next_one_follows_after_the_cadence(void **state) {
    struct fixture *f = *state;
    add_schedule(f, 1);
    assert_int_equal(plan(f), 1);
    boxcar_time before = database_now(f);
    finish_slices(f, 1);
    assert_int_equal(plan(f), 0);
    boxcar_slice slice = slice_of(f, 0);
    assert_true(slice.completed_at >= before - 1000000);
    assert_int_equal(slice.due_at - slice.completed_at, 60000000);
    assert_int_equal(plan(f), 0);
    make_due(f);
    assert_int_equal(plan(f), 1);
    assert_slice(f, 0, 2, 1);
}

static void a_slice_whose_message_died_comes_again(void **state) {
    struct fixture *f = *state;
    add_schedule(f, 1);
    assert_int_equal(plan(f), 1);
    boxcar_message_id first = slice_of(f, 0).message_id;
    bury_slice(f);
    assert_int_equal(plan(f), 1);
    assert_slice(f, 0, 1, 2);
    boxcar_message_id second = slice_of(f, 0).message_id;
    assert_true(memcmp(&first, &second, sizeof(first)) != 0);
    finish_slices(f, 1);
    assert_int_equal(plan(f), 0);
    assert_true(slice_of(f, 0).completed_at != BOXCAR_TIME_NONE);
}

static void a_slice_whose_message_is_cancelled_comes_again(void **state) {
    struct fixture *f = *state;
    add_schedule(f, 1);
    assert_int_equal(plan(f), 1);
    boxcar_message_ref ref = {.message_id = slice_of(f, 0).message_id};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    assert_int_equal(plan(f), 1);
    assert_slice(f, 0, 1, 2);
}

/* The message is removed before a planner sees that it was done. */
static void a_slice_that_was_done_is_not_repeated_when_its_message_is_gone(void **state) {
    struct fixture *f = *state;
    add_schedule(f, 2);
    assert_int_equal(plan(f), 2);
    finish_slices(f, 2);
    set_setting(f, "retention_done", "0");
    assert_int_equal(maintain_readers(f).purged_done, 2);
    assert_int_equal(plan(f), 0);
    assert_slice(f, 0, 1, 1);
    assert_true(slice_of(f, 0).completed_at != BOXCAR_TIME_NONE);
    assert_true(slice_of(f, 1).due_at != BOXCAR_TIME_NONE);
}

static void the_same_holds_while_there_are_subscriptions(void **state) {
    struct fixture *f = *state;
    subscribe(f, "a", "something.else");
    a_slice_that_was_done_is_not_repeated_when_its_message_is_gone(state);
}

static void a_dead_letter_that_is_gone_was_not_done(void **state) {
    struct fixture *f = *state;
    add_schedule(f, 1);
    assert_int_equal(plan(f), 1);
    bury_slice(f);
    set_setting(f, "retention_dead", "0");
    assert_int_equal(maintain_readers(f).purged_dead, 1);
    assert_int_equal(plan(f), 1);
    assert_slice(f, 0, 1, 2);
}

static void a_subscription_that_takes_the_slices_completes_them(void **state) {
    struct fixture *f = *state;
    boxcar_str pattern = BOXCAR_STR("fanout:*");
    boxcar_new_subscription only = new_subscription("a", &pattern);
    only.only = true;
    boxcar_box a = subscribe_this(f, &only);
    add_schedule(f, 1);
    assert_int_equal(plan(f), 1);
    assert_nothing_claimable(f);
    assert_int_equal(plan(f), 0);
    struct batch_taken taken = claim_as(f, a, f->owner, 1);
    assert_int_equal(taken.count, 1);
    assert_true(settle_as(f, a, BOXCAR_ACK, taken.items[0]));
    assert_int_equal(plan(f), 0);
    assert_true(slice_of(f, 0).completed_at != BOXCAR_TIME_NONE);
}

static bool complete(struct fixture *f, int shard, int64_t slice) {
    bool changed;
    ASSERT_OK(f, boxcar_schedule_complete(f->store, BOXCAR_STR(TOPIC), BOXCAR_STR(KEY), shard, slice,
                                          &changed, &f->err));
    return changed;
}

static void a_handler_may_complete_its_slice_early(void **state) {
    struct fixture *f = *state;
    add_schedule(f, 2);
    assert_false(complete(f, 0, 1));
    assert_int_equal(plan(f), 2);
    assert_false(complete(f, 1, 2));
    assert_false(complete(f, 2, 1));
    assert_true(complete(f, 1, 1));
    assert_false(complete(f, 1, 1));
    assert_true(slice_of(f, 1).completed_at != BOXCAR_TIME_NONE);
    assert_true(slice_of(f, 0).completed_at == BOXCAR_TIME_NONE);
    make_due(f);
    assert_int_equal(plan(f), 1);
    assert_slice(f, 1, 2, 1);
}

static void jitter_spreads_the_shards(void **state) {
    struct fixture *f = *state;
    boxcar_new_schedule schedule = new_schedule(100);
    schedule.jitter_ms = 60000;
    boxcar_time before = database_now(f);
    ASSERT_OK(f, boxcar_schedule_add(f->store, &schedule, &f->err));
    boxcar_time after = database_now(f);
    boxcar_time least = INT64_MAX, most = 0;
    for (int i = 0; i < 100; i++) {
        boxcar_time due = slice_of(f, i).due_at;
        least = due < least ? due : least;
        most = due > most ? due : most;
    }
    assert_true(least >= before - 1000000);
    assert_true(most <= after + 61000000);
    assert_true(most - least > 10000000);
}

static void no_more_than_asked_are_enqueued(void **state) {
    struct fixture *f = *state;
    boxcar_plan given = BOXCAR_PLAN_INIT;
    add_schedule(f, 5);
    given.owner = f->owner;
    given.most = 2;
    boxcar_planned planned = plan_this(f, &given);
    assert_int_equal(planned.count, 2);
    assert_true(planned.next_due_at <= database_now(f));
    assert_int_equal(plan_this(f, &given).count, 2);
    assert_int_equal(plan_this(f, &given).count, 1);
    assert_int_equal(plan_this(f, &given).count, 0);
}

/* ---- changes ---- */

static void a_schedule_that_is_paused_is_not_planned(void **state) {
    struct fixture *f = *state;
    boxcar_plan given = BOXCAR_PLAN_INIT;
    add_schedule(f, 1);
    ASSERT_OK(f, boxcar_schedule_pause(f->store, BOXCAR_STR(TOPIC), BOXCAR_STR(KEY), &f->err));
    given.owner = f->owner;
    boxcar_planned planned = plan_this(f, &given);
    assert_int_equal(planned.count, 0);
    assert_true(planned.next_due_at == BOXCAR_TIME_NONE);
    ASSERT_OK(f, boxcar_schedule_resume(f->store, BOXCAR_STR(TOPIC), BOXCAR_STR(KEY), &f->err));
    assert_int_equal(plan(f), 1);
}

/* What its predecessor's messages came to is nothing to it. */
static void a_schedule_that_is_made_again_begins_anew(void **state) {
    struct fixture *f = *state;
    add_schedule(f, 1);
    assert_int_equal(plan(f), 1);
    finish_slices(f, 1);
    ASSERT_OK(f, boxcar_schedule_remove(f->store, BOXCAR_STR(TOPIC), BOXCAR_STR(KEY), &f->err));
    assert_int_equal(plan(f), 0);
    add_schedule(f, 1);
    assert_int_equal(plan(f), 1);
    assert_slice(f, 0, 1, 1);
    finish_slices(f, 1);
}

/* ---- the planners' lease; BX-106 ---- */

static boxcar_planned plan_as(struct fixture *f, boxcar_owner owner, int64_t lease_ms, int64_t fence) {
    boxcar_plan given = BOXCAR_PLAN_INIT;
    given.owner = owner;
    given.lease_ms = lease_ms;
    given.fence = fence;
    return plan_this(f, &given);
}

static void one_planner_plans(void **state) {
    struct fixture *f = *state;
    boxcar_planned first = plan_as(f, f->owner, 60000, 0);
    assert_true(first.fence > 0);
    add_schedule(f, 1);
    boxcar_planned second = plan_as(f, f->other, 60000, 0);
    assert_int_equal(second.fence, 0);
    assert_int_equal(second.count, 0);
    assert_true(second.next_due_at > database_now(f));
    assert_int_equal(plan_as(f, f->owner, 60000, first.fence).fence, first.fence);
    assert_slice(f, 0, 1, 1);
}

static void a_planner_that_lost_the_lease_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    boxcar_plan stale = BOXCAR_PLAN_INIT;
    stale.owner = f->owner;
    stale.fence = plan_as(f, f->owner, 100, 0).fence;
    wait_out(f, 100);
    boxcar_planned taken = plan_as(f, f->other, 60000, 0);
    assert_int_equal(taken.fence, stale.fence + 1);
    add_schedule(f, 1);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_schedule_plan(f->store, &stale, &planned, &f->err));
    assert_slice(f, 0, 0, 0);
    assert_int_equal(plan_as(f, f->other, 60000, taken.fence).count, 1);
}

static void a_planner_keeps_its_fence_while_nobody_else_has_the_lease(void **state) {
    struct fixture *f = *state;
    int64_t fence = plan_as(f, f->owner, 100, 0).fence;
    wait_out(f, 100);
    assert_int_equal(plan_as(f, f->owner, 100, fence).fence, fence);
    assert_int_equal(plan_as(f, f->owner, 100, 0).fence, fence);
}

/* ---- joins ---- */

static boxcar_new_schedule joined_schedule(int shards) {
    boxcar_new_schedule schedule = new_schedule(shards);
    schedule.then_topic = BOXCAR_STR("all.done");
    schedule.else_topic = BOXCAR_STR("not.done");
    return schedule;
}

static void assert_follows(struct fixture *f, const char *topic) {
    maintain_readers(f); /* evaluates waits that are due */
    boxcar_message_list *list = claim_topic(f, f->owner, 10, topic);
    assert_int_equal(list->count, 1);
    assert_text(list->items[0]->payload,
                "{\"topic\": \"reindex\", \"work_key\": \"products\", \"slices\": 2}");
    boxcar_list_free(list);
}

static void what_follows_is_enqueued_when_all_slices_are_done(void **state) {
    struct fixture *f = *state;
    boxcar_new_schedule schedule = joined_schedule(2);
    ASSERT_OK(f, boxcar_schedule_add(f->store, &schedule, &f->err));
    assert_int_equal(plan(f), 2);
    finish_slices(f, 2);
    assert_follows(f, "all.done");
    make_due(f);
    plan(f);
    make_due(f);
    assert_int_equal(plan(f), 2); /* the second wave has a join of its own */
    finish_slices(f, 2);
    assert_follows(f, "all.done");
}

static void what_follows_a_failure_is_enqueued_when_a_slice_failed(void **state) {
    struct fixture *f = *state;
    boxcar_new_schedule schedule = joined_schedule(2);
    ASSERT_OK(f, boxcar_schedule_add(f->store, &schedule, &f->err));
    assert_int_equal(plan(f), 2);
    bury_slice(f);
    finish_slices(f, 1);
    assert_follows(f, "not.done");
}

static const struct CMUnitTest TESTS[] = {
    TEST(each_shard_gets_a_message_that_says_which_slice),
    TEST(a_shard_has_one_slice_at_a_time),
    TEST(a_slice_that_is_done_is_completed_and_the_next_one_follows_after_the_cadence),
    TEST(a_slice_whose_message_died_comes_again),
    TEST(a_slice_whose_message_is_cancelled_comes_again),
    TEST(a_slice_that_was_done_is_not_repeated_when_its_message_is_gone),
    TEST(the_same_holds_while_there_are_subscriptions),
    TEST(a_dead_letter_that_is_gone_was_not_done),
    TEST(a_subscription_that_takes_the_slices_completes_them),
    TEST(a_handler_may_complete_its_slice_early),
    TEST(jitter_spreads_the_shards),
    TEST(no_more_than_asked_are_enqueued),
    TEST(a_schedule_that_is_paused_is_not_planned),
    TEST(a_schedule_that_is_made_again_begins_anew),
    TEST(one_planner_plans),
    TEST(a_planner_that_lost_the_lease_changes_nothing),
    TEST(a_planner_keeps_its_fence_while_nobody_else_has_the_lease),
    TEST(what_follows_is_enqueued_when_all_slices_are_done),
    TEST(what_follows_a_failure_is_enqueued_when_a_slice_failed),
};
const struct suite SCHEDULE_PLAN_SUITE = SUITE(TESTS);
