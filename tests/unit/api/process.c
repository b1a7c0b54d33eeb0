/* boxcar_process(): what it refuses, with every fault named, and what it hands to the store. BX-011, BX-065
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "boxcar.h"
#include "memory_store.h"

static struct memory_store MEMORY;
static boxcar_error ERR;
#define STORE (&MEMORY.store)

static int setup(void **state) {
    (void)state;
    memory_init(&MEMORY);
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

struct faults {
    char paths[64][100];
    size_t count;
};

static void note(void *context, const char *argument, const char *message) {
    struct faults *faults = context;

    assert_true(message[0] != '\0');
    snprintf(faults->paths[faults->count++], sizeof(faults->paths[0]), "%s", argument);
}

static boxcar_settlement settlement(int64_t id) {
    boxcar_settlement item = BOXCAR_SETTLEMENT_INIT;

    item.work_id.value = id;
    return item;
}

static boxcar_new_message message(const char *topic) {
    boxcar_new_message item = BOXCAR_NEW_MESSAGE_INIT;

    item.topic = boxcar_str_of(topic);
    item.payload = BOXCAR_STR("p");
    return item;
}

static boxcar_new_message delivery(const char *id) {
    boxcar_new_message item = BOXCAR_NEW_MESSAGE_INIT;

    item.source = BOXCAR_STR("bank");
    item.external_id = boxcar_str_of(id);
    item.topic = BOXCAR_STR("t");
    item.payload = BOXCAR_STR("p");
    return item;
}

static void everything_reaches_the_store_in_one_call(void **state) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT, inbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_new_message messages[] = {message("a"), message("b")};
    boxcar_settlement acks[] = {settlement(1), settlement(2)}, defers[] = {settlement(3), settlement(4)};
    boxcar_str topic = BOXCAR_STR("orders.*");
    boxcar_result *result = NULL;

    (void)state;
    MEMORY.all_leased = true;
    MEMORY.count = 4;
    MEMORY.messages[2 - 1].settled = MEMORY.messages[4 - 1].settled = 1; /* by somebody else */
    for (int i = 0; i < 3; i++)
        memory_add(&MEMORY, "orders.paid", 0);
    outbox.settle[BOXCAR_ACK] = (boxcar_settlement_list){acks, 2};
    outbox.claim_size = 7;
    outbox.lease_ms = 5000;
    outbox.topics = &topic;
    outbox.topic_count = 1;
    inbox.settle[BOXCAR_DEFER] = (boxcar_settlement_list){defers, 2};
    inbox.settle[BOXCAR_RENEW] = (boxcar_settlement_list){acks, 2};
    batch.owner.uuid = boxcar_uuid_new();
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, 2};
    batch.parts[BOXCAR_OUTBOX] = &outbox;
    batch.parts[BOXCAR_INBOX] = &inbox;
    batch.heartbeat = &heartbeat;
    assert_int_equal(boxcar_request_faults(&batch, NULL, NULL), 0);
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.calls, 1);
    const boxcar_request_part *out = &MEMORY.asked.request.parts[BOXCAR_OUTBOX],
                              *in = &MEMORY.asked.request.parts[BOXCAR_INBOX];
    assert_int_equal(MEMORY.asked.request.base.messages[BOXCAR_OUTBOX].count, 2);
    assert_true(MEMORY.asked.request.own[BOXCAR_OUTBOX].fresh_ids);
    assert_int_equal(out->settle[BOXCAR_ACK].count, 2);
    assert_int_equal(out->claim_size, 7);
    assert_int_equal(out->lease_ms, 5000);
    assert_int_equal(out->topic_count, 1);
    assert_int_equal(in->settle[BOXCAR_DEFER].count, 2);
    assert_int_equal(MEMORY.asked.settlements[0].delay_ms,
                     BOXCAR_BACKOFF); /* of the renewals, remembered last */
    assert_int_equal(in->settle[BOXCAR_RENEW].count, 2);
    assert_int_equal(request_part_renew_ms(in), BOXCAR_LEASE_MS_DEFAULT);
    assert_int_equal(in->claim_size, 0);
    assert_int_equal(MEMORY.asked.request.instance_count, 2);
    assert_memory_equal(&MEMORY.asked.request.base.owner, &batch.owner, sizeof(batch.owner));
    assert_int_equal(result->settled[BOXCAR_OUTBOX][BOXCAR_ACK].items[0].value, 1);
    assert_int_equal(result->settled[BOXCAR_OUTBOX][BOXCAR_ACK].count, 1);
    assert_int_equal(result->settled[BOXCAR_INBOX][BOXCAR_DEFER].items[0].value, 3);
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->count, 3);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->count, 0);
    assert_int_equal(result->enqueued[BOXCAR_OUTBOX].items[1]->work_id.value, 9);
    assert_int_equal(result->enqueued[BOXCAR_OUTBOX].count, 2);
    boxcar_result_free(result);
}

