/* boxcar/strategy.h: when collected operations are sent. For coordinators (coordinator.h), which collect the
 * operations of a program, and for workers (worker.h), which collect the verdicts of handlers. */
#ifndef BOXCAR_STRATEGY_H
#define BOXCAR_STRATEGY_H

#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When the queue of a coordinator is flushed. boxcar_coordinator_flush() and boxcar_coordinator_close() flush
 * it with every strategy. See boxcar_worker_options for the meaning in a worker. */
typedef enum boxcar_strategy {
    BOXCAR_STRATEGY_IMMEDIATE = 0, /* by each call that queues, before it returns */
    BOXCAR_STRATEGY_SCOPED = 1,    /* only by flush and close: a coordinator lives as long as one
                                      request that the program serves */
    BOXCAR_STRATEGY_INTERVAL = 2,  /* by a thread: an operation waits interval_ms at most */
    BOXCAR_STRATEGY_SIZE = 3       /* by the call that queues the `size`-th operation; fewer are flushed by a
                                      thread after interval_ms */
} boxcar_strategy;

#define BOXCAR_INTERVAL_MS_DEFAULT 100
#define BOXCAR_SIZE_INTERVAL_MS_DEFAULT 1000
#define BOXCAR_INTERVAL_MS_MAX (INT64_C(60) * 60 * 1000)
#define BOXCAR_FLUSH_SIZE_DEFAULT 100

/* "immediate", "scoped", "interval", "size"; "?" for a number out of range. */
BOXCAR_API const char *boxcar_strategy_name(boxcar_strategy strategy);

#ifdef __cplusplus
}
#endif
#endif
