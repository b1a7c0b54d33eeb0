/* Is there anything left to do? Asked by a worker that is to stop when there is not. */
#include "borrow.h"
#include "seam.h"

enum { HOUR_MS = 3600000, MINUTE_MS = 60000 };

static bool is_drained_of(struct fixture *f, boxcar_box box, const char *const *patterns, size_t count,
                          int64_t horizon_ms) {
    boxcar_str topics[4];
    bool drained = false;

    for (size_t i = 0; i < count; i++)
        topics[i] = boxcar_str_of(patterns[i]);
    ASSERT_OK(f, seam_is_drained(f->store, box, topics, count, horizon_ms, &drained, &f->err));
    return drained;
}

static bool is_drained(struct fixture *f, const char *topic, int64_t horizon_ms) {
    return is_drained_of(f, BOXCAR_OUTBOX, &topic, 1, horizon_ms);
}

/* The same answer for the topic, a prefix, several patterns and everything. */
static void assert_drained(struct fixture *f, bool wanted, int64_t horizon_ms) {
    static const char *const SEVERAL[] = {"x", "u*", "t"};

    assert_int_equal(is_drained(f, "t", horizon_ms), wanted);
    assert_int_equal(is_drained(f, "t*", horizon_ms), wanted);
    assert_int_equal(is_drained(f, "*", horizon_ms), wanted);
    assert_int_equal(is_drained_of(f, BOXCAR_OUTBOX, SEVERAL, 3, horizon_ms), wanted);
    assert_int_equal(is_drained_of(f, BOXCAR_OUTBOX, NULL, 0, horizon_ms), wanted);
}

static boxcar_enqueued enqueue_later(struct fixture *f, const char *stream, int64_t delay_ms) {
    boxcar_new_message message = new_message("t", "p");
    message.delay_ms = delay_ms;
    if (stream)
        message.stream = boxcar_str_of(stream);
    return enqueue_message(f, &message);
}

static boxcar_enqueued enqueue_topic_in_stream(struct fixture *f, const char *topic, const char *stream) {
    boxcar_new_message message = new_message(topic, "p");
    message.stream = boxcar_str_of(stream);
    return enqueue_message(f, &message);
}

/* BX-024 */
static void empty_store_is_drained(void **state) { assert_drained(*state, true, MINUTE_MS); }

static void ready_message_keeps_it(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    assert_drained(f, false, 0);
    enqueue_streamed(f, "s", "p");
    assert_drained(f, false, 0);
}

/* BX-002: any owner may give it back. */
static void leased_message_keeps_it_until_it_is_done(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->other, enqueue(f, "t", "p").work_id);
    assert_drained(f, false, 0);
    assert_true(ack(f, f->other, taken));
    assert_drained(f, true, MINUTE_MS);
}

static void leased_streamed_message_keeps_it_until_it_is_done(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue_streamed(f, "s", "p").work_id);
    assert_drained(f, false, 0);
    assert_true(ack(f, f->owner, taken));
    assert_drained(f, true, MINUTE_MS);
}

/* BX-004 */
static void dead_message_does_not_keep_it(void **state) {
    struct fixture *f = *state;
    enqueue_dead(f, "t", "no");
    assert_drained(f, true, MINUTE_MS);
}

/* BX-021 */
static void message_backing_off_keeps_it_as_far_as_the_horizon(void **state) {
    struct fixture *f = *state;
    assert_true(abandon(f, f->owner, take(f, f->owner, enqueue(f, "t", "p").work_id), 30000));
    assert_drained(f, false, MINUTE_MS);
    assert_drained(f, true, 5000);
}

/* BX-021, BX-006 */
static void streamed_message_backing_off_keeps_it_as_far_as_the_horizon(void **state) {
    struct fixture *f = *state;
    assert_true(abandon(f, f->owner, take(f, f->owner, enqueue_streamed(f, "s", "p").work_id), 30000));
    assert_nothing_claimable(f);
    assert_drained(f, false, MINUTE_MS);
    assert_drained(f, true, 5000);
}

/* BX-022 */
static void deferred_message_keeps_it_as_far_as_the_horizon(void **state) {
    struct fixture *f = *state;
    assert_true(defer(f, f->owner, take(f, f->owner, enqueue(f, "t", "p").work_id), 30000));
    assert_drained(f, false, MINUTE_MS);
    assert_drained(f, true, 5000);
}

/* BX-005 */
static void message_due_later_does_not_keep_it(void **state) {
    struct fixture *f = *state;
    enqueue_later(f, NULL, HOUR_MS);
    assert_drained(f, true, MINUTE_MS);
    assert_drained(f, false, 2 * HOUR_MS);
    assert_nothing_claimable(f); /* and now that a claim has met it */
    assert_drained(f, true, MINUTE_MS);
    assert_drained(f, false, 2 * HOUR_MS);
}

/* BX-006 */
static void message_behind_a_head_that_is_due_later_does_not_keep_it(void **state) {
    struct fixture *f = *state;
    enqueue_later(f, "s", HOUR_MS);
    enqueue_streamed(f, "s", "behind");
    assert_drained(f, true, MINUTE_MS);
    assert_drained(f, false, 2 * HOUR_MS);
    assert_nothing_claimable(f);
    assert_drained(f, true, MINUTE_MS);
    enqueue_streamed(f, "s", "behind, and new");
    assert_drained(f, true, MINUTE_MS);
    enqueue_streamed(f, "another", "free");
    assert_drained(f, false, MINUTE_MS);
}

