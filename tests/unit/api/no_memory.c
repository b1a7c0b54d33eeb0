/* Every allocation that a call makes fails once, the first, the second, and so on, until the
 * call makes no more: each time it must say "no memory", leave its outputs alone and lose
 * nothing (the address sanitizer looks for leaks). Linked with malloc and its siblings
 * wrapped, which catches the allocations of this library's own code. */
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "boxcar.h"
#include "core/fanout.h"
#include "memory_store.h"
#include "request/coordinator/coordinator.h"
#include "store/checkup.h"

static long FAIL_AT = -1; /* the allocation to refuse; -1 = none */
static long SEEN;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool refuse(void) { return SEEN++ == FAIL_AT; }

void *__wrap_malloc(size_t size) { return refuse() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refuse() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *memory, size_t size) { return refuse() ? NULL : __real_realloc(memory, size); }

/* Runs `call` with its n-th allocation failing, for every n. Returns how many there were. */
static long sweep(boxcar_status (*call)(struct memory_store *memory, boxcar_error *err)) {
    static struct memory_store memory;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status;
    long n = 0;

    for (;; n++) {
        memory_init(&memory);
        SEEN = 0;
        FAIL_AT = n;
        status = call(&memory, &err);
        FAIL_AT = -1;
        if (SEEN <= n)
            break;
        assert_int_equal(status, BOXCAR_E_NO_MEMORY);
        assert_int_equal(err.status, BOXCAR_E_NO_MEMORY);
    }
    assert_int_equal(status, BOXCAR_OK);
    return n;
}

static boxcar_status enqueue(struct memory_store *memory, boxcar_error *err) {
    static boxcar_new_message messages[200];
    boxcar_enqueued first[200] = {{.work_id = {77}}};
    boxcar_status status;

    for (size_t i = 0; i < COUNT_OF(messages); i++) {
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].topic = messages[i].payload = BOXCAR_STR("t");
    }
    status = boxcar_enqueue_many(&memory->store, BOXCAR_OUTBOX, messages, COUNT_OF(messages), first, err);
    assert_int_equal(first[0].work_id.value, status == BOXCAR_OK ? 1 : 77);
    return status;
}

static boxcar_status give_chunk(void *context, int64_t wait_ms, boxcar_chunk *ret_chunk, boxcar_error *err) {
    static boxcar_new_message messages[200];
    int *left = context;

    (void)wait_ms, (void)err;
    for (size_t i = 0; i < COUNT_OF(messages); i++) {
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].topic = messages[i].payload = BOXCAR_STR("t");
    }
    messages[7].key = BOXCAR_STR("k");
    ret_chunk->messages = messages;
    ret_chunk->count = COUNT_OF(messages);
    ret_chunk->is_last = --*left == 0;
    return BOXCAR_OK;
}

static boxcar_status enqueue_feed(struct memory_store *memory, boxcar_error *err) {
    int left = 3;

    return boxcar_enqueue_feed(&memory->store, BOXCAR_OUTBOX, give_chunk, &left, err);
}

static boxcar_status append_events(struct memory_store *memory, boxcar_error *err) {
    static boxcar_new_event events[200];
    boxcar_appended appended[200] = {{.struct_size = sizeof(boxcar_appended), .version = 77}};
    boxcar_status status;

    for (size_t i = 0; i < COUNT_OF(events); i++) {
        events[i] = BOXCAR_NEW_EVENT_INIT;
        events[i].type = events[i].payload = BOXCAR_STR("t");
    }
    status = boxcar_event_append(&memory->store, BOXCAR_STR("s"), 0, events, COUNT_OF(events), appended, err);
    assert_int_equal(appended[0].version, status == BOXCAR_OK ? 1 : 77);
    return status;
}

static boxcar_status claim(struct memory_store *memory, boxcar_error *err) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    boxcar_status status;

    memory->ignore_topics = true;
    for (int i = 0; i < 100; i++)
        memory_add(memory, "t", 0);
    options.owner.uuid.bytes[0] = 1;
    status = boxcar_claim(&memory->store, &options, &list, err);
    assert_int_equal(list != NULL, status == BOXCAR_OK);
    boxcar_list_free(list);
    return status;
}

static boxcar_status defer(struct memory_store *memory, boxcar_error *err) {
    boxcar_settlement item = BOXCAR_SETTLEMENT_INIT;
    boxcar_owner owner = {{{1}}};

    item.work_id.value = 1;
    return boxcar_settle(&memory->store, CLAIMER(BOXCAR_OUTBOX, owner), BOXCAR_DEFER, &item, 1, NULL, NULL,
                         err);
}

