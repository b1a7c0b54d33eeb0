/* Several messages of one stream in one claim: one after the other, and not past the first that is not
 * done. BX-006, BX-062 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "scene.h"

static void add_stream(struct scene *s, const char *stream, int count) {
    for (int i = 0; i < count; i++)
        scene_add(s, BOXCAR_OUTBOX, stream);
}

static int64_t id_of(const boxcar_delivery *delivery) {
    return boxcar_delivery_message(delivery)->work_id.value;
}

static void assert_begun(struct scene *s, const int64_t *expected, size_t count) {
    assert_int_equal(s->begun_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(s->begun[i], expected[i]);
}

/* Given back, without having run. */
static void assert_untouched(struct scene *s, int64_t from, int64_t to) {
    for (int64_t id = from; id <= to; id++) {
        assert_false(scene_has_begun(s, id));
        assert_int_equal(s->memory.messages[id - 1].settled, 1);
        assert_int_equal(s->memory.messages[id - 1].kind, BOXCAR_DEFER);
        assert_int_equal(s->memory.messages[id - 1].delay_ms, 0);
    }
}

static void one_stream_is_handled_in_order(void **state) {
    static const int64_t ORDER[] = {1, 2, 3, 4, 5, 6, 7, 8};

    (void)state;
    for (int backwards = 0; backwards < 2; backwards++) {
        struct scene *s = scene_new(NULL, true, false);

        s->memory.backwards = backwards;
        add_stream(s, "a", 8);
        scene_run(s);
        assert_begun(s, ORDER, 8);
        assert_int_equal(s->most_running, 1);
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(s->memory.messages[i].kind, BOXCAR_ACK);
        scene_free(s);
    }
}

/* The first of each stream waits until that of the other has begun. */
static void meet(struct scene *s, boxcar_delivery *delivery) {
    if (id_of(delivery) == 1)
        scene_wait_begun(s, 5);
    if (id_of(delivery) == 5)
        scene_wait_begun(s, 1);
}

static void streams_run_beside_each_other(void **state) {
    struct scene *s = scene_new(NULL, true, false);
    int64_t last[2] = {0};

    (void)state;
    s->during = meet;
    add_stream(s, "a", 4);
    add_stream(s, "b", 4);
    scene_run(s);
    assert_int_equal(s->begun_count, 8);
    assert_int_equal(s->most_running, 1);
    for (size_t i = 0; i < 8; i++) {
        int64_t *before = &last[s->begun[i] > 4];

        assert_true(s->begun[i] > *before);
        *before = s->begun[i];
    }
    scene_free(s);
}

/* The same name in the other box is another stream. */
static void streams_of_the_two_boxes_are_not_the_same(void **state) {
    struct scene *s = scene_new(NULL, true, true);

    (void)state;
    s->verdicts[1] = BOXCAR_VERDICT_RETRY;
    for (int i = 0; i < 6; i++)
        scene_add(s, i % 2 ? BOXCAR_INBOX : BOXCAR_OUTBOX, "a");
    scene_run(s);
    for (int64_t id = 1; id <= 6; id++)
        assert_int_equal(scene_has_begun(s, id), id == 1 || id % 2 == 0);
    scene_free(s);
}

/* Whatever the verdict: the policy of the store decides what then. In the batch that carries the verdict. */
static void first_that_is_not_acked_stops_its_stream(void **state) {
    static const struct {
        boxcar_verdict verdict;
        boxcar_settle_kind kind;
    } CASES[] = {{BOXCAR_VERDICT_RETRY, BOXCAR_ABANDON},
                 {BOXCAR_VERDICT_FAIL, BOXCAR_FAIL},
                 {BOXCAR_VERDICT_DEFER, BOXCAR_DEFER}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct scene *s = scene_new(NULL, true, false);

        s->verdicts[3] = CASES[i].verdict;
        add_stream(s, "a", 6);
        add_stream(s, "b", 3);
        scene_run(s);
        assert_int_equal(s->begun_count, 6);
        assert_int_equal(s->memory.messages[1].kind, BOXCAR_ACK);
        assert_int_equal(s->memory.messages[2].kind, CASES[i].kind);
        assert_untouched(s, 4, 6);
        for (size_t k = 3; k < 6; k++)
            assert_int_equal(s->memory.messages[k].settled_in, s->memory.messages[2].settled_in);
        for (size_t k = 6; k < 9; k++)
            assert_int_equal(s->memory.messages[k].kind, BOXCAR_ACK);
        scene_free(s);
    }
}

