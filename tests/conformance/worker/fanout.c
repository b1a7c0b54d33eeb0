/* Workers that forward what policies say: within the store under test, and to SQLite files beside it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boxcar/fanout.h"
#include "boxcar/schedule.h"
#include "conformance.h"
#include "joins.h"
#include "subscriptions.h"

enum { STORES = 3, COUNT = 20 };

struct town {
    struct fixture *f;
    boxcar_store_options store;
    boxcar_worker_options options;
    boxcar_fleet_options fleet;
    boxcar_store_entry entries[STORES];
    char urls[STORES][512];
    boxcar_store *stores[STORES]; /* the first one is the store under test */
    boxcar_worker *worker;
    pthread_t thread;
    boxcar_status ended;
    boxcar_error err;
    pthread_mutex_t mutex;
    char logged[1 << 18];
    size_t logged_len;
};

static void take_line(void *context, const boxcar_log_record *record) {
    struct town *t = context;
    pthread_mutex_lock(&t->mutex);
    size_t room = sizeof(t->logged) - t->logged_len;
    int len = snprintf(t->logged + t->logged_len, room, "%s\n", record->text);
    t->logged_len = len > 0 && (size_t)len < room ? t->logged_len + (size_t)len : t->logged_len;
    pthread_mutex_unlock(&t->mutex);
}

static bool has_logged(struct town *t, const char *text) {
    pthread_mutex_lock(&t->mutex);
    bool found = strstr(t->logged, text) != NULL;
    pthread_mutex_unlock(&t->mutex);
    return found;
}

static struct town *town_new(struct fixture *f) {
    struct town *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    t->f = f;
    pthread_mutex_init(&t->mutex, NULL);
    t->store = fixture_options(f);
    t->store.deploy = false;
    t->store.log = take_line;
    t->store.log_context = t;
    t->options = BOXCAR_WORKER_OPTIONS_INIT;
    t->options.store = &t->store;
    t->options.poll_ms = 20;
    t->options.drain = true;
    t->fleet = BOXCAR_FLEET_OPTIONS_INIT;
    return t;
}

static void open_beside(struct town *t, int i) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    options.url = boxcar_str_of(t->urls[i]);
    options.deploy = true;
    ASSERT_OK(t->f, boxcar_store_open(&options, &t->stores[i], &t->f->err));
}

/* The store under test is called home, those beside it second and third. */
static struct town *town_with_neighbours(struct fixture *f) {
    static const char *const KEYS[STORES] = {"home", "second", "third"};
    struct town *t = town_new(f);
    t->options.fleet = &t->fleet;
    for (int i = 0; i < STORES; i++) {
        snprintf(t->urls[i], sizeof(t->urls[i]), i == 0 ? "%s" : "sqlite:%s/fanout-%d.db",
                 i == 0            ? f->url
                 : f->directory[0] ? f->directory
                                   : "/tmp",
                 i + 10 * (int)getpid());
        if (i > 0)
            open_beside(t, i);
        t->entries[i] = BOXCAR_STORE_ENTRY_INIT;
        t->entries[i].url = boxcar_str_of(t->urls[i]);
        t->entries[i].key = boxcar_str_of(KEYS[i]);
    }
    t->stores[0] = f->store;
    t->fleet.stores = t->entries;
    t->fleet.store_count = STORES;
    return t;
}

static void remove_file(struct town *t, int i) {
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end; end++) {
        char path[540];
        snprintf(path, sizeof(path), "%s%s", t->urls[i] + strlen("sqlite:"), *end);
        (void)unlink(path);
    }
}

