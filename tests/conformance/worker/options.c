/* What a worker is told: its options, its store; and what it tells, in its log. */
#include "scenes.h"

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
    REFUSED(batch_limit, 0);
    REFUSED(batch_limit, BOXCAR_BATCH_SIZE_MAX + 1);
    REFUSED(lease_ms, BOXCAR_LEASE_MS_MIN - 1);
    REFUSED(lease_ms, BOXCAR_LEASE_MS_MAX + 1);
    REFUSED(poll_ms, 0);
    REFUSED(handler_timeout_ms, -1);
    REFUSED(grace_ms, -1);
    REFUSED(maintain_ms, -1);
    REFUSED(store, NULL);
#undef REFUSED
    ASSERT_OK(f, boxcar_worker_new(&good, &worker, &f->err));
    ASSERT_INVALID(
        f, "topic",
        boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR(""), scene_play, NULL), &f->err));
    ASSERT_INVALID(
        f, "topic",
        boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("a\xff"), scene_play, NULL), &f->err));
    ASSERT_INVALID(
        f, "run", boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("a"), NULL, NULL), &f->err));
    ASSERT_INVALID(f, "handler", boxcar_worker_handle(worker, NULL, &f->err));
    ASSERT_INVALID(
        f, "box",
        boxcar_worker_handle(worker, HANDLER((boxcar_box)2, BOXCAR_STR("a"), scene_play, NULL), &f->err));
    boxcar_handler odd = BOXCAR_HANDLER_INIT;
    odd.topic = BOXCAR_STR("a");
    odd.kind = (boxcar_handler_kind)3;
    ASSERT_INVALID(f, "kind", boxcar_worker_handle(worker, &odd, &f->err));
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
    scene_handle(s, "orders");
    scene_start(s);
    scene_wait_for(&s->calls, 1);
    boxcar_worker_options changed = s->options;
    changed.concurrency = 6;
    changed.lease_ms = 1;
    ASSERT_INVALID(f, "lease_ms", boxcar_worker_reconfigure(s->worker, &changed, &f->err));
    changed.lease_ms = 60000;
    ASSERT_OK(f, boxcar_worker_reconfigure(s->worker, &changed, &f->err));
    scene_wait_for(&s->running, 6);
    atomic_store(&s->hold, false);
    scene_stop(s);
    assert_int_equal(stats_of(f).done, 6);
    scene_free(s);
}

/* Opening fails at once and says how; a worker is run once. */
static void run_says_what_is_wrong_with_the_store(void **state) {
    struct fixture *f = *state;
    struct scene *s = scene_new(f);
    s->worker = NULL;
    scene_make(s);
    scene_handle(s, "orders");
    ASSERT_FAILS(f, BOXCAR_E_NOT_DEPLOYED, boxcar_worker_run(s->worker, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_worker_run(s->worker, &f->err));
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
    scene_drain(s, "orders");
    assert_true(scene_logged(s, "info handle"));
    assert_false(scene_logged(s, "canary-4711"));
    boxcar_message_list *list = find(f, sent.work_id);
    assert_text(look(list)->last_error, "cannot parse '[payload]' at column 3");
    boxcar_list_free(list);
    scene_free(s);
}

static const struct CMUnitTest TESTS[] = {
    TEST(bad_options_are_refused_by_name),
    TEST(settings_change_while_it_runs),
    BARE_TEST(run_says_what_is_wrong_with_the_store),
    TEST(payloads_are_in_no_log_and_no_error),
};

const struct suite WORKER_OPTIONS_SUITE = SUITE(TESTS);
