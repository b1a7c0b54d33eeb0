/* The public functions over a store in memory: what they refuse, what they hand
 * down, what they report and what they log. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "boxcar.h"
#include "memory_store.h"
#include "store/open.h"

static struct memory_store MEMORY;
static boxcar_store *const STORE = &MEMORY.store;
static boxcar_error ERR;

static int fresh_store(void **state) {
    (void)state;
    memory_init(&MEMORY);
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

static boxcar_new_message message_on(boxcar_str topic) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

    message.topic = topic;
    message.payload = BOXCAR_STR("secret payload");
    return message;
}

static void enqueue_hands_down_the_message_with_a_new_id(void **state) {
    boxcar_new_message message = message_on(BOXCAR_STR("t"));
    boxcar_enqueued enqueued;

    (void)state;
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_OUTBOX, &message, &enqueued, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.calls, 1);
    assert_int_equal(MEMORY.asked.request.base.messages[BOXCAR_OUTBOX].count, 1);
    assert_true(MEMORY.asked.request.own[BOXCAR_OUTBOX].fresh_ids);
    assert_int_equal(MEMORY.asked.messages[0].message_id.uuid.bytes[6] >> 4, 7);
    assert_memory_equal(&enqueued.message_id, &MEMORY.asked.messages[0].message_id, 16);
    assert_int_equal(enqueued.work_id.value, 1);
    assert_true(boxcar_uuid_is_none(message.message_id.uuid));
}

/* OBX-008 */
static void empty_correlation_id_and_stream_become_absent(void **state) {
    boxcar_new_message message = message_on(BOXCAR_STR("t"));

    (void)state;
    message.correlation_id = message.stream = BOXCAR_STR("");
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_OUTBOX, &message, NULL, &ERR), BOXCAR_OK);
    assert_null(MEMORY.asked.messages[0].correlation_id.data);
    assert_null(MEMORY.asked.messages[0].stream.data);
}

/* BX-027 */
static void ids_are_given_derived_or_new(void **state) {
    boxcar_new_message messages[3];
    boxcar_message_id own = {{{9}}},
                      derived = boxcar_message_id_of_topic_key(BOXCAR_STR("t"), BOXCAR_STR("k"));

    (void)state;
    for (int i = 0; i < 3; i++)
        messages[i] = message_on(BOXCAR_STR("t"));
    messages[0].message_id = own;
    messages[1].key = BOXCAR_STR("k");
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_OUTBOX, messages, 3, NULL, &ERR), BOXCAR_OK);
    assert_false(MEMORY.asked.request.own[BOXCAR_OUTBOX].fresh_ids);
    assert_memory_equal(&MEMORY.asked.messages[0].message_id, &own, 16);
    assert_memory_equal(&MEMORY.asked.messages[1].message_id, &derived, 16);
    assert_null(MEMORY.asked.messages[1].key.data);
    assert_int_equal(MEMORY.asked.messages[2].message_id.uuid.bytes[6] >> 4, 7);
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_OUTBOX, messages, 2, NULL, &ERR), BOXCAR_OK);
    assert_false(MEMORY.asked.request.own[BOXCAR_OUTBOX].fresh_ids);
}

static void many_messages_get_different_ids(void **state) {
    boxcar_new_message messages[MEMORY_ROOM];
    boxcar_enqueued enqueued[MEMORY_ROOM];

    (void)state;
    for (size_t i = 0; i < MEMORY_ROOM; i++)
        messages[i] = message_on(BOXCAR_STR("t"));
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_OUTBOX, messages, MEMORY_ROOM, enqueued, &ERR),
                     BOXCAR_OK);
    assert_true(MEMORY.asked.request.own[BOXCAR_OUTBOX].fresh_ids);
    for (size_t i = 0; i < MEMORY_ROOM; i++) {
        assert_int_equal(enqueued[i].work_id.value, i + 1);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(&enqueued[i].message_id, &enqueued[k].message_id, 16);
    }
}

/* BX-011 */
static void one_bad_message_stops_all_and_is_named(void **state) {
    boxcar_new_message messages[3];
    boxcar_enqueued enqueued = {.work_id = {77}};

    (void)state;
    for (int i = 0; i < 3; i++)
        messages[i] = message_on(BOXCAR_STR("t"));
    messages[2].topic = BOXCAR_STR("");
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_OUTBOX, messages, 3, &enqueued, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "messages[2].topic");
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_OUTBOX, &messages[2], &enqueued, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "topic");
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_int_equal(MEMORY.log_count, 0);
    assert_int_equal(enqueued.work_id.value, 77);
}