static void town_free(struct town *t) {
    boxcar_worker_free(t->worker);
    for (int i = 1; i < STORES && t->options.fleet; i++) {
        boxcar_store_close(t->stores[i]);
        remove_file(t, i);
    }
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

/* ---- steps ---- */

static boxcar_verdict just_ack(void *context, boxcar_delivery *delivery) {
    (void)context;
    boxcar_str payload = boxcar_delivery_message(delivery)->payload;
    return payload.len == 4 && memcmp(payload.data, "fail", 4) == 0 ? BOXCAR_VERDICT_FAIL
                                                                    : BOXCAR_VERDICT_ACK;
}

/* For those who only want to see the copies, the topic is one that nobody sends. */
static void make(struct town *t, const char *handled) {
    ASSERT_OK(t->f, boxcar_worker_new(&t->options, &t->worker, &t->f->err));
    if (handled)
        ASSERT_OK(t->f, boxcar_worker_on(t->worker, boxcar_str_of(handled), just_ack, t, &t->f->err));
}

static void drain(struct town *t, const char *handled) {
    t->options.drain = true;
    boxcar_worker_free(t->worker);
    make(t, handled);
    ASSERT_OK(t->f, boxcar_worker_run(t->worker, &t->f->err));
}

static void *run(void *context) {
    struct town *t = context;
    t->err = BOXCAR_ERROR_INIT;
    t->ended = boxcar_worker_run(t->worker, &t->err);
    return NULL;
}

static void start(struct town *t, const char *handled) {
    t->options.drain = false;
    make(t, handled);
    assert_int_equal(pthread_create(&t->thread, NULL, run, t), 0);
}

static void stop(struct town *t) {
    boxcar_worker_stop(t->worker);
    pthread_join(t->thread, NULL);
    if (t->ended != BOXCAR_OK)
        fail_msg("the worker ended with: %s", t->err.message);
}

static void policy_to(struct fixture *f, const char *name, const char *pattern, const char *const *places,
                      size_t count, const char *then_topic, const char *else_topic) {
    boxcar_new_fanout policy = BOXCAR_NEW_FANOUT_INIT;
    boxcar_str patterns[] = {boxcar_str_of(pattern)}, destinations[32];
    for (size_t i = 0; i < count; i++)
        destinations[i] = boxcar_str_of(places[i]);
    policy.name = boxcar_str_of(name);
    policy.patterns = patterns;
    policy.pattern_count = 1;
    policy.destinations = destinations;
    policy.destination_count = count;
    if (then_topic)
        policy.then_topic = boxcar_str_of(then_topic);
    if (else_topic)
        policy.else_topic = boxcar_str_of(else_topic);
    ASSERT_OK(f, boxcar_fanout_add(f->store, &policy, &f->err));
}

static void policy(struct fixture *f, const char *name, const char *pattern, const char *place) {
    policy_to(f, name, pattern, &place, 1, NULL, NULL);
}

static boxcar_box route_of(struct fixture *f, const char *name) {
    boxcar_box reader;
    ASSERT_OK(f, boxcar_subscription_find(f->store, boxcar_str_of(name), &reader, &f->err));
    return reader;
}

/* The messages of a topic that are there, oldest first; the caller frees the list. */
static boxcar_message_list *messages_in(struct town *t, boxcar_store *store, boxcar_box box,
                                        const char *topic) {
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    boxcar_str topics[] = {boxcar_str_of(topic)};
    boxcar_message_list *list;
    claimer.owner.uuid = boxcar_uuid_new();
    claimer.box = box;
    claimer.batch_size = 1000;
    claimer.topics = topics;
    claimer.topic_count = 1;
    ASSERT_OK(t->f, boxcar_claim(store, &claimer, &list, &t->f->err));
    return list;
}

static size_t count_in(struct town *t, boxcar_store *store, boxcar_box box, const char *topic) {
    boxcar_message_list *list = messages_in(t, store, box, topic);
    size_t count = list->count;
    boxcar_list_free(list);
    return count;
}

static int64_t count_topic(struct town *t, boxcar_store *store, const char *topic) {
    boxcar_stats_list *list;
    int64_t count = 0;
    ASSERT_OK(t->f, boxcar_stats_read(store, BOXCAR_OUTBOX, true, &list, &t->f->err));
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->topic.len == strlen(topic) &&
            memcmp(list->items[i]->topic.data, topic, strlen(topic)) == 0)
            count = list->items[i]->ready + list->items[i]->done + list->items[i]->in_progress +
                    list->items[i]->failed;
    boxcar_list_free(list);
    return count;
}

static void await_topic(struct town *t, boxcar_store *store, const char *topic, int64_t wanted) {
    for (int i = 0; count_topic(t, store, topic) < wanted; i++) {
        if (i == 4000)
            fail_msg("too few of topic %s:\n%s", topic, t->logged);
        pause_ms(5);
    }
}

static void await_log(struct town *t, const char *text) {
    for (int i = 0; !has_logged(t, text); i++) {
        if (i == 4000)
            fail_msg("\"%s\" is not among the records:\n%s", text, t->logged);
        pause_ms(5);
    }
}

/* ---- within a store ---- */

