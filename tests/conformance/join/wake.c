/* Waits over time: they wait without spending attempts, wake when the join ends, however it ends, and turn
 * into their continuation in one transaction. */
#include <string.h>

#include "joins.h"
#include "runner.h"
#include "seam.h"

static void assert_waiting(struct fixture *f, boxcar_enqueued wait) {
    boxcar_message_list *list = find(f, wait.work_id);
    assert_string_equal(boxcar_message_status_name(look(list)->status), "ready");
    assert_int_equal(look(list)->retry_count, 0);
    assert_int_equal(look(list)->crash_count, 0);
    boxcar_list_free(list);
}

/* JOIN-053, OBX-090, OBX-091, BX-044 */
static void wait_for_a_pending_join_is_put_off_and_spends_no_attempt(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    boxcar_enqueued wait = enqueue_wait(f, id);
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_int_equal(evaluate(f, wait), WAIT_DEFERRED);
    assert_waiting(f, wait);
    assert_no_continuation(f, wait);
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_int_equal(evaluate(f, wait), WAIT_COMPLETED);
    assert_status(f, wait.work_id, BOXCAR_DONE);
}

/* Claims the wait, and nothing else, by its topic, as soon as it is due. */
static struct taken take_when_due(struct fixture *f, boxcar_owner owner, boxcar_work_id wanted,
                                  int64_t lease_ms) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_str topic = BOXCAR_STR(WAIT);
    boxcar_message_list *list = NULL;
    options.owner = owner;
    options.lease_ms = lease_ms;
    options.topics = &topic;
    options.topic_count = 1;
    for (int i = 0; i < 5000 && (!list || list->count == 0); i++) {
        boxcar_list_free(list);
        ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
        pause_ms(1);
    }
    assert_int_equal(list->count, 1);
    const boxcar_message *m = list->items[0];
    struct taken taken = {m->work_id, m->epoch, m->retry_count, m->crash_count};
    assert_int_equal(taken.work_id.value, wanted.value);
    boxcar_list_free(list);
    return taken;
}

/* BX-044: by hand with a single attempt, so that spending one would be the end of it. */
static void wait_with_one_attempt_outlives_its_evaluations(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued template = enqueue_wait(f, id);
    boxcar_message_list *list = find(f, template.work_id);
    boxcar_new_message message = new_message(WAIT, NULL);
    message.payload = look(list)->payload;
    message.max_attempts = 1;
    boxcar_enqueued wait = enqueue_message(f, &message);
    boxcar_list_free(list);
    ASSERT_OK(f, cancel_message(f, template.work_id));
    for (int i = 0; i < 2; i++) {
        struct taken taken = take_when_due(f, f->owner, wait.work_id, 30000);
        assert_int_equal(taken.retry_count, 0);
        assert_int_equal(resolve(f, taken), WAIT_DEFERRED);
        assert_waiting(f, wait);
    }
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    assert_int_equal(evaluate(f, wait), WAIT_FAILED);
}

/* BX-044: hundred times the budget. Cancelling the wait shows what it has spent, replaying makes it due. */
static void evaluations_spend_nothing_however_many_they_are(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued wait = enqueue_wait(f, id);
    boxcar_message_ref ref = {.work_id = wait.work_id};
    boxcar_dead_filter only = BOXCAR_DEAD_FILTER_INIT;
    only.refs = &ref;
    only.ref_count = 1;
    set_setting(f, "max_attempts", "1");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(evaluate(f, wait), WAIT_DEFERRED);
        ASSERT_OK(f, cancel_message(f, wait.work_id));
        assert_dead(f, wait.work_id, BOXCAR_REASON_CANCELLED);
        assert_int_equal(retry_count_of(f, wait.work_id), 0);
        ASSERT_OK(f, boxcar_dead_replay(f->store, &only, BOXCAR_NO_STR, NULL, &f->err));
    }
    assert_int_equal(evaluate(f, wait), WAIT_DEFERRED);
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_int_equal(evaluate(f, wait), WAIT_COMPLETED); /* woken although it had been dead */
}

