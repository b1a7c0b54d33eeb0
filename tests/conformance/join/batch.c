/* Much at once: what one batch, one call or one round of upkeep does to many members, joins and waits. */
#include <stdlib.h>
#include <string.h>

#include "borrow.h"
#include "joins.h"
#include "store/store.h"

enum { WAITS = 40 };

/* A batch that f->owner sends, and what came of it. Arrays, so that tests can fill in. */
struct parcel {
    boxcar_settlement acks[WAITS], fails[WAITS], resolves[WAITS];
    struct wait waits[WAITS];
    struct request batch;
    enum wait_outcome outcomes[WAITS];
};

static struct parcel *new_parcel(struct fixture *f) {
    struct parcel *p = calloc(1, sizeof(*p));
    assert_non_null(p);
    p->batch = (struct request){.base.owner = f->owner, .own[BOXCAR_OUTBOX].waits = p->waits};
    p->batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK].items = p->acks;
    p->batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_FAIL].items = p->fails;
    p->batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_RESOLVE].items = p->resolves;
    return p;
}

static void add_ack(struct parcel *p, struct taken taken) {
    p->acks[p->batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK].count++] = settlement_of(taken);
}

static void add_fail(struct parcel *p, struct taken taken) {
    p->fails[p->batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_FAIL].count++] = settlement_of(taken);
}

/* For the join named here, whatever the message says. */
static void add_wait(struct parcel *p, boxcar_join_id join_id, boxcar_message_id wait_id,
                     struct taken taken) {
    size_t i = p->batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_RESOLVE].count++;
    p->resolves[i] = settlement_of(taken);
    p->waits[i] = (struct wait){.join_id = join_id,
                                .on_complete_topic = BOXCAR_STR("completed"),
                                .on_complete_payload = BOXCAR_STR("yes"),
                                .on_fail_topic = BOXCAR_STR("failed"),
                                .on_fail_payload = BOXCAR_STR("no"),
                                .continuation_id = boxcar_join_continuation_id(wait_id)};
}

static void send(struct fixture *f, struct parcel *p) {
    struct result result = {.arena = ARENA_INIT};
    ASSERT_OK(f, f->store->ops->process(f->store, &p->batch, &result, &f->err));
    for (size_t i = 0; i < p->batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_RESOLVE].count; i++)
        p->outcomes[i] = result.parts[BOXCAR_OUTBOX].waits[i];
    result_release(&result);
}

/* BX-045, JOIN-054, JOIN-055: answers come in the order of the questions. */
static void many_waits_are_evaluated_in_one_batch(void **state) {
    static const enum wait_outcome WANTED[] = {WAIT_COMPLETED, WAIT_DEFERRED, WAIT_NO_JOIN, WAIT_FAILED};
    static const char *const TOPICS[] = {"completed", NULL, NULL, "failed"};
    struct fixture *f = *state;
    struct parcel *p = new_parcel(f);
    boxcar_join_id ids[4] = {start_join(f, 1), start_join(f, 1), unknown_join(), start_join(f, 1)};
    assert_true(ack(f, f->owner, take_step(f, ids[0])));
    ASSERT_OK(f, boxcar_join_cancel(f->store, ids[3], &f->err));
    boxcar_enqueued waits[WAITS];
    for (int i = 0; i < WAITS; i++)
        waits[i] = enqueue_wait(f, ids[1]);
    for (int i = 0; i < WAITS; i++)
        add_wait(p, ids[i * 7 % 4], waits[i].message_id, take_topic(f, f->owner, WAIT, waits[i].work_id));
    send(f, p);
    for (int i = 0; i < WAITS; i++) {
        int which = i * 7 % 4;
        assert_int_equal(p->outcomes[i], WANTED[which]);
        if (TOPICS[which])
            assert_continuation(f, waits[i], TOPICS[which], which ? "no" : "yes");
        else
            assert_no_continuation(f, waits[i]);
        assert_status(f, waits[i].work_id,
                      which == 1   ? BOXCAR_READY
                      : which == 2 ? BOXCAR_FAILED
                                   : BOXCAR_DONE);
    }
    free(p);
}

