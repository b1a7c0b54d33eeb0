/* Joins in the caller's own transaction: what happens there happens together, or not at all. */
#include "borrow.h"
#include "joins.h"

/* Everything below goes through the borrowed store between these two; what others see, through the own. */
static boxcar_store *use_borrowed(struct fixture *f, struct borrowed *b) {
    boxcar_store *own = f->store;
    f->store = b->store;
    borrowed_exec(b, "begin");
    return own;
}

static void end_borrowed(struct fixture *f, struct borrowed *b, boxcar_store *own, bool commit) {
    assert_true(borrowed_in_transaction(b));
    borrowed_exec(b, commit ? "commit" : "rollback");
    f->store = own;
}

typedef bool (*step_fn)(struct fixture *f, boxcar_join_id id, struct taken taken);

static bool do_ack(struct fixture *f, boxcar_join_id id, struct taken taken) {
    (void)id;
    return ack(f, f->owner, taken);
}

static bool do_fail(struct fixture *f, boxcar_join_id id, struct taken taken) {
    (void)id;
    return bury(f, f->owner, taken, "no");
}

static bool do_last_abandon(struct fixture *f, boxcar_join_id id, struct taken taken) {
    (void)id;
    return abandon(f, f->owner, taken, 0);
}

static bool do_cancel(struct fixture *f, boxcar_join_id id, struct taken taken) {
    (void)id;
    return defer(f, f->owner, taken, 3600000) && cancel_message(f, taken.work_id) == BOXCAR_OK;
}

static bool do_report(struct fixture *f, boxcar_join_id id, struct taken taken) {
    boxcar_message_list *list = find(f, taken.work_id);
    bool counted = report(f, id, look(list)->message_id, BOXCAR_MEMBER_FAILED);
    boxcar_list_free(list);
    return counted;
}

/* A step of a join of two, done once and taken back, then done again and kept. */
static void counted_together(struct fixture *f, step_fn do_step, bool completes) {
    boxcar_join_id id = start_join(f, 2);
    boxcar_new_message message = new_message(STEP, "p");
    message.join_id = id;
    message.max_attempts = 1;
    struct taken taken = take_topic(f, f->owner, STEP, enqueue_message(f, &message).work_id);
    struct borrowed b = borrow(f);
    for (int commit = 0; commit < 2; commit++) {
        boxcar_store *own = use_borrowed(f, &b);
        assert_true(do_step(f, id, taken));
        assert_join(f, id, BOXCAR_JOIN_PENDING, completes, !completes);
        f->store = own;
        assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0); /* for everyone else */
        f->store = b.store;
        end_borrowed(f, &b, own, commit);
        assert_join(f, id, BOXCAR_JOIN_PENDING, commit && completes, commit && !completes);
        if (!commit)
            assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    }
    borrowed_close(&b);
}

/* OBX-034, JOIN-032 */
static void ack_and_its_step_commit_together(void **state) { counted_together(*state, do_ack, true); }

/* OBX-047, JOIN-032 */
static void fail_and_its_step_commit_together(void **state) { counted_together(*state, do_fail, false); }

/* JOIN-032 */
static void last_abandon_and_its_step_commit_together(void **state) {
    counted_together(*state, do_last_abandon, false);
}

/* JOIN-032 */
static void cancelled_message_and_its_step_commit_together(void **state) {
    counted_together(*state, do_cancel, false);
}

/* JOIN-024 */
static void report_changes_member_and_counter_together(void **state) {
    counted_together(*state, do_report, false);
}

/* BX-041, JOIN-032 */
static void last_ack_and_the_end_of_the_join_commit_together(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    struct taken taken = take_step(f, id);
    boxcar_enqueued wait = enqueue_wait(f, id);
    assert_int_equal(evaluate(f, wait), WAIT_DEFERRED);
    boxcar_time deferred_to = available_at_of(f, wait.work_id);
    struct borrowed b = borrow(f);
    for (int commit = 0; commit < 2; commit++) {
        boxcar_store *own = use_borrowed(f, &b);
        assert_true(ack(f, f->owner, taken));
        end_borrowed(f, &b, own, commit);
        assert_join(f, id, commit ? BOXCAR_JOIN_COMPLETED : BOXCAR_JOIN_PENDING, commit, 0);
        assert_true((available_at_of(f, wait.work_id) == deferred_to) == !commit);
    }
    assert_int_equal(evaluate(f, wait), WAIT_COMPLETED);
    borrowed_close(&b);
}