/* BX-003, BX-044: crashes around a wait do not wear it out. */
static void wait_outlives_the_attempts_of_the_store(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    set_setting(f, "max_attempts", "1");
    boxcar_enqueued wait = enqueue_wait(f, id);
    for (int i = 0; i < 2; i++) {
        take_when_due(f, f->owner, wait.work_id, BOXCAR_LEASE_MS_MIN);
        reap_wait(f, 1);
    }
    assert_status(f, wait.work_id, BOXCAR_READY);
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    assert_int_equal(evaluate(f, wait), WAIT_FAILED);
}

/* How a join of one step ends. */
enum end { BY_ACK, BY_FAIL, BY_MESSAGE_CANCEL, BY_REPORT, BY_CANCEL, BY_TIME, BY_SETTLING, ENDS };

static void end_join(struct fixture *f, boxcar_join_id id, boxcar_enqueued step, enum end end) {
    if (end == BY_ACK)
        assert_true(ack(f, f->owner, take_topic(f, f->owner, STEP, step.work_id)));
    else if (end == BY_FAIL)
        assert_true(bury(f, f->owner, take_topic(f, f->owner, STEP, step.work_id), "no"));
    else if (end == BY_MESSAGE_CANCEL)
        ASSERT_OK(f, cancel_message(f, step.work_id));
    else if (end == BY_REPORT)
        assert_true(report(f, id, step.message_id, BOXCAR_MEMBER_COMPLETED));
    else if (end == BY_CANCEL)
        ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    else if (end == BY_TIME)
        make_overdue(f);
    else
        attach(f, id, enqueue_ended(f, false).message_id);
    if (end == BY_TIME || end == BY_SETTLING)
        maintain_joins(f);
}

/* BX-044, BX-045, BX-046: in the transaction that ends the join, whatever ends it. */
static void end_of_the_join_evaluates_all_its_waits(void **state) {
    struct fixture *f = *state;
    for (enum end end = 0; end < ENDS; end++) {
        boxcar_new_join new = new_join(1);
        new.deadline_ms = end == BY_TIME ? 3600000 : 0;
        boxcar_join_id id = start_this(f, &new), other = start_join(f, 1);
        boxcar_enqueued step = enqueue_step(f, id);
        boxcar_enqueued waits[3] = {enqueue_wait(f, id), enqueue_wait(f, other), enqueue_wait(f, id)};
        for (int i = 0; i < 3; i++)
            assert_int_equal(evaluate(f, waits[i]), WAIT_DEFERRED);
        boxcar_time put_off = available_at_of(f, waits[1].work_id);
        end_join(f, id, step, end);
        bool completes = end == BY_ACK || end == BY_REPORT || end == BY_SETTLING;
        assert_true(available_at_of(f, waits[1].work_id) >= put_off); /* of a join that is open */
        for (int i = 0; i < 3; i += 2) {
            assert_status(f, waits[i].work_id, BOXCAR_DONE);
            assert_continuation(f, waits[i], completes ? "completed" : "failed", completes ? "yes" : "no");
        }
        ASSERT_OK(f, cancel_message(f, waits[1].work_id));
        boxcar_list_free(claim_topic(f, f->other, 100, STEP));
    }
}

/* BX-046, BX-040 */
static void deadline_and_cancel_take_the_failure_path_whatever_the_flag(void **state) {
    struct fixture *f = *state;
    for (int cancel = 0; cancel < 2; cancel++)
        for (int allow_failures = 0; allow_failures < 2; allow_failures++) {
            boxcar_new_join new = new_join(2);
            new.deadline_ms = 3600000;
            boxcar_join_id id = start_this(f, &new);
            boxcar_new_wait wait = new_wait(id);
            wait.allow_failures = allow_failures;
            boxcar_enqueued spoken = enqueue_this_wait(f, &wait);
            wait.on_fail_topic = BOXCAR_NO_STR;
            boxcar_enqueued silent = enqueue_this_wait(f, &wait);
            assert_true(ack(f, f->owner, take_step(f, id)));
            if (cancel)
                ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
            else
                make_overdue(f);
            assert_int_equal(evaluate(f, spoken), WAIT_FAILED);
            assert_int_equal(evaluate(f, silent), WAIT_SILENT);
            assert_continuation(f, spoken, "failed", "no");
            assert_no_continuation(f, silent);
            if (cancel)
                assert_join(f, id, BOXCAR_JOIN_CANCELLED, 1, 0);
            else
                assert_timed_out(f, id, 1, 0);
        }
}

