/* Joins that are filled by the hundred: what is enqueued in one call may end in any order and in any way, and
 * large joins are counted like small ones. */
#include <stdlib.h>
#include <string.h>

#include "borrow.h"
#include "joins.h"

enum { MOST = 2500, LARGE = 60000 };

/* Messages of one call. taken: those that f->owner leased, by work id. */
struct bulk {
    size_t count, taken_count;
    boxcar_new_message messages[MOST];
    boxcar_enqueued enqueued[MOST];
    struct taken taken[MOST];
    boxcar_settlement settlements[MOST];
};

/* `count` members of the join, for the test to change before it sends them. */
static struct bulk *new_bulk(boxcar_join_id id, size_t count) {
    struct bulk *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    assert_in_range(count, 1, MOST);
    b->count = count;
    for (size_t i = 0; i < count; i++) {
        b->messages[i] = new_message(STEP, "p");
        b->messages[i].message_id.uuid = boxcar_uuid_new();
        b->messages[i].join_id = id;
    }
    return b;
}

static void send_bulk(struct fixture *f, struct bulk *b) {
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, b->messages, b->count, b->enqueued, &f->err));
}

static void lease_bulk(struct fixture *f, struct bulk *b, size_t wanted) {
    boxcar_message_list *list = claim_topic(f, f->owner, MOST, STEP);
    b->taken_count = list->count;
    assert_int_equal(b->taken_count, wanted);
    for (size_t i = 0; i < b->taken_count; i++) {
        const boxcar_message *m = list->items[i];
        b->taken[i] = (struct taken){m->work_id, m->epoch, 0, 0};
        assert_true(i == 0 || b->taken[i - 1].work_id.value < m->work_id.value);
    }
    boxcar_list_free(list);
}

static struct bulk *take_bulk(struct fixture *f, boxcar_join_id id, size_t count) {
    struct bulk *b = new_bulk(id, count);
    send_bulk(f, b);
    lease_bulk(f, b, count);
    return b;
}

/* Settles every `step`-th from `first` to before `end`, in one call. Numbers may come from above: the order
 * of a batch says nothing. */
static void settle_some(struct fixture *f, struct bulk *b, boxcar_settle_kind how, size_t first, size_t end,
                        size_t step) {
    size_t count = 0, affected = 0;
    for (size_t i = first; i < end; i += step)
        b->settlements[count++] =
            settlement_of(b->taken[first + (end - 1 - first) / step * step - (i - first)]);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), how, b->settlements, count, NULL,
                               &affected, &f->err));
    assert_int_equal(affected, count);
}

static boxcar_message_id id_of(const struct bulk *b, size_t i) { return b->messages[i].message_id; }

/* JOIN-030, JOIN-031, BX-041 */
static void members_enqueued_in_one_call_end_in_one_batch(void **state) {
    static const size_t COUNTS[] = {63, 64, 65, 500, 999, 1000, 1001, 2500};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(COUNTS) / sizeof(COUNTS[0]); i++) {
        bool failing = i % 2;
        boxcar_join_id id = start_join(f, (int64_t)COUNTS[i]);
        struct bulk *b = take_bulk(f, id, COUNTS[i]);
        settle_some(f, b, failing ? BOXCAR_FAIL : BOXCAR_ACK, 0, COUNTS[i], 1);
        assert_join(f, id, failing ? BOXCAR_JOIN_FAILED : BOXCAR_JOIN_COMPLETED,
                    failing ? 0 : (int64_t)COUNTS[i], failing ? (int64_t)COUNTS[i] : 0);
        free(b);
    }
}

/* JOIN-030, JOIN-031, JOIN-041, BX-007: runs that end in pieces, in every way. */
static void members_enqueued_in_one_call_end_one_here_one_there(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 301);
    struct bulk *b = new_bulk(id, 301);
    send_bulk(f, b);
    ASSERT_OK(f, cancel_message(f, b->enqueued[300].work_id));
    lease_bulk(f, b, 300);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 1);
    settle_some(f, b, BOXCAR_ACK, 0, 300, 2);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 150, 1);
    settle_some(f, b, BOXCAR_FAIL, 1, 300, 6);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 150, 51);
    for (size_t i = 0; i < 300; i++)
        assert_member(f, id, id_of(b, i),
                      i % 2 == 0   ? BOXCAR_MEMBER_COMPLETED
                      : i % 6 == 1 ? BOXCAR_MEMBER_FAILED
                                   : BOXCAR_MEMBER_PENDING);
    settle_some(f, b, BOXCAR_ACK, 3, 300, 6);
    settle_some(f, b, BOXCAR_ACK, 5, 300, 6);
    assert_join(f, id, BOXCAR_JOIN_FAILED, 250, 51);
    free(b);
}

