#include "scenes.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool scene_logged(struct scene *s, const char *text) {
    pthread_mutex_lock(&s->mutex);
    bool found = memmem(s->logged, s->logged_len, text, strlen(text)) != NULL;
    pthread_mutex_unlock(&s->mutex);
    return found;
}

struct scene *scene_new(struct fixture *f) {
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

void scene_make(struct scene *s) {
    if (boxcar_worker_new(&s->options, &s->worker, &s->err) != BOXCAR_OK)
        fail_msg("boxcar_worker_new: %s", s->err.message);
}

void scene_free(struct scene *s) {
    boxcar_worker_free(s->worker);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

void scene_enter(struct scene *s, const boxcar_message *message) {
    int call = atomic_fetch_add(&s->calls, 1);
    int running = atomic_fetch_add(&s->running, 1) + 1;
    int most = atomic_load(&s->most_running);
    if (call < SCENE_SEEN_MAX)
        atomic_store(&s->seen[call], message->work_id.value);
    while (running > most && !atomic_compare_exchange_weak(&s->most_running, &most, running))
        ;
}

boxcar_verdict scene_play(void *context, boxcar_delivery *delivery) {
    struct scene *s = context;
    const boxcar_message *message = boxcar_delivery_message(delivery);
    struct pollfd cancel = {.fd = boxcar_delivery_cancel_fd(delivery), .events = POLLIN};
    scene_enter(s, message);
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

void scene_handle(struct scene *s, const char *topic) {
    if (boxcar_worker_handle(s->worker, HANDLER(BOXCAR_OUTBOX, boxcar_str_of(topic), scene_play, s),
                             &s->err) != BOXCAR_OK)
        fail_msg("boxcar_worker_handle: %s", s->err.message);
}

void scene_run(struct scene *s) {
    if (boxcar_worker_run(s->worker, &s->err) != BOXCAR_OK)
        fail_msg("boxcar_worker_run: %s", s->err.message);
}

static void *run_in_thread(void *context) {
    struct scene *s = context;
    s->ended = boxcar_worker_run(s->worker, &s->err);
    return NULL;
}

void scene_start(struct scene *s) { assert_int_equal(pthread_create(&s->thread, NULL, run_in_thread, s), 0); }

void scene_stop(struct scene *s) {
    boxcar_worker_stop(s->worker);
    pthread_join(s->thread, NULL);
    if (s->ended != BOXCAR_OK)
        fail_msg("boxcar_worker_run: %s", s->err.message);
}

void scene_wait_for(_Atomic int *count, int wanted) {
    for (int i = 0; atomic_load(count) < wanted; i++) {
        assert_true(i < 4000);
        pause_ms(5);
    }
}

void scene_drain(struct scene *s, const char *topic) {
    scene_make(s);
    scene_handle(s, topic);
    scene_run(s);
}
