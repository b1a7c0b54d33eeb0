/* The worker through its public face, with handlers in C. Most tests drain: the run ends by itself
 * when there is nothing left to do. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

enum { SEEN_MAX = 4096 };

/* What handlers saw and how they are to behave. */
struct scene {
    struct fixture *f;
    boxcar_worker *worker;
    boxcar_worker_options options;
    boxcar_store_options store;
    _Atomic int calls, running, most_running, cancelled;
    _Atomic int64_t seen[SEEN_MAX]; /* work ids, in order of the calls */
    boxcar_verdict verdict;
    int good_from_attempt; /* acks from this attempt on; 0 = always the verdict */
    int64_t work_ms;
    _Atomic bool hold; /* handlers wait until this is false, or they are cancelled */
    int64_t delay_ms;
    const char *error;
    char logged[1 << 20];
    size_t logged_len;
    pthread_mutex_t mutex;
    pthread_t thread;
    boxcar_status ended;
    boxcar_error err;
};

static void remember_log(void *context, const boxcar_log_record *record) {
    struct scene *s = context;
    pthread_mutex_lock(&s->mutex);
    size_t room = sizeof(s->logged) - s->logged_len;
    int n = snprintf(s->logged + s->logged_len, room, "%s %s %s", boxcar_log_level_name(record->level),
                     record->event, record->text);
    s->logged_len += (size_t)n < room ? (size_t)n : 0;
    for (size_t i = 0; i < record->field_count; i++) {
        room = sizeof(s->logged) - s->logged_len;
        n = snprintf(s->logged + s->logged_len, room, " %s=%.*s", record->fields[i].name,
                     (int)record->fields[i].value.len, record->fields[i].value.data);
        s->logged_len += (size_t)n < room ? (size_t)n : 0;
    }
    if (s->logged_len + 2 < sizeof(s->logged))
        s->logged[s->logged_len++] = '\n';
    pthread_mutex_unlock(&s->mutex);
}

static bool logged(struct scene *s, const char *text) {
    pthread_mutex_lock(&s->mutex);
    bool found = memmem(s->logged, s->logged_len, text, strlen(text)) != NULL;
    pthread_mutex_unlock(&s->mutex);
    return found;
}

static struct scene *scene_new(struct fixture *f) {
    struct scene *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    pthread_mutex_init(&s->mutex, NULL);
    s->f = f;
    s->delay_ms = -1;
    s->store = fixture_options(f);
    s->store.log = remember_log;
    s->store.log_context = s;
    s->options = BOXCAR_WORKER_OPTIONS_INIT;
    s->options.store = &s->store;
    s->options.drain = true;
    s->options.poll_ms = 20;
    return s;
}

static void scene_make(struct scene *s) {
    if (boxcar_worker_new(&s->options, &s->worker, &s->err) != BOXCAR_OK)
        fail_msg("boxcar_worker_new: %s", s->err.message);
}

