#include "schedules.h"

boxcar_new_schedule new_schedule(int shards) {
    boxcar_new_schedule schedule = BOXCAR_NEW_SCHEDULE_INIT;
    schedule.topic = BOXCAR_STR("reindex");
    schedule.work_key = BOXCAR_STR("products");
    schedule.every_ms = HOUR_MS;
    schedule.shards = shards;
    return schedule;
}

void add_schedule(struct fixture *f, const boxcar_new_schedule *schedule) {
    ASSERT_OK(f, boxcar_schedule_add(f->store, schedule, &f->err));
}

void add_shards(struct fixture *f, int shards) {
    const boxcar_new_schedule schedule = new_schedule(shards);
    add_schedule(f, &schedule);
}

boxcar_planned plan_as(struct fixture *f, boxcar_owner owner, int64_t lease_ms) {
    boxcar_plan plan = BOXCAR_PLAN_INIT;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    plan.owner = owner;
    plan.lease_ms = lease_ms;
    ASSERT_OK(f, boxcar_schedule_plan(f->store, &plan, &planned, &f->err));
    return planned;
}

int64_t plan_slices(struct fixture *f) {
    boxcar_planned planned = plan_as(f, f->owner, HOUR_MS);
    assert_true(planned.fence > 0);
    return planned.count;
}

void make_slices_due(struct fixture *f) {
    fixture_sql(f, "update boxcar_schedule_shard set due_at = due_at - 7200000000 where due_at is not null",
                "update schedule_shard set due_at = due_at - interval '2 hours' where due_at is not null");
}

boxcar_schedule read_schedule(struct fixture *f) {
    boxcar_schedule_list *list = NULL;
    ASSERT_OK(f, boxcar_schedule_read(f->store, REINDEX, &list, &f->err));
    assert_int_equal(list->count, 1);
    boxcar_schedule schedule = *list->items[0];
    schedule.topic = schedule.work_key = schedule.then_topic = schedule.else_topic = BOXCAR_NO_STR;
    boxcar_list_free(list);
    return schedule;
}

boxcar_slice slice_of(struct fixture *f, int shard) {
    boxcar_slice_list *list = NULL;
    ASSERT_OK(f, boxcar_schedule_slice_read(f->store, REINDEX, &list, &f->err));
    assert_true(shard < (int)list->count);
    boxcar_slice slice = *list->items[shard];
    assert_int_equal(slice.shard, shard);
    boxcar_list_free(list);
    return slice;
}

void take_slices(struct fixture *f, struct taken *ret_taken, size_t count) {
    boxcar_message_list *list = claim_topic(f, f->owner, 100, TOPIC_OF_SLICES);
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++)
        ret_taken[i] = (struct taken){list->items[i]->work_id, list->items[i]->epoch, 0, 0};
    boxcar_list_free(list);
}

struct taken take_slice(struct fixture *f) {
    struct taken taken;
    take_slices(f, &taken, 1);
    return taken;
}

bool complete(struct fixture *f, int shard, int64_t slice) {
    bool has_changed = false;
    ASSERT_OK(f, boxcar_schedule_complete(f->store, REINDEX, shard, slice, &has_changed, &f->err));
    return has_changed;
}
