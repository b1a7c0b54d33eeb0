#include "unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "scene.h"

static void begin(struct scene *s, const boxcar_message *message, boxcar_box box) {
    int *running = &s->running[message->stream.len > 0 ? message->stream.data[0] % SCENE_ROOM : SCENE_ROOM];

    pthread_mutex_lock(&s->mutex);
    s->boxes[s->begun_count] = box;
    s->begun[s->begun_count++] = message->work_id.value;
    (*running)++;
    if (message->stream.len > 0 && *running > s->most_running)
        s->most_running = *running;
    pthread_mutex_unlock(&s->mutex);
}

static void end(struct scene *s, const boxcar_message *message) {
    pthread_mutex_lock(&s->mutex);
    s->running[message->stream.len > 0 ? message->stream.data[0] % SCENE_ROOM : SCENE_ROOM]--;
    pthread_mutex_unlock(&s->mutex);
}

static boxcar_verdict play(struct scene *s, boxcar_delivery *delivery, boxcar_box box) {
    const boxcar_message *message = boxcar_delivery_message(delivery);

    begin(s, message, box);
    if (s->during)
        s->during(s, delivery);
    end(s, message);
    return s->verdicts[message->work_id.value];
}

static boxcar_verdict play_outbox(void *context, boxcar_delivery *delivery) {
    return play(context, delivery, BOXCAR_OUTBOX);
}

static boxcar_verdict play_inbox(void *context, boxcar_delivery *delivery) {
    return play(context, delivery, BOXCAR_INBOX);
}

struct scene *scene_new(const boxcar_worker_options *given, bool outbox, bool inbox) {
    struct scene *s = calloc(1, sizeof(*s));
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options = given ? *given : BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_str topic = BOXCAR_STR("t");

    assert_non_null(s);
    alarm(60); /* what is waited for may never come */
    memory_init(&s->memory);
    pthread_mutex_init(&s->mutex, NULL);
    store.url = BOXCAR_STR("sqlite:nowhere");
    if (!options.store)
        options.store = &store;
    options.drain = true;
    options.concurrency = 16; /* so that the first claim brings everything */
    options.poll_ms = 5;
    options.maintain_ms = 0;
    assert_int_equal(boxcar_worker_new(&options, &s->worker, NULL), BOXCAR_OK);
    s->worker->open = memory_open;
    if (outbox)
        assert_int_equal(boxcar_worker_handle(s->worker, HANDLER(BOXCAR_OUTBOX, topic, play_outbox, s), NULL),
                         BOXCAR_OK);
    if (inbox)
        assert_int_equal(boxcar_worker_handle(s->worker, HANDLER(BOXCAR_INBOX, topic, play_inbox, s), NULL),
                         BOXCAR_OK);
    return s;
}

void scene_add(struct scene *s, boxcar_box box, const char *stream) {
    pthread_mutex_lock(&s->memory.mutex);
    memory_add(&s->memory, "t", 0);
    s->memory.messages[s->memory.count - 1].box = box;
    s->memory.messages[s->memory.count - 1].stream = boxcar_str_of(stream);
    pthread_mutex_unlock(&s->memory.mutex);
}

void scene_run(struct scene *s) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (boxcar_worker_run(s->worker, &err) != BOXCAR_OK)
        fail_msg("%s", err.message);
}

static void *run(void *worker) {
    (void)boxcar_worker_run(worker, NULL);
    return NULL;
}

void scene_start(struct scene *s) {
    s->worker->drain = false;
    assert_int_equal(pthread_create(&s->thread, NULL, run, s->worker), 0);
}

void scene_stop(struct scene *s) {
    boxcar_worker_stop(s->worker);
    pthread_join(s->thread, NULL);
}

void scene_free(struct scene *s) {
    alarm(0);
    boxcar_worker_free(s->worker);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

bool scene_has_begun(struct scene *s, int64_t work_id) {
    bool begun = false;

    pthread_mutex_lock(&s->mutex);
    for (size_t i = 0; i < s->begun_count; i++)
        begun = begun || s->begun[i] == work_id;
    pthread_mutex_unlock(&s->mutex);
    return begun;
}

bool scene_is_settled(struct scene *s, int64_t work_id) {
    bool settled;

    pthread_mutex_lock(&s->memory.mutex);
    settled = s->memory.messages[work_id - 1].settled > 0;
    pthread_mutex_unlock(&s->memory.mutex);
    return settled;
}

void scene_wait_begun(struct scene *s, int64_t work_id) {
    while (!scene_has_begun(s, work_id))
        usleep(500);
}

void scene_wait_settled(struct scene *s, int64_t work_id) {
    while (!scene_is_settled(s, work_id))
        usleep(500);
}
