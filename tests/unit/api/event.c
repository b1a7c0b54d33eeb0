/* The public functions about events over a store in memory: what they refuse, what they hand down,
 * what they report and what they log. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "boxcar.h"
#include "memory_store.h"

static struct memory_store MEMORY;
static boxcar_store *const STORE = &MEMORY.store;
static boxcar_error ERR;

static int fresh_store(void **state) {
    (void)state;
    memory_init(&MEMORY);
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

static boxcar_new_event good_event(void) {
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;

    event.type = BOXCAR_STR("T");
    event.payload = BOXCAR_STR("secret payload");
    return event;
}

static boxcar_status append(boxcar_str stream, int64_t expected, const boxcar_new_event *events,
                            size_t count) {
    return boxcar_event_append(STORE, stream, expected, events, count, NULL, &ERR);
}

/* BX-066 */
static void events_get_new_ids_or_keep_those_that_were_given(void **state) {
    boxcar_new_event events[3] = {good_event(), good_event(), good_event()};
    boxcar_appended appended[3] = {BOXCAR_APPENDED_INIT};

    (void)state;
    events[1].event_id = (boxcar_event_id){{{9}}};
    assert_int_equal(boxcar_event_append(STORE, BOXCAR_STR("s"), 7, events, 3, appended, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.event_count, 3);
    assert_int_equal(MEMORY.asked.version, 7);
    assert_int_equal(appended[0].event_id.uuid.bytes[6] >> 4, 7);
    assert_memory_not_equal(&appended[0].event_id, &appended[2].event_id, 16);
    assert_memory_equal(&appended[1].event_id, &events[1].event_id, 16);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(&MEMORY.asked.events[i].event_id, &appended[i].event_id, 16);
}

/* BX-065: an id that was made in this call is nobody's duplicate, even if a first try got through. */
static void only_given_ids_can_be_duplicates(void **state) {
    boxcar_new_event events[2] = {good_event(), good_event()};
    boxcar_appended appended[2] = {BOXCAR_APPENDED_INIT};

    (void)state;
    MEMORY.knows_events = true;
    events[1].event_id = (boxcar_event_id){{{9}}};
    assert_int_equal(boxcar_event_append(STORE, BOXCAR_STR("s"), 0, events, 2, appended, &ERR), BOXCAR_OK);
    assert_false(appended[0].duplicate);
    assert_true(appended[1].duplicate);
}

/* BX-066 */
static void empty_options_are_none(void **state) {
    boxcar_new_event event = good_event();

    (void)state;
    event.topic = event.correlation_id = BOXCAR_STR("");
    assert_int_equal(append(BOXCAR_STR("s"), BOXCAR_ANY_VERSION, &event, 1), BOXCAR_OK);
    assert_null(MEMORY.asked.events[0].topic.data);
    assert_null(MEMORY.asked.events[0].correlation_id.data);
    assert_int_equal(MEMORY.asked.version, BOXCAR_ANY_VERSION);
}

/* BX-011 */
static void bad_appends_never_reach_the_store(void **state) {
    boxcar_new_event event = good_event(), bad = good_event();
    boxcar_new_event two[2] = {good_event(), good_event()};

    (void)state;
    assert_int_equal(append(BOXCAR_STR(""), 0, &event, 1), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "stream");
    assert_int_equal(append(BOXCAR_STR("s"), -2, &event, 1), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "expected_version");
    assert_int_equal(append(BOXCAR_STR("s"), 0, NULL, 1), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "events");
    assert_int_equal(append(BOXCAR_STR("s"), 0, &event, 0), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "count");
    bad.type = BOXCAR_NO_STR;
    assert_int_equal(append(BOXCAR_STR("s"), 0, &bad, 1), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "type");
    two[1].payload = BOXCAR_NO_STR;
    assert_int_equal(append(BOXCAR_STR("s"), 0, two, 2), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "events[1].payload");
    assert_null(strstr(ERR.message, "secret"));
    assert_int_equal(boxcar_event_append(NULL, BOXCAR_STR("s"), 0, &event, 1, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "store");
    assert_int_equal(MEMORY.asked.calls, 0);
}

/* BX-011 */
static void bad_reads_never_reach_the_store(void **state) {
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    boxcar_event_list *list = NULL;
    boxcar_str types[2] = {BOXCAR_STR("T*"), BOXCAR_STR("")};

    (void)state;
    assert_int_equal(boxcar_event_read(STORE, BOXCAR_STR("s"), -1, 1, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "from_version");
    assert_int_equal(boxcar_event_read(STORE, BOXCAR_STR("s"), 1, 0, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "limit");
    assert_int_equal(boxcar_event_read(STORE, BOXCAR_STR("s"), 1, 1, NULL, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "ret_list");
    assert_int_equal(boxcar_event_read_all(STORE, NULL, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "filter");
    filter.struct_size = 0;
    assert_int_equal(boxcar_event_read_all(STORE, &filter, &list, &ERR), BOXCAR_E_INVALID);
    filter = BOXCAR_EVENT_FILTER_INIT;
    filter.type_count = 1;
    assert_int_equal(boxcar_event_read_all(STORE, &filter, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "types");
    filter.types = types;
    filter.type_count = 2;
    assert_int_equal(boxcar_event_read_all(STORE, &filter, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "types[1]");
    filter.type_count = 1;
    filter.stream = BOXCAR_STR("");
    assert_int_equal(boxcar_event_read_all(STORE, &filter, &list, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "stream");
    assert_int_equal(MEMORY.asked.calls, 0);
    assert_null(list);
}

static void reads_hand_down_what_they_were_given(void **state) {
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    boxcar_event_list *list = NULL;

    (void)state;
    assert_int_equal(filter.limit, 1000);
    filter.after = 42;
    assert_int_equal(boxcar_event_read_all(STORE, &filter, &list, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.event_filter.after, 42);
    assert_int_equal(MEMORY.asked.version, EVENTS_BY_POSITION);
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
    assert_int_equal(boxcar_event_read(STORE, BOXCAR_STR("s"), 3, 5, &list, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.version, 3);
    assert_int_equal(MEMORY.asked.event_filter.limit, 5);
    assert_memory_equal(MEMORY.asked.event_filter.stream.data, "s", 1);
    boxcar_list_free(list);
}

/* BX-010 */
static void append_is_logged_without_its_payload(void **state) {
    boxcar_new_event event = good_event();

    (void)state;
    STORE->log_level = BOXCAR_LOG_DEBUG;
    assert_int_equal(append(BOXCAR_STR("orders"), 0, &event, 1), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 1);
    assert_string_equal(MEMORY.last.event, "event_append");
    assert_non_null(strstr(MEMORY.last.fields, "stream=orders"));
    assert_non_null(strstr(MEMORY.last.fields, "version=1"));
    assert_null(strstr(MEMORY.last.text, "secret"));
    assert_null(strstr(MEMORY.last.fields, "secret"));
    STORE->log_level = BOXCAR_LOG_INFO;
    assert_int_equal(append(BOXCAR_STR("orders"), 0, &event, 1), BOXCAR_OK);
    assert_int_equal(MEMORY.log_count, 1);
}

static void failure_of_the_store_leaves_outputs_alone(void **state) {
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    boxcar_new_event event = good_event();
    boxcar_appended appended = {.struct_size = sizeof(boxcar_appended), .version = -7};
    boxcar_event_list *list = NULL;

    (void)state;
    MEMORY.down = BOXCAR_E_CONFLICT;
    assert_int_equal(boxcar_event_append(STORE, BOXCAR_STR("s"), 0, &event, 1, &appended, &ERR),
                     BOXCAR_E_CONFLICT);
    assert_int_equal(appended.version, -7);
    assert_int_equal(boxcar_event_read_all(STORE, &filter, &list, &ERR), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_event_read(STORE, BOXCAR_STR("s"), 3, 5, &list, &ERR), BOXCAR_E_CONFLICT);
    assert_null(list);
}

static void ids_are_text_and_back(void **state) {
    boxcar_event_id id = {boxcar_uuid_new()}, again;
    char text[BOXCAR_UUID_TEXT_SIZE];

    (void)state;
    assert_false(boxcar_uuid_is_none(id.uuid));
    assert_true(boxcar_uuid_is_none(((boxcar_event_id){0}).uuid));
    boxcar_uuid_format(id.uuid, text);
    assert_true(boxcar_uuid_parse(boxcar_str_of(text), &again.uuid));
    assert_memory_equal(&id, &again, sizeof(id));
    assert_false(boxcar_uuid_parse(BOXCAR_STR("nonsense"), &again.uuid));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(events_get_new_ids_or_keep_those_that_were_given, fresh_store),
        cmocka_unit_test_setup(only_given_ids_can_be_duplicates, fresh_store),
        cmocka_unit_test_setup(empty_options_are_none, fresh_store),
        cmocka_unit_test_setup(bad_appends_never_reach_the_store, fresh_store),
        cmocka_unit_test_setup(bad_reads_never_reach_the_store, fresh_store),
        cmocka_unit_test_setup(reads_hand_down_what_they_were_given, fresh_store),
        cmocka_unit_test_setup(append_is_logged_without_its_payload, fresh_store),
        cmocka_unit_test_setup(failure_of_the_store_leaves_outputs_alone, fresh_store),
        cmocka_unit_test(ids_are_text_and_back),
    };

    return cmocka_run_group_tests_name("api_event", tests, NULL, NULL);
}
