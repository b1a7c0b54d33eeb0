/* The public functions about joins over a store in memory: what they refuse, what they hand
 * down, what they report and what they log. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "boxcar.h"
#include "core/wait.h"
#include "memory_store.h"

static struct memory_store MEMORY;
static boxcar_store *const STORE = &MEMORY.store;
static boxcar_error ERR;

static const boxcar_join_id JOIN = {{{7}}}, NO_JOIN = {0};
static const boxcar_message_id MESSAGE = {{{9}}}, NO_MESSAGE = {0};
static const char JOIN_TEXT[] = "join_id=07000000-0000-0000-0000-000000000000 ";

static int fresh_store(void **state) {
    (void)state;
    memory_init(&MEMORY);
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

static boxcar_new_join join_of(int64_t steps) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;

    join.expected_steps = steps;
    return join;
}

static boxcar_new_wait good_wait(void) {
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;

    wait.join_id = JOIN;
    wait.on_complete_topic = BOXCAR_STR("done");
    wait.on_complete_payload = BOXCAR_STR("secret payload");
    return wait;
}

/* JOIN-006 */
static void a_join_gets_a_new_id_or_the_one_that_was_given(void **state) {
    boxcar_new_join join = join_of(3);
    boxcar_join_id first, second;

    (void)state;
    assert_int_equal(boxcar_join_start(STORE, &join, &first, &ERR), BOXCAR_OK);
    assert_memory_equal(&MEMORY.asked.join.join_id, &first, sizeof(first));
    assert_int_equal(first.uuid.bytes[6] >> 4, 7);
    assert_int_equal(MEMORY.asked.join.expected_steps, 3);
    assert_int_equal(boxcar_join_start(STORE, &join, &second, &ERR), BOXCAR_OK);
    assert_memory_not_equal(&first, &second, sizeof(first));
    join.join_id = JOIN;
    assert_int_equal(boxcar_join_start(STORE, &join, &second, &ERR), BOXCAR_OK);
    assert_memory_equal(&second, &JOIN, sizeof(second));
    assert_memory_equal(&MEMORY.asked.join.join_id, &JOIN, sizeof(JOIN));
}

/* JOIN-003 */
static void an_empty_grouping_key_is_none_but_empty_metadata_is_kept(void **state) {
    boxcar_new_join join = join_of(1);
    boxcar_join_id id;

    (void)state;
    join.grouping_key = join.metadata = BOXCAR_STR("");
    assert_int_equal(boxcar_join_start(STORE, &join, &id, &ERR), BOXCAR_OK);
    assert_null(MEMORY.asked.join.grouping_key.data);
    assert_non_null(MEMORY.asked.join.metadata.data);
}

