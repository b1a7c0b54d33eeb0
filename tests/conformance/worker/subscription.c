/* A worker for a subscription, on a real store: it claims, renews, settles and drains for this reader alone.
 */
#include <string.h>

#include "boxcar/fanout.h"
#include "scenes.h"
#include "subscriptions.h"

#define AUDIT BOXCAR_STR("audit")

static struct scene *audit_scene(struct fixture *f) {
    struct scene *s = scene_new(f);
    s->options.subscription = AUDIT;
    return s;
}

/* BX-091, BX-003, BX-006: its retries and its streams are its own. */
static void worker_works_for_its_subscription_alone(void **state) {
    enum { COUNT = 20 };
    struct fixture *f = *state;
    boxcar_box audit = subscribe(f, "audit", "t");
    struct scene *s = audit_scene(f);
    boxcar_work_id ids[COUNT];
    for (int i = 0; i < COUNT; i++)
        ids[i] = i % 2 ? enqueue(f, "t", "p").work_id : enqueue_in_stream(f, "stream", "t");
    enqueue(f, "other", "p");
    s->verdict = BOXCAR_VERDICT_RETRY;
    s->good_from_attempt = 2;
    s->delay_ms = 0;
    scene_drain(s, "t");
    for (int i = 0; i < COUNT; i++)
        assert_status_as(f, audit, ids[i], BOXCAR_DONE);
    assert_true(s->calls >= 2 * COUNT);
    assert_int_equal(stats_as(f, audit).done, COUNT);
    assert_int_equal(stats_as(f, BOXCAR_OUTBOX).done, 0);
    assert_status(f, ids[1], BOXCAR_READY);
    scene_free(s);
}

static boxcar_verdict follow_up(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    boxcar_new_message message = new_message("u", "follow-up");
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    scene_enter(s, boxcar_delivery_message(delivery));
    if (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK ||
        boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &err) != BOXCAR_OK)
        return BOXCAR_VERDICT_FAIL;
    return BOXCAR_VERDICT_ACK;
}

/* BX-008, BX-091: the ack in the handler's transaction is the subscription's. */
static void transaction_of_a_handler_acks_for_the_subscription(void **state) {
    struct fixture *f = *state;
    boxcar_box audit = subscribe(f, "audit", "t");
    struct scene *s = audit_scene(f);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    scene_make(s);
    ASSERT_OK(
        f, boxcar_worker_handle(s->worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("t"), follow_up, s), &f->err));
    scene_run(s);
    assert_int_equal(s->calls, 1);
    assert_status_as(f, audit, id, BOXCAR_DONE);
    assert_status(f, id, BOXCAR_READY);
    assert_int_equal(stats_as(f, BOXCAR_OUTBOX).ready, 2); /* with the follow-up */
    scene_free(s);
}

static int64_t count_renewed(struct scene *s) {
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(s->worker, &stats);
    return stats.leases_renewed;
}

/* It is listed for its reader, with what it holds. */
static void assert_listed(struct fixture *f, boxcar_box reader, boxcar_owner owner) {
    boxcar_instance_list *list;
    bool found = false;
    ASSERT_OK(f, boxcar_instance_read(f->store, &list, &f->err));
    for (size_t i = 0; i < list->count; i++)
        if (boxcar_instance_is(list->items[i], owner)) {
            assert_int_equal(list->items[i]->box, reader);
            assert_int_equal(list->items[i]->leased, 1);
            found = true;
        }
    assert_true(found);
    boxcar_list_free(list);
}

/* BX-023, BX-061 */
static void leases_of_the_subscription_are_renewed(void **state) {
    struct fixture *f = *state;
    boxcar_box audit = subscribe(f, "audit", "t");
    struct scene *s = audit_scene(f);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    s->options.lease_ms = 1500;
    s->hold = true;
    scene_make(s);
    scene_handle(s, "t");
    scene_start(s);
    scene_wait_for(&s->calls, 1);
    for (int i = 0; count_renewed(s) < 2; i++) {
        assert_true(i < 4000);
        pause_ms(5);
    }
    assert_listed(f, audit, boxcar_worker_owner(s->worker));
    s->hold = false;
    scene_stop(s);
    assert_int_equal(s->calls, 1);
    assert_status_as(f, audit, id, BOXCAR_DONE);
    scene_free(s);
}

/* BX-096 */
static void removed_subscription_ends_its_worker_with_an_error(void **state) {
    struct fixture *f = *state;
    struct scene *s = audit_scene(f);
    subscribe(f, "audit", "t");
    enqueue(f, "t", "p");
    s->options.drain = false;
    s->hold = true; /* until it is told */
    scene_make(s);
    scene_handle(s, "t");
    scene_start(s);
    scene_wait_for(&s->calls, 1);
    ASSERT_OK(f, boxcar_subscription_remove(f->store, AUDIT, true, &f->err));
    pthread_join(s->thread, NULL);
    assert_int_equal(s->ended, BOXCAR_E_NOT_FOUND);
    assert_string_equal(s->err.argument, "subscription");
    assert_non_null(strstr(s->err.message, "removed"));
    assert_int_equal(s->cancelled, 1);
    assert_true(scene_logged(s, "was removed"));
    scene_free(s);
}

/* BX-096: what it cannot have does not keep it. */
static void worker_of_a_paused_subscription_drains_at_once(void **state) {
    struct fixture *f = *state;
    boxcar_box audit = subscribe(f, "audit", "t");
    struct scene *s = audit_scene(f);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    pause_subscription(f, "audit");
    scene_drain(s, "t");
    assert_int_equal(s->calls, 0);
    assert_status_as(f, audit, id, BOXCAR_READY);
    scene_free(s);
}

static void unknown_subscription_is_an_error_at_once(void **state) {
    struct fixture *f = *state;
    struct scene *s = audit_scene(f);
    scene_make(s);
    scene_handle(s, "t");
    assert_int_equal(boxcar_worker_run(s->worker, &s->err), BOXCAR_E_NOT_FOUND);
    assert_string_equal(s->err.argument, "subscription");
    scene_free(s);
}

/* BX-105: what is to be forwarded is not for handlers. */
static void subscription_of_a_policy_is_refused(void **state) {
    struct fixture *f = *state;
    struct scene *s = audit_scene(f);
    boxcar_new_fanout copies = BOXCAR_NEW_FANOUT_INIT;
    const boxcar_str t = BOXCAR_STR("t"), u = BOXCAR_STR("u");
    copies.name = BOXCAR_STR("copies");
    copies.patterns = &t;
    copies.pattern_count = 1;
    copies.destinations = &u;
    copies.destination_count = 1;
    ASSERT_OK(f, boxcar_fanout_add(f->store, &copies, &f->err));
    s->options.subscription = BOXCAR_STR("copies/u");
    scene_make(s);
    scene_handle(s, "t");
    assert_int_equal(boxcar_worker_run(s->worker, &s->err), BOXCAR_E_INVALID);
    assert_string_equal(s->err.argument, "subscription");
    assert_non_null(strstr(s->err.message, "policy"));
    scene_free(s);
}

static const struct CMUnitTest TESTS[] = {
    TEST(subscription_of_a_policy_is_refused),
    TEST(worker_works_for_its_subscription_alone),
    TEST(transaction_of_a_handler_acks_for_the_subscription),
    TEST(leases_of_the_subscription_are_renewed),
    TEST(removed_subscription_ends_its_worker_with_an_error),
    TEST(worker_of_a_paused_subscription_drains_at_once),
    TEST(unknown_subscription_is_an_error_at_once),
};
const struct suite WORKER_SUBSCRIPTION_SUITE = SUITE(TESTS);