/* BX-097, BX-098, BX-105 */
static void copy_has_what_its_source_has(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    char source_id[BOXCAR_UUID_TEXT_SIZE];
    policy(f, "copies", "orders.*", "audit.{topic}");
    boxcar_new_message message = new_message("orders.paid", "p1");
    message.correlation_id = BOXCAR_STR("c");
    message.stream = BOXCAR_STR("s");
    message.headers = BOXCAR_STR("{\"who\":\"me\"}");
    message.metadata = BOXCAR_STR("{\"n\":1}");
    boxcar_enqueued source = enqueue_message(f, &message);
    enqueue(f, "other", "p2");
    drain(t, "orders.paid"); /* the copy is behind it in its stream */
    boxcar_message_list *list = messages_in(t, f->store, BOXCAR_OUTBOX, "audit.orders.paid");
    assert_int_equal(list->count, 1);
    const boxcar_message *copy = list->items[0];
    boxcar_uuid_format(source.message_id.uuid, source_id);
    assert_text(copy->payload, "p1");
    assert_text(copy->correlation_id, "c");
    assert_text(copy->stream, "s");
    assert_text(copy->causation_id, source_id);
    assert_non_null(strstr(copy->headers.data, "\"boxcar-hops\""));
    assert_non_null(strstr(copy->headers.data, "\"who\""));
    assert_non_null(strstr(copy->metadata.data, "\"n\""));
    boxcar_list_free(list);
    assert_status_as(f, route_of(f, "copies/audit.{topic}"), source.work_id, BOXCAR_DONE);
    assert_status(f, source.work_id, BOXCAR_DONE); /* the main reader has it, too */
    assert_int_equal(count_topic(t, f->store, "audit.other"), 0);
    town_free(t);
}

/* BX-098 */
static void what_is_forwarded_again_is_stored_once(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    const boxcar_place place = BOXCAR_PLACE_INIT;
    int64_t count;
    policy(f, "copies", "t", "copy");
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    drain(t, NULL);
    assert_int_equal(count_topic(t, f->store, "copy"), COUNT);
    ASSERT_OK(f, boxcar_fanout_rewind(f->store, BOXCAR_STR("copies"), &place, &count, &f->err));
    drain(t, NULL);
    assert_int_equal(count_topic(t, f->store, "copy"), COUNT);
    assert_int_equal(stats_as(f, route_of(f, "copies/copy")).ready, 0);
    town_free(t);
}

/* BX-097, BX-098: in the order of the stream, and what is handled later is forwarded, too. */
static void streams_are_forwarded_in_order(void **state) {
    enum { MANY = 300 };
    struct fixture *f = *state;
    struct town *t = town_new(f);
    policy(f, "copies", "t", "copy");
    for (int i = 0; i < MANY; i++) {
        char payload[16], stream[16];
        snprintf(payload, sizeof(payload), "%d", i);
        snprintf(stream, sizeof(stream), "s%d", i % 3);
        boxcar_new_message message = new_message("t", payload);
        message.stream = boxcar_str_of(stream);
        enqueue_message(f, &message);
    }
    drain(t, "t");
    int last[3] = {-1, -1, -1}, seen = 0;
    for (;;) {
        boxcar_message_list *list = messages_in(t, f->store, BOXCAR_OUTBOX, "copy");
        size_t count = list->count;
        for (size_t i = 0; i < count; i++, seen++) {
            int number = atoi(list->items[i]->payload.data);
            assert_true(number > last[number % 3]);
            last[number % 3] = number;
        }
        boxcar_list_free(list);
        if (count == 0)
            break;
    }
    assert_true(seen > 0);
    assert_int_equal(count_topic(t, f->store, "copy"), MANY);
    town_free(t);
}

/* BX-092: a source that the main reader does not get is not in the way of its copy. */
static void copies_of_an_only_policy_are_first_in_their_stream(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    const boxcar_str patterns[] = {BOXCAR_STR("t")}, places[] = {BOXCAR_STR("copy")};
    boxcar_new_fanout only = BOXCAR_NEW_FANOUT_INIT;
    only.name = BOXCAR_STR("only");
    only.patterns = patterns;
    only.pattern_count = 1;
    only.destinations = places;
    only.destination_count = 1;
    only.only = true;
    ASSERT_OK(f, boxcar_fanout_add(f->store, &only, &f->err));
    for (int i = 0; i < COUNT; i++)
        enqueue_streamed(f, "s", "p");
    drain(t, NULL);
    assert_int_equal(count_in(t, f->store, BOXCAR_OUTBOX, "copy"), COUNT);
    town_free(t);
}

/* BX-097: it fails alone, with attempts of its own. */
static void bad_message_holds_up_no_other(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    char topic[256];
    set_setting(f, "max_attempts", "1");
    memset(topic, 'x', sizeof(topic));
    memcpy(topic, "t.", 2);
    topic[254] = '\0';
    policy(f, "copies", "t.*", "long.{topic}");
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t.good", "p");
    boxcar_work_id bad = enqueue(f, topic, "p").work_id;
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t.good", "p");
    drain(t, NULL);
    assert_int_equal(count_topic(t, f->store, "long.t.good"), 2 * COUNT);
    assert_status_as(f, route_of(f, "copies/long.{topic}"), bad, BOXCAR_FAILED);
    town_free(t);
}

static void enqueue_large(struct fixture *f, boxcar_work_id *ret_id) {
    enum { SIZE = 70000 };
    char *payload = malloc(SIZE + 1);
    assert_non_null(payload);
    memset(payload, 'x', SIZE);
    payload[SIZE] = '\0';
    boxcar_new_message message = new_message("t", payload);
    *ret_id = enqueue_message(f, &message).work_id;
    free(payload);
}