static boxcar_status read_settings(struct memory_store *memory, boxcar_error *err) {
    boxcar_setting_list *list = NULL;
    boxcar_status status;

    memory->setting = (struct setting_value){.name = BOXCAR_STR("max_attempts"), .number = 3};
    status = boxcar_setting_read(&memory->store, &list, err);
    assert_int_equal(list != NULL, status == BOXCAR_OK);
    boxcar_list_free(list);
    return status;
}

static boxcar_status attach(struct memory_store *memory, boxcar_error *err) {
    const boxcar_message_id message = {{{1}}};

    return boxcar_join_attach(&memory->store, (boxcar_join_id){{{1}}}, &message, 1, NULL, err);
}

/* jansson's allocations are not ours, but the text it writes grows in a buffer of ours. */
static boxcar_status enqueue_wait(struct memory_store *memory, boxcar_error *err) {
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    boxcar_enqueued enqueued = {.work_id = {77}};
    boxcar_status status;

    wait.join_id.uuid.bytes[0] = 1;
    wait.on_complete_topic = BOXCAR_STR("t");
    wait.on_complete_payload = BOXCAR_STR("a payload that is long enough for the buffer to grow with it, "
                                          "since every text begins with room for the shortest ones only, "
                                          "whatever that room is; so this one is a little longer still, "
                                          "and says nothing else that anybody would have to remember.");
    status = boxcar_join_wait(&memory->store, &wait, &enqueued, err);
    assert_int_equal(enqueued.work_id.value, status == BOXCAR_OK ? 1 : 77);
    return status;
}

static boxcar_status deliver(struct memory_store *memory, boxcar_error *err) {
    static boxcar_new_message messages[16];
    boxcar_enqueued first[16] = {{.work_id = {77}}};
    boxcar_status status;

    for (size_t i = 0; i < COUNT_OF(messages); i++) {
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].source = messages[i].external_id = messages[i].topic = messages[i].payload =
            BOXCAR_STR("t");
    }
    status = boxcar_enqueue_many(&memory->store, BOXCAR_INBOX, messages, COUNT_OF(messages), first, err);
    assert_int_equal(first[0].work_id.value, status == BOXCAR_OK ? 1 : 77);
    return status;
}

static boxcar_status judge_box(struct memory_store *memory, boxcar_error *err) {
    const struct live_host host = {BOXCAR_STR("here"), 1};
    const boxcar_str pattern = BOXCAR_STR("mail");
    boxcar_stats stats[40] = {{.ready = 39, .exact = true}};
    struct box_facts facts = {BOXCAR_OUTBOX,
                              stats,
                              COUNT_OF(stats),
                              NULL,
                              0,
                              30000,
                              &host,
                              1,
                              &pattern,
                              1,
                              1,
                              60,
                              1,
                              1,
                              1,
                              {.has_run = true, .seconds = 1e6},
                              BOXCAR_NO_STR};
    struct findings findings = findings_begin();
    struct finding_rows *list = NULL;
    boxcar_status status;

    (void)memory;
    for (size_t i = 1; i < COUNT_OF(stats); i++)
        stats[i] = (boxcar_stats){.topic = BOXCAR_STR("orders"), .ready = 1};
    for (int i = 0; i < 40; i++) /* more than the list and its arena begin with */
        checkup_schema(&findings, STORE_SCHEMA_VERSION + 1, 1);
    status = checkup_box(&findings, &facts, err);
    status = findings_end(&findings, status, &list, err);
    assert_int_equal(list != NULL, status == BOXCAR_OK);
    list_free(list);
    return status;
}

