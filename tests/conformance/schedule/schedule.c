/* Schedules: one message a slice, again and again. */
#include "schedules.h"

#include <stdio.h>
#include <string.h>

#include "subscriptions.h"

/* BX-106 */
static void each_shard_gets_one_message(void **state) {
    struct fixture *f = *state;
    bool seen[3] = {false};
    add_shards(f, 3);
    assert_int_equal(plan_slices(f), 3);
    boxcar_message_list *list = claim_topic(f, f->owner, 10, TOPIC_OF_SLICES);
    assert_int_equal(list->count, 3);
    for (size_t i = 0; i < 3; i++) {
        char text[200];
        int shard;
        snprintf(text, sizeof(text), "%.*s", (int)list->items[i]->payload.len, list->items[i]->payload.data);
        const char *at = strstr(text, "\"shard\":");
        assert_non_null(at);
        assert_int_equal(sscanf(at, "\"shard\": %d", &shard), 1);
        assert_in_range(shard, 0, 2);
        assert_false(seen[shard]);
        seen[shard] = true;
        char wanted[200];
        snprintf(wanted, sizeof(wanted),
                 "{\"topic\": \"reindex\", \"work_key\": \"products\", \"shard\": %d, \"shards\": 3, "
                 "\"slice\": 1}",
                 shard);
        assert_text(list->items[i]->payload, wanted);
        assert_same_message_id(slice_of(f, shard).message_id, list->items[i]->message_id);
    }
    boxcar_list_free(list);
    assert_int_equal(read_schedule(f).open_slices, 3);
}

/* BX-106 */
static void an_open_slice_is_not_enqueued_again(void **state) {
    struct fixture *f = *state;
    add_shards(f, 2);
    assert_int_equal(plan_slices(f), 2);
    assert_int_equal(plan_slices(f), 0);
    make_slices_due(f);
    struct taken taken[2];
    take_slices(f, taken, 2);
    assert_int_equal(plan_slices(f), 0);
    assert_true(abandon(f, f->owner, taken[0], HOUR_MS));
    assert_int_equal(plan_slices(f), 0);
    assert_int_equal(slice_of(f, 0).tries, 1);
    assert_int_equal(read_schedule(f).open_slices, 2);
}

/* BX-106 */
static void the_next_slice_comes_when_the_last_one_is_older_than_the_cadence(void **state) {
    struct fixture *f = *state;
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    boxcar_slice first = slice_of(f, 0);
    assert_int_equal(first.slice, 1);
    assert_int_equal(first.completed_at, BOXCAR_TIME_NONE);
    assert_int_equal(first.due_at, BOXCAR_TIME_NONE);
    assert_true(ack(f, f->owner, take_slice(f)));
    assert_int_equal(plan_slices(f), 0);
    boxcar_slice done = slice_of(f, 0);
    assert_int_equal(done.slice, 1);
    assert_true(done.completed_at >= first.enqueued_at && done.completed_at < database_now(f) + HOUR_MS);
    assert_int_equal(done.due_at, done.completed_at + HOUR_MS * 1000);
    assert_int_equal(read_schedule(f).next_due_at, done.due_at);
    assert_int_equal(read_schedule(f).open_slices, 0);
    make_slices_due(f);
    assert_int_equal(plan_slices(f), 1);
    boxcar_slice second = slice_of(f, 0);
    assert_int_equal(second.slice, 2);
    assert_int_equal(second.tries, 1);
    assert_memory_not_equal(&second.message_id, &first.message_id, sizeof(second.message_id));
    assert_true(ack(f, f->owner, take_slice(f)));
}

/* BX-106 */
static void shards_go_on_by_themselves(void **state) {
    struct fixture *f = *state;
    struct taken taken[2];
    add_shards(f, 2);
    assert_int_equal(plan_slices(f), 2);
    take_slices(f, taken, 2);
    assert_true(complete(f, 1, 1));
    make_slices_due(f);
    assert_int_equal(plan_slices(f), 1);
    assert_int_equal(slice_of(f, 0).slice, 1);
    assert_int_equal(slice_of(f, 1).slice, 2);
}

/* BX-106 */
static void a_slice_whose_message_died_is_enqueued_again(void **state) {
    struct fixture *f = *state;
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    boxcar_slice first = slice_of(f, 0);
    assert_true(bury(f, f->owner, take_slice(f), "no"));
    assert_int_equal(plan_slices(f), 1);
    boxcar_slice again = slice_of(f, 0);
    assert_int_equal(again.slice, 1);
    assert_int_equal(again.tries, 2);
    assert_memory_not_equal(&again.message_id, &first.message_id, sizeof(again.message_id));
    assert_true(again.enqueued_at >= first.enqueued_at);
    assert_int_equal(plan_slices(f), 0);
    assert_true(ack(f, f->owner, take_slice(f)));
    assert_int_equal(plan_slices(f), 0);
    assert_true(slice_of(f, 0).completed_at != BOXCAR_TIME_NONE);
}

