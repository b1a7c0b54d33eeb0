/* What a thread does next: rules without locks and clocks. */
#ifndef BOXCAR_WORKER_FORWARD_CHOICE_H
#define BOXCAR_WORKER_FORWARD_CHOICE_H

#include "state.h"

/* A route's visit, or the planning of a source. */
struct task {
    struct source *source; /* NULL = there is nothing to do */
    struct route *route;   /* NULL = planning */
    int64_t at_ms;
};

static inline bool route_is_remote(const struct route *route) {
    return route->kind == ROUTE_STORE || route->kind == ROUTE_TENANT;
}

/* Whether it may wait long for a store: for another one, or for a source that failed. Of a task that was
 * chosen, before it begins. */
bool task_may_hang(const struct task *task);

/* The one whose time comes first, be it now or later. Those that may hang keep no more than all threads but
 * one busy. */
struct task task_choose(const struct forwarding *forwarding);

#endif