/* BX-065, BX-080 */
static void inbox_messages_go_with_the_batch(void **state) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_new_message out = message("out");
    boxcar_new_message in[] = {delivery("1"), delivery("2")};
    boxcar_message_id id = boxcar_inbox_message_id((boxcar_inbox_key){BOXCAR_STR("bank"), BOXCAR_STR("2")});
    boxcar_result *result = NULL;

    (void)state;
    MEMORY.store.log_level = BOXCAR_LOG_WARN;
    MEMORY.other_hash = "other";
    in[1].payload = BOXCAR_STR("other");
    in[1].content_hash = BOXCAR_STR("h");
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&out, 1};
    batch.messages[BOXCAR_INBOX] = (boxcar_new_message_list){in, 2}; /* needs no owner and no part */
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.calls, 1);
    assert_int_equal(MEMORY.asked.request.base.messages[BOXCAR_OUTBOX].count, 1);
    assert_int_equal(MEMORY.asked.request.base.messages[BOXCAR_INBOX].count, 2);
    assert_false(MEMORY.asked.request.own[BOXCAR_INBOX].fresh_ids);
    assert_memory_equal(&MEMORY.asked.messages[1].message_id, &id, sizeof(id));
    assert_int_equal(MEMORY.asked.messages[1].content_hash.len, 1);
    assert_int_equal(result->enqueued[BOXCAR_OUTBOX].items[0]->work_id.value, 1);
    assert_int_equal(result->enqueued[BOXCAR_OUTBOX].count, 1);
    assert_false(result->enqueued[BOXCAR_INBOX].items[0]->duplicate);
    assert_int_equal(result->enqueued[BOXCAR_INBOX].items[1]->work_id.value, 3);
    assert_true(result->enqueued[BOXCAR_INBOX].items[1]->hash_mismatch);
    assert_int_equal(result->enqueued[BOXCAR_INBOX].count, 2);
    assert_int_equal(MEMORY.log_count, 1);
    assert_string_equal(MEMORY.last.event, "inbox_hash_mismatch");
    boxcar_result_free(result);
}

/* BX-011 */
static void faults_of_inbox_messages_are_named(void **state) {
    static const char *const EXPECTED[] = {
        "inbox.messages[1].source",  "inbox.messages[1].external_id",  "inbox.messages[1].content_hash",
        "inbox.messages[1].payload", "inbox.messages[1].max_attempts", "inbox.messages[3].source",
    };
    static const char *const ODD[] = {"inbox.messages"};
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_new_message in[] = {delivery("1"), delivery(""), delivery("3"), delivery("4"), delivery("5")};
    boxcar_result *result = NULL;
    struct faults faults = {.count = 0};

    (void)state;
    in[1].source = BOXCAR_STR("\xff");
    in[1].content_hash = (boxcar_str){"a\0b", 3};
    in[1].payload = BOXCAR_NO_STR;
    in[1].max_attempts = -1;
    in[3].source = BOXCAR_STR("");
    batch.messages[BOXCAR_INBOX] = (boxcar_new_message_list){in, 5};
    assert_int_equal(boxcar_request_faults(&batch, note, &faults), COUNT_OF(EXPECTED));
    for (size_t i = 0; i < COUNT_OF(EXPECTED); i++)
        assert_string_equal(faults.paths[i], EXPECTED[i]);
    in[4].struct_size--; /* where they are is not known any more */
    faults.count = 0;
    assert_int_equal(boxcar_request_faults(&batch, note, &faults), COUNT_OF(ODD));
    assert_string_equal(faults.paths[0], ODD[0]);
    batch.messages[BOXCAR_INBOX].count = 1;
    assert_int_equal(boxcar_request_faults(&batch, NULL, NULL), 0);
    batch.messages[BOXCAR_INBOX].items = NULL;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "inbox.messages");
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_null(result);
}

