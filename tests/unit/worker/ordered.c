/* Messages handled stream by stream. BX-006, BX-062 */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boxcar.h"
#include "coordinator_scene.h"
#include "request/coordinator/coordinator.h"

/* A handler that keeps what it saw. */
struct stage {
    pthread_mutex_t mutex;
    int64_t seen[20000]; /* work ids in the order of their handling */
    size_t count;
    int64_t stop_at;        /* this one gets ... */
    boxcar_verdict verdict; /* ... this verdict, the others ack */
    boxcar_str error;
    int64_t delay_ms; /* -1 = none is set */
};

static struct stage STAGE;
static boxcar_error ERR;

static int fresh_stage(void **state) {
    (void)state;
    memset(&STAGE, 0, sizeof(STAGE));
    pthread_mutex_init(&STAGE.mutex, NULL);
    STAGE.delay_ms = -1;
    ERR = BOXCAR_ERROR_INIT;
    alarm(60);
    return 0;
}

static boxcar_verdict play(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    struct stage *stage = context;
    bool stops = message->work_id.value == stage->stop_at;

    pthread_mutex_lock(&stage->mutex);
    stage->seen[stage->count++] = message->work_id.value;
    pthread_mutex_unlock(&stage->mutex);
    (void)boxcar_delivery_record_stages(delivery, 1, NULL);
    if (!stops)
        return BOXCAR_VERDICT_ACK;
    (void)boxcar_delivery_record_stages(delivery, 4, NULL);
    (void)boxcar_delivery_record_stages(delivery, 32, NULL); /* unknown: refused */
    boxcar_delivery_set_error(delivery, stage->error);
    if (stage->delay_ms >= 0)
        boxcar_delivery_set_delay_ms(delivery, stage->delay_ms);
    return stage->verdict;
}

static boxcar_message a(int64_t work_id, const char *stream) {
    return (boxcar_message){
        .work_id = {work_id}, .stream = boxcar_str_of(stream), .payload = BOXCAR_STR("p")};
}

static boxcar_ordered_results *run(boxcar_message *messages, size_t count, int concurrency) {
    const boxcar_message **pointers = malloc((count + 1) * sizeof(*pointers));
    boxcar_ordered_options options = BOXCAR_ORDERED_OPTIONS_INIT;
    boxcar_ordered_results *results = NULL;

    assert_non_null(pointers);
    for (size_t i = 0; i < count; i++)
        pointers[i] = &messages[i];
    options.concurrency = concurrency;
    if (boxcar_ordered_run_messages(pointers, count, &options, play, &STAGE, &results, &ERR) != BOXCAR_OK)
        fail_msg("run: %s", ERR.message);
    free(pointers);
    assert_int_equal(results->count, count);
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(results->items[i]->message, &messages[i]);
    assert_null(results->items[count]);
    return results;
}

/* Whatever the order of the list. */
static void stream_is_handled_in_the_order_of_work_ids(void **state) {
    boxcar_message messages[] = {a(5, "s"), a(1, "s"), a(4, "s"), a(2, "s"), a(3, "s")};
    boxcar_ordered_results *results = run(messages, 5, 4);

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(STAGE.seen[i], i + 1);
        assert_int_equal(results->items[(size_t)i]->verdict, BOXCAR_VERDICT_ACK);
        assert_true(results->items[(size_t)i]->ran);
    }
    boxcar_ordered_results_free(results);
}

/* BX-062: the stream stops, the others do not. */
static void stream_stops_at_the_first_that_is_not_done(void **state) {
    static const boxcar_verdict VERDICTS[] = {BOXCAR_VERDICT_RETRY, BOXCAR_VERDICT_FAIL,
                                              BOXCAR_VERDICT_DEFER};

    for (size_t k = 0; k < COUNT_OF(VERDICTS); k++) {
        boxcar_message messages[] = {a(1, "s"), a(2, "o"), a(3, "s"), a(4, "o"),
                                     a(5, "s"), a(6, ""),  a(7, NULL)};
        boxcar_ordered_results *results;
        const boxcar_ordered_result *result;

        fresh_stage(state);
        STAGE.stop_at = 3;
        STAGE.verdict = VERDICTS[k];
        STAGE.error = BOXCAR_STR("because");
        results = run(messages, 7, 2);
        assert_int_equal(STAGE.count, 6);
        for (size_t i = 0; i < 7; i++) {
            result = results->items[i];
            assert_int_equal(result->verdict, i == 2   ? VERDICTS[k]
                                              : i == 4 ? BOXCAR_VERDICT_DEFER
                                                       : BOXCAR_VERDICT_ACK);
            assert_int_equal(result->ran, i != 4);
            assert_int_equal(result->stages, i == 2 ? 5 : i == 4 ? 0 : 1);
        }
        result = results->items[2];
        assert_int_equal(result->error.len, 7);
        assert_memory_equal(result->error.data, "because", 7);
        assert_int_equal(result->delay_ms, VERDICTS[k] == BOXCAR_VERDICT_DEFER ? 1000 : BOXCAR_BACKOFF);
        result = results->items[4];
        assert_int_equal(result->delay_ms, 0);
        assert_null(result->error.data);
        boxcar_ordered_results_free(results);
    }
}