/* OBX-102, OBX-107, OBX-125, BX-010 */
static void enqueue_is_logged_with_topic_and_correlation_id_but_no_payload(void **state) {
    boxcar_new_message messages[2] = {message_on(BOXCAR_STR("one")), message_on(BOXCAR_STR("two"))};

    (void)state;
    messages[1].correlation_id = BOXCAR_STR("c-7");
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_OUTBOX, messages, 2, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 2);
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_string_equal(MEMORY.last.event, "enqueue");
    assert_string_equal(MEMORY.last.store_id, "memory");
    assert_non_null(strstr(MEMORY.last.fields, "topic=two "));
    assert_non_null(strstr(MEMORY.last.fields, "correlation_id=c-7 "));
    assert_null(strstr(MEMORY.last.fields, "secret"));
    assert_null(strstr(MEMORY.last.text, "secret"));
}

/* OBX-103, OBX-106 */
static void claim_and_reap_are_logged_with_their_numbers(void **state) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list;

    (void)state;
    options.owner.uuid = boxcar_uuid_new();
    MEMORY.ignore_topics = true;
    for (int i = 0; i < 3; i++)
        memory_add(&MEMORY, "t", 0);
    assert_int_equal(boxcar_claim(STORE, &options, &list, &ERR), BOXCAR_OK);
    boxcar_list_free(list);
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_DEBUG);
    assert_string_equal(MEMORY.last.event, "claim");
    assert_string_equal(MEMORY.last.fields, "count=3 ");
    MEMORY.reaped = 5;
    assert_int_equal(boxcar_reap(STORE, BOXCAR_OUTBOX, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_string_equal(MEMORY.last.fields, "count=5 ");
    MEMORY.reaped = 0;
    MEMORY.log_count = 0;
    assert_int_equal(boxcar_reap(STORE, BOXCAR_OUTBOX, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 0);
}

static void a_store_without_a_log_function_is_silent(void **state) {
    boxcar_new_message message = message_on(BOXCAR_STR("t"));

    (void)state;
    MEMORY.store.log = NULL;
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_OUTBOX, &message, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(boxcar_reap(STORE, BOXCAR_OUTBOX, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 0);
}

static void claim_returns_a_list_of_its_own(void **state) {
    const boxcar_str topics[] = {BOXCAR_STR("a"), BOXCAR_STR("b.*")};
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;

    (void)state;
    options.owner.uuid = boxcar_uuid_new();
    options.topics = topics;
    options.topic_count = 2;
    memory_add(&MEMORY, "a", 0);
    memory_add(&MEMORY, "b.1", 0);
    assert_int_equal(boxcar_claim(STORE, &options, &list, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].claim_size, BOXCAR_BATCH_SIZE_DEFAULT);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].lease_ms, BOXCAR_LEASE_MS_DEFAULT);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].topic_count, 2);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->items[1]->work_id.value, 2);
    assert_null(list->items[2]);
    boxcar_list_free(list);
}

