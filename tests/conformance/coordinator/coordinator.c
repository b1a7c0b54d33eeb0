/* Coordinators on real stores: each strategy, one batch, one transaction, results per id. BX-064, BX-065 */
#include <stdio.h>
#include <string.h>

#include "borrow.h"
#include "boxes.h"
#include "coordinators.h"
#include "inboxes.h"
#include "joins.h"

/* ---- strategies ---- */

/* BX-064 */
static void immediate_stores_before_the_call_returns(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_IMMEDIATE, NULL, NULL);
    queue_message(f, c, "p");
    assert_int_equal(stats_of(f).ready, 1);
    coordinator_shut(f, c);
}

/* BX-064 */
static void scoped_stores_nothing_until_it_is_closed(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "old").work_id);
    queue_message(f, c, "p");
    queue_ack(f, c, taken);
    assert_int_equal(stats_of(f).ready, 0);
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    coordinator_shut(f, c);
    assert_int_equal(stats_of(f).ready, 1);
    assert_status(f, taken.work_id, BOXCAR_DONE);
}

/* BX-064 */
static void freed_operations_are_not_stored(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    queue_message(f, c, "p");
    boxcar_coordinator_free(c);
    assert_int_equal(stats_of(f).ready, 0);
}

/* BX-064 */
static void size_stores_when_so_many_are_queued(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SIZE, NULL, NULL);
    for (int i = 0; i < 9; i++)
        queue_message(f, c, "p");
    assert_int_equal(stats_of(f).ready, 0);
    queue_message(f, c, "p");
    assert_int_equal(stats_of(f).ready, 10);
    coordinator_shut(f, c);
}

/* BX-064: fewer than `size` do not wait for ever. */
static void size_stores_the_rest_by_itself(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_store_options store = fixture_options(f);
    boxcar_coordinator *c;
    struct ear ear;
    ear_init(&ear);
    options.store = &store;
    options.strategy = BOXCAR_STRATEGY_SIZE;
    options.on_flush = ear_hear;
    options.on_flush_context = &ear;
    ASSERT_OK(f, boxcar_coordinator_new(&options, &c, &f->err));
    queue_message(f, c, "p");
    ear_await_results(&ear, 1);
    assert_int_equal(stats_of(f).ready, 1);
    coordinator_shut(f, c);
    ear_release(&ear);
}

/* BX-064 */
static void closing_twice_is_harmless(void **state) {
    struct fixture *f = *state;
    static const boxcar_strategy STRATEGIES[] = {BOXCAR_STRATEGY_IMMEDIATE, BOXCAR_STRATEGY_SCOPED,
                                                 BOXCAR_STRATEGY_INTERVAL, BOXCAR_STRATEGY_SIZE};
    boxcar_new_message message = new_message("t", "late");
    for (size_t i = 0; i < sizeof(STRATEGIES) / sizeof(STRATEGIES[0]); i++) {
        boxcar_coordinator *c = coordinator_open(f, STRATEGIES[i], NULL, NULL);
        uint64_t ticket = 7;
        queue_message(f, c, "p");
        ASSERT_OK(f, boxcar_coordinator_close(c, &f->err));
        ASSERT_OK(f, boxcar_coordinator_close(c, &f->err));
        ASSERT_OK(f, boxcar_coordinator_flush(c, NULL, NULL, &f->err));
        ASSERT_FAILS(f, BOXCAR_E_INVALID,
                     boxcar_coordinator_enqueue(c, BOXCAR_OUTBOX, &message, 1, &ticket, &f->err));
        assert_string_equal(f->err.argument, "coordinator");
        assert_int_equal(ticket, 0);
        boxcar_coordinator_free(c);
        assert_int_equal(stats_of(f).ready, i + 1);
    }
}

