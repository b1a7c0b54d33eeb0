/* One worker serves both boxes of a real store: in the same round trips, each message in its box. */
#include <stdatomic.h>
#include <string.h>

#include "boxes.h"

struct scene {
    struct fixture *f;
    boxcar_store_options store;
    boxcar_worker_options options;
    boxcar_worker *worker;
    _Atomic int calls[BOXES];
};

static void scene_open(struct scene *s, struct fixture *f) {
    *s = (struct scene){.f = f, .store = fixture_options(f), .options = BOXCAR_WORKER_OPTIONS_INIT};
    s->options.store = &s->store;
    s->options.drain = true;
    s->options.poll_ms = 20;
    ASSERT_OK(f, boxcar_worker_new(&s->options, &s->worker, &f->err));
}

static void run(struct scene *s) {
    ASSERT_OK(s->f, boxcar_worker_run(s->worker, &s->f->err));
    boxcar_worker_free(s->worker);
}

static boxcar_verdict count(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    const boxcar_message *message = boxcar_delivery_message(delivery);
    atomic_fetch_add(&s->calls[message->box], 1);
    return message->payload.data[0] == 'x' ? BOXCAR_VERDICT_FAIL : BOXCAR_VERDICT_ACK;
}

static void both_boxes_are_drained_by_one_worker(void **state) {
    struct fixture *f = *state;
    struct scene s;
    boxcar_work_id ids[40];
    for (int i = 0; i < 40; i++)
        ids[i] = put_into(f, (boxcar_box)(i % 2), "t", i < 2 ? "x" : "y", i < 20 ? NULL : "stream");
    scene_open(&s, f);
    ASSERT_OK(f, boxcar_worker_handle(s.worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("t"), count, &s), &f->err));
    ASSERT_OK(f, boxcar_worker_handle(s.worker, HANDLER(BOXCAR_INBOX, BOXCAR_STR("t"), count, &s), &f->err));
    run(&s);
    assert_int_equal(s.calls[BOXCAR_OUTBOX], 20);
    assert_int_equal(s.calls[BOXCAR_INBOX], 20);
    for (int i = 0; i < 40; i++)
        assert_int_equal(status_in(f, (boxcar_box)(i % 2), ids[i]), i < 2 ? BOXCAR_FAILED : BOXCAR_DONE);
}

/* BX-024: also the waits for joins are the outbox's. */
static void worker_of_one_box_leaves_the_other_alone(void **state) {
    struct fixture *f = *state;
    struct scene s;
    boxcar_work_id out = put_into(f, BOXCAR_OUTBOX, "t", "y", NULL);
    boxcar_work_id in = put_into(f, BOXCAR_INBOX, "t", "y", NULL);
    scene_open(&s, f);
    ASSERT_OK(f, boxcar_worker_handle(s.worker, HANDLER(BOXCAR_INBOX, BOXCAR_STR("*"), count, &s), &f->err));
    run(&s);
    assert_int_equal(s.calls[BOXCAR_INBOX], 1);
    assert_int_equal(s.calls[BOXCAR_OUTBOX], 0);
    assert_int_equal(status_in(f, BOXCAR_INBOX, in), BOXCAR_DONE);
    assert_status(f, out, BOXCAR_READY);
}

/* BX-008: the follow-up and the ack of a message of the inbox are one transaction. */
static boxcar_verdict pass_on(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    boxcar_new_message message = new_message("t", "y");
    boxcar_store *store = NULL;
    atomic_fetch_add(&s->calls[BOXCAR_INBOX], 1);
    if (boxcar_delivery_begin(delivery, &store, NULL) != BOXCAR_OK ||
        boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, NULL) != BOXCAR_OK)
        return BOXCAR_VERDICT_RETRY;
    return boxcar_delivery_message(delivery)->payload.data[0] == 'x' ? BOXCAR_VERDICT_FAIL
                                                                     : BOXCAR_VERDICT_ACK;
}

/* What a handler of one box puts into the other is drained too. */
static void handler_transaction_acks_in_the_inbox(void **state) {
    struct fixture *f = *state;
    struct scene s;
    boxcar_work_id ids[8];
    for (int i = 0; i < 8; i++)
        ids[i] = put_into(f, BOXCAR_INBOX, "in", i < 2 ? "x" : "y", NULL);
    scene_open(&s, f);
    ASSERT_OK(f, boxcar_worker_handle(s.worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("t"), count, &s), &f->err));
    ASSERT_OK(f,
              boxcar_worker_handle(s.worker, HANDLER(BOXCAR_INBOX, BOXCAR_STR("in"), pass_on, &s), &f->err));
    run(&s);
    assert_int_equal(s.calls[BOXCAR_INBOX], 8);
    assert_int_equal(s.calls[BOXCAR_OUTBOX], 6); /* what was rolled back is not there */
    for (int i = 0; i < 8; i++)
        assert_int_equal(status_in(f, BOXCAR_INBOX, ids[i]), i < 2 ? BOXCAR_FAILED : BOXCAR_DONE);
}

/* BX-061 */
static void worker_registers_for_the_boxes_that_it_serves(void **state) {
    struct fixture *f = *state;
    struct scene s;
    scene_open(&s, f);
    ASSERT_OK(f, boxcar_worker_handle(s.worker, HANDLER_DISCARD(BOXCAR_INBOX, BOXCAR_STR("in")), &f->err));
    put_into(f, BOXCAR_INBOX, "in", "y", NULL);
    run(&s);
    /* It has signed off: nothing is left of it in either box. */
    assert_int_equal(
        fixture_sql_number(f, "select count(*) from boxcar_instance", "select count(*) from instance"), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(both_boxes_are_drained_by_one_worker),
    TEST(worker_of_one_box_leaves_the_other_alone),
    TEST(handler_transaction_acks_in_the_inbox),
    TEST(worker_registers_for_the_boxes_that_it_serves),
};

const struct suite WORKER_BOXES_SUITE = SUITE(TESTS);