/* BX-106: a message that is rejected at once must not bring dead letters as fast as it is planned. */
static void a_slice_that_ends_badly_again_comes_later(void **state) {
    struct fixture *f = *state;
    add_shards(f, 1);
    for (int tries = 1; tries < 3; tries++) {
        assert_int_equal(plan_slices(f), 1);
        assert_true(bury(f, f->owner, take_slice(f), "no"));
    }
    assert_int_equal(plan_slices(f), 1);
    assert_int_equal(slice_of(f, 0).tries, 3);
    assert_int_equal(stats_as(f, BOXCAR_OUTBOX).ready, 0);
    assert_int_equal(stats_as(f, BOXCAR_OUTBOX).waiting, 1);
}

/* BX-028, BX-106 */
static void a_slice_whose_message_was_cancelled_is_enqueued_again(void **state) {
    struct fixture *f = *state;
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    boxcar_message_ref ref = {.message_id = slice_of(f, 0).message_id};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    assert_int_equal(plan_slices(f), 1);
    assert_int_equal(slice_of(f, 0).slice, 1);
    assert_int_equal(slice_of(f, 0).tries, 2);
}

/* BX-106 */
static void a_completed_slice_never_comes_again(void **state) {
    struct fixture *f = *state;
    add_shards(f, 1);
    assert_int_equal(plan_slices(f), 1);
    struct taken taken = take_slice(f);
    assert_false(complete(f, 0, 2));
    assert_false(complete(f, 1, 1));
    assert_true(complete(f, 0, 1));
    assert_false(complete(f, 0, 1));
    boxcar_slice done = slice_of(f, 0);
    assert_int_equal(done.due_at, done.completed_at + HOUR_MS * 1000);
    assert_true(bury(f, f->owner, taken, "too late"));
    assert_int_equal(plan_slices(f), 0);
    assert_int_equal(slice_of(f, 0).completed_at, done.completed_at);
    make_slices_due(f);
    assert_int_equal(plan_slices(f), 1);
    assert_int_equal(slice_of(f, 0).slice, 2);
    assert_false(complete(f, 0, 1));
    assert_int_equal(slice_of(f, 0).completed_at, BOXCAR_TIME_NONE);
}

/* BX-106 */
static void a_paused_schedule_plans_nothing(void **state) {
    struct fixture *f = *state;
    add_shards(f, 1);
    ASSERT_OK(f, boxcar_schedule_pause(f->store, REINDEX, &f->err));
    ASSERT_OK(f, boxcar_schedule_pause(f->store, REINDEX, &f->err));
    assert_true(read_schedule(f).paused_at != BOXCAR_TIME_NONE);
    assert_int_equal(plan_slices(f), 0);
    assert_int_equal(plan_as(f, f->owner, HOUR_MS).next_due_at, BOXCAR_TIME_NONE);
    ASSERT_OK(f, boxcar_schedule_resume(f->store, REINDEX, &f->err));
    assert_int_equal(read_schedule(f).paused_at, BOXCAR_TIME_NONE);
    assert_int_equal(plan_slices(f), 1);
    ASSERT_OK(f, boxcar_schedule_pause(f->store, REINDEX, &f->err));
    assert_true(bury(f, f->owner, take_slice(f), "no"));
    assert_int_equal(plan_slices(f), 0);
    ASSERT_OK(f, boxcar_schedule_resume(f->store, REINDEX, &f->err));
    assert_int_equal(plan_slices(f), 1);
    assert_int_equal(slice_of(f, 0).tries, 2);
}