/* One that is not done does not stop other messages without a stream. */
static void messages_without_a_stream_are_on_their_own(void **state) {
    boxcar_message messages[] = {a(1, NULL), a(2, NULL), a(3, "")};
    boxcar_ordered_results *results;

    (void)state;
    STAGE.stop_at = 1;
    STAGE.verdict = BOXCAR_VERDICT_FAIL;
    results = run(messages, 3, 1);
    assert_int_equal(STAGE.count, 3);
    boxcar_ordered_results_free(results);
}

/* The same name in the other box is another stream. */
static void boxes_have_streams_of_their_own(void **state) {
    boxcar_message messages[] = {a(1, "s"), a(2, "s")};
    boxcar_ordered_results *results;

    (void)state;
    messages[1].box = BOXCAR_INBOX;
    STAGE.stop_at = 1;
    STAGE.verdict = BOXCAR_VERDICT_RETRY;
    results = run(messages, 2, 1);
    assert_true(results->items[1]->ran);
    boxcar_ordered_results_free(results);
}

static void streams_are_told_apart_to_the_last_byte(void **state) {
    boxcar_message messages[] = {a(1, "s"), a(2, "ss"), a(3, "S"), a(4, "s")};
    boxcar_ordered_results *results;

    (void)state;
    STAGE.stop_at = 1;
    STAGE.verdict = BOXCAR_VERDICT_RETRY;
    results = run(messages, 4, 1);
    assert_int_equal(STAGE.count, 3);
    assert_false(results->items[3]->ran);
    boxcar_ordered_results_free(results);
}

/* BX-010: programs like to repeat their input when they fail. */
static void payloads_are_hidden_in_errors(void **state) {
    boxcar_message message = a(1, NULL);
    boxcar_ordered_results *results;
    boxcar_str error;

    (void)state;
    message.payload = BOXCAR_STR("the secret of the message");
    STAGE.stop_at = 1;
    STAGE.verdict = BOXCAR_VERDICT_FAIL;
    STAGE.error = BOXCAR_STR("cannot read: the secret of the message \xff");
    STAGE.delay_ms = INT64_MAX;
    results = run(&message, 1, 1);
    error = results->items[0]->error;
    assert_null(memmem(error.data, error.len, "secret", 6));
    assert_non_null(memmem(error.data, error.len, "cannot read", 11));
    assert_int_equal(results->items[0]->delay_ms, BOXCAR_DELAY_MS_MAX);
    boxcar_ordered_results_free(results);
}

static void unknown_verdict_is_a_retry(void **state) {
    boxcar_message messages[] = {a(1, "s"), a(2, "s")};
    boxcar_ordered_results *results;

    (void)state;
    STAGE.stop_at = 1;
    STAGE.verdict = (boxcar_verdict)17;
    results = run(messages, 2, 1);
    assert_int_equal(results->items[0]->verdict, BOXCAR_VERDICT_RETRY);
    assert_non_null(results->items[0]->error.data);
    assert_false(results->items[1]->ran);
    boxcar_ordered_results_free(results);
}

/* ---- many ---- */

/* Handlers that wait for each other: they can only end if their streams run at the same time. */
struct meeting {
    pthread_barrier_t barrier;
};

/* Nothing cancels it, and there is no transaction. */
static boxcar_verdict meet(void *context, boxcar_delivery *delivery) {
    struct meeting *meeting = context;
    boxcar_store *store = NULL;

    assert_false(boxcar_delivery_is_cancelled(delivery));
    assert_int_equal(boxcar_delivery_cancel_fd(delivery), -1);
    assert_int_equal(boxcar_delivery_begin(delivery, &store, NULL), BOXCAR_E_UNSUPPORTED);
    pthread_barrier_wait(&meeting->barrier);
    return BOXCAR_VERDICT_ACK;
}

