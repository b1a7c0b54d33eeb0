/* What the log says of joins that end: one record for each, by the process that ended it, and none for an end
 * that was taken back. */
#include <stdatomic.h>
#include <stdio.h>

#include "borrow.h"
#include "joins.h"
#include "log_capture.h"
#include "runner.h"
#include "seam.h"

static size_t records_of(struct log_capture *captured, boxcar_join_id join_id) {
    char text[BOXCAR_UUID_TEXT_SIZE], field[64];
    boxcar_uuid_format(join_id.uuid, text);
    snprintf(field, sizeof(field), "join_id=%s ", text);
    return log_capture_count(captured, "info join_end ", field, NULL, NULL);
}

/* JOIN-072 */
static void end_by_an_ack_is_logged_once(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    log_capture_reopen(captured, f);
    boxcar_join_id id = start_join(f, 2);
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_int_equal(records_of(captured, id), 0);
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_int_equal(records_of(captured, id), 1);
    enqueue(f, "other", "p"); /* what comes later does not tell it again */
    assert_int_equal(records_of(captured, id), 1);
    log_capture_free(captured);
}

/* ---- by a worker's handler ---- */

enum way { BY_THE_ACK, BY_REPORT, BY_CANCEL, BY_ACK_AND_REPORT, WAYS };

struct handler {
    enum way way;
    bool begins;       /* a transaction */
    bool is_retried;   /* the first attempt is taken back */
    boxcar_join_id id; /* the step's join, or the one that the handler ends */
    boxcar_join_id other;
    _Atomic int calls;
};

static boxcar_status end_join(const struct handler *handler, boxcar_store *store,
                              boxcar_message_id message_id, boxcar_error *err) {
    switch (handler->way) {
    case BY_REPORT:
        return boxcar_join_report(store, handler->id, message_id, BOXCAR_MEMBER_COMPLETED, NULL, err);
    case BY_CANCEL:
        return boxcar_join_cancel(store, handler->id, err);
    case BY_ACK_AND_REPORT:
        return boxcar_join_cancel(store, handler->other, err);
    default:
        return BOXCAR_OK;
    }
}

static boxcar_verdict handle(void *context, boxcar_delivery *delivery) {
    struct handler *handler = context;
    boxcar_message_id message_id = boxcar_delivery_message(delivery)->message_id;
    boxcar_store *store = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    bool is_first = atomic_fetch_add(&handler->calls, 1) == 0;
    if (handler->begins && (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK ||
                            end_join(handler, store, message_id, &err) != BOXCAR_OK)) {
        boxcar_delivery_set_error(delivery, boxcar_str_of(err.message));
        return BOXCAR_VERDICT_FAIL;
    }
    boxcar_delivery_set_delay_ms(delivery, 0);
    return is_first && handler->is_retried ? BOXCAR_VERDICT_RETRY : BOXCAR_VERDICT_ACK;
}

static void run_handler(struct fixture *f, struct log_capture *captured, struct handler *handler) {
    struct runner *runner = runner_new(f);
    log_capture_attach(captured, &runner->store);
    runner_handle(runner, "unused");
    ASSERT_OK(f, boxcar_worker_handle(runner->worker,
                                      HANDLER(BOXCAR_OUTBOX, BOXCAR_STR(STEP), handle, handler), &f->err));
    runner_drain(runner);
    runner_free(runner);
    assert_int_equal(handler->calls, handler->is_retried ? 2 : 1);
}

/* The join is of one step, which the worker handles; BY_CANCEL: it waits for another one. */
static void ended_by_a_handler(struct fixture *f, enum way way, bool begins, bool is_retried) {
    struct log_capture *captured = log_capture_new();
    struct handler handler = {.way = way, .begins = begins, .is_retried = is_retried};
    handler.id = start_join(f, way == BY_CANCEL ? 2 : 1);
    handler.other = start_join(f, 1);
    enqueue_step(f, handler.id);
    run_handler(f, captured, &handler);
    assert_true(join_of(f, handler.id).status != BOXCAR_JOIN_PENDING);
    assert_int_equal(records_of(captured, handler.id), 1);
    assert_int_equal(records_of(captured, handler.other), way == BY_ACK_AND_REPORT);
    log_capture_free(captured);
}

/* JOIN-072 */
static void end_by_a_workers_ack_is_logged_once(void **state) {
    ended_by_a_handler(*state, BY_THE_ACK, false, false);
    ended_by_a_handler(*state, BY_THE_ACK, false, true);
}