/* BX-064: without a thread it flushes; with one that is left to the thread. */
static void best_effort_flush_does_what_nobody_else_does(void **state) {
    struct fixture *f = *state;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_flush *flush = NULL;
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    options.best_effort = true;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    queue_message(f, c, "p");
    ASSERT_OK(f, boxcar_coordinator_flush(c, &options, &flush, &f->err));
    assert_int_equal(flush->count, 1);
    boxcar_flush_free(flush);
    options.claims[BOXCAR_OUTBOX] = &claimer;
    ASSERT_FAILS(f, BOXCAR_E_INVALID, boxcar_coordinator_flush(c, &options, &flush, &f->err));
    assert_string_equal(f->err.argument, "claims");
    options.claims[BOXCAR_OUTBOX] = NULL;
    coordinator_shut(f, c);
    c = coordinator_open(f, BOXCAR_STRATEGY_SIZE, NULL, NULL);
    queue_message(f, c, "p");
    ASSERT_OK(f, boxcar_coordinator_flush(c, &options, &flush, &f->err));
    assert_null(flush);
    assert_int_equal(stats_of(f).ready, 1);
    coordinator_shut(f, c);
    assert_int_equal(stats_of(f).ready, 2);
}

/* BX-064 */
static void interval_stores_by_itself(void **state) {
    struct fixture *f = *state;
    struct ear ear;
    ear_init(&ear);
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_INTERVAL, NULL, &ear);
    for (int i = 0; i < 3; i++)
        queue_message(f, c, "p");
    ear_await_results(&ear, 3);
    assert_int_equal(stats_of(f).ready, 3);
    coordinator_shut(f, c);
    ear_release(&ear);
}

/* One for each request costs no connection. */
static void lent_store_stays_the_callers(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    options.lent = f->store;
    options.strategy = BOXCAR_STRATEGY_SCOPED;
    for (int request = 0; request < 3; request++) {
        boxcar_coordinator *c;
        ASSERT_OK(f, boxcar_coordinator_new(&options, &c, &f->err));
        queue_message(f, c, "p");
        queue_message(f, c, "p");
        coordinator_shut(f, c);
    }
    assert_int_equal(stats_of(f).ready, 6); /* asked over the same store */
}

/* On a borrowed handle a flush commits, or not, with the caller's own writes. */
static void flush_into_the_callers_transaction(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    for (int commits = 0; commits < 2; commits++) {
        boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
        boxcar_coordinator *c;
        options.lent = b.store;
        options.strategy = BOXCAR_STRATEGY_SCOPED;
        borrowed_exec(&b, "begin");
        ASSERT_OK(f, boxcar_coordinator_new(&options, &c, &f->err));
        queue_message(f, c, "p");
        coordinator_shut(f, c);
        borrowed_exec(&b, commits ? "commit" : "rollback");
        assert_int_equal(stats_of(f).ready, commits);
    }
    borrowed_close(&b);
}

/* A refusal spoils a transaction of PostgreSQL's: what to do about it is up to its owner. */
static void spoiled_transaction_of_the_caller_keeps_the_queue(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f)) /* a savepoint keeps it whole there */
        skip();
    struct borrowed b = borrow(f);
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_coordinator *c;
    boxcar_new_message orphan = new_message("t", "orphan");
    orphan.join_id.uuid = boxcar_uuid_new();
    options.lent = b.store;
    options.strategy = BOXCAR_STRATEGY_SCOPED;
    borrowed_exec(&b, "begin");
    ASSERT_OK(f, boxcar_coordinator_new(&options, &c, &f->err));
    queue_message(f, c, "p");
    ASSERT_OK(f, boxcar_coordinator_enqueue(c, BOXCAR_OUTBOX, &orphan, 1, NULL, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_coordinator_flush(c, NULL, NULL, &f->err));
    assert_true(f->err.must_roll_back);
    assert_int_equal(boxcar_coordinator_queued(c), 2);
    borrowed_exec(&b, "rollback");
    coordinator_shut(f, c); /* without a transaction only the bad one goes */
    borrowed_close(&b);
    assert_int_equal(stats_of(f).ready, 1);
}

/* ---- one batch ---- */

