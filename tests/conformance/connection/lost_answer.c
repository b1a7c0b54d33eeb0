/* A connection that breaks after the server has done what it was asked, and before it could say so. Each test
 * loses every answer of a call once, and finds that the call did its work once and says so. */
#include <stdio.h>

#include "inboxes.h"
#include "link.h"
#include "runner.h"
#include "streams.h"

enum { ANSWERS_MAX = 6 }; /* more than any of these calls waits for */

/* The fixture's store behind a link, in its place. */
struct far_store {
    struct fixture *f;
    struct link link;
    boxcar_store *near_store;
};

static void open_far(struct far_store *far) {
    struct fixture *f = far->f;
    boxcar_store_options options = fixture_options(f);
    char url[600];
    snprintf(url, sizeof(url), "%s?port=%d", f->url, far->link.port);
    options.url = boxcar_str_of(url);
    f->store = NULL;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
}

static void setup(struct fixture *f, struct far_store *far) {
    *far = (struct far_store){.f = f, .near_store = f->store};
    link_open(&far->link, f->url);
    open_far(far);
}

/* On a connection that is new: nothing is prepared on it, so that there is one answer for each statement. */
static void lose_answer(struct far_store *far, int which) {
    boxcar_store_close(far->f->store);
    open_far(far);
    link_lose_answer(&far->link, which);
}

static void lose_none(struct far_store *far) { link_lose_answer(&far->link, 0); }

static void teardown(struct far_store *far) {
    boxcar_store_close(far->f->store);
    far->f->store = far->near_store;
    link_close(&far->link);
}

/* `count` messages in a stream of its own; halted: the first of them has died. */
static void make_stream(struct fixture *f, int number, bool halted, boxcar_work_id *ids, size_t count,
                        char key[32]) {
    snprintf(key, 32, "%s-%d", halted ? "h" : "s", number);
    enqueue_run(f, key, count, ids);
    if (halted) {
        struct batch_taken batch = take_run(f, f->owner, ids, count);
        boxcar_settlement rest[RUN_MAX];
        size_t deferred = 0;
        for (size_t i = 1; i < count; i++)
            rest[i - 1] = settlement_of(batch.items[i]);
        ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_DEFER, rest, count - 1,
                                   NULL, &deferred, &f->err));
        assert_true(bury(f, f->owner, batch.items[0], "no"));
        assert_stream_state(f, key, BOXCAR_STREAM_HALTED);
    }
}

/* BX-006 */
static void skipping_gives_up_one_message(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        boxcar_work_id ids[3], skipped = {0};
        char key[32];
        make_stream(f, i, false, ids, 3, key);
        lose_answer(&far, i);
        ASSERT_OK(f, boxcar_stream_skip(f->store, BOXCAR_OUTBOX, boxcar_str_of(key), &skipped, &f->err));
        lose_none(&far);
        assert_int_equal(skipped.value, ids[0].value);
        assert_dead(f, ids[0], BOXCAR_REASON_CANCELLED);
        assert_int_equal(stream_of(f, key).head.value, ids[1].value);
        assert_int_equal(stream_of(f, key).pending, 2);
    }
    teardown(&far);
}

/* BX-006 */
static void skipping_in_a_halted_stream_only_resumes_it(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    set_rule(f, "h*", BOXCAR_STREAM_HALT);
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        boxcar_work_id ids[3], skipped = {0};
        char key[32];
        make_stream(f, i, true, ids, 3, key);
        lose_answer(&far, i);
        ASSERT_OK(f, boxcar_stream_skip(f->store, BOXCAR_OUTBOX, boxcar_str_of(key), &skipped, &f->err));
        lose_none(&far);
        assert_int_equal(skipped.value, ids[0].value);
        assert_stream_state(f, key, BOXCAR_STREAM_READY);
        struct batch_taken batch = take_run(f, f->owner, ids + 1, 2);
        assert_int_equal(ack_batch(f, f->owner, &batch), 2);
    }
    teardown(&far);
}

