/* Streams that stand still when a message of theirs has died, until somebody decides. */
#include <stdio.h>

#include "log_capture.h"
#include "seam.h"
#include "streams.h"

static void halt_by_default(struct fixture *f) { set_setting(f, "stream_policy", "halt"); }

/* BX-006 */
static void stream_goes_on_by_default(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    enqueue_run(f, "s", 2, ids);
    assert_true(bury(f, f->owner, take(f, f->owner, ids[0]), "no"));
    assert_stream_state(f, "s", BOXCAR_STREAM_READY);
    take(f, f->owner, ids[1]);
}

/* BX-006 */
static void rejected_message_halts_its_stream_and_no_other(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3], other;
    halt_by_default(f);
    enqueue_run(f, "s", 3, ids);
    boxcar_time before = database_now(f);
    assert_true(bury(f, f->owner, take(f, f->owner, ids[0]), "no"));
    assert_nothing_claimable(f);
    boxcar_stream halted = stream_of(f, "s");
    assert_int_equal(halted.state, BOXCAR_STREAM_HALTED);
    assert_int_equal(halted.halted_by.value, ids[0].value);
    assert_in_range(halted.halted_at, before, database_now(f) + 1000);
    assert_int_equal(halted.pending, 2);
    assert_int_equal(halted.head.value, ids[1].value);
    assert_true(halted.available_at == BOXCAR_TIME_NONE);
    other = enqueue_streamed(f, "other", "p").work_id;
    take_run(f, f->owner, &other, 1);
    boxcar_work_id plain = enqueue(f, "t", "p").work_id;
    take(f, f->owner, plain);
}

/* BX-006 */
static void new_messages_pile_up_behind_a_halted_stream_and_count_as_waiting(void **state) {
    struct fixture *f = *state;
    halt_by_default(f);
    assert_true(bury(f, f->owner, take(f, f->owner, enqueue_streamed(f, "s", "p").work_id), "no"));
    boxcar_work_id ids[3];
    enqueue_run(f, "s", 2, ids);
    ids[2] = enqueue_streamed(f, "s", "p").work_id;
    assert_nothing_claimable(f);
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.ready, 0);
    assert_int_equal(stats.waiting, 3);
    assert_int_equal(stats.failed, 1);
    assert_status(f, ids[0], BOXCAR_READY);
    resume(f, "s", false);
    assert_int_equal(stats_of(f).ready, 1);
    take_run(f, f->owner, ids, 3);
}

/* BX-006, BX-003 */
static void exhausted_message_halts_its_stream(void **state) {
    struct fixture *f = *state;
    halt_by_default(f);
    boxcar_work_id first = enqueue_fragile(f, "s", 1), next = enqueue_streamed(f, "s", "p").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, first), 0));
    assert_dead(f, first, BOXCAR_REASON_EXHAUSTED);
    assert_stream_state(f, "s", BOXCAR_STREAM_HALTED);
    assert_nothing_claimable(f);
    resume(f, "s", false);
    take(f, f->owner, next);
}

/* BX-006, BX-003 */
static void message_that_dies_by_its_expired_lease_halts_its_stream(void **state) {
    struct fixture *f = *state;
    halt_by_default(f);
    boxcar_work_id first = enqueue_fragile(f, "s", 1);
    enqueue_streamed(f, "s", "p");
    take_for(f, f->owner, first, BOXCAR_LEASE_MS_MIN);
    reap_wait(f, 1);
    assert_int_equal(stream_of(f, "s").halted_by.value, first.value);
    assert_nothing_claimable(f);
}

/* BX-006, BX-005 */
static void message_whose_time_is_over_halts_its_stream(void **state) {
    struct fixture *f = *state;
    halt_by_default(f);
    boxcar_new_message brief = new_message("t", "p");
    brief.stream = BOXCAR_STR("s");
    brief.ttl_ms = 1;
    boxcar_work_id expired = enqueue_message(f, &brief).work_id;
    enqueue_streamed(f, "s", "p");
    wait_out(f, 2);
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    assert_nothing_claimable(f);
    assert_dead(f, expired, BOXCAR_REASON_EXPIRED);
    assert_int_equal(stream_of(f, "s").halted_by.value, expired.value);
}