static void wait_for_the_end_of_time(struct scene *s, boxcar_delivery *delivery) {
    (void)s;
    while (id_of(delivery) == 2 && !boxcar_delivery_is_cancelled(delivery))
        sched_yield();
}

static void handler_whose_time_is_over_stops_its_stream(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    options.handler_timeout_ms = 30;
    s = scene_new(&options, true, false);
    s->during = wait_for_the_end_of_time;
    s->verdicts[2] = BOXCAR_VERDICT_RETRY;
    add_stream(s, "a", 4);
    scene_run(s);
    assert_int_equal(s->memory.messages[1].kind, BOXCAR_ABANDON);
    assert_untouched(s, 3, 4);
    scene_free(s);
}

/* A stop lets the running one finish; what is behind it goes back. */
static void stop_gives_back_what_is_behind(void **state) {
    struct scene *s = scene_new(NULL, true, false);

    (void)state;
    s->during = wait_for_the_end_of_time;
    s->worker->tuning.grace_ms = 200;
    add_stream(s, "a", 5);
    scene_start(s);
    scene_wait_begun(s, 2);
    scene_stop(s);
    assert_int_equal(s->begun_count, 2);
    assert_int_equal(s->memory.messages[1].kind, BOXCAR_ACK);
    assert_untouched(s, 3, 5);
    scene_free(s);
}

/* BX-023 */
static void lost_lease_of_the_running_one_stops_its_stream(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    options.lease_ms = 200;
    s = scene_new(&options, true, false);
    s->during = wait_for_the_end_of_time;
    add_stream(s, "a", 5);
    s->memory.steal = 2;
    s->memory.thief_settles = true;
    scene_start(s);
    scene_wait_settled(s, 5);
    scene_stop(s);
    assert_untouched(s, 3, 5);
    assert_int_equal(s->memory.messages[1].settled_in, 0); /* never, by the worker */
    scene_free(s);
}

static void hold_second(struct scene *s, boxcar_delivery *delivery) {
    if (id_of(delivery) == 2)
        scene_wait_settled(s, 5);
}

/* One that waits loses its lease: those before it go on, those behind it go back. */
static void lost_lease_of_one_that_waits_stops_what_is_behind_it(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    options.lease_ms = 200;
    s = scene_new(&options, true, false);
    s->during = hold_second;
    add_stream(s, "a", 5);
    s->memory.steal = 3;
    s->memory.thief_settles = true;
    scene_start(s);
    scene_wait_settled(s, 2);
    scene_stop(s);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_ACK);
    assert_int_equal(s->memory.messages[1].kind, BOXCAR_ACK);
    assert_untouched(s, 4, 5);
    scene_free(s);
}

static void hold_second_until_fourth_is_settled(struct scene *s, boxcar_delivery *delivery) {
    if (id_of(delivery) == 2)
        scene_wait_settled(s, 4);
}

/* The next one may begin while the ack is on its way; if that comes too late, no further one does. */
static void ack_that_came_too_late_stops_its_stream(void **state) {
    struct scene *s = scene_new(NULL, true, false);

    (void)state;
    s->during = hold_second_until_fourth_is_settled;
    s->memory.lose = 1;
    add_stream(s, "a", 4);
    scene_run(s);
    assert_int_equal(s->memory.messages[1].kind, BOXCAR_ACK);
    assert_untouched(s, 3, 4);
    scene_free(s);
}

