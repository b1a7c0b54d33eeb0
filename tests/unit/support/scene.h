/* A worker on a store in memory (memory_store.h), with a handler that does what a test tells it, message
 * by message, and writes down in which order that was. */
#ifndef BOXCAR_TESTS_SCENE_H
#define BOXCAR_TESTS_SCENE_H

#include <pthread.h>

#include "memory_store.h"
#include "worker/worker.h"

#define SCENE_ROOM 64

struct scene {
    struct memory_store memory;
    boxcar_worker *worker;
    /* What the handler does with a message, by work id. */
    boxcar_verdict verdicts[SCENE_ROOM + 1];
    void (*during)(struct scene *scene, boxcar_delivery *delivery); /* NULL = nothing */
    /* What it did. */
    pthread_mutex_t mutex;
    int64_t begun[SCENE_ROOM]; /* work ids, in order */
    size_t begun_count;
    boxcar_box boxes[SCENE_ROOM]; /* whose handler it was, in the same order */
    int running[SCENE_ROOM + 1];  /* now, by the first letter of the stream */
    int most_running;             /* of one stream at the same time */
    pthread_t thread;
};

/* With handlers for the topic "t" of these boxes, and 16 threads. `options`: NULL = the defaults. */
struct scene *scene_new(const boxcar_worker_options *options, bool outbox, bool inbox);
/* A message of the topic "t"; stream NULL = none. */
void scene_add(struct scene *scene, boxcar_box box, const char *stream);
/* Until everything is settled. */
void scene_run(struct scene *scene);
/* In parallel with the test, until scene_stop(). */
void scene_start(struct scene *scene);
void scene_stop(struct scene *scene);
void scene_free(struct scene *scene);

bool scene_has_begun(struct scene *scene, int64_t work_id);
bool scene_is_settled(struct scene *scene, int64_t work_id);
void scene_wait_begun(struct scene *scene, int64_t work_id);
void scene_wait_settled(struct scene *scene, int64_t work_id);

#endif