/* BX-011: every fault has a place, and nothing is asked of the store. */
static void every_fault_is_named(void **state) {
    static const char *const EXPECTED[] = {
        "owner",
        "messages[1].topic",
        "messages[1].ttl_ms",
        "messages[2].headers",
        "outbox.acks[0].work_id",
        "outbox.acks[2].work_id",
        "outbox.acks[2].epoch",
        "outbox.fails",
        "outbox.resolves",
        "outbox.claim_size",
        "outbox.lease_ms",
        "outbox.renew_lease_ms",
        "outbox.topics[1]",
        "inbox.abandons[0].delay_ms",
        "inbox.records[0].work_id",
        "inbox.records[0].stages",
        "inbox.records[1].stages",
        "inbox.lease_ms",
        "heartbeat.concurrency",
    };
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT, inbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_new_message messages[] = {message("a"), message(""), message("b")};
    boxcar_settlement acks[] = {settlement(0), settlement(2), settlement(-3)}, late = settlement(5);
    boxcar_str topics[] = {BOXCAR_STR("ok"), BOXCAR_STR("")};
    boxcar_settlement records[] = {settlement(0), settlement(1)};
    boxcar_result *result = NULL;
    struct faults faults = {.count = 0};

    (void)state;
    messages[1].ttl_ms = -1;
    messages[2].headers = BOXCAR_STR("[]");
    acks[2].epoch.value = -1;
    late.delay_ms = -7;
    outbox.settle[BOXCAR_ACK] = (boxcar_settlement_list){acks, 3};
    outbox.settle[BOXCAR_FAIL].count = 2;
    outbox.settle[BOXCAR_RESOLVE] = (boxcar_settlement_list){&late, 1};
    outbox.renew_lease_ms = 7;
    outbox.claim_size = 10001;
    outbox.lease_ms = 1;
    outbox.topics = topics;
    outbox.topic_count = 2;
    inbox.settle[BOXCAR_ABANDON] = (boxcar_settlement_list){&late, 1};
    inbox.lease_ms = 0;
    records[0].stages = 32;
    inbox.settle[BOXCAR_RECORD] = (boxcar_settlement_list){records, 2};
    heartbeat.concurrency = 0;
    batch.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){messages, 3};
    batch.parts[BOXCAR_OUTBOX] = &outbox;
    batch.parts[BOXCAR_INBOX] = &inbox;
    batch.heartbeat = &heartbeat;
    assert_int_equal(boxcar_request_faults(&batch, note, &faults), COUNT_OF(EXPECTED));
    for (size_t i = 0; i < COUNT_OF(EXPECTED); i++)
        assert_string_equal(faults.paths[i], EXPECTED[i]);
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "owner");
    assert_non_null(strstr(ERR.message, "19 faults"));
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_null(result);
}

static void single_fault_is_said_as_it_is(void **state) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_request_part inbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_settlement acks[] = {settlement(1), settlement(2), settlement(3), settlement(0)};
    boxcar_result *result = NULL;

    (void)state;
    inbox.settle[BOXCAR_ACK] = (boxcar_settlement_list){acks, 4};
    batch.owner.uuid = boxcar_uuid_new();
    batch.parts[BOXCAR_INBOX] = &inbox;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "inbox.acks[3].work_id");
    assert_non_null(strstr(ERR.message, "inbox.acks[3].work_id"));
    assert_null(strstr(ERR.message, "faults"));
    assert_int_equal(MEMORY.asked.calls, 0);
}

static void missing_arguments_are_named(void **state) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;

    (void)state;
    assert_int_equal(boxcar_process(NULL, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "store");
    assert_int_equal(boxcar_process(STORE, NULL, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "request");
    assert_int_equal(boxcar_process(STORE, &batch, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "ret_result");
    batch.struct_size = 0;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "request");
    assert_int_equal(boxcar_request_faults(NULL, NULL, NULL), 1);
}

/* BX-065: an empty batch still answers. */
static void batch_that_asks_nothing_succeeds(void **state) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;

    (void)state;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_int_equal(result->enqueued[BOXCAR_OUTBOX].count, 0);
    assert_int_equal(result->settled[BOXCAR_OUTBOX][BOXCAR_ACK].count, 0);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->count, 0);
    boxcar_result_free(result);
    boxcar_result_free(NULL);
}

static boxcar_settlement named(uint8_t id) {
    boxcar_settlement item = BOXCAR_SETTLEMENT_INIT;

    item.message_id.uuid.bytes[15] = id;
    return item;
}

