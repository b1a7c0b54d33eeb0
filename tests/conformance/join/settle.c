/* What is counted late, when joins and messages are removed, and joins that are large. */
#include <stdlib.h>

#include "joins.h"

/* Looks in every way there is. */
static void look_at_join(struct fixture *f, boxcar_join_id id) {
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    boxcar_join_list *list = NULL;
    join_of(f, id);
    count_members(f, id, BOXCAR_MEMBER_PENDING);
    ASSERT_OK(f, boxcar_join_page(f->store, &filter, &list, &f->err));
    boxcar_list_free(list);
    stats_of(f);
}

/* A join whose only step had ended before it was attached. */
static boxcar_join_id start_unsettled(struct fixture *f, bool failed) {
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued ended = enqueue_ended(f, failed);
    boxcar_attached attached = attach(f, id, ended.message_id);
    assert_true(attached.is_new && attached.message_exists);
    return id;
}

static void assert_settled(struct fixture *f, boxcar_join_id id, bool failed) {
    assert_join(f, id, failed ? BOXCAR_JOIN_FAILED : BOXCAR_JOIN_COMPLETED, !failed, failed);
}

/* JOIN-013, BX-042 */
static void neither_attaching_nor_reading_counts_what_had_ended(void **state) {
    struct fixture *f = *state;
    for (int failed = 0; failed < 2; failed++) {
        boxcar_join_id id = start_unsettled(f, failed);
        look_at_join(f, id);
        look_at_join(f, id);
        assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
    }
}

/* BX-042, BX-007 */
static void maintenance_counts_what_had_ended_before_it_was_attached(void **state) {
    struct fixture *f = *state;
    boxcar_join_id good = start_unsettled(f, false), bad = start_unsettled(f, true);
    assert_int_equal(maintain_joins(f).settled, 2);
    assert_settled(f, good, false);
    assert_settled(f, bad, true);
    assert_int_equal(maintain_joins(f).settled, 0);
}

/* BX-042 */
static void enqueueing_a_wait_counts_what_had_ended_before_it_was_attached(void **state) {
    struct fixture *f = *state;
    for (int failed = 0; failed < 2; failed++) {
        boxcar_join_id id = start_unsettled(f, failed);
        boxcar_enqueued wait = enqueue_wait(f, id);
        assert_settled(f, id, failed);
        assert_int_equal(evaluate(f, wait), failed ? WAIT_FAILED : WAIT_COMPLETED);
    }
}

/* BX-042 */
static void evaluating_a_wait_counts_what_had_ended_before_it_was_attached(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    boxcar_enqueued wait = enqueue_wait(f, id);
    attach(f, id, enqueue_ended(f, false).message_id);
    attach(f, id, enqueue_ended(f, true).message_id);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
    assert_int_equal(evaluate(f, wait), WAIT_FAILED);
    assert_join(f, id, BOXCAR_JOIN_FAILED, 1, 1);
}

/* BX-042, BX-043 */
static void settling_stops_at_the_expected_number(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    for (int i = 0; i < 4; i++)
        attach(f, id, enqueue_ended(f, false).message_id);
    assert_int_equal(maintain_joins(f).settled, 2);
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 2, 0);
    assert_int_equal(maintain_joins(f).settled, 0);
}

/* BX-042: a replayed message has not ended any more. */
static void dead_letter_that_was_replayed_before_settling_counts_by_its_next_end(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued dead = enqueue_ended(f, true);
    attach(f, id, dead.message_id);
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    all.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &all, BOXCAR_NO_STR, NULL, &f->err));
    maintain_joins(f);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
    assert_true(ack(f, f->owner, take(f, f->owner, dead.work_id)));
    assert_settled(f, id, false);
}

/* BX-026, BX-042 */
static void purge_of_dead_letters_counts_what_it_removes(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_unsettled(f, true);
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    all.all = true;
    int64_t purged = 0;
    ASSERT_OK(f, boxcar_dead_purge(f->store, &all, &purged, &f->err));
    assert_int_equal(purged, 1);
    assert_settled(f, id, true);
}

/* BX-026, BX-042 */
static void retention_counts_what_it_removes(void **state) {
    struct fixture *f = *state;
    boxcar_join_id good = start_unsettled(f, false), bad = start_unsettled(f, true);
    set_setting(f, "retention_done", "0");
    set_setting(f, "retention_dead", "0");
    boxcar_maintenance maintenance = maintain_joins(f);
    assert_int_equal(maintenance.purged_done, 1);
    assert_int_equal(maintenance.purged_dead, 1);
    assert_settled(f, good, false);
    assert_settled(f, bad, true);
}

/* BX-026, JOIN-014, JOIN-057: the messages are gone, their members count on. */
static void open_join_outlives_the_messages_it_has_counted(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 3);
    struct taken taken[3];
    take_steps(f, id, taken, 3);
    assert_true(ack(f, f->owner, taken[0]));
    assert_true(bury(f, f->owner, taken[1], "no"));
    set_setting(f, "retention_done", "0");
    set_setting(f, "retention_dead", "0");
    set_setting(f, "retention_joins", "0");
    boxcar_maintenance maintenance = maintain_joins(f);
    assert_int_equal(maintenance.purged_joins, 0);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 1);
    boxcar_enqueued wait = enqueue_wait(f, id);
    assert_true(ack(f, f->owner, taken[2]));
    assert_continuation(f, wait, "failed", "no");
}

