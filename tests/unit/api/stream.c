/* The public functions about streams and workers over a store in memory: what they refuse, what
 * they hand down, what they report and what they log. */
#include "unit.h"

#include <string.h>

#include "boxcar.h"
#include "core/names.h"
#include "memory_store.h"

static struct memory_store MEMORY;
static boxcar_store *const STORE = &MEMORY.store;
static boxcar_error ERR;

static const boxcar_str KEY = {"order-42", 8};

static int fresh_store(void **state) {
    (void)state;
    memory_init(&MEMORY);
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

#define ASSERT_REFUSED(name, call)                                                                           \
    do {                                                                                                     \
        assert_int_equal(call, BOXCAR_E_INVALID);                                                            \
        assert_string_equal(ERR.argument, name);                                                             \
        assert_int_equal(MEMORY.asked.calls, 0);                                                             \
    } while (0)

static void pages_are_handed_down_as_asked_for(void **state) {
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    boxcar_stream_list *list = NULL;

    (void)state;
    assert_int_equal(filter.limit, 50);
    filter.box = BOXCAR_INBOX;
    filter.halted = true;
    filter.prefix = BOXCAR_STR("order-");
    filter.after = KEY;
    filter.limit = 10000;
    MEMORY.stream_count = 2;
    assert_int_equal(boxcar_stream_page(STORE, &filter, &list, &ERR), BOXCAR_OK);
    assert_memory_equal(&MEMORY.asked.stream_filter, &filter, sizeof(filter));
    assert_null(MEMORY.asked.stream.data);
    assert_int_equal(list->count, 2);
    assert_non_null(list->items[1]);
    boxcar_list_free(list);
}

static void stream_that_the_store_does_not_know_is_not_found(void **state) {
    boxcar_stream_list *list = NULL;

    (void)state;
    MEMORY.stream_count = 1;
    assert_int_equal(boxcar_stream_find(STORE, BOXCAR_INBOX, KEY, &list, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.stream_filter.box, BOXCAR_INBOX);
    assert_memory_equal(MEMORY.asked.stream.data, KEY.data, KEY.len);
    boxcar_list_free(list);
    list = NULL;
    MEMORY.stream_count = 0;
    assert_int_equal(boxcar_stream_find(STORE, BOXCAR_INBOX, KEY, &list, &ERR), BOXCAR_E_NOT_FOUND);
    assert_non_null(strstr(ERR.message, "inbox"));
    assert_null(list);
}

/* BX-006 */
static void decisions_are_handed_down_and_logged(void **state) {
    boxcar_work_id skipped = {0};

    (void)state;
    assert_int_equal(boxcar_stream_resume(STORE, BOXCAR_INBOX, KEY, true, &ERR), BOXCAR_OK);
    assert_true(MEMORY.asked.action == STREAM_REPLAY && MEMORY.asked.box == BOXCAR_INBOX);
    assert_string_equal(MEMORY.last.event, "stream_resume");
    assert_string_equal(MEMORY.last.fields, "stream=order-42 ");
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_int_equal(boxcar_stream_skip(STORE, BOXCAR_OUTBOX, KEY, &skipped, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.action, STREAM_SKIP);
    assert_int_equal(skipped.value, 55);
    assert_string_equal(MEMORY.last.event, "stream_skip");
    assert_int_equal(boxcar_stream_skip(STORE, BOXCAR_OUTBOX, KEY, NULL, &ERR), BOXCAR_OK);
    assert_int_equal(boxcar_stream_rule_write(STORE, BOXCAR_STR("order-*"), BOXCAR_STREAM_HALT, &ERR),
                     BOXCAR_OK);
    assert_int_equal(MEMORY.asked.policy, BOXCAR_STREAM_HALT);
    assert_string_equal(MEMORY.last.fields, "pattern=order-* policy=halt ");
    assert_int_equal(boxcar_stream_rule_write(STORE, BOXCAR_STR("*"), BOXCAR_STREAM_DEFAULT, &ERR),
                     BOXCAR_OK);
    assert_string_equal(MEMORY.last.fields, "pattern=* policy=default ");
}

/* BX-011 */
static void bad_arguments_never_reach_the_store(void **state) {
    static char long_text[BOXCAR_STREAM_MAX + 2];
    boxcar_str long_key = {long_text, BOXCAR_STREAM_MAX + 1}, empty = BOXCAR_STR(""), nul = {"a\0b", 3};
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    boxcar_stream_list *list = NULL;
    boxcar_stream_rule_list *rules = NULL;
    boxcar_instance_list *instances = NULL;
    int64_t count = 0;

    (void)state;
    memset(long_text, 'x', sizeof(long_text));
    ASSERT_REFUSED("store", boxcar_stream_page(NULL, &filter, &list, &ERR));
    ASSERT_REFUSED("ret_list", boxcar_stream_page(STORE, &filter, NULL, &ERR));
    ASSERT_REFUSED("filter", boxcar_stream_page(STORE, NULL, &list, &ERR));
    filter.struct_size = 0;
    ASSERT_REFUSED("filter", boxcar_stream_page(STORE, &filter, &list, &ERR));
    filter = BOXCAR_STREAM_FILTER_INIT;
    filter.box = -1;
    ASSERT_REFUSED("box", boxcar_stream_page(STORE, &filter, &list, &ERR));
    filter = BOXCAR_STREAM_FILTER_INIT;
    filter.prefix = long_key;
    ASSERT_REFUSED("prefix", boxcar_stream_page(STORE, &filter, &list, &ERR));
    filter = BOXCAR_STREAM_FILTER_INIT;
    filter.after = nul;
    ASSERT_REFUSED("after", boxcar_stream_page(STORE, &filter, &list, &ERR));
    ASSERT_REFUSED("stream", boxcar_stream_find(STORE, BOXCAR_OUTBOX, BOXCAR_NO_STR, &list, &ERR));
    ASSERT_REFUSED("stream", boxcar_stream_find(STORE, BOXCAR_OUTBOX, long_key, &list, &ERR));
    ASSERT_REFUSED("ret_list", boxcar_stream_find(STORE, BOXCAR_OUTBOX, KEY, NULL, &ERR));
    ASSERT_REFUSED("stream", boxcar_stream_resume(STORE, BOXCAR_OUTBOX, empty, false, &ERR));
    ASSERT_REFUSED("box", boxcar_stream_resume(STORE, -1, KEY, false, &ERR));
    ASSERT_REFUSED("stream", boxcar_stream_skip(STORE, BOXCAR_OUTBOX, nul, NULL, &ERR));
    ASSERT_REFUSED("store", boxcar_stream_skip(NULL, BOXCAR_OUTBOX, KEY, NULL, &ERR));
    ASSERT_REFUSED("pattern", boxcar_stream_rule_write(STORE, BOXCAR_NO_STR, BOXCAR_STREAM_HALT, &ERR));
    ASSERT_REFUSED("pattern", boxcar_stream_rule_write(STORE, long_key, BOXCAR_STREAM_DEFAULT, &ERR));
    ASSERT_REFUSED("policy", boxcar_stream_rule_write(STORE, KEY, (boxcar_stream_policy)2, &ERR));
    ASSERT_REFUSED("ret_list", boxcar_stream_rule_read(STORE, NULL, &ERR));
    ASSERT_REFUSED("store", boxcar_stream_rule_read(NULL, &rules, &ERR));
    ASSERT_REFUSED("ret_count", boxcar_stream_violation_count(STORE, NULL, &ERR));
    ASSERT_REFUSED("store", boxcar_stream_violation_count(NULL, &count, &ERR));
    ASSERT_REFUSED("ret_list", boxcar_instance_read(STORE, NULL, &ERR));
    ASSERT_REFUSED("store", boxcar_instance_read(NULL, &instances, &ERR));
    assert_int_equal(MEMORY.log_count, 0);
}

static void what_the_store_refuses_is_passed_on_and_outputs_stay_untouched(void **state) {
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    boxcar_stream_list *list = NULL;
    boxcar_stream_rule_list *rules = NULL;
    boxcar_instance_list *instances = NULL;
    boxcar_work_id work_id = {77};
    int64_t count = 77;

    (void)state;
    MEMORY.down = BOXCAR_E_CONFLICT;
    assert_int_equal(boxcar_stream_page(STORE, &filter, &list, &ERR), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_stream_find(STORE, BOXCAR_OUTBOX, KEY, &list, &ERR), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_stream_resume(STORE, BOXCAR_OUTBOX, KEY, false, &ERR), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_stream_skip(STORE, BOXCAR_OUTBOX, KEY, &work_id, &ERR), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_stream_rule_write(STORE, KEY, BOXCAR_STREAM_HALT, &ERR), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_stream_rule_write(STORE, KEY, BOXCAR_STREAM_DEFAULT, &ERR), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_stream_rule_read(STORE, &rules, &ERR), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_stream_violation_count(STORE, &count, &ERR), BOXCAR_E_CONFLICT);
    assert_int_equal(boxcar_instance_read(STORE, &instances, &ERR), BOXCAR_E_CONFLICT);
    assert_true(!list && !rules && !instances);
    assert_int_equal(work_id.value, 77);
    assert_int_equal(count, 77);
    assert_int_equal(MEMORY.log_count, 0);
}

static void freeing_no_list_is_fine(void **state) {
    (void)state;
    boxcar_list_free(NULL);
}

static void names_go_back_and_forth(void **state) {
    boxcar_stream_state stream_state;
    boxcar_stream_policy policy;

    (void)state;
    for (int i = BOXCAR_STREAM_READY; i <= BOXCAR_STREAM_HALTED; i++) {
        const char *name = boxcar_stream_state_name((boxcar_stream_state)i);
        assert_true(stream_state_parse(boxcar_str_of(name), &stream_state));
        assert_int_equal(stream_state, i);
    }
    for (int i = BOXCAR_STREAM_CONTINUE; i <= BOXCAR_STREAM_HALT; i++) {
        const char *name = boxcar_stream_policy_name((boxcar_stream_policy)i);
        assert_true(stream_policy_parse(boxcar_str_of(name), &policy));
        assert_int_equal(policy, i);
    }
    assert_string_equal(boxcar_stream_state_name((boxcar_stream_state)9), "?");
    assert_string_equal(boxcar_stream_policy_name((boxcar_stream_policy)-1), "?");
    assert_false(stream_state_parse(BOXCAR_STR("Ready"), &stream_state));
    assert_false(stream_policy_parse(BOXCAR_STR(""), &policy));
}

#define TEST(function) cmocka_unit_test_setup(function, fresh_store)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(pages_are_handed_down_as_asked_for),
        TEST(stream_that_the_store_does_not_know_is_not_found),
        TEST(decisions_are_handed_down_and_logged),
        TEST(bad_arguments_never_reach_the_store),
        TEST(what_the_store_refuses_is_passed_on_and_outputs_stay_untouched),
        TEST(freeing_no_list_is_fine),
        TEST(names_go_back_and_forth),
    };

    return cmocka_run_group_tests_name("api_stream", tests, NULL, NULL);
}