/* BX-011 */
static void claim_refuses_options_it_does_not_know(void **state) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;

    (void)state;
    options.owner.uuid = boxcar_uuid_new();
    options.struct_size = 0;
    assert_int_equal(boxcar_claim(STORE, &options, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "claimer");
    options.struct_size = sizeof(options) + 1;
    assert_int_equal(boxcar_claim(STORE, &options, &list, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_claim(STORE, NULL, &list, &ERR), BOXCAR_E_INVALID);
    assert_null(list);
    assert_int_equal(MEMORY.asked.calls, 0);
}

/* Waits are resolved by workers only: no caller may. */
static const boxcar_settle_kind KINDS[] = {BOXCAR_ACK,  BOXCAR_ABANDON, BOXCAR_DEFER,
                                           BOXCAR_FAIL, BOXCAR_RENEW,   BOXCAR_RECORD};

static void fill_settlements(boxcar_settlement items[3]) {
    for (int i = 0; i < 3; i++) {
        items[i] = BOXCAR_SETTLEMENT_INIT;
        items[i].work_id.value = 10 + i;
        items[i].epoch.value = 100;
        items[i].stages = BOXCAR_STAGE_STORED;
    }
}

static void every_way_to_settle_fills_its_list_and_reports_the_affected(void **state) {
    boxcar_owner owner = {boxcar_uuid_new()};
    boxcar_settlement items[3];

    (void)state;
    fill_settlements(items);
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        boxcar_work_id affected[3] = {{0}, {0}, {77}};
        size_t count = 99;

        memory_init(&MEMORY);
        MEMORY.all_leased = true;
        MEMORY.messages[12 - 1].settled = 1; /* by somebody else */
        for (int n = 0; n < 3; n++)
            items[n].stages = KINDS[i] == BOXCAR_RECORD ? BOXCAR_STAGE_STORED : 0;
        assert_int_equal(boxcar_settle(STORE, CLAIMER_FOR(BOXCAR_OUTBOX, owner, 5000), KINDS[i], items, 3,
                                       affected, &count, &ERR),
                         BOXCAR_OK);
        for (int k = 0; k < BOXCAR_SETTLE_KINDS; k++)
            assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].settle[k].count,
                             k == (int)KINDS[i] ? 3 : 0);
        assert_memory_equal(&MEMORY.asked.request.base.owner, &owner, sizeof(owner));
        assert_int_equal(count, 2);
        assert_int_equal(affected[0].value, 11); /* in no useful order */
        assert_int_equal(affected[1].value, 10);
        assert_int_equal(affected[2].value, 77);
        assert_int_equal(MEMORY.last.level, BOXCAR_LOG_DEBUG);
        assert_string_equal(MEMORY.last.fields, "count=2 ");
        assert_int_equal(boxcar_settle(STORE, CLAIMER_FOR(BOXCAR_OUTBOX, owner, 5000), KINDS[i], items, 3,
                                       NULL, NULL, &ERR),
                         BOXCAR_OK);
    }
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].lease_ms, 5000);
}

static void empty_calls_succeed_without_a_round_trip(void **state) {
    boxcar_owner owner = {boxcar_uuid_new()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        size_t count = 99;
        assert_int_equal(
            boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, owner), KINDS[i], NULL, 0, NULL, &count, &ERR),
            BOXCAR_OK);
        assert_int_equal(count, 0);
    }
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_OUTBOX, NULL, 0, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.calls, 0);
}

/* BX-011 */
static void bad_settle_calls_are_refused_before_the_store(void **state) {
    boxcar_owner owner = {boxcar_uuid_new()}, nobody = {0};
    boxcar_settlement items[3];

    (void)state;
    fill_settlements(items);
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        assert_int_equal(
            boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, nobody), KINDS[i], items, 3, NULL, NULL, &ERR),
            BOXCAR_E_INVALID);
        assert_string_equal(ERR.argument, "owner");
        assert_int_equal(
            boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, owner), KINDS[i], NULL, 3, NULL, NULL, &ERR),
            BOXCAR_E_INVALID);
        assert_string_equal(ERR.argument, "settlements");
    }
    assert_int_equal(
        boxcar_settle(STORE, CLAIMER_FOR(BOXCAR_OUTBOX, owner, 0), BOXCAR_RENEW, items, 3, NULL, NULL, &ERR),
        BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "lease_ms");
    assert_int_equal(
        boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, owner), BOXCAR_RESOLVE, items, 3, NULL, NULL, &ERR),
        BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "kind");
    assert_int_equal(boxcar_settle(STORE, CLAIMER(-1, owner), BOXCAR_ACK, items, 3, NULL, NULL, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "box");
    assert_int_equal(boxcar_settle(STORE, NULL, BOXCAR_ACK, items, 3, NULL, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "claimer");
    items[2].stages = 32;
    assert_int_equal(
        boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, owner), BOXCAR_RECORD, items, 3, NULL, NULL, &ERR),
        BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "settlements[2].stages");
    assert_int_equal(MEMORY.asked.calls, 0);
}