/* BX-046: by the first operation that changes it, but not by one that only looks. */
static void join_past_its_deadline_times_out_by_the_next_touch(void **state) {
    struct fixture *f = *state;
    for (int touch = 0; touch < 4; touch++) {
        boxcar_new_join new = new_join(1);
        new.deadline_ms = 3600000;
        boxcar_join_id id = start_this(f, &new);
        boxcar_enqueued step = enqueue_step(f, id);
        struct taken taken = take_topic(f, f->owner, STEP, step.work_id);
        make_overdue(f);
        assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
        if (touch == 0)
            assert_int_equal(maintain_joins(f).timed_out, 1);
        else if (touch == 1)
            assert_true(ack(f, f->owner, taken)); /* too late to count */
        else if (touch == 2)
            assert_true(bury(f, f->owner, taken, "no"));
        else
            assert_int_equal(evaluate(f, enqueue_wait(f, id)), WAIT_FAILED);
        assert_timed_out(f, id, 0, 0);
        assert_member(f, id, step.message_id, BOXCAR_MEMBER_PENDING);
        ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_join_cancel(f->store, id, &f->err));
    }
}

/* BX-046, JOIN-020 */
static void report_after_the_deadline_does_not_count(void **state) {
    struct fixture *f = *state;
    boxcar_new_join new = new_join(1);
    new.deadline_ms = 3600000;
    boxcar_join_id id = start_this(f, &new);
    boxcar_message_id step = {boxcar_uuid_new()};
    attach(f, id, step);
    make_overdue(f);
    bool counted = false;
    boxcar_status status = boxcar_join_report(f->store, id, step, BOXCAR_MEMBER_COMPLETED, &counted, &f->err);
    assert_true(status == BOXCAR_E_CONFLICT || (status == BOXCAR_OK && !counted));
    maintain_joins(f);
    assert_timed_out(f, id, 0, 0);
}

/* BX-046, BX-044: no step, no maintenance, no other event: the waiting worker notices by itself. */
static void worker_takes_the_failure_path_when_the_deadline_comes(void **state) {
    struct fixture *f = *state;
    boxcar_new_join new = new_join(1);
    new.deadline_ms = 400;
    boxcar_join_id id = start_this(f, &new);
    boxcar_enqueued wait = enqueue_wait(f, id);
    struct runner *runner = runner_new(f);
    runner->options.drain = false;
    runner->options.maintain_ms = 0;
    runner_handle(runner, "failed");
    runner_start(runner);
    runner_await(runner, "failed", 1);
    runner_stop(runner);
    assert_timed_out(f, id, 0, 0);
    assert_status(f, wait.work_id, BOXCAR_DONE);
    runner_free(runner);
}

/* BX-045, JOIN-056 */
static void ack_of_the_wait_and_its_continuation_commit_together(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued wait = enqueue_wait(f, id);
    struct taken taken = take_topic(f, f->owner, WAIT, wait.work_id);
    assert_true(ack(f, f->owner, take_step(f, id))); /* the wait is in our hands */
    boxcar_store *hand = fixture_open(f);
    for (int commit = 0; commit < 2; commit++) {
        ASSERT_OK(f, seam_begin(hand, &f->err));
        assert_int_equal(resolve_in(f, hand, taken), WAIT_COMPLETED);
        assert_no_continuation(f, wait); /* not for others */
        assert_status(f, wait.work_id, BOXCAR_IN_PROGRESS);
        if (commit)
            ASSERT_OK(f, seam_commit(hand, &f->err));
        else
            seam_roll_back(hand);
        assert_status(f, wait.work_id, commit ? BOXCAR_DONE : BOXCAR_IN_PROGRESS);
    }
    assert_continuation(f, wait, "completed", "yes");
    boxcar_store_close(hand);
}

/* BX-002, BX-045 */
static void evaluation_without_the_lease_does_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued wait = enqueue_wait(f, id);
    struct taken lost = take_when_due(f, f->owner, wait.work_id, BOXCAR_LEASE_MS_MIN);
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err)); /* passes it over */
    reap_wait(f, 1);
    assert_int_equal(resolve(f, lost), WAIT_LOST);
    struct taken taken = take_when_due(f, f->other, wait.work_id, 30000);
    assert_int_equal(resolve(f, lost), WAIT_LOST);
    assert_int_equal(resolve(f, taken), WAIT_LOST); /* f->owner does not hold it */
    assert_no_continuation(f, wait);
    assert_status(f, wait.work_id, BOXCAR_IN_PROGRESS);
    assert_true(defer(f, f->other, taken, 0));
    assert_int_equal(evaluate(f, wait), WAIT_FAILED);
    assert_int_equal(resolve(f, taken), WAIT_LOST);
}

