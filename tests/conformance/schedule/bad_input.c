/* What schedules and plans refuse. BX-011 */
#include "schedules.h"

#include <string.h>

static boxcar_status add(struct fixture *f, const boxcar_new_schedule *schedule) {
    return boxcar_schedule_add(f->store, schedule, &f->err);
}

/* BX-011, BX-106 */
static void names_are_checked(void **state) {
    struct fixture *f = *state;
    char text[300];
    memset(text, 'x', sizeof(text));
    static const char *const BAD[] = {"", "a:b", "a\nb", "a\xff"};
    for (size_t i = 0; i < 4; i++) {
        boxcar_new_schedule schedule = new_schedule(1);
        schedule.topic = boxcar_str_of(BAD[i]);
        ASSERT_INVALID(f, "topic", add(f, &schedule));
        schedule = new_schedule(1);
        schedule.work_key = boxcar_str_of(BAD[i]);
        if (i != 1)
            ASSERT_INVALID(f, "work_key", add(f, &schedule));
        else
            ASSERT_OK(f, add(f, &schedule));
    }
    boxcar_new_schedule schedule = new_schedule(1);
    schedule.work_key = (boxcar_str){text, 255 - strlen("fanout:reindex:") + 1};
    ASSERT_INVALID(f, "work_key", add(f, &schedule));
    schedule.work_key.len--;
    ASSERT_OK(f, add(f, &schedule));
    assert_int_equal(plan_slices(f), 2);
}

/* BX-011, BX-106 */
static void numbers_are_checked(void **state) {
    struct fixture *f = *state;
    boxcar_new_schedule schedule = new_schedule(0);
    ASSERT_INVALID(f, "shards", add(f, &schedule));
    schedule.shards = 10001;
    ASSERT_INVALID(f, "shards", add(f, &schedule));
    schedule.shards = 1;
    schedule.every_ms = 999;
    ASSERT_INVALID(f, "every_ms", add(f, &schedule));
    schedule.every_ms = BOXCAR_EVERY_MS_MAX + 1;
    ASSERT_INVALID(f, "every_ms", add(f, &schedule));
    schedule.every_ms = 1000;
    schedule.jitter_ms = 1001;
    ASSERT_INVALID(f, "jitter_ms", add(f, &schedule));
    schedule.jitter_ms = -1;
    ASSERT_INVALID(f, "jitter_ms", add(f, &schedule));
    schedule.jitter_ms = 1000;
    ASSERT_OK(f, add(f, &schedule));
}

/* BX-011, BX-106 */
static void the_longest_cadence_and_the_most_shards_are_possible(void **state) {
    struct fixture *f = *state;
    boxcar_new_schedule schedule = new_schedule(BOXCAR_SHARDS_MAX);
    schedule.every_ms = schedule.jitter_ms = BOXCAR_EVERY_MS_MAX;
    add_schedule(f, &schedule);
    assert_int_equal(read_schedule(f).shards, BOXCAR_SHARDS_MAX);
    assert_int_equal(slice_of(f, BOXCAR_SHARDS_MAX - 1).slice, 0);
}

/* BX-011, BX-106 */
static void what_follows_is_checked(void **state) {
    struct fixture *f = *state;
    boxcar_new_schedule schedule = new_schedule(1);
    schedule.else_topic = BOXCAR_STR("failed");
    ASSERT_INVALID(f, "else_topic", add(f, &schedule));
    schedule.then_topic = BOXCAR_STR("");
    ASSERT_INVALID(f, "then_topic", add(f, &schedule));
    schedule.then_topic = BOXCAR_STR("done");
    schedule.else_topic = BOXCAR_STR("");
    ASSERT_INVALID(f, "else_topic", add(f, &schedule));
    schedule.else_topic = BOXCAR_NO_STR;
    ASSERT_OK(f, add(f, &schedule));
}

/* BX-011, BX-106 */
static void plans_are_checked(void **state) {
    struct fixture *f = *state;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    boxcar_plan good = BOXCAR_PLAN_INIT;
    good.owner = f->owner;
    boxcar_plan plan = good;
    plan.owner = (boxcar_owner){0};
    ASSERT_INVALID(f, "owner", boxcar_schedule_plan(f->store, &plan, &planned, &f->err));
    plan = good;
    plan.lease_ms = BOXCAR_LEASE_MS_MIN - 1;
    ASSERT_INVALID(f, "lease_ms", boxcar_schedule_plan(f->store, &plan, &planned, &f->err));
    plan = good;
    plan.fence = -1;
    ASSERT_INVALID(f, "fence", boxcar_schedule_plan(f->store, &plan, &planned, &f->err));
    plan = good;
    plan.most = 0;
    ASSERT_INVALID(f, "most", boxcar_schedule_plan(f->store, &plan, &planned, &f->err));
    plan.most = 10001;
    ASSERT_INVALID(f, "most", boxcar_schedule_plan(f->store, &plan, &planned, &f->err));
    ASSERT_OK(f, boxcar_schedule_plan(f->store, &good, NULL, &f->err));
}

/* BX-011, BX-106 */
static void slices_are_checked(void **state) {
    struct fixture *f = *state;
    bool changed;
    boxcar_schedule_list *list = NULL;
    ASSERT_INVALID(f, "shard", boxcar_schedule_complete(f->store, REINDEX, -1, 1, &changed, &f->err));
    ASSERT_INVALID(f, "shard", boxcar_schedule_complete(f->store, REINDEX, 10000, 1, &changed, &f->err));
    ASSERT_INVALID(f, "slice", boxcar_schedule_complete(f->store, REINDEX, 0, 0, &changed, &f->err));
    ASSERT_INVALID(f, "work_key",
                   boxcar_schedule_read(f->store, BOXCAR_STR("a"), BOXCAR_NO_STR, &list, &f->err));
    ASSERT_INVALID(f, "topic", boxcar_schedule_pause(f->store, BOXCAR_STR("a:b"), BOXCAR_STR("c"), &f->err));
}

static const struct CMUnitTest TESTS[] = {
    TEST(names_are_checked),
    TEST(numbers_are_checked),
    TEST(the_longest_cadence_and_the_most_shards_are_possible),
    TEST(what_follows_is_checked),
    TEST(plans_are_checked),
    TEST(slices_are_checked),
};

const struct suite SCHEDULE_BAD_INPUT_SUITE = SUITE(TESTS);