static void scene_free(struct scene *s) {
    boxcar_worker_free(s->worker);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

static void enter(struct scene *s, const boxcar_message *message) {
    int call = atomic_fetch_add(&s->calls, 1);
    int running = atomic_fetch_add(&s->running, 1) + 1;
    int most = atomic_load(&s->most_running);
    if (call < SEEN_MAX)
        atomic_store(&s->seen[call], message->work_id.value);
    while (running > most && !atomic_compare_exchange_weak(&s->most_running, &most, running))
        ;
}

static boxcar_verdict play(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    const boxcar_message *message = boxcar_delivery_message(delivery);
    struct pollfd cancel = {.fd = boxcar_delivery_cancel_fd(delivery), .events = POLLIN};
    enter(s, message);
    if (s->work_ms > 0)
        (void)poll(&cancel, 1, (int)s->work_ms);
    while (atomic_load(&s->hold) && !boxcar_delivery_is_cancelled(delivery))
        (void)poll(&cancel, 1, 5);
    if (boxcar_delivery_is_cancelled(delivery))
        atomic_fetch_add(&s->cancelled, 1);
    if (s->error)
        boxcar_delivery_set_error(delivery, boxcar_str_of(s->error));
    if (s->delay_ms >= 0)
        boxcar_delivery_set_delay_ms(delivery, s->delay_ms);
    atomic_fetch_sub(&s->running, 1);
    if (s->good_from_attempt > 0 && message->retry_count + 1 >= s->good_from_attempt)
        return BOXCAR_VERDICT_ACK;
    return s->verdict;
}

static void handle(struct scene *s, const char *topic) {
    if (boxcar_worker_handle(s->worker, boxcar_str_of(topic), play, s, &s->err) != BOXCAR_OK)
        fail_msg("boxcar_worker_handle: %s", s->err.message);
}

static void run(struct scene *s) {
    if (boxcar_worker_run(s->worker, &s->err) != BOXCAR_OK)
        fail_msg("boxcar_worker_run: %s", s->err.message);
}

static void *run_in_thread(void *context) {
    struct scene *s = context;
    s->ended = boxcar_worker_run(s->worker, &s->err);
    return NULL;
}

static void start(struct scene *s) {
    assert_int_equal(pthread_create(&s->thread, NULL, run_in_thread, s), 0);
}

static void stop(struct scene *s) {
    boxcar_worker_stop(s->worker);
    pthread_join(s->thread, NULL);
    if (s->ended != BOXCAR_OK)
        fail_msg("boxcar_worker_run: %s", s->err.message);
}

static void wait_for(_Atomic int *count, int wanted) {
    for (int i = 0; atomic_load(count) < wanted; i++) {
        assert_true(i < 4000);
        pause_ms(5);
    }
}

/* A whole run with one handler for `topic`. */
static void drain(struct scene *s, const char *topic) {
    scene_make(s);
    handle(s, topic);
    run(s);
}

/* OBX-054, OBX-057, OBX-060 */
static void every_ready_message_is_handled_once_and_done(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    enqueue_many(f, "orders.paid", 500, NULL);
    drain(s, "orders.paid");
    assert_int_equal(s->calls, 500);
    assert_int_equal(stats_of(f).done, 500);
    assert_int_equal(stats_of(f).in_progress, 0);
    scene_free(s);
}

/* OBX-054, BX-024 */
static boxcar_verdict count_call(void *context, boxcar_delivery *delivery) {
    (void)delivery;
    atomic_fetch_add((_Atomic int *)context, 1);
    return BOXCAR_VERDICT_ACK;
}

static void longest_matching_pattern_gets_the_message(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    static const char *const PATTERNS[] = {"*", "orders.*", "orders.eu.*", "orders.eu.paid"};
    _Atomic int calls[4] = {0};
    scene_make(s);
    for (size_t i = 0; i < 4; i++)
        ASSERT_OK(
            f, boxcar_worker_handle(s->worker, boxcar_str_of(PATTERNS[i]), count_call, &calls[i], &f->err));
    enqueue_many(f, "mail", 1, NULL);
    enqueue_many(f, "orders.us", 2, NULL);
    enqueue_many(f, "orders.eu.new", 3, NULL);
    enqueue_many(f, "orders.eu.paid", 4, NULL);
    run(s);
    for (int i = 0; i < 4; i++)
        assert_int_equal(calls[i], i + 1);
    scene_free(s);
}

/* BX-024 */
static void two_handlers_for_one_topic_are_refused(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    scene_make(s);
    handle(s, "orders.*");
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_worker_handle_discard(s->worker, BOXCAR_STR("orders.*"), &f->err));
    assert_string_equal(f->err.argument, "topic");
    handle(s, "Orders.*"); /* topics are case-sensitive */
    scene_free(s);
}

