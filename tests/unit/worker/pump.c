/* The work loop against a store that fails on purpose. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory_store.h"
#include "worker/worker.h"

struct scene {
    struct memory_store memory;
    boxcar_worker *worker;
    _Atomic int calls, cancelled;
    boxcar_verdict verdict;
    int work_ms;
    _Atomic int attached, detached; /* lines in the log */
};

static void count_lines(void *context, const boxcar_log_record *record) {
    struct scene *s = context;

    s->attached += strcmp(record->event, "attached") == 0;
    s->detached += strcmp(record->event, "detached") == 0;
}

static boxcar_verdict play(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;

    atomic_fetch_add(&s->calls, 1);
    for (int i = 0; i < s->work_ms && !boxcar_delivery_is_cancelled(delivery); i++)
        usleep(1000);
    if (boxcar_delivery_is_cancelled(delivery))
        atomic_fetch_add(&s->cancelled, 1);
    return s->verdict;
}

static struct scene *scene_new(const boxcar_worker_options *given) {
    struct scene *s = calloc(1, sizeof(*s));
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options = given ? *given : BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    assert_non_null(s);
    memory_init(&s->memory);
    store.url = BOXCAR_STR("sqlite:nowhere");
    store.log = count_lines;
    store.log_context = s;
    store.log_level = BOXCAR_LOG_INFO;
    options.store = &store;
    options.drain = true;
    options.poll_ms = 5;
    options.maintain_ms = 0;
    options.concurrency = 2;
    assert_int_equal(boxcar_worker_new(&options, &s->worker, &err), BOXCAR_OK);
    s->worker->open = memory_open;
    assert_int_equal(boxcar_worker_handle(s->worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("t"), play, s), &err),
                     BOXCAR_OK);
    return s;
}

static void run(struct scene *s) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (boxcar_worker_run(s->worker, &err) != BOXCAR_OK)
        fail_msg("%s", err.message);
}

static void *run_worker(void *worker) {
    (void)boxcar_worker_run(worker, NULL);
    return NULL;
}

static void scene_free(struct scene *s) {
    boxcar_worker_free(s->worker);
    free(s);
}

static boxcar_handler_stats stats_of(struct scene *s) {
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;

    assert_true(boxcar_worker_handler_stats_read(s->worker, 0, &stats));
    return stats;
}

/* Nothing is let go before the store has answered: verdicts outlive an outage. */
static void verdicts_survive_an_outage(void **state) {
    struct scene *s = scene_new(NULL);

    (void)state;
    for (int i = 0; i < 10; i++)
        memory_add(&s->memory, "t", 0);
    s->memory.fail_next = 4;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    run(s);
    for (int i = 0; i < 10; i++)
        assert_int_equal(s->memory.messages[i].settled, 1);
    assert_int_equal(s->calls, 10);
    assert_int_equal(stats_of(s).acked, 10);
    assert_int_equal(s->detached, 1); /* one line per change of state */
    assert_int_equal(s->attached, 1);
    scene_free(s);
}

/* What a lost answer had settled counts as settled, once. */
static void settlement_whose_answer_was_lost_counts_once(void **state) {
    struct scene *s = scene_new(NULL);

    (void)state;
    memory_add(&s->memory, "t", 0);
    s->memory.fail_next = 1;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    s->memory.apply_then_fail = true;
    run(s);
    assert_int_equal(s->memory.messages[0].settled, 1);
    assert_int_equal(s->calls, 1);
    assert_int_equal(stats_of(s).acked, 1);
    assert_int_equal(stats_of(s).lost, 0);
    scene_free(s);
}

/* BX-023: after a reconnect it renews first; nothing is claimed before. */
static void leases_are_renewed_before_anything_is_claimed_again(void **state) {
    struct scene *s = scene_new(NULL);
    size_t i = 0;

    (void)state;
    for (int k = 0; k < 4; k++)
        memory_add(&s->memory, "t", 0);
    s->work_ms = 150;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    s->memory.fail_next = 1;
    run(s);
    while (s->memory.calls[i].answer == BOXCAR_OK)
        i++;
    assert_int_equal(s->memory.calls[i + 1].claim_size, 0);
    assert_int_equal(s->memory.messages[3].settled, 1);
    scene_free(s);
}

