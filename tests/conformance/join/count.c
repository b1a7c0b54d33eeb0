/* What counts in a join: each end of a message once, in the transaction in which it ends. */
#include "borrow.h"
#include "joins.h"
#include "log_capture.h"
#include "seam.h"

/* JOIN-030, OBX-033, OBX-089 */
static void ack_counts_a_completed_step(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 0);
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 2, 0);
}

/* JOIN-031, OBX-046, OBX-089 */
static void fail_counts_a_failed_step(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    assert_true(bury(f, f->owner, take_step(f, id), "no"));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 1);
    assert_true(bury(f, f->owner, take_step(f, id), "no"));
    assert_join(f, id, BOXCAR_JOIN_FAILED, 0, 2);
}

/* JOIN-040, JOIN-041, OBX-092: one failure is enough, whatever its place; the last step ends the join. */
static void status_follows_the_counters(void **state) {
    struct fixture *f = *state;
    for (int failing = 0; failing <= 3; failing++) { /* 3 = none */
        boxcar_join_id id = start_join(f, 3);
        struct taken taken[3];
        take_steps(f, id, taken, 3);
        for (int i = 0; i < 3; i++) {
            assert_join(f, id, BOXCAR_JOIN_PENDING, i - (i > failing), i > failing);
            assert_true(i == failing ? bury(f, f->owner, taken[i], "no") : ack(f, f->owner, taken[i]));
        }
        assert_join(f, id, failing < 3 ? BOXCAR_JOIN_FAILED : BOXCAR_JOIN_COMPLETED, 3 - (failing < 3),
                    failing < 3);
    }
}

/* ---- every way in which a message dies ---- */

static void die_by_fail(struct fixture *f, boxcar_work_id id) {
    assert_true(bury(f, f->owner, take(f, f->owner, id), "no"));
}

static void die_by_last_abandon(struct fixture *f, boxcar_work_id id) {
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
}

static void lose_lease(struct fixture *f, boxcar_work_id id) {
    take_for(f, f->owner, id, BOXCAR_LEASE_MS_MIN);
    wait_out(f, BOXCAR_LEASE_MS_MIN);
}

static void die_by_lease_found_by_reap(struct fixture *f, boxcar_work_id id) {
    lose_lease(f, id);
    reap(f);
}

static void die_by_lease_found_by_claim(struct fixture *f, boxcar_work_id id) {
    lose_lease(f, id);
    assert_nothing_claimable(f);
}

static void die_by_lease_found_by_maintenance(struct fixture *f, boxcar_work_id id) {
    lose_lease(f, id);
    maintain_joins(f);
}

static bool is_failed(struct fixture *f, boxcar_work_id id) {
    boxcar_message_list *list = find(f, id);
    bool failed = look(list)->status == BOXCAR_FAILED;
    boxcar_list_free(list);
    return failed;
}

static void expire_found_by_claim(struct fixture *f, boxcar_work_id id) {
    wait_out(f, 100);
    for (int i = 0; i < 300 && !is_failed(f, id); i++) { /* claims do not look for them every time */
        assert_nothing_claimable(f);
        pause_ms(10);
    }
}

static void expire_found_by_maintenance(struct fixture *f, boxcar_work_id id) {
    (void)id;
    wait_out(f, 100);
    maintain_joins(f);
}

static void die_by_cancel(struct fixture *f, boxcar_work_id id) { ASSERT_OK(f, cancel_message(f, id)); }

static void die_by_cancel_while_deferred(struct fixture *f, boxcar_work_id id) {
    assert_true(defer(f, f->owner, take(f, f->owner, id), 3600000));
    ASSERT_OK(f, cancel_message(f, id));
}

static void die_without_a_handler(struct fixture *f, boxcar_work_id id) {
    assert_true(seam_fail_unhandled(f, take(f, f->owner, id)));
}