static void streams_run_beside_each_other(void **state) {
    boxcar_message messages[] = {a(1, "a"), a(2, "a"), a(3, "b"), a(4, "b"), a(5, "c"), a(6, "c")};
    const boxcar_message *pointers[6];
    boxcar_ordered_options options = BOXCAR_ORDERED_OPTIONS_INIT;
    boxcar_ordered_results *results;
    struct meeting meeting;

    (void)state;
    for (int i = 0; i < 6; i++)
        pointers[i] = &messages[i];
    pthread_barrier_init(&meeting.barrier, NULL, 3);
    options.concurrency = 3;
    assert_int_equal(boxcar_ordered_run_messages(pointers, 6, &options, meet, &meeting, &results, &ERR),
                     BOXCAR_OK);
    boxcar_ordered_results_free(results);
    pthread_barrier_destroy(&meeting.barrier);
}

static void assert_streams_in_order(const boxcar_message *messages, size_t streams) {
    int64_t *last = calloc(streams, sizeof(*last));

    assert_non_null(last);
    for (size_t i = 0; i < STAGE.count; i++) {
        size_t stream = (size_t)atoi(messages[STAGE.seen[i] - 1].stream.data);

        assert_true(STAGE.seen[i] > last[stream]);
        last[stream] = STAGE.seen[i];
    }
    free(last);
}

/* 10,000 messages in one stream, in a hundred, and in as many. */
static void large_lists_are_handled_in_order(void **state) {
    static const size_t STREAMS[] = {1, 100, 10000};
    static boxcar_message messages[10000];
    static char names[10000][8];

    for (size_t k = 0; k < COUNT_OF(STREAMS); k++) {
        boxcar_ordered_results *results;

        fresh_stage(state);
        for (size_t i = 0; i < 10000; i++) {
            snprintf(names[i], sizeof(names[i]), "%zu", i % STREAMS[k]);
            messages[i] = a((int64_t)i + 1, names[i]);
        }
        results = run(messages, 10000, 4);
        assert_int_equal(STAGE.count, 10000);
        assert_streams_in_order(messages, STREAMS[k]);
        boxcar_ordered_results_free(results);
    }
}

static void empty_list_has_no_results(void **state) {
    boxcar_ordered_results *results = run(NULL, 0, 4);

    (void)state;
    assert_int_equal(STAGE.count, 0);
    boxcar_ordered_results_free(results);
    boxcar_ordered_results_free(NULL);
}

/* ---- bad input ---- */