/* BX-106 */
static void messages_stay_when_their_schedule_is_removed(void **state) {
    struct fixture *f = *state;
    boxcar_schedule_list *list = NULL;
    add_shards(f, 2);
    assert_int_equal(plan_slices(f), 2);
    boxcar_message_id first = slice_of(f, 0).message_id;
    ASSERT_OK(f, boxcar_schedule_remove(f->store, REINDEX, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_schedule_read(f->store, REINDEX, &list, &f->err));
    assert_int_equal(plan_slices(f), 0);
    struct taken taken[4];
    take_slices(f, taken, 2);
    add_shards(f, 2); /* another one, which begins anew */
    assert_int_equal(plan_slices(f), 2);
    assert_int_equal(slice_of(f, 0).slice, 1);
    boxcar_message_id again = slice_of(f, 0).message_id;
    assert_memory_not_equal(&again, &first, sizeof(first));
    assert_true(ack(f, f->owner, taken[0]));
    assert_int_equal(plan_slices(f), 0);
    assert_int_equal(read_schedule(f).open_slices, 2);
}

/* BX-106 */
static void a_plan_enqueues_no_more_than_it_may(void **state) {
    struct fixture *f = *state;
    boxcar_plan plan = BOXCAR_PLAN_INIT;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    plan.owner = f->owner;
    plan.most = 2;
    add_shards(f, 5);
    static const int64_t counts[] = {2, 2, 1, 0};
    for (size_t i = 0; i < 4; i++) {
        ASSERT_OK(f, boxcar_schedule_plan(f->store, &plan, &planned, &f->err));
        assert_int_equal(planned.count, counts[i]);
        assert_int_equal(planned.next_due_at < database_now(f) + HOUR_MS,
                         counts[i] == 2); /* microseconds: soon */
    }
}

/* BX-106 */
static void jitter_delays_shards_by_a_part_of_it(void **state) {
    struct fixture *f = *state;
    boxcar_new_schedule schedule = new_schedule(20);
    schedule.jitter_ms = HOUR_MS;
    boxcar_time before = database_now(f);
    add_schedule(f, &schedule);
    boxcar_time after = database_now(f), first = INT64_MAX, last = 0;
    for (int i = 0; i < 20; i++) {
        boxcar_slice slice = slice_of(f, i);
        assert_int_equal(slice.slice, 0);
        assert_true(boxcar_uuid_is_none(slice.message_id.uuid));
        assert_true(slice.due_at >= before && slice.due_at <= after + HOUR_MS * 1000);
        first = slice.due_at < first ? slice.due_at : first;
        last = slice.due_at > last ? slice.due_at : last;
    }
    assert_true(last > first);
    assert_int_equal(read_schedule(f).next_due_at, first);
}

/* BX-106 */
static void schedules_are_listed_by_topic_and_work_key(void **state) {
    struct fixture *f = *state;
    boxcar_schedule_list *list = NULL;
    static const char *const names[][2] = {{"b", "1"}, {"a", "2"}, {"a", "1"}};
    for (size_t i = 0; i < 3; i++) {
        boxcar_new_schedule schedule = new_schedule(1 + (int)i);
        schedule.topic = boxcar_str_of(names[i][0]);
        schedule.work_key = boxcar_str_of(names[i][1]);
        schedule.jitter_ms = 500;
        schedule.then_topic = i == 0 ? BOXCAR_STR("then") : BOXCAR_NO_STR;
        schedule.else_topic = i == 0 ? BOXCAR_STR("else") : BOXCAR_NO_STR;
        add_schedule(f, &schedule);
        ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_schedule_add(f->store, &schedule, &f->err));
    }
    ASSERT_OK(f, boxcar_schedule_read(f->store, BOXCAR_NO_STR, BOXCAR_NO_STR, &list, &f->err));
    assert_int_equal(list->count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_text(list->items[i]->topic, names[2 - i][0]);
        assert_text(list->items[i]->work_key, names[2 - i][1]);
        assert_int_equal(list->items[i]->shards, 3 - i);
        assert_int_equal(list->items[i]->every_ms, HOUR_MS);
        assert_int_equal(list->items[i]->jitter_ms, 500);
    }
    assert_text(list->items[2]->then_topic, "then");
    assert_text(list->items[2]->else_topic, "else");
    assert_absent(list->items[0]->then_topic);
    boxcar_list_free(list);
}

static void assert_unknown_schedule(struct fixture *f, boxcar_status status) {
    assert_string_equal(boxcar_status_name(status), boxcar_status_name(BOXCAR_E_NOT_FOUND));
    assert_string_equal(f->err.argument, "schedule");
}

static void an_unknown_schedule_is_not_found(void **state) {
    struct fixture *f = *state;
    const boxcar_str topic = BOXCAR_STR("reindex"), key = BOXCAR_STR("customers");
    boxcar_schedule_list *list = NULL;
    boxcar_slice_list *slices = NULL;
    add_shards(f, 1);
    assert_unknown_schedule(f, boxcar_schedule_read(f->store, topic, key, &list, &f->err));
    assert_unknown_schedule(f, boxcar_schedule_slice_read(f->store, topic, key, &slices, &f->err));
    assert_unknown_schedule(f, boxcar_schedule_pause(f->store, topic, key, &f->err));
    assert_unknown_schedule(f, boxcar_schedule_resume(f->store, topic, key, &f->err));
    assert_unknown_schedule(f, boxcar_schedule_remove(f->store, topic, key, &f->err));
    assert_unknown_schedule(f, boxcar_schedule_complete(f->store, topic, key, 0, 1, NULL, &f->err));
    assert_int_equal(read_schedule(f).shards, 1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(each_shard_gets_one_message),
    TEST(an_open_slice_is_not_enqueued_again),
    TEST(the_next_slice_comes_when_the_last_one_is_older_than_the_cadence),
    TEST(shards_go_on_by_themselves),
    TEST(a_slice_whose_message_died_is_enqueued_again),
    TEST(a_slice_that_ends_badly_again_comes_later),
    TEST(a_slice_whose_message_was_cancelled_is_enqueued_again),
    TEST(a_completed_slice_never_comes_again),
    TEST(a_paused_schedule_plans_nothing),
    TEST(messages_stay_when_their_schedule_is_removed),
    TEST(a_plan_enqueues_no_more_than_it_may),
    TEST(jitter_delays_shards_by_a_part_of_it),
    TEST(schedules_are_listed_by_topic_and_work_key),
    TEST(an_unknown_schedule_is_not_found),
};

const struct suite SCHEDULE_SUITE = SUITE(TESTS);