/* Its verdict is kept through an outage, and so is what goes back with it. */
static void outage_keeps_them_together(void **state) {
    struct scene *s = scene_new(NULL, true, false);

    (void)state;
    s->verdicts[2] = BOXCAR_VERDICT_RETRY;
    s->memory.fail_next = 3;
    s->memory.failure = BOXCAR_E_UNAVAILABLE;
    add_stream(s, "a", 4);
    scene_run(s);
    assert_int_equal(s->memory.messages[1].kind, BOXCAR_ABANDON);
    assert_untouched(s, 3, 4);
    assert_int_equal(s->memory.messages[2].settled_in, s->memory.messages[1].settled_in);
    scene_free(s);
}

/* BX-003: what is behind a suspect waits for another claim; so does a suspect that is behind others. */
static void nothing_runs_behind_a_suspect(void **state) {
    (void)state;
    for (int at = 0; at < 2; at++) {
        struct scene *s = scene_new(NULL, true, false);

        add_stream(s, "a", 4);
        s->memory.messages[at].crash_count = 1;
        scene_run(s);
        if (at == 0) /* the store hands it out alone */
            assert_int_equal(s->begun_count, 4);
        else
            assert_true(scene_has_begun(s, 1));
        scene_free(s);
    }
}

/* A topic of the stream that is dropped on purpose, or has no handler. */
static void discarded_ones_keep_the_order(void **state) {
    struct scene *s = scene_new(NULL, true, false);

    (void)state;
    assert_int_equal(
        boxcar_worker_handle(s->worker, HANDLER_DISCARD(BOXCAR_OUTBOX, BOXCAR_STR("drop")), NULL), BOXCAR_OK);
    add_stream(s, "a", 5);
    s->memory.messages[0].topic = BOXCAR_STR("drop");
    s->memory.messages[1].topic = BOXCAR_STR("drop");
    s->memory.messages[3].topic = BOXCAR_STR("drop");
    scene_run(s);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(s->memory.messages[i].kind, BOXCAR_ACK);
    assert_untouched(s, 4, 5); /* the fourth comes first next time */
    scene_free(s);
}

static void unhandled_one_stops_its_stream(void **state) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    options.fail_unhandled = true;
    s = scene_new(&options, true, false);
    s->memory.ignore_topics = true;
    add_stream(s, "a", 3);
    s->memory.messages[0].topic = BOXCAR_STR("other");
    scene_run(s);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_FAIL);
    assert_untouched(s, 2, 3);
    scene_free(s);
}

/* ---- handler transactions: a real file, with the leases that the store in memory hands out ---- */

struct file {
    char path[64], url[80];
    boxcar_store *store;
    boxcar_owner owner;
};

static struct file FILE_OF_MESSAGES;

static void file_open(struct file *file) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    int fd;

    snprintf(file->path, sizeof(file->path), "/tmp/boxcar-streams-XXXXXX");
    fd = mkstemp(file->path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(file->url, sizeof(file->url), "sqlite:%s", file->path);
    options.url = boxcar_str_of(file->url);
    options.deploy = true;
    file->owner.uuid = boxcar_uuid_new();
    if (boxcar_store_open(&options, &file->store, &err) != BOXCAR_OK)
        fail_msg("%s", err.message);
}

static void file_close(struct file *file) {
    char name[80];

    boxcar_store_close(file->store);
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end; end++) {
        snprintf(name, sizeof(name), "%s%s", file->path, *end);
        (void)unlink(name);
    }
}

/* Messages in the file, leased to the worker, and the same ones in memory. */
static void add_leased(struct scene *s, struct file *file, int count) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;

    add_stream(s, "a", count);
    for (int i = 0; i < count; i++) {
        boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

        message.topic = BOXCAR_STR("t");
        message.payload = BOXCAR_STR("x");
        assert_int_equal(boxcar_enqueue(file->store, BOXCAR_OUTBOX, &message, NULL, NULL), BOXCAR_OK);
    }
    options.owner = file->owner;
    assert_int_equal(boxcar_claim(file->store, &options, &list, NULL), BOXCAR_OK);
    assert_int_equal(list->count, count);
    for (int i = 0; i < count; i++) {
        const boxcar_message *message = list->items[(size_t)i];

        s->memory.messages[message->work_id.value - 1].epoch = message->epoch.value;
    }
    boxcar_list_free(list);
}