/* Everything that one flush can do, in both boxes, and work comes back. */
static void one_flush_enqueues_settles_renews_and_claims(void **state) {
    struct fixture *f = *state;
    struct taken held[5],
        inbox = take_from(f, BOXCAR_INBOX, f->owner, put_into(f, BOXCAR_INBOX, "t", "in", NULL));
    boxcar_settlement items[5], in = settlement_of(inbox);
    for (int i = 0; i < 5; i++) {
        held[i] = take(f, f->owner, enqueue(f, "t", "old").work_id);
        items[i] = settlement_of(held[i]);
    }
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    items[1].error = items[3].error = BOXCAR_STR("why");
    items[1].delay_ms = 3600000;
    items[2].delay_ms = 3600000;
    uint64_t fresh = queue_message(f, c, "new");
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_ACK, &items[0], 1, 0, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_ABANDON, &items[1], 1, 0, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_DEFER, &items[2], 1, 0, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_FAIL, &items[3], 1, 0, NULL, &f->err));
    ASSERT_OK(f,
              boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_RENEW, &items[4], 1, 60000, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_INBOX, BOXCAR_ACK, &in, 1, 0, NULL, &f->err));
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    options.claims[BOXCAR_OUTBOX] = &claim;
    boxcar_flush *flushed = NULL;
    ASSERT_OK(f, boxcar_coordinator_flush(c, &options, &flushed, &f->err));
    assert_int_equal(flushed->count, 7);
    for (size_t i = 1; i < 7; i++)
        assert_int_equal(flushed->items[i]->outcome, BOXCAR_OUTCOME_SETTLED);
    const boxcar_message_list *claimed = flushed->claimed[BOXCAR_OUTBOX];
    assert_int_equal(claimed->count, 1);
    assert_text(claimed->items[0]->payload, "new");
    assert_same_owner(claimed->items[0]->owner, f->owner);
    assert_int_equal(claimed->items[0]->work_id.value, result_of(flushed, fresh)->work_id.value);
    boxcar_flush_free(flushed);
    assert_status(f, held[0].work_id, BOXCAR_DONE);
    assert_int_equal(retry_count_of(f, held[1].work_id), 1);
    assert_int_equal(retry_count_of(f, held[2].work_id), 0);
    assert_status(f, held[2].work_id, BOXCAR_READY);
    assert_dead(f, held[3].work_id, BOXCAR_REASON_REJECTED);
    assert_status(f, held[4].work_id, BOXCAR_IN_PROGRESS);
    assert_int_equal(status_in(f, BOXCAR_INBOX, inbox.work_id), BOXCAR_DONE);
    coordinator_shut(f, c);
}

/* BX-063: with the abandon in one batch, and seen by the next attempt. */
static void recorded_stages_are_seen_by_the_next_attempt(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    boxcar_settlement item = settlement_of(taken);
    boxcar_settlement record = settlement_of(taken);
    record.stages = BOXCAR_STAGE_STORED | BOXCAR_STAGE_PUBLISHED;
    item.delay_ms = 0;
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_RECORD, &record, 1, 0, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_ABANDON, &item, 1, 0, NULL, &f->err));
    boxcar_flush *flushed = flush(f, c);
    assert_int_equal(flushed->items[0]->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(flushed->items[1]->outcome, BOXCAR_OUTCOME_SETTLED);
    boxcar_flush_free(flushed);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(look(list)->stages, record.stages);
    boxcar_list_free(list);
    coordinator_shut(f, c);
}

/* BX-063: the abandon itself says which stages are done, next to a record that was queued before it. */
static void stages_that_come_with_a_result_are_seen_by_the_next_attempt(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    boxcar_settlement record = settlement_of(taken), item = settlement_of(taken);
    record.stages = 8;
    item.stages = 16;
    item.delay_ms = 0;
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_RECORD, &record, 1, 0, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_ABANDON, &item, 1, 0, NULL, &f->err));
    boxcar_flush *flushed = flush(f, c);
    assert_int_equal(flushed->items[0]->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(flushed->items[1]->outcome, BOXCAR_OUTCOME_SETTLED);
    boxcar_flush_free(flushed);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(look(list)->stages, BOXCAR_STAGE_STORED | 8 | 16);
    boxcar_list_free(list);
    coordinator_shut(f, c);
}