/* BX-006: the claim itself meets the message that is too old. */
static void claim_that_buries_a_message_halts_its_stream(void **state) {
    struct fixture *f = *state;
    halt_by_default(f);
    boxcar_new_message brief = new_message("t", "p");
    brief.stream = BOXCAR_STR("s");
    brief.ttl_ms = 1;
    enqueue_message(f, &brief);
    enqueue_streamed(f, "s", "p");
    wait_out(f, 2);
    for (int i = 0; i < 3; i++)
        assert_nothing_claimable(f);
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    assert_stream_state(f, "s", BOXCAR_STREAM_HALTED);
}

/* BX-006, BX-024 */
static void message_without_a_handler_that_dies_halts_its_stream(void **state) {
    struct fixture *f = *state;
    halt_by_default(f);
    assert_true(seam_fail_unhandled(f, take(f, f->owner, enqueue_streamed(f, "s", "p").work_id)));
    assert_stream_state(f, "s", BOXCAR_STREAM_HALTED);
}

/* BX-006, BX-028 */
static void cancelled_message_halts_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    halt_by_default(f);
    enqueue_run(f, "s", 2, ids);
    boxcar_message_ref ref = {.work_id = ids[0]};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    assert_stream_state(f, "s", BOXCAR_STREAM_READY);
    take(f, f->owner, ids[1]);
}

/* BX-006, BX-062 */
static void those_leased_with_the_one_that_died_can_be_settled(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[5];
    halt_by_default(f);
    enqueue_run(f, "s", 4, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 4);
    enqueue_run(f, "s", 1, ids + 4);
    assert_true(bury(f, f->owner, batch.items[0], "no"));
    assert_true(renew(f, f->owner, batch.items[1], 60000));
    assert_true(ack(f, f->owner, batch.items[1]));
    assert_true(abandon(f, f->owner, batch.items[2], 0));
    assert_true(defer(f, f->owner, batch.items[3], 0));
    assert_status(f, ids[1], BOXCAR_DONE);
    assert_nothing_claimable(f);
    assert_int_equal(stream_of(f, "s").head.value, ids[2].value);
    resume(f, "s", false);
    take_run(f, f->owner, ids + 2, 3);
}

/* BX-006 */
static void first_death_is_the_one_that_halted(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    halt_by_default(f);
    enqueue_run(f, "s", 3, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 3);
    assert_true(bury(f, f->owner, batch.items[0], "no"));
    boxcar_time at = stream_of(f, "s").halted_at;
    assert_true(bury(f, f->owner, batch.items[1], "no"));
    assert_int_equal(stream_of(f, "s").halted_by.value, ids[0].value);
    assert_int_equal(stream_of(f, "s").halted_at, at);
    assert_true(ack(f, f->owner, batch.items[2]));
    resume(f, "s", false);
    assert_no_stream(f, "s");
}

/* BX-006 */
static void halted_stream_without_messages_stays_halted(void **state) {
    struct fixture *f = *state;
    halt_by_default(f);
    boxcar_work_id only = enqueue_streamed(f, "s", "p").work_id;
    assert_true(bury(f, f->owner, take(f, f->owner, only), "no"));
    boxcar_stream halted = stream_of(f, "s");
    assert_int_equal(halted.state, BOXCAR_STREAM_HALTED);
    assert_int_equal(halted.pending, 0);
    assert_int_equal(halted.head.value, 0);
    assert_nothing_claimable(f);
    boxcar_work_id next = enqueue_streamed(f, "s", "p").work_id;
    assert_nothing_claimable(f);
    resume(f, "s", false);
    take(f, f->owner, next);
}

/* BX-006 */
static void resuming_with_replay_begins_with_the_one_that_died(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    halt_by_default(f);
    enqueue_run(f, "s", 3, ids);
    assert_true(bury(f, f->owner, take(f, f->owner, ids[0]), "no"));
    resume(f, "s", true);
    struct batch_taken batch = take_run(f, f->owner, ids, 3);
    assert_int_equal(batch.items[0].retry_count, 0);
    assert_int_equal(ack_batch(f, f->owner, &batch), 3);
    assert_int_equal(stats_of(f).failed, 0);
    assert_no_stream(f, "s");
}

static void replay_dead(struct fixture *f, boxcar_work_id id) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_message_ref ref = {.work_id = id};
    int64_t count = 0;
    filter.refs = &ref;
    filter.ref_count = 1;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 1);
}