/* BX-006: also when nothing is left in the stream, which is none any more then. */
static void resuming_a_stream_is_no_conflict(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    set_rule(f, "h*", BOXCAR_STREAM_HALT);
    setup(f, &far);
    for (int i = 1; i <= 4 * ANSWERS_MAX; i++) {
        boxcar_work_id ids[2];
        bool replay = i % 2, alone = i % 4 < 2;
        char key[32];
        make_stream(f, i, true, ids, alone ? 1 : 2, key);
        lose_answer(&far, (i + 3) / 4);
        resume(f, key, replay);
        lose_none(&far);
        if (replay)
            assert_true(ack(f, f->owner, take(f, f->owner, ids[0])));
        else
            assert_dead(f, ids[0], BOXCAR_REASON_REJECTED);
        if (!alone)
            assert_true(ack(f, f->owner, take(f, f->owner, ids[1])));
        assert_no_stream(f, key);
    }
    teardown(&far);
}

/* BX-006 */
static void removing_a_rule_finds_it(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    set_rule(f, "a*", BOXCAR_STREAM_HALT);
    lose_answer(&far, 1);
    ASSERT_OK(f, boxcar_stream_rule_write(f->store, BOXCAR_STR("a*"), BOXCAR_STREAM_DEFAULT, &f->err));
    lose_none(&far);
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_stream_rule_write(f->store, BOXCAR_STR("a*"), BOXCAR_STREAM_DEFAULT, &f->err));
    teardown(&far);
}

/* BX-028 */
static void cancelling_is_no_conflict(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        boxcar_message_ref ref = {.work_id = enqueue(f, "t", "p").work_id};
        lose_answer(&far, i);
        ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
        lose_none(&far);
        assert_dead(f, ref.work_id, BOXCAR_REASON_CANCELLED);
    }
    teardown(&far);
}

/* BX-084 */
static void reviving_is_no_conflict(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        char id[32];
        snprintf(id, sizeof(id), "%d", i);
        boxcar_work_id dead = deliver_dead(f, "shop", id).work_id, revived = {0};
        lose_answer(&far, i);
        ASSERT_OK(f, boxcar_inbox_revive(f->store, (boxcar_message_ref){.work_id = dead},
                                         BOXCAR_STR("it was fixed"), &revived, &f->err));
        lose_none(&far);
        assert_int_equal(revived.value, dead.value);
        assert_true(inbox_ack(f, inbox_take(f, f->owner, dead)));
    }
    teardown(&far);
}

/* BX-004: by both kinds of names. */
static void replayed_messages_are_counted_when_they_are_named(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        boxcar_enqueued dead[2] = {enqueue_dead(f, "t", "no"), enqueue_dead(f, "t", "no")};
        boxcar_work_id alive = enqueue(f, "t", "p").work_id;
        boxcar_message_ref refs[] = {
            {.work_id = dead[0].work_id}, {.message_id = dead[1].message_id}, {.work_id = alive}};
        boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
        int64_t count = 0;
        filter.refs = refs;
        filter.ref_count = 3;
        lose_answer(&far, i);
        ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, i % 2 ? BOXCAR_STR("fixed") : BOXCAR_NO_STR,
                                        &count, &f->err));
        lose_none(&far);
        assert_int_equal(count, 2);
        struct batch_taken batch = claim_batch(f, f->owner, 9);
        assert_int_equal(ack_batch(f, f->owner, &batch), 3);
    }
    teardown(&far);
}

/* BX-027: the first try has stored it under the id that the second has. */
static void enqueueing_a_unique_key_stores_one_message(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        boxcar_new_message message = new_message("t", "p");
        boxcar_enqueued enqueued;
        message.key = BOXCAR_STR("k");
        message.unique = 1;
        lose_answer(&far, i);
        ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
        lose_none(&far);
        assert_false(enqueued.duplicate);
        assert_true(ack(f, f->owner, take(f, f->owner, enqueued.work_id)));
        assert_nothing_claimable(f);
    }
    teardown(&far);
}

static boxcar_status give_two_chunks(void *context, int64_t wait_ms, boxcar_chunk *ret_chunk,
                                     boxcar_error *err) {
    static boxcar_new_message messages[2];
    boxcar_enqueued *enqueued = context;
    (void)wait_ms, (void)err;
    messages[0] = messages[1] = new_message("t", "p");
    ret_chunk->is_last = enqueued[0].message_id.uuid.bytes[0] == 1;
    enqueued[0].message_id.uuid.bytes[0] = 1;
    ret_chunk->messages = messages;
    ret_chunk->count = 1;
    ret_chunk->enqueued = &enqueued[ret_chunk->is_last];
    return BOXCAR_OK;
}