/* BX-097: the store refuses one copy of a batch: the others are stored all the same. */
static void copy_that_is_refused_holds_up_no_other(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    boxcar_work_id large;
    set_setting(f, "max_attempts", "1");
    policy(f, "copies", "t", "copy");
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    enqueue_large(f, &large);
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    set_setting(f, "payload_bytes_max", "65536");
    drain(t, NULL);
    assert_int_equal(count_topic(t, f->store, "copy"), 2 * COUNT);
    assert_status_as(f, route_of(f, "copies/copy"), large, BOXCAR_FAILED);
    town_free(t);
}

/* BX-097: so does another store. What a stream has behind it is not forwarded before it. */
static void copy_that_another_store_refuses_holds_up_no_other(void **state) {
    struct fixture *f = *state;
    struct town *t = town_with_neighbours(f);
    struct fixture beside = {.store = t->stores[1]};
    boxcar_work_id large;
    set_setting(f, "max_attempts", "1");
    set_setting(&beside, "payload_bytes_max", "65536");
    policy(f, "copies", "t", "store:second");
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    enqueue_large(f, &large);
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    drain(t, NULL);
    assert_int_equal(count_in(t, t->stores[1], BOXCAR_OUTBOX, "t"), 2 * COUNT);
    assert_status_as(f, route_of(f, "copies/store:second"), large, BOXCAR_FAILED);
    town_free(t);
}

static void refuse_bad_payloads(struct fixture *f) {
    fixture_sql(f,
                "create trigger refuse before insert on boxcar_message when new.payload = 'bad' "
                "and new.topic <> 't' begin select raise(abort, 'a bad one'); end",
                "create function refuse() returns trigger language plpgsql as "
                "$$begin raise exception 'a bad one'; end$$; "
                "create trigger refuse before insert on message for each row "
                "when (new.payload = 'bad' and new.topic <> 't') execute function refuse()");
}

/* BX-097: its own store refuses the first ones for a reason of which it says nothing. */
static void first_copies_that_are_refused_hold_up_no_other(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    const char *places[] = {"x", "y"};
    set_setting(f, "max_attempts", "1");
    policy(f, "copies", "t", "copy");
    policy_to(f, "both", "t", places, 2, "done", NULL);
    refuse_bad_payloads(f);
    for (int i = 0; i < 5; i++)
        enqueue(f, "t", "bad");
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    start(t, NULL);
    await_topic(t, f->store, "copy", COUNT);
    await_topic(t, f->store, "x", COUNT);
    stop(t);
    assert_int_equal(stats_as(f, route_of(f, "copies/copy")).failed, 5);
    assert_int_equal(stats_as(f, route_of(f, "both/all")).failed, 5);
    town_free(t);
}

/* BX-023: what is claimed and not stored goes back. */
static void stopped_worker_leaves_no_lease(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    policy(f, "copies", "t", "copy");
    for (int i = 0; i < 5; i++)
        enqueue_many(f, "t", 1000, NULL);
    start(t, NULL);
    await_topic(t, f->store, "copy", 1);
    stop(t);
    boxcar_stats stats = stats_as(f, route_of(f, "copies/copy"));
    assert_int_equal(stats.in_progress, 0);
    assert_int_equal(stats.ready, 5000 - count_topic(t, f->store, "copy"));
    town_free(t);
}

/* BX-098 */
static void what_was_copied_too_often_is_a_dead_letter(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    policy(f, "copies", "t", "copy");
    boxcar_new_message message = new_message("t", "p");
    message.headers = BOXCAR_STR("{\"boxcar-hops\":\"16\"}");
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    message.headers = BOXCAR_STR("{\"boxcar-hops\":\"15\"}");
    enqueue_message(f, &message);
    drain(t, NULL);
    assert_status_as(f, route_of(f, "copies/copy"), id, BOXCAR_FAILED);
    assert_int_equal(count_topic(t, f->store, "copy"), 1);
    town_free(t);
}

/* BX-105: policies of policies, and handlers of the copies; a drain ends when all are done. */
static void drain_goes_on_until_the_copies_are_handled(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    policy(f, "first", "a", "b");
    policy(f, "second", "b", "c");
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "a", "p");
    drain(t, "*");
    assert_int_equal(stats_of(f).done, 3 * COUNT);
    assert_int_equal(stats_of(f).ready, 0);
    town_free(t);
}

