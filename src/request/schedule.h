/* When the strategies flush: for a coordinator and its operations, and for a worker and its verdicts. Pure
 * arithmetic: the time and the number of queued operations are arguments. */
#ifndef BOXCAR_REQUEST_SCHEDULE_H
#define BOXCAR_REQUEST_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boxcar/strategy.h"

struct schedule {
    boxcar_strategy strategy;
    size_t size;         /* of the strategy size */
    int64_t interval_ms; /* the longest that something waits; 0 = it waits for the others, or to be told */
    /* Its own. */
    int64_t due_ms; /* SCHEDULE_NEVER = nothing waits for a time */
    size_t left;    /* by the last flush, because it failed: a full queue counts from there */
    int failures;   /* of flushes, in a row */
};

#define SCHEDULE_NEVER INT64_MAX

struct schedule schedule_of(boxcar_strategy strategy, size_t size, int64_t interval_ms);

/* Something was queued. true = it is the first that waits for a time: schedule->due_ms has changed. */
bool schedule_queued(struct schedule *schedule, int64_t now_ms);

/* Whether the call that queues has to flush now. Otherwise the queue is flushed at schedule->due_ms. */
bool schedule_is_full(const struct schedule *schedule, size_t queued);

/* After a flush; `queued` operations are left. When flushes fail, the next one is due later and later. */
void schedule_flushed(struct schedule *schedule, size_t queued, bool failed, int64_t now_ms);

/* A flush that is due has to wait: it is due again after the interval. */
void schedule_put_off(struct schedule *schedule, int64_t now_ms);

#endif