/* JOIN-002, BX-011 */
static void bad_joins_never_reach_the_store(void **state) {
    boxcar_new_join join = join_of(0);
    boxcar_join_id id = JOIN;

    (void)state;
    assert_int_equal(boxcar_join_start(STORE, &join, &id, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "expected_steps");
    join = join_of(1);
    join.struct_size = 0;
    assert_int_equal(boxcar_join_start(STORE, &join, &id, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "join");
    join.struct_size = sizeof(join) + 1;
    assert_int_equal(boxcar_join_start(STORE, &join, &id, &ERR), BOXCAR_E_INVALID);
    join = join_of(1);
    assert_int_equal(boxcar_join_start(NULL, &join, &id, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "store");
    assert_int_equal(boxcar_join_start(STORE, NULL, &id, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_join_start(STORE, &join, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "ret_join_id");
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_int_equal(MEMORY.log_count, 0);
    assert_memory_equal(&id, &JOIN, sizeof(id));
}

static void a_join_of_an_older_program_has_no_deadline(void **state) {
    boxcar_new_join join = join_of(1);
    boxcar_join_id id;

    (void)state;
    join.struct_size = offsetof(boxcar_new_join, deadline);
    join.deadline = join.deadline_ms = -7;
    assert_int_equal(boxcar_join_start(STORE, &join, &id, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.join.deadline, BOXCAR_TIME_NONE);
    assert_int_equal(MEMORY.asked.join.deadline_ms, 0);
}

/* JOIN-070, BX-010 */
static void a_start_is_logged_with_key_and_steps_but_no_metadata(void **state) {
    boxcar_new_join join = join_of(3);
    boxcar_join_id id;

    (void)state;
    join.join_id = JOIN;
    join.grouping_key = BOXCAR_STR("order-42");
    join.metadata = BOXCAR_STR("secret");
    assert_int_equal(boxcar_join_start(STORE, &join, &id, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 1);
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_string_equal(MEMORY.last.event, "join_start");
    assert_non_null(strstr(MEMORY.last.fields, JOIN_TEXT));
    assert_non_null(strstr(MEMORY.last.fields, "grouping_key=order-42 "));
    assert_non_null(strstr(MEMORY.last.fields, "expected_steps=3 "));
    assert_null(strstr(MEMORY.last.fields, "secret"));
    assert_null(strstr(MEMORY.last.text, "secret"));
}

/* JOIN-071 */
static void attaching_tells_about_each_message_and_logs_the_new_ones(void **state) {
    const boxcar_message_id ids[3] = {{{{1}}}, {{{2}}}, {{{3}}}};
    boxcar_attached attached[3] = {BOXCAR_ATTACHED_INIT};

    (void)state;
    MEMORY.attached[1] = (boxcar_attached){.is_new = true, .message_exists = true};
    MEMORY.attached[2] = (boxcar_attached){.message_exists = true};
    assert_int_equal(boxcar_join_attach(STORE, JOIN, ids, 3, attached, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.attach_count, 3);
    assert_memory_equal(&MEMORY.asked.join_id, &JOIN, sizeof(JOIN));
    assert_false(attached[0].is_new);
    assert_true(attached[1].is_new && attached[1].message_exists);
    assert_false(attached[2].is_new);
    assert_int_equal(MEMORY.log_count, 1);
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_DEBUG);
    assert_string_equal(MEMORY.last.event, "join_attach");
    assert_non_null(strstr(MEMORY.last.fields, JOIN_TEXT));
    assert_non_null(strstr(MEMORY.last.fields, "message_id=02000000-0000-0000-0000-000000000000 "));
    assert_int_equal(boxcar_join_attach(STORE, JOIN, ids, 3, NULL, &ERR), BOXCAR_OK);
}

/* BX-011 */
static void bad_attachments_never_reach_the_store(void **state) {
    const boxcar_message_id ids[2] = {{{{1}}}, {{{0}}}};
    boxcar_attached attached[2] = {{.struct_size = sizeof(boxcar_attached), .is_new = true}};

    (void)state;
    assert_int_equal(boxcar_join_attach(STORE, NO_JOIN, ids, 1, attached, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "join_id");
    assert_int_equal(boxcar_join_attach(STORE, JOIN, ids, 2, attached, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "message_ids[1]");
    assert_int_equal(boxcar_join_attach(STORE, JOIN, NULL, 1, attached, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_join_attach(NULL, JOIN, ids, 1, attached, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_join_attach(STORE, JOIN, NULL, 0, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_true(attached[0].is_new);
}

/* JOIN-020, JOIN-021 */
static void reports_hand_down_their_outcome(void **state) {
    bool counted = false;

    (void)state;
    MEMORY.change.counted = true;
    assert_int_equal(boxcar_join_report(STORE, JOIN, MESSAGE, BOXCAR_MEMBER_COMPLETED, &counted, &ERR),
                     BOXCAR_OK);
    assert_true(counted);
    assert_int_equal(MEMORY.asked.outcome, BOXCAR_MEMBER_COMPLETED);
    assert_memory_equal(&MEMORY.asked.message_id, &MESSAGE, sizeof(MESSAGE));
    MEMORY.change.counted = false;
    assert_int_equal(boxcar_join_report(STORE, JOIN, MESSAGE, BOXCAR_MEMBER_FAILED, &counted, &ERR),
                     BOXCAR_OK);
    assert_false(counted);
    assert_int_equal(MEMORY.asked.outcome, BOXCAR_MEMBER_FAILED);
    assert_int_equal(boxcar_join_report(STORE, JOIN, MESSAGE, BOXCAR_MEMBER_FAILED, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 0); /* no join has ended */
}

/* BX-011 */
static void bad_reports_and_cancels_never_reach_the_store(void **state) {
    (void)state;
    assert_int_equal(boxcar_join_report(STORE, NO_JOIN, MESSAGE, BOXCAR_MEMBER_COMPLETED, NULL, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "join_id");
    assert_int_equal(boxcar_join_report(STORE, JOIN, NO_MESSAGE, BOXCAR_MEMBER_FAILED, NULL, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "message_id");
    assert_int_equal(boxcar_join_report(STORE, JOIN, MESSAGE, BOXCAR_MEMBER_PENDING, NULL, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "outcome");
    assert_int_equal(boxcar_join_report(NULL, JOIN, MESSAGE, BOXCAR_MEMBER_FAILED, NULL, &ERR),
                     BOXCAR_E_INVALID);
    assert_int_equal(boxcar_join_cancel(STORE, NO_JOIN, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_join_cancel(NULL, JOIN, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(MEMORY.asked.calls, 0);
}

static void assert_end_was_logged(const char *status) {
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_string_equal(MEMORY.last.event, "join_end");
    assert_non_null(strstr(MEMORY.last.fields, JOIN_TEXT));
    assert_non_null(strstr(MEMORY.last.fields, status));
    assert_non_null(strstr(MEMORY.last.fields, "expected_steps=3 completed_steps=2 failed_steps=1 "));
}

static const boxcar_join ENDED = {.join_id = {{{7}}},
                                  .expected_steps = 3,
                                  .completed_steps = 2,
                                  .failed_steps = 1,
                                  .status = BOXCAR_JOIN_FAILED};

/* JOIN-072 */
static void the_call_that_ends_a_join_logs_it(void **state) {
    boxcar_new_wait wait = good_wait();

    (void)state;
    MEMORY.change = (struct join_change){.counted = true, .ended = true, .join = ENDED};
    assert_int_equal(boxcar_join_report(STORE, JOIN, MESSAGE, BOXCAR_MEMBER_COMPLETED, NULL, &ERR),
                     BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 1);
    assert_end_was_logged("status=failed ");
    assert_null(strstr(MEMORY.last.fields, "reason="));
    MEMORY.change.join.status = BOXCAR_JOIN_CANCELLED;
    assert_int_equal(boxcar_join_cancel(STORE, JOIN, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 2);
    assert_end_was_logged("status=cancelled ");
    MEMORY.change.join.status = BOXCAR_JOIN_FAILED;
    MEMORY.change.join.reason = BOXCAR_JOIN_REASON_TIMED_OUT;
    assert_int_equal(boxcar_join_report(STORE, JOIN, MESSAGE, BOXCAR_MEMBER_COMPLETED, NULL, &ERR),
                     BOXCAR_OK);
    assert_non_null(strstr(MEMORY.last.fields, "reason=timed_out "));
    MEMORY.log_count = 0;
    assert_int_equal(boxcar_join_wait(STORE, &wait, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 2); /* the end, then the wait */
    assert_string_equal(MEMORY.last.event, "join_wait");
}

/* JOIN-072 */
static void a_batch_that_ends_joins_logs_each(void **state) {
    boxcar_settlement item = BOXCAR_SETTLEMENT_INIT;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    boxcar_owner owner = {{{1}}};

    (void)state;
    item.work_id.value = 1;
    options.owner = owner;
    MEMORY.ended[0] = MEMORY.ended[1] = ENDED;
    MEMORY.ended_count = 2;
    assert_int_equal(
        boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, owner), BOXCAR_ACK, &item, 1, NULL, NULL, &ERR),
        BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 3);
    assert_end_was_logged("status=failed ");
    MEMORY.log_count = 0;
    assert_int_equal(boxcar_reap(STORE, BOXCAR_OUTBOX, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 2);
    MEMORY.log_count = 0;
    assert_int_equal(boxcar_claim(STORE, &options, &list, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 3);
    boxcar_list_free(list);
    MEMORY.log_count = 0;
    MEMORY.store.log_level = BOXCAR_LOG_WARN;
    assert_int_equal(boxcar_reap(STORE, BOXCAR_OUTBOX, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 0);
}

/* BX-042, JOIN-071 */
static void enqueueing_into_a_join_hands_it_down_and_logs_the_attachment(void **state) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

    (void)state;
    message.topic = message.payload = BOXCAR_STR("t");
    message.join_id = JOIN;
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_OUTBOX, &message, NULL, &ERR), BOXCAR_OK);
    assert_memory_equal(&MEMORY.asked.messages[0].join_id, &JOIN, sizeof(JOIN));
    assert_int_equal(MEMORY.log_count, 2);
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_DEBUG);
    assert_string_equal(MEMORY.last.event, "join_attach");
    assert_non_null(strstr(MEMORY.last.fields, JOIN_TEXT));
    MEMORY.log_count = 0;
    MEMORY.store.log_level = BOXCAR_LOG_INFO;
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_OUTBOX, &message, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 1);
}

/* JOIN-050, JOIN-051, BX-044 */
static void a_wait_becomes_a_message_whose_topic_is_the_stores(void **state) {
    boxcar_new_wait wait = good_wait();
    boxcar_enqueued enqueued;

    (void)state;
    wait.correlation_id = BOXCAR_STR("");
    assert_int_equal(boxcar_join_wait(STORE, &wait, &enqueued, &ERR), BOXCAR_OK);
    assert_memory_equal(&MEMORY.asked.join_id, &JOIN, sizeof(JOIN));
    assert_null(MEMORY.asked.messages[0].topic.data);
    assert_null(MEMORY.asked.messages[0].correlation_id.data);
    assert_int_equal(MEMORY.asked.messages[0].max_attempts, WAIT_MAX_ATTEMPTS);
    assert_int_equal(MEMORY.asked.messages[0].due_at, BOXCAR_TIME_NONE);
    assert_memory_equal(&enqueued.message_id, &MEMORY.asked.messages[0].message_id, sizeof(MESSAGE));
    assert_int_equal(enqueued.message_id.uuid.bytes[6] >> 4, 7);
    assert_non_null(
        strstr(MEMORY.asked.wait_payload, "\"join_id\":\"07000000-0000-0000-0000-000000000000\""));
    assert_non_null(strstr(MEMORY.asked.wait_payload, "\"on_complete_payload\":\"secret payload\""));
    wait.message_id = MESSAGE;
    wait.correlation_id = BOXCAR_STR("c-7");
    assert_int_equal(boxcar_join_wait(STORE, &wait, &enqueued, &ERR), BOXCAR_OK);
    assert_memory_equal(&enqueued.message_id, &MESSAGE, sizeof(MESSAGE));
    assert_memory_equal(MEMORY.asked.messages[0].correlation_id.data, "c-7", 3);
}

/* BX-010 */
static void a_wait_is_logged_without_its_payloads(void **state) {
    boxcar_new_wait wait = good_wait();

    (void)state;
    wait.correlation_id = BOXCAR_STR("c-7");
    assert_int_equal(boxcar_join_wait(STORE, &wait, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 1);
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_string_equal(MEMORY.last.event, "join_wait");
    assert_non_null(strstr(MEMORY.last.fields, JOIN_TEXT));
    assert_non_null(strstr(MEMORY.last.fields, "correlation_id=c-7 "));
    assert_null(strstr(MEMORY.last.fields, "secret"));
    assert_null(strstr(MEMORY.last.text, "secret"));
}

/* BX-011 */
static void bad_waits_never_reach_the_store(void **state) {
    boxcar_new_wait wait = good_wait();
    boxcar_enqueued enqueued = {.work_id = {77}};

    (void)state;
    wait.on_complete_topic = BOXCAR_STR("");
    assert_int_equal(boxcar_join_wait(STORE, &wait, &enqueued, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "on_complete_topic");
    wait = good_wait();
    wait.struct_size = sizeof(wait) + 1;
    assert_int_equal(boxcar_join_wait(STORE, &wait, &enqueued, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "wait");
    assert_int_equal(boxcar_join_wait(STORE, NULL, &enqueued, &ERR), BOXCAR_E_INVALID);
    wait = good_wait();
    assert_int_equal(boxcar_join_wait(NULL, &wait, &enqueued, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_int_equal(enqueued.work_id.value, 77);
}

static void looking_is_checked_and_handed_down(void **state) {
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    boxcar_join_list *joins = NULL;
    boxcar_join_member_list *members = NULL;

    (void)state;
    assert_int_equal(boxcar_join_find(STORE, NO_JOIN, &joins, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_join_find(STORE, JOIN, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "ret_list");
    assert_int_equal(boxcar_join_page(STORE, NULL, &joins, &ERR), BOXCAR_E_INVALID);
    filter.limit = 0;
    assert_int_equal(boxcar_join_page(STORE, &filter, &joins, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_join_member_page(STORE, NO_JOIN, NO_MESSAGE, 1, &members, &ERR),
                     BOXCAR_E_INVALID);
    assert_int_equal(boxcar_join_member_page(STORE, JOIN, NO_MESSAGE, 0, &members, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "limit");
    assert_int_equal(boxcar_join_member_page(STORE, JOIN, NO_MESSAGE, 1, NULL, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_int_equal(boxcar_join_find(STORE, JOIN, &joins, &ERR), BOXCAR_OK);
    assert_int_equal(joins->count, 0);
    boxcar_list_free(joins);
    filter.limit = 7;
    filter.struct_size = offsetof(boxcar_join_filter, after); /* an older program */
    filter.after = JOIN;
    assert_int_equal(boxcar_join_page(STORE, &filter, &joins, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.join_filter.limit, 7);
    assert_true(boxcar_uuid_is_none(MEMORY.asked.join_filter.after.uuid));
    boxcar_list_free(joins);
    assert_int_equal(boxcar_join_member_page(STORE, JOIN, MESSAGE, 5, &members, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.member_limit, 5);
    assert_memory_equal(&MEMORY.asked.message_id, &MESSAGE, sizeof(MESSAGE));
    assert_int_equal(members->count, 0);
    boxcar_list_free(members);
    boxcar_list_free(NULL);
}

static void what_the_store_refuses_is_passed_on_and_outputs_stay_untouched(void **state) {
    boxcar_new_join join = join_of(1);
    boxcar_new_wait wait = good_wait();
    boxcar_join_id id = JOIN;
    boxcar_attached attached = {.struct_size = sizeof(boxcar_attached), .is_new = true};
    boxcar_enqueued enqueued = {.work_id = {77}};
    boxcar_join_list *joins = NULL;
    boxcar_join_member_list *members = NULL;
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    bool counted = true;

    (void)state;
    MEMORY.down = BOXCAR_E_CONFLICT;
    MEMORY.change = (struct join_change){.ended = true, .join = ENDED};
    assert_int_equal(boxcar_join_start(STORE, &join, &id, &ERR), BOXCAR_E_CONFLICT);
    assert_string_equal(ERR.message, "the store is down");
    assert_int_equal(boxcar_join_attach(STORE, JOIN, &MESSAGE, 1, &attached, NULL), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_join_report(STORE, JOIN, MESSAGE, BOXCAR_MEMBER_FAILED, &counted, NULL),
                     BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_join_cancel(STORE, JOIN, NULL), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_join_wait(STORE, &wait, &enqueued, NULL), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_join_find(STORE, JOIN, &joins, NULL), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_join_page(STORE, &filter, &joins, NULL), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_join_member_page(STORE, JOIN, NO_MESSAGE, 1, &members, NULL), BOXCAR_E_CONFLICT);
    assert_memory_equal(&id, &JOIN, sizeof(id));
    assert_true(attached.is_new && counted);
    assert_int_equal(enqueued.work_id.value, 77);
    assert_true(!joins && !members);
    assert_int_equal(MEMORY.log_count, 0);
}

#define TEST(function) cmocka_unit_test_setup(function, fresh_store)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_join_gets_a_new_id_or_the_one_that_was_given),
        TEST(an_empty_grouping_key_is_none_but_empty_metadata_is_kept),
        TEST(bad_joins_never_reach_the_store),
        TEST(a_join_of_an_older_program_has_no_deadline),
        TEST(a_start_is_logged_with_key_and_steps_but_no_metadata),
        TEST(attaching_tells_about_each_message_and_logs_the_new_ones),
        TEST(bad_attachments_never_reach_the_store),
        TEST(reports_hand_down_their_outcome),
        TEST(bad_reports_and_cancels_never_reach_the_store),
        TEST(the_call_that_ends_a_join_logs_it),
        TEST(a_batch_that_ends_joins_logs_each),
        TEST(enqueueing_into_a_join_hands_it_down_and_logs_the_attachment),
        TEST(a_wait_becomes_a_message_whose_topic_is_the_stores),
        TEST(a_wait_is_logged_without_its_payloads),
        TEST(bad_waits_never_reach_the_store),
        TEST(looking_is_checked_and_handed_down),
        TEST(what_the_store_refuses_is_passed_on_and_outputs_stay_untouched),
    };

    return cmocka_run_group_tests_name("api_join", tests, NULL, NULL);
}