/* BX-001, BX-027: of whatever the feed's transaction asks, its commit too. */
static void feeding_stores_every_message_once(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        boxcar_enqueued enqueued[2] = {0};
        lose_answer(&far, i);
        ASSERT_OK(f, boxcar_enqueue_feed(f->store, BOXCAR_OUTBOX, give_two_chunks, enqueued, &f->err));
        lose_none(&far);
        struct batch_taken batch = claim_batch(f, f->owner, 9);
        assert_int_equal(ack_batch(f, f->owner, &batch), 2);
        for (size_t j = 0; j < 2; j++) {
            assert_false(enqueued[j].duplicate);
            assert_int_equal(batch.items[j].work_id.value, enqueued[j].work_id.value);
        }
    }
    teardown(&far);
}

/* ---- claims ---- */

static void assert_untried(struct fixture *f, boxcar_work_id work_id) {
    boxcar_attempt_list *list = NULL;
    ASSERT_OK(f, boxcar_attempt_read(f->store, work_id, &list, &f->err));
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
    assert_int_equal(retry_count_of(f, work_id), 0);
}

static void assert_no_lease(struct fixture *f) {
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from lease"), 0);
}

/* BX-003: nobody crashed. What the first try leased comes with the second. */
static void claim_costs_no_attempt(void **state) {
    enum { COUNT = 3 };
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        boxcar_work_id ids[COUNT];
        enqueue_many(f, "t", COUNT, ids);
        lose_answer(&far, i);
        struct batch_taken batch = claim_batch(f, f->owner, COUNT);
        lose_none(&far);
        assert_int_equal(batch.count, COUNT);
        for (size_t j = 0; j < COUNT; j++)
            assert_untried(f, batch.items[j].work_id);
        assert_int_equal(ack_batch(f, f->owner, &batch), COUNT);
        assert_no_lease(f);
    }
    teardown(&far);
}

/* BX-003: what a request claims of its own messages, too, whether its claim comes with it or after it. */
static void claim_of_own_messages_costs_no_attempt(void **state) {
    enum { COUNT = 2 };
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= 2 * ANSWERS_MAX; i++) {
        boxcar_new_message messages[COUNT] = {new_message("t", "a"), new_message("t", "b")};
        boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
        boxcar_request request = BOXCAR_REQUEST_INIT;
        struct batch_taken batch = {.count = 0};
        boxcar_result *result = NULL;
        request.owner = f->owner;
        request.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, COUNT};
        request.parts[BOXCAR_OUTBOX] = &part;
        part.claim_size = i % 2 ? COUNT : 5;
        part.claim_stored = true;
        lose_answer(&far, (i + 1) / 2);
        ASSERT_OK(f, boxcar_process(f->store, &request, &result, &f->err));
        lose_none(&far);
        const boxcar_message_list *claimed = result->claimed[BOXCAR_OUTBOX];
        assert_int_equal(claimed->count, COUNT);
        for (size_t j = 0; j < COUNT; j++) {
            assert_false(result->enqueued[BOXCAR_OUTBOX].items[j]->duplicate);
            assert_int_equal(claimed->items[j]->work_id.value,
                             result->enqueued[BOXCAR_OUTBOX].items[j]->work_id.value);
            assert_untried(f, claimed->items[j]->work_id);
            batch.items[batch.count++] =
                (struct taken){claimed->items[j]->work_id, claimed->items[j]->epoch, 0, 0};
        }
        boxcar_result_free(result);
        assert_int_equal(ack_batch(f, f->owner, &batch), COUNT);
        assert_no_lease(f);
    }
    teardown(&far);
}