/* BX-105: also without handlers, whichever route is asked first. */
static void drain_goes_on_along_a_chain_of_policies(void **state) {
    enum { LENGTH = 8, ROUNDS = 10 };
    struct fixture *f = *state;
    struct town *t = town_new(f);
    for (int i = 0; i < LENGTH; i++) {
        char name[16], from[16], to[16];
        snprintf(name, sizeof(name), "chain-%d", LENGTH - i);
        snprintf(from, sizeof(from), "t%d", i);
        snprintf(to, sizeof(to), "t%d", i + 1);
        policy(f, name, from, to);
    }
    for (int i = 1; i <= ROUNDS; i++) {
        enqueue(f, "t0", "p");
        drain(t, NULL);
        assert_int_equal(count_topic(t, f->store, "t8"), i);
    }
    town_free(t);
}

/* BX-105 */
static void worker_without_fanout_leaves_it_to_others(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    t->options.fanout = false;
    policy(f, "copies", "t", "copy");
    enqueue(f, "t", "p");
    drain(t, "t");
    assert_int_equal(count_topic(t, f->store, "copy"), 0);
    assert_int_equal(stats_as(f, route_of(f, "copies/copy")).ready, 1);
    town_free(t);
}

/* BX-096: a paused one does not keep the worker, either. */
static void paused_policy_forwards_nothing(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    policy(f, "copies", "t", "copy");
    ASSERT_OK(f, boxcar_fanout_pause(f->store, BOXCAR_STR("copies"), &f->err));
    enqueue(f, "t", "p");
    drain(t, NULL);
    assert_int_equal(count_topic(t, f->store, "copy"), 0);
    assert_true(has_logged(t, "does not wait for this route: it is paused"));
    ASSERT_OK(f, boxcar_fanout_resume(f->store, BOXCAR_STR("copies"), &f->err));
    drain(t, NULL);
    assert_int_equal(count_topic(t, f->store, "copy"), 1);
    town_free(t);
}

/* BX-105: a policy that is made while the worker runs is served, and arrivals wake it. */
static void running_worker_serves_new_policies(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    t->options.poll_ms = 60000;
    start(t, "copy");
    policy(f, "copies", "t", "copy");
    enqueue(f, "t", "p");
    await_topic(t, f->store, "copy", 1);
    for (int i = 2; i < 10; i++) {
        enqueue(f, "t", "p");
        await_topic(t, f->store, "copy", i);
    }
    stop(t);
    town_free(t);
}

/* ---- scatter and gather ---- */

/* BX-099 */
static void scattered_copies_are_gathered_once(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    const char *places[] = {"x", "y", "z.{topic}"};
    policy_to(f, "all", "t", places, 3, "done", NULL);
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    drain(t, "*");
    assert_int_equal(count_topic(t, f->store, "x"), COUNT);
    assert_int_equal(count_topic(t, f->store, "y"), COUNT);
    assert_int_equal(count_topic(t, f->store, "z.t"), COUNT);
    assert_int_equal(count_topic(t, f->store, "done"), COUNT);
    town_free(t);
}

/* BX-099: a failed step leads to else_topic, or to nothing. */
static void failed_step_leads_to_the_other_topic(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    const char *places[] = {"x", "y"};
    policy_to(f, "both", "t", places, 2, "done", "undone");
    policy_to(f, "one", "u", places, 2, "done", NULL);
    enqueue(f, "t", "fail");
    enqueue(f, "t", "p");
    enqueue(f, "u", "fail");
    drain(t, "*");
    assert_int_equal(count_topic(t, f->store, "done"), 1);
    assert_int_equal(count_topic(t, f->store, "undone"), 1);
    town_free(t);
}

/* BX-098, BX-099 */
static void scattered_again_is_gathered_once(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    const char *places[] = {"x", "y"};
    const boxcar_place place = BOXCAR_PLACE_INIT;
    int64_t count;
    policy_to(f, "both", "t", places, 2, "done", NULL);
    for (int i = 0; i < 3; i++)
        enqueue(f, "t", "p");
    drain(t, "*");
    ASSERT_OK(f, boxcar_fanout_rewind(f->store, BOXCAR_STR("both"), &place, &count, &f->err));
    drain(t, "*");
    assert_int_equal(count_topic(t, f->store, "x"), 3);
    assert_int_equal(count_topic(t, f->store, "done"), 3);
    assert_int_equal(stats_as(f, route_of(f, "both/all")).ready, 0);
    town_free(t);
}

/* ---- other stores ---- */

/* BX-097: each kind of place. */
static void copies_go_to_boxes_and_topics_of_other_stores(void **state) {
    struct fixture *f = *state;
    struct town *t = town_with_neighbours(f);
    const char *places[] = {"store:second", "store:second/x.{topic}", "store:third/inbox",
                            "store:third/inbox/y"};
    policy_to(f, "copies", "t", places, 4, NULL, NULL);
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    drain(t, NULL);
    assert_int_equal(count_in(t, t->stores[1], BOXCAR_OUTBOX, "t"), COUNT);
    assert_int_equal(count_in(t, t->stores[1], BOXCAR_OUTBOX, "x.t"), COUNT);
    assert_int_equal(count_in(t, t->stores[2], BOXCAR_INBOX, "y"), COUNT);
    boxcar_message_list *list = messages_in(t, t->stores[2], BOXCAR_INBOX, "t");
    assert_int_equal(list->count, COUNT);
    assert_text(list->items[0]->source, "fanout:copies");
    boxcar_list_free(list);
    town_free(t);
}

