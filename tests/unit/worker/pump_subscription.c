/* A worker for a subscription: which reader it asks for, and what happens when that is removed. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "scene.h"
#include "worker/crew/delivery.h"

#define AUDIT BOXCAR_STR("audit")
#define AUDIT_NUMBER 7

static struct scene *subscribed_scene(boxcar_box box, bool outbox, bool inbox) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    options.subscription = AUDIT;
    struct scene *s = scene_new(&options, outbox, inbox);
    s->memory.subscription = (boxcar_subscription){.name = AUDIT, .reader = AUDIT_NUMBER, .box = box};
    return s;
}

static boxcar_status run(struct scene *s, boxcar_error *err) {
    *err = (boxcar_error)BOXCAR_ERROR_INIT;
    return boxcar_worker_run(s->worker, err);
}

/* What its handler sees. */
static boxcar_box seen_reader;
static char seen_name[32];

static void look(struct scene *s, boxcar_delivery *delivery) {
    (void)s;
    seen_reader = boxcar_delivery_message(delivery)->reader;
    snprintf(seen_name, sizeof(seen_name), "%.*s", (int)delivery->subscription.len,
             delivery->subscription.data);
}

/* BX-091: claims, results and heartbeats name the reader, in the part of its box. */
static void worker_asks_for_its_subscription(void **state) {
    (void)state;
    for (int box = 0; box < BOXES; box++) {
        struct scene *s = subscribed_scene(box, box == BOXCAR_OUTBOX, box == BOXCAR_INBOX);
        boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;

        s->during = look;
        scene_add(s, box, NULL);
        scene_run(s);
        assert_int_equal(s->memory.messages[0].kind, BOXCAR_ACK);
        assert_int_equal(s->memory.calls[0].readers[box], AUDIT_NUMBER);
        assert_int_equal(s->memory.calls[0].readers[1 - box], 1 - box);
        assert_int_equal(s->memory.calls[0].instance_of, AUDIT_NUMBER);
        assert_int_equal(seen_reader, AUDIT_NUMBER);
        assert_string_equal(seen_name, "audit");
        assert_true(boxcar_worker_handler_stats_read(s->worker, 0, &stats));
        assert_int_equal(stats.box, box);
        assert_int_equal(stats.reader, AUDIT_NUMBER);
        scene_free(s);
    }
}

/* Waits for joins are the main reader's: this worker only looks after them, as one without handlers does. */
static void waits_are_left_to_the_main_reader(void **state) {
    struct scene *s = subscribed_scene(BOXCAR_OUTBOX, true, false);

    (void)state;
    scene_add(s, BOXCAR_OUTBOX, NULL);
    scene_start(s);
    scene_wait_settled(s, 1);
    scene_stop(s);
    assert_int_equal(s->memory.calls[0].topic_count, 1);
    assert_true(s->memory.wait_looks > 0);
    scene_free(s);
}

static void unknown_subscription_ends_the_worker_at_once(void **state) {
    struct scene *s = subscribed_scene(BOXCAR_OUTBOX, true, false);
    boxcar_error err;

    (void)state;
    s->memory.subscription.reader = 0;
    assert_int_equal(run(s, &err), BOXCAR_E_NOT_FOUND);
    assert_string_equal(err.argument, "subscription");
    assert_non_null(strstr(err.message, "\"audit\""));
    scene_free(s);
}

static void handlers_must_be_for_its_box(void **state) {
    struct scene *s = subscribed_scene(BOXCAR_INBOX, true, false);
    boxcar_error err;

    (void)state;
    assert_int_equal(run(s, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "subscription");
    assert_non_null(strstr(err.message, "reads the inbox"));
    scene_free(s);
}

static void name_is_checked(void **state) {
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    const boxcar_str bad[] = {BOXCAR_STR(""), BOXCAR_STR("outbox"), BOXCAR_STR("inbox"), BOXCAR_STR("a\nb")};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker;

    (void)state;
    store.url = BOXCAR_STR("sqlite:nowhere");
    options.store = &store;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        options.subscription = bad[i];
        assert_int_equal(boxcar_worker_new(&options, &worker, &err), BOXCAR_E_INVALID);
        assert_string_equal(err.argument, "subscription");
    }
}

static _Atomic bool was_told;

static void run_until_told(struct scene *s, boxcar_delivery *delivery) {
    (void)s;
    while (!boxcar_delivery_is_cancelled(delivery))
        sched_yield();
    was_told = true;
}

static void remove_subscription(struct scene *s) {
    pthread_mutex_lock(&s->memory.mutex);
    s->memory.subscription.reader = 0;
    pthread_mutex_unlock(&s->memory.mutex);
}

struct ending {
    struct scene *scene;
    boxcar_status status;
    boxcar_error err;
};

static void *run_to_the_end(void *context) {
    struct ending *ending = context;
    ending->status = run(ending->scene, &ending->err);
    return NULL;
}

/* Handlers that run are told, and the error says why the worker ended. */
static void removed_subscription_ends_the_worker(void **state) {
    struct scene *s = subscribed_scene(BOXCAR_OUTBOX, true, false);
    struct ending ending = {.scene = s};

    (void)state;
    was_told = false;
    s->during = run_until_told;
    s->worker->drain = false;
    scene_add(s, BOXCAR_OUTBOX, NULL);
    assert_int_equal(pthread_create(&s->thread, NULL, run_to_the_end, &ending), 0);
    scene_wait_begun(s, 1);
    remove_subscription(s);
    pthread_join(s->thread, NULL);
    assert_true(was_told);
    assert_int_equal(ending.status, BOXCAR_E_NOT_FOUND);
    assert_string_equal(ending.err.argument, "subscription");
    assert_non_null(strstr(ending.err.message, "\"audit\" was removed"));
    assert_int_equal(s->memory.messages[0].settled, 0);
    scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worker_asks_for_its_subscription),
        cmocka_unit_test(waits_are_left_to_the_main_reader),
        cmocka_unit_test(unknown_subscription_ends_the_worker_at_once),
        cmocka_unit_test(handlers_must_be_for_its_box),
        cmocka_unit_test(name_is_checked),
        cmocka_unit_test(removed_subscription_ends_the_worker),
    };

    return cmocka_run_group_tests_name("pump_subscription", tests, NULL, NULL);
}
