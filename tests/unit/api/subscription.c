/* The public functions about subscriptions over a store in memory: what they refuse, what they hand down,
 * what they report and log; and readers' numbers in other calls. */
#include "unit.h"

#include <string.h>

#include "boxcar.h"
#include "memory_store.h"

static struct memory_store MEMORY;
static boxcar_store *const STORE = &MEMORY.store;
static boxcar_error ERR;

static const boxcar_str NAME = {"audit", 5};
static const boxcar_owner OWNER = {{{1}}};
#define NUMBER 9

static int fresh_store(void **state) {
    (void)state;
    memory_init(&MEMORY);
    MEMORY.subscription = (boxcar_subscription){.name = NAME, .reader = NUMBER, .box = BOXCAR_INBOX};
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

#define ASSERT_REFUSED(name, call)                                                                           \
    do {                                                                                                     \
        assert_int_equal(call, BOXCAR_E_INVALID);                                                            \
        assert_string_equal(ERR.argument, name);                                                             \
        assert_non_null(strstr(ERR.message, ": ")); /* the remedy follows */                                 \
        assert_int_equal(MEMORY.asked.calls, 0);                                                             \
    } while (0)

#define ASSERT_NO_READER(call)                                                                               \
    do {                                                                                                     \
        assert_int_equal(call, BOXCAR_E_NOT_FOUND);                                                          \
        assert_string_equal(ERR.argument, "subscription");                                                   \
    } while (0)

static boxcar_new_subscription good(void) {
    static const boxcar_str PATTERNS[] = {{"orders.*", 8}, {"mail", 4}};
    boxcar_new_subscription subscription = BOXCAR_NEW_SUBSCRIPTION_INIT;

    subscription.name = NAME;
    subscription.patterns = PATTERNS;
    subscription.pattern_count = 2;
    return subscription;
}

/* BX-090 */
static void changes_are_handed_down_and_logged(void **state) {
    boxcar_new_subscription subscription = good();
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    boxcar_place place = BOXCAR_PLACE_INIT;
    boxcar_box reader = 0;
    int64_t count = 0;

    (void)state;
    subscription.start = BOXCAR_START_TIME;
    subscription.start_time = 5;
    subscription.only = true;
    assert_int_equal(boxcar_subscription_add(STORE, &subscription, &reader, &ERR), BOXCAR_OK);
    assert_int_equal(reader, 2);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_ADD);
    assert_memory_equal(MEMORY.asked.subscription.name.data, NAME.data, NAME.len);
    assert_string_equal(MEMORY.last.event, "subscription");
    assert_string_equal(MEMORY.last.fields, "subscription=audit ");
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_int_equal(boxcar_subscription_add(STORE, &subscription, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(boxcar_subscription_pause(STORE, NAME, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_PAUSE);
    assert_int_equal(boxcar_subscription_resume(STORE, NAME, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_RESUME);
    assert_int_equal(boxcar_subscription_change(STORE, NAME, &changes, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_ALTER);
    place.start = BOXCAR_START_WORK_ID;
    place.work_id.value = 12;
    assert_int_equal(boxcar_subscription_rewind(STORE, NAME, &place, &count, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_REWIND);
    assert_int_equal(MEMORY.asked.subscription.place.work_id.value, 12);
    assert_int_equal(count, 7);
    assert_int_equal(boxcar_subscription_remove(STORE, NAME, true, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_REMOVE);
    assert_true(MEMORY.asked.subscription.force);
}

static void what_is_there_is_found(void **state) {
    boxcar_subscription_list *list = NULL;
    boxcar_box reader = 0;

    (void)state;
    assert_int_equal(boxcar_subscription_find(STORE, NAME, &reader, &ERR), BOXCAR_OK);
    assert_int_equal(reader, NUMBER);
    assert_int_equal(boxcar_subscription_read(STORE, BOXCAR_NO_STR, &list, &ERR), BOXCAR_OK);
    assert_int_equal(list->count, 1);
    assert_int_equal(list->items[0]->box, BOXCAR_INBOX);
    boxcar_list_free(list);
    list = NULL;
    ASSERT_NO_READER(boxcar_subscription_find(STORE, BOXCAR_STR("other"), &reader, &ERR));
    assert_non_null(strstr(ERR.message, "\"other\""));
    ASSERT_NO_READER(boxcar_subscription_read(STORE, BOXCAR_STR("other"), &list, &ERR));
    assert_null(list);
    assert_int_equal(reader, NUMBER);
}

/* BX-011 */
static void bad_names_never_reach_the_store(void **state) {
    static char long_text[BOXCAR_SUBSCRIPTION_NAME_MAX + 1];
    const boxcar_str bad[] = {BOXCAR_NO_STR,      BOXCAR_STR(""),       {long_text, sizeof(long_text)},
                              {"a\0b", 3},        BOXCAR_STR("\xff"),   BOXCAR_STR("a\x1f"),
                              BOXCAR_STR("\x7f"), BOXCAR_STR("outbox"), BOXCAR_STR("inbox")};
    boxcar_new_subscription subscription = good();
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    boxcar_place place = BOXCAR_PLACE_INIT;
    boxcar_subscription_list *list;
    boxcar_box reader;

    (void)state;
    memset(long_text, 'x', sizeof(long_text));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        subscription.name = bad[i];
        ASSERT_REFUSED("name", boxcar_subscription_add(STORE, &subscription, NULL, &ERR));
        ASSERT_REFUSED("name", boxcar_subscription_find(STORE, bad[i], &reader, &ERR));
        ASSERT_REFUSED("name", boxcar_subscription_pause(STORE, bad[i], &ERR));
        ASSERT_REFUSED("name", boxcar_subscription_resume(STORE, bad[i], &ERR));
        ASSERT_REFUSED("name", boxcar_subscription_change(STORE, bad[i], &changes, &ERR));
        ASSERT_REFUSED("name", boxcar_subscription_rewind(STORE, bad[i], &place, NULL, &ERR));
        ASSERT_REFUSED("name", boxcar_subscription_remove(STORE, bad[i], false, &ERR));
        if (bad[i].data)
            ASSERT_REFUSED("name", boxcar_subscription_read(STORE, bad[i], &list, &ERR));
    }
    subscription.name = BOXCAR_STR("a/b"); /* that of a policy's, which can be looked up, but not be added */
    ASSERT_REFUSED("name", boxcar_subscription_add(STORE, &subscription, NULL, &ERR));
    ASSERT_NO_READER(boxcar_subscription_find(STORE, subscription.name, &reader, &ERR));
    subscription.name = (boxcar_str){long_text, BOXCAR_SUBSCRIPTION_NAME_MAX};
    assert_int_equal(boxcar_subscription_add(STORE, &subscription, NULL, &ERR), BOXCAR_OK);
}

static void assert_add_refused(boxcar_new_subscription subscription, const char *argument) {
    ASSERT_REFUSED(argument, boxcar_subscription_add(STORE, &subscription, NULL, &ERR));
}

/* BX-011 */
static void bad_rules_never_reach_the_store(void **state) {
    boxcar_str many[BOXCAR_PATTERN_COUNT_MAX + 1];
    const boxcar_str star[] = {BOXCAR_STR("a"), BOXCAR_STR("b*c")};
    boxcar_new_subscription bad = good();

    (void)state;
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
        many[i] = BOXCAR_STR("t");
    bad.struct_size = 0;
    assert_add_refused(bad, "subscription");
    bad = good();
    bad.box = NUMBER;
    assert_add_refused(bad, "box");
    bad = good();
    bad.pattern_count = 0;
    assert_add_refused(bad, "patterns");
    bad.patterns = NULL;
    bad.pattern_count = 1;
    assert_add_refused(bad, "patterns");
    bad.patterns = many;
    bad.pattern_count = BOXCAR_PATTERN_COUNT_MAX + 1;
    assert_add_refused(bad, "pattern_count");
    bad.patterns = star;
    bad.pattern_count = 2;
    assert_add_refused(bad, "patterns[1]");
    bad = good();
    bad.start = BOXCAR_START_WORK_ID;
    assert_add_refused(bad, "start");
    bad.start = (boxcar_start)-1;
    assert_add_refused(bad, "start");
    bad.start = BOXCAR_START_TIME;
    assert_add_refused(bad, "start_time");
    bad.start_time = -5;
    assert_add_refused(bad, "start_time");
    bad = good();
    bad.max_lag_ms = BOXCAR_MAX_LAG_MS_MIN - 1;
    assert_add_refused(bad, "max_lag_ms");
    bad.max_lag_ms = BOXCAR_MAX_LAG_MS_MAX + 1;
    assert_add_refused(bad, "max_lag_ms");
    bad = good();
    bad.max_lag_count = -1;
    assert_add_refused(bad, "max_lag_count");
}

/* BX-011 */
static void bad_changes_and_places_never_reach_the_store(void **state) {
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    boxcar_place place = BOXCAR_PLACE_INIT;
    boxcar_attempt_list *list;

    (void)state;
    ASSERT_REFUSED("changes", boxcar_subscription_change(STORE, NAME, NULL, &ERR));
    changes.max_lag_ms = -2;
    ASSERT_REFUSED("max_lag_ms", boxcar_subscription_change(STORE, NAME, &changes, &ERR));
    changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    changes.max_lag_count = -2;
    ASSERT_REFUSED("max_lag_count", boxcar_subscription_change(STORE, NAME, &changes, &ERR));
    ASSERT_REFUSED("place", boxcar_subscription_rewind(STORE, NAME, NULL, NULL, &ERR));
    place.start = BOXCAR_START_END;
    ASSERT_REFUSED("start", boxcar_subscription_rewind(STORE, NAME, &place, NULL, &ERR));
    place.start = BOXCAR_START_TIME;
    ASSERT_REFUSED("time", boxcar_subscription_rewind(STORE, NAME, &place, NULL, &ERR));
    place.start = BOXCAR_START_WORK_ID;
    ASSERT_REFUSED("work_id", boxcar_subscription_rewind(STORE, NAME, &place, NULL, &ERR));
    ASSERT_REFUSED("store", boxcar_subscription_pause(NULL, NAME, &ERR));
    ASSERT_REFUSED("ret_reader", boxcar_subscription_find(STORE, NAME, NULL, &ERR));
    ASSERT_REFUSED("ret_list", boxcar_subscription_read(STORE, NAME, NULL, &ERR));
    ASSERT_REFUSED("reader",
                   boxcar_subscription_attempt_read(STORE, BOXCAR_INBOX, (boxcar_work_id){1}, &list, &ERR));
    ASSERT_REFUSED("work_id",
                   boxcar_subscription_attempt_read(STORE, NUMBER, (boxcar_work_id){0}, &list, &ERR));
}

/* BX-091: a reader's number stands where a box does, and the messages say whose they are. */
static void calls_are_made_for_the_reader(void **state) {
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    boxcar_message_list *list = NULL;
    int64_t reaped = 0;

    (void)state;
    MEMORY.ignore_topics = true;
    memory_add(&MEMORY, "t", 0);
    claimer.box = NUMBER;
    claimer.owner = OWNER;
    assert_int_equal(boxcar_claim(STORE, &claimer, &list, &ERR), BOXCAR_OK);
    assert_int_equal(list->count, 1);
    assert_int_equal(list->items[0]->reader, NUMBER);
    boxcar_list_free(list);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].reader, NUMBER);
    settlement.work_id.value = 1;
    assert_int_equal(boxcar_settle(STORE, &claimer, BOXCAR_ACK, &settlement, 1, NULL, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].reader, NUMBER);
    assert_int_equal(boxcar_reap(STORE, NUMBER, &reaped, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_OUTBOX].reader, NUMBER);
    claimer.box = BOXCAR_INBOX;
    assert_int_equal(boxcar_settle(STORE, &claimer, BOXCAR_ACK, &settlement, 1, NULL, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.request.parts[BOXCAR_INBOX].reader, 0);
    claimer.box = NUMBER + 1;
    ASSERT_NO_READER(boxcar_claim(STORE, &claimer, &list, &ERR));
    claimer.box = BOXCAR_READER_MAX + 1;
    assert_int_equal(boxcar_claim(STORE, &claimer, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "box");
}

/* A request has the reader in a part, and a fault of it is named. */
static void requests_are_made_for_the_reader(void **state) {
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_heartbeat heartbeat = BOXCAR_HEARTBEAT_INIT;
    boxcar_result *result = NULL;

    (void)state;
    MEMORY.ignore_topics = true;
    memory_add(&MEMORY, "t", 0);
    MEMORY.messages[0].box = BOXCAR_INBOX;
    part.reader = NUMBER;
    part.claim_size = 1;
    request.owner = OWNER;
    request.parts[BOXCAR_INBOX] = &part;
    request.heartbeat = &heartbeat;
    assert_int_equal(boxcar_process(STORE, &request, &result, &ERR), BOXCAR_OK);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->count, 1);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->items[0]->reader, NUMBER);
    assert_int_equal(result->claimed[BOXCAR_INBOX]->items[0]->box, BOXCAR_INBOX);
    assert_int_equal(MEMORY.calls[0].readers[BOXCAR_INBOX], NUMBER);
    assert_int_equal(MEMORY.calls[0].instance_of, NUMBER);
    boxcar_result_free(result);
    part.reader = BOXCAR_INBOX;
    assert_int_equal(boxcar_process(STORE, &request, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "inbox.reader");
    part.reader = NUMBER;
    part.claim_stored = true;
    assert_int_equal(boxcar_process(STORE, &request, &result, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "inbox.claim_stored");
    part.claim_stored = false;
    part.reader = NUMBER + 1;
    ASSERT_NO_READER(boxcar_process(STORE, &request, &result, &ERR));
}

/* Coordinators serve the main readers: what they would settle otherwise is another delivery. */
static void coordinators_refuse_subscriptions(void **state) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_flush_options asked = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    boxcar_coordinator *coordinator = NULL;

    (void)state;
    options.lent = STORE;
    options.owner = OWNER;
    assert_int_equal(boxcar_coordinator_new(&options, &coordinator, &ERR), BOXCAR_OK);
    claimer.box = NUMBER;
    asked.claims[BOXCAR_OUTBOX] = &claimer;
    assert_int_equal(boxcar_coordinator_flush(coordinator, &asked, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "claims[0].box");
    settlement.work_id.value = 1;
    assert_int_equal(
        boxcar_coordinator_settle(coordinator, NUMBER, BOXCAR_ACK, &settlement, 1, 0, NULL, &ERR),
        BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "box");
    boxcar_coordinator_free(coordinator);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(changes_are_handed_down_and_logged, fresh_store),
        cmocka_unit_test_setup(what_is_there_is_found, fresh_store),
        cmocka_unit_test_setup(bad_names_never_reach_the_store, fresh_store),
        cmocka_unit_test_setup(bad_rules_never_reach_the_store, fresh_store),
        cmocka_unit_test_setup(bad_changes_and_places_never_reach_the_store, fresh_store),
        cmocka_unit_test_setup(calls_are_made_for_the_reader, fresh_store),
        cmocka_unit_test_setup(requests_are_made_for_the_reader, fresh_store),
        cmocka_unit_test_setup(coordinators_refuse_subscriptions, fresh_store),
    };

    return cmocka_run_group_tests_name("api_subscription", tests, NULL, NULL);
}
