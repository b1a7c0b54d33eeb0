/* Waits and their continuations: which one comes, that just one comes, and what a worker makes of waits
 * that are wrong. When they come is in wake.c. */
#include <stdio.h>
#include <string.h>

#include "joins.h"
#include "log_capture.h"
#include "runner.h"

/* A worker for steps and both continuations, draining. */
static struct runner *new_runner(struct fixture *f) {
    struct runner *runner = runner_new(f);
    runner_handle(runner, STEP);
    runner_handle(runner, "completed");
    runner_handle(runner, "failed");
    return runner;
}

static boxcar_enqueued enqueue_verdict(struct fixture *f, boxcar_join_id join_id, const char *verdict) {
    boxcar_new_message message = new_message(STEP, verdict);
    message.join_id = join_id;
    return enqueue_message(f, &message);
}

/* JOIN-054, JOIN-055, JOIN-056, OBX-092, OBX-093, OBX-094 */
static void worker_enqueues_the_continuation_that_the_outcome_and_the_flag_name(void **state) {
    static const struct {
        const char *steps[2];
        bool allow_failures, no_fail_topic;
        const char *topic; /* NULL = none */
    } CASES[] = {
        {{"ack", "ack"}, false, false, "completed"}, {{"ack", "ack"}, true, false, "completed"},
        {{"ack", "fail"}, false, false, "failed"},   {{"ack", "fail"}, true, false, "completed"},
        {{"fail", "fail"}, false, false, "failed"},  {{"fail", "fail"}, true, false, "completed"},
        {{"fail", "ack"}, false, true, NULL},        {{"fail", "ack"}, true, true, "completed"},
        {{"ack", "ack"}, false, true, "completed"},
    };
    enum { COUNT = sizeof(CASES) / sizeof(CASES[0]) };
    struct fixture *f = *state;
    boxcar_enqueued waits[COUNT];
    for (int i = 0; i < COUNT; i++) {
        boxcar_join_id id = start_join(f, 2);
        boxcar_new_wait wait = new_wait(id);
        wait.allow_failures = CASES[i].allow_failures;
        if (CASES[i].no_fail_topic)
            wait.on_fail_topic = BOXCAR_NO_STR;
        waits[i] = enqueue_this_wait(f, &wait);
        enqueue_verdict(f, id, CASES[i].steps[0]);
        enqueue_verdict(f, id, CASES[i].steps[1]);
    }
    struct runner *runner = new_runner(f);
    runner_drain(runner);
    for (int i = 0; i < COUNT; i++) {
        assert_status(f, waits[i].work_id, BOXCAR_DONE);
        if (CASES[i].topic)
            assert_continuation(f, waits[i], CASES[i].topic, CASES[i].topic[0] == 'c' ? "yes" : "no");
        else
            assert_no_continuation(f, waits[i]);
    }
    assert_int_equal(runner_count(runner, "completed"), 6);
    assert_int_equal(runner_count(runner, "failed"), 2);
    runner_free(runner);
}

/* BX-040: the flag chooses the continuation, it does not make the join anything else. */
static void flag_of_a_wait_does_not_change_the_status_of_the_join(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_new_wait tolerant = new_wait(id);
    tolerant.allow_failures = true;
    boxcar_enqueued first = enqueue_this_wait(f, &tolerant), second = enqueue_wait(f, id);
    assert_true(bury(f, f->owner, take_step(f, id), "no"));
    assert_int_equal(evaluate(f, first), WAIT_COMPLETED);
    assert_join(f, id, BOXCAR_JOIN_FAILED, 0, 1);
    assert_int_equal(evaluate(f, second), WAIT_FAILED);
    assert_join(f, id, BOXCAR_JOIN_FAILED, 0, 1);
}

/* BX-045, BX-007 */
static void each_wait_on_a_join_gets_its_own_continuation(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_new_wait wait = new_wait(id);
    boxcar_enqueued before = enqueue_this_wait(f, &wait);
    wait.on_complete_topic = BOXCAR_STR("other");
    wait.on_complete_payload = BOXCAR_STR("mine");
    boxcar_enqueued also = enqueue_this_wait(f, &wait);
    enqueue_verdict(f, id, "ack");
    struct runner *runner = new_runner(f);
    runner_drain(runner);
    boxcar_enqueued after = enqueue_wait(f, id); /* the join has ended long ago */
    assert_false(after.duplicate);
    assert_int_equal(evaluate(f, after), WAIT_COMPLETED);
    assert_continuation(f, before, "completed", "yes");
    assert_continuation(f, also, "other", "mine");
    assert_continuation(f, after, "completed", "yes");
    assert_int_equal(runner_count(runner, "completed"), 1);
    runner_free(runner);
}