/* BX-065: told per id, never by absence. */
static void duplicates_are_told_per_id(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued known = enqueue(f, "t", "known");
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    boxcar_new_message messages[4] = {new_message("t", "a"), new_message("t", "b"), new_message("t", "c"),
                                      new_message("t", "d")};
    messages[1].message_id = known.message_id;
    messages[2].key = messages[3].key = BOXCAR_STR("order 1");
    uint64_t ticket;
    ASSERT_OK(f, boxcar_coordinator_enqueue(c, BOXCAR_OUTBOX, messages, 4, &ticket, &f->err));
    boxcar_flush *flushed = flush(f, c);
    assert_int_equal(result_of(flushed, ticket)->outcome, BOXCAR_OUTCOME_ENQUEUED);
    assert_int_equal(result_of(flushed, ticket + 1)->outcome, BOXCAR_OUTCOME_DUPLICATE);
    assert_int_equal(result_of(flushed, ticket + 1)->work_id.value, known.work_id.value);
    assert_same_message_id(result_of(flushed, ticket + 1)->message_id, known.message_id);
    assert_int_equal(result_of(flushed, ticket + 2)->outcome, BOXCAR_OUTCOME_ENQUEUED);
    assert_int_equal(result_of(flushed, ticket + 3)->outcome, BOXCAR_OUTCOME_DUPLICATE);
    assert_int_equal(result_of(flushed, ticket + 3)->work_id.value,
                     result_of(flushed, ticket + 2)->work_id.value);
    boxcar_flush_free(flushed);
    assert_int_equal(stats_of(f).ready, 3);
    coordinator_shut(f, c);
}

static uint64_t queue_delivery(struct fixture *f, boxcar_coordinator *c, const char *id, const char *hash) {
    boxcar_new_message message = delivery("bank", id, "p");
    uint64_t ticket;
    message.content_hash = boxcar_str_of(hash);
    ASSERT_OK(f, boxcar_coordinator_enqueue(c, BOXCAR_INBOX, &message, 1, &ticket, &f->err));
    return ticket;
}

/* BX-065, BX-080, BX-082: messages from outside, each with a result for its ticket. */
static void inbox_messages_are_told_per_ticket(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued known = deliver_hashed(f, "bank", "known", "abc");
    struct taken taken = inbox_take(f, f->owner, known.work_id);
    boxcar_settlement item = settlement_of(taken);
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    assert_true(accept_key(f, "bank", "accepted"));
    uint64_t fresh = queue_delivery(f, c, "1", NULL), again = queue_delivery(f, c, "1", NULL);
    uint64_t other = queue_delivery(f, c, "known", "xyz"), accepted = queue_delivery(f, c, "accepted", NULL);
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_INBOX, BOXCAR_ACK, &item, 1, 0, NULL, &f->err));
    uint64_t out = queue_message(f, c, "out");
    assert_unknown(f, "bank", "1");
    boxcar_flush *flushed = flush(f, c);
    assert_int_equal(result_of(flushed, fresh)->outcome, BOXCAR_OUTCOME_ENQUEUED);
    assert_int_equal(result_of(flushed, fresh)->box, BOXCAR_INBOX);
    assert_same_message_id(result_of(flushed, fresh)->message_id,
                           boxcar_inbox_message_id(key_of("bank", "1")));
    assert_int_equal(result_of(flushed, again)->outcome, BOXCAR_OUTCOME_DUPLICATE);
    assert_int_equal(result_of(flushed, again)->work_id.value, result_of(flushed, fresh)->work_id.value);
    assert_int_equal(result_of(flushed, other)->outcome, BOXCAR_OUTCOME_DUPLICATE);
    assert_int_equal(result_of(flushed, other)->work_id.value, known.work_id.value);
    assert_true(result_of(flushed, other)->hash_mismatch);
    assert_false(result_of(flushed, fresh)->hash_mismatch);
    assert_int_equal(result_of(flushed, accepted)->outcome, BOXCAR_OUTCOME_DUPLICATE);
    assert_int_equal(result_of(flushed, accepted)->work_id.value, 0);
    assert_int_equal(result_of(flushed, out)->outcome, BOXCAR_OUTCOME_ENQUEUED);
    assert_int_equal(flushed->refused_count, 0);
    boxcar_flush_free(flushed);
    assert_state(f, "bank", "known", BOXCAR_INBOX_DONE);
    assert_state(f, "bank", "1", BOXCAR_INBOX_SEEN);
    coordinator_shut(f, c);
}

