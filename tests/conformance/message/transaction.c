/* Messages in the caller's own transaction, over a borrowed connection. */
#include "borrow.h"
#include "conformance.h"

/* Not visible to others, and not claimed by them. A claim on SQLite would wait for the writer. */
static void assert_invisible(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_ref ref = {.work_id = work_id};
    boxcar_message_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_message_find(f->store, BOXCAR_OUTBOX, ref, &list, &f->err));
    if (!fixture_is_sqlite(f))
        assert_nothing_claimable(f);
}

/* OBX-003, OBX-098, BX-001 */
static void commit_of_the_caller_delivers(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    borrowed_write_effect(f, &b);
    boxcar_enqueued enqueued = borrowed_enqueue(f, &b, "p");
    assert_true(borrowed_in_transaction(&b));
    assert_invisible(f, enqueued.work_id);
    borrowed_exec(&b, "commit");
    assert_int_equal(count_effects(f), 1);
    assert_true(ack(f, f->owner, take(f, f->owner, enqueued.work_id)));
    borrowed_close(&b);
}

/* OBX-003, BX-001 */
static void rollback_of_the_caller_delivers_nothing(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    borrowed_write_effect(f, &b);
    boxcar_enqueued enqueued = borrowed_enqueue(f, &b, "p");
    borrowed_exec(&b, "rollback");
    assert_int_equal(count_effects(f), 0);
    assert_invisible(f, enqueued.work_id);
    assert_nothing_claimable(f);
    assert_int_equal(stats_of(f).ready, 0);
    take(f, f->owner, enqueue(f, "t", "later").work_id);
    borrowed_close(&b);
}

/* BX-001 */
static void connection_that_breaks_off_delivers_nothing(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    borrowed_enqueue(f, &b, "p");
    borrowed_close(&b);
    assert_nothing_claimable(f);
    assert_int_equal(stats_of(f).ready, 0);
}

/* OBX-003, BX-011 */
static void bad_argument_leaves_the_callers_transaction_usable(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    borrowed_write_effect(f, &b);
    boxcar_enqueued first = borrowed_enqueue(f, &b, "p");
    boxcar_new_message bad = new_message("", "p");
    ASSERT_INVALID(f, "topic", boxcar_enqueue(b.store, BOXCAR_OUTBOX, &bad, &first, &f->err));
    assert_false(f->err.must_roll_back);
    assert_true(borrowed_in_transaction(&b));
    boxcar_enqueued second = borrowed_enqueue(f, &b, "p");
    borrowed_exec(&b, "commit");
    assert_int_equal(count_effects(f), 1);
    struct taken taken[3];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 3), 2);
    assert_int_equal(taken[0].work_id.value, first.work_id.value);
    assert_int_equal(taken[1].work_id.value, second.work_id.value);
    borrowed_close(&b);
}

/* OBX-003 */
static void no_call_ends_the_callers_transaction(void **state) {
    struct fixture *f = *state;
    boxcar_work_id old = enqueue(f, "t", "old").work_id;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    boxcar_store *own = f->store;
    f->store = b.store;
    struct taken taken = take(f, f->owner, old);
    assert_true(renew(f, f->owner, taken, 60000));
    assert_true(abandon(f, f->owner, taken, 0));
    assert_true(defer(f, f->owner, take(f, f->owner, old), 0));
    assert_true(bury(f, f->owner, take(f, f->owner, old), "no"));
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    all.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &all, BOXCAR_NO_STR, NULL, &f->err));
    assert_true(ack(f, f->owner, take(f, f->owner, old)));
    assert_int_equal(reap(f), 0);
    assert_int_equal(stats_of(f).done, 1);
    set_setting(f, "max_attempts", "5");
    assert_true(borrowed_in_transaction(&b));
    f->store = own;
    borrowed_exec(&b, "rollback");
    struct taken again = take(f, f->owner, old); /* as if nothing had happened */
    assert_int_equal(again.retry_count, 0);
    assert_int_equal(stats_of(f).failed, 0);
    borrowed_close(&b);
}

/* OBX-002, OBX-003 */
static void without_a_transaction_every_call_commits_by_itself(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    boxcar_enqueued enqueued = borrowed_enqueue(f, &b, "p");
    assert_false(borrowed_in_transaction(&b));
    take(f, f->owner, enqueued.work_id);
    borrowed_close(&b);
}