static boxcar_message_status status_in_file(int64_t work_id) {
    boxcar_message_ref ref = {.work_id = {work_id}};
    boxcar_message_list *list = NULL;
    boxcar_message_status status;

    assert_int_equal(boxcar_message_find(FILE_OF_MESSAGES.store, BOXCAR_OUTBOX, ref, &list, NULL), BOXCAR_OK);
    status = list->items[0]->status;
    boxcar_list_free(list);
    return status;
}

/* Only one of these runs at a time, so they may share the store of the test. */
static void in_transaction(struct scene *s, boxcar_delivery *delivery) {
    boxcar_store *store = NULL;
    int64_t id = id_of(delivery);

    (void)s;
    for (int64_t before = 1; before < id; before++)
        assert_int_equal(status_in_file(before), BOXCAR_DONE);
    assert_int_equal(boxcar_delivery_begin(delivery, &store, NULL), BOXCAR_OK);
}

static struct scene *transactional_scene(boxcar_store_options *store) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    struct scene *s;

    file_open(&FILE_OF_MESSAGES);
    store->url = boxcar_str_of(FILE_OF_MESSAGES.url);
    options.store = store;
    options.owner = FILE_OF_MESSAGES.owner;
    s = scene_new(&options, true, false);
    s->during = in_transaction;
    return s;
}

static void handler_transaction_is_committed_before_the_next_begins(void **state) {
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    struct scene *s = transactional_scene(&store);

    (void)state;
    add_leased(s, &FILE_OF_MESSAGES, 4);
    scene_start(s);
    scene_wait_begun(s, 4);
    for (boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT; stats.acked < 4;)
        assert_true(boxcar_worker_handler_stats_read(s->worker, 0, &stats));
    scene_stop(s);
    for (int64_t id = 1; id <= 4; id++)
        assert_int_equal(status_in_file(id), BOXCAR_DONE);
    scene_free(s);
    file_close(&FILE_OF_MESSAGES);
}

/* The lease turned out to be lost when the transaction was to be committed. */
static void handler_transaction_that_came_too_late_stops_its_stream(void **state) {
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    struct scene *s = transactional_scene(&store);

    (void)state;
    add_leased(s, &FILE_OF_MESSAGES, 4);
    s->memory.messages[1].epoch--;
    scene_start(s);
    scene_wait_settled(s, 4);
    scene_stop(s);
    assert_int_equal(status_in_file(1), BOXCAR_DONE);
    assert_int_equal(status_in_file(2), BOXCAR_IN_PROGRESS);
    assert_untouched(s, 3, 4);
    scene_free(s);
    file_close(&FILE_OF_MESSAGES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stream_is_handled_in_order),
        cmocka_unit_test(streams_run_beside_each_other),
        cmocka_unit_test(streams_of_the_two_boxes_are_not_the_same),
        cmocka_unit_test(first_that_is_not_acked_stops_its_stream),
        cmocka_unit_test(handler_whose_time_is_over_stops_its_stream),
        cmocka_unit_test(stop_gives_back_what_is_behind),
        cmocka_unit_test(lost_lease_of_the_running_one_stops_its_stream),
        cmocka_unit_test(lost_lease_of_one_that_waits_stops_what_is_behind_it),
        cmocka_unit_test(ack_that_came_too_late_stops_its_stream),
        cmocka_unit_test(outage_keeps_them_together),
        cmocka_unit_test(nothing_runs_behind_a_suspect),
        cmocka_unit_test(discarded_ones_keep_the_order),
        cmocka_unit_test(unhandled_one_stops_its_stream),
        cmocka_unit_test(handler_transaction_is_committed_before_the_next_begins),
        cmocka_unit_test(handler_transaction_that_came_too_late_stops_its_stream),
    };

    return cmocka_run_group_tests_name("pump_streams", tests, NULL, NULL);
}
