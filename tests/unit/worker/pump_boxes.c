/* One worker, two boxes: what it asks of which, and how it shares. */
#include "unit.h"

#include "scene.h"

/* A worker asks only the boxes that it has handlers for. */
static void box_without_handlers_is_never_asked(void **state) {
    (void)state;
    for (int served = 0; served < BOXES; served++) {
        struct scene *s = scene_new(NULL, served == BOXCAR_OUTBOX, served == BOXCAR_INBOX);

        for (int i = 0; i < 6; i++)
            scene_add(s, (boxcar_box)served, NULL);
        scene_run(s);
        assert_int_equal(s->begun_count, 6);
        for (size_t i = 0; i < s->memory.call_count; i++)
            assert_int_equal(s->memory.calls[i].claim_of[1 - served], 0);
        scene_free(s);
    }
}

/* Each message goes to the handler of its box, and is settled in its box. */
static void both_boxes_are_served_by_their_own_handlers(void **state) {
    struct scene *s = scene_new(NULL, true, true);

    (void)state;
    for (int i = 0; i < 20; i++)
        scene_add(s, i % 3 ? BOXCAR_OUTBOX : BOXCAR_INBOX, NULL);
    s->verdicts[1] = BOXCAR_VERDICT_FAIL;
    s->verdicts[2] = BOXCAR_VERDICT_RETRY;
    scene_run(s);
    assert_int_equal(s->begun_count, 20);
    for (size_t i = 0; i < 20; i++)
        assert_int_equal(s->boxes[i], (s->begun[i] - 1) % 3 ? BOXCAR_OUTBOX : BOXCAR_INBOX);
    for (int64_t i = 1; i <= 20; i++)
        assert_int_equal(s->memory.messages[i - 1].settled, 1);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_FAIL);
    assert_int_equal(s->memory.messages[1].kind, BOXCAR_ABANDON);
    for (int box = 0; box < BOXES; box++) {
        boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;

        assert_true(boxcar_worker_handler_stats_read(s->worker, (size_t)box, &stats));
        assert_int_equal(stats.box, box);
        assert_int_equal(stats.acked, box == BOXCAR_OUTBOX ? 12 : 6);
    }
    scene_free(s);
}

/* BX-024: one topic may have a handler in each box, but not two in one. */
static void topic_has_one_handler_a_box(void **state) {
    struct scene *s = scene_new(NULL, true, true);
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    assert_int_equal(boxcar_worker_handle(s->worker, HANDLER_DISCARD(BOXCAR_INBOX, BOXCAR_STR("t")), &err),
                     BOXCAR_E_CONFLICT);
    assert_string_equal(err.argument, "topic");
    assert_int_equal(boxcar_worker_handle(
                         s->worker, HANDLER_EXEC(BOXCAR_INBOX, BOXCAR_STR("u"), BOXCAR_STR("true")), &err),
                     BOXCAR_OK);
    assert_int_equal(
        boxcar_worker_handle(s->worker, HANDLER(BOXCAR_INBOX, BOXCAR_STR("v"), NULL, NULL), &err),
        BOXCAR_E_INVALID);
    scene_free(s);
}

/* Together they bring no more than one would, and each gets its turn. */
static void claims_are_shared(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;
    size_t last[BOXES] = {0}, asked[BOXES] = {0};

    (void)state;
    options.batch_size = options.batch_limit = 3;
    s = scene_new(&options, true, true);
    for (int i = 0; i < 40; i++)
        scene_add(s, i < 20 ? BOXCAR_OUTBOX : BOXCAR_INBOX, NULL);
    scene_run(s);
    assert_int_equal(s->begun_count, 40);
    for (size_t i = 0; i < s->memory.call_count; i++) {
        assert_true(s->memory.calls[i].claim_size <= 3);
        for (int box = 0; box < BOXES; box++)
            asked[box] += s->memory.calls[i].claim_of[box] > 0;
    }
    assert_true(asked[BOXCAR_OUTBOX] > 0 && asked[BOXCAR_INBOX] > 0);
    for (int box = 0; box < BOXES; box++)
        for (size_t i = 0; i < 20; i++)
            if (s->memory.messages[box * 20 + i].settled_in > last[box])
                last[box] = s->memory.messages[box * 20 + i].settled_in;
    /* Both were handled in parallel: neither was finished before the other had begun. */
    for (int box = 0; box < BOXES; box++)
        assert_true(s->memory.messages[box * 20].settled_in < last[1 - box]);
    scene_free(s);
}