/* OBX-003, BX-001, OBX-097 */
static void ack_and_follow_up_commit_or_roll_back_together(void **state) {
    struct fixture *f = *state;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    struct borrowed b = borrow(f);
    boxcar_settlement settlement = settlement_of(taken);
    for (int committed = 0; committed < 2; committed++) {
        size_t count = 0;
        borrowed_exec(&b, "begin");
        ASSERT_OK(f, boxcar_settle(b.store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, &settlement, 1,
                                   NULL, &count, &f->err));
        assert_int_equal(count, 1);
        boxcar_enqueued follow_up = borrowed_enqueue(f, &b, "next");
        borrowed_write_effect(f, &b);
        borrowed_exec(&b, committed ? "commit" : "rollback");
        assert_status(f, taken.work_id, committed ? BOXCAR_DONE : BOXCAR_IN_PROGRESS);
        assert_int_equal(count_effects(f), committed);
        if (committed)
            take(f, f->owner, follow_up.work_id);
        else
            assert_nothing_claimable(f);
    }
    borrowed_close(&b);
}

/* BX-002, BX-001 */
static void claim_that_is_rolled_back_never_happened(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    enqueue_many(f, "t", 3, ids);
    struct borrowed b = borrow(f);
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = f->owner;
    boxcar_message_list *list = NULL;
    borrowed_exec(&b, "begin");
    ASSERT_OK(f, boxcar_claim(b.store, &options, &list, &f->err));
    assert_int_equal(list->count, 3);
    struct taken lost = {list->items[0]->work_id, list->items[0]->epoch, 0, 0};
    boxcar_list_free(list);
    borrowed_exec(&b, "rollback");
    assert_false(ack(f, f->owner, lost));
    struct taken taken[5];
    assert_int_equal(take_all(f, f->other, 30000, taken, 5), 3);
    assert_int_equal(taken[0].retry_count, 0);
    borrowed_close(&b);
}

/* BX-001 */
static void message_enqueued_after_a_claim_in_the_same_transaction_is_not_lost(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = f->owner;
    boxcar_message_list *list = NULL;
    borrowed_exec(&b, "begin");
    borrowed_write_effect(f, &b);
    ASSERT_OK(f, boxcar_claim(b.store, &options, &list, &f->err));
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
    boxcar_enqueued enqueued = borrowed_enqueue(f, &b, "p");
    borrowed_exec(&b, "commit");
    take(f, f->owner, enqueued.work_id);
    borrowed_close(&b);
}

/* OBX-003 */
static void transaction_sees_its_own_messages(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    boxcar_enqueued enqueued = borrowed_enqueue(f, &b, "mine");
    boxcar_message_ref ref = {.work_id = enqueued.work_id};
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_find(b.store, BOXCAR_OUTBOX, ref, &list, &f->err));
    assert_text(look(list)->payload, "mine");
    assert_int_equal(look(list)->status, BOXCAR_READY);
    boxcar_list_free(list);
    borrowed_exec(&b, "commit");
    borrowed_close(&b);
}

/* BX-001, OBX-003 */
static void what_a_savepoint_takes_back_is_not_delivered(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    boxcar_enqueued kept = borrowed_enqueue(f, &b, "kept");
    borrowed_exec(&b, "savepoint mine");
    borrowed_enqueue(f, &b, "taken back");
    borrowed_exec(&b, "rollback to savepoint mine");
    boxcar_enqueued also = borrowed_enqueue(f, &b, "kept too");
    borrowed_exec(&b, "commit");
    struct taken taken[4];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 4), 2);
    assert_int_equal(taken[0].work_id.value + taken[1].work_id.value,
                     kept.work_id.value + also.work_id.value);
    assert_int_equal(audit_lost(f), 0);
    borrowed_close(&b);
}

/* OBX-109 */
static void borrowed_store_cannot_deploy(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    assert_int_not_equal(boxcar_store_deploy(b.store, &f->err), BOXCAR_OK);
    assert_int_equal(boxcar_store_deployment(b.store)->applied, 0);
    borrowed_close(&b);
}

static void closing_a_borrowed_store_leaves_the_connection_open(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    borrowed_enqueue(f, &b, "p");
    boxcar_store_close(b.store);
    b.store = NULL;
    assert_true(borrowed_in_transaction(&b));
    borrowed_exec(&b, "commit");
    assert_int_equal(stats_of(f).ready, 1);
    borrowed_close(&b);
}

static const struct CMUnitTest TESTS[] = {
    TEST(commit_of_the_caller_delivers),
    TEST(rollback_of_the_caller_delivers_nothing),
    TEST(connection_that_breaks_off_delivers_nothing),
    TEST(bad_argument_leaves_the_callers_transaction_usable),
    TEST(no_call_ends_the_callers_transaction),
    TEST(without_a_transaction_every_call_commits_by_itself),
    TEST(ack_and_follow_up_commit_or_roll_back_together),
    TEST(claim_that_is_rolled_back_never_happened),
    TEST(message_enqueued_after_a_claim_in_the_same_transaction_is_not_lost),
    TEST(transaction_sees_its_own_messages),
    TEST(what_a_savepoint_takes_back_is_not_delivered),
    TEST(borrowed_store_cannot_deploy),
    TEST(closing_a_borrowed_store_leaves_the_connection_open),
};

const struct suite TRANSACTION_SUITE = SUITE(TESTS);