/* BX-097: from a store beside it into the one under test. */
static void store_under_test_is_a_destination(void **state) {
    struct fixture *f = *state;
    struct town *t = town_with_neighbours(f);
    struct fixture beside = {.store = t->stores[1]};
    policy(&beside, "copies", "t", "store:home/inbox");
    for (int i = 0; i < COUNT; i++)
        enqueue(&beside, "t", "p");
    drain(t, NULL);
    assert_int_equal(count_in(t, f->store, BOXCAR_INBOX, "t"), COUNT);
    town_free(t);
}

static void enqueue_for(struct fixture *f, const char *tenant) {
    char headers[100];
    boxcar_new_message message = new_message("t", "p");
    snprintf(headers, sizeof(headers), "{\"tenant\":\"%s\"}", tenant);
    message.headers = boxcar_str_of(headers);
    enqueue_message(f, &message);
}

/* BX-097: a header says whose message it is. One that says nothing, or an unknown one, fails alone. */
static void copies_go_to_the_tenant_of_a_header(void **state) {
    struct fixture *f = *state;
    struct town *t = town_with_neighbours(f);
    set_setting(f, "max_attempts", "1");
    policy(f, "copies", "t", "tenant:tenant");
    for (int i = 0; i < COUNT; i++) {
        enqueue_for(f, "second");
        enqueue_for(f, "third");
    }
    enqueue_for(f, "nobody");
    enqueue(f, "t", "p");
    drain(t, NULL);
    assert_int_equal(count_in(t, t->stores[1], BOXCAR_OUTBOX, "t"), COUNT);
    assert_int_equal(count_in(t, t->stores[2], BOXCAR_OUTBOX, "t"), COUNT);
    assert_int_equal(stats_as(f, route_of(f, "copies/tenant:tenant")).failed, 2);
    town_free(t);
}

/* BX-097, BX-105: a worker that does not know the store leaves it to others. */
static void unknown_store_is_left_to_others(void **state) {
    struct fixture *f = *state;
    struct town *t = town_with_neighbours(f);
    policy(f, "copies", "t", "store:elsewhere");
    policy(f, "local", "t", "copy");
    enqueue(f, "t", "p");
    start(t, NULL);
    await_log(t, "no store of this worker");
    await_topic(t, f->store, "copy", 1);
    stop(t);
    drain(t, NULL);
    assert_int_equal(stats_as(f, route_of(f, "copies/store:elsewhere")).ready, 1);
    town_free(t);
}

/* BX-097, BX-105: a worker without a list of stores knows no tenant. */
static void tenants_are_left_to_workers_that_know_stores(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    set_setting(f, "max_attempts", "1");
    policy(f, "copies", "t", "tenant:tenant");
    enqueue_for(f, "second");
    drain(t, NULL);
    assert_int_equal(stats_as(f, route_of(f, "copies/tenant:tenant")).ready, 1);
    assert_true(has_logged(t, "no store of this worker"));
    town_free(t);
}

static void assert_no_attempt(struct fixture *f, const char *route, boxcar_work_id id) {
    boxcar_attempt_list *attempts;
    ASSERT_OK(f, boxcar_subscription_attempt_read(f->store, route_of(f, route), id, &attempts, &f->err));
    assert_int_equal(attempts->count, 0);
    boxcar_list_free(attempts);
}

/* BX-097, BX-102: no attempt is spent while it is away, and no other route waits. */
static void destination_that_is_away_gets_its_messages_later(void **state) {
    struct fixture *f = *state;
    struct town *t = town_with_neighbours(f);
    boxcar_store_close(t->stores[1]);
    t->stores[1] = NULL;
    remove_file(t, 1);
    const char *places[] = {"store:second", "store:third"};
    policy_to(f, "copies", "t", places, 2, NULL, NULL);
    boxcar_work_id first = enqueue(f, "t", "p").work_id;
    for (int i = 1; i < COUNT; i++)
        enqueue(f, "t", "p");
    start(t, NULL);
    await_log(t, "the destination cannot be used");
    await_topic(t, t->stores[2], "t", COUNT);
    open_beside(t, 1);
    await_topic(t, t->stores[1], "t", COUNT);
    stop(t);
    assert_true(has_logged(t, "takes messages again"));
    assert_no_attempt(f, "copies/store:second", first);
    town_free(t);
}