/* BX-045 */
static void empty_payloads_are_payloads(void **state) {
    struct fixture *f = *state;
    boxcar_join_id good = start_join(f, 1), bad = start_join(f, 1);
    boxcar_new_wait wait = new_wait(good);
    wait.on_complete_payload = wait.on_fail_payload = BOXCAR_STR("");
    boxcar_enqueued empty = enqueue_this_wait(f, &wait);
    wait.join_id = bad;
    wait.on_fail_payload = BOXCAR_NO_STR;
    boxcar_enqueued absent = enqueue_this_wait(f, &wait);
    assert_true(ack(f, f->owner, take_step(f, good)));
    assert_true(bury(f, f->owner, take_step(f, bad), "no"));
    assert_int_equal(evaluate(f, empty), WAIT_COMPLETED);
    assert_int_equal(evaluate(f, absent), WAIT_FAILED);
    assert_continuation(f, empty, "completed", "");
    assert_continuation(f, absent, "failed", "");
}

/* BX-045, JOIN-050, JOIN-051 */
static void continuation_carries_texts_and_correlation_byte_for_byte(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_new_wait wait = new_wait(id);
    wait.on_complete_payload = BOXCAR_STR("{\"a\": \"\\u0000 \\\"\xe2\x82\xac\xf0\x9f\x9a\x83\x01\n\"}");
    wait.correlation_id = BOXCAR_STR("order-7");
    wait.causation_id = BOXCAR_STR("what caused the wait");
    boxcar_enqueued enqueued = enqueue_this_wait(f, &wait);
    boxcar_message_list *list = find(f, enqueued.work_id);
    assert_text(look(list)->topic, WAIT);
    assert_text(look(list)->correlation_id, "order-7");
    assert_text(look(list)->causation_id, "what caused the wait");
    boxcar_list_free(list);
    enqueue_verdict(f, id, "ack");
    struct runner *runner = new_runner(f);
    runner_drain(runner);
    struct seen seen = runner_only(runner, "completed");
    assert_string_equal(seen.payload, wait.on_complete_payload.data);
    assert_string_equal(seen.correlation_id, "order-7");
    char cause[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(enqueued.message_id.uuid, cause);
    assert_string_equal(seen.causation_id, cause);
    assert_same_message_id(seen.message_id, boxcar_join_continuation_id(enqueued.message_id));
    runner_free(runner);
}

/* BX-027, BX-045: the same wait again is no second wait. */
static void wait_with_a_known_message_id_is_a_duplicate(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_new_wait wait = new_wait(id);
    wait.message_id.uuid = boxcar_uuid_new();
    boxcar_enqueued first = enqueue_this_wait(f, &wait), again = enqueue_this_wait(f, &wait);
    assert_same_message_id(first.message_id, wait.message_id);
    assert_true(!first.duplicate && again.duplicate);
    assert_int_equal(first.work_id.value, again.work_id.value);
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    assert_int_equal(evaluate(f, first), WAIT_FAILED);
    assert_true(enqueue_this_wait(f, &wait).duplicate);
    boxcar_message_list *list = claim_topic(f, f->owner, 5, WAIT);
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
}

/* JOIN-052, BX-045 */
static void wait_for_a_join_that_does_not_exist_is_a_dead_letter(void **state) {
    struct fixture *f = *state;
    boxcar_new_wait wait = new_wait(unknown_join());
    boxcar_enqueued enqueued;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_wait(f->store, &wait, &enqueued, &f->err));
    assert_nothing_claimable(f);
    enqueued = enqueue(f, WAIT,
                       "{\"join_id\": \"0190a6a0-0000-7000-8000-000000000001\", \"on_complete_topic\": "
                       "\"completed\", \"on_complete_payload\": \"\"}");
    struct runner *runner = new_runner(f);
    runner_drain(runner);
    assert_dead(f, enqueued.work_id, BOXCAR_REASON_REJECTED);
    boxcar_message_list *list = find(f, enqueued.work_id);
    assert_text(look(list)->last_error, "the join does not exist");
    boxcar_list_free(list);
    assert_no_continuation(f, enqueued);
    runner_free(runner);
}