static void start(struct scene *s, pthread_t *ret_thread) {
    alarm(60); /* what is waited for below may never come */
    s->worker->drain = false;
    assert_int_equal(pthread_create(ret_thread, NULL, run_worker, s->worker), 0);
}

static void stop(struct scene *s, pthread_t thread) {
    boxcar_worker_stop(s->worker);
    boxcar_worker_stop(s->worker);
    pthread_join(thread, NULL);
    alarm(0);
}

/* Waits until `count` messages from the first on are settled, whichever. */
static void wait_for_settled(struct scene *s, int count) {
    for (int settled = 0; settled < count;) {
        usleep(1000);
        pthread_mutex_lock(&s->memory.mutex);
        settled = 0;
        for (size_t i = 0; i < s->memory.count; i++)
            settled += s->memory.messages[i].settled;
        pthread_mutex_unlock(&s->memory.mutex);
    }
}

/* A settlement that the store refuses for itself blocks no other, and not the worker either. */
static void refused_settlement_does_not_block_the_others(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    pthread_t thread;
    struct scene *s;

    (void)state;
    options.lease_ms = 400; /* it is given up when its lease is over */
    s = scene_new(&options);
    for (int i = 0; i < 8; i++)
        memory_add(&s->memory, "t", 0);
    s->memory.refuse_work_id = 3;
    start(s, &thread);
    wait_for_settled(s, 7);
    pthread_mutex_lock(&s->memory.mutex);
    memory_add(&s->memory, "t", 0);
    pthread_mutex_unlock(&s->memory.mutex);
    wait_for_settled(s, 8);
    stop(s, thread);
    assert_int_equal(s->memory.messages[2].settled, 0);
    scene_free(s);
}

/* BX-023: a longer lease counts from now on; the old one is renewed before it ends. */
static void leases_are_renewed_when_their_time_is_changed(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    pthread_t thread;
    struct scene *s;

    (void)state;
    options.lease_ms = 600000;
    s = scene_new(&options);
    memory_add(&s->memory, "t", 0);
    s->work_ms = 100000;
    start(s, &thread);
    while (atomic_load(&s->calls) == 0)
        usleep(1000);
    options.lease_ms = 1200000;
    assert_int_equal(boxcar_worker_reconfigure(s->worker, &options, NULL), BOXCAR_OK);
    for (int renewed = 0; renewed == 0; usleep(1000)) {
        pthread_mutex_lock(&s->memory.mutex);
        renewed = s->memory.messages[0].renewed;
        pthread_mutex_unlock(&s->memory.mutex);
    }
    stop(s, thread);
    scene_free(s);
}

/* An outage seen by a heartbeat alone ends without waiting for the next look. */
static void idle_worker_comes_back_by_itself(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    pthread_t thread;
    struct scene *s = scene_new(&options);

    (void)state;
    s->worker->tuning.poll_ms = BOXCAR_POLL_MS_MAX;
    s->memory.deny_instances = BOXCAR_E_DENIED; /* so that it goes by itself */
    s->memory.fail_heartbeats = 1;
    start(s, &thread);
    while (atomic_load(&s->attached) == 0)
        usleep(1000);
    stop(s, thread);
    assert_int_equal(s->detached, 1);
    scene_free(s);
}

/* BX-003, BX-023: what has to run alone does not keep the other threads idle for ever. */
static void suspect_that_cannot_run_alone_goes_back(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    pthread_t thread;
    struct scene *s;

    (void)state;
    options.lease_ms = 200;
    s = scene_new(&options);
    memory_add(&s->memory, "t", 0);
    s->work_ms = 100000;
    start(s, &thread);
    while (atomic_load(&s->calls) == 0)
        usleep(1000);
    pthread_mutex_lock(&s->memory.mutex);
    memory_add(&s->memory, "t", 3);
    pthread_mutex_unlock(&s->memory.mutex);
    wait_for_settled(s, 1);
    assert_int_equal(s->memory.messages[1].kind, BOXCAR_DEFER);
    assert_int_equal(s->calls, 1);
    stop(s, thread);
    scene_free(s);
}