/* Seed 004: a consumer queues what it received, and the flush gives it back as work unless it is a duplicate.
 * It settles the message by the id that it knows. BX-064, BX-065, BX-080 */
static void received_message_comes_back_with_the_flush(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    boxcar_new_message received = delivery("bank", "1", "p");
    boxcar_message_id id = boxcar_inbox_message_id(key_of("bank", "1"));
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_settlement done = BOXCAR_SETTLEMENT_INIT;
    deliver(f, "bank", "older");
    options.claims[BOXCAR_INBOX] = &claim;
    options.claim_stored = true;
    claim.batch_size = 1;
    done.message_id = id;
    for (int round = 0; round < 2; round++) {
        boxcar_flush *flushed = NULL;
        uint64_t ticket;
        ASSERT_OK(f, boxcar_coordinator_enqueue(c, BOXCAR_INBOX, &received, 1, &ticket, &f->err));
        ASSERT_OK(f, boxcar_coordinator_flush(c, &options, &flushed, &f->err));
        const boxcar_message_list *claimed = flushed->claimed[BOXCAR_INBOX];
        assert_int_equal(result_of(flushed, ticket)->outcome,
                         round ? BOXCAR_OUTCOME_DUPLICATE : BOXCAR_OUTCOME_ENQUEUED);
        assert_int_equal(claimed->count, 1);
        assert_text(claimed->items[0]->external_id, round ? "older" : "1");
        boxcar_flush_free(flushed);
    }
    uint64_t ticket;
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_INBOX, BOXCAR_ACK, &done, 1, 0, &ticket, &f->err));
    boxcar_flush *flushed = flush(f, c);
    assert_int_equal(result_of(flushed, ticket)->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_same_message_id(result_of(flushed, ticket)->message_id, id);
    assert_int_equal(status_in(f, BOXCAR_INBOX, result_of(flushed, ticket)->work_id), BOXCAR_DONE);
    boxcar_flush_free(flushed);
    assert_state(f, "bank", "1", BOXCAR_INBOX_DONE);
    coordinator_shut(f, c);
}

/* BX-002: each settlement is fenced and says for itself whether it counted. */
static void lost_leases_are_told_per_id(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken mine = take(f, f->owner, enqueue(f, "t", "p").work_id);
    struct taken others = take(f, f->other, enqueue(f, "t", "p").work_id);
    struct taken stale = take(f, f->owner, enqueue(f, "t", "p").work_id);
    stale.epoch.value--;
    uint64_t lost = queue_ack(f, c, others), won = queue_ack(f, c, mine), old = queue_ack(f, c, stale);
    boxcar_flush *flushed = flush(f, c);
    assert_int_equal(result_of(flushed, lost)->outcome, BOXCAR_OUTCOME_LOST);
    assert_int_equal(result_of(flushed, won)->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(result_of(flushed, old)->outcome, BOXCAR_OUTCOME_LOST);
    boxcar_flush_free(flushed);
    assert_status(f, others.work_id, BOXCAR_IN_PROGRESS);
    coordinator_shut(f, c);
}

/* As single calls in this order would have it. */
static void operations_on_one_message_keep_their_order(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    boxcar_settlement item = settlement_of(taken);
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_RENEW, &item, 1, 60000, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_FAIL, &item, 1, 0, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_ACK, &item, 1, 0, NULL, &f->err));
    boxcar_flush *flushed = flush(f, c);
    assert_int_equal(flushed->items[0]->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(flushed->items[1]->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(flushed->items[2]->outcome, BOXCAR_OUTCOME_LOST);
    boxcar_flush_free(flushed);
    assert_dead(f, taken.work_id, BOXCAR_REASON_REJECTED);
    coordinator_shut(f, c);
}

/* ---- trouble ---- */

/* A message for a join that does not exist is refused for good; its neighbours are not. */
static void refused_operation_is_dropped_alone(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "old").work_id);
    boxcar_new_message orphan = new_message("t", "orphan");
    orphan.join_id.uuid = boxcar_uuid_new();
    uint64_t bad;
    for (int i = 0; i < 10; i++)
        queue_message(f, c, "p");
    ASSERT_OK(f, boxcar_coordinator_enqueue(c, BOXCAR_OUTBOX, &orphan, 1, &bad, &f->err));
    queue_ack(f, c, taken);
    for (int i = 0; i < 10; i++)
        queue_message(f, c, "p");
    boxcar_flush *flushed = flush(f, c);
    assert_int_equal(flushed->count, 22);
    assert_int_equal(flushed->refused_count, 1);
    assert_int_equal(result_of(flushed, bad)->outcome, BOXCAR_OUTCOME_REFUSED);
    assert_int_equal(result_of(flushed, bad)->error->status, BOXCAR_E_NOT_FOUND);
    boxcar_flush_free(flushed);
    assert_int_equal(stats_of(f).ready, 20);
    assert_status(f, taken.work_id, BOXCAR_DONE);
    coordinator_shut(f, c);
}