static void in_server(const char *verb, const char *database, const char *rest) {
    PGconn *conn = PQconnectdb(getenv("BOXCAR_TEST_POSTGRES"));
    char statement[200];
    snprintf(statement, sizeof(statement), "%s database %s %s", verb, database, rest);
    PGresult *result = PQexec(conn, statement);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", statement, PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
}

/* The second store becomes one in a database of its own. */
static void move_to_database(struct town *t, const char *database) {
    const char *url = getenv("BOXCAR_TEST_POSTGRES");
    boxcar_store_close(t->stores[1]);
    remove_file(t, 1);
    in_server("create", database, "template template0");
    snprintf(t->urls[1], sizeof(t->urls[1]), "%.*s/%s", (int)(strrchr(url, '/') - url), url, database);
    t->entries[1].url = boxcar_str_of(t->urls[1]);
    t->entries[1].schema = BOXCAR_STR("boxcar");
    open_beside(t, 1);
}

/* BX-097: a store to which there is a connection is lost, and cannot be opened any more. */
static void destination_that_is_lost_gets_its_messages_later(void **state) {
    struct fixture *f = *state;
    char database[40];
    boxcar_work_id ids[COUNT];
    if (f->kind != FIXTURE_POSTGRES)
        skip();
    struct town *t = town_with_neighbours(f);
    snprintf(database, sizeof(database), "fanout_%d", (int)getpid());
    move_to_database(t, database);
    set_setting(f, "max_attempts", "1");
    policy(f, "copies", "t", "store:second");
    enqueue(f, "t", "p");
    start(t, NULL);
    await_topic(t, t->stores[1], "t", 1);
    boxcar_store_close(t->stores[1]);
    in_server("drop", database, "with (force)");
    enqueue_many(f, "t", COUNT, ids);
    await_log(t, "the destination cannot be used");
    in_server("create", database, "template template0");
    open_beside(t, 1);
    await_topic(t, t->stores[1], "t", COUNT);
    stop(t);
    assert_no_attempt(f, "copies/store:second", ids[0]);
    boxcar_store_close(t->stores[1]);
    t->stores[1] = NULL;
    in_server("drop", database, "with (force)");
    town_free(t);
}

/* BX-097: when a store refuses whatever comes, the messages are not the cause. */
static void destination_that_refuses_everything_costs_no_attempt(void **state) {
    struct fixture *f = *state;
    struct town *t = town_with_neighbours(f);
    struct fixture beside = {.kind = FIXTURE_SQLITE};
    snprintf(beside.url, sizeof(beside.url), "%s", t->urls[1]);
    fixture_sql(&beside,
                "create trigger refuse before insert on boxcar_message begin "
                "select raise(abort, 'not now'); end",
                NULL);
    set_setting(f, "max_attempts", "1");
    policy(f, "copies", "t", "store:second");
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    start(t, NULL);
    await_log(t, "the destination cannot be used");
    fixture_sql(&beside, "drop trigger refuse", NULL);
    await_topic(t, t->stores[1], "t", COUNT);
    stop(t);
    assert_int_equal(stats_as(f, route_of(f, "copies/store:second")).failed, 0);
    town_free(t);
}

/* BX-098 */
static void streams_go_to_other_stores_in_order(void **state) {
    struct fixture *f = *state;
    struct town *t = town_with_neighbours(f);
    policy(f, "copies", "t", "store:second");
    for (int i = 0; i < 100; i++) {
        char payload[16];
        snprintf(payload, sizeof(payload), "%d", i);
        enqueue_streamed(f, "s", payload);
    }
    drain(t, NULL);
    boxcar_message_list *list = messages_in(t, t->stores[1], BOXCAR_OUTBOX, "t");
    assert_int_equal(list->count, 100);
    for (size_t i = 0; i < list->count; i++)
        assert_int_equal(atoi(list->items[i]->payload.data), i);
    boxcar_list_free(list);
    town_free(t);
}

static size_t count_idle(struct town *t) {
    boxcar_fleet_store_list *list;
    size_t count = 0;
    ASSERT_OK(t->f, boxcar_worker_fleet_read(t->worker, &list, &t->f->err));
    for (size_t i = 0; i < list->count; i++)
        count += list->items[i]->state == BOXCAR_FLEET_IDLE;
    boxcar_list_free(list);
    return count;
}

/* BX-102, BX-105: also a store that has no connection. */
static void policies_of_idle_stores_are_served(void **state) {
    struct fixture *f = *state;
    struct town *t = town_with_neighbours(f);
    t->fleet.idle_ms = 0;
    t->fleet.look_ms = 1000;
    policy(f, "copies", "t", "store:second");
    start(t, "nothing");
    for (int i = 1; i <= 3; i++) {
        for (int tries = 0; count_idle(t) < STORES; tries++) {
            assert_true(tries < 4000);
            pause_ms(5);
        }
        enqueue(f, "t", "p");
        await_topic(t, t->stores[1], "t", i);
    }
    stop(t);
    town_free(t);
}

