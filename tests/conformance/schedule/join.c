/* Schedules: slices that are enqueued together are the steps of a join. */
#include "joins.h"
#include "schedules.h"

static void add_joined(struct fixture *f, int shards, const char *else_topic) {
    boxcar_new_schedule schedule = new_schedule(shards);
    schedule.then_topic = BOXCAR_STR("reindexed");
    schedule.else_topic = boxcar_str_of(else_topic);
    add_schedule(f, &schedule);
}

static void assert_nothing_of(struct fixture *f, const char *topic) {
    boxcar_message_list *list = claim_topic(f, f->other, 10, topic);
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
}

/* What came of the join, with the number of its slices. It is acked. */
static void assert_followed_by(struct fixture *f, const char *topic, const char *payload) {
    boxcar_message_list *list = claim_topic(f, f->owner, 10, topic);
    assert_int_equal(list->count, 1);
    assert_text(list->items[0]->payload, payload);
    struct taken taken = {list->items[0]->work_id, list->items[0]->epoch, 0, 0};
    boxcar_list_free(list);
    assert_true(ack(f, f->owner, taken));
}

static boxcar_join_list *joins(struct fixture *f) {
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    boxcar_join_list *list = NULL;
    ASSERT_OK(f, boxcar_join_page(f->store, &filter, &list, &f->err));
    return list;
}

static void assert_join_count(struct fixture *f, size_t wanted) {
    boxcar_join_list *list = joins(f);
    assert_int_equal(list->count, wanted);
    boxcar_list_free(list);
}

/* BX-106 */
static void the_end_of_all_slices_is_followed_by_a_message(void **state) {
    struct fixture *f = *state;
    struct taken taken[3];
    add_joined(f, 3, NULL);
    assert_int_equal(plan_slices(f), 3);
    boxcar_join_list *list = joins(f);
    assert_int_equal(list->count, 1);
    assert_int_equal(list->items[0]->expected_steps, 3);
    boxcar_join_id join_id = list->items[0]->join_id;
    boxcar_list_free(list);
    take_slices(f, taken, 3);
    assert_true(ack(f, f->owner, taken[0]));
    assert_true(ack(f, f->owner, taken[1]));
    assert_nothing_of(f, "reindexed");
    assert_true(ack(f, f->owner, taken[2]));
    assert_join(f, join_id, BOXCAR_JOIN_COMPLETED, 3, 0);
    assert_followed_by(f, "reindexed", "{\"topic\": \"reindex\", \"work_key\": \"products\", \"slices\": 3}");
}

/* BX-106 */
static void each_round_of_slices_has_a_join_of_its_own(void **state) {
    struct fixture *f = *state;
    struct taken taken[2];
    add_joined(f, 2, NULL);
    for (int round = 1; round <= 3; round++) {
        assert_int_equal(plan_slices(f), 2);
        assert_join_count(f, (size_t)round);
        take_slices(f, taken, 2);
        settle_all(f, BOXCAR_ACK, taken, 2);
        assert_followed_by(f, "reindexed",
                           "{\"topic\": \"reindex\", \"work_key\": \"products\", \"slices\": 2}");
        assert_int_equal(plan_slices(f), 0);
        make_slices_due(f);
    }
}

/* BX-106 */
static void a_slice_that_failed_leads_to_the_other_topic_and_joins_no_more(void **state) {
    struct fixture *f = *state;
    struct taken taken[2];
    add_joined(f, 2, "broken");
    assert_int_equal(plan_slices(f), 2);
    take_slices(f, taken, 2);
    assert_true(ack(f, f->owner, taken[0]));
    assert_true(bury(f, f->owner, taken[1], "no"));
    assert_followed_by(f, "broken", "{\"topic\": \"reindex\", \"work_key\": \"products\", \"slices\": 2}");
    assert_nothing_of(f, "reindexed");
    assert_int_equal(plan_slices(f), 1);
    assert_join_count(f, 1);
    assert_true(ack(f, f->owner, take_slice(f)));
    assert_nothing_of(f, "reindexed");
    assert_nothing_of(f, "broken");
}

/* BX-106 */
static void without_another_topic_nothing_follows_a_failure(void **state) {
    struct fixture *f = *state;
    add_joined(f, 1, NULL);
    assert_int_equal(plan_slices(f), 1);
    assert_true(bury(f, f->owner, take_slice(f), "no"));
    assert_nothing_of(f, "reindexed");
    assert_int_equal(plan_slices(f), 1);
    assert_true(ack(f, f->owner, take_slice(f)));
    assert_nothing_of(f, "reindexed");
}

/* BX-106: the schedule looks at its own note, the join at the message. */
static void a_slice_completed_early_is_a_step_when_its_message_is_done(void **state) {
    struct fixture *f = *state;
    add_joined(f, 1, NULL);
    assert_int_equal(plan_slices(f), 1);
    struct taken taken = take_slice(f);
    assert_true(complete(f, 0, 1));
    assert_nothing_of(f, "reindexed");
    assert_true(ack(f, f->owner, taken));
    assert_followed_by(f, "reindexed", "{\"topic\": \"reindex\", \"work_key\": \"products\", \"slices\": 1}");
}

/* BX-106 */
static void without_a_topic_to_follow_there_is_no_join(void **state) {
    struct fixture *f = *state;
    add_shards(f, 2);
    assert_int_equal(plan_slices(f), 2);
    assert_join_count(f, 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(the_end_of_all_slices_is_followed_by_a_message),
    TEST(each_round_of_slices_has_a_join_of_its_own),
    TEST(a_slice_that_failed_leads_to_the_other_topic_and_joins_no_more),
    TEST(without_another_topic_nothing_follows_a_failure),
    TEST(a_slice_completed_early_is_a_step_when_its_message_is_done),
    TEST(without_a_topic_to_follow_there_is_no_join),
};

const struct suite SCHEDULE_JOIN_SUITE = SUITE(TESTS);