/* BX-024 */
static void topics_of_others_are_not_touched(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued foreign = enqueue(f, "mail.send", "x");
    enqueue_many(f, "orders", 20, NULL);
    drain(s, "orders");
    assert_int_equal(s->calls, 20);
    assert_status(f, foreign.work_id, BOXCAR_READY);
    assert_int_equal(retry_count_of(f, foreign.work_id), 0);
    scene_free(s);
}

/* OBX-056, OBX-061, OBX-063, BX-021 */
static void failed_attempt_is_retried_by_the_workers_policy(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_backoff_topic quick = {BOXCAR_STR("orders"), {1, 1.0, 1, 0.0}};
    boxcar_backoff_policy policy = BOXCAR_BACKOFF_POLICY_INIT;
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    policy.curve = (boxcar_backoff_curve){3600000, 1.0, 3600000, 0.0};
    policy.topics = &quick;
    policy.topic_count = 1;
    s->options.backoff = &policy;
    s->verdict = BOXCAR_VERDICT_RETRY;
    s->good_from_attempt = 4;
    s->error = "not yet";
    drain(s, "orders");
    assert_int_equal(s->calls, 4);
    assert_status(f, sent.work_id, BOXCAR_DONE);
    assert_true(logged(s, "error verdict"));
    assert_true(logged(s, "not yet"));
    scene_free(s);
}

/* OBX-064, OBX-065, OBX-105 */
static void message_is_buried_when_its_attempts_are_used_up(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_new_message message = new_message("orders", "x");
    message.max_attempts = 3;
    boxcar_enqueued sent = enqueue_message(f, &message);
    s->verdict = BOXCAR_VERDICT_RETRY;
    s->delay_ms = 0;
    s->error = "broken";
    drain(s, "orders");
    assert_int_equal(s->calls, 3);
    assert_dead(f, sent.work_id, BOXCAR_REASON_EXHAUSTED);
    boxcar_message_list *list = find(f, sent.work_id);
    assert_text(look(list)->last_error, "broken");
    assert_int_equal(look(list)->retry_count, 3);
    boxcar_message_list_free(list);
    scene_free(s);
}

/* OBX-056 */
static void rejected_message_is_dead_at_once(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    s->verdict = BOXCAR_VERDICT_FAIL;
    s->error = "no such customer";
    drain(s, "orders");
    assert_int_equal(s->calls, 1);
    assert_dead(f, sent.work_id, BOXCAR_REASON_REJECTED);
    scene_free(s);
}

/* BX-022 */
static boxcar_verdict defer_twice(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    boxcar_delivery_set_delay_ms(delivery, 1);
    return atomic_fetch_add(&s->calls, 1) < 2 ? BOXCAR_VERDICT_DEFER : BOXCAR_VERDICT_ACK;
}

static void deferring_spends_no_attempt(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    scene_make(s);
    ASSERT_OK(f, boxcar_worker_handle(s->worker, BOXCAR_STR("orders"), defer_twice, s, &f->err));
    run(s);
    assert_int_equal(s->calls, 3);
    assert_status(f, sent.work_id, BOXCAR_DONE);
    boxcar_message_list *list = find(f, sent.work_id);
    assert_int_equal(look(list)->retry_count, 0);
    boxcar_message_list_free(list);
    scene_free(s);
}

/* OBX-060: that many at a time, no more. */
static void no_more_handlers_run_than_the_concurrency(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.concurrency = 3;
    s->work_ms = 5;
    enqueue_many(f, "orders", 60, NULL);
    drain(s, "orders");
    assert_int_equal(s->calls, 60);
    assert_int_equal(s->most_running, 3);
    scene_free(s);
}

/* BX-023 */
static void handler_longer_than_its_lease_keeps_it(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.lease_ms = 1000;
    s->work_ms = 2500;
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    drain(s, "orders");
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->cancelled, 0);
    assert_status(f, sent.work_id, BOXCAR_DONE);
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(s->worker, &stats);
    assert_true(stats.leases_renewed >= 2);
    assert_int_equal(stats.leases_lost, 0);
    scene_free(s);
}