/* BX-023 */
static void handler_whose_lease_is_not_renewed_is_cancelled(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    pthread_t thread;
    struct scene *s;

    (void)state;
    options.lease_ms = 120;
    s = scene_new(&options);
    memory_add(&s->memory, "t", 0);
    s->work_ms = 100000;
    s->memory.steal = 1; /* it is free again after each theft: claimed and cancelled once more */
    start(s, &thread);
    while (atomic_load(&s->cancelled) < 2)
        usleep(1000);
    stop(s, thread);
    assert_true(stats_of(s).lost >= 2);
    scene_free(s);
}

/* BX-003: if the one that runs kills the worker, no other suspect is charged; ordinary work goes on. */
static void one_suspect_is_held_at_a_time(void **state) {
    struct scene *s = scene_new(NULL);
    size_t with = 0, without = 0;

    (void)state;
    for (int i = 0; i < 4; i++) {
        memory_add(&s->memory, "t", 1);
        memory_add(&s->memory, "t", 0);
    }
    s->work_ms = 20;
    run(s);
    assert_int_equal(s->calls, 8);
    assert_int_equal(s->memory.most_suspects, 1);
    for (size_t i = 0; i < s->memory.call_count; i++) {
        with += s->memory.calls[i].claim_size > 0 && !s->memory.calls[i].no_suspects;
        without += s->memory.calls[i].claim_size > 0 && s->memory.calls[i].no_suspects;
    }
    assert_true(with > 0 && without > 0);
    scene_free(s);
}

/* OBX-055, BX-024 */
static void message_without_a_handler_is_given_back_or_failed(void **state) {
    (void)state;
    for (int fail = 0; fail < 2; fail++) {
        boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
        struct scene *s;

        options.fail_unhandled = fail;
        s = scene_new(&options);
        s->memory.ignore_topics = true;
        s->verdict = BOXCAR_VERDICT_FAIL;
        memory_add(&s->memory, "other", 0);
        memory_add(&s->memory, "t", 0);
        run(s);
        assert_int_equal(s->calls, 1);
        assert_int_equal(s->memory.messages[0].kind, fail ? BOXCAR_FAIL : BOXCAR_DEFER);
        assert_int_equal(s->memory.messages[0].reason, fail ? BOXCAR_REASON_NO_HANDLER : BOXCAR_REASON_NONE);
        assert_int_equal(s->memory.messages[1].kind, BOXCAR_FAIL);
        assert_int_equal(s->memory.messages[1].reason, BOXCAR_REASON_NONE);
        scene_free(s);
    }
}

static void add_wait(struct scene *s, const char *payload, int crash_count) {
    memory_add(&s->memory, "join.wait", crash_count);
    s->memory.messages[s->memory.count - 1].payload = boxcar_str_of(payload);
}

#define WAIT_PAYLOAD "{\"join_id\":\"01890a5d-ac96-774b-bcce-b302099a8057\",\"on_complete_topic\":\"then\"}"

static boxcar_handler_stats wait_stats_of(struct scene *s) {
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;

    assert_true(boxcar_worker_handler_stats_read(s->worker, 1, &stats));
    return stats;
}