/* BX-041, BX-044: settling comes before evaluating. */
static void last_ack_and_the_wait_for_it_may_share_a_batch(void **state) {
    struct fixture *f = *state;
    struct parcel *p = new_parcel(f);
    boxcar_join_id good = start_join(f, 2), bad = start_join(f, 2);
    boxcar_enqueued waits[2] = {enqueue_wait(f, good), enqueue_wait(f, bad)};
    add_wait(p, good, waits[0].message_id, take_topic(f, f->owner, WAIT, waits[0].work_id));
    add_wait(p, bad, waits[1].message_id, take_topic(f, f->owner, WAIT, waits[1].work_id));
    add_ack(p, take_step(f, good));
    add_ack(p, take_step(f, good));
    add_ack(p, take_step(f, bad));
    add_fail(p, take_step(f, bad));
    send(f, p);
    assert_join(f, good, BOXCAR_JOIN_COMPLETED, 2, 0);
    assert_join(f, bad, BOXCAR_JOIN_FAILED, 1, 1);
    assert_int_equal(p->outcomes[0], WAIT_COMPLETED);
    assert_int_equal(p->outcomes[1], WAIT_FAILED);
    free(p);
}

/* BX-002, BX-045 */
static void wait_twice_in_a_batch_has_one_continuation(void **state) {
    struct fixture *f = *state;
    struct parcel *p = new_parcel(f);
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued wait = enqueue_wait(f, id);
    struct taken taken = take_topic(f, f->owner, WAIT, wait.work_id);
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err)); /* passes it over: it is held */
    add_wait(p, id, wait.message_id, taken);
    add_wait(p, id, wait.message_id, taken);
    send(f, p);
    assert_int_equal(p->outcomes[0], WAIT_FAILED);
    assert_status(f, wait.work_id, BOXCAR_DONE);
    struct taken all[3];
    assert_int_equal(take_all(f, f->other, 30000, all, 3), 1);
    free(p);
}

/* BX-043, JOIN-023, BX-041 */
static void acks_and_fails_of_one_batch_count_no_more_than_expected(void **state) {
    struct fixture *f = *state;
    struct parcel *p = new_parcel(f);
    boxcar_join_id id = start_join(f, 7);
    struct taken taken[20];
    take_steps(f, id, taken, 20);
    for (int i = 0; i < 20; i++)
        (i % 4 == 0 ? add_fail : add_ack)(p, taken[i]);
    send(f, p);
    boxcar_join join = join_of(f, id);
    assert_int_equal(join.completed_steps + join.failed_steps, 7);
    assert_consistent(f, id);
    assert_int_equal(count_members(f, id, BOXCAR_MEMBER_PENDING), 13);
    free(p);
}

/* BX-001, BX-007: an answer that was lost on the way makes the library ask again. SQLite loses none. */
static void batch_that_is_sent_again_counts_nothing_twice(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    struct parcel *p = new_parcel(f);
    boxcar_join_id id = start_join(f, 5), ended = start_join(f, 1);
    boxcar_enqueued waits[2] = {enqueue_wait(f, ended), enqueue_wait(f, id)};
    add_wait(p, ended, waits[0].message_id, take_topic(f, f->owner, WAIT, waits[0].work_id));
    add_wait(p, id, waits[1].message_id, take_topic(f, f->owner, WAIT, waits[1].work_id));
    add_ack(p, take_step(f, ended));
    add_ack(p, take_step(f, id));
    add_fail(p, take_step(f, id));
    for (int i = 0; i < 3; i++) {
        send(f, p);
        assert_join(f, id, BOXCAR_JOIN_PENDING, 1, 1);
        assert_join(f, ended, BOXCAR_JOIN_COMPLETED, 1, 0);
        assert_status(f, waits[0].work_id, BOXCAR_DONE);
        assert_status(f, waits[1].work_id, BOXCAR_READY);
        p->batch.base.sent_before = true;
    }
    boxcar_message_list *list = claim_topic(f, f->other, 5, "completed");
    assert_int_equal(list->count, 1);
    boxcar_list_free(list);
    free(p);
}

/* ---- many deaths at once ---- */

static void enqueue_mortals(struct fixture *f, boxcar_join_id id, int64_t ttl_ms, size_t count) {
    boxcar_new_message *messages = calloc(count, sizeof(*messages));
    assert_non_null(messages);
    for (size_t i = 0; i < count; i++) {
        messages[i] = new_message(STEP, "p");
        messages[i].join_id = id;
        messages[i].ttl_ms = ttl_ms;
        messages[i].max_attempts = 1;
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, count, NULL, &f->err));
    free(messages);
}