/* BX-045: an evaluation whose first run is in the store already, as after a repeated delivery. */
static void repeated_run_enqueues_one_continuation(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued wait = enqueue_wait(f, id);
    boxcar_new_message first = new_message("failed", "the first run");
    first.message_id = boxcar_join_continuation_id(wait.message_id);
    boxcar_work_id continuation = enqueue_message(f, &first).work_id;
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    assert_int_equal(evaluate(f, wait), WAIT_FAILED);
    assert_status(f, wait.work_id, BOXCAR_DONE);
    assert_continuation(f, wait, "failed", "the first run");
    assert_true(ack(f, f->owner, take(f, f->owner, continuation)));
    assert_nothing_claimable(f);
}

/* Design section 7, BX-044 */
static void drain_does_not_wait_for_open_joins(void **state) {
    struct fixture *f = *state;
    boxcar_join_id open = start_join(f, 1), ending = start_join(f, 1);
    boxcar_enqueued waiting = enqueue_wait(f, open), ended = enqueue_wait(f, ending);
    enqueue_step(f, ending);
    struct runner *runner = runner_new(f);
    runner_handle(runner, STEP);
    runner_handle(runner, "completed");
    runner_drain(runner);
    assert_int_equal(runner_count(runner, "completed"), 1);
    assert_status(f, ended.work_id, BOXCAR_DONE);
    assert_waiting(f, waiting);
    assert_join(f, open, BOXCAR_JOIN_PENDING, 0, 0);
    runner_free(runner);
}

/* BX-007, JOIN-060: fifteen joins, two waits each, two workers. */
static void two_workers_bring_every_continuation_once(void **state) {
    struct fixture *f = *state;
    enum { JOINS = 15, STEPS = 4 };
    struct runner *runners[2] = {runner_new(f), runner_new(f)};
    for (int i = 0; i < 2; i++) {
        runners[i]->options.drain = false;
        runner_handle(runners[i], STEP);
        runner_handle(runners[i], "completed");
        runner_start(runners[i]);
    }
    for (int i = 0; i < JOINS; i++) {
        boxcar_join_id id = start_join(f, STEPS);
        enqueue_wait(f, id);
        for (int k = 0; k < STEPS; k++)
            enqueue_step(f, id);
        enqueue_wait(f, id);
    }
    size_t count = 0;
    for (int i = 0; i < 4000 && count < 2 * JOINS; i++) {
        count = runner_count(runners[0], "completed") + runner_count(runners[1], "completed");
        pause_ms(5);
    }
    for (int i = 0; i < 2; i++)
        runner_stop(runners[i]);
    count = runner_count(runners[0], "completed") + runner_count(runners[1], "completed");
    assert_int_equal(count, 2 * JOINS);
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.done, JOINS * (STEPS + 4));
    assert_int_equal(stats.failed + stats.ready + stats.waiting, 0);
    for (int i = 0; i < 2; i++)
        runner_free(runners[i]);
}

static const struct CMUnitTest TESTS[] = {
    TEST(wait_for_a_pending_join_is_put_off_and_spends_no_attempt),
    TEST(wait_with_one_attempt_outlives_its_evaluations),
    TEST(evaluations_spend_nothing_however_many_they_are),
    TEST(wait_outlives_the_attempts_of_the_store),
    TEST(end_of_the_join_evaluates_all_its_waits),
    TEST(deadline_and_cancel_take_the_failure_path_whatever_the_flag),
    TEST(join_past_its_deadline_times_out_by_the_next_touch),
    TEST(report_after_the_deadline_does_not_count),
    TEST(worker_takes_the_failure_path_when_the_deadline_comes),
    TEST(ack_of_the_wait_and_its_continuation_commit_together),
    TEST(evaluation_without_the_lease_does_nothing),
    TEST(repeated_run_enqueues_one_continuation),
    TEST(drain_does_not_wait_for_open_joins),
    TEST(two_workers_bring_every_continuation_once),
};

const struct suite JOIN_WAKE_SUITE = SUITE(TESTS);