/* ---- schedules ---- */

static boxcar_schedule schedule_of(struct fixture *f) {
    boxcar_schedule_list *list;
    ASSERT_OK(f, boxcar_schedule_read(f->store, BOXCAR_NO_STR, BOXCAR_NO_STR, &list, &f->err));
    assert_int_equal(list->count, 1);
    boxcar_schedule schedule = *list->items[0];
    boxcar_list_free(list);
    return schedule;
}

/* BX-106: a worker plans, and plans again what is done; slices of the same shard come one after the other. */
static void worker_plans_what_is_due(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    boxcar_new_schedule schedule = BOXCAR_NEW_SCHEDULE_INIT;
    schedule.topic = BOXCAR_STR("reindex");
    schedule.work_key = BOXCAR_STR("products");
    schedule.every_ms = 1000;
    schedule.shards = 4;
    ASSERT_OK(f, boxcar_schedule_add(f->store, &schedule, &f->err));
    start(t, "fanout:*");
    await_topic(t, f->store, "fanout:reindex:products", 3 * 4);
    stop(t);
    assert_true(schedule_of(f).open_slices <= 4);
    town_free(t);
}

/* BX-105, BX-106 */
static void worker_without_fanout_plans_nothing(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    boxcar_new_schedule schedule = BOXCAR_NEW_SCHEDULE_INIT;
    schedule.topic = BOXCAR_STR("reindex");
    schedule.work_key = BOXCAR_STR("products");
    schedule.every_ms = 1000;
    ASSERT_OK(f, boxcar_schedule_add(f->store, &schedule, &f->err));
    t->options.fanout = false;
    drain(t, "*");
    assert_int_equal(count_topic(t, f->store, "fanout:reindex:products"), 0);
    town_free(t);
}

/* ---- metrics ---- */

static void figures_of_routes_can_be_read(void **state) {
    struct fixture *f = *state;
    struct town *t = town_new(f);
    boxcar_forward_stats stats = BOXCAR_FORWARD_STATS_INIT;
    policy(f, "copies", "t", "copy");
    for (int i = 0; i < COUNT; i++)
        enqueue(f, "t", "p");
    drain(t, NULL);
    assert_true(boxcar_worker_forward_stats_read(t->worker, 0, &stats));
    assert_text(stats.route, "copies/copy");
    assert_int_equal(stats.forwarded, COUNT);
    assert_int_equal(stats.failures, 0);
    assert_false(stats.is_away);
    assert_false(boxcar_worker_forward_stats_read(t->worker, 1, &stats));
    town_free(t);
}

static const struct CMUnitTest TESTS[] = {
    TEST(copy_has_what_its_source_has),
    TEST(what_is_forwarded_again_is_stored_once),
    TEST(streams_are_forwarded_in_order),
    TEST(copies_of_an_only_policy_are_first_in_their_stream),
    TEST(bad_message_holds_up_no_other),
    TEST(copy_that_is_refused_holds_up_no_other),
    TEST(copy_that_another_store_refuses_holds_up_no_other),
    TEST(first_copies_that_are_refused_hold_up_no_other),
    TEST(stopped_worker_leaves_no_lease),
    TEST(what_was_copied_too_often_is_a_dead_letter),
    TEST(drain_goes_on_until_the_copies_are_handled),
    TEST(drain_goes_on_along_a_chain_of_policies),
    TEST(worker_without_fanout_leaves_it_to_others),
    TEST(paused_policy_forwards_nothing),
    TEST(running_worker_serves_new_policies),
    TEST(scattered_copies_are_gathered_once),
    TEST(failed_step_leads_to_the_other_topic),
    TEST(scattered_again_is_gathered_once),
    TEST(copies_go_to_boxes_and_topics_of_other_stores),
    TEST(store_under_test_is_a_destination),
    TEST(copies_go_to_the_tenant_of_a_header),
    TEST(unknown_store_is_left_to_others),
    TEST(tenants_are_left_to_workers_that_know_stores),
    TEST(destination_that_is_away_gets_its_messages_later),
    TEST(destination_that_is_lost_gets_its_messages_later),
    TEST(destination_that_refuses_everything_costs_no_attempt),
    TEST(streams_go_to_other_stores_in_order),
    TEST(policies_of_idle_stores_are_served),
    TEST(worker_plans_what_is_due),
    TEST(worker_without_fanout_plans_nothing),
    TEST(figures_of_routes_can_be_read),
};

const struct suite WORKER_FANOUT_SUITE = SUITE(TESTS);
