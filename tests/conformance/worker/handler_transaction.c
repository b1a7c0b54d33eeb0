/* A transaction that spans calls, in which a handler's own writes and the ack of its message happen
 * together; and the two things only a worker says in a batch: that it was sent before, and why a message
 * is buried. */
#include <stdio.h>

#include "conformance.h"
#include "store/store.h"

static const char CREATE_EFFECT[] = "create table effect (n int unique)";

/* A store of the handler's own, in addition to the one that observes. */
static boxcar_store *open_hand(struct fixture *f) {
    fixture_sql(f, CREATE_EFFECT, CREATE_EFFECT);
    return fixture_open(f);
}

static void begin(struct fixture *f, boxcar_store *hand) {
    ASSERT_OK(f, hand->ops->transaction(hand, TRANSACTION_BEGIN, &f->err));
}

/* A statement of the handler's own; false = it failed. */
static bool run(boxcar_store *hand, const char *sql) {
    sqlite3 *db = boxcar_store_sqlite_handle(hand);
    if (db)
        return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    PGresult *result = PQexec(boxcar_store_postgres_handle(hand), sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static bool write_effect(struct fixture *f, boxcar_store *hand, int n) {
    char sql[160]; /* qualified: a pooled connection has no search path of its own */
    snprintf(sql, sizeof(sql), "insert into \"%s\".effect values (%d)",
             fixture_is_sqlite(f) ? "main" : f->schema, n);
    return run(hand, sql);
}

static int64_t count_effects(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from effect", "select count(*) from effect");
}

static struct request batch_of(struct fixture *f, boxcar_settle_kind kind,
                               const boxcar_settlement *settlement) {
    struct request batch = {.base.owner = f->owner};
    batch.parts[BOXCAR_OUTBOX].settle[kind] = (boxcar_settlement_list){settlement, 1};
    return batch;
}

/* How many the batch says it settled; the status is in *ret_status. */
static size_t settle_batch(struct fixture *f, boxcar_store *store, boxcar_settle_kind kind,
                           const struct request *batch, boxcar_status *ret_status) {
    struct result result = {.arena = ARENA_INIT};
    size_t count;

    f->err = BOXCAR_ERROR_INIT;
    *ret_status = store->ops->process(store, batch, &result, &f->err);
    if (*ret_status != BOXCAR_OK)
        return 0;
    count = result.parts[BOXCAR_OUTBOX].settled[kind].count;
    result_release(&result);
    return count;
}

static size_t ack_in(struct fixture *f, boxcar_store *hand, struct taken taken) {
    boxcar_settlement settlement = settlement_of(taken);
    struct request batch = batch_of(f, BOXCAR_ACK, &settlement);
    boxcar_status status;
    size_t count = settle_batch(f, hand, BOXCAR_ACK, &batch, &status);

    ASSERT_OK(f, status);
    return count;
}

static boxcar_enqueued enqueue_in(struct fixture *f, boxcar_store *hand) {
    boxcar_new_message message = new_message("t", "follow-up");
    boxcar_enqueued enqueued;
    ASSERT_OK(f, boxcar_enqueue(hand, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    return enqueued;
}

/* BX-008, BX-083, BX-001 */
static void effects_follow_up_and_ack_commit_together(void **state) {
    struct fixture *f = *state;
    boxcar_store *hand = open_hand(f);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    begin(f, hand);
    assert_true(write_effect(f, hand, 1));
    boxcar_enqueued follow_up = enqueue_in(f, hand);
    assert_int_equal(ack_in(f, hand, taken), 1);
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS); /* for everyone else */
    assert_int_equal(count_effects(f), 0);
    ASSERT_OK(f, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
    assert_status(f, taken.work_id, BOXCAR_DONE);
    assert_int_equal(count_effects(f), 1);
    assert_true(ack(f, f->owner, take(f, f->owner, follow_up.work_id)));
    assert_int_equal(audit_lost(f), 0);
    boxcar_store_close(hand);
}

/* BX-008, BX-083, BX-001 */
static void rollback_drops_the_effects_and_the_message_is_still_leased(void **state) {
    struct fixture *f = *state;
    boxcar_store *hand = open_hand(f);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    begin(f, hand);
    assert_true(write_effect(f, hand, 1));
    enqueue_in(f, hand);
    assert_int_equal(ack_in(f, hand, taken), 1);
    (void)hand->ops->transaction(hand, TRANSACTION_ROLLBACK, NULL);
    assert_int_equal(count_effects(f), 0);
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    assert_nothing_claimable(f);
    assert_true(ack(f, f->owner, taken));
    boxcar_store_close(hand);
}

/* BX-083 */
static void closing_in_the_middle_rolls_back(void **state) {
    struct fixture *f = *state;
    boxcar_store *hand = open_hand(f);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    begin(f, hand);
    assert_true(write_effect(f, hand, 1));
    assert_int_equal(ack_in(f, hand, taken), 1);
    boxcar_store_close(hand);
    assert_int_equal(count_effects(f), 0);
    assert_true(ack(f, f->owner, taken));
}

/* BX-083 */
static void one_transaction_follows_another(void **state) {
    struct fixture *f = *state;
    boxcar_store *hand = open_hand(f);
    for (int i = 0; i < 6; i++) {
        struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
        begin(f, hand);
        assert_true(write_effect(f, hand, i));
        assert_int_equal(ack_in(f, hand, taken), 1);
        if (i % 2 == 0) {
            ASSERT_OK(f, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
            continue;
        }
        (void)hand->ops->transaction(hand, TRANSACTION_ROLLBACK, NULL);
        assert_true(ack(f, f->owner, taken));
    }
    assert_int_equal(count_effects(f), 3);
    assert_int_equal(stats_of(f).done, 6);
    boxcar_store_close(hand);
}

/* BX-083: what would follow an ended transaction would commit by itself, the ack without the effects. */
static void ended_transaction(struct fixture *f, const char *how, int64_t effects) {
    boxcar_store *hand = open_hand(f);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    boxcar_settlement settlement = settlement_of(taken);
    struct request batch = batch_of(f, BOXCAR_ACK, &settlement);
    boxcar_status status;
    begin(f, hand);
    assert_true(write_effect(f, hand, 1));
    assert_true(run(hand, how));
    assert_int_equal(settle_batch(f, hand, BOXCAR_ACK, &batch, &status), 0);
    assert_int_equal(status, BOXCAR_E_TRANSACTION);
    ASSERT_FAILS(f, BOXCAR_E_TRANSACTION, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
    assert_false(f->err.outcome_unknown);
    assert_int_equal(count_effects(f), effects);
    assert_status(f, taken.work_id, BOXCAR_IN_PROGRESS);
    begin(f, hand); /* the store is as good as new */
    assert_int_equal(ack_in(f, hand, taken), 1);
    ASSERT_OK(f, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
    assert_status(f, taken.work_id, BOXCAR_DONE);
    boxcar_store_close(hand);
}

static void transaction_that_the_handler_committed_takes_no_ack(void **state) {
    ended_transaction(*state, "commit", 1);
}

static void transaction_that_the_handler_rolled_back_takes_no_ack(void **state) {
    ended_transaction(*state, "rollback", 0);
}

/* BX-083. On SQLite a failed statement leaves the transaction as it was. */
static void aborted_transaction_is_not_committed(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    boxcar_store *hand = open_hand(f);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    begin(f, hand);
    assert_true(write_effect(f, hand, 1));
    assert_int_equal(ack_in(f, hand, taken), 1);
    assert_false(write_effect(f, hand, 1));
    ASSERT_FAILS(f, BOXCAR_E_TRANSACTION, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
    assert_int_equal(count_effects(f), 0);
    assert_true(ack(f, f->owner, taken));
    begin(f, hand);
    (void)hand->ops->transaction(hand, TRANSACTION_ROLLBACK, NULL);
    boxcar_store_close(hand);
}

/* BX-083, BX-011 */
static void refused_call_says_that_the_transaction_is_lost(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    boxcar_store *hand = open_hand(f);
    boxcar_settlement settlement = settlement_of(take(f, f->owner, enqueue(f, "t", "p").work_id));
    struct request batch = batch_of(f, BOXCAR_ACK, &settlement);
    boxcar_status status;
    begin(f, hand);
    assert_false(run(hand, "select 1 / 0"));
    settle_batch(f, hand, BOXCAR_ACK, &batch, &status);
    assert_int_equal(status, BOXCAR_E_TRANSACTION);
    assert_true(f->err.must_roll_back);
    (void)hand->ops->transaction(hand, TRANSACTION_ROLLBACK, NULL);
    assert_status(f, settlement.work_id, BOXCAR_IN_PROGRESS);
    boxcar_store_close(hand);
}

/* BX-002, BX-083: the worker rolls back what an ack does not cover. */
static void ack_of_a_lost_lease_affects_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_store *hand = open_hand(f);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    struct taken lost = take_for(f, f->owner, id, 100);
    reap_wait(f, 1);
    struct taken now = take(f, f->other, id);
    begin(f, hand);
    assert_true(write_effect(f, hand, 1));
    assert_int_equal(ack_in(f, hand, lost), 0);
    (void)hand->ops->transaction(hand, TRANSACTION_ROLLBACK, NULL);
    assert_int_equal(count_effects(f), 0);
    assert_true(ack(f, f->other, now));
    boxcar_store_close(hand);
}

static void transactions_do_not_nest_and_need_a_beginning(void **state) {
    struct fixture *f = *state;
    boxcar_store *hand = open_hand(f);
    ASSERT_FAILS(f, BOXCAR_E_TRANSACTION, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
    (void)hand->ops->transaction(hand, TRANSACTION_ROLLBACK, NULL); /* nothing to do */
    begin(f, hand);
    assert_true(write_effect(f, hand, 1));
    ASSERT_FAILS(f, BOXCAR_E_TRANSACTION, hand->ops->transaction(hand, TRANSACTION_BEGIN, &f->err));
    ASSERT_OK(f, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
    assert_int_equal(count_effects(f), 1);
    boxcar_store_close(hand);
}

/* BX-001: outside of a transaction the store is an ordinary one again. */
static void calls_after_a_transaction_commit_by_themselves(void **state) {
    struct fixture *f = *state;
    boxcar_store *hand = open_hand(f);
    begin(f, hand);
    (void)hand->ops->transaction(hand, TRANSACTION_ROLLBACK, NULL);
    boxcar_enqueued enqueued = enqueue_in(f, hand);
    struct taken taken = take(f, f->owner, enqueued.work_id);
    assert_int_equal(ack_in(f, hand, taken), 1);
    assert_status(f, taken.work_id, BOXCAR_DONE);
    boxcar_store_close(hand);
}

static void handle_is_lent_by_stores_of_its_kind_only(void **state) {
    struct fixture *f = *state;
    assert_true(fixture_is_sqlite(f) == (boxcar_store_sqlite_handle(f->store) != NULL));
    assert_true(fixture_is_sqlite(f) == (boxcar_store_postgres_handle(f->store) == NULL));
    assert_null(boxcar_store_sqlite_handle(NULL));
    assert_null(boxcar_store_postgres_handle(NULL));
}

/* Ends the server process that holds the transaction. */
static void cut_off(struct fixture *f, boxcar_store *hand) {
    PGresult *result = PQexec(boxcar_store_postgres_handle(hand), "select pg_backend_pid()");
    char sql[160];

    assert_int_equal(PQntuples(result), 1);
    snprintf(sql, sizeof(sql), "select pg_terminate_backend(%s, 10000)::int", PQgetvalue(result, 0, 0));
    PQclear(result);
    assert_int_equal(fixture_sql_number(f, NULL, sql), 1);
}

/* BX-001, BX-083: only the handler could repeat what it wrote. */
static void broken_connection_in_a_transaction_is_not_papered_over(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    boxcar_store *hand = open_hand(f);
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    boxcar_settlement settlement = settlement_of(taken);
    struct request batch = batch_of(f, BOXCAR_ACK, &settlement);
    boxcar_status status;
    begin(f, hand);
    assert_true(write_effect(f, hand, 1));
    cut_off(f, hand);
    settle_batch(f, hand, BOXCAR_ACK, &batch, &status);
    assert_int_equal(status, BOXCAR_E_UNAVAILABLE);
    assert_true(f->err.retryable);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
    assert_false(f->err.outcome_unknown); /* no COMMIT was sent */
    assert_int_equal(count_effects(f), 0);
    begin(f, hand);
    assert_int_equal(ack_in(f, hand, taken), 1);
    ASSERT_OK(f, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
    boxcar_store_close(hand);
}

/* BX-001 */
static void commit_whose_answer_is_lost_has_an_unknown_outcome(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    boxcar_store *hand = open_hand(f);
    begin(f, hand);
    assert_true(write_effect(f, hand, 1));
    cut_off(f, hand);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, hand->ops->transaction(hand, TRANSACTION_COMMIT, &f->err));
    assert_true(f->err.outcome_unknown);
    begin(f, hand);
    (void)hand->ops->transaction(hand, TRANSACTION_ROLLBACK, NULL);
    boxcar_store_close(hand);
}

/* BX-001, BX-002: a repeated batch reports what its first try did, and only that. SQLite loses no answer
 * on the way back. */
static void batch_that_was_sent_before_owns_what_it_settled(void **state) {
    static const boxcar_settle_kind KINDS[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_FAIL};
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        boxcar_settlement settlement = settlement_of(take(f, f->owner, enqueue(f, "t", "p").work_id));
        settlement.delay_ms = 3600000;
        struct request batch = batch_of(f, KINDS[i], &settlement);
        boxcar_status status;
        assert_int_equal(settle_batch(f, f->store, KINDS[i], &batch, &status), 1);
        assert_int_equal(settle_batch(f, f->store, KINDS[i], &batch, &status), 0);
        batch.base.sent_before = true;
        assert_int_equal(settle_batch(f, f->store, KINDS[i], &batch, &status), 1);
        batch.base.owner = f->other;
        assert_int_equal(settle_batch(f, f->store, KINDS[i], &batch, &status), 0);
        assert_int_equal(status, BOXCAR_OK);
    }
    assert_int_equal(stats_of(f).done, 1);
    assert_int_equal(stats_of(f).failed, 1);
}

/* BX-001, BX-027 */
static void messages_of_a_batch_that_was_sent_before_are_stored_once(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    boxcar_new_message message = new_message("t", "p");
    struct request batch = {.base.messages[BOXCAR_OUTBOX] = {&message, 1},
                            .own[BOXCAR_OUTBOX].fresh_ids = true};
    boxcar_work_id ids[2];
    message.message_id.uuid = boxcar_uuid_new();
    for (int i = 0; i < 2; i++) {
        struct result result = {.arena = ARENA_INIT};
        ASSERT_OK(f, f->store->ops->process(f->store, &batch, &result, &f->err));
        ids[i] = result.parts[BOXCAR_OUTBOX].enqueued[0].work_id;
        assert_false(result.parts[BOXCAR_OUTBOX].enqueued[0].duplicate); /* it can only have met itself */
        result_release(&result);
        batch.base.sent_before = true;
    }
    assert_int_equal(ids[0].value, ids[1].value);
    assert_int_equal(stats_of(f).ready, 1);
}

/* BX-024, BX-025 */
static void reason_of_a_burial_shows_in_the_dead_letters(void **state) {
    struct fixture *f = *state;
    for (int no_handler = 0; no_handler < 2; no_handler++) {
        boxcar_work_id id = enqueue(f, "t", "p").work_id;
        boxcar_settlement settlement = settlement_of(take(f, f->owner, id));
        struct request batch = batch_of(f, BOXCAR_FAIL, &settlement);
        boxcar_status status;
        batch.own[BOXCAR_OUTBOX].fail_reason = no_handler ? BOXCAR_REASON_NO_HANDLER : BOXCAR_REASON_NONE;
        assert_int_equal(settle_batch(f, f->store, BOXCAR_FAIL, &batch, &status), 1);
        assert_dead(f, id, no_handler ? BOXCAR_REASON_NO_HANDLER : BOXCAR_REASON_REJECTED);
    }
}

static const struct CMUnitTest TESTS[] = {
    TEST(effects_follow_up_and_ack_commit_together),
    TEST(rollback_drops_the_effects_and_the_message_is_still_leased),
    TEST(closing_in_the_middle_rolls_back),
    TEST(one_transaction_follows_another),
    TEST(transaction_that_the_handler_committed_takes_no_ack),
    TEST(transaction_that_the_handler_rolled_back_takes_no_ack),
    TEST(aborted_transaction_is_not_committed),
    TEST(refused_call_says_that_the_transaction_is_lost),
    TEST(ack_of_a_lost_lease_affects_nothing),
    TEST(transactions_do_not_nest_and_need_a_beginning),
    TEST(calls_after_a_transaction_commit_by_themselves),
    TEST(handle_is_lent_by_stores_of_its_kind_only),
    TEST(broken_connection_in_a_transaction_is_not_papered_over),
    TEST(commit_whose_answer_is_lost_has_an_unknown_outcome),
    TEST(batch_that_was_sent_before_owns_what_it_settled),
    TEST(messages_of_a_batch_that_was_sent_before_are_stored_once),
    TEST(reason_of_a_burial_shows_in_the_dead_letters),
};

const struct suite HANDLER_TRANSACTION_SUITE = SUITE(TESTS);