/* JOIN-022, BX-007 */
static void members_reported_in_the_middle_of_a_run_count_once(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 300);
    struct bulk *b = take_bulk(f, id, 300);
    assert_true(report(f, id, id_of(b, 0), BOXCAR_MEMBER_FAILED));
    assert_true(report(f, id, id_of(b, 100), BOXCAR_MEMBER_COMPLETED));
    assert_true(report(f, id, id_of(b, 101), BOXCAR_MEMBER_FAILED));
    assert_false(report(f, id, id_of(b, 101), BOXCAR_MEMBER_COMPLETED));
    assert_true(report(f, id, id_of(b, 299), BOXCAR_MEMBER_COMPLETED));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 2, 2);
    settle_some(f, b, BOXCAR_ACK, 0, 200, 1);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 199, 2);
    assert_false(report(f, id, id_of(b, 150), BOXCAR_MEMBER_FAILED));
    settle_some(f, b, BOXCAR_FAIL, 200, 300, 1);
    assert_join(f, id, BOXCAR_JOIN_FAILED, 199, 101);
    assert_member(f, id, id_of(b, 101), BOXCAR_MEMBER_FAILED);
    assert_member(f, id, id_of(b, 299), BOXCAR_MEMBER_COMPLETED);
    free(b);
}

/* JOIN-023, BX-043 */
static void oldest_of_too_many_members_count(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 150);
    struct bulk *b = take_bulk(f, id, 400);
    settle_some(f, b, BOXCAR_ACK, 0, 400, 1);
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 150, 0);
    for (size_t i = 0; i < 400; i++)
        assert_member(f, id, id_of(b, i), i < 150 ? BOXCAR_MEMBER_COMPLETED : BOXCAR_MEMBER_PENDING);
    free(b);
}

/* JOIN-023, BX-043: those that counted before are passed over. */
static void oldest_of_the_remaining_members_count(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 150);
    struct bulk *b = take_bulk(f, id, 400);
    settle_some(f, b, BOXCAR_FAIL, 300, 400, 1);
    assert_true(report(f, id, id_of(b, 10), BOXCAR_MEMBER_COMPLETED));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 100);
    settle_some(f, b, BOXCAR_ACK, 0, 300, 1);
    assert_join(f, id, BOXCAR_JOIN_FAILED, 50, 100);
    for (size_t i = 0; i < 400; i++)
        assert_member(f, id, id_of(b, i),
                      i < 50     ? BOXCAR_MEMBER_COMPLETED
                      : i >= 300 ? BOXCAR_MEMBER_FAILED
                                 : BOXCAR_MEMBER_PENDING);
    free(b);
}

/* JOIN-080, JOIN-081 */
static void members_of_two_joins_count_in_both(void **state) {
    struct fixture *f = *state;
    boxcar_join_id first = start_join(f, 300), second = start_join(f, 200);
    struct bulk *b = take_bulk(f, first, 300);
    boxcar_message_id ids[200];
    boxcar_attached attached[200] = {BOXCAR_ATTACHED_INIT};
    for (size_t i = 0; i < 200; i++)
        ids[i] = id_of(b, i + 50);
    ASSERT_OK(f, boxcar_join_attach(f->store, second, ids, 200, attached, &f->err));
    for (size_t i = 0; i < 200; i++)
        assert_true(attached[i].is_new && attached[i].message_exists);
    settle_some(f, b, BOXCAR_ACK, 0, 100, 1);
    assert_join(f, first, BOXCAR_JOIN_PENDING, 100, 0);
    assert_join(f, second, BOXCAR_JOIN_PENDING, 50, 0);
    settle_some(f, b, BOXCAR_FAIL, 100, 300, 2);
    settle_some(f, b, BOXCAR_ACK, 101, 300, 2);
    assert_join(f, first, BOXCAR_JOIN_FAILED, 200, 100);
    assert_join(f, second, BOXCAR_JOIN_FAILED, 125, 75);
    free(b);
}

/* JOIN-080, BX-041: in turns, so that neighbours are of different joins. */
static void members_of_a_call_may_be_of_many_joins(void **state) {
    struct fixture *f = *state;
    boxcar_join_id ids[3] = {start_join(f, 100), start_join(f, 100), start_join(f, 100)};
    struct bulk *b = new_bulk(ids[0], 301);
    for (size_t i = 0; i < 300; i++)
        b->messages[i].join_id = ids[i < 200 ? i % 2 : 2];
    b->messages[300].join_id = (boxcar_join_id){0};
    send_bulk(f, b);
    lease_bulk(f, b, 301);
    settle_some(f, b, BOXCAR_ACK, 0, 150, 1);
    assert_join(f, ids[0], BOXCAR_JOIN_PENDING, 75, 0);
    assert_join(f, ids[1], BOXCAR_JOIN_PENDING, 75, 0);
    settle_some(f, b, BOXCAR_ACK, 150, 301, 1);
    for (size_t i = 0; i < 3; i++)
        assert_join(f, ids[i], BOXCAR_JOIN_COMPLETED, 100, 0);
    free(b);
}

