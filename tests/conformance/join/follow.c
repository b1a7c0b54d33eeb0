/* Waits without a worker: what evaluates them, and which claims see them. */
#include <stdio.h>
#include <string.h>

#include "joins.h"
#include "log_capture.h"
#include "runner.h"
#include "seam.h"

static size_t count_claimed(struct fixture *f, const char *topic) {
    boxcar_message_list *list = topic ? claim_topic(f, f->owner, 100, topic) : claim(f, f->owner, 100);
    size_t count = list->count;
    boxcar_list_free(list);
    return count;
}

/* The names in the payload of a wait that somebody makes by hand. */
enum spelling { SNAKE, CAMEL, PASCAL };

static boxcar_enqueued enqueue_by_hand(struct fixture *f, boxcar_join_id join_id, enum spelling spelling) {
    static const char *const NAMES[][3] = {{"join_id", "on_complete_topic", "on_complete_payload"},
                                           {"joinId", "onCompleteTopic", "onCompletePayload"},
                                           {"JoinId", "OnCompleteTopic", "OnCompletePayload"}};
    char payload[400], id[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(join_id.uuid, id);
    snprintf(payload, sizeof(payload), "{\"%s\": \"%s\", \"%s\": \"completed\", \"%s\": \"yes\"}",
             NAMES[spelling][0], id, NAMES[spelling][1], NAMES[spelling][2]);
    return enqueue(f, WAIT, payload);
}

/* BX-024, BX-044: neither fresh waits nor those that were parked. */
static void only_who_names_their_topic_is_given_waits(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    enqueue_wait(f, id);
    enqueue_by_hand(f, id, SNAKE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(count_claimed(f, NULL), 0);
        assert_int_equal(count_claimed(f, "*"), 0);
        assert_int_equal(count_claimed(f, "join.*"), 0);
        assert_int_equal(count_claimed(f, STEP), 0);
    }
    assert_int_equal(stats_of(f).ready, 2);
    assert_int_equal(count_claimed(f, WAIT), 2);
    assert_int_equal(audit_lost(f), 0);
}

static void waits_do_not_keep_other_work_from_claims_by_pattern(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    for (int i = 0; i < 20; i++) {
        enqueue_by_hand(f, id, SNAKE);
        enqueue(f, "work", "p");
        enqueue_wait(f, id);
    }
    size_t claimed = 0;
    for (int i = 0; i < 10 && claimed < 20; i++) {
        boxcar_message_list *list = claim(f, f->owner, 7);
        for (size_t k = 0; k < list->count; k++)
            assert_text(list->items[k]->topic, "work");
        claimed += list->count;
        boxcar_list_free(list);
    }
    assert_int_equal(claimed, 20);
}

/* BX-045 */
static void wait_that_comes_after_the_end_is_evaluated_at_once(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    assert_true(ack(f, f->owner, take_step(f, id)));
    boxcar_enqueued wait = enqueue_wait(f, id);
    assert_status(f, wait.work_id, BOXCAR_DONE);
    assert_continuation(f, wait, "completed", "yes");
    assert_int_equal(audit_lost(f), 0);
}

/* Joins whose waits are steps of the next one; the step of the first is acked. */
static void end_chain(struct fixture *f, boxcar_join_id *ids, boxcar_enqueued *waits, int length) {
    for (int i = 0; i < length; i++) {
        ids[i] = start_join(f, 1);
        waits[i] = enqueue_wait(f, ids[i]);
        if (i > 0)
            attach(f, ids[i], waits[i - 1].message_id);
    }
    assert_true(ack(f, f->owner, take_step(f, ids[0])));
}

/* JOIN-060, BX-045: waits that are steps of the next join, ended by one ack. */
static void one_ack_follows_a_chain_of_joins(void **state) {
    enum { LENGTH = 5 };
    struct fixture *f = *state;
    boxcar_join_id ids[LENGTH];
    boxcar_enqueued waits[LENGTH];
    end_chain(f, ids, waits, LENGTH);
    for (int i = 0; i < LENGTH; i++) {
        assert_join(f, ids[i], BOXCAR_JOIN_COMPLETED, 1, 0);
        assert_status(f, waits[i].work_id, BOXCAR_DONE);
        assert_continuation(f, waits[i], "completed", "yes");
    }
}

/* Longer than one transaction wants to follow: upkeep does the rest. */
static void long_chain_is_followed_by_upkeep(void **state) {
    enum { LENGTH = 30 };
    struct fixture *f = *state;
    boxcar_join_id ids[LENGTH];
    boxcar_enqueued waits[LENGTH];
    end_chain(f, ids, waits, LENGTH);
    maintain_joins(f);
    assert_join(f, ids[LENGTH - 1], BOXCAR_JOIN_COMPLETED, 1, 0);
    assert_continuation(f, waits[LENGTH - 1], "completed", "yes");
}

/* BX-044, BX-045: those that were made by hand, in each spelling. */
static void upkeep_evaluates_waits_that_are_due(void **state) {
    struct fixture *f = *state;
    boxcar_join_id ended = start_join(f, 1), open = start_join(f, 1);
    assert_true(ack(f, f->owner, take_step(f, ended)));
    boxcar_enqueued waits[3];
    for (int i = 0; i < 3; i++)
        waits[i] = enqueue_by_hand(f, ended, (enum spelling)i);
    boxcar_enqueued waiting = enqueue_by_hand(f, open, PASCAL),
                    lost = enqueue_by_hand(f, unknown_join(), SNAKE);
    boxcar_enqueued bad = enqueue(f, WAIT, "{\"JoinId\": 7}");
    maintain_joins(f); /* no claim has met them */
    for (int i = 0; i < 3; i++) {
        assert_status(f, waits[i].work_id, BOXCAR_DONE);
        assert_continuation(f, waits[i], "completed", "yes");
    }
    assert_dead(f, lost.work_id, BOXCAR_REASON_REJECTED);
    assert_dead(f, bad.work_id, BOXCAR_REASON_REJECTED);
    assert_status(f, waiting.work_id, BOXCAR_READY);
    assert_true(available_at_of(f, waiting.work_id) > database_now(f));
    assert_true(ack(f, f->owner, take_step(f, open))); /* finds the wait that was put off */
    assert_continuation(f, waiting, "completed", "yes");
}

/* The owner of a leased wait evaluates it. */
static void end_of_a_join_passes_over_waits_that_are_held(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued held = enqueue_wait(f, id);
    struct taken taken = take_topic(f, f->owner, WAIT, held.work_id);
    boxcar_enqueued open = enqueue_wait(f, id);
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_status(f, held.work_id, BOXCAR_IN_PROGRESS);
    assert_status(f, open.work_id, BOXCAR_DONE);
    assert_int_equal(resolve(f, taken), WAIT_COMPLETED);
    assert_continuation(f, held, "completed", "yes");
}

/* BX-045: all of it is in the transaction that ends the join. */
static void continuation_is_undone_with_the_end_of_the_join(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued wait = enqueue_wait(f, id);
    boxcar_store *hand = fixture_open(f);
    ASSERT_OK(f, seam_begin(hand, &f->err));
    ASSERT_OK(f, boxcar_join_cancel(hand, id, &f->err));
    seam_roll_back(hand);
    assert_status(f, wait.work_id, BOXCAR_READY);
    assert_no_continuation(f, wait);
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    assert_continuation(f, wait, "failed", "no");
    boxcar_store_close(hand);
}

static size_t claim_all(struct fixture *f) {
    size_t total = 0, count;
    do
        total += count = count_claimed(f, NULL);
    while (count > 0);
    return total;
}

/* Nobody claims, and it lies behind more than one look takes in. Nothing of the rest is lost. BX-044 */
static void upkeep_finds_a_wait_behind_much_that_nobody_claims(void **state) {
    enum { COUNT = 5000 };
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    enqueue_many(f, "work", COUNT, NULL);
    enqueue_many(f, "work", COUNT, NULL);
    boxcar_enqueued wait = enqueue_by_hand(f, id, SNAKE);
    enqueue_many(f, "work", COUNT, NULL);
    maintain_joins(f);
    assert_status(f, wait.work_id, BOXCAR_DONE);
    assert_int_equal(stats_of(f).ready, 3 * COUNT);
    assert_int_equal(claim_all(f), 3 * COUNT);
    assert_int_equal(audit_lost(f), 0);
}

static boxcar_new_message wait_by_hand(boxcar_join_id join_id, char payload[200]) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    char id[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(join_id.uuid, id);
    snprintf(payload, 200, "{\"join_id\": \"%s\", \"on_complete_topic\": \"completed\"}", id);
    message.topic = BOXCAR_STR(WAIT);
    message.payload = boxcar_str_of(payload);
    return message;
}

/* BX-044 */
static void waits_enqueued_among_other_messages_are_evaluated(void **state) {
    enum { COUNT = 10, EVERY = 5 };
    struct fixture *f = *state;
    boxcar_new_message messages[COUNT];
    boxcar_enqueued enqueued[COUNT];
    boxcar_join_id id = start_join(f, 1);
    char payload[200];
    assert_true(ack(f, f->owner, take_step(f, id)));
    for (int i = 0; i < COUNT; i++)
        messages[i] = i % EVERY == 4 ? wait_by_hand(id, payload) : new_message("work", "p");
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, COUNT, enqueued, &f->err));
    maintain_joins(f);
    for (int i = 0; i < COUNT; i++)
        assert_status(f, enqueued[i].work_id, i % EVERY == 4 ? BOXCAR_DONE : BOXCAR_READY);
    assert_int_equal(count_claimed(f, "work"), 8);
    assert_int_equal(count_claimed(f, "completed"), 2);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-005, BX-044 */
