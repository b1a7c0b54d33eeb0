/* The public functions about schedules over a store in memory: what they refuse, what they hand down, what
 * they report and log. */
#include "unit.h"

#include <string.h>

#include "base/utf8.h"
#include "boxcar.h"
#include "memory_store.h"

static struct memory_store MEMORY;
static boxcar_store *const STORE = &MEMORY.store;
static boxcar_error ERR;

#define WORK BOXCAR_STR("reindex"), BOXCAR_STR("products")

static int fresh_store(void **state) {
    (void)state;
    memory_init(&MEMORY);
    MEMORY.schedule = (boxcar_schedule){.topic = BOXCAR_STR("reindex"), .work_key = BOXCAR_STR("products")};
    ERR = BOXCAR_ERROR_INIT;
    return 0;
}

static boxcar_new_schedule good(void) {
    boxcar_new_schedule schedule = BOXCAR_NEW_SCHEDULE_INIT;

    schedule.topic = BOXCAR_STR("reindex");
    schedule.work_key = BOXCAR_STR("products");
    schedule.every_ms = 60000;
    return schedule;
}

/* BX-106 */
static void changes_are_handed_down_and_logged(void **state) {
    boxcar_new_schedule schedule = good();

    (void)state;
    assert_int_equal(boxcar_schedule_add(STORE, &schedule, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.schedule.action, SCHEDULE_ADD);
    assert_int_equal(MEMORY.asked.new_schedule.every_ms, 60000);
    assert_int_equal(MEMORY.asked.new_schedule.shards, 1);
    assert_string_equal(MEMORY.last.event, "schedule");
    assert_string_equal(MEMORY.last.fields, "topic=reindex work_key=products ");
    assert_int_equal(MEMORY.last.level, BOXCAR_LOG_INFO);
    assert_int_equal(boxcar_schedule_pause(STORE, WORK, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.schedule.action, SCHEDULE_PAUSE);
    assert_int_equal(boxcar_schedule_resume(STORE, WORK, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.schedule.action, SCHEDULE_RESUME);
    assert_int_equal(boxcar_schedule_remove(STORE, WORK, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.schedule.action, SCHEDULE_REMOVE);
}

/* BX-106 */
static void completing_tells_whether_it_changed_something(void **state) {
    bool changed = true;

    (void)state;
    assert_int_equal(boxcar_schedule_complete(STORE, WORK, 3, 7, &changed, &ERR), BOXCAR_OK);
    assert_false(changed);
    assert_int_equal(MEMORY.asked.schedule.shard, 3);
    assert_int_equal(MEMORY.asked.schedule.slice, 7);
    MEMORY.schedule_changed = true;
    assert_int_equal(boxcar_schedule_complete(STORE, WORK, 3, 7, &changed, &ERR), BOXCAR_OK);
    assert_true(changed);
    assert_int_equal(boxcar_schedule_complete(STORE, WORK, 3, 7, NULL, &ERR), BOXCAR_OK);
}

/* BX-106 */
static void a_plan_is_handed_down_and_answered(void **state) {
    boxcar_plan plan = BOXCAR_PLAN_INIT;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;

    (void)state;
    plan.owner = (boxcar_owner){{{1}}};
    plan.fence = 4;
    MEMORY.planned =
        (boxcar_planned){.struct_size = sizeof(planned), .fence = 4, .count = 2, .next_due_at = 9};
    assert_int_equal(boxcar_schedule_plan(STORE, &plan, &planned, &ERR), BOXCAR_OK);
    assert_int_equal(MEMORY.asked.plan.fence, 4);
    assert_int_equal(MEMORY.asked.plan.most, 1000);
    assert_int_equal(planned.fence, 4);
    assert_int_equal(planned.count, 2);
    assert_int_equal(planned.next_due_at, 9);
    planned = (boxcar_planned){0}; /* its size is not set */
    assert_int_equal(boxcar_schedule_plan(STORE, &plan, &planned, &ERR), BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "ret_planned");
}

/* BX-106 */
static void schedules_and_slices_are_listed(void **state) {
    boxcar_schedule_list *list = NULL;
    boxcar_slice_list *slices = NULL;

    (void)state;
    MEMORY.slice = (boxcar_slice){.shard = 2, .slice = 5};
    assert_int_equal(boxcar_schedule_read(STORE, BOXCAR_NO_STR, BOXCAR_NO_STR, &list, &ERR), BOXCAR_OK);
    assert_null(MEMORY.asked.topic.data);
    assert_int_equal(list->count, 1);
    boxcar_list_free(list);
    list = NULL;
    assert_int_equal(boxcar_schedule_read(STORE, BOXCAR_STR("a"), BOXCAR_STR("b"), &list, &ERR),
                     BOXCAR_E_NOT_FOUND);
    assert_string_equal(ERR.argument, "schedule");
    assert_int_equal(boxcar_schedule_slice_read(STORE, WORK, &slices, &ERR), BOXCAR_OK);
    assert_int_equal(slices->count, 1);
    assert_int_equal(slices->items[0]->slice, 5);
    boxcar_list_free(slices);
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
    boxcar_new_schedule schedule = good();
    boxcar_plan plan = BOXCAR_PLAN_INIT;
    boxcar_schedule_list *list;

    (void)state;
    ASSERT_REFUSED("schedule", boxcar_schedule_add(STORE, NULL, &ERR));
    ASSERT_REFUSED("store", boxcar_schedule_add(NULL, &schedule, &ERR));
    schedule.topic = BOXCAR_STR("a:b");
    ASSERT_REFUSED("topic", boxcar_schedule_add(STORE, &schedule, &ERR));
    schedule = good();
    schedule.every_ms = 999;
    ASSERT_REFUSED("every_ms", boxcar_schedule_add(STORE, &schedule, &ERR));
    schedule = good();
    schedule.else_topic = BOXCAR_STR("else");
    ASSERT_REFUSED("else_topic", boxcar_schedule_add(STORE, &schedule, &ERR));
    ASSERT_REFUSED("work_key", boxcar_schedule_pause(STORE, BOXCAR_STR("a"), BOXCAR_NO_STR, &ERR));
    ASSERT_REFUSED("slice", boxcar_schedule_complete(STORE, WORK, 0, 0, NULL, &ERR));
    ASSERT_REFUSED("owner", boxcar_schedule_plan(STORE, &plan, NULL, &ERR));
    ASSERT_REFUSED("ret_list", boxcar_schedule_read(STORE, WORK, NULL, &ERR));
    ASSERT_REFUSED("topic", boxcar_schedule_read(STORE, BOXCAR_NO_STR, BOXCAR_STR("b"), &list, &ERR));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(changes_are_handed_down_and_logged, fresh_store),
        cmocka_unit_test_setup(completing_tells_whether_it_changed_something, fresh_store),
        cmocka_unit_test_setup(a_plan_is_handed_down_and_answered, fresh_store),
        cmocka_unit_test_setup(schedules_and_slices_are_listed, fresh_store),
        cmocka_unit_test_setup(bad_input_never_reaches_the_store, fresh_store),
    };

    return cmocka_run_group_tests_name("api_schedule", tests, NULL, NULL);
}