/* JOIN-031, BX-003, BX-005, BX-028 */
static void every_way_to_die_counts_one_failed_step_at_once(void **state) {
    static const struct {
        void (*die)(struct fixture *f, boxcar_work_id id);
        boxcar_reason reason;
        int64_t ttl_ms;
    } WAYS[] = {
        {die_by_fail, BOXCAR_REASON_REJECTED, 0},
        {die_by_last_abandon, BOXCAR_REASON_EXHAUSTED, 0},
        {die_by_lease_found_by_reap, BOXCAR_REASON_EXHAUSTED, 0},
        {die_by_lease_found_by_claim, BOXCAR_REASON_EXHAUSTED, 0},
        {die_by_lease_found_by_maintenance, BOXCAR_REASON_EXHAUSTED, 0},
        {expire_found_by_claim, BOXCAR_REASON_EXPIRED, 100},
        {expire_found_by_maintenance, BOXCAR_REASON_EXPIRED, 100},
        {die_by_cancel, BOXCAR_REASON_CANCELLED, 0},
        {die_by_cancel_while_deferred, BOXCAR_REASON_CANCELLED, 0},
        {die_without_a_handler, BOXCAR_REASON_NO_HANDLER, 0},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < 2 * sizeof(WAYS) / sizeof(WAYS[0]); i++) {
        size_t way = i / 2;
        boxcar_join_id id = start_join(f, 1), longer = start_join(f, 5);
        boxcar_new_message message = new_message(STEP, "p");
        message.join_id = id;
        message.max_attempts = 1;
        message.ttl_ms = WAYS[way].ttl_ms;
        if (i % 2) /* streams have paths of their own */
            message.stream = BOXCAR_STR("s");
        boxcar_enqueued step = enqueue_message(f, &message);
        attach(f, longer, step.message_id);
        WAYS[way].die(f, step.work_id);
        assert_dead(f, step.work_id, WAYS[way].reason);
        assert_join(f, id, BOXCAR_JOIN_FAILED, 0, 1);
        assert_join(f, longer, BOXCAR_JOIN_PENDING, 0, 1);
        assert_int_equal(maintain_joins(f).settled, 0);
        assert_join(f, longer, BOXCAR_JOIN_PENDING, 0, 1);
    }
}

/* BX-007 */
static void attempt_that_is_not_the_last_counts_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_work_id step = enqueue_step(f, id).work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, step), 0));
    assert_true(defer(f, f->owner, take(f, f->owner, step), 0));
    lose_lease(f, step);
    reap_wait(f, 1);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
    assert_true(ack(f, f->owner, take(f, f->owner, step)));
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 1, 0);
}

/* BX-041, OBX-033 */
static void fifty_members_of_one_join_in_one_batch_all_count(void **state) {
    struct fixture *f = *state;
    struct taken taken[50];
    boxcar_join_id good = start_join(f, 50), bad = start_join(f, 50);
    take_steps(f, good, taken, 50);
    settle_all(f, BOXCAR_ACK, taken, 50);
    assert_join(f, good, BOXCAR_JOIN_COMPLETED, 50, 0);
    take_steps(f, bad, taken, 50);
    settle_all(f, BOXCAR_FAIL, taken, 50);
    assert_join(f, bad, BOXCAR_JOIN_FAILED, 0, 50);
}

/* JOIN-080, JOIN-081, OBX-096, BX-041 */
static void batch_counts_in_every_join_of_its_messages(void **state) {
    struct fixture *f = *state;
    enum { JOINS = 5, STEPS = 30 };
    boxcar_join_id ids[JOINS];
    struct taken taken[STEPS];
    for (int k = 0; k < JOINS; k++)
        ids[k] = start_join(f, STEPS);
    take_steps(f, ids[0], taken, STEPS);
    int members[JOINS] = {STEPS};
    for (int i = 0; i < STEPS; i++) { /* the i-th is in joins 0, and k when k + 1 divides it */
        boxcar_message_list *list = find(f, taken[i].work_id);
        for (int k = 1; k < JOINS; k++)
            if (i % (k + 1) == 0) {
                attach(f, ids[k], look(list)->message_id);
                members[k]++;
            }
        boxcar_list_free(list);
    }
    settle_all(f, BOXCAR_ACK, taken, STEPS);
    for (int k = 0; k < JOINS; k++)
        assert_join(f, ids[k], members[k] == STEPS ? BOXCAR_JOIN_COMPLETED : BOXCAR_JOIN_PENDING, members[k],
                    0);
}