/* BX-045, BX-010, JOIN-051: a reason, and not the payload. */
static void malformed_waits_are_dead_letters_that_say_why(void **state) {
    static const char *const BAD[] = {
        "",
        "canary",
        "[\"canary\"]",
        "{\"on_complete_topic\": \"canary\"}",
        "{\"join_id\": \"canary\", \"on_complete_topic\": \"t\"}",
        "{\"join_id\": 7, \"on_complete_topic\": \"canary\"}",
        "{\"join_id\": \"%s\", \"on_complete_payload\": \"canary\"}",
        "{\"join_id\": \"%s\", \"on_complete_topic\": \"\", \"on_complete_payload\": \"canary\"}",
        "{\"join_id\": \"%s\", \"on_complete_topic\": \"t\", \"on_complete_payload\": {\"canary\": 1}}",
        "{\"join_id\": \"%s\", \"on_complete_topic\": \"t\", \"fail_if_any_step_failed\": \"canary\"}",
        "{\"join_id\": \"%s\", \"on_complete_topic\": \"t\", \"on_fail_topic\": [\"canary\"]}",
    };
    enum { COUNT = sizeof(BAD) / sizeof(BAD[0]) };
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    char join_id[BOXCAR_UUID_TEXT_SIZE], payload[256];
    boxcar_enqueued waits[COUNT];
    boxcar_uuid_format(id.uuid, join_id);
    for (int i = 0; i < COUNT; i++) {
        const char *mark = strstr(BAD[i], "%s");
        snprintf(payload, sizeof(payload), "%.*s%s%s", (int)(mark ? mark - BAD[i] : 0), BAD[i],
                 mark ? join_id : "", mark ? mark + 2 : BAD[i]);
        waits[i] = enqueue(f, WAIT, payload);
    }
    boxcar_enqueued good = enqueue_wait(f, id);
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    struct runner *runner = new_runner(f);
    runner_drain(runner);
    for (int i = 0; i < COUNT; i++) {
        assert_dead(f, waits[i].work_id, BOXCAR_REASON_REJECTED);
        boxcar_message_list *list = find(f, waits[i].work_id);
        boxcar_str error = look(list)->last_error;
        assert_true(error.len > 10);
        assert_null(memmem(error.data, error.len, "canary", 6));
        boxcar_list_free(list);
    }
    assert_continuation(f, good, "failed", "no"); /* they are nobody else's trouble */
    runner_free(runner);
}

/* JOIN-051: by hand, with the names of either convention, and only what is required. */
static void waits_made_by_hand_are_waits(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    char join_id[BOXCAR_UUID_TEXT_SIZE], payload[400];
    boxcar_uuid_format(id.uuid, join_id);
    snprintf(payload, sizeof(payload),
             "{\"joinId\": \"%s\", \"failIfAnyStepFailed\": false, \"onCompleteTopic\": \"completed\", "
             "\"onCompletePayload\": \"camel\", \"onFailTopic\": null, \"extra\": 1}",
             join_id);
    boxcar_enqueued camel = enqueue(f, WAIT, payload);
    snprintf(payload, sizeof(payload),
             "{\"join_id\": \"%s\", \"on_complete_topic\": \"completed\", \"on_fail_topic\": \"failed\"}",
             join_id);
    boxcar_enqueued plain = enqueue(f, WAIT, payload);
    enqueue_verdict(f, id, "fail");
    struct runner *runner = new_runner(f);
    runner_drain(runner);
    assert_continuation(f, camel, "completed", "camel");
    assert_continuation(f, plain, "failed", "");
    runner_free(runner);
}