/* BX-002: the first try may have asked for the work id, or settled. */
static void settling_by_message_id_is_told(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        boxcar_enqueued enqueued = enqueue(f, "t", "p");
        struct taken taken = take(f, f->owner, enqueued.work_id);
        boxcar_settlement done = BOXCAR_SETTLEMENT_INIT;
        boxcar_work_id affected = {0};
        size_t count = 0;
        done.message_id = enqueued.message_id;
        done.epoch = taken.epoch;
        lose_answer(&far, i);
        ASSERT_OK(
            f, boxcar_ack(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), &done, 1, &affected, &count, &f->err));
        lose_none(&far);
        assert_int_equal(count, 1);
        assert_int_equal(affected.value, taken.work_id.value);
        assert_status(f, taken.work_id, BOXCAR_DONE);
    }
    teardown(&far);
}

/* BX-003, BX-006: of a stream, too, in order. */
static void claim_of_a_stream_costs_no_attempt(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        boxcar_work_id ids[3];
        char key[32];
        make_stream(f, i, false, ids, 3, key);
        lose_answer(&far, i);
        struct batch_taken batch = take_run(f, f->owner, ids, 3);
        lose_none(&far);
        assert_untried(f, ids[0]);
        assert_int_equal(ack_batch(f, f->owner, &batch), 3);
        assert_no_lease(f);
    }
    teardown(&far);
}

/* BX-002, BX-003: only the claim that was lost is given back, not what else the owner holds; and another
 * owner's claim is none of its business. */
static void claim_that_is_lost_leaves_other_leases_alone(void **state) {
    struct fixture *f = *state;
    struct far_store far;
    setup(f, &far);
    for (int i = 1; i <= ANSWERS_MAX; i++) {
        struct taken held = take(f, f->owner, enqueue(f, "t", "held").work_id);
        struct taken others = take(f, f->other, enqueue(f, "t", "others").work_id);
        boxcar_work_id id = enqueue(f, "t", "p").work_id;
        lose_answer(&far, i);
        struct taken taken = take(f, f->owner, id);
        lose_none(&far);
        assert_true(ack(f, f->owner, held));
        assert_true(ack(f, f->other, others));
        assert_true(ack(f, f->owner, taken));
        assert_no_lease(f);
    }
    teardown(&far);
}

/* BX-003: a worker does not wait for the store: it says so with a later batch. */
static void claim_of_a_worker_costs_no_attempt(void **state) {
    enum { COUNT = 40 };
    struct fixture *f = *state;
    struct far_store far;
    struct runner *runner = runner_new(f);
    char url[600];
    setup(f, &far);
    boxcar_store_close(f->store);
    f->store = far.near_store;
    snprintf(url, sizeof(url), "%s?port=%d", f->url, far.link.port);
    runner->store.url = boxcar_str_of(url);
    runner->options.drain = false;
    runner_handle(runner, "t");
    runner_start(runner);
    enqueue(f, "t", "ack");
    runner_await(runner, "t", 1);
    for (int i = 1; i < COUNT; i++) {
        link_lose_answer(&far.link, 1 + i % 4);
        enqueue(f, "t", "ack");
        pause_ms(30); /* so that different calls of the worker are hit; which ones does not matter */
    }
    lose_none(&far);
    runner_await(runner, "t", COUNT);
    runner_stop(runner);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from attempt"), 0);
    assert_int_equal(runner_count(runner, "t"), COUNT);
    runner_free(runner);
    link_close(&far.link);
}

static const struct CMUnitTest TESTS[] = {
    TEST(claim_costs_no_attempt),
    TEST(claim_of_own_messages_costs_no_attempt),
    TEST(settling_by_message_id_is_told),
    TEST(claim_of_a_stream_costs_no_attempt),
    TEST(claim_that_is_lost_leaves_other_leases_alone),
    TEST(claim_of_a_worker_costs_no_attempt),
    TEST(enqueueing_a_unique_key_stores_one_message),
    TEST(feeding_stores_every_message_once),
    TEST(skipping_gives_up_one_message),
    TEST(skipping_in_a_halted_stream_only_resumes_it),
    TEST(resuming_a_stream_is_no_conflict),
    TEST(removing_a_rule_finds_it),
    TEST(cancelling_is_no_conflict),
    TEST(reviving_is_no_conflict),
    TEST(replayed_messages_are_counted_when_they_are_named),
};

const struct suite LOST_ANSWER_SUITE = SUITE(TESTS);
