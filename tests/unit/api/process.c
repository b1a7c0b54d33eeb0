/* boxcar_process(): what it refuses, with every fault named, and what it hands to the store. BX-011, BX-065 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "boxcar.h"
#include "fake_store.h"

static struct fake_store FAKE;
static boxcar_error ERR;
#define STORE (&FAKE.store)

static int setup(void **state) {
    (void)state;
    fake_store_init(&FAKE);
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

static boxcar_new_inbox_message delivery(const char *id) {
    boxcar_new_inbox_message item = BOXCAR_NEW_INBOX_MESSAGE_INIT;

    item.source = BOXCAR_STR("bank");
    item.external_id = boxcar_str_of(id);
    item.topic = BOXCAR_STR("t");
    item.payload = BOXCAR_STR("p");
    return item;
}

static void everything_reaches_the_store_in_one_call(void **state) {
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_batch_part outbox = BOXCAR_BATCH_PART_INIT, inbox = BOXCAR_BATCH_PART_INIT;
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_new_message messages[] = {message("a"), message("b")};
    boxcar_settlement acks[] = {settlement(1), settlement(2)}, defers[] = {settlement(3), settlement(4)};
    boxcar_str topic = BOXCAR_STR("orders.*");
    boxcar_batch_result *result = NULL;
    size_t count;

    (void)state;
    FAKE.claimed_count = 3;
    outbox.acks = acks;
    outbox.ack_count = 2;
    outbox.claim_size = 7;
    outbox.lease_ms = 5000;
    outbox.topics = &topic;
    outbox.topic_count = 1;
    inbox.defers = defers;
    inbox.defer_count = 2;
    inbox.renews = acks;
    inbox.renew_count = 2;
    batch.owner.uuid = boxcar_uuid_new();
    batch.messages = messages;
    batch.message_count = 2;
    batch.outbox = &outbox;
    batch.inbox = &inbox;
    batch.heartbeat = &heartbeat;
    assert_int_equal(boxcar_batch_faults(&batch, NULL, NULL), 0);
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_int_equal(FAKE.calls, 1);
    const struct batch_part *out = &FAKE.batch.parts[BOXCAR_OUTBOX], *in = &FAKE.batch.parts[BOXCAR_INBOX];
    assert_int_equal(out->message_count, 2);
    assert_true(out->fresh_ids);
    assert_int_equal(out->settle[BOXCAR_ACK].count, 2);
    assert_int_equal(out->claim_size, 7);
    assert_int_equal(out->claim_lease_ms, 5000);
    assert_int_equal(out->topic_count, 1);
    assert_int_equal(in->settle[BOXCAR_DEFER].count, 2);
    assert_int_equal(FAKE.settlements[0].delay_ms, BOXCAR_BACKOFF); /* of the renewals, remembered last */
    assert_int_equal(in->settle[BOXCAR_RENEW].count, 2);
    assert_int_equal(in->renew_lease_ms, BOXCAR_LEASE_MS_DEFAULT);
    assert_int_equal(in->claim_size, 0);
    assert_int_equal(FAKE.batch.instance_count, 2);
    assert_memory_equal(&FAKE.batch.owner, &batch.owner, sizeof(batch.owner));
    /* The fake store says that all but the last of a list were affected. */
    assert_int_equal(boxcar_batch_result_affected(result, BOXCAR_OUTBOX, BOXCAR_ACK, &count)[0].value, 1);
    assert_int_equal(count, 1);
    assert_int_equal(boxcar_batch_result_affected(result, BOXCAR_INBOX, BOXCAR_DEFER, &count)[0].value, 3);
    assert_int_equal(boxcar_batch_result_claimed(result, BOXCAR_OUTBOX)->count, 3);
    assert_int_equal(boxcar_batch_result_claimed(result, BOXCAR_INBOX)->count, 0);
    assert_int_equal(boxcar_batch_result_enqueued(result, 1)->work_id.value, 2);
    assert_null(boxcar_batch_result_enqueued(result, 2));
    boxcar_batch_result_free(result);
}