/* JOIN-031, BX-005, BX-041 */
static void hundreds_of_messages_that_expire_all_count(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1500);
    enqueue_mortals(f, id, 50, 1500);
    wait_out(f, 50);
    for (int i = 0; i < 300 && join_of(f, id).status == BOXCAR_JOIN_PENDING; i++) {
        assert_nothing_claimable(f);
        maintain_joins(f);
        pause_ms(10);
    }
    assert_join(f, id, BOXCAR_JOIN_FAILED, 0, 1500);
}

/* JOIN-031, BX-003, BX-041 */
static void hundreds_of_messages_lost_with_their_lease_all_count(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 400), half = start_join(f, 400);
    enqueue_mortals(f, id, 0, 200);
    enqueue_mortals(f, half, 0, 200);
    boxcar_message_list *list = claim_for(f, f->owner, 400, BOXCAR_LEASE_MS_MIN);
    assert_int_equal(list->count, 400);
    boxcar_list_free(list);
    wait_out(f, BOXCAR_LEASE_MS_MIN);
    for (int i = 0; i < 300 && stats_of(f).failed < 400; i++) {
        reap(f);
        pause_ms(5);
    }
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 200);
    assert_join(f, half, BOXCAR_JOIN_PENDING, 0, 200);
}

/* BX-047, BX-042 */
static void two_thousand_ids_are_attached_and_resolved_by_a_call_each(void **state) {
    struct fixture *f = *state;
    enum { COUNT = 2000 };
    boxcar_join_id id = start_join(f, COUNT);
    boxcar_message_id *ids = calloc(COUNT, sizeof(*ids));
    boxcar_attached *attached = calloc(COUNT, sizeof(*attached));
    boxcar_new_message *messages = calloc(COUNT, sizeof(*messages));
    assert_true(ids && attached && messages);
    attached[0] = BOXCAR_ATTACHED_INIT;
    for (int i = 0; i < COUNT; i++) {
        ids[i].uuid = boxcar_uuid_new();
        messages[i] = new_message(STEP, "p");
        messages[i].message_id = ids[i];
    }
    ASSERT_OK(f, boxcar_join_attach(f->store, id, ids, COUNT, attached, &f->err));
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, COUNT, NULL, &f->err));
    ASSERT_OK(f, boxcar_join_attach(f->store, id, ids, COUNT, attached, &f->err));
    for (int i = 0; i < COUNT; i++)
        assert_true(!attached[i].is_new && attached[i].message_exists);
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_outbox_join_member where work_id is not null",
                           "select count(*) from outbox_join_member where work_id is not null"),
        COUNT);
    free(ids);
    free(attached);
    free(messages);
}

/* BX-042: within one transaction of the caller, where the ack sees the attach or the other way round. */
static void attach_and_ack_in_one_transaction_count_in_either_order(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    for (int attach_first = 0; attach_first < 2; attach_first++) {
        boxcar_join_id id = start_join(f, 1);
        boxcar_enqueued step = enqueue(f, STEP, "p");
        struct taken taken = take(f, f->owner, step.work_id);
        boxcar_store *own = f->store;
        f->store = b.store;
        borrowed_exec(&b, "begin");
        if (attach_first)
            attach(f, id, step.message_id);
        assert_true(ack(f, f->owner, taken));
        if (!attach_first)
            attach(f, id, step.message_id);
        borrowed_exec(&b, "commit");
        f->store = own;
        if (!attach_first)
            assert_int_equal(maintain_joins(f).settled, 1);
        assert_join(f, id, BOXCAR_JOIN_COMPLETED, 1, 0);
    }
    borrowed_close(&b);
}

static const struct CMUnitTest TESTS[] = {
    TEST(many_waits_are_evaluated_in_one_batch),
    TEST(last_ack_and_the_wait_for_it_may_share_a_batch),
    TEST(wait_twice_in_a_batch_has_one_continuation),
    TEST(acks_and_fails_of_one_batch_count_no_more_than_expected),
    TEST(batch_that_is_sent_again_counts_nothing_twice),
    TEST(hundreds_of_messages_that_expire_all_count),
    TEST(hundreds_of_messages_lost_with_their_lease_all_count),
    TEST(two_thousand_ids_are_attached_and_resolved_by_a_call_each),
    TEST(attach_and_ack_in_one_transaction_count_in_either_order),
};

const struct suite JOIN_BATCH_SUITE = SUITE(TESTS);