/* BX-002: stores know work ids only. They are asked for once a box, and not if nobody needs them. */
static void stores_are_given_work_ids(void **state) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT, inbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_settlement acks[] = {settlement(1), named(9), named(8)}, fails[] = {named(3)},
                      defers[] = {named(5), named(6)};
    boxcar_result *result = NULL;

    (void)state;
    MEMORY.all_leased = true;
    for (MEMORY.count = 0; MEMORY.count < 9; MEMORY.count++) /* the last byte of the id is the work id */
        MEMORY.messages[MEMORY.count].id.uuid.bytes[15] = (uint8_t)(MEMORY.count + 1);
    MEMORY.messages[5 - 1].box = MEMORY.messages[6 - 1].box = BOXCAR_INBOX;
    fails[0].stages = 1;
    outbox.settle[BOXCAR_ACK] = (boxcar_settlement_list){acks, 3};
    outbox.settle[BOXCAR_FAIL] = (boxcar_settlement_list){fails, 1};
    inbox.settle[BOXCAR_DEFER] = (boxcar_settlement_list){defers, 2};
    batch.owner.uuid = boxcar_uuid_new();
    batch.parts[BOXCAR_OUTBOX] = &outbox;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.calls, 2);
    assert_int_equal(result->settled[BOXCAR_OUTBOX][BOXCAR_ACK].items[1].value, 9);
    assert_int_equal(MEMORY.asked.settlements[0].work_id.value,
                     3); /* of the record of stages, remembered last */
    assert_int_equal(MEMORY.asked.settlements[2].work_id.value, 8);
    assert_int_equal(acks[1].work_id.value, 0); /* the caller's */
    boxcar_result_free(result);
    batch.parts[BOXCAR_INBOX] = &inbox;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.calls, 5);
    assert_int_equal(MEMORY.asked.box, BOXCAR_INBOX);
    assert_int_equal(result->settled[BOXCAR_INBOX][BOXCAR_DEFER].items[1].value, 5);
    boxcar_result_free(result);
    MEMORY.down = BOXCAR_E_UNAVAILABLE;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_UNAVAILABLE);
    assert_int_equal(MEMORY.asked.calls, 6);
}

/* BX-011 */
static void faults_of_what_comes_back_are_named(void **state) {
    static const char *const EXPECTED[] = {"owner",
                                           "outbox.acks[0].message_id",
                                           "outbox.acks[1].work_id",
                                           "outbox.fails",
                                           "outbox.settle",
                                           "outbox.returns",
                                           "partition_count"};
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_settlement acks[] = {named(1), settlement(0)}, unset = settlement(1);
    struct faults faults = {.count = 0};

    (void)state;
    acks[0].work_id.value = 1;
    unset.struct_size = 0;
    outbox.settle[BOXCAR_ACK] = (boxcar_settlement_list){acks, 2};
    outbox.settle[BOXCAR_FAIL] = (boxcar_settlement_list){&unset, 1};
    outbox.settle[BOXCAR_SETTLE_MAX - 1] = (boxcar_settlement_list){acks, 2}; /* there is no such way */
    outbox.returns = (boxcar_return)3;
    batch.parts[BOXCAR_OUTBOX] = &outbox;
    batch.partition_count = 1000001;
    assert_int_equal(boxcar_request_faults(&batch, note, &faults), COUNT_OF(EXPECTED));
    for (size_t i = 0; i < COUNT_OF(EXPECTED); i++)
        assert_string_equal(faults.paths[i], EXPECTED[i]);
    batch.partition_count = -1;
    assert_int_equal(boxcar_request_faults(&batch, NULL, NULL), COUNT_OF(EXPECTED));
    batch.partition_count = 1000000;
    assert_int_equal(boxcar_request_faults(&batch, NULL, NULL), COUNT_OF(EXPECTED) - 1);
}

/* A program that was built before the last fields were added. */
static void shorter_structs_keep_the_defaults(void **state) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT;
    boxcar_result *result = NULL;

    (void)state;
    batch.struct_size = offsetof(boxcar_request, stale_threshold_ms);
    batch.stale_threshold_ms = 3; /* not looked at */
    batch.partition_count = -1;
    outbox.struct_size = offsetof(boxcar_request_part, claim_size);
    outbox.claim_size = -5; /* not looked at */
    batch.parts[BOXCAR_OUTBOX] = &outbox;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].claim_size, 0);
    boxcar_result_free(result);
}

static void failure_of_the_store_is_passed_on(void **state) {
    boxcar_request batch = BOXCAR_REQUEST_INIT;
    boxcar_result *result = NULL;

    (void)state;
    MEMORY.down = BOXCAR_E_UNAVAILABLE;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_UNAVAILABLE);
    assert_null(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(everything_reaches_the_store_in_one_call, setup),
        cmocka_unit_test_setup(inbox_messages_go_with_the_batch, setup),
        cmocka_unit_test_setup(faults_of_inbox_messages_are_named, setup),
        cmocka_unit_test_setup(every_fault_is_named, setup),
        cmocka_unit_test_setup(single_fault_is_said_as_it_is, setup),
        cmocka_unit_test_setup(missing_arguments_are_named, setup),
        cmocka_unit_test_setup(batch_that_asks_nothing_succeeds, setup),
        cmocka_unit_test_setup(stores_are_given_work_ids, setup),
        cmocka_unit_test_setup(faults_of_what_comes_back_are_named, setup),
        cmocka_unit_test_setup(shorter_structs_keep_the_defaults, setup),
        cmocka_unit_test_setup(failure_of_the_store_is_passed_on, setup),
    };

    return cmocka_run_group_tests_name("api_process", tests, NULL, NULL);
}
