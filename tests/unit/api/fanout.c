/* The public functions about policies over a store in memory: what they refuse, what they hand down, what
 * they report and log. */
#include "unit.h"

#include <string.h>

#include "base/utf8.h"
#include "boxcar.h"
#include "memory_store.h"

static struct memory_store MEMORY;
static boxcar_store *const STORE = &MEMORY.store;
static boxcar_error ERR;

static const boxcar_str NAME = {"copies", 6};
static const boxcar_str PLACES[] = {{"audit.{topic}", 13}, {"store:search", 12}};

static int fresh_store(void **state) {
    (void)state;
    memory_init(&MEMORY);
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

static boxcar_new_fanout good(void) {
    static const boxcar_str PATTERN = {"orders.*", 8};
    boxcar_new_fanout fanout = BOXCAR_NEW_FANOUT_INIT;

    fanout.name = NAME;
    fanout.patterns = &PATTERN;
    fanout.pattern_count = 1;
    fanout.destinations = PLACES;
    fanout.destination_count = 2;
    return fanout;
}

/* BX-097 */
static void changes_are_handed_down_and_logged(void **state) {
    boxcar_new_fanout fanout = good();
    boxcar_place place = BOXCAR_PLACE_INIT;
    int64_t count = 0;

    (void)state;
    assert_int_equal(boxcar_fanout_add(STORE, &fanout, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_ADD_POLICY);
    assert_true(str_equal(MEMORY.asked.subscription.name, NAME));
    assert_string_equal(MEMORY.last.event, "fanout");
    assert_string_equal(MEMORY.last.fields, "fanout=copies ");
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_int_equal(boxcar_fanout_pause(STORE, NAME, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_PAUSE);
    assert_true(MEMORY.asked.subscription.of_policy);
    assert_int_equal(boxcar_fanout_resume(STORE, NAME, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_RESUME);
    place.start = BOXCAR_START_WORK_ID;
    place.work_id.value = 12;
    assert_int_equal(boxcar_fanout_rewind(STORE, NAME, &place, &count, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_REWIND);
    assert_true(MEMORY.asked.subscription.of_policy);
    assert_int_equal(MEMORY.asked.subscription.place.work_id.value, 12);
    assert_int_equal(count, 7);
    assert_int_equal(boxcar_fanout_remove(STORE, NAME, true, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.subscription.action, SUBSCRIPTION_REMOVE);
    assert_true(MEMORY.asked.subscription.of_policy && MEMORY.asked.subscription.force);
}

/* BX-097 */
static void a_policy_is_made_of_its_subscriptions(void **state) {
    boxcar_fanout_list *list = NULL;

    (void)state;
    MEMORY.subscription = (boxcar_subscription){.name = BOXCAR_STR("copies/store:search"),
                                                .reader = 3,
                                                .box = BOXCAR_INBOX,
                                                .destinations = &PLACES[1],
                                                .destination_count = 1,
                                                .then_topic = BOXCAR_STR("then")};
    assert_int_equal(boxcar_fanout_read(STORE, NAME, &list, &ERR), BOXCAR_OK);
    assert_true(MEMORY.asked.subscriptions.of_policy);
    assert_int_equal(list->count, 1);
    assert_true(str_equal(list->items[0]->name, NAME));
    assert_int_equal(list->items[0]->box, BOXCAR_INBOX);
    assert_true(str_equal(list->items[0]->then_topic, BOXCAR_STR("then")));
    assert_int_equal(list->items[0]->route_count, 1);
    assert_int_equal(list->items[0]->routes[0]->reader, 3);
    boxcar_list_free(list);
    list = NULL;
    assert_int_equal(boxcar_fanout_read(STORE, BOXCAR_STR("other"), &list, &ERR), BOXCAR_E_NOT_FOUND);
    assert_string_equal(ERR.argument, "fanout");
    assert_null(list);
    MEMORY.subscription.destination_count = 0;
    assert_int_equal(boxcar_fanout_read(STORE, BOXCAR_NO_STR, &list, &ERR), BOXCAR_OK);
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
}

#define ASSERT_REFUSED(name, call)                                                                           \
    do {                                                                                                     \
        assert_int_equal(call, BOXCAR_E_INVALID);                                                            \
        assert_string_equal(ERR.argument, name);                                                             \
        assert_non_null(strstr(ERR.message, ": ")); /* the remedy follows */                                 \
        assert_int_equal(MEMORY.asked.calls, 0);                                                             \
    } while (0)

/* BX-011 */
static void bad_input_never_reaches_the_store(void **state) {
    boxcar_new_fanout fanout = good();
    boxcar_place place = BOXCAR_PLACE_INIT;
    boxcar_fanout_list *list;

    (void)state;
    ASSERT_REFUSED("fanout", boxcar_fanout_add(STORE, NULL, &ERR));
    ASSERT_REFUSED("store", boxcar_fanout_add(NULL, &fanout, &ERR));
    fanout.destination_count = 0;
    ASSERT_REFUSED("destinations", boxcar_fanout_add(STORE, &fanout, &ERR));
    fanout = good();
    fanout.destinations = NULL;
    ASSERT_REFUSED("destinations", boxcar_fanout_add(STORE, &fanout, &ERR));
    fanout = good();
    fanout.then_topic = BOXCAR_STR("then");
    ASSERT_REFUSED("destinations[1]", boxcar_fanout_add(STORE, &fanout, &ERR));
    fanout = good();
    fanout.name = BOXCAR_STR("a/b");
    ASSERT_REFUSED("name", boxcar_fanout_add(STORE, &fanout, &ERR));
    ASSERT_REFUSED("name", boxcar_fanout_pause(STORE, BOXCAR_NO_STR, &ERR));
    ASSERT_REFUSED("name", boxcar_fanout_rewind(STORE, BOXCAR_STR("a/b"), &place, NULL, &ERR));
    place.start = BOXCAR_START_END;
    ASSERT_REFUSED("start", boxcar_fanout_rewind(STORE, NAME, &place, NULL, &ERR));
    ASSERT_REFUSED("ret_list", boxcar_fanout_read(STORE, NAME, NULL, &ERR));
    ASSERT_REFUSED("name", boxcar_fanout_read(STORE, BOXCAR_STR("a/b"), &list, &ERR));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(changes_are_handed_down_and_logged, fresh_store),
        cmocka_unit_test_setup(a_policy_is_made_of_its_subscriptions, fresh_store),
        cmocka_unit_test_setup(bad_input_never_reaches_the_store, fresh_store),
    };

    return cmocka_run_group_tests_name("api_fanout", tests, NULL, NULL);
}
