/* The inbox in the caller's own transaction: effect and mark happen together, exactly once. */
#include "borrow.h"
#include "inboxes.h"

static bool borrowed_accept(struct fixture *f, struct borrowed *b, const char *id) {
    bool is_new = false;
    ASSERT_OK(f, boxcar_inbox_accept(b->store, key_of("shop", id), BOXCAR_NO_STR, &is_new, NULL, &f->err));
    return is_new;
}

static boxcar_enqueued borrowed_deliver(struct fixture *f, struct borrowed *b, const char *id) {
    boxcar_new_message message = delivery("shop", id, "p");
    boxcar_enqueued enqueued;
    ASSERT_OK(f, boxcar_enqueue(b->store, BOXCAR_INBOX, &message, &enqueued, &f->err));
    return enqueued;
}

static size_t borrowed_ack(struct fixture *f, struct borrowed *b, struct taken taken) {
    boxcar_settlement settlement = settlement_of(taken);
    size_t affected = 0;
    ASSERT_OK(f, boxcar_settle(b->store, CLAIMER(BOXCAR_INBOX, f->owner), BOXCAR_ACK, &settlement, 1, NULL,
                               &affected, &f->err));
    return affected;
}

/* BX-083 */
static void accepted_key_and_effect_commit_together(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    for (int round = 0; round < 3; round++) { /* delivered again and again */
        borrowed_exec(&b, "begin");
        if (borrowed_accept(f, &b, "1"))
            borrowed_write_effect(f, &b);
        borrowed_exec(&b, "commit");
    }
    assert_int_equal(count_effects(f), 1);
    assert_true(is_processed(f, "shop", "1"));
    borrowed_close(&b);
}

/* BX-083 */
static void accepted_key_and_effect_roll_back_together(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    assert_true(borrowed_accept(f, &b, "1"));
    assert_false(borrowed_accept(f, &b, "1")); /* in the same transaction */
    borrowed_write_effect(f, &b);
    borrowed_exec(&b, "rollback");
    assert_unknown(f, "shop", "1");
    assert_int_equal(count_effects(f), 0);
    borrowed_exec(&b, "begin");
    assert_true(borrowed_accept(f, &b, "1"));
    borrowed_write_effect(f, &b);
    borrowed_exec(&b, "commit");
    assert_int_equal(count_effects(f), 1);
    borrowed_close(&b);
}

/* BX-001 */
static void message_is_stored_with_the_callers_transaction(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    assert_false(is_processed(f, "shop", "seen"));
    for (int commit = 0; commit < 2; commit++) {
        borrowed_exec(&b, "begin");
        assert_false(borrowed_deliver(f, &b, "1").duplicate);
        assert_true(borrowed_deliver(f, &b, "1").duplicate);
        assert_false(borrowed_deliver(f, &b, "seen").duplicate); /* a sighting again when it is undone */
        borrowed_exec(&b, commit ? "commit" : "rollback");
        assert_int_equal(count_messages(f), commit ? 2 : 0);
    }
    assert_true(deliver(f, "shop", "1").duplicate);
    borrowed_close(&b);
}

/* BX-008: claim; begin; effect; ack on the borrowed handle; commit */
static void effect_and_ack_commit_together(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    boxcar_work_id id = deliver(f, "shop", "1").work_id;
    struct taken taken = inbox_take(f, f->owner, id);
    borrowed_exec(&b, "begin");
    borrowed_write_effect(f, &b);
    assert_int_equal(borrowed_ack(f, &b, taken), 1);
    assert_inbox_status(f, id, BOXCAR_IN_PROGRESS); /* for everybody else */
    assert_int_equal(count_effects(f), 0);
    borrowed_exec(&b, "commit");
    assert_inbox_status(f, id, BOXCAR_DONE);
    assert_int_equal(count_effects(f), 1);
    assert_true(is_processed(f, "shop", "1"));
    borrowed_close(&b);
}

/* BX-008: a claimer that lost the lease must not keep the effect */
static void ack_after_another_took_the_message_keeps_no_effect(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    boxcar_work_id id = deliver(f, "shop", "1").work_id;
    struct taken lost = inbox_take(f, f->owner, id);
    boxcar_settlement settlement = settlement_of(lost);
    settlement.delay_ms = 0;
    assert_true(settle_in_box(f, BOXCAR_INBOX, BOXCAR_DEFER, f->owner, &settlement));
    struct taken taken = inbox_take(f, f->owner, id); /* the same owner, a later lease */
    for (int round = 0; round < 2; round++) {
        borrowed_exec(&b, "begin");
        borrowed_write_effect(f, &b);
        bool ours = borrowed_ack(f, &b, round ? taken : lost) == 1;
        assert_int_equal(ours, round);
        borrowed_exec(&b, ours ? "commit" : "rollback");
    }
    assert_int_equal(count_effects(f), 1);
    borrowed_close(&b);
}

/* BX-008 */
static void rolled_back_ack_leaves_the_message_leased(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    boxcar_work_id id = deliver(f, "shop", "1").work_id;
    struct taken taken = inbox_take(f, f->owner, id);
    borrowed_exec(&b, "begin");
    borrowed_write_effect(f, &b);
    assert_int_equal(borrowed_ack(f, &b, taken), 1);
    borrowed_exec(&b, "rollback");
    assert_inbox_status(f, id, BOXCAR_IN_PROGRESS);
    assert_false(is_processed(f, "shop", "1"));
    assert_true(inbox_ack(f, taken));
    assert_int_equal(count_effects(f), 0);
    borrowed_close(&b);
}

/* A handler may react with messages of both boxes, in the transaction of its ack. */
static void handler_may_enqueue_in_its_transaction(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    struct taken taken = inbox_take(f, f->owner, deliver(f, "shop", "1").work_id);
    borrowed_exec(&b, "begin");
    boxcar_enqueued out = borrowed_enqueue(f, &b, "follow-up");
    boxcar_enqueued in = borrowed_deliver(f, &b, "2");
    assert_int_equal(borrowed_ack(f, &b, taken), 1);
    borrowed_exec(&b, "commit");
    assert_true(ack(f, f->owner, take(f, f->owner, out.work_id)));
    assert_true(inbox_ack(f, inbox_take(f, f->owner, in.work_id)));
    borrowed_close(&b);
}

/* A key may be asked for outside of any transaction: each call is one by itself. */
static void borrowed_calls_without_a_transaction_commit_by_themselves(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    assert_true(borrowed_accept(f, &b, "1"));
    assert_false(borrowed_deliver(f, &b, "2").duplicate);
    assert_true(is_processed(f, "shop", "1"));
    assert_true(deliver(f, "shop", "2").duplicate);
    borrowed_close(&b);
}

static const struct CMUnitTest TESTS[] = {
    TEST(accepted_key_and_effect_commit_together),
    TEST(accepted_key_and_effect_roll_back_together),
    TEST(message_is_stored_with_the_callers_transaction),
    TEST(effect_and_ack_commit_together),
    TEST(ack_after_another_took_the_message_keeps_no_effect),
    TEST(rolled_back_ack_leaves_the_message_leased),
    TEST(handler_may_enqueue_in_its_transaction),
    TEST(borrowed_calls_without_a_transaction_commit_by_themselves),
};

const struct suite INBOX_TRANSACTION_SUITE = SUITE(TESTS);