/* BX-042, BX-043, JOIN-022 */
static void ids_that_were_members_before_their_messages_count_once(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 300), other = start_join(f, 30);
    struct bulk *b = new_bulk(id, 300);
    for (size_t i = 0; i < 300; i += 50)
        assert_true(attach(f, id, id_of(b, i)).is_new);
    for (size_t i = 120; i < 150; i++)
        assert_true(attach(f, other, id_of(b, i)).is_new);
    assert_true(report(f, id, id_of(b, 50), BOXCAR_MEMBER_FAILED));
    send_bulk(f, b);
    lease_bulk(f, b, 300);
    settle_some(f, b, BOXCAR_ACK, 0, 140, 1);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 139, 1);
    assert_join(f, other, BOXCAR_JOIN_PENDING, 20, 0);
    settle_some(f, b, BOXCAR_ACK, 140, 300, 1);
    assert_join(f, id, BOXCAR_JOIN_FAILED, 299, 1);
    assert_join(f, other, BOXCAR_JOIN_COMPLETED, 30, 0);
    free(b);
}

/* BX-042, BX-043, BX-007: twice in the call, there before it, or ended before it. */
static void messages_said_twice_or_there_before_count_once(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued done = enqueue_ended(f, false), dead = enqueue_ended(f, true);
    boxcar_enqueued ready = enqueue(f, STEP, "p");
    boxcar_join_id id = start_join(f, 300);
    struct bulk *b = new_bulk(id, 305);
    b->messages[90].message_id = done.message_id;
    b->messages[91].message_id = dead.message_id;
    b->messages[92].message_id = ready.message_id;
    for (size_t i = 0; i < 5; i++) /* at the end, and in the middle of a run */
        b->messages[i < 3 ? 300 + i : 197 + i].message_id = id_of(b, i * 7);
    b->messages[303].message_id = b->messages[304].message_id = id_of(b, 5);
    send_bulk(f, b);
    size_t duplicates = 0;
    for (size_t i = 0; i < 305; i++)
        duplicates += b->enqueued[i].duplicate;
    assert_int_equal(duplicates, 10);
    lease_bulk(f, b, 296);
    maintain_joins(f);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 1);
    settle_some(f, b, BOXCAR_ACK, 0, 296, 3);
    settle_some(f, b, BOXCAR_ACK, 1, 296, 3);
    settle_some(f, b, BOXCAR_ACK, 2, 296, 3);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 297, 1);
    maintain_joins(f);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 297, 1);
    assert_true(ack(f, f->owner, take_step(f, id)) && ack(f, f->owner, take_step(f, id)));
    assert_join(f, id, BOXCAR_JOIN_FAILED, 299, 1);
    free(b);
}

/* JOIN-031, BX-005 */
static void members_that_expire_in_a_run_count_as_failed(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 400);
    struct bulk *b = new_bulk(id, 400);
    for (size_t i = 0; i < 400; i++) /* every other one, then a whole run */
        b->messages[i].ttl_ms = (i < 200 && i % 2) || i >= 300 ? 50 : 0;
    send_bulk(f, b);
    wait_out(f, 50);
    lease_bulk(f, b, 200);
    for (int i = 0; i < 300 && stats_of(f).failed < 200; i++) {
        assert_nothing_claimable(f);
        maintain_joins(f);
        pause_ms(10);
    }
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 200);
    settle_some(f, b, BOXCAR_ACK, 0, 200, 1);
    assert_join(f, id, BOXCAR_JOIN_FAILED, 200, 200);
    free(b);
}

/* BX-026 */
static void join_filled_in_one_call_is_removed_with_all_it_had(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 300), large = start_join(f, LARGE);
    struct bulk *b = take_bulk(f, id, 300);
    settle_some(f, b, BOXCAR_ACK, 0, 300, 1);
    free(b);
    b = take_bulk(f, large, 100);
    settle_some(f, b, BOXCAR_ACK, 0, 50, 1);
    ASSERT_OK(f, boxcar_join_cancel(f->store, large, &f->err));
    set_setting(f, "retention_joins", "0");
    assert_int_equal(maintain_joins(f).purged_joins, 2);
    assert_no_join(f, id);
    assert_no_join(f, large);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_outbox_join_member",
                           "select (select count(*) from join_member) + (select count(*) from join_span) "
                           "+ (select count(*) from join_outcome) + (select count(*) from join_progress)"),
        0);
    settle_some(f, b, BOXCAR_ACK, 50, 100, 1); /* of no join any more */
    free(b);
}