/* BX-023: somebody else settles the message while it is handled. */
static void handler_is_told_when_its_lease_is_lost(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.drain = false;
    s->options.lease_ms = 300;
    atomic_store(&s->hold, true);
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    scene_make(s);
    handle(s, "orders");
    start(s);
    wait_for(&s->calls, 1);
    struct taken taken = {.work_id = sent.work_id};
    assert_true(bury(f, boxcar_worker_owner(s->worker), taken, "taken away"));
    wait_for(&s->cancelled, 1);
    stop(s);
    assert_dead(f, sent.work_id, BOXCAR_REASON_REJECTED);
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    assert_true(boxcar_worker_handler_stats_read(s->worker, 0, &stats));
    assert_int_equal(stats.lost, 1);
    assert_int_equal(stats.acked, 0);
    assert_true(logged(s, "warn lease_lost"));
    scene_free(s);
}

/* Design section 7: the handler timeout. */
static void handler_is_cancelled_when_its_time_is_over(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_new_message message = new_message("orders", "x");
    message.max_attempts = 1;
    boxcar_enqueued sent = enqueue_message(f, &message);
    s->options.handler_timeout_ms = 50;
    s->verdict = BOXCAR_VERDICT_RETRY;
    atomic_store(&s->hold, true);
    drain(s, "orders");
    assert_int_equal(s->cancelled, 1);
    assert_dead(f, sent.work_id, BOXCAR_REASON_EXHAUSTED);
    boxcar_message_list *list = find(f, sent.work_id);
    assert_text(look(list)->last_error, "timed out");
    boxcar_message_list_free(list);
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    assert_true(boxcar_worker_handler_stats_read(s->worker, 0, &stats));
    assert_int_equal(stats.timed_out, 1);
    scene_free(s);
}

/* Design section 7: SIGTERM. What runs may finish, what is unstarted goes back unharmed. */
static void stopping_finishes_what_runs_and_gives_back_the_rest(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_work_id ids[40];
    s->options.drain = false;
    s->options.concurrency = 2;
    s->work_ms = 1; /* fast at first, so that more is claimed than runs */
    enqueue_many(f, "warm.up", 50, NULL);
    scene_make(s);
    handle(s, "*");
    start(s);
    wait_for(&s->calls, 50);
    while (atomic_load(&s->running) > 0)
        pause_ms(1);
    atomic_store(&s->hold, true);
    enqueue_many(f, "orders", 40, ids);
    wait_for(&s->calls, 52);
    pause_ms(50);
    boxcar_worker_stop(s->worker);
    pause_ms(50);
    atomic_store(&s->hold, false);
    pthread_join(s->thread, NULL);
    assert_int_equal(s->ended, BOXCAR_OK);
    assert_int_equal(s->calls, 52);
    assert_int_equal(stats_of(f).done, 52);
    assert_int_equal(stats_of(f).in_progress, 0);
    for (int i = 0; i < 40; i++)
        assert_int_equal(retry_count_of(f, ids[i]), 0);
    scene_free(s);
}

/* Design section 7: a second request ends the grace time. */
static void second_stop_cancels_the_handlers(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.drain = false;
    s->verdict = BOXCAR_VERDICT_RETRY;
    atomic_store(&s->hold, true);
    boxcar_enqueued sent = enqueue(f, "orders", "x");
    scene_make(s);
    handle(s, "orders");
    start(s);
    wait_for(&s->calls, 1);
    boxcar_worker_stop(s->worker);
    stop(s);
    assert_int_equal(s->cancelled, 1);
    assert_status(f, sent.work_id, BOXCAR_READY);
    assert_int_equal(retry_count_of(f, sent.work_id), 0); /* it was not its fault */
    scene_free(s);
}