/* A batch of one is asked of each box in turn. */
static void smallest_batches_alternate(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;
    int before = -1;

    (void)state;
    options.batch_size = options.batch_limit = 1;
    s = scene_new(&options, true, true);
    for (int i = 0; i < 12; i++)
        scene_add(s, i < 6 ? BOXCAR_OUTBOX : BOXCAR_INBOX, NULL);
    scene_run(s);
    assert_int_equal(s->begun_count, 12);
    for (size_t i = 0, looks = 0; looks < 12 && i < s->memory.call_count; i++) {
        if (s->memory.calls[i].claim_size == 0)
            continue;
        assert_int_equal(s->memory.calls[i].claim_size, 1);
        assert_int_not_equal(s->memory.calls[i].claim_of[BOXCAR_INBOX], before);
        before = s->memory.calls[i].claim_of[BOXCAR_INBOX];
        looks++;
    }
    scene_free(s);
}

/* BX-003: if the one that runs kills the worker, no suspect of the other box is charged. */
static void one_suspect_is_held_at_a_time_in_both_boxes(void **state) {
    struct scene *s = scene_new(NULL, true, true);

    (void)state;
    for (int i = 0; i < 8; i++) {
        scene_add(s, i % 2 ? BOXCAR_OUTBOX : BOXCAR_INBOX, NULL);
        s->memory.messages[i].crash_count = i < 6;
    }
    scene_run(s);
    assert_int_equal(s->begun_count, 8);
    assert_int_equal(s->memory.most_suspects, 1);
    scene_free(s);
}

static void hold_first(struct scene *s, boxcar_delivery *delivery) {
    while (boxcar_delivery_message(delivery)->work_id.value == 1 && !boxcar_delivery_is_cancelled(delivery) &&
           !scene_is_settled(s, 3))
        sched_yield();
}

/* A box that had nothing is looked at while the other one is busy. */
static void box_that_was_empty_is_not_forgotten(void **state) {
    struct scene *s = scene_new(NULL, true, true);

    (void)state;
    s->during = hold_first;
    scene_add(s, BOXCAR_OUTBOX, NULL);
    scene_start(s);
    scene_wait_begun(s, 1);
    scene_add(s, BOXCAR_OUTBOX, NULL);
    scene_add(s, BOXCAR_INBOX, NULL);
    scene_wait_settled(s, 1);
    scene_stop(s);
    assert_int_equal(s->memory.messages[2].kind, BOXCAR_ACK);
    scene_free(s);
}

/* BX-023: what is held is renewed in its box; a lost lease stops the handler. */
static void leases_of_the_inbox_are_renewed_and_lost(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    options.lease_ms = 120;
    s = scene_new(&options, true, true);
    s->during = hold_first;
    scene_add(s, BOXCAR_INBOX, NULL);
    scene_start(s);
    for (int renewed = 0; renewed < 2;) {
        sched_yield();
        pthread_mutex_lock(&s->memory.mutex);
        renewed = s->memory.messages[0].renewed;
        pthread_mutex_unlock(&s->memory.mutex);
    }
    pthread_mutex_lock(&s->memory.mutex);
    s->memory.messages[0].settled = 1; /* somebody else has it, for good */
    s->memory.steal = 1;
    pthread_mutex_unlock(&s->memory.mutex);
    for (boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT; stats.leases_lost == 0;)
        boxcar_worker_stats_read(s->worker, &stats);
    scene_stop(s);
    scene_free(s);
}

static void record(struct scene *s, boxcar_delivery *delivery) {
    int64_t id = boxcar_delivery_message(delivery)->work_id.value;

    (void)s;
    assert_int_equal(boxcar_delivery_record_stages(delivery, 32, NULL), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_delivery_record_stages(delivery, 0, NULL), BOXCAR_E_INVALID);
    if (id < 3)
        assert_int_equal(boxcar_delivery_record_stages(delivery, BOXCAR_STAGE_PUBLISHED, NULL), BOXCAR_OK);
    if (id == 1)
        assert_int_equal(boxcar_delivery_record_stages(delivery, BOXCAR_STAGE_STORED, NULL), BOXCAR_OK);
}

