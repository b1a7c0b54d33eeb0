/* A coordinator over a store in memory, and the steps that its tests are made of. */
#ifndef BOXCAR_TESTS_COORDINATOR_SCENE_H
#define BOXCAR_TESTS_COORDINATOR_SCENE_H

#include "boxcar.h"
#include "memory_store.h"

struct scene {
    struct memory_store memory;
    boxcar_coordinator *coordinator;
    boxcar_error err;
    /* What on_flush was told. */
    pthread_mutex_t mutex;
    pthread_cond_t told;
    size_t flushes, failed_flushes, results, refused, enqueued;
    uint64_t last_ticket; /* of a result */
    boxcar_error last_refusal;
};

struct scene *scene_new(boxcar_strategy strategy);
/* The same with more to say; on_flush is the scene's own unless given. */
struct scene *scene_new_with(boxcar_coordinator_options options);
/* Closes the coordinator (unless the test did) and looks that nothing went wrong unseen. */
void scene_free(struct scene *s);
void scene_forget(struct scene *s); /* the test has closed or discarded the coordinator */
/* Waits until `count` results were reported. */
void scene_await_results(struct scene *s, size_t count);

boxcar_new_message a_message(const char *payload);
uint64_t put(struct scene *s, const char *payload);
uint64_t put_numbered(struct scene *s, int number); /* the payload is the number */
uint64_t ack(struct scene *s, int64_t work_id);
boxcar_settlement a_settlement(int64_t work_id);
boxcar_flush *flush(struct scene *s); /* succeeds */
void flush_ok(struct scene *s);
void flush_fails(struct scene *s, boxcar_status wanted);
/* Messages 0 to count-1 are in the store, each once, in this order. */
void assert_in_order(struct scene *s, int count);

#endif