/* ---- large ---- */

/* JOIN-023, JOIN-040, JOIN-043, JOIN-061: every counter is right after every step, in whichever way it was
 * counted. */
static void large_join_is_counted_as_it_goes(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, LARGE);
    struct bulk *b = take_bulk(f, id, 400);
    boxcar_time last = join_of(f, id).last_updated_at;
    settle_some(f, b, BOXCAR_ACK, 0, 100, 1);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 100, 0);
    assert_true(join_of(f, id).last_updated_at > last);
    settle_some(f, b, BOXCAR_FAIL, 100, 120, 1);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 100, 20);
    assert_true(report(f, id, id_of(b, 200), BOXCAR_MEMBER_COMPLETED));
    assert_true(report(f, id, id_of(b, 201), BOXCAR_MEMBER_FAILED));
    assert_false(report(f, id, id_of(b, 50), BOXCAR_MEMBER_FAILED));
    assert_join(f, id, BOXCAR_JOIN_PENDING, 101, 21);
    settle_some(f, b, BOXCAR_ACK, 120, 300, 1);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 279, 21);
    enqueue_wait(f, id);
    assert_true(ack(f, f->owner, take_step(f, id)));
    maintain_joins(f);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 280, 21);
    last = join_of(f, id).last_updated_at;
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    assert_join(f, id, BOXCAR_JOIN_CANCELLED, 280, 21);
    assert_true(join_of(f, id).last_updated_at > last);
    settle_some(f, b, BOXCAR_ACK, 300, 400, 1);
    assert_join(f, id, BOXCAR_JOIN_CANCELLED, 280, 21);
    free(b);
}

/* BX-040, JOIN-042: found by an ack, by upkeep, or by a wait. */
static void large_join_past_its_deadline_keeps_its_counters(void **state) {
    struct fixture *f = *state;
    for (int how = 0; how < 3; how++) {
        boxcar_new_join new = new_join(LARGE);
        new.deadline_ms = 3600000;
        boxcar_join_id id = start_this(f, &new);
        struct bulk *b = take_bulk(f, id, 200);
        settle_some(f, b, BOXCAR_ACK, 0, 100, 1);
        settle_some(f, b, BOXCAR_FAIL, 100, 101, 1);
        make_overdue(f);
        if (how == 0)
            settle_some(f, b, BOXCAR_ACK, 101, 150, 1);
        else if (how == 1)
            assert_int_equal(maintain_joins(f).timed_out, 1);
        else
            assert_int_equal(evaluate(f, enqueue_wait(f, id)), WAIT_FAILED);
        assert_timed_out(f, id, 100, 1);
        settle_some(f, b, BOXCAR_ACK, 150, 200, 1);
        assert_timed_out(f, id, 100, 1);
        free(b);
    }
}

/* JOIN-060, BX-041 */
static void large_join_forgets_what_was_rolled_back(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, LARGE);
    struct bulk *bulk = take_bulk(f, id, 200);
    struct borrowed b = borrow(f);
    boxcar_store *own = f->store;
    for (int commits = 0; commits < 2; commits++) {
        f->store = b.store;
        borrowed_exec(&b, "begin");
        settle_some(f, bulk, BOXCAR_ACK, 0, 100, 1);
        settle_some(f, bulk, BOXCAR_FAIL, 100, 150, 1);
        assert_join(f, id, BOXCAR_JOIN_PENDING, 100, 50);
        borrowed_exec(&b, commits ? "commit" : "rollback");
        f->store = own;
        assert_join(f, id, BOXCAR_JOIN_PENDING, commits ? 100 : 0, commits ? 50 : 0);
    }
    settle_some(f, bulk, BOXCAR_ACK, 150, 200, 1);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 150, 50);
    borrowed_close(&b);
    free(bulk);
}

static const struct CMUnitTest TESTS[] = {
    TEST(members_enqueued_in_one_call_end_in_one_batch),
    TEST(members_enqueued_in_one_call_end_one_here_one_there),
    TEST(members_reported_in_the_middle_of_a_run_count_once),
    TEST(oldest_of_too_many_members_count),
    TEST(oldest_of_the_remaining_members_count),
    TEST(members_of_two_joins_count_in_both),
    TEST(members_of_a_call_may_be_of_many_joins),
    TEST(ids_that_were_members_before_their_messages_count_once),
    TEST(messages_said_twice_or_there_before_count_once),
    TEST(members_that_expire_in_a_run_count_as_failed),
    TEST(join_filled_in_one_call_is_removed_with_all_it_had),
    TEST(large_join_is_counted_as_it_goes),
    TEST(large_join_past_its_deadline_keeps_its_counters),
    TEST(large_join_forgets_what_was_rolled_back),
};

const struct suite JOIN_BULK_SUITE = SUITE(TESTS);
