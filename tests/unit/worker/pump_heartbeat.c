/* Heartbeats of the worker, and what happens when the store refuses them. */
#include "unit.h"

#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "scene.h"
#include "worker/loop/pump.h"

#define MANY 6

static _Atomic int complaints; /* in the log */

static void count_complaints(void *context, const boxcar_log_record *record) {
    (void)context;
    complaints += strcmp(record->event, "heartbeat") == 0;
}

/* Both boxes, and messages that are done as soon as they are claimed: there is always something to say. */
static struct scene *busy_scene(void) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_str topic = BOXCAR_STR("d");
    struct scene *s;

    complaints = 0;
    store.url = BOXCAR_STR("sqlite:nowhere");
    store.log = count_complaints;
    options.store = &store;
    s = scene_new(&options, true, true);
    assert_int_equal(boxcar_worker_handle(s->worker, HANDLER_DISCARD(BOXCAR_OUTBOX, topic), NULL), BOXCAR_OK);
    assert_int_equal(boxcar_worker_handle(s->worker, HANDLER_DISCARD(BOXCAR_INBOX, topic), NULL), BOXCAR_OK);
    for (int i = 0; i < MANY; i++) {
        memory_add(&s->memory, "d", 0);
        s->memory.messages[i].box = i % 2 ? BOXCAR_OUTBOX : BOXCAR_INBOX;
    }
    return s;
}

static size_t count_beats(const struct scene *s) {
    size_t beats = 0;

    for (size_t i = 0; i < s->memory.call_count; i++)
        beats += s->memory.calls[i].instances > 0;
    return beats;
}

static void assert_all_settled(const struct scene *s) {
    for (int i = 0; i < MANY; i++)
        assert_int_equal(s->memory.messages[i].settled, 1);
}

/* BX-065: results, renewals, heartbeat and claims are one round trip. */
static void heartbeat_travels_with_the_batch(void **state) {
    struct scene *s = busy_scene();

    (void)state;
    scene_run(s);
    assert_all_settled(s);
    assert_int_equal(s->memory.heartbeats, 0);
    assert_int_equal(s->memory.calls[0].instances, BOXES); /* a row a box */
    assert_true(s->memory.calls[0].claim_size > 0);
    scene_free(s);
}

/* BX-061: others may have taken it for dead meanwhile. */
static void heartbeat_follows_an_outage(void **state) {
    struct scene *s = busy_scene();
    size_t i = 0;

    (void)state;
    s->memory.fail_next = 2;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    scene_run(s);
    assert_all_settled(s);
    assert_int_equal(s->memory.heartbeats, 0);
    assert_int_equal(count_beats(s), 2);
    while (s->memory.calls[i].answer == BOXCAR_OK)
        i++;
    for (; s->memory.calls[i].instances == 0; i++)
        assert_true(i < s->memory.call_count);
    scene_free(s);
}

/* A role without the right can still work, and this is logged once. */
static void worker_that_may_not_register_works(void **state) {
    struct scene *s = busy_scene();
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;

    (void)state;
    s->memory.deny_instances = BOXCAR_E_DENIED;
    s->memory.deny_heartbeats = BOXCAR_E_DENIED;
    scene_run(s);
    assert_all_settled(s);
    boxcar_worker_stats_read(s->worker, &stats);
    assert_int_equal(stats.detachments, 0);
    assert_int_equal(complaints, 1);
    assert_int_equal(count_beats(s), 1); /* from then on it goes by itself */
    assert_int_equal(s->memory.heartbeats, 1);
    scene_free(s);
}

/* Also if it is only the batch that does not take it. */
static void heartbeat_goes_alone_if_need_be(void **state) {
    struct scene *s = busy_scene();

    (void)state;
    s->memory.deny_instances = BOXCAR_E_STORE;
    scene_run(s);
    assert_all_settled(s);
    assert_int_equal(complaints, 0);
    assert_int_equal(count_beats(s), 1);
    assert_int_equal(s->memory.heartbeats, BOXES);
    scene_free(s);
}

/* What is refused without it, too, is not blamed on it; an outage says nothing. */
static void heartbeat_is_blamed_only_if_it_goes_without(void **state) {
    struct boxcar_worker worker = {.drain = false};
    struct pump pump = {.worker = &worker};
    boxcar_error outage = BOXCAR_ERROR_INIT, refusal = BOXCAR_ERROR_INIT;

    (void)state;
    (void)error_set(&outage, BOXCAR_E_UNAVAILABLE, "away");
    (void)error_set(&refusal, BOXCAR_E_STORE, "refused");
    assert_false(pump_beats_alone(&pump));
    assert_false(pump_suspects_heartbeat(&pump, true, &outage));
    assert_false(pump_beats_alone(&pump));
    assert_true(pump_suspects_heartbeat(&pump, true, &refusal));
    assert_true(pump_beats_alone(&pump));
    assert_false(pump_suspects_heartbeat(&pump, false, &outage));
    assert_true(pump_beats_alone(&pump));
    assert_false(pump_suspects_heartbeat(&pump, false, &refusal)); /* it was something else */
    assert_false(pump_beats_alone(&pump));
    assert_true(pump_suspects_heartbeat(&pump, true, &refusal));
    pump_take_heartbeat(&pump, false);
    assert_false(pump_suspects_heartbeat(&pump, false, &refusal)); /* another matter */
    assert_true(pump_beats_alone(&pump));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heartbeat_travels_with_the_batch),
        cmocka_unit_test(heartbeat_follows_an_outage),
        cmocka_unit_test(worker_that_may_not_register_works),
        cmocka_unit_test(heartbeat_goes_alone_if_need_be),
        cmocka_unit_test(heartbeat_is_blamed_only_if_it_goes_without),
    };

    return cmocka_run_group_tests_name("pump_heartbeat", tests, NULL, NULL);
}