/* BX-003: ten messages that crashed once run one at a time; one that crashed three times runs
 * with nothing else. */
static void suspects_run_one_at_a_time(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    struct taken taken[16];
    enqueue_many(f, "orders", 10, NULL);
    assert_int_equal(take_all(f, f->owner, BOXCAR_LEASE_MS_MIN, taken, 10), 10);
    reap_wait(f, 10);
    s->options.concurrency = 8;
    s->work_ms = 5;
    drain(s, "orders");
    assert_int_equal(s->calls, 10);
    assert_int_equal(s->most_running, 1);
    assert_int_equal(stats_of(f).done, 10);
    scene_free(s);
}

struct alone {
    _Atomic int running, most_beside, calls;
};

static boxcar_verdict watch_company(void *context, boxcar_delivery *delivery) {
    struct alone *a = context;
    bool suspect = boxcar_delivery_message(delivery)->crash_count >= 3;
    int before = atomic_fetch_add(&a->running, 1);
    atomic_fetch_add(&a->calls, 1);
    pause_ms(3);
    if (suspect && (before > 0 || atomic_load(&a->running) > 1))
        atomic_fetch_add(&a->most_beside, 1);
    atomic_fetch_sub(&a->running, 1);
    return BOXCAR_VERDICT_ACK;
}

/* BX-003 */
static void message_that_crashed_three_times_runs_alone(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    struct alone a = {0};
    boxcar_enqueued sent = enqueue(f, "orders", "poison");
    for (int i = 0; i < 3; i++) {
        (void)take_wait(f, f->owner, sent.work_id, BOXCAR_LEASE_MS_MIN);
        reap_wait(f, 1);
    }
    enqueue_many(f, "orders", 200, NULL);
    s->options.concurrency = 8;
    scene_make(s);
    ASSERT_OK(f, boxcar_worker_handle(s->worker, BOXCAR_STR("orders"), watch_company, &a, &f->err));
    run(s);
    assert_int_equal(a.calls, 201);
    assert_int_equal(a.most_beside, 0);
    scene_free(s);
}

/* BX-006 */
static void streams_stay_in_order(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.concurrency = 8;
    for (int i = 0; i < 30; i++)
        enqueue_streamed(f, "customer-7", "x");
    drain(s, "*");
    assert_int_equal(s->calls, 30);
    assert_int_equal(s->most_running, 1);
    for (int i = 1; i < 30; i++)
        assert_true(s->seen[i - 1] < s->seen[i]);
    scene_free(s);
}

static boxcar_verdict effect_and_message(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    boxcar_store *store = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_new_message next = new_message("orders.shipped", "y");
    int call = atomic_fetch_add(&s->calls, 1);
    if (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK ||
        boxcar_enqueue(store, &next, NULL, &err) != BOXCAR_OK) {
        boxcar_delivery_set_error(delivery, boxcar_str_of(err.message));
        return BOXCAR_VERDICT_FAIL;
    }
    boxcar_delivery_set_delay_ms(delivery, 0);
    return call == 0 ? BOXCAR_VERDICT_RETRY : BOXCAR_VERDICT_ACK;
}

/* BX-008: what the handler enqueued in the transaction of a failed attempt never was. */
static void what_a_handler_writes_commits_with_the_ack(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued sent = enqueue(f, "orders.paid", "x");
    scene_make(s);
    ASSERT_OK(f, boxcar_worker_handle(s->worker, BOXCAR_STR("orders.paid"), effect_and_message, s, &f->err));
    run(s);
    assert_int_equal(s->calls, 2);
    assert_status(f, sent.work_id, BOXCAR_DONE);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_text(look(list)->topic, "orders.shipped"); /* look() also says that it is the only one */
    boxcar_message_list_free(list);
    scene_free(s);
}