static int64_t count_member_rows(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from boxcar_outbox_join_member",
                              "select count(*) from outbox_join_member");
}

/* BX-026 */
static void ended_joins_are_removed_with_their_members_after_their_retention(void **state) {
    struct fixture *f = *state;
    boxcar_join_id completed = start_join(f, 1), cancelled = start_join(f, 2), open = start_join(f, 2);
    assert_true(ack(f, f->owner, take_step(f, completed)));
    enqueue_step(f, cancelled);
    enqueue_step(f, open);
    ASSERT_OK(f, boxcar_join_cancel(f->store, cancelled, &f->err));
    assert_int_equal(maintain_joins(f).purged_joins, 0); /* 30 days, by default */
    assert_join(f, completed, BOXCAR_JOIN_COMPLETED, 1, 0);
    set_setting(f, "retention_joins", "0");
    assert_int_equal(maintain_joins(f).purged_joins, 2);
    assert_no_join(f, completed);
    assert_no_join(f, cancelled);
    assert_join(f, open, BOXCAR_JOIN_PENDING, 0, 0);
    assert_int_equal(count_member_rows(f), 1);
    assert_int_equal(stats_of(f).ready, 2); /* messages have a retention of their own */
}

/* BX-026, BX-007 */
static void ended_join_is_kept_while_a_wait_for_it_is_left(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued first = enqueue_wait(f, id);
    struct taken taken[2];
    taken[0] = take_topic(f, f->owner, WAIT, first.work_id);
    boxcar_enqueued second = enqueue_wait(f, id);
    taken[1] = take_topic(f, f->owner, WAIT, second.work_id);
    assert_true(ack(f, f->owner, take_step(f, id)));
    set_setting(f, "retention_joins", "0");
    assert_int_equal(maintain_joins(f).purged_joins, 0);
    assert_int_equal(resolve(f, taken[0]), WAIT_COMPLETED);
    assert_int_equal(maintain_joins(f).purged_joins, 0);
    assert_true(bury(f, f->owner, taken[1], "no")); /* a dead letter waits for nothing */
    assert_int_equal(maintain_joins(f).purged_joins, 1);
    assert_no_join(f, id);
}

/* BX-047: more members than one call, one page or one round of upkeep takes. */
static void join_of_twenty_thousand_members_is_counted_and_removed(void **state) {
    struct fixture *f = *state;
    enum { CALL = 1000, CALLS = 20 };
    boxcar_new_message *messages = calloc(CALL, sizeof(*messages));
    boxcar_settlement *settlements = calloc(CALL, sizeof(*settlements));
    assert_true(messages && settlements);
    boxcar_join_id id = start_join(f, CALL * CALLS);
    for (int i = 0; i < CALL; i++) {
        messages[i] = new_message(STEP, "p");
        messages[i].join_id = id;
    }
    for (int k = 0; k < CALLS; k++)
        ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, CALL, NULL, &f->err));
    for (int k = 0; k < CALLS; k++) {
        boxcar_message_list *list = claim(f, f->owner, CALL);
        size_t affected = 0;
        assert_int_equal(list->count, CALL);
        for (int i = 0; i < CALL; i++) {
            const boxcar_message *m = list->items[(size_t)i];
            settlements[i] = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
        }
        ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements, CALL,
                                   NULL, &affected, &f->err));
        assert_int_equal(affected, CALL);
        assert_int_equal(join_of(f, id).completed_steps, (k + 1) * CALL);
        boxcar_list_free(list);
    }
    assert_int_equal(join_of(f, id).status, BOXCAR_JOIN_COMPLETED);
    set_setting(f, "retention_joins", "0");
    assert_int_equal(maintain_joins(f).purged_joins, 1);
    assert_no_join(f, id);
    assert_int_equal(count_member_rows(f), 0);
    free(messages);
    free(settlements);
}

static const struct CMUnitTest TESTS[] = {
    TEST(neither_attaching_nor_reading_counts_what_had_ended),
    TEST(maintenance_counts_what_had_ended_before_it_was_attached),
    TEST(enqueueing_a_wait_counts_what_had_ended_before_it_was_attached),
    TEST(evaluating_a_wait_counts_what_had_ended_before_it_was_attached),
    TEST(settling_stops_at_the_expected_number),
    TEST(dead_letter_that_was_replayed_before_settling_counts_by_its_next_end),
    TEST(purge_of_dead_letters_counts_what_it_removes),
    TEST(retention_counts_what_it_removes),
    TEST(open_join_outlives_the_messages_it_has_counted),
    TEST(ended_joins_are_removed_with_their_members_after_their_retention),
    TEST(ended_join_is_kept_while_a_wait_for_it_is_left),
    TEST(join_of_twenty_thousand_members_is_counted_and_removed),
};

const struct suite JOIN_SETTLE_SUITE = SUITE(TESTS);