static void bad_arguments_are_refused(void **state) {
    boxcar_message message = a(1, "s"), twin = a(1, "s");
    const boxcar_message *messages[] = {&message, &twin, NULL};
    boxcar_ordered_options options = BOXCAR_ORDERED_OPTIONS_INIT;
    boxcar_ordered_results *results = NULL;

    (void)state;
    assert_int_equal(boxcar_ordered_run_messages(messages, 2, NULL, play, &STAGE, &results, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "messages[1]");
    assert_int_equal(boxcar_ordered_run_messages(messages, 3, NULL, play, &STAGE, &results, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "messages");
    assert_int_equal(boxcar_ordered_run_messages(NULL, 1, NULL, play, &STAGE, &results, &ERR),
                     BOXCAR_E_INVALID);
    assert_int_equal(boxcar_ordered_run(NULL, NULL, play, &STAGE, &results, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "list");
    assert_int_equal(boxcar_ordered_run_messages(messages, 1, NULL, NULL, NULL, &results, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "handle");
    assert_int_equal(boxcar_ordered_run_messages(messages, 1, NULL, play, &STAGE, NULL, &ERR),
                     BOXCAR_E_INVALID);
    options.concurrency = 0;
    assert_int_equal(boxcar_ordered_run_messages(messages, 1, &options, play, &STAGE, &results, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "concurrency");
    options.concurrency = BOXCAR_CONCURRENCY_MAX + 1;
    assert_int_equal(boxcar_ordered_run_messages(messages, 1, &options, play, &STAGE, &results, &ERR),
                     BOXCAR_E_INVALID);
    assert_int_equal(STAGE.count, 0);
    assert_null(results);
}

/* ---- settling ---- */

static void results_are_queued_as_settlements(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_message messages[] = {a(1, "s"), a(2, "s"), a(3, "s"), a(4, NULL), a(5, NULL)};
    boxcar_ordered_results *results;
    uint64_t ticket;

    (void)state;
    for (int i = 0; i < 5; i++)
        messages[i].owner = boxcar_coordinator_owner(s->coordinator);
    messages[3].box = BOXCAR_INBOX;
    STAGE.stop_at = 2;
    STAGE.verdict = BOXCAR_VERDICT_RETRY;
    STAGE.error = BOXCAR_STR("because");
    STAGE.delay_ms = 77;
    results = run(messages, 5, 2);
    assert_int_equal(boxcar_ordered_settle(s->coordinator, results, &ticket, &s->err), BOXCAR_OK);
    boxcar_ordered_results_free(results);
    assert_int_equal(ticket, 2); /* behind the record of stages */
    flush_ok(s);
    assert_int_equal(s->memory.call_count, 1);
    assert_int_equal(s->memory.messages[0].stages, 0); /* done: nobody will ask */
    assert_int_equal(s->memory.messages[1].stages, 5);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_ACK);
    assert_int_equal(s->memory.messages[1].kind, BOXCAR_ABANDON);
    assert_int_equal(s->memory.messages[1].delay_ms, 77);
    assert_string_equal(s->memory.messages[1].error, "because");
    assert_int_equal(s->memory.messages[2].kind, BOXCAR_DEFER);
    assert_int_equal(s->memory.messages[2].delay_ms, 0);
    assert_int_equal(s->memory.messages[3].kind, BOXCAR_ACK);
    assert_int_equal(s->results, 6);
    scene_free(s);
}

/* A coordinator would settle what the main reader holds. */
static void results_of_a_subscription_are_refused(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_message messages[] = {a(1, "s")};
    boxcar_ordered_results *results;

    (void)state;
    messages[0].owner = boxcar_coordinator_owner(s->coordinator);
    messages[0].reader = 2;
    results = run(messages, 1, 1);
    assert_int_equal(boxcar_ordered_settle(s->coordinator, results, NULL, &s->err), BOXCAR_E_INVALID);
    assert_string_equal(s->err.argument, "results");
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 0);
    boxcar_ordered_results_free(results);
    scene_free(s);
}

/* They would all be lost. */
static void results_of_another_owner_are_refused(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_message messages[] = {a(1, "s"), a(2, "s")};
    boxcar_ordered_results *results;
    uint64_t ticket = 9;

    (void)state;
    messages[0].owner = boxcar_coordinator_owner(s->coordinator);
    results = run(messages, 2, 1);
    assert_int_equal(boxcar_ordered_settle(s->coordinator, results, &ticket, &s->err), BOXCAR_E_INVALID);
    assert_string_equal(s->err.argument, "results");
    assert_int_equal(ticket, 0);
    assert_int_equal(boxcar_ordered_settle(s->coordinator, NULL, NULL, &s->err), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_ordered_settle(NULL, results, NULL, &s->err), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 0);
    boxcar_ordered_results_free(results);
    scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(stream_is_handled_in_the_order_of_work_ids, fresh_stage),
        cmocka_unit_test_setup(stream_stops_at_the_first_that_is_not_done, fresh_stage),
        cmocka_unit_test_setup(messages_without_a_stream_are_on_their_own, fresh_stage),
        cmocka_unit_test_setup(boxes_have_streams_of_their_own, fresh_stage),
        cmocka_unit_test_setup(streams_are_told_apart_to_the_last_byte, fresh_stage),
        cmocka_unit_test_setup(payloads_are_hidden_in_errors, fresh_stage),
        cmocka_unit_test_setup(unknown_verdict_is_a_retry, fresh_stage),
        cmocka_unit_test_setup(streams_run_beside_each_other, fresh_stage),
        cmocka_unit_test_setup(large_lists_are_handled_in_order, fresh_stage),
        cmocka_unit_test_setup(empty_list_has_no_results, fresh_stage),
        cmocka_unit_test_setup(bad_arguments_are_refused, fresh_stage),
        cmocka_unit_test_setup(results_are_queued_as_settlements, fresh_stage),
        cmocka_unit_test_setup(results_of_a_subscription_are_refused, fresh_stage),
        cmocka_unit_test_setup(results_of_another_owner_are_refused, fresh_stage),
    };

    return cmocka_run_group_tests_name("ordered", tests, NULL, NULL);
}