static boxcar_verdict lose_lease_in_transaction(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store = NULL;
    boxcar_store *other = NULL;
    const boxcar_message *message = boxcar_delivery_message(delivery);
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    boxcar_new_message next = new_message("orders.shipped", "y");
    settlement.work_id = message->work_id;
    atomic_fetch_add(&s->calls, 1);
    if (fixture_try_open(s->f, &other, &err) != BOXCAR_OK ||
        boxcar_fail(other, message->owner, &settlement, 1, NULL, NULL, &err) != BOXCAR_OK ||
        boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK ||
        boxcar_enqueue(store, &next, NULL, &err) != BOXCAR_OK)
        atomic_fetch_add(&s->cancelled, 1);
    boxcar_store_close(other);
    return BOXCAR_VERDICT_ACK;
}

/* BX-002, BX-008 */
static void lost_lease_undoes_what_the_handler_wrote(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_enqueued sent = enqueue(f, "orders.paid", "x");
    scene_make(s);
    ASSERT_OK(
        f, boxcar_worker_handle(s->worker, BOXCAR_STR("orders.paid"), lose_lease_in_transaction, s, &f->err));
    run(s);
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->cancelled, 0);
    assert_dead(f, sent.work_id, BOXCAR_REASON_REJECTED);
    assert_nothing_claimable(f);
    scene_free(s);
}

/* Design section 7 */
static void discarding_acks_without_a_handler(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    enqueue_many(f, "orders", 300, NULL);
    scene_make(s);
    ASSERT_OK(f, boxcar_worker_handle_discard(s->worker, BOXCAR_STR("orders"), &f->err));
    run(s);
    assert_int_equal(stats_of(f).done, 300);
    scene_free(s);
}

/* BX-022, design section 7: a drain waits for retries, not for what is due tomorrow. */
static void drain_does_not_wait_for_the_far_future(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_new_message later = new_message("orders", "x");
    later.delay_ms = 86400000;
    boxcar_enqueued sent = enqueue_message(f, &later);
    enqueue(f, "orders", "y");
    drain(s, "orders");
    assert_int_equal(s->calls, 1);
    assert_status(f, sent.work_id, BOXCAR_READY);
    scene_free(s);
}

/* OBX-104, OBX-125, BX-010 */
static void payloads_are_in_no_log_and_no_error(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    boxcar_new_message message = new_message("orders", "canary-4711");
    message.max_attempts = 2;
    boxcar_enqueued sent = enqueue_message(f, &message);
    s->verdict = BOXCAR_VERDICT_RETRY;
    s->delay_ms = 0;
    s->error = "cannot parse 'canary-4711' at column 3";
    drain(s, "orders");
    assert_true(logged(s, "info handle"));
    assert_false(logged(s, "canary-4711"));
    boxcar_message_list *list = find(f, sent.work_id);
    assert_text(look(list)->last_error, "cannot parse '[payload]' at column 3");
    boxcar_message_list_free(list);
    scene_free(s);
}

