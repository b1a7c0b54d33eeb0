/* A worker with handlers in C, through its public face: what they saw, and how they are to behave. */
#ifndef BOXCAR_TESTS_SCENES_H
#define BOXCAR_TESTS_SCENES_H

#include <pthread.h>
#include <stdatomic.h>

#include "conformance.h"

enum { SCENE_SEEN_MAX = 4096 };

struct scene {
    struct fixture *f;
    boxcar_worker *worker;
    boxcar_worker_options options;
    boxcar_store_options store;
    _Atomic int calls, running, most_running, cancelled;
    _Atomic int64_t seen[SCENE_SEEN_MAX]; /* work ids, in order of the calls */
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

/* It drains, unless `options` is changed before the worker is made: the run ends by itself when there is
 * nothing left to do. */
struct scene *scene_new(struct fixture *f);
void scene_make(struct scene *s); /* the worker */
void scene_free(struct scene *s);

/* The handler, which does what the scene says; and what it begins with. */
boxcar_verdict scene_play(void *context, boxcar_delivery *delivery);
void scene_enter(struct scene *s, const boxcar_message *message);
void scene_handle(struct scene *s, const char *topic);

void scene_run(struct scene *s);
/* On a thread of its own, until it is stopped. */
void scene_start(struct scene *s);
void scene_stop(struct scene *s);
/* A whole run with one handler for `topic`. */
void scene_drain(struct scene *s, const char *topic);

void scene_wait_for(_Atomic int *count, int wanted);
bool scene_logged(struct scene *s, const char *text);

#endif