/* BX-001, BX-064: the answer is lost, the effect is not; sent again, it happens once. */
static void batch_whose_answer_was_lost_takes_effect_once(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f)) /* no answer can be lost there */
        skip();
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    struct taken held[3];
    boxcar_settlement items[3];
    for (int i = 0; i < 3; i++) {
        held[i] = take(f, f->owner, enqueue(f, "t", "old").work_id);
        items[i] = settlement_of(held[i]);
    }
    items[1].delay_ms = 3600000;
    for (int i = 0; i < 5; i++)
        queue_message(f, c, "p");
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_ACK, &items[0], 1, 0, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_ABANDON, &items[1], 1, 0, NULL, &f->err));
    ASSERT_OK(f, boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_FAIL, &items[2], 1, 0, NULL, &f->err));
    uint64_t in = queue_delivery(f, c, "1", NULL);
    lose_the_next_answer(c);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_coordinator_flush(c, NULL, NULL, &f->err));
    assert_int_equal(boxcar_coordinator_queued(c), 9);
    queue_message(f, c, "later");
    boxcar_flush *flushed = flush(f, c);
    for (size_t i = 0; i < 10; i++)
        if (i != 8)
            assert_int_equal(flushed->items[i]->outcome,
                             i < 5 || i == 9 ? BOXCAR_OUTCOME_ENQUEUED : BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(result_of(flushed, in)->outcome, BOXCAR_OUTCOME_DUPLICATE); /* the key is the caller's */
    assert_int_equal(inbox_take(f, f->owner, result_of(flushed, in)->work_id).retry_count, 0);
    boxcar_flush_free(flushed);
    assert_int_equal(stats_of(f).ready, 6);
    assert_status(f, held[0].work_id, BOXCAR_DONE);
    assert_int_equal(retry_count_of(f, held[1].work_id), 1);
    assert_dead(f, held[2].work_id, BOXCAR_REASON_REJECTED);
    coordinator_shut(f, c);
}

/* ---- many threads ---- */

struct producer {
    pthread_t thread;
    boxcar_coordinator *coordinator;
    int failures;
};

static void *produce(void *context) {
    struct producer *producer = context;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    message.topic = message.payload = BOXCAR_STR("t");
    for (int i = 0; i < 100; i++)
        producer->failures += boxcar_coordinator_enqueue(producer->coordinator, BOXCAR_OUTBOX, &message, 1,
                                                         NULL, NULL) != BOXCAR_OK;
    return NULL;
}