/* BX-006, BX-025 */
static void replay_of_the_dead_letter_that_halted_a_stream_resumes_it(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    halt_by_default(f);
    enqueue_run(f, "s", 2, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 2);
    enqueue_run(f, "s", 1, ids + 2);
    assert_true(bury(f, f->owner, batch.items[0], "no"));
    assert_true(bury(f, f->owner, batch.items[1], "no"));
    replay_dead(f, ids[1]); /* not this one */
    assert_stream_state(f, "s", BOXCAR_STREAM_HALTED);
    assert_nothing_claimable(f);
    replay_dead(f, ids[0]);
    take_run(f, f->owner, ids, 3);
}

/* BX-006, BX-026 */
static void purging_the_dead_letter_resumes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2];
    halt_by_default(f);
    enqueue_run(f, "s", 2, ids);
    assert_true(bury(f, f->owner, take(f, f->owner, ids[0]), "no"));
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_purge(f->store, &filter, &count, &f->err));
    assert_int_equal(count, 1);
    assert_nothing_claimable(f);
    assert_int_equal(stream_of(f, "s").halted_by.value, ids[0].value);
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_stream_resume(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), true, &f->err));
    assert_stream_state(f, "s", BOXCAR_STREAM_HALTED);
    resume(f, "s", false);
    take(f, f->owner, ids[1]);
}

/* BX-006 */
static void skipping_a_halted_stream_resumes_it_and_names_what_halted_it(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2], skipped = {0};
    halt_by_default(f);
    enqueue_run(f, "s", 2, ids);
    assert_true(bury(f, f->owner, take(f, f->owner, ids[0]), "no"));
    ASSERT_OK(f, boxcar_stream_skip(f->store, BOXCAR_OUTBOX, BOXCAR_STR("s"), &skipped, &f->err));
    assert_int_equal(skipped.value, ids[0].value);
    assert_dead(f, ids[0], BOXCAR_REASON_REJECTED);
    take(f, f->owner, ids[1]);
}

static void assert_halts(struct fixture *f, const char *stream, bool wanted) {
    assert_true(bury(f, f->owner, take(f, f->owner, enqueue_streamed(f, stream, "p").work_id), "no"));
    if (wanted)
        assert_stream_state(f, stream, BOXCAR_STREAM_HALTED);
    else
        assert_no_stream(f, stream);
}

/* BX-006 */
static void longest_rule_decides_before_the_setting(void **state) {
    struct fixture *f = *state;
    set_rule(f, "order-*", BOXCAR_STREAM_HALT);
    set_rule(f, "order-test-*", BOXCAR_STREAM_CONTINUE);
    set_rule(f, "order-test-7", BOXCAR_STREAM_HALT);
    assert_halts(f, "customer", false);
    assert_halts(f, "order-1", true);
    assert_halts(f, "order-test-1", false);
    assert_halts(f, "order-test-7", true);
    assert_halts(f, "order", false);
    halt_by_default(f);
    assert_halts(f, "customer-2", true);
    assert_halts(f, "order-test-2", false);
    set_rule(f, "*", BOXCAR_STREAM_CONTINUE);
    assert_halts(f, "customer-3", false);
}

/* BX-006: a policy is looked up when a message dies, and a change of it resumes nothing. */
static void changed_policy_leaves_halted_streams_alone(void **state) {
    struct fixture *f = *state;
    set_rule(f, "s", BOXCAR_STREAM_HALT);
    assert_halts(f, "s", true);
    ASSERT_OK(f, boxcar_stream_rule_write(f->store, BOXCAR_STR("s"), BOXCAR_STREAM_DEFAULT, &f->err));
    assert_stream_state(f, "s", BOXCAR_STREAM_HALTED);
    enqueue_streamed(f, "s", "p");
    assert_nothing_claimable(f);
    resume(f, "s", false);
    assert_true(bury(f, f->owner, take(f, f->owner, stream_of(f, "s").head), "no"));
    assert_no_stream(f, "s");
}

/* BX-006: a worker that is to stop when nothing is left stops. */
static void halted_stream_keeps_nobody_from_being_drained(void **state) {
    struct fixture *f = *state;
    boxcar_str topic = BOXCAR_STR("t");
    bool drained = false;
    halt_by_default(f);
    enqueue_run(f, "s", 3, NULL);
    struct batch_taken batch = claim_batch(f, f->owner, 1);
    assert_true(bury(f, f->owner, batch.items[0], "no"));
    ASSERT_OK(f, seam_is_drained(f->store, BOXCAR_OUTBOX, &topic, 1, HOUR, &drained, &f->err));
    assert_true(drained);
    resume(f, "s", false);
    ASSERT_OK(f, seam_is_drained(f->store, BOXCAR_OUTBOX, &topic, 1, HOUR, &drained, &f->err));
    assert_false(drained);
}