/* BX-065, BX-080 */
static void inbox_messages_go_with_the_batch(void **state) {
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_new_message out = message("out");
    boxcar_new_inbox_message in[] = {delivery("1"), delivery("2")};
    boxcar_message_id id = boxcar_inbox_message_id((boxcar_inbox_key){BOXCAR_STR("bank"), BOXCAR_STR("2")});
    boxcar_batch_result *result = NULL;

    (void)state;
    FAKE.store.log_level = BOXCAR_LOG_WARN;
    FAKE.delivered[0] = (boxcar_inbox_enqueued){.work_id = {4}};
    FAKE.delivered[1] = (boxcar_inbox_enqueued){.work_id = {5}, .duplicate = true, .hash_mismatch = true};
    in[1].content_hash = BOXCAR_STR("h");
    batch.messages = &out;
    batch.message_count = 1;
    batch.inbox_messages = in; /* needs no owner and no part */
    batch.inbox_message_count = 2;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_int_equal(FAKE.calls, 1);
    assert_int_equal(FAKE.batch.parts[BOXCAR_OUTBOX].message_count, 1);
    assert_int_equal(FAKE.batch.parts[BOXCAR_INBOX].message_count, 2);
    assert_false(FAKE.batch.parts[BOXCAR_INBOX].fresh_ids);
    assert_memory_equal(&FAKE.messages[1].message_id, &id, sizeof(id));
    assert_memory_equal(&FAKE.origins[1].message_id, &id, sizeof(id));
    assert_int_equal(FAKE.origins[1].content_hash.len, 1);
    assert_int_equal(boxcar_batch_result_enqueued(result, 0)->work_id.value, 1);
    assert_null(boxcar_batch_result_enqueued(result, 1));
    assert_false(boxcar_batch_result_inbox_enqueued(result, 0)->duplicate);
    assert_int_equal(boxcar_batch_result_inbox_enqueued(result, 1)->work_id.value, 5);
    assert_true(boxcar_batch_result_inbox_enqueued(result, 1)->hash_mismatch);
    assert_null(boxcar_batch_result_inbox_enqueued(result, 2));
    assert_null(boxcar_batch_result_inbox_enqueued(NULL, 0));
    assert_int_equal(FAKE.records, 1);
    assert_string_equal(FAKE.event, "inbox_hash_mismatch");
    boxcar_batch_result_free(result);
}

/* BX-011 */
static void faults_of_inbox_messages_are_named(void **state) {
    static const char *const EXPECTED[] = {
        "inbox.messages[1].source",       "inbox.messages[1].external_id", "inbox.messages[1].content_hash",
        "inbox.messages[1].payload",      "inbox.messages[1].max_attempts", "inbox.messages[3].source",
        "inbox.messages[4].struct_size",
    };
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_new_inbox_message in[] = {delivery("1"), delivery(""), delivery("3"), delivery("4"), delivery("5"),
                                     delivery("")};
    boxcar_batch_result *result = NULL;
    struct faults faults = {.count = 0};

    (void)state;
    in[1].source = BOXCAR_STR("\xff");
    in[1].content_hash = (boxcar_str){"a\0b", 3};
    in[1].payload = BOXCAR_NO_STR;
    in[1].max_attempts = -1;
    in[3].source = BOXCAR_STR("");
    in[4].struct_size--;
    batch.inbox_messages = in;
    batch.inbox_message_count = 6; /* where the last one is, is not known any more */
    assert_int_equal(boxcar_batch_faults(&batch, note, &faults), COUNT_OF(EXPECTED));
    for (size_t i = 0; i < COUNT_OF(EXPECTED); i++)
        assert_string_equal(faults.paths[i], EXPECTED[i]);
    batch.inbox_message_count = 1;
    assert_int_equal(boxcar_batch_faults(&batch, NULL, NULL), 0);
    batch.inbox_messages = NULL;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "inbox.messages");
    assert_int_equal(FAKE.calls, 0);
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
        "outbox.claim_size",
        "outbox.lease_ms",
        "outbox.topics[1]",
        "inbox.abandons[0].delay_ms",
        "inbox.lease_ms",
        "inbox.stages[0].work_id",
        "inbox.stages[0].stages",
        "inbox.stages[1].stages",
        "heartbeat.concurrency",
    };
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_batch_part outbox = BOXCAR_BATCH_PART_INIT, inbox = BOXCAR_BATCH_PART_INIT;
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_new_message messages[] = {message("a"), message(""), message("b")};
    boxcar_settlement acks[] = {settlement(0), settlement(2), settlement(-3)}, late = settlement(5);
    boxcar_str topics[] = {BOXCAR_STR("ok"), BOXCAR_STR("")};
    boxcar_settlement records[] = {{.work_id = {0}, .stages = 32}, {.work_id = {1}, .stages = 0}};
    boxcar_batch_result *result = NULL;
    struct faults faults = {.count = 0};

    (void)state;
    messages[1].ttl_ms = -1;
    messages[2].headers = BOXCAR_STR("[]");
    acks[2].epoch.value = -1;
    late.delay_ms = -7;
    outbox.acks = acks;
    outbox.ack_count = 3;
    outbox.fail_count = 2;
    outbox.claim_size = 10001;
    outbox.lease_ms = 1;
    outbox.topics = topics;
    outbox.topic_count = 2;
    inbox.abandons = &late;
    inbox.abandon_count = 1;
    inbox.lease_ms = 0;
    inbox.stages = records;
    inbox.stage_count = 2;
    heartbeat.concurrency = 0;
    batch.messages = messages;
    batch.message_count = 3;
    batch.outbox = &outbox;
    batch.inbox = &inbox;
    batch.heartbeat = &heartbeat;
    assert_int_equal(boxcar_batch_faults(&batch, note, &faults), COUNT_OF(EXPECTED));
    for (size_t i = 0; i < COUNT_OF(EXPECTED); i++)
        assert_string_equal(faults.paths[i], EXPECTED[i]);
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "owner");
    assert_non_null(strstr(ERR.message, "17 faults"));
    assert_int_equal(FAKE.calls, 0);
    assert_null(result);
}

