/* When a destination is tried again, and which route is visited next. */
#include "unit.h"
#include "worker/forward/breaker.h"
#include "worker/forward/choice.h"

static void pauses_grow_to_a_limit(void **state) {
    struct breaker breaker = {.failures = 0};
    int64_t before = 0;
    (void)state;
    assert_false(breaker_blocks(&breaker, 0));
    for (int i = 0; i < 20; i++) {
        assert_int_equal(breaker_fail(&breaker, 1000, 0.999), i == 0);
        int64_t pause = breaker.until_ms - 1000;
        assert_true(pause >= before && pause <= BREAKER_LONGEST_MS);
        assert_true(i > 0 || pause <= BREAKER_FIRST_MS);
        before = pause;
    }
    assert_true(before > BREAKER_LONGEST_MS / 2);
}

static void chance_keeps_workers_apart(void **state) {
    struct breaker early = {.failures = 0}, late = {.failures = 0};
    (void)state;
    breaker_fail(&early, 0, 0);
    breaker_fail(&late, 0, 0.999);
    assert_true(early.until_ms >= BREAKER_FIRST_MS / 2);
    assert_true(late.until_ms > early.until_ms);
}

static void breaker_blocks_until_its_time(void **state) {
    struct breaker breaker = {.failures = 0};
    (void)state;
    breaker_fail(&breaker, 1000, 0);
    assert_true(breaker_blocks(&breaker, breaker.until_ms - 1));
    assert_false(breaker_blocks(&breaker, breaker.until_ms));
    assert_true(breaker_is_open(&breaker));
    assert_true(breaker_close(&breaker));
    assert_false(breaker_is_open(&breaker));
    assert_false(breaker_close(&breaker));
}

struct scene {
    struct forwarding forwarding;
    struct source source;
    struct route routes[3];
};

static void scene_init(struct scene *s) {
    *s = (struct scene){.forwarding = {.sources = &s->source}, .source = {.routes = s->routes}};
    for (int i = 0; i < 3; i++) {
        s->routes[i].next_look_ms = 100 * (i + 1);
        s->routes[i].next = i < 2 ? &s->routes[i + 1] : NULL;
    }
}

static void most_overdue_route_comes_first(void **state) {
    struct scene s;
    (void)state;
    scene_init(&s);
    assert_ptr_equal(task_choose(&s.forwarding).route, &s.routes[0]);
    s.routes[2].next_look_ms = 50;
    assert_ptr_equal(task_choose(&s.forwarding).route, &s.routes[2]);
    assert_int_equal(task_choose(&s.forwarding).at_ms, 50);
}

static void busy_and_paused_routes_are_left_out(void **state) {
    struct scene s;
    (void)state;
    scene_init(&s);
    s.routes[0].is_busy = true;
    s.routes[1].is_paused = true;
    assert_ptr_equal(task_choose(&s.forwarding).route, &s.routes[2]);
    s.routes[2].is_gone = true;
    assert_null(task_choose(&s.forwarding).source);
}

static void routes_to_other_stores_leave_a_thread_free(void **state) {
    struct scene s;
    (void)state;
    scene_init(&s);
    s.routes[0].kind = ROUTE_STORE;
    s.routes[1].kind = ROUTE_TENANT;
    s.forwarding.busy_remote = FORWARD_REMOTE_THREADS - 1;
    assert_ptr_equal(task_choose(&s.forwarding).route, &s.routes[0]);
    s.forwarding.busy_remote = FORWARD_REMOTE_THREADS;
    assert_ptr_equal(task_choose(&s.forwarding).route, &s.routes[2]);
}

static void source_that_fails_waits_with_all_its_routes(void **state) {
    struct scene s;
    struct route other_route = {.next_look_ms = 1000};
    struct source other = {.routes = &other_route};
    (void)state;
    scene_init(&s);
    s.source.next = &other;
    breaker_fail(&s.source.breaker, 5000, 0);
    assert_ptr_equal(task_choose(&s.forwarding).route, &other_route);
    other_route.is_busy = true;
    assert_int_equal(task_choose(&s.forwarding).at_ms, s.source.breaker.until_ms);
}