/* BX-006 */
static void messages_of_a_halted_stream_can_be_cancelled_and_expire(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    halt_by_default(f);
    enqueue_run(f, "s", 3, ids);
    assert_true(bury(f, f->owner, take(f, f->owner, ids[0]), "no"));
    boxcar_message_ref ref = {.work_id = ids[1]};
    ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
    boxcar_new_message brief = new_message("t", "p");
    brief.stream = BOXCAR_STR("s");
    brief.ttl_ms = 1;
    boxcar_work_id expired = enqueue_message(f, &brief).work_id;
    wait_out(f, 2);
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    assert_nothing_claimable(f); /* the claim has seen it */
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    assert_dead(f, expired, BOXCAR_REASON_EXPIRED);
    assert_int_equal(stream_of(f, "s").halted_by.value, ids[0].value);
    assert_int_equal(stream_of(f, "s").pending, 1);
    resume(f, "s", false);
    take(f, f->owner, ids[2]);
}

/* BX-006 */
static void halt_is_logged_as_a_warning(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    boxcar_work_id ids[2];
    char id[32];
    halt_by_default(f);
    log_capture_reopen(captured, f);
    enqueue_run(f, "s", 2, ids);
    struct batch_taken batch = take_run(f, f->owner, ids, 2);
    assert_true(bury(f, f->owner, batch.items[0], "no"));
    assert_true(bury(f, f->owner, batch.items[1], "no"));
    snprintf(id, sizeof(id), "work_id=%lld ", (long long)ids[0].value);
    assert_true(log_capture_has(captured, "warn stream_halt ", " stream=s ", id, " box=outbox "));
    snprintf(id, sizeof(id), "work_id=%lld ", (long long)ids[1].value);
    assert_false(log_capture_has(captured, "warn stream_halt ", id, NULL, NULL));
    boxcar_store_close(f->store);
    f->store = NULL;
    log_capture_free(captured);
}

/* BX-006 */
static void halt_that_upkeep_causes_is_logged_as_a_warning(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    boxcar_new_message brief = new_message("t", "p");
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    char id[32];
    halt_by_default(f);
    log_capture_reopen(captured, f);
    brief.stream = BOXCAR_STR("a stream");
    brief.ttl_ms = 1;
    boxcar_work_id unmet = enqueue_message(f, &brief).work_id;
    wait_out(f, 2);
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    assert_dead(f, unmet, BOXCAR_REASON_EXPIRED);
    snprintf(id, sizeof(id), "work_id=%lld ", (long long)unmet.value);
    assert_true(log_capture_has(captured, "warn stream_halt ", " stream=a stream ", id, " box=outbox "));
    boxcar_store_close(f->store);
    f->store = NULL;
    log_capture_free(captured);
}

static const struct CMUnitTest TESTS[] = {
    TEST(stream_goes_on_by_default),
    TEST(rejected_message_halts_its_stream_and_no_other),
    TEST(new_messages_pile_up_behind_a_halted_stream_and_count_as_waiting),
    TEST(exhausted_message_halts_its_stream),
    TEST(message_that_dies_by_its_expired_lease_halts_its_stream),
    TEST(message_whose_time_is_over_halts_its_stream),
    TEST(claim_that_buries_a_message_halts_its_stream),
    TEST(message_without_a_handler_that_dies_halts_its_stream),
    TEST(cancelled_message_halts_nothing),
    TEST(those_leased_with_the_one_that_died_can_be_settled),
    TEST(first_death_is_the_one_that_halted),
    TEST(halted_stream_without_messages_stays_halted),
    TEST(resuming_with_replay_begins_with_the_one_that_died),
    TEST(replay_of_the_dead_letter_that_halted_a_stream_resumes_it),
    TEST(purging_the_dead_letter_resumes_nothing),
    TEST(skipping_a_halted_stream_resumes_it_and_names_what_halted_it),
    TEST(longest_rule_decides_before_the_setting),
    TEST(changed_policy_leaves_halted_streams_alone),
    TEST(halted_stream_keeps_nobody_from_being_drained),
    TEST(messages_of_a_halted_stream_can_be_cancelled_and_expire),
    TEST(halt_is_logged_as_a_warning),
    TEST(halt_that_upkeep_causes_is_logged_as_a_warning),
};

const struct suite STREAM_HALT_SUITE = SUITE(TESTS);
