/* The handlers of a worker: which handler gets which topic, and counters of their outcomes. */
#ifndef BOXCAR_WORKER_CREW_HANDLER_H
#define BOXCAR_WORKER_CREW_HANDLER_H

#include <stdatomic.h>

#include "boxcar/worker.h"
#include "store/request.h"

/* How a message ended, as counted. */
enum outcome {
    OUTCOME_ACKED,
    OUTCOME_RETRIED,
    OUTCOME_FAILED,
    OUTCOME_DEFERRED,
    OUTCOME_LOST,
    OUTCOME_DEAD, /* to be retried, but that was the last attempt */
    OUTCOMES
};

struct handler {
    boxcar_box box;
    boxcar_str topic;      /* the pattern */
    boxcar_handler_fn run; /* NULL = discard */
    void *context;
    void (*release)(void *context); /* NULL = the context is the program's */

    /* Written by the work loop, read by anybody. */
    _Atomic int64_t outcomes[OUTCOMES];
    _Atomic int64_t running;
    _Atomic int64_t timed_out;
    _Atomic int64_t microseconds;
    _Atomic int64_t buckets[BOXCAR_HANDLER_BUCKETS];
};

struct handler_pattern {
    boxcar_str topic;
    struct handler *handler;
};

/* Counted: a thread that was given up may still be in a handler when the worker is gone. */
struct handler_table {
    _Atomic int references;
    struct arena arena;     /* of the handlers: jobs point at them */
    struct handler **items; /* as registered */
    size_t count;
    struct {
        struct handler_pattern *items; /* the same order */
        size_t count;
    } boxes[BOXES];
};

/* Takes `context` over (with `release`) also when it fails. BOXCAR_E_CONFLICT: the pattern has a
 * handler already. */
boxcar_status handler_table_add(struct handler_table *table, boxcar_box box, boxcar_str topic,
                                boxcar_handler_fn run, void *context, void (*release)(void *context),
                                boxcar_error *err);
/* The one with the longest match; NULL = none. */
struct handler *handler_table_find(const struct handler_table *table, boxcar_box box, boxcar_str topic);
struct handler_table *handler_table_new(void); /* NULL = out of memory */
void handler_table_retain(struct handler_table *table);
void handler_table_release(struct handler_table *table); /* the last one frees it; NULL is fine */

void handler_count_time(struct handler *handler, int64_t microseconds);
void handler_read_stats(struct handler *handler, boxcar_box reader, boxcar_handler_stats *ret_stats);

#endif