/* BX-063: at the latest with the verdict, whatever that is. */
static void stages_go_out_with_the_verdict(void **state) {
    struct scene *s = scene_new(NULL, true, true);

    (void)state;
    s->during = record;
    s->verdicts[1] = BOXCAR_VERDICT_RETRY;
    s->memory.fail_next = 2;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    for (int i = 0; i < 4; i++)
        scene_add(s, i % 2 ? BOXCAR_OUTBOX : BOXCAR_INBOX, NULL);
    scene_run(s);
    assert_int_equal(s->memory.messages[0].stages, BOXCAR_STAGE_PUBLISHED | BOXCAR_STAGE_STORED);
    assert_int_equal(s->memory.messages[1].stages, BOXCAR_STAGE_PUBLISHED);
    assert_int_equal(s->memory.messages[2].stages, 0);
    for (size_t i = 0; i < 2; i++)
        assert_true(s->memory.messages[i].recorded_in <= s->memory.messages[i].settled_in);
    scene_free(s);
}

static void record_and_go_on(struct scene *s, boxcar_delivery *delivery) {
    int recorded = 0;

    assert_int_equal(boxcar_delivery_record_stages(delivery, BOXCAR_STAGE_PUBLISHED, NULL), BOXCAR_OK);
    while (recorded == 0) {
        sched_yield();
        pthread_mutex_lock(&s->memory.mutex);
        recorded = s->memory.messages[0].stages;
        pthread_mutex_unlock(&s->memory.mutex);
    }
}

/* BX-063: a handler that takes long need not end for it. */
static void stages_go_out_with_the_next_round_trip(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    options.lease_ms = 300; /* renewed soon */
    s = scene_new(&options, true, false);
    s->during = record_and_go_on;
    scene_add(s, BOXCAR_OUTBOX, NULL);
    scene_run(s);
    assert_true(s->memory.messages[0].recorded_in < s->memory.messages[0].settled_in);
    scene_free(s);
}

/* A drain ends when both boxes are empty, and a stop gives back to both. */
static void stop_gives_back_to_the_right_box(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    s = scene_new(&options, true, true);
    for (int i = 0; i < 40; i++)
        scene_add(s, i % 2 ? BOXCAR_OUTBOX : BOXCAR_INBOX, NULL);
    s->during = hold_first;
    scene_start(s);
    scene_wait_begun(s, 1);
    boxcar_worker_stop(s->worker);
    scene_stop(s);
    for (size_t i = 0; i < 40; i++)
        assert_false(s->memory.messages[i].leased);
    scene_free(s);
}

/* A worker without handlers for the outbox looks after waits, and there may be more of them each time.
 * BX-023, BX-044 */
static void endless_waits_keep_no_box_waiting(void **state) {
    struct scene *s = scene_new(NULL, false, true);

    (void)state;
    s->memory.waits_never_end = true;
    scene_add(s, BOXCAR_INBOX, NULL);
    scene_start(s);
    scene_wait_settled(s, 1);
    scene_stop(s);
    assert_true(s->memory.wait_looks > 0);
    scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_without_handlers_is_never_asked),
        cmocka_unit_test(both_boxes_are_served_by_their_own_handlers),
        cmocka_unit_test(topic_has_one_handler_a_box),
        cmocka_unit_test(claims_are_shared),
        cmocka_unit_test(smallest_batches_alternate),
        cmocka_unit_test(one_suspect_is_held_at_a_time_in_both_boxes),
        cmocka_unit_test(box_that_was_empty_is_not_forgotten),
        cmocka_unit_test(leases_of_the_inbox_are_renewed_and_lost),
        cmocka_unit_test(stages_go_out_with_the_verdict),
        cmocka_unit_test(stages_go_out_with_the_next_round_trip),
        cmocka_unit_test(stop_gives_back_to_the_right_box),
        cmocka_unit_test(endless_waits_keep_no_box_waiting),
    };

    return cmocka_run_group_tests_name("pump_boxes", tests, NULL, NULL);
}
