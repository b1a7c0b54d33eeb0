#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct runner *runner_new(struct fixture *f) {
    struct runner *runner = calloc(1, sizeof(*runner));
    assert_non_null(runner);
    assert_int_equal(pthread_mutex_init(&runner->mutex, NULL), 0);
    runner->f = f;
    runner->store = fixture_options(f);
    runner->options = BOXCAR_WORKER_OPTIONS_INIT;
    runner->options.store = &runner->store;
    runner->options.poll_ms = 10;
    runner->options.drain = true;
    return runner;
}

void runner_free(struct runner *runner) {
    boxcar_worker_free(runner->worker);
    pthread_mutex_destroy(&runner->mutex);
    free(runner);
}

static void copy(char *to, size_t size, boxcar_str text) {
    snprintf(to, size, "%.*s", (int)text.len, text.data ? text.data : "");
}

static boxcar_verdict remember(void *context, boxcar_delivery *delivery) {
    struct runner *runner = context;
    const boxcar_message *m = boxcar_delivery_message(delivery);
    struct seen seen = {.message_id = m->message_id};
    copy(seen.topic, sizeof(seen.topic), m->topic);
    copy(seen.payload, sizeof(seen.payload), m->payload);
    copy(seen.correlation_id, sizeof(seen.correlation_id), m->correlation_id);
    copy(seen.causation_id, sizeof(seen.causation_id), m->causation_id);
    pthread_mutex_lock(&runner->mutex);
    if (runner->count < RUNNER_SEEN_MAX)
        runner->seen[runner->count++] = seen;
    pthread_mutex_unlock(&runner->mutex);
    return strcmp(seen.payload, "fail") == 0 ? BOXCAR_VERDICT_FAIL : BOXCAR_VERDICT_ACK;
}

void runner_handle(struct runner *runner, const char *topic) {
    if (!runner->worker && boxcar_worker_new(&runner->options, &runner->worker, &runner->err) != BOXCAR_OK)
        fail_msg("boxcar_worker_new: %s", runner->err.message);
    if (boxcar_worker_handle(runner->worker, HANDLER(BOXCAR_OUTBOX, boxcar_str_of(topic), remember, runner),
                             &runner->err) != BOXCAR_OK)
        fail_msg("boxcar_worker_handle: %s", runner->err.message);
}

void runner_drain(struct runner *runner) {
    if (boxcar_worker_run(runner->worker, &runner->err) != BOXCAR_OK)
        fail_msg("boxcar_worker_run: %s", runner->err.message);
}

static void *run_in_thread(void *context) {
    struct runner *runner = context;
    runner->ended = boxcar_worker_run(runner->worker, &runner->err);
    return NULL;
}

void runner_start(struct runner *runner) {
    assert_int_equal(pthread_create(&runner->thread, NULL, run_in_thread, runner), 0);
}

void runner_stop(struct runner *runner) {
    boxcar_worker_stop(runner->worker);
    pthread_join(runner->thread, NULL);
    if (runner->ended != BOXCAR_OK)
        fail_msg("boxcar_worker_run: %s", runner->err.message);
}

size_t runner_count(struct runner *runner, const char *topic) {
    size_t count = 0;
    pthread_mutex_lock(&runner->mutex);
    for (size_t i = 0; i < runner->count; i++)
        count += strcmp(runner->seen[i].topic, topic) == 0;
    pthread_mutex_unlock(&runner->mutex);
    return count;
}

void runner_await(struct runner *runner, const char *topic, size_t count) {
    for (int i = 0; runner_count(runner, topic) < count; i++) {
        if (i > 4000)
            fail_msg("%zu of %zu messages of %s came", runner_count(runner, topic), count, topic);
        pause_ms(5);
    }
}

struct seen runner_only(struct runner *runner, const char *topic) {
    struct seen only = {.topic = ""};
    assert_int_equal(runner_count(runner, topic), 1);
    pthread_mutex_lock(&runner->mutex);
    for (size_t i = 0; i < runner->count; i++)
        if (strcmp(runner->seen[i].topic, topic) == 0)
            only = runner->seen[i];
    pthread_mutex_unlock(&runner->mutex);
    return only;
}