/* JOIN-072, BX-083 */
static void end_in_a_handlers_transaction_is_logged_once(void **state) {
    for (int way = 0; way < WAYS; way++)
        ended_by_a_handler(*state, (enum way)way, true, false);
}

/* JOIN-072, BX-083: the first attempt ends the join, and is taken back. */
static void end_that_is_taken_back_and_made_again_is_logged_once(void **state) {
    for (int way = 0; way < WAYS; way++)
        ended_by_a_handler(*state, (enum way)way, true, true);
}

static boxcar_verdict cancel_and_fail(void *context, boxcar_delivery *delivery) {
    struct handler *handler = context;
    boxcar_store *store = NULL;
    atomic_fetch_add(&handler->calls, 1);
    if (boxcar_delivery_begin(delivery, &store, NULL) == BOXCAR_OK)
        (void)boxcar_join_cancel(store, handler->id, NULL);
    return BOXCAR_VERDICT_FAIL;
}

/* JOIN-072, BX-083 */
static void end_that_is_rolled_back_is_not_logged(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    struct handler handler = {.id = start_join(f, 1)};
    struct runner *runner = runner_new(f);
    enqueue(f, STEP, "p");
    log_capture_attach(captured, &runner->store);
    runner_handle(runner, "unused");
    ASSERT_OK(f, boxcar_worker_handle(runner->worker,
                                      HANDLER(BOXCAR_OUTBOX, BOXCAR_STR(STEP), cancel_and_fail, &handler),
                                      &f->err));
    runner_drain(runner);
    runner_free(runner);
    assert_int_equal(handler.calls, 1);
    assert_join(f, handler.id, BOXCAR_JOIN_PENDING, 0, 0);
    assert_int_equal(records_of(captured, handler.id), 0);
    log_capture_free(captured);
}

/* JOIN-072: a store that is closed in the middle has nothing to tell, and leaves nothing behind. */
static void end_in_a_transaction_that_is_never_committed_is_not_logged(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    boxcar_join_id id = start_join(f, 1);
    boxcar_store_options options = fixture_options(f);
    boxcar_store *hand = NULL;
    log_capture_attach(captured, &options);
    ASSERT_OK(f, boxcar_store_open(&options, &hand, &f->err));
    ASSERT_OK(f, seam_begin(hand, &f->err));
    ASSERT_OK(f, boxcar_join_cancel(hand, id, &f->err));
    boxcar_store_close(hand);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 0, 0);
    assert_int_equal(records_of(captured, id), 0);
    log_capture_free(captured);
}

/* ---- in the caller's own transaction ---- */

/* JOIN-072: Boxcar does not see the commit of such a transaction, so the call that ends a join tells it. */
static void calls_in_one_transaction_of_the_callers_log_each_end_once(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    boxcar_join_id ids[3] = {start_join(f, 1), start_join(f, 1), start_join(f, 1)};
    struct taken taken[2] = {take_step(f, ids[0]), take_step(f, ids[1])};
    boxcar_enqueued later = enqueue_step(f, ids[2]);
    boxcar_store_options options = fixture_options(f);
    boxcar_store *own = f->store;
    log_capture_attach(captured, &options);
    struct borrowed b = borrow_with(f, &options);
    f->store = b.store;
    borrowed_exec(&b, "begin");
    for (int i = 0; i < 2; i++)
        assert_true(ack(f, f->owner, taken[i]));
    assert_int_equal(cancel_message(f, later.work_id), BOXCAR_OK);
    borrowed_exec(&b, "commit");
    f->store = own;
    for (int i = 0; i < 3; i++)
        assert_int_equal(records_of(captured, ids[i]), 1);
    borrowed_close(&b);
    log_capture_free(captured);
}

static const struct CMUnitTest TESTS[] = {
    TEST(end_by_an_ack_is_logged_once),
    TEST(end_by_a_workers_ack_is_logged_once),
    TEST(end_in_a_handlers_transaction_is_logged_once),
    TEST(end_that_is_taken_back_and_made_again_is_logged_once),
    TEST(end_that_is_rolled_back_is_not_logged),
    TEST(end_in_a_transaction_that_is_never_committed_is_not_logged),
    TEST(calls_in_one_transaction_of_the_callers_log_each_end_once),
};

const struct suite JOIN_LOG_SUITE = SUITE(TESTS);