/* BX-063: they are recorded as well, each in its list. */
static void stages_of_a_result_are_recorded_with_it(void **state) {
    boxcar_owner owner = {boxcar_uuid_new()};
    boxcar_settlement items[3];

    (void)state;
    fill_settlements(items);
    items[1].stages = 0;
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        bool is_result = KINDS[i] != BOXCAR_RENEW && KINDS[i] != BOXCAR_RECORD;

        if (KINDS[i] == BOXCAR_RECORD)
            continue;
        memory_init(&MEMORY);
        assert_int_equal(
            boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, owner), KINDS[i], items, 3, NULL, NULL, &ERR),
            BOXCAR_OK);
        assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].settle[KINDS[i]].count, 3);
        assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].settle[BOXCAR_RECORD].count,
                         is_result ? 2 : 0);
    }
}

/* BX-010, BX-022 */
static void settlements_reach_the_store_in_its_form(void **state) {
    static char text[BOXCAR_ERROR_TEXT_MAX + 10];
    boxcar_settlement items[3];

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text + BOXCAR_ERROR_TEXT_MAX - 1, "\xC3\xA9", 2); /* lies across the limit */
    fill_settlements(items);
    for (int i = 0; i < 3; i++)
        items[i].stages = 0;
    items[1].error = (boxcar_str){text, sizeof(text)};
    assert_int_equal(boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, (boxcar_owner){boxcar_uuid_new()}),
                                   BOXCAR_DEFER, items, 3, NULL, NULL, &ERR),
                     BOXCAR_OK);
    assert_int_equal(MEMORY.asked.settlements[0].delay_ms, 0);
    assert_int_equal(MEMORY.asked.settlements[1].error.len, BOXCAR_ERROR_TEXT_MAX - 1);
    assert_int_equal(items[0].delay_ms, BOXCAR_BACKOFF);
    assert_int_equal(boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, (boxcar_owner){boxcar_uuid_new()}),
                                   BOXCAR_ABANDON, items, 3, NULL, NULL, &ERR),
                     BOXCAR_OK);
    assert_int_equal(MEMORY.asked.settlements[0].delay_ms, BOXCAR_BACKOFF);
    assert_int_equal(MEMORY.asked.settlements[1].error.len, BOXCAR_ERROR_TEXT_MAX - 1);
}

static void what_the_store_says_is_passed_on_and_outputs_stay_untouched(void **state) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_new_message message = message_on(BOXCAR_STR("t"));
    boxcar_enqueued enqueued = {.work_id = {77}};
    boxcar_message_list *list = NULL;
    boxcar_settlement items[3];
    size_t affected = 77;
    int64_t reaped = 77;

    (void)state;
    MEMORY.down = BOXCAR_E_UNAVAILABLE;
    options.owner.uuid = boxcar_uuid_new();
    fill_settlements(items);
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_OUTBOX, &message, &enqueued, &ERR), BOXCAR_E_UNAVAILABLE);
    assert_true(ERR.retryable);
    assert_int_equal(boxcar_claim(STORE, &options, &list, NULL), BOXCAR_E_UNAVAILABLE);
    assert_int_equal(boxcar_settle(STORE, CLAIMER(BOXCAR_OUTBOX, options.owner), BOXCAR_ACK, items, 3, NULL,
                                   &affected, NULL),
                     BOXCAR_E_UNAVAILABLE);
    assert_int_equal(boxcar_reap(STORE, BOXCAR_OUTBOX, &reaped, NULL), BOXCAR_E_UNAVAILABLE);
    assert_int_equal(enqueued.work_id.value, 77);
    assert_int_equal(affected, 77);
    assert_int_equal(reaped, 77);
    assert_null(list);
    assert_int_equal(MEMORY.log_count, 0);
}

