/* A worker whose handlers remember what they were given. The verdict on a message is its payload:
 * "ack", or "fail" for a dead letter; anything else is acked too. */
#ifndef BOXCAR_TESTS_RUNNER_H
#define BOXCAR_TESTS_RUNNER_H

#include <pthread.h>

#include "conformance.h"

enum { RUNNER_SEEN_MAX = 512 };

struct seen {
    char topic[32];
    char payload[64];
    char correlation_id[32];
    char causation_id[40];
    boxcar_message_id message_id;
};

struct runner {
    struct fixture *f;
    boxcar_store_options store;
    boxcar_worker_options options; /* drain on, unless changed before the first handler */
    boxcar_worker *worker;
    pthread_mutex_t mutex;
    struct seen seen[RUNNER_SEEN_MAX];
    size_t count;
    pthread_t thread;
    boxcar_status ended;
    boxcar_error err;
};

struct runner *runner_new(struct fixture *f);
void runner_free(struct runner *runner);
/* The first makes the worker. */
void runner_handle(struct runner *runner, const char *topic);
/* Until there is nothing left to do. */
void runner_drain(struct runner *runner);
/* On a thread of its own, until it is stopped. */
void runner_start(struct runner *runner);
void runner_stop(struct runner *runner);

/* How many messages of this topic it has been given; waits for them, for some seconds at most. */
size_t runner_count(struct runner *runner, const char *topic);
void runner_await(struct runner *runner, const char *topic, size_t count);
/* The only one of this topic. */
struct seen runner_only(struct runner *runner, const char *topic);

#endif