/* BX-043, JOIN-023, JOIN-042: two of five, one after the other. */
static void counting_stops_at_the_expected_number(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    struct taken taken[5];
    take_steps(f, id, taken, 5);
    for (int i = 4; i >= 0; i--)
        assert_true(i == 1 ? bury(f, f->owner, taken[i], "no") : ack(f, f->owner, taken[i]));
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 2, 0);
    assert_int_equal(count_members(f, id, BOXCAR_MEMBER_PENDING), 3);
}

/* BX-043, JOIN-023: in one batch the oldest count. */
static void counting_stops_at_the_expected_number_within_a_batch(void **state) {
    struct fixture *f = *state;
    static const boxcar_settle_kind HOW[] = {BOXCAR_ACK, BOXCAR_FAIL};
    for (int failing = 0; failing < 2; failing++) {
        boxcar_join_id id = start_join(f, 3);
        struct taken taken[8], shuffled[8];
        take_steps(f, id, taken, 8);
        for (int i = 0; i < 8; i++)
            shuffled[i] = taken[(i * 3 + 5) % 8];
        settle_all(f, HOW[failing], shuffled, 8);
        assert_join(f, id, failing ? BOXCAR_JOIN_FAILED : BOXCAR_JOIN_COMPLETED, failing ? 0 : 3,
                    failing ? 3 : 0);
        for (int i = 0; i < 8; i++) {
            boxcar_message_list *list = find(f, taken[i].work_id);
            assert_int_equal(member_of(f, id, look(list)->message_id).status == BOXCAR_MEMBER_PENDING,
                             i >= 3);
            boxcar_list_free(list);
        }
    }
}

/* BX-007, JOIN-022 */
static void first_outcome_of_a_member_wins(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 3);
    boxcar_enqueued first = enqueue_step(f, id), second = enqueue_step(f, id);
    assert_true(report(f, id, first.message_id, BOXCAR_MEMBER_COMPLETED));
    assert_true(report(f, id, second.message_id, BOXCAR_MEMBER_FAILED));
    assert_true(bury(f, f->owner, take(f, f->owner, first.work_id), "no"));
    assert_true(ack(f, f->owner, take(f, f->owner, second.work_id)));
    assert_false(report(f, id, first.message_id, BOXCAR_MEMBER_FAILED));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 1);
    assert_member(f, id, first.message_id, BOXCAR_MEMBER_COMPLETED);
    assert_member(f, id, second.message_id, BOXCAR_MEMBER_FAILED);
}

/* BX-007, BX-025 */
static void replayed_member_has_been_counted_and_replay_says_so(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    log_capture_reopen(captured, f);
    boxcar_join_id ended = start_join(f, 1), open = start_join(f, 2);
    enqueue_ended(f, true); /* of no join */
    boxcar_enqueued step = enqueue_step(f, ended);
    attach(f, open, step.message_id);
    die_by_fail(f, step.work_id);
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    all.all = true;
    int64_t count = 0;
    assert_false(log_capture_has(captured, "warn replay", NULL, NULL, NULL));
    ASSERT_OK(f, boxcar_dead_replay(f->store, &all, BOXCAR_NO_STR, &count, &f->err));
    assert_int_equal(count, 2);
    assert_true(log_capture_has(captured, "warn replay 1 of ", NULL, NULL, NULL));
    struct taken taken = take_topic(f, f->owner, STEP, step.work_id);
    assert_true(ack(f, f->owner, taken));
    assert_join(f, ended, BOXCAR_JOIN_FAILED, 0, 1);
    assert_join(f, open, BOXCAR_JOIN_PENDING, 0, 1);
    maintain_joins(f);
    assert_join(f, open, BOXCAR_JOIN_PENDING, 0, 1);
    log_capture_free(captured);
}

