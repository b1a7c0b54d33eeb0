/* One worker for many stores: the store under test, and SQLite files beside it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance.h"

enum { STORES = 3, NOTES = 500 };

struct scene {
    struct fixture *f;
    boxcar_store_options store;
    boxcar_worker_options options;
    boxcar_fleet_options fleet;
    boxcar_store_entry entries[STORES];
    char urls[STORES][512];
    boxcar_store *stores[STORES];
    boxcar_worker *worker;
    pthread_t thread;
    pthread_mutex_t mutex;
    int notes[NOTES]; /* which store each handled message was from: its first byte */
    int note_count;
    _Atomic int listed; /* how many stores a discovery names */
    _Atomic bool fails; /* a discovery does */
    _Atomic bool holds; /* handlers wait */
    _Atomic int calls;
};

static boxcar_store *open_beside(struct scene *s, int i) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_store *store;
    snprintf(s->urls[i], sizeof(s->urls[i]), "sqlite:%s/fleet-%d.db",
             s->f->directory[0] ? s->f->directory : "/tmp", i + 10 * (int)getpid());
    options.url = boxcar_str_of(s->urls[i]);
    options.deploy = true;
    ASSERT_OK(s->f, boxcar_store_open(&options, &store, &s->f->err));
    return store;
}

static void scene_open(struct scene *s, struct fixture *f) {
    memset(s, 0, sizeof(*s));
    s->f = f;
    pthread_mutex_init(&s->mutex, NULL);
    s->store = fixture_options(f);
    s->store.deploy = false;
    s->options = BOXCAR_WORKER_OPTIONS_INIT;
    s->fleet = BOXCAR_FLEET_OPTIONS_INIT;
    s->options.store = &s->store;
    s->options.fleet = &s->fleet;
    s->options.poll_ms = 20;
    s->options.concurrency = 1;
    s->options.maintain_ms = 50;
    s->stores[0] = fixture_open(f);
    snprintf(s->urls[0], sizeof(s->urls[0]), "%s", f->url);
    for (int i = 0; i < STORES; i++) {
        if (i > 0)
            s->stores[i] = open_beside(s, i);
        s->entries[i] = BOXCAR_STORE_ENTRY_INIT;
        s->entries[i].url = boxcar_str_of(s->urls[i]);
    }
    s->entries[1].key = BOXCAR_STR("second");
    s->fleet.stores = s->entries;
    s->fleet.store_count = STORES;
}

static void scene_close(struct scene *s) {
    boxcar_worker_free(s->worker);
    for (int i = 0; i < STORES; i++)
        boxcar_store_close(s->stores[i]);
    for (int i = 1; i < STORES; i++)
        for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end; end++) {
            char path[540];
            snprintf(path, sizeof(path), "%s%s", s->urls[i] + strlen("sqlite:"), *end);
            (void)unlink(path);
        }
    pthread_mutex_destroy(&s->mutex);
}

static void put(struct scene *s, int store, const char *topic) {
    char payload[2] = {(char)('0' + store), '\0'};
    boxcar_new_message message = new_message(topic, payload);
    ASSERT_OK(s->f, boxcar_enqueue(s->stores[store], BOXCAR_OUTBOX, &message, NULL, &s->f->err));
}

static boxcar_verdict note(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    pthread_mutex_lock(&s->mutex);
    if (s->note_count < NOTES)
        s->notes[s->note_count++] = boxcar_delivery_message(delivery)->payload.data[0] - '0';
    pthread_mutex_unlock(&s->mutex);
    atomic_fetch_add(&s->calls, 1);
    while (atomic_load(&s->holds) && !boxcar_delivery_is_cancelled(delivery))
        usleep(1000);
    return BOXCAR_VERDICT_ACK;
}

static void make_worker(struct scene *s, boxcar_handler_fn run) {
    ASSERT_OK(s->f, boxcar_worker_new(&s->options, &s->worker, &s->f->err));
    ASSERT_OK(s->f, boxcar_worker_on(s->worker, BOXCAR_STR("t"), run, s, &s->f->err));
}

static void drain(struct scene *s) {
    s->options.drain = true;
    make_worker(s, note);
    ASSERT_OK(s->f, boxcar_worker_run(s->worker, &s->f->err));
}

static void *run_worker(void *context) {
    struct scene *s = context;
    return (void *)(intptr_t)boxcar_worker_run(s->worker, NULL);
}

static void start(struct scene *s, boxcar_handler_fn run) {
    make_worker(s, run);
    assert_int_equal(pthread_create(&s->thread, NULL, run_worker, s), 0);
}

static void stop(struct scene *s) {
    void *status;
    boxcar_worker_stop(s->worker);
    pthread_join(s->thread, &status);
    assert_int_equal((intptr_t)status, BOXCAR_OK);
}