/* A load that makes several batches, and a retry of whatever fails: in the end all of it is flushed. */
static boxcar_status coordinate(struct memory_store *memory, boxcar_error *err) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_new_message messages[3] = {BOXCAR_NEW_MESSAGE_INIT, BOXCAR_NEW_MESSAGE_INIT,
                                      BOXCAR_NEW_MESSAGE_INIT};
    boxcar_new_message delivery = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_settlement items[3] = {BOXCAR_SETTLEMENT_INIT, BOXCAR_SETTLEMENT_INIT, BOXCAR_SETTLEMENT_INIT};
    boxcar_coordinator *coordinator = NULL;
    boxcar_flush *flushed = NULL;
    boxcar_status status;
    size_t queued;
    uint64_t ticket = 0;

    options.strategy = BOXCAR_STRATEGY_SCOPED;
    options.queue_max = 100;
    options.owner.uuid.bytes[0] = 1;
    for (size_t i = 0; i < COUNT_OF(messages); i++)
        messages[i].topic = messages[i].payload = BOXCAR_STR("t");
    delivery.source = delivery.external_id = delivery.topic = delivery.payload = BOXCAR_STR("t");
    memory->all_leased = true;
    for (memory->count = 0; memory->count < 2; memory->count++)
        memory->messages[memory->count].id.uuid.bytes[15] = (uint8_t)(memory->count + 1);
    items[0].message_id.uuid.bytes[15] = 1;
    items[1].message_id.uuid.bytes[15] = 2;
    items[2].message_id.uuid.bytes[15] = 1;
    status = coordinator_start(&options, &memory->store, &coordinator, err);
    if (status != BOXCAR_OK)
        return status;
    status = boxcar_coordinator_enqueue(coordinator, BOXCAR_OUTBOX, messages, 3, &ticket, err);
    assert_int_equal(ticket, status == BOXCAR_OK ? 1 : 0);
    queued = status == BOXCAR_OK ? 3 : 0;
    if (status == BOXCAR_OK)
        status = boxcar_coordinator_enqueue(coordinator, BOXCAR_INBOX, &delivery, 1, &ticket, err);
    queued += status == BOXCAR_OK ? 1 : 0;
    if (status == BOXCAR_OK)
        status = boxcar_coordinator_settle(coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, items, 3, 0, &ticket, err);
    queued += status == BOXCAR_OK ? 3 : 0;
    assert_int_equal(boxcar_coordinator_queued(coordinator), queued); /* all of a call or nothing */
    if (status == BOXCAR_OK)
        status = boxcar_coordinator_flush(coordinator, NULL, &flushed, err);
    if (status == BOXCAR_OK)
        assert_int_equal(flushed->count, 7);
    boxcar_flush_free(flushed);
    if (FAIL_AT >= 0 && FAIL_AT < SEEN && status != BOXCAR_OK) {
        FAIL_AT = -1; /* the rest must work */
        assert_int_equal(boxcar_coordinator_enqueue(coordinator, BOXCAR_OUTBOX, messages, 1, &ticket, NULL),
                         BOXCAR_OK);
    }
    assert_int_equal(boxcar_coordinator_close(coordinator, NULL), BOXCAR_OK);
    boxcar_coordinator_free(coordinator);
    return status;
}

static boxcar_verdict fail_with_a_text(void *context, boxcar_delivery *delivery) {
    (void)context;
    boxcar_delivery_set_error(delivery, BOXCAR_STR("a text"));
    return BOXCAR_VERDICT_FAIL;
}

/* A text that there is no memory for is left out; everything else is all or nothing. */
static boxcar_status run_ordered(struct memory_store *memory, boxcar_error *err) {
    boxcar_message message = {.work_id = {1}, .payload = BOXCAR_STR("p")};
    const boxcar_message *messages[] = {&message};
    boxcar_ordered_results *results = NULL;
    boxcar_ordered_options options = BOXCAR_ORDERED_OPTIONS_INIT;
    boxcar_status status;

    (void)memory;
    options.concurrency = 1;
    status = boxcar_ordered_run_messages(messages, 1, &options, fail_with_a_text, NULL, &results, err);
    assert_int_equal(results != NULL, status == BOXCAR_OK);
    if (results && !results->items[0]->error.data)
        status = error_no_memory(err);
    boxcar_ordered_results_free(results);
    return status;
}

static boxcar_status read_policies(struct memory_store *memory, boxcar_error *err) {
    static const boxcar_str destination = {"z", 1};
    boxcar_fanout_list *list = NULL;
    boxcar_status status;

    memory->subscription = (boxcar_subscription){
        .name = BOXCAR_STR("p/z"), .reader = 2, .destinations = &destination, .destination_count = 1};
    status = boxcar_fanout_read(&memory->store, BOXCAR_STR("p"), &list, err);
    assert_int_equal(list != NULL, status == BOXCAR_OK);
    boxcar_list_free(list);
    return status;
}

/* What a copy is made of. */
static boxcar_status copy(struct memory_store *memory, boxcar_error *err) {
    const struct destination destination = {.topic = BOXCAR_STR("audit.{topic}")};
    struct arena arena = ARENA_INIT;
    boxcar_message_id id;
    boxcar_str topic, headers;
    int hops;

    (void)memory;
    boxcar_status status = destination_topic(&destination, BOXCAR_STR("t"), &arena, &topic, err);
    if (status == BOXCAR_OK)
        status = fanout_raise_hops(BOXCAR_NO_STR, &arena, &hops, &headers, err);
    if (status == BOXCAR_OK)
        status = fanout_copy_id(BOXCAR_STR("p"), BOXCAR_STR("z"), (boxcar_message_id){{{1}}}, &id, err);
    arena_release(&arena);
    return status;
}

static void calls_survive_every_failing_allocation(void **state) {
    (void)state;
    assert_in_range(sweep(enqueue), 2, 20);
    assert_in_range(sweep(enqueue_feed), 5, 40);
    assert_in_range(sweep(claim), 2, 20);
    assert_in_range(sweep(defer), 2, 20);
    assert_in_range(sweep(read_settings), 2, 20);
    assert_in_range(sweep(judge_box), 5, 40);
    assert_in_range(sweep(attach), 1, 20);
    assert_in_range(sweep(enqueue_wait), 2, 20);
    assert_in_range(sweep(deliver), 1, 20);
    assert_in_range(sweep(append_events), 2, 20);
    assert_in_range(sweep(coordinate), 10, 60);
    assert_in_range(sweep(run_ordered), 4, 40);
    assert_in_range(sweep(read_policies), 3, 20);
    assert_in_range(sweep(copy), 3, 20);
}