/* JOIN-050 */
static void topic_of_waits_is_a_setting(void **state) {
    struct fixture *f = *state;
    set_setting(f, "join_wait_topic", "fan.in");
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued wait = enqueue_wait(f, id);
    boxcar_message_list *list = find(f, wait.work_id);
    assert_text(look(list)->topic, "fan.in");
    boxcar_list_free(list);
    enqueue_verdict(f, id, "ack");
    boxcar_enqueued ordinary = enqueue(f, WAIT, "not a wait any more");
    struct runner *runner = new_runner(f);
    runner_handle(runner, WAIT);
    runner_drain(runner);
    assert_continuation(f, wait, "completed", "yes");
    assert_status(f, ordinary.work_id, BOXCAR_DONE);
    assert_int_equal(runner_count(runner, WAIT), 1);
    runner_free(runner);
    set_setting(f, "join_wait_topic", NULL);
    list = find(f, enqueue_wait(f, id).work_id);
    assert_text(look(list)->topic, WAIT);
    boxcar_list_free(list);
}

/* JOIN-050, BX-024: waits belong to the worker itself. */
static void handler_for_the_topic_of_waits_is_refused(void **state) {
    struct fixture *f = *state;
    static const char *const TOPICS[] = {WAIT, "fan.in"};
    for (int i = 0; i < 2; i++) {
        struct runner *runner = runner_new(f);
        set_setting(f, "join_wait_topic", TOPICS[i]);
        runner_handle(runner, STEP);
        boxcar_status status = boxcar_worker_handle(
            runner->worker, HANDLER_DISCARD(BOXCAR_OUTBOX, boxcar_str_of(TOPICS[i])), &f->err);
        if (status == BOXCAR_OK) /* it may not know the setting before it runs */
            status = boxcar_worker_run(runner->worker, &f->err);
        assert_string_equal(boxcar_status_name(status), "conflict");
        assert_non_null(strstr(f->err.message, TOPICS[i]));
        runner_free(runner);
    }
}

/* JOIN-050, BX-024 */
static void handler_for_every_topic_gets_no_waits(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 1);
    boxcar_enqueued wait = enqueue_wait(f, id);
    enqueue_verdict(f, id, "ack");
    struct runner *runner = runner_new(f);
    runner_handle(runner, "*");
    runner_drain(runner);
    assert_int_equal(runner_count(runner, WAIT), 0);
    assert_int_equal(runner_count(runner, "completed"), 1);
    assert_status(f, wait.work_id, BOXCAR_DONE);
    runner_free(runner);
}

/* JOIN-073, BX-010 */
static void decisions_about_waits_are_logged_without_payloads(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    boxcar_join_id good = start_join(f, 1), open = start_join(f, 1);
    boxcar_new_wait wait = new_wait(good);
    wait.on_complete_payload = wait.on_fail_payload = BOXCAR_STR("canary");
    boxcar_enqueued waits[2];
    waits[0] = enqueue_this_wait(f, &wait);
    wait.join_id = open;
    waits[1] = enqueue_this_wait(f, &wait);
    enqueue_verdict(f, good, "ack");
    struct runner *runner = runner_new(f);
    log_capture_attach(captured, &runner->store);
    runner_handle(runner, STEP);
    runner_drain(runner);
    char join_id[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(good.uuid, join_id);
    assert_true(log_capture_has(captured, "wait", join_id, NULL, NULL));
    boxcar_uuid_format(open.uuid, join_id);
    assert_true(log_capture_has(captured, "wait", join_id, NULL, NULL));
    assert_false(log_capture_has(captured, "canary", NULL, NULL, NULL));
    assert_continuation(f, waits[0], "completed", "canary");
    runner_free(runner);
    log_capture_free(captured);
}

static const struct CMUnitTest TESTS[] = {
    TEST(worker_enqueues_the_continuation_that_the_outcome_and_the_flag_name),
    TEST(flag_of_a_wait_does_not_change_the_status_of_the_join),
    TEST(each_wait_on_a_join_gets_its_own_continuation),
    TEST(empty_payloads_are_payloads),
    TEST(continuation_carries_texts_and_correlation_byte_for_byte),
    TEST(wait_with_a_known_message_id_is_a_duplicate),
    TEST(wait_for_a_join_that_does_not_exist_is_a_dead_letter),
    TEST(malformed_waits_are_dead_letters_that_say_why),
    TEST(waits_made_by_hand_are_waits),
    TEST(topic_of_waits_is_a_setting),
    TEST(handler_for_the_topic_of_waits_is_refused),
    TEST(handler_for_every_topic_gets_no_waits),
    TEST(decisions_about_waits_are_logged_without_payloads),
};

const struct suite JOIN_WAIT_SUITE = SUITE(TESTS);