static void delayed_wait_is_evaluated_when_it_is_due(void **state) {
    struct fixture *f = *state;
    boxcar_enqueued early, due;
    boxcar_join_id id = start_join(f, 1);
    char payload[200];
    boxcar_new_message wait = wait_by_hand(id, payload);
    assert_true(ack(f, f->owner, take_step(f, id)));
    wait.delay_ms = 3600000;
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &wait, &early, &f->err));
    wait.delay_ms = 100;
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &wait, &due, &f->err));
    wait_out(f, 100);
    maintain_joins(f);
    assert_status(f, due.work_id, BOXCAR_DONE);
    assert_status(f, early.work_id, BOXCAR_READY);
}

/* BX-044: it makes no claim, and nobody else does. */
static void worker_without_handlers_evaluates_waits(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    assert_true(ack(f, f->owner, take_step(f, id)));
    boxcar_enqueued wait = enqueue_by_hand(f, id, SNAKE);
    boxcar_work_id other = enqueue(f, "work", "p").work_id;
    struct runner *runner = runner_new(f);
    struct log_capture *captured = log_capture_new();
    log_capture_attach(captured, &runner->store);
    ASSERT_OK(f, boxcar_worker_new(&runner->options, &runner->worker, &f->err));
    runner_drain(runner);
    assert_true(log_capture_has(captured, "no handlers: this worker evaluates waits", NULL, NULL, NULL));
    log_capture_free(captured);
    assert_continuation(f, wait, "completed", "yes");
    assert_status(f, other, BOXCAR_READY);
    runner_free(runner);
}

static const struct CMUnitTest TESTS[] = {
    TEST(only_who_names_their_topic_is_given_waits),
    TEST(waits_do_not_keep_other_work_from_claims_by_pattern),
    TEST(wait_that_comes_after_the_end_is_evaluated_at_once),
    TEST(one_ack_follows_a_chain_of_joins),
    TEST(long_chain_is_followed_by_upkeep),
    TEST(upkeep_evaluates_waits_that_are_due),
    TEST(upkeep_finds_a_wait_behind_much_that_nobody_claims),
    TEST(waits_enqueued_among_other_messages_are_evaluated),
    TEST(delayed_wait_is_evaluated_when_it_is_due),
    TEST(end_of_a_join_passes_over_waits_that_are_held),
    TEST(continuation_is_undone_with_the_end_of_the_join),
    TEST(worker_without_handlers_evaluates_waits),
};

const struct suite JOIN_FOLLOW_SUITE = SUITE(TESTS);