/* BX-001 */
static void many_threads_share_one_coordinator(void **state) {
    struct fixture *f = *state;
    struct ear ear;
    ear_init(&ear);
    struct producer producers[8];
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_INTERVAL, NULL, &ear);
    for (int i = 0; i < 8; i++) {
        producers[i] = (struct producer){.coordinator = c};
        assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(producers[i].thread, NULL);
        assert_int_equal(producers[i].failures, 0);
    }
    coordinator_shut(f, c);
    assert_int_equal(stats_of(f).ready, 800);
    assert_int_equal(ear.enqueued, 800);
    ear_release(&ear);
}

/* ---- in order ---- */

static boxcar_verdict refuse_the_third(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    int *handled = context;
    if (*handled == 2) {
        boxcar_delivery_set_error(delivery, BOXCAR_STR("no"));
        return BOXCAR_VERDICT_FAIL;
    }
    assert_int_equal(message->payload.len, 1);
    assert_int_equal(message->payload.data[0], '0' + *handled);
    ++*handled;
    return BOXCAR_VERDICT_ACK;
}

/* BX-062: claim, handle in order, settle and claim in one flush, until nothing comes. */
static void streams_are_worked_off_in_order_by_flushes(void **state) {
    struct fixture *f = *state;
    boxcar_coordinator *c = coordinator_open(f, BOXCAR_STRATEGY_SCOPED, NULL, NULL);
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_ordered_options one = BOXCAR_ORDERED_OPTIONS_INIT;
    boxcar_work_id ids[3];
    int handled = 0, rounds = 0;
    for (int i = 0; i < 3; i++)
        ids[i] = enqueue_streamed(f, "s", (char[2]){(char)('0' + i), 0}).work_id;
    options.claims[BOXCAR_OUTBOX] = &claim;
    one.concurrency = 1;
    for (bool found = true; found; rounds++) {
        boxcar_ordered_results *results;
        boxcar_flush *flushed;
        assert_true(rounds < 10);
        ASSERT_OK(f, boxcar_coordinator_flush(c, &options, &flushed, &f->err));
        found = flushed->claimed[BOXCAR_OUTBOX]->count > 0;
        ASSERT_OK(f, boxcar_ordered_run(flushed->claimed[BOXCAR_OUTBOX], &one, refuse_the_third, &handled,
                                        &results, &f->err));
        ASSERT_OK(f, boxcar_ordered_settle(c, results, NULL, &f->err));
        boxcar_ordered_results_free(results);
        boxcar_flush_free(flushed);
    }
    assert_status(f, ids[0], BOXCAR_DONE);
    assert_status(f, ids[1], BOXCAR_DONE);
    assert_dead(f, ids[2], BOXCAR_REASON_REJECTED);
    coordinator_shut(f, c);
}

static const struct CMUnitTest TESTS[] = {
    TEST(immediate_stores_before_the_call_returns),
    TEST(scoped_stores_nothing_until_it_is_closed),
    TEST(freed_operations_are_not_stored),
    TEST(size_stores_when_so_many_are_queued),
    TEST(size_stores_the_rest_by_itself),
    TEST(closing_twice_is_harmless),
    TEST(best_effort_flush_does_what_nobody_else_does),
    TEST(interval_stores_by_itself),
    TEST(lent_store_stays_the_callers),
    TEST(flush_into_the_callers_transaction),
    TEST(spoiled_transaction_of_the_caller_keeps_the_queue),
    TEST(one_flush_enqueues_settles_renews_and_claims),
    TEST(recorded_stages_are_seen_by_the_next_attempt),
    TEST(stages_that_come_with_a_result_are_seen_by_the_next_attempt),
    TEST(duplicates_are_told_per_id),
    TEST(inbox_messages_are_told_per_ticket),
    TEST(received_message_comes_back_with_the_flush),
    TEST(lost_leases_are_told_per_id),
    TEST(operations_on_one_message_keep_their_order),
    TEST(refused_operation_is_dropped_alone),
    TEST(batch_whose_answer_was_lost_takes_effect_once),
    TEST(many_threads_share_one_coordinator),
    TEST(streams_are_worked_off_in_order_by_flushes),
};

const struct suite COORDINATOR_SUITE = SUITE(TESTS);