static void wait_calls(struct scene *s, int wanted) {
    for (int i = 0; i < 20000 && atomic_load(&s->calls) < wanted; i++)
        usleep(1000);
    assert_true(atomic_load(&s->calls) >= wanted);
}

static int64_t done_in(struct scene *s, int store) {
    boxcar_stats_list *list;
    ASSERT_OK(s->f, boxcar_stats_read(s->stores[store], BOXCAR_OUTBOX, false, &list, &s->f->err));
    int64_t done = list->items[0]->done;
    boxcar_list_free(list);
    return done;
}

/* How many stores are in a state, or all. */
static size_t count_stores(struct scene *s, int state) {
    boxcar_fleet_store_list *list;
    size_t count = 0;
    ASSERT_OK(s->f, boxcar_worker_fleet_read(s->worker, &list, &s->f->err));
    for (size_t i = 0; i < list->count; i++)
        count += state < 0 || (int)list->items[i]->state == state;
    boxcar_list_free(list);
    return count;
}

/* By the first store, since the worker connected to it anew for the last time. */
static int64_t claimed_from_first(struct scene *s) {
    boxcar_fleet_store_list *list;
    ASSERT_OK(s->f, boxcar_worker_fleet_read(s->worker, &list, &s->f->err));
    assert_true(list->count > 0);
    int64_t claimed = list->items[0]->claimed;
    boxcar_list_free(list);
    return claimed;
}

static void wait_stores(struct scene *s, int state, size_t wanted) {
    for (int i = 0; i < 20000 && count_stores(s, state) != wanted; i++)
        usleep(1000);
    assert_int_equal(count_stores(s, state), wanted);
}

/* BX-100, OBX-066, OBX-067 */
static void messages_of_all_stores_are_handled_once(void **state) {
    struct fixture *f = *state;
    struct scene s;
    scene_open(&s, f);
    s.options.concurrency = 8;
    for (int i = 0; i < 150; i++)
        put(&s, i % STORES, "t");
    drain(&s);
    assert_int_equal(s.calls, 150);
    for (int i = 0; i < STORES; i++)
        assert_int_equal(done_in(&s, i), 50);
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(s.worker, &stats);
    assert_int_equal(stats.claimed, 150);
    assert_int_equal(stats.state, BOXCAR_WORKER_STOPPED);
    scene_close(&s);
}

/* A store that is slow to claim, on a busy machine, is passed over: then the order may show the next time. */
#define ORDER_TRIES 5

static bool shows_order(struct fixture *f, boxcar_selection selection,
                        bool (*is_in_order)(const struct scene *s)) {
    struct scene s;
    scene_open(&s, f);
    s.fleet.selection = selection;
    s.options.batch_size = s.options.batch_limit = 4;
    for (int i = 0; i < 60; i++)
        put(&s, i % STORES, "t");
    drain(&s);
    assert_int_equal(s.note_count, 60);
    bool shows = is_in_order(&s);
    scene_close(&s);
    return shows;
}

static void assert_shows_order(struct fixture *f, boxcar_selection selection,
                               bool (*is_in_order)(const struct scene *s)) {
    for (int i = 0; i < ORDER_TRIES; i++)
        if (shows_order(f, selection, is_in_order))
            return;
    fail_msg("the order did not show in %d drains", ORDER_TRIES);
}

static bool goes_round(const struct scene *s) {
    for (int i = 1, run = 1; i < 40; i++) {
        run = s->notes[i] == s->notes[i - 1] ? run + 1 : 1;
        if (run > 4 || (run == 1 && s->notes[i] != (s->notes[i - 1] + 1) % STORES))
            return false;
    }
    return true;
}

/* OBX-068: the handled messages go through the stores in order, a batch of each. */
static void round_robin_shows_in_the_order_of_handled_messages(void **state) {
    assert_shows_order(*state, BOXCAR_SELECT_ROUND_ROBIN, goes_round);
}

static bool drains_one_after_the_other(const struct scene *s) {
    for (int i = 0; i < 60; i++)
        if (s->notes[i] != i / 20)
            return false;
    return true;
}

/* OBX-069 */
static void drain_first_shows_in_the_order_of_handled_messages(void **state) {
    assert_shows_order(*state, BOXCAR_SELECT_DRAIN_FIRST, drains_one_after_the_other);
}

static size_t prefer_last(void *context, const boxcar_candidate *const *candidates, size_t count) {
    struct scene *s = context;
    (void)s;
    assert_true(candidates[count - 1]->struct_size >= sizeof(boxcar_candidate));
    assert_non_null(candidates[count - 1]->store_id);
    return count - 1;
}