/* BX-006, BX-024: its turn comes, since somebody handles the head. */
static void message_behind_another_services_message_keeps_it(void **state) {
    struct fixture *f = *state;
    boxcar_work_id head = enqueue_topic_in_stream(f, "other", "s").work_id;
    boxcar_work_id behind = enqueue_topic_in_stream(f, "t", "s").work_id;
    assert_false(is_drained(f, "t", 0));
    struct taken taken = take(f, f->other, head);
    assert_false(is_drained(f, "t", 0));
    assert_true(ack(f, f->other, taken));
    assert_false(is_drained(f, "t", 0));
    assert_true(ack(f, f->owner, take(f, f->owner, behind)));
    assert_true(is_drained(f, "t", MINUTE_MS));
}

/* BX-024 */
static void messages_of_other_topics_do_not_keep_it(void **state) {
    static const char *const BOTH[] = {"t", "other"};
    struct fixture *f = *state;
    struct taken taken = take(f, f->other, enqueue(f, "other", "leased").work_id);
    enqueue(f, "other", "ready");
    enqueue_topic_in_stream(f, "other", "s");
    for (int parked = 0; parked < 2; parked++) {
        assert_true(is_drained(f, "t", MINUTE_MS));
        assert_true(is_drained(f, "t*", MINUTE_MS));
        assert_true(is_drained(f, "Other", MINUTE_MS));
        assert_true(is_drained(f, "othe", MINUTE_MS));
        assert_false(is_drained(f, "other", 0));
        assert_false(is_drained(f, "oth*", 0));
        assert_false(is_drained_of(f, BOXCAR_OUTBOX, BOTH, 2, 0));
        boxcar_list_free(claim_topic(f, f->owner, 5, "t")); /* moves them aside */
    }
    assert_true(abandon(f, f->other, taken, HOUR_MS));
    assert_false(is_drained(f, "*", 0));
}

/* BX-003 */
static void expired_lease_keeps_it_before_and_after_it_is_found(void **state) {
    struct fixture *f = *state;
    take_for(f, f->owner, enqueue(f, "t", "p").work_id, 100);
    wait_out(f, 100);
    assert_drained(f, false, 0);
    reap_wait(f, 1);
    assert_drained(f, false, 0); /* a suspect now */
}

static void messages_of_the_other_box_do_not_keep_it(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    assert_true(is_drained_of(f, BOXCAR_INBOX, NULL, 0, MINUTE_MS));
}

/* BX-001 */
static void message_keeps_it_from_its_commit_on(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    borrowed_enqueue(f, &b, "p");
    assert_drained(f, true, MINUTE_MS);
    borrowed_exec(&b, "commit");
    assert_drained(f, false, 0);
    borrowed_close(&b);
}

/* BX-001: one that began before others whose messages are done by now. */
static void message_that_commits_late_keeps_it(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip(); /* has one writer at a time */
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    borrowed_enqueue(f, &b, "late");
    for (int i = 0; i < 3; i++)
        assert_true(ack(f, f->owner, take(f, f->owner, enqueue(f, "t", "p").work_id)));
    assert_drained(f, true, MINUTE_MS);
    borrowed_exec(&b, "commit");
    assert_drained(f, false, 0);
    borrowed_close(&b);
}

/* BX-024: more than one look's worth of what others handle. */
static void message_is_found_behind_a_backlog_of_others(void **state) {
    struct fixture *f = *state;
    enqueue_many(f, "other", 3000, NULL);
    assert_true(is_drained(f, "t", MINUTE_MS));
    enqueue(f, "t", "p");
    assert_false(is_drained(f, "t", 0));
    assert_false(is_drained(f, "t*", 0));
}

static const struct CMUnitTest TESTS[] = {
    TEST(empty_store_is_drained),
    TEST(ready_message_keeps_it),
    TEST(leased_message_keeps_it_until_it_is_done),
    TEST(leased_streamed_message_keeps_it_until_it_is_done),
    TEST(dead_message_does_not_keep_it),
    TEST(message_backing_off_keeps_it_as_far_as_the_horizon),
    TEST(streamed_message_backing_off_keeps_it_as_far_as_the_horizon),
    TEST(deferred_message_keeps_it_as_far_as_the_horizon),
    TEST(message_due_later_does_not_keep_it),
    TEST(message_behind_a_head_that_is_due_later_does_not_keep_it),
    TEST(message_behind_another_services_message_keeps_it),
    TEST(messages_of_other_topics_do_not_keep_it),
    TEST(expired_lease_keeps_it_before_and_after_it_is_found),
    TEST(messages_of_the_other_box_do_not_keep_it),
    TEST(message_keeps_it_from_its_commit_on),
    TEST(message_that_commits_late_keeps_it),
    TEST(message_is_found_behind_a_backlog_of_others),
};

const struct suite DRAINED_SUITE = SUITE(TESTS);