/* Design section 6: start, fill and wait in the transaction of the order they belong to. */
static void whole_fan_out_commits_or_rolls_back_together(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    for (int commit = 0; commit < 2; commit++) {
        boxcar_store *own = use_borrowed(f, &b);
        boxcar_join_id id = start_join(f, 2);
        boxcar_enqueued step = enqueue_step(f, id), other = enqueue(f, STEP, "p");
        assert_true(attach(f, id, other.message_id).is_new);
        boxcar_enqueued wait = enqueue_wait(f, id);
        borrowed_write_effect(f, &b);
        f->store = own;
        assert_no_join(f, id);
        f->store = b.store;
        end_borrowed(f, &b, own, commit);
        assert_int_equal(count_effects(f), commit);
        if (!commit) {
            assert_no_join(f, id);
            assert_nothing_claimable(f);
            continue;
        }
        assert_true(ack(f, f->owner, take_topic(f, f->owner, STEP, step.work_id)));
        assert_true(ack(f, f->owner, take_topic(f, f->owner, STEP, other.work_id)));
        assert_join(f, id, BOXCAR_JOIN_COMPLETED, 2, 0);
        assert_int_equal(evaluate(f, wait), WAIT_COMPLETED);
    }
    borrowed_close(&b);
}

/* BX-046, JOIN-062 */
static void cancelled_join_is_pending_again_after_a_rollback(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    struct borrowed b = borrow(f);
    for (int commit = 0; commit < 2; commit++) {
        boxcar_store *own = use_borrowed(f, &b);
        ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
        end_borrowed(f, &b, own, commit);
        assert_join(f, id, commit ? BOXCAR_JOIN_CANCELLED : BOXCAR_JOIN_PENDING, 0, 0);
    }
    borrowed_close(&b);
}

/* A refusal that needs no rollback leaves the transaction as it was. */
static void refused_call_changes_nothing_that_was_done_before_it(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    struct taken taken = take_step(f, id);
    struct borrowed b = borrow(f);
    boxcar_store *own = use_borrowed(f, &b);
    assert_true(ack(f, f->owner, taken));
    boxcar_new_join bad = new_join(0);
    boxcar_join_id none;
    ASSERT_INVALID(f, "expected_steps", boxcar_join_start(f->store, &bad, &none, &f->err));
    assert_false(f->err.must_roll_back);
    end_borrowed(f, &b, own, true);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 0);
    own = use_borrowed(f, &b);
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_cancel(f->store, unknown_join(), &f->err));
    if (!f->err.must_roll_back)
        ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    bool cancelled = !f->err.must_roll_back;
    borrowed_exec(&b, cancelled ? "commit" : "rollback");
    f->store = own;
    assert_join(f, id, cancelled ? BOXCAR_JOIN_CANCELLED : BOXCAR_JOIN_PENDING, 1, 0);
    borrowed_close(&b);
}

static const struct CMUnitTest TESTS[] = {
    TEST(ack_and_its_step_commit_together),
    TEST(fail_and_its_step_commit_together),
    TEST(last_abandon_and_its_step_commit_together),
    TEST(cancelled_message_and_its_step_commit_together),
    TEST(report_changes_member_and_counter_together),
    TEST(last_ack_and_the_end_of_the_join_commit_together),
    TEST(whole_fan_out_commits_or_rolls_back_together),
    TEST(cancelled_join_is_pending_again_after_a_rollback),
    TEST(refused_call_changes_nothing_that_was_done_before_it),
};

const struct suite JOIN_TRANSACTION_SUITE = SUITE(TESTS);