/* No allocation per message: a thousand need as many as ten. */
static void a_large_enqueue_allocates_no_more_often_than_a_small_one(void **state) {
    static boxcar_new_message messages[1000];
    static struct memory_store memory;
    long few, many;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(messages); i++) {
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].topic = messages[i].payload = BOXCAR_STR("t");
    }
    memory_init(&memory);
    SEEN = 0;
    assert_int_equal(boxcar_enqueue_many(&memory.store, BOXCAR_OUTBOX, messages, 100, NULL, NULL), BOXCAR_OK);
    few = SEEN;
    SEEN = 0;
    assert_int_equal(boxcar_enqueue_many(&memory.store, BOXCAR_OUTBOX, messages, 1000, NULL, NULL),
                     BOXCAR_OK);
    many = SEEN;
    assert_in_range(many, 1, few + 2);
}

/* Nor for each operation that is queued: arrays and blocks grow, and are used again. */
static void queueing_allocates_only_to_grow(void **state) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_coordinator *coordinator;
    static struct memory_store memory;
    boxcar_error err;
    long grown;

    (void)state;
    memory_init(&memory);
    options.strategy = BOXCAR_STRATEGY_SCOPED;
    options.queue_max = 100000;
    message.topic = message.payload = BOXCAR_STR("t");
    assert_int_equal(coordinator_start(&options, &memory.store, &coordinator, &err), BOXCAR_OK);
    for (int round = 0; round < 3; round++) {
        SEEN = 0;
        for (int i = 0; i < 1000; i++) {
            boxcar_settlement item = BOXCAR_SETTLEMENT_INIT;

            item.work_id.value = i + 1;
            assert_int_equal(boxcar_coordinator_enqueue(coordinator, BOXCAR_OUTBOX, &message, 1, NULL, &err),
                             BOXCAR_OK);
            assert_int_equal(
                boxcar_coordinator_settle(coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, &item, 1, 0, NULL, &err),
                BOXCAR_OK);
        }
        grown = SEEN;
        assert_in_range(grown, 1, round == 0 ? 40 : 10);
        assert_int_equal(boxcar_coordinator_flush(coordinator, NULL, NULL, &err), BOXCAR_OK);
    }
    assert_int_equal(boxcar_coordinator_close(coordinator, &err), BOXCAR_OK);
    boxcar_coordinator_free(coordinator);
}

static void a_failed_arena_keeps_what_it_had(void **state) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_str copy = BOXCAR_STR("x"), kept;

    (void)state;
    assert_true(arena_copy_str(&arena, BOXCAR_STR("kept"), &kept));
    SEEN = FAIL_AT = 0;
    assert_null(arena_alloc(&arena, 1 << 20));
    SEEN = FAIL_AT = 0;
    assert_null(arena_alloc_array(&arena, 1000, 1000));
    for (SEEN = FAIL_AT = 0; SEEN == 0;) /* until the first block is full */
        (void)arena_alloc(&arena, 64);
    SEEN = FAIL_AT = 0;
    assert_false(arena_copy_str(&arena,
                                BOXCAR_STR("0123456789012345678901234567890123456789"
                                           "0123456789012345678901234567890123456789"),
                                &copy));
    FAIL_AT = -1;
    assert_string_equal(kept.data, "kept");
    assert_string_equal(copy.data, "x");
    assert_non_null(arena_alloc(&arena, 64));
}

static void a_failed_buffer_keeps_what_it_had(void **state) {
    AUTO_BUF struct buf buf = BUF_INIT;
    char piece[1000] = {0};

    (void)state;
    buf_append_text(&buf, "kept");
    SEEN = FAIL_AT = 0;
    buf_append(&buf, piece, sizeof(piece));
    FAIL_AT = -1;
    assert_true(buf.failed);
    buf_append_format(&buf, "%d", 1);
    assert_string_equal(buf.data, "kept");
    SEEN = FAIL_AT = 0;
    assert_null(memory_copy_text(BOXCAR_STR("abc")));
    FAIL_AT = -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_survive_every_failing_allocation),
        cmocka_unit_test(a_large_enqueue_allocates_no_more_often_than_a_small_one),
        cmocka_unit_test(queueing_allocates_only_to_grow),
        cmocka_unit_test(a_failed_arena_keeps_what_it_had),
        cmocka_unit_test(a_failed_buffer_keeps_what_it_had),
    };

    return cmocka_run_group_tests_name("no_memory", tests, NULL, NULL);
}