static void source_that_fails_is_tried_by_one_thread(void **state) {
    struct scene s;
    (void)state;
    scene_init(&s);
    s.source.busy = 1;
    assert_ptr_equal(task_choose(&s.forwarding).route, &s.routes[0]);
    breaker_fail(&s.source.breaker, 0, 0);
    assert_null(task_choose(&s.forwarding).source);
    s.source.busy = 0;
    struct task task = task_choose(&s.forwarding);
    assert_ptr_equal(task.route, &s.routes[0]);
    assert_true(task_may_hang(&task));
}

static void sources_that_fail_leave_a_thread_free(void **state) {
    struct scene s;
    struct route other_route = {.next_look_ms = 1000};
    struct source other = {.routes = &other_route};
    (void)state;
    scene_init(&s);
    s.source.next = &other;
    breaker_fail(&s.source.breaker, 0, 0);
    s.forwarding.busy_remote = FORWARD_REMOTE_THREADS;
    struct task task = task_choose(&s.forwarding);
    assert_ptr_equal(task.route, &other_route);
    assert_false(task_may_hang(&task));
    other.is_gone = true;
    assert_null(task_choose(&s.forwarding).source);
}

static void planning_is_a_task(void **state) {
    struct scene s;
    (void)state;
    scene_init(&s);
    s.source.plan.is_wanted = true;
    s.source.plan.next_ms = 10;
    assert_null(task_choose(&s.forwarding).route);
    assert_int_equal(task_choose(&s.forwarding).at_ms, 10);
    s.source.plan.is_busy = true;
    assert_ptr_equal(task_choose(&s.forwarding).route, &s.routes[0]);
}

enum { DAY_MS = 24 * 3600 * 1000 };

static void planner_looks_less_often_while_nothing_comes(void **state) {
    struct boxcar_worker *awake = test_calloc(1, sizeof(*awake));
    struct source source = {.awake = awake, .lease_ms = 30000};
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    int64_t before = 0;
    (void)state;
    planned.fence = 1;
    for (int i = 0; i < 10; i++) {
        int64_t pause = planning_pause_ms(&source, &planned, DAY_MS);
        assert_true(pause >= before && pause <= source.lease_ms / 2);
        source.plan.look_ms = planning_look_ms(&source, &planned);
        before = pause;
    }
    assert_int_equal(before, source.lease_ms / 2); /* the lease is kept */
    planned.count = 1;
    assert_true(planning_pause_ms(&source, &planned, DAY_MS) < before);
    assert_int_equal(planning_pause_ms(&source, &planned, 700), 700);
    assert_true(planning_pause_ms(&source, &planned, -5) > 0);
    test_free(awake);
}

static void planner_of_a_store_that_rests_waits_until_something_is_due(void **state) {
    struct source source = {.lease_ms = 30000};
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    (void)state;
    planned.fence = 1;
    assert_int_equal(planning_pause_ms(&source, &planned, 600000), 600000);
    planned.count = 1; /* slices that fail come again soon */
    assert_true(planning_pause_ms(&source, &planned, 600000) <= source.lease_ms / 2);
}

static void planner_hears_of_what_is_due_sooner(void **state) {
    const int64_t far = INT64_MAX / 2;
    struct source source = {.plan = {.is_wanted = true, .due_at = far, .next_ms = DAY_MS}};
    (void)state;
    planning_hear(&source, BOXCAR_TIME_NONE, 1000);
    planning_hear(&source, far, 1000);
    assert_int_equal(source.plan.next_ms, DAY_MS);
    planning_hear(&source, 1, 1000); /* long ago */
    assert_true(source.plan.next_ms > 1000 && source.plan.next_ms < 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_grow_to_a_limit),
        cmocka_unit_test(chance_keeps_workers_apart),
        cmocka_unit_test(breaker_blocks_until_its_time),
        cmocka_unit_test(most_overdue_route_comes_first),
        cmocka_unit_test(busy_and_paused_routes_are_left_out),
        cmocka_unit_test(routes_to_other_stores_leave_a_thread_free),
        cmocka_unit_test(source_that_fails_waits_with_all_its_routes),
        cmocka_unit_test(source_that_fails_is_tried_by_one_thread),
        cmocka_unit_test(sources_that_fail_leave_a_thread_free),
        cmocka_unit_test(planning_is_a_task),
        cmocka_unit_test(planner_looks_less_often_while_nothing_comes),
        cmocka_unit_test(planner_of_a_store_that_rests_waits_until_something_is_due),
        cmocka_unit_test(planner_hears_of_what_is_due_sooner),
    };

    return cmocka_run_group_tests_name("forward_rules", tests, NULL, NULL);
}