/* BX-002, BX-007 */
static void late_ack_of_a_lost_lease_counts_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    boxcar_work_id step = enqueue_step(f, id).work_id;
    struct taken lost = take_for(f, f->owner, step, BOXCAR_LEASE_MS_MIN);
    struct taken taken = take_wait(f, f->other, step, 30000);
    assert_false(ack(f, f->owner, lost));
    assert_false(bury(f, f->owner, lost, "no"));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
    assert_true(ack(f, f->other, taken));
    assert_false(ack(f, f->other, taken));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 0);
}

/* JOIN-042, BX-040 */
static void ended_join_never_changes(void **state) {
    struct fixture *f = *state;
    for (int how = 0; how < 4; how++) {
        boxcar_new_join new = new_join(how < 2 ? 1 : 3);
        new.deadline_ms = how == 3 ? 3600000 : 0;
        boxcar_join_id id = start_this(f, &new);
        struct taken taken[3];
        take_steps(f, id, taken, 3);
        if (how == 2)
            ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
        if (how == 3)
            make_overdue(f);
        assert_true(how == 1 ? bury(f, f->owner, taken[0], "no") : ack(f, f->owner, taken[0]));
        boxcar_join before = join_of(f, id);
        assert_int_not_equal(before.status, BOXCAR_JOIN_PENDING);
        assert_true(ack(f, f->owner, taken[1]) && bury(f, f->owner, taken[2], "no"));
        maintain_joins(f);
        boxcar_join after = join_of(f, id);
        assert_int_equal(after.status, before.status);
        assert_int_equal(after.reason, before.reason);
        assert_int_equal(after.completed_steps, before.completed_steps);
        assert_int_equal(after.failed_steps, before.failed_steps);
        assert_true(after.last_updated_at == before.last_updated_at);
        assert_int_equal(count_members(f, id, BOXCAR_MEMBER_PENDING), how < 2 ? 2 : 3);
    }
}

/* JOIN-043 */
static void last_updated_at_moves_with_counters_and_status(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 4);
    struct taken taken[2];
    boxcar_message_id by_hand = {boxcar_uuid_new()};
    take_steps(f, id, taken, 2);
    attach(f, id, by_hand);
    boxcar_time last = join_of(f, id).last_updated_at;
    for (int step = 0; step < 4; step++) {
        pause_ms(2);
        if (step == 0)
            assert_true(ack(f, f->owner, taken[0]));
        else if (step == 1)
            assert_true(bury(f, f->owner, taken[1], "no"));
        else if (step == 2)
            assert_true(report(f, id, by_hand, BOXCAR_MEMBER_COMPLETED));
        else
            ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
        boxcar_time now = join_of(f, id).last_updated_at;
        assert_true(now > last);
        last = now;
    }
    assert_true(join_of(f, id).created_at < last);
}

static const struct CMUnitTest TESTS[] = {
    TEST(ack_counts_a_completed_step),
    TEST(fail_counts_a_failed_step),
    TEST(status_follows_the_counters),
    TEST(every_way_to_die_counts_one_failed_step_at_once),
    TEST(attempt_that_is_not_the_last_counts_nothing),
    TEST(fifty_members_of_one_join_in_one_batch_all_count),
    TEST(batch_counts_in_every_join_of_its_messages),
    TEST(counting_stops_at_the_expected_number),
    TEST(counting_stops_at_the_expected_number_within_a_batch),
    TEST(first_outcome_of_a_member_wins),
    TEST(replayed_member_has_been_counted_and_replay_says_so),
    TEST(late_ack_of_a_lost_lease_counts_nothing),
    TEST(ended_join_never_changes),
    TEST(last_updated_at_moves_with_counters_and_status),
};

const struct suite JOIN_COUNT_SUITE = SUITE(TESTS);