/* BX-045, JOIN-050: also one that was leased when a worker died is no danger. */
static void waits_are_for_the_store_to_evaluate(void **state) {
    static const struct {
        enum wait_outcome outcome;
        int acked, deferred, failed;
    } CASES[] = {{WAIT_COMPLETED, 2, 0, 0},
                 {WAIT_FAILED, 2, 0, 0},
                 {WAIT_SILENT, 2, 0, 0},
                 {WAIT_DEFERRED, 0, 2, 0},
                 {WAIT_NO_JOIN, 0, 0, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct scene *s = scene_new(NULL);

        s->memory.wait_outcome = CASES[i].outcome;
        add_wait(s, WAIT_PAYLOAD, 0);
        memory_add(&s->memory, "t", 0);
        add_wait(s, WAIT_PAYLOAD, 5);
        run(s);
        assert_int_equal(s->calls, 1);
        assert_int_equal(s->memory.messages[0].kind, BOXCAR_RESOLVE);
        assert_int_equal(s->memory.messages[2].kind, BOXCAR_RESOLVE);
        assert_int_equal(wait_stats_of(s).acked, CASES[i].acked);
        assert_int_equal(wait_stats_of(s).deferred, CASES[i].deferred);
        assert_int_equal(wait_stats_of(s).failed, CASES[i].failed);
        scene_free(s);
    }
}

/* JOIN-051 */
static void wait_that_cannot_be_read_is_failed(void **state) {
    struct scene *s = scene_new(NULL);

    (void)state;
    add_wait(s, "{\"join_id\": 7}", 0);
    run(s);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_FAIL);
    assert_int_equal(s->memory.messages[0].reason, BOXCAR_REASON_NONE);
    assert_int_equal(wait_stats_of(s).failed, 1);
    scene_free(s);
}

/* What the first try has done the second cannot find: that is no lost lease. BX-045 */
static void wait_whose_answer_was_lost_is_let_go(void **state) {
    struct scene *s = scene_new(NULL);

    (void)state;
    s->memory.wait_outcome = WAIT_COMPLETED;
    s->memory.fail_next = 1;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    s->memory.apply_then_fail = true;
    add_wait(s, WAIT_PAYLOAD, 0);
    run(s);
    assert_int_equal(s->memory.messages[0].settled, 1);
    assert_int_equal(wait_stats_of(s).lost, 0);
    scene_free(s);
}

/* Two handlers for one topic is an error at the start. BX-024 */
static void topic_of_waits_takes_no_handler(void **state) {
    struct scene *s = scene_new(NULL);
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    assert_int_equal(
        boxcar_worker_handle(s->worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("join.wait"), play, s), &err),
        BOXCAR_OK);
    assert_int_equal(boxcar_worker_run(s->worker, &err), BOXCAR_E_CONFLICT);
    assert_non_null(strstr(err.message, "join_wait_topic"));
    scene_free(s);
}

/* A mistake from the start, such as a missing right, is no outage to be waited out. */
static void what_can_never_work_ends_the_run(void **state) {
    struct scene *s = scene_new(NULL);
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    s->memory.down = BOXCAR_E_DENIED;
    alarm(60);
    assert_int_equal(boxcar_worker_run(s->worker, &err), BOXCAR_E_DENIED);
    alarm(0);
    assert_int_equal(s->detached, 0);
    scene_free(s);
}

static void worker_registers_and_says_goodbye(void **state) {
    struct scene *s = scene_new(NULL);

    (void)state;
    memory_add(&s->memory, "t", 0);
    run(s);
    assert_int_equal(s->memory.calls[0].instances, 1);
    assert_int_equal(s->memory.farewells, 1);
    scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_survive_an_outage),
        cmocka_unit_test(settlement_whose_answer_was_lost_counts_once),
        cmocka_unit_test(leases_are_renewed_before_anything_is_claimed_again),
        cmocka_unit_test(refused_settlement_does_not_block_the_others),
        cmocka_unit_test(leases_are_renewed_when_their_time_is_changed),
        cmocka_unit_test(idle_worker_comes_back_by_itself),
        cmocka_unit_test(suspect_that_cannot_run_alone_goes_back),
        cmocka_unit_test(handler_whose_lease_is_not_renewed_is_cancelled),
        cmocka_unit_test(one_suspect_is_held_at_a_time),
        cmocka_unit_test(message_without_a_handler_is_given_back_or_failed),
        cmocka_unit_test(waits_are_for_the_store_to_evaluate),
        cmocka_unit_test(wait_that_cannot_be_read_is_failed),
        cmocka_unit_test(wait_whose_answer_was_lost_is_let_go),
        cmocka_unit_test(topic_of_waits_takes_no_handler),
        cmocka_unit_test(what_can_never_work_ends_the_run),
        cmocka_unit_test(worker_registers_and_says_goodbye),
    };

    return cmocka_run_group_tests_name("pump", tests, NULL, NULL);
}