/* BX-011 */
static void missing_pointers_are_refused(void **state) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_new_message message = message_on(BOXCAR_STR("t"));

    (void)state;
    assert_int_equal(boxcar_enqueue(NULL, BOXCAR_OUTBOX, &message, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "store");
    assert_int_equal(boxcar_enqueue(STORE, BOXCAR_OUTBOX, NULL, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "message");
    assert_int_equal(boxcar_claim(STORE, &options, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "ret_list");
    assert_int_equal(boxcar_enqueue_many(STORE, BOXCAR_OUTBOX, NULL, 2, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "messages");
    assert_int_equal(boxcar_reap(NULL, BOXCAR_OUTBOX, NULL, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_store_open(NULL, NULL, &ERR), BOXCAR_E_INVALID);
    boxcar_store_close(NULL);
    boxcar_list_free(NULL);
    assert_int_equal(MEMORY.asked.calls, 0);
}

/* BX-025 */
static void a_filter_without_condition_changes_nothing_unless_all_is_set(void **state) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 77;

    (void)state;
    MEMORY.dead_left = 5;
    assert_int_equal(boxcar_dead_replay(STORE, &filter, BOXCAR_NO_STR, &count, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "filter");
    assert_int_equal(boxcar_dead_purge(STORE, &filter, &count, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_int_equal(count, 77);
    filter.all = true;
    assert_int_equal(boxcar_dead_purge(STORE, &filter, &count, &ERR), BOXCAR_OK);
    assert_int_equal(count, 5);
}

/* BX-025 */
static void large_numbers_of_dead_letters_go_in_chunks(void **state) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;

    (void)state;
    filter.reason = BOXCAR_REASON_EXHAUSTED;
    MEMORY.dead_left = 2500;
    assert_int_equal(boxcar_dead_replay(STORE, &filter, BOXCAR_STR("why"), &count, &ERR), BOXCAR_OK);
    assert_int_equal(count, 2500);
    assert_int_equal(MEMORY.asked.dead_calls, 3);
    assert_memory_equal(MEMORY.asked.note.data, "why", 3);
    assert_int_equal(MEMORY.asked.dead_filter.reason, BOXCAR_REASON_EXHAUSTED);
    assert_int_equal(boxcar_dead_replay(STORE, &filter, BOXCAR_STR("a\0"), NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "note");
}

static void inspection_is_checked_and_handed_down(void **state) {
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_message_ref ref = {.work_id = {1}}, bad = {.work_id = {0}};
    boxcar_message_list *list = NULL;

    (void)state;
    assert_int_equal(boxcar_message_find(STORE, BOXCAR_OUTBOX, bad, &list, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_message_cancel(STORE, BOXCAR_OUTBOX, bad, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_message_find(STORE, -1, ref, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "box");
    assert_int_equal(boxcar_dead_page(STORE, &filter, 0, (boxcar_work_id){0}, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "limit");
    options.limit = 0;
    assert_int_equal(boxcar_message_page(STORE, &options, &list, &ERR), BOXCAR_E_INVALID);
    assert_int_equal(MEMORY.asked.calls, 0);
    options = BOXCAR_MESSAGE_FILTER_INIT;
    options.struct_size = offsetof(boxcar_message_filter, limit); /* an older program */
    options.limit = -1;
    assert_int_equal(boxcar_message_page(STORE, &options, &list, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.message_filter.limit, 50);
    boxcar_list_free(list);
    assert_int_equal(boxcar_message_find(STORE, BOXCAR_INBOX, ref, &list, &ERR), BOXCAR_OK);
    boxcar_list_free(list);
    assert_int_equal(boxcar_dead_page(STORE, &filter, 10, (boxcar_work_id){0}, &list, &ERR), BOXCAR_OK);
    boxcar_list_free(list);
    assert_int_equal(boxcar_message_cancel(STORE, BOXCAR_OUTBOX, ref, &ERR), BOXCAR_OK);
}

static void histories_and_counters_are_lists(void **state) {
    boxcar_attempt_list *attempts = NULL;
    boxcar_stats_list *stats = NULL;

    (void)state;
    assert_int_equal(boxcar_attempt_read(STORE, (boxcar_work_id){0}, &attempts, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "work_id");
    assert_int_equal(boxcar_attempt_read(STORE, (boxcar_work_id){1}, &attempts, &ERR), BOXCAR_OK);
    assert_int_equal(attempts->count, 0);
    assert_null(attempts->items[0]);
    boxcar_list_free(attempts);
    assert_int_equal(boxcar_stats_read(STORE, BOXCAR_OUTBOX, true, &stats, &ERR), BOXCAR_OK);
    assert_int_equal(stats->count, 0);
    assert_null(stats->items[0]);
    boxcar_list_free(stats);
}

static void settings_are_the_stores_values_over_the_defaults(void **state) {
    boxcar_setting_list *list = NULL;
    size_t changed = 0;

    (void)state;
    MEMORY.setting = (struct setting_value){.name = BOXCAR_STR("retention_done"), .number = 2 * 86400e3};
    assert_int_equal(boxcar_setting_read(STORE, &list, &ERR), BOXCAR_OK);
    assert_int_equal(list->count, 16);
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_setting *setting = list->items[i];
        if (strcmp(setting->name.data, "retention_done") == 0) {
            assert_string_equal(setting->value.data, "2d");
            assert_string_equal(setting->default_value.data, "7d");
            changed++;
        } else {
            assert_string_equal(setting->value.data, setting->default_value.data);
        }
    }
    assert_int_equal(changed, 1);
    assert_null(list->items[16]);
    boxcar_list_free(list);
}

/* JOIN-050 */
static void a_setting_may_be_a_text(void **state) {
    boxcar_str name = BOXCAR_STR("join_wait_topic");
    boxcar_setting_list *list = NULL;

    (void)state;
    assert_int_equal(boxcar_setting_write(STORE, name, BOXCAR_STR(""), &ERR), BOXCAR_E_INVALID);
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_int_equal(boxcar_setting_write(STORE, name, BOXCAR_STR("waits"), &ERR), BOXCAR_OK);
    assert_memory_equal(MEMORY.asked.setting.text.data, "waits", 5);
    MEMORY.setting = (struct setting_value){.name = name, .text = BOXCAR_STR("waits")};
    assert_int_equal(boxcar_setting_read(STORE, &list, &ERR), BOXCAR_OK);
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_setting *setting = list->items[i];
        if (strcmp(setting->name.data, "join_wait_topic") == 0) {
            assert_string_equal(setting->value.data, "waits");
            assert_string_equal(setting->default_value.data, "join.wait");
        } else {
            assert_string_equal(setting->value.data, setting->default_value.data);
        }
    }
    boxcar_list_free(list);
}

static void settings_are_checked_before_they_are_written(void **state) {
    boxcar_str name = BOXCAR_STR("backoff_base");

    (void)state;
    assert_int_equal(boxcar_setting_write(STORE, BOXCAR_STR("nonsense"), BOXCAR_STR("1"), &ERR),
                     BOXCAR_E_NOT_FOUND);
    assert_non_null(strstr(ERR.message, "nonsense"));
    assert_int_equal(boxcar_setting_write(STORE, name, BOXCAR_STR("-1s"), &ERR), BOXCAR_E_INVALID);
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_int_equal(boxcar_setting_write(STORE, name, BOXCAR_STR("250ms"), &ERR), BOXCAR_OK);
    assert_true(MEMORY.asked.setting.number == 250);
    assert_false(MEMORY.asked.setting.is_default);
    assert_int_equal(boxcar_setting_write(STORE, name, BOXCAR_NO_STR, &ERR), BOXCAR_OK);
    assert_true(MEMORY.asked.setting.is_default);
}

static void upkeep_reports_and_takes_null(void **state) {
    boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
    boxcar_audit audit = BOXCAR_AUDIT_INIT;

    (void)state;
    MEMORY.reaped = 4;
    assert_int_equal(boxcar_maintenance_run(STORE, &maintenance, &ERR), BOXCAR_OK);
    assert_int_equal(maintenance.reaped, 4);
    assert_int_equal(boxcar_maintenance_run(STORE, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(boxcar_audit_run(STORE, true, &audit, &ERR), BOXCAR_OK);
    assert_int_equal(audit.repaired, 1);
    assert_int_equal(boxcar_audit_run(STORE, true, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(boxcar_store_deploy(STORE, &ERR), BOXCAR_OK);
    assert_int_equal(boxcar_store_deployment(STORE)->applied, 1);
    assert_int_equal(boxcar_store_deployment(NULL)->schema_version, 0);
    assert_int_equal(boxcar_store_deploy(STORE, &ERR), BOXCAR_OK);
    assert_string_equal(boxcar_store_kind(STORE), "memory");
    assert_string_equal(boxcar_store_id(STORE), "memory");
    boxcar_store_close(STORE);
}

/* BX-011 */
static void store_urls_of_unknown_form_are_refused_and_never_shown(void **state) {
    static const char *const bad[] = {
        "",
        "boxcar.db",
        "mysql://u:hunter2@h/db",
        "sqlite:",
        "sqlite::memory:",
        "POSTGRES://u:hunter2@h/db",
        "postgres:/u:hunter2@h",
        "host=h password=hunter2",
        "sqlite",
        "postgres",
        "\xFF",
        "sqlite::memory:?x=hunter2",
    };
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_store *store = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        options.url = boxcar_str_of(bad[i]);
        assert_int_equal(boxcar_store_open(&options, &store, &ERR), BOXCAR_E_INVALID);
        assert_string_equal(ERR.argument, "url");
        assert_null(strstr(ERR.message, "hunter2"));
    }
    options.url = BOXCAR_NO_STR;
    assert_int_equal(boxcar_store_open(&options, &store, &ERR), BOXCAR_E_INVALID);
    options.url = BOXCAR_STR("sqlite:a\0b");
    assert_int_equal(boxcar_store_open(&options, &store, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "url");
    assert_null(store);
}

static void assert_open_refused(boxcar_store_options options, const char *argument) {
    boxcar_store *store = NULL;

    assert_int_equal(boxcar_store_open(&options, &store, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, argument);
    assert_null(store);
}

/* BX-011 */
static void bad_store_options_are_refused(void **state) {
    boxcar_store_options good = BOXCAR_STORE_OPTIONS_INIT, options;

    (void)state;
    good.url = BOXCAR_STR("sqlite:/nonexistent/boxcar.db");
    options = good;
    options.schema = BOXCAR_STR("a\"b");
    assert_open_refused(options, "schema");
    options = good;
    options.durability = (boxcar_durability)9;
    assert_open_refused(options, "durability");
    options = good;
    options.busy_timeout_ms = -1;
    assert_open_refused(options, "busy_timeout_ms");
    options = good;
    options.answer_timeout_ms = -1;
    assert_open_refused(options, "answer_timeout_ms");
    options = good;
    options.struct_size = 0;
    assert_open_refused(options, "options");
    options.struct_size = sizeof(options) + 1;
    assert_open_refused(options, "options");
}

static void store_options_get_their_defaults(void **state) {
    boxcar_store_options given = BOXCAR_STORE_OPTIONS_INIT, options;

    (void)state;
    assert_int_equal(store_options_read(&given, &options, &ERR), BOXCAR_OK);
    assert_memory_equal(options.schema.data, "boxcar", 6);
    assert_int_equal(options.busy_timeout_ms, 30000);
}

static void versions_are_those_of_the_headers(void **state) {
    (void)state;
    assert_string_equal(boxcar_version(), BOXCAR_VERSION);
    assert_string_equal(boxcar_version(), PROJECT_VERSION);
    assert_int_equal(boxcar_schema_version(), STORE_SCHEMA_VERSION);
}

#define TEST(function) cmocka_unit_test_setup(function, fresh_store)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(enqueue_hands_down_the_message_with_a_new_id),
        TEST(empty_correlation_id_and_stream_become_absent),
        TEST(ids_are_given_derived_or_new),
        TEST(many_messages_get_different_ids),
        TEST(one_bad_message_stops_all_and_is_named),
        TEST(enqueue_is_logged_with_topic_and_correlation_id_but_no_payload),
        TEST(claim_and_reap_are_logged_with_their_numbers),
        TEST(a_store_without_a_log_function_is_silent),
        TEST(claim_returns_a_list_of_its_own),
        TEST(claim_refuses_options_it_does_not_know),
        TEST(every_way_to_settle_fills_its_list_and_reports_the_affected),
        TEST(empty_calls_succeed_without_a_round_trip),
        TEST(bad_settle_calls_are_refused_before_the_store),
        TEST(stages_of_a_result_are_recorded_with_it),
        TEST(settlements_reach_the_store_in_its_form),
        TEST(what_the_store_says_is_passed_on_and_outputs_stay_untouched),
        TEST(missing_pointers_are_refused),
        TEST(a_filter_without_condition_changes_nothing_unless_all_is_set),
        TEST(large_numbers_of_dead_letters_go_in_chunks),
        TEST(inspection_is_checked_and_handed_down),
        TEST(histories_and_counters_are_lists),
        TEST(settings_are_the_stores_values_over_the_defaults),
        TEST(a_setting_may_be_a_text),
        TEST(settings_are_checked_before_they_are_written),
        TEST(upkeep_reports_and_takes_null),
        TEST(store_urls_of_unknown_form_are_refused_and_never_shown),
        TEST(bad_store_options_are_refused),
        TEST(store_options_get_their_defaults),
        TEST(versions_are_those_of_the_headers),
    };

    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