static void a_callback_selects_instead(void **state) {
    struct fixture *f = *state;
    struct scene s;
    scene_open(&s, f);
    s.fleet.select = prefer_last;
    s.fleet.select_context = &s;
    s.fleet.connections = 1; /* also when a place is waited for, all are served */
    for (int i = 0; i < 30; i++)
        put(&s, i % STORES, "t");
    drain(&s);
    assert_int_equal(s.calls, 30);
    scene_close(&s);
}

/* A handler's transaction is in the store of its message, whichever thread runs it. */
static boxcar_verdict pass_on(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    const boxcar_message *message = boxcar_delivery_message(delivery);
    char payload[2] = {message->payload.data[0], '\0'};
    boxcar_new_message next = new_message("next", payload);
    boxcar_store *store;
    atomic_fetch_add(&s->calls, 1);
    if (boxcar_delivery_begin(delivery, &store, NULL) != BOXCAR_OK ||
        boxcar_enqueue(store, BOXCAR_OUTBOX, &next, NULL, NULL) != BOXCAR_OK)
        return BOXCAR_VERDICT_RETRY;
    return BOXCAR_VERDICT_ACK;
}

static void a_handlers_transaction_is_in_the_store_of_its_message(void **state) {
    struct fixture *f = *state;
    struct scene s;
    scene_open(&s, f);
    s.options.concurrency = 3;
    for (int i = 0; i < 30; i++)
        put(&s, i % STORES, "t");
    s.options.drain = true;
    make_worker(&s, pass_on);
    ASSERT_OK(f, boxcar_worker_run(s.worker, &f->err));
    for (int i = 0; i < STORES; i++) {
        boxcar_message_filter filter = BOXCAR_MESSAGE_FILTER_INIT;
        boxcar_message_list *list;
        filter.topic = BOXCAR_STR("next");
        ASSERT_OK(f, boxcar_message_page(s.stores[i], &filter, &list, &f->err));
        assert_int_equal(list->count, 10);
        boxcar_list_free(list);
        assert_int_equal(done_in(&s, i), 10);
    }
    scene_close(&s);
}

static boxcar_status discover(void *context, boxcar_discovered *list, boxcar_error *err) {
    struct scene *s = context;
    int count = atomic_load(&s->listed);
    if (atomic_load(&s->fails))
        return BOXCAR_E_UNAVAILABLE;
    for (int i = 0; i < count; i++)
        if (boxcar_discovered_add(list, &s->entries[i], err) != BOXCAR_OK)
            return BOXCAR_E_INVALID;
    return BOXCAR_OK;
}

/* BX-101, OBX-075, OBX-077, OBX-078; OBX-079: a store that every list has is the same one all the time. */
static void stores_come_and_go_while_the_worker_runs(void **state) {
    struct fixture *f = *state;
    struct scene s;
    scene_open(&s, f);
    s.fleet.store_count = 0;
    s.fleet.discovery = BOXCAR_DISCOVERY_FUNCTION;
    s.fleet.discover = discover;
    s.fleet.discover_context = &s;
    s.fleet.refresh_ms = 100;
    s.fleet.idle_ms = 50;
    atomic_store(&s.listed, 1);
    put(&s, 0, "t");
    put(&s, 2, "t");
    start(&s, note);
    wait_calls(&s, 1);
    assert_int_equal(done_in(&s, 2), 0);
    atomic_store(&s.listed, 3);
    wait_calls(&s, 2);
    wait_stores(&s, BOXCAR_FLEET_IDLE, 3);
    atomic_store(&s.fails, true); /* the last good list stays */
    put(&s, 1, "t");
    wait_calls(&s, 3);
    /* A removed store finishes what it holds. */
    atomic_store(&s.holds, true);
    put(&s, 2, "t");
    wait_calls(&s, 4);
    atomic_store(&s.listed, 1);
    atomic_store(&s.fails, false);
    wait_stores(&s, BOXCAR_FLEET_LEAVING, 1);
    atomic_store(&s.holds, false);
    wait_stores(&s, -1, 1);
    assert_int_equal(done_in(&s, 2), 2);
    assert_int_equal(claimed_from_first(&s), 1);
    stop(&s);
    scene_close(&s);
}

/* BX-102: what cannot be used delays no other, and is there as soon as it can be. */
static void a_store_that_is_down_delays_no_other(void **state) {
    struct fixture *f = *state;
    struct scene s;
    char away[540];
    scene_open(&s, f);
    snprintf(away, sizeof(away), "%s.later", s.urls[1]);
    s.entries[1].url = boxcar_str_of(away);
    put(&s, 0, "t");
    put(&s, 2, "t");
    start(&s, note);
    wait_calls(&s, 2);
    wait_stores(&s, BOXCAR_FLEET_DOWN, 1);
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_store *later;
    boxcar_new_message message = new_message("t", "1");
    options.url = boxcar_str_of(away);
    options.deploy = true;
    ASSERT_OK(f, boxcar_store_open(&options, &later, &f->err));
    ASSERT_OK(f, boxcar_enqueue(later, BOXCAR_OUTBOX, &message, NULL, &f->err));
    wait_calls(&s, 3);
    stop(&s);
    boxcar_store_close(later);
    unlink(away + strlen("sqlite:"));
    scene_close(&s);
}

