/* Schedules: one planner at a time, and a late one changes nothing. */
#include "schedules.h"

#include <stdatomic.h>

/* BX-106 */
static void one_planner_plans_at_a_time(void **state) {
    struct fixture *f = *state;
    add_shards(f, 1);
    boxcar_planned first = plan_as(f, f->owner, HOUR_MS);
    assert_true(first.fence > 0);
    assert_int_equal(first.count, 1);
    assert_true(complete(f, 0, 1));
    make_slices_due(f);
    boxcar_planned other = plan_as(f, f->other, HOUR_MS);
    assert_int_equal(other.fence, 0);
    assert_int_equal(other.count, 0);
    assert_true(other.next_due_at > database_now(f));
    assert_int_equal(slice_of(f, 0).slice, 1);
    boxcar_planned again = plan_as(f, f->owner, HOUR_MS);
    assert_int_equal(again.fence, first.fence);
    assert_int_equal(again.count, 1);
}

static boxcar_status plan_fenced(struct fixture *f, boxcar_owner owner, int64_t fence, boxcar_planned *ret) {
    boxcar_plan plan = BOXCAR_PLAN_INIT;
    plan.owner = owner;
    plan.lease_ms = 100;
    plan.fence = fence;
    return boxcar_schedule_plan(f->store, &plan, ret, &f->err);
}

/* BX-106 */
static void a_late_planner_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    boxcar_planned first = plan_as(f, f->owner, 100);
    wait_out(f, 100);
    boxcar_planned second = plan_as(f, f->other, HOUR_MS);
    assert_true(second.fence > first.fence);
    add_shards(f, 2);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, plan_fenced(f, f->owner, first.fence, &planned));
    assert_int_equal(slice_of(f, 0).slice, 0);
    assert_int_equal(read_schedule(f).open_slices, 0);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, plan_fenced(f, f->owner, second.fence, &planned));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, plan_fenced(f, f->other, second.fence + 1, &planned));
    assert_int_equal(read_schedule(f).open_slices, 0);
    ASSERT_OK(f, plan_fenced(f, f->other, second.fence, &planned));
    assert_int_equal(planned.fence, second.fence);
    assert_int_equal(planned.count, 2);
}

/* BX-106 */
static void a_planner_that_went_is_followed_by_another_one(void **state) {
    struct fixture *f = *state;
    add_shards(f, 1);
    boxcar_planned first = plan_as(f, f->owner, 100);
    assert_int_equal(first.count, 1);
    assert_true(bury(f, f->owner, take_slice(f), "no"));
    wait_out(f, 100);
    boxcar_planned second = plan_as(f, f->other, HOUR_MS);
    assert_true(second.fence > first.fence);
    assert_int_equal(second.count, 1);
    assert_int_equal(plan_as(f, f->owner, HOUR_MS).fence, 0);
}

/* BX-106 */
static void a_planner_keeps_its_fence_while_nobody_else_has_the_lease(void **state) {
    struct fixture *f = *state;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    int64_t fence = plan_as(f, f->owner, 100).fence;
    wait_out(f, 100);
    ASSERT_OK(f, plan_fenced(f, f->owner, fence, &planned));
    assert_int_equal(planned.fence, fence);
    assert_int_equal(plan_as(f, f->owner, 100).fence, fence);
}

/* BX-106 */
static void a_plan_says_when_to_plan_again(void **state) {
    struct fixture *f = *state;
    assert_int_equal(plan_as(f, f->owner, HOUR_MS).next_due_at, BOXCAR_TIME_NONE);
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    assert_true(complete(f, 0, 1));
    assert_int_equal(plan_as(f, f->owner, HOUR_MS).next_due_at, slice_of(f, 0).due_at);
}

/* BX-106: what a plan enqueues is stored with what it notes about the shards. */
static void a_plan_is_one_transaction(void **state) {
    struct fixture *f = *state;
    add_shards(f, 3);
    assert_int_equal(plan_slices(f), 3);
    for (int i = 0; i < 3; i++) {
        boxcar_message_list *list = NULL;
        boxcar_message_ref ref = {.message_id = slice_of(f, i).message_id};
        ASSERT_OK(f, boxcar_message_find(f->store, BOXCAR_OUTBOX, ref, &list, &f->err));
        assert_text(list->items[0]->topic, TOPIC_OF_SLICES);
        boxcar_list_free(list);
    }
}

enum { PLANNERS = 3, SHARDS = 60 };

struct rivals {
    _Atomic int64_t planned;
};

/* Until all is planned: now as somebody new, now with the fence of before, which may have been lost. */
static const char *plan_as_rival(struct crew_member *member) {
    struct rivals *rivals = member->context;
    boxcar_plan plan = BOXCAR_PLAN_INIT;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    plan.lease_ms = BOXCAR_LEASE_MS_MIN;
    plan.most = 3;
    for (int round = 0; rivals->planned < SHARDS; round++) {
        bool is_new = round % 2 == 0 || planned.fence == 0;
        if (is_new)
            plan.owner = (boxcar_owner){boxcar_uuid_new()};
        plan.fence = is_new ? 0 : planned.fence;
        boxcar_status status = boxcar_schedule_plan(member->store, &plan, &planned, &member->err);
        if (status != BOXCAR_OK && (status != BOXCAR_E_CONFLICT || is_new))
            return "a plan failed";
        if (status == BOXCAR_OK)
            rivals->planned += planned.count;
        pause_ms(20);
    }
    return NULL;
}

/* BX-106 */
static void rivals_enqueue_each_slice_once(void **state) {
    struct fixture *f = *state;
    struct rivals rivals = {0};
    add_shards(f, SHARDS);
    crew_run(f, PLANNERS, plan_as_rival, &rivals);
    assert_int_equal(rivals.planned, SHARDS);
    assert_int_equal(stats_of(f).ready, SHARDS);
    for (int i = 0; i < SHARDS; i++)
        assert_int_equal(slice_of(f, i).slice, 1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(one_planner_plans_at_a_time),
    TEST(a_late_planner_changes_nothing),
    TEST(a_planner_that_went_is_followed_by_another_one),
    TEST(a_planner_keeps_its_fence_while_nobody_else_has_the_lease),
    TEST(a_plan_says_when_to_plan_again),
    TEST(a_plan_is_one_transaction),
    TEST(rivals_enqueue_each_slice_once),
};

const struct suite SCHEDULE_PLANNER_SUITE = SUITE(TESTS);