/* BX-011 */
static void bad_options_are_refused_by_name(void **state) {
    struct fixture *f = *state;
    boxcar_store_options store = fixture_options(f);
    boxcar_worker_options good = BOXCAR_WORKER_OPTIONS_INIT, bad;
    boxcar_worker *worker = NULL;
    good.store = &store;
#define REFUSED(field, value)                                                                                \
    do {                                                                                                     \
        bad = good;                                                                                          \
        bad.field = (value);                                                                                 \
        ASSERT_INVALID(f, #field, boxcar_worker_new(&bad, &worker, &f->err));                                \
    } while (0)
    REFUSED(concurrency, 0);
    REFUSED(concurrency, BOXCAR_CONCURRENCY_MAX + 1);
    REFUSED(batch_size, 0);
    REFUSED(batch_size, BOXCAR_BATCH_SIZE_MAX + 1);
    REFUSED(lease_ms, BOXCAR_LEASE_MS_MIN - 1);
    REFUSED(lease_ms, BOXCAR_LEASE_MS_MAX + 1);
    REFUSED(poll_ms, 0);
    REFUSED(handler_timeout_ms, -1);
    REFUSED(grace_ms, -1);
    REFUSED(maintain_ms, -1);
    REFUSED(store, NULL);
#undef REFUSED
    ASSERT_OK(f, boxcar_worker_new(&good, &worker, &f->err));
    ASSERT_INVALID(f, "handler", boxcar_worker_run(worker, &f->err));
    ASSERT_INVALID(f, "topic", boxcar_worker_handle(worker, BOXCAR_STR(""), play, NULL, &f->err));
    ASSERT_INVALID(f, "topic", boxcar_worker_handle(worker, BOXCAR_STR("a\xff"), play, NULL, &f->err));
    ASSERT_INVALID(f, "handler", boxcar_worker_handle(worker, BOXCAR_STR("a"), NULL, NULL, &f->err));
    boxcar_worker_free(worker);
}

/* Everything below `concurrency` is left alone when one setting is out of range. */
static void settings_change_while_it_runs(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->options.drain = false;
    s->options.concurrency = 1;
    atomic_store(&s->hold, true);
    enqueue_many(f, "orders", 6, NULL);
    scene_make(s);
    handle(s, "orders");
    start(s);
    wait_for(&s->calls, 1);
    boxcar_worker_options changed = s->options;
    changed.concurrency = 6;
    changed.lease_ms = 1;
    ASSERT_INVALID(f, "lease_ms", boxcar_worker_reconfigure(s->worker, &changed, &f->err));
    changed.lease_ms = 60000;
    ASSERT_OK(f, boxcar_worker_reconfigure(s->worker, &changed, &f->err));
    wait_for(&s->running, 6);
    atomic_store(&s->hold, false);
    stop(s);
    assert_int_equal(stats_of(f).done, 6);
    scene_free(s);
}

/* Opening fails at once and says how; a worker is run once. */
static void run_says_what_is_wrong_with_the_store(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->worker = NULL;
    scene_make(s);
    handle(s, "orders");
    ASSERT_FAILS(f, BOXCAR_E_NOT_DEPLOYED, boxcar_worker_run(s->worker, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_worker_run(s->worker, &f->err));
    scene_free(s);
}

static const struct CMUnitTest TESTS[] = {
    TEST(every_ready_message_is_handled_once_and_done),
    TEST(longest_matching_pattern_gets_the_message),
    TEST(two_handlers_for_one_topic_are_refused),
    TEST(topics_of_others_are_not_touched),
    TEST(failed_attempt_is_retried_by_the_workers_policy),
    TEST(message_is_buried_when_its_attempts_are_used_up),
    TEST(rejected_message_is_dead_at_once),
    TEST(deferring_spends_no_attempt),
    TEST(no_more_handlers_run_than_the_concurrency),
    TEST(handler_longer_than_its_lease_keeps_it),
    TEST(handler_is_told_when_its_lease_is_lost),
    TEST(handler_is_cancelled_when_its_time_is_over),
    TEST(stopping_finishes_what_runs_and_gives_back_the_rest),
    TEST(second_stop_cancels_the_handlers),
    TEST(suspects_run_one_at_a_time),
    TEST(message_that_crashed_three_times_runs_alone),
    TEST(streams_stay_in_order),
    TEST(what_a_handler_writes_commits_with_the_ack),
    TEST(lost_lease_undoes_what_the_handler_wrote),
    TEST(discarding_acks_without_a_handler),
    TEST(drain_does_not_wait_for_the_far_future),
    TEST(payloads_are_in_no_log_and_no_error),
    TEST(bad_options_are_refused_by_name),
    TEST(settings_change_while_it_runs),
    BARE_TEST(run_says_what_is_wrong_with_the_store),
};

const struct suite WORKER_SUITE = SUITE("worker", TESTS, ON_EVERY_STORE);