/* A drain that must leave a store out says so. */
static void a_drain_gives_up_a_store_that_stays_down(void **state) {
    struct fixture *f = *state;
    struct scene s;
    boxcar_error err = BOXCAR_ERROR_INIT;
    scene_open(&s, f);
    s.entries[2].url = BOXCAR_STR("sqlite:/nowhere/at-all.db");
    put(&s, 0, "t");
    s.options.drain = true;
    make_worker(&s, note);
    assert_int_equal(boxcar_worker_run(s.worker, &err), BOXCAR_E_UNAVAILABLE);
    assert_non_null(strstr(err.message, "1 of 3 stores"));
    assert_int_equal(s.calls, 1);
    scene_close(&s);
}

/* BX-102: idle stores need no connection, and messages that come later are found. */
static void an_idle_store_has_no_connection_and_is_woken_by_a_message(void **state) {
    struct fixture *f = *state;
    struct scene s;
    scene_open(&s, f);
    s.fleet.idle_ms = 20;
    start(&s, note);
    for (int round = 1; round <= 3; round++) {
        wait_stores(&s, BOXCAR_FLEET_IDLE, STORES);
        for (int i = 0; i < STORES; i++)
            put(&s, i, "t");
        wait_calls(&s, round * STORES);
    }
    stop(&s);
    scene_close(&s);
}

/* A message that is due later is handled although its store is idle meanwhile. */
static void what_is_due_later_is_not_forgotten(void **state) {
    struct fixture *f = *state;
    struct scene s;
    scene_open(&s, f);
    s.fleet.idle_ms = 0;
    for (int i = 0; i < STORES; i++) {
        boxcar_new_message message = new_message("t", "0");
        message.delay_ms = 700;
        ASSERT_OK(f, boxcar_enqueue(s.stores[i], BOXCAR_OUTBOX, &message, NULL, &f->err));
    }
    start(&s, note);
    wait_calls(&s, STORES);
    stop(&s);
    scene_close(&s);
}

static void options_can_change_and_a_stop_gives_back_what_is_held(void **state) {
    struct fixture *f = *state;
    struct scene s;
    scene_open(&s, f);
    atomic_store(&s.holds, true);
    s.options.grace_ms = 200;
    for (int i = 0; i < 12; i++)
        put(&s, i % STORES, "t");
    start(&s, note);
    wait_calls(&s, 1);
    s.options.concurrency = 6;
    ASSERT_OK(f, boxcar_worker_reconfigure(s.worker, &s.options, &f->err));
    wait_calls(&s, 6);
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(s.worker, &stats);
    assert_int_equal(stats.concurrency, 6);
    stop(&s);
    assert_int_equal(count_stores(&s, BOXCAR_FLEET_ACTIVE), 0);
    scene_close(&s);
}

static void bad_lists_are_refused_at_the_start(void **state) {
    struct fixture *f = *state;
    struct scene s;
    boxcar_error err = BOXCAR_ERROR_INIT;
    scene_open(&s, f);
    s.entries[2] = s.entries[1];
    make_worker(&s, note);
    assert_int_equal(boxcar_worker_run(s.worker, &err), BOXCAR_E_CONFLICT);
    assert_non_null(strstr(err.message, "twice"));
    boxcar_worker_free(s.worker);
    s.fleet.store_count = 0;
    assert_int_equal(boxcar_worker_new(&s.options, &s.worker, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "fleet.stores");
    s.worker = NULL;
    scene_close(&s);
}

static const struct CMUnitTest TESTS[] = {
    TEST(messages_of_all_stores_are_handled_once),
    TEST(round_robin_shows_in_the_order_of_handled_messages),
    TEST(drain_first_shows_in_the_order_of_handled_messages),
    TEST(a_callback_selects_instead),
    TEST(a_handlers_transaction_is_in_the_store_of_its_message),
    TEST(stores_come_and_go_while_the_worker_runs),
    TEST(a_store_that_is_down_delays_no_other),
    TEST(a_drain_gives_up_a_store_that_stays_down),
    TEST(an_idle_store_has_no_connection_and_is_woken_by_a_message),
    TEST(what_is_due_later_is_not_forgotten),
    TEST(options_can_change_and_a_stop_gives_back_what_is_held),
    TEST(bad_lists_are_refused_at_the_start),
};

const struct suite WORKER_FLEET_SUITE = SUITE(TESTS);
