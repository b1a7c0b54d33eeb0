#include "choice.h"

static void consider(struct task *best, struct source *source, struct route *route, int64_t at_ms) {
    if (!best->source || at_ms < best->at_ms)
        *best = (struct task){source, route, at_ms};
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static void consider_source(const struct forwarding *forwarding, struct source *source, struct task *best) {
    int64_t not_before = breaker_is_open(&source->breaker) ? source->breaker.until_ms : 0;
    if (source->is_gone)
        return;
    if (source->plan.is_wanted && !source->plan.is_busy)
        consider(best, source, NULL, later(source->plan.next_ms, not_before));
    for (struct route *route = source->routes; route; route = route->next)
        if (!route->is_busy && !route->is_gone && !route->is_paused &&
            !(route_is_remote(route) && forwarding->busy_remote >= FORWARD_REMOTE_THREADS))
            consider(best, source, route, later(route->next_look_ms, not_before));
}

struct task task_choose(const struct forwarding *forwarding) {
    struct task best = {.source = NULL};
    for (struct source *source = forwarding->sources; source; source = source->next)
        consider_source(forwarding, source, &best);
    return best;
}
