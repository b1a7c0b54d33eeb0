/* What a flush brings back beside claims: work that the coordinator's owner holds already. */
#include <string.h>

#include "boxes.h"
#include "coordinators.h"
#include "inboxes.h"

static boxcar_flush *ask_back(struct fixture *f, boxcar_coordinator *c, boxcar_return outbox,
                              boxcar_return inbox) {
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_flush *flushed = NULL;
    options.returns[BOXCAR_OUTBOX] = outbox;
    options.returns[BOXCAR_INBOX] = inbox;
    ASSERT_OK(f, boxcar_coordinator_flush(c, &options, &flushed, &f->err));
    assert_non_null(flushed);
    return flushed;
}

static struct taken take_new(struct fixture *f, const char *payload) {
    return take(f, f->owner, enqueue(f, "t", payload).work_id);
}

static void queue_settlement(struct fixture *f, boxcar_coordinator *c, boxcar_settle_kind kind,
                             struct taken taken, int64_t lease_ms) {
    boxcar_settlement settlement = settlement_of(taken);
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, kind, &settlement, 1, lease_ms, NULL, &f->err));
}

/* Payloads of one character each. */
static void assert_payloads(const boxcar_message_list *list, const char *wanted) {
    assert_int_equal(list->count, strlen(wanted));
    for (size_t i = 0; i < list->count; i++)
        assert_text(list->items[i]->payload, ((char[2]){wanted[i], 0}));
}

static void renewed_messages_come_back_with_the_flush(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken taken = take_new(f, "a"), lost = take(f, f->other, enqueue(f, "t", "b").work_id);
    take_new(f, "c");
    queue_settlement(f, c, BOXCAR_RENEW, taken, 3600000);
    queue_settlement(f, c, BOXCAR_RENEW, lost, 3600000);
    boxcar_flush *flushed = ask_back(f, c, BOXCAR_RETURN_RENEWED, BOXCAR_RETURN_NONE);
    const boxcar_message_list *returned = flushed->returned[BOXCAR_OUTBOX];
    assert_int_equal(flushed->count, 2);
    assert_payloads(returned, "a");
    assert_int_equal(returned->items[0]->epoch.value, taken.epoch.value);
    assert_true(returned->items[0]->locked_until > database_now(f) + INT64_C(3000) * 1000000);
    assert_int_equal(flushed->returned[BOXCAR_INBOX]->count, 0);
    assert_int_equal(flushed->claimed[BOXCAR_OUTBOX]->count, 0);
    boxcar_flush_free(flushed);
    coordinator_shut(f, c);
}

/* Renewals of different length, and an ack of what was renewed, are requests of their own. */
static void what_several_requests_have_renewed_comes_back(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken first = take_new(f, "a"), acked = take_new(f, "b"), last = take_new(f, "c");
    take_new(f, "d");
    queue_settlement(f, c, BOXCAR_RENEW, last, 120000);
    queue_settlement(f, c, BOXCAR_RENEW, acked, 120000);
    queue_settlement(f, c, BOXCAR_RENEW, first, 3600000);
    queue_settlement(f, c, BOXCAR_ACK, acked, 0);
    boxcar_flush *flushed = ask_back(f, c, BOXCAR_RETURN_RENEWED, BOXCAR_RETURN_NONE);
    assert_int_equal(flushed->count, 4);
    assert_payloads(flushed->returned[BOXCAR_OUTBOX], "ac");
    boxcar_flush_free(flushed);
    coordinator_shut(f, c);
}

/* For a program that starts again under the owner it had. Each message once: claimed, or returned. */
static void owned_messages_come_back_with_the_flush(void **state) {
    struct fixture *f = *state;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_flush *flushed = NULL;
    struct taken done = take_new(f, "b");
    take_new(f, "a");
    take(f, f->other, enqueue(f, "t", "c").work_id);
    take_from(f, BOXCAR_INBOX, f->owner, put_into(f, BOXCAR_INBOX, "t", "i", NULL));
    enqueue(f, "t", "n");
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    queue_ack(f, c, done);
    options.claims[BOXCAR_OUTBOX] = &claim;
    options.returns[BOXCAR_OUTBOX] = options.returns[BOXCAR_INBOX] = BOXCAR_RETURN_OWNED;
    ASSERT_OK(f, boxcar_coordinator_flush(c, &options, &flushed, &f->err));
    assert_payloads(flushed->claimed[BOXCAR_OUTBOX], "n");
    assert_payloads(flushed->returned[BOXCAR_OUTBOX], "a");
    assert_payloads(flushed->returned[BOXCAR_INBOX], "i");
    boxcar_flush_free(flushed);
    flushed = ask_back(f, c, BOXCAR_RETURN_OWNED, BOXCAR_RETURN_NONE); /* nothing is queued */
    assert_payloads(flushed->returned[BOXCAR_OUTBOX], "an");
    assert_int_equal(flushed->returned[BOXCAR_INBOX]->count, 0);
    boxcar_flush_free(flushed);
    coordinator_shut(f, c);
}

/* BX-061: it holds work in this box: a coordinator with a thread says that it lives. */
static void who_asks_for_its_work_is_registered(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c;
    take_new(f, "a");
    c = coordinator_open(f, BOXCAR_STRATEGY_INTERVAL, NULL, NULL);
    boxcar_flush_free(ask_back(f, c, BOXCAR_RETURN_OWNED, BOXCAR_RETURN_NONE));
    for (int64_t known = 0; known == 0; pause_ms(5))
        known = fixture_sql_number(f, "select count(*) from boxcar_instance where box = 'outbox'",
                                   "select count(*) from instance where box = 'outbox'");
    coordinator_shut(f, c);
}

/* BX-011 */
static void bad_questions_of_a_flush_are_refused(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_flush *flushed = NULL;
    options.returns[BOXCAR_INBOX] = (boxcar_return)3;
    ASSERT_INVALID(f, "returns[1]", boxcar_coordinator_flush(c, &options, &flushed, &f->err));
    options.returns[BOXCAR_INBOX] = BOXCAR_RETURN_OWNED;
    options.best_effort = true;
    ASSERT_INVALID(f, "returns", boxcar_coordinator_flush(c, &options, &flushed, &f->err));
    assert_null(flushed);
    coordinator_shut(f, c);
}

static const struct CMUnitTest TESTS[] = {
    TEST(renewed_messages_come_back_with_the_flush), TEST(what_several_requests_have_renewed_comes_back),
    TEST(owned_messages_come_back_with_the_flush),   TEST(who_asks_for_its_work_is_registered),
    TEST(bad_questions_of_a_flush_are_refused),
};

const struct suite COORDINATOR_RETURNED_SUITE = SUITE(TESTS);
