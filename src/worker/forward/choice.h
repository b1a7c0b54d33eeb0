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

/* The one whose time comes first, be it now or later. Routes to other stores keep no more than all threads
 * but one busy. */
struct task task_choose(const struct forwarding *forwarding);

#endif