static void single_fault_is_said_as_it_is(void **state) {
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_batch_part inbox = BOXCAR_BATCH_PART_INIT;
    boxcar_settlement acks[] = {settlement(1), settlement(2), settlement(3), settlement(0)};
    boxcar_batch_result *result = NULL;

    (void)state;
    inbox.acks = acks;
    inbox.ack_count = 4;
    batch.owner.uuid = boxcar_uuid_new();
    batch.inbox = &inbox;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "inbox.acks[3].work_id");
    assert_non_null(strstr(ERR.message, "inbox.acks[3].work_id"));
    assert_null(strstr(ERR.message, "faults"));
    assert_int_equal(FAKE.calls, 0);
}

static void missing_arguments_are_named(void **state) {
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_batch_result *result = NULL;

    (void)state;
    assert_int_equal(boxcar_process(NULL, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "store");
    assert_int_equal(boxcar_process(STORE, NULL, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "batch");
    assert_int_equal(boxcar_process(STORE, &batch, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "ret_result");
    batch.struct_size = 0;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "batch");
    assert_int_equal(boxcar_batch_faults(NULL, NULL, NULL), 1);
}

/* BX-065: an empty batch still answers. */
static void batch_that_asks_nothing_succeeds(void **state) {
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_batch_result *result = NULL;
    size_t count = 7;

    (void)state;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_null(boxcar_batch_result_enqueued(result, 0));
    (void)boxcar_batch_result_affected(result, BOXCAR_OUTBOX, BOXCAR_ACK, &count);
    assert_int_equal(count, 0);
    assert_null(boxcar_batch_result_affected(result, (boxcar_box)5, BOXCAR_ACK, &count));
    assert_null(boxcar_batch_result_affected(result, BOXCAR_INBOX, (boxcar_settle_kind)9, &count));
    assert_int_equal(boxcar_batch_result_claimed(result, BOXCAR_INBOX)->count, 0);
    boxcar_batch_result_free(result);
    boxcar_batch_result_free(NULL);
}

/* A program that was built before the last fields were added. */
static void shorter_structs_keep_the_defaults(void **state) {
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_batch_part outbox = BOXCAR_BATCH_PART_INIT;
    boxcar_batch_result *result = NULL;

    (void)state;
    batch.struct_size = offsetof(boxcar_batch, inbox_messages);
    batch.inbox_message_count = 3; /* not looked at */
    outbox.struct_size = offsetof(boxcar_batch_part, claim_size);
    outbox.claim_size = -5; /* not looked at */
    batch.outbox = &outbox;
    assert_int_equal(boxcar_process(STORE, &batch, &result, &ERR), BOXCAR_OK);
    assert_int_equal(FAKE.batch.parts[BOXCAR_OUTBOX].claim_size, 0);
    boxcar_batch_result_free(result);
}

static void failure_of_the_store_is_passed_on(void **state) {
    boxcar_batch batch = BOXCAR_BATCH_INIT;
    boxcar_batch_result *result = NULL;

    (void)state;
    FAKE.answer = BOXCAR_E_UNAVAILABLE;
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
        cmocka_unit_test_setup(shorter_structs_keep_the_defaults, setup),
        cmocka_unit_test_setup(failure_of_the_store_is_passed_on, setup),
    };

    return cmocka_run_group_tests_name("api_process", tests, NULL, NULL);
}
