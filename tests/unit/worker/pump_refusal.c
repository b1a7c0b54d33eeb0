/* Verdicts that the store does not take. */
#include "unit.h"

#include "scene.h"

#define MANY 16

/* Messages that are done as soon as they are claimed: all their verdicts go out together. */
static struct scene *scene_of_many(int64_t lease_ms) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;

    options.lease_ms = lease_ms;
    s = scene_new(&options, true, false);
    assert_int_equal(boxcar_worker_handle(s->worker, HANDLER_DISCARD(BOXCAR_OUTBOX, BOXCAR_STR("d")), NULL),
                     BOXCAR_OK);
    for (int i = 0; i < MANY; i++)
        memory_add(&s->memory, "d", 0);
    return s;
}

static bool is_refused_alone(const struct memory_call *call) {
    return call->answer != BOXCAR_OK && call->settlements == 1;
}

static void wait_settled_but(struct scene *s, int64_t refused) {
    for (int64_t id = 1; id <= MANY; id++)
        if (id != refused)
            scene_wait_settled(s, id);
}

static void wait_given_up(struct scene *s) {
    for (size_t claims = 0; claims == 0;) {
        sched_yield();
        pthread_mutex_lock(&s->memory.mutex);
        claims = s->memory.calls[s->memory.call_count - 1].claim_size > 0;
        pthread_mutex_unlock(&s->memory.mutex);
    }
}

/* Wherever it stands, it is found in a few tries; the others are settled in large batches. */
static void refused_verdict_is_found_by_halves(void **state) {
    (void)state;
    for (int64_t refused = 1; refused <= MANY; refused += 5) {
        struct scene *s = scene_of_many(400);
        size_t tries = 0;

        s->memory.refuse_work_id = refused;
        scene_start(s);
        wait_settled_but(s, refused);
        scene_stop(s);
        for (size_t i = 0; i < s->memory.call_count; i++)
            tries += s->memory.calls[i].settlements > 0 && !is_refused_alone(&s->memory.calls[i]);
        assert_true(tries < 10); /* one by one it would be 16 */
        assert_int_equal(s->memory.messages[refused - 1].settled, 0);
        scene_free(s);
    }
}

/* What is refused alone is tried again until its lease is over; nothing is claimed meanwhile. */
static void refused_verdict_is_given_up_when_its_lease_is_over(void **state) {
    struct scene *s = scene_of_many(600);
    size_t first = MEMORY_CALLS, last = 0, alone = 0;

    (void)state;
    s->memory.refuse_work_id = 3;
    scene_start(s);
    wait_settled_but(s, 3);
    wait_given_up(s);
    scene_stop(s);
    for (size_t i = 0; i < s->memory.call_count; i++) {
        if (s->memory.calls[i].answer == BOXCAR_OK)
            continue;
        first = i < first ? i : first;
        last = i;
        alone += is_refused_alone(&s->memory.calls[i]);
    }
    assert_true(alone > 1);
    for (size_t i = first + 1; i <= last; i++)
        assert_int_equal(s->memory.calls[i].claim_size, 0);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(s->memory.messages[i].settled, i != 2);
    scene_free(s);
}

/* A verdict that is refused for a while, by itself or with all others, is settled once, when it is taken. */
static void verdicts_outlast_a_store_that_refuses_for_a_while(void **state) {
    (void)state;
    for (int failures = 1; failures <= 8; failures++) {
        struct scene *s = scene_of_many(30000);
        boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;

        s->memory.fail_next = failures;
        s->memory.failure = BOXCAR_E_STORE;
        scene_run(s);
        boxcar_worker_stats_read(s->worker, &stats);
        assert_int_equal(stats.detachments, 0);
        assert_int_equal(stats.leases_lost, 0);
        assert_int_equal(stats.store_errors, failures);
        for (int i = 0; i < MANY; i++)
            assert_int_equal(s->memory.messages[i].settled, 1);
        scene_free(s);
    }
}

/* An outage in the middle of a search: it goes on where it was, and nothing is settled twice. */
static void search_outlasts_an_outage(void **state) {
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct scene *s = scene_of_many(2000);
        boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;

        s->memory.refuse_work_id = 7;
        s->memory.fail_next = 2; /* of the calls that are not refused */
        s->memory.failure = BOXCAR_E_UNAVAILABLE;
        s->memory.apply_then_fail = lost;
        scene_start(s);
        wait_settled_but(s, 7);
        wait_given_up(s);
        scene_stop(s);
        boxcar_worker_stats_read(s->worker, &stats);
        assert_int_equal(stats.leases_lost, 0);
        assert_true(stats.detachments > 0);
        for (int i = 0; i < MANY; i++)
            assert_int_equal(s->memory.messages[i].settled, i != 6);
        scene_free(s);
    }
}

static void hold_first(struct scene *s, boxcar_delivery *delivery) {
    int renewed = 0;

    while (boxcar_delivery_message(delivery)->work_id.value == 1 && renewed < 3 &&
           !boxcar_delivery_is_cancelled(delivery)) {
        sched_yield();
        pthread_mutex_lock(&s->memory.mutex);
        renewed = s->memory.messages[0].renewed;
        pthread_mutex_unlock(&s->memory.mutex);
    }
}

/* BX-023: a handler at work must not lose its lease because another one's verdict is refused. */
static void renewals_do_not_fail_with_what_is_refused(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    size_t refused = 0;
    struct scene *s;

    (void)state;
    options.lease_ms = 600;
    s = scene_new(&options, true, false);
    s->during = hold_first;
    s->memory.refuse_work_id = 2;
    scene_add(s, BOXCAR_OUTBOX, NULL);
    scene_add(s, BOXCAR_OUTBOX, NULL);
    scene_start(s);
    scene_wait_settled(s, 1);
    scene_stop(s);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_ACK);
    for (size_t i = 0; i < s->memory.call_count; i++) {
        const struct memory_call *call = &s->memory.calls[i];

        assert_true(refused == 0 || call->renewals == 0 || call->answer == BOXCAR_OK);
        refused += call->answer != BOXCAR_OK;
    }
    assert_true(refused > 0);
    scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_verdict_is_found_by_halves),
        cmocka_unit_test(refused_verdict_is_given_up_when_its_lease_is_over),
        cmocka_unit_test(verdicts_outlast_a_store_that_refuses_for_a_while),
        cmocka_unit_test(search_outlasts_an_outage),
        cmocka_unit_test(renewals_do_not_fail_with_what_is_refused),
    };

    return cmocka_run_group_tests_name("pump_refusal", tests, NULL, NULL);
}
