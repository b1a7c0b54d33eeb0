#include "choice.h"

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

bool task_may_hang(const struct task *task) {
    return breaker_is_open(&task->source->breaker) || (task->route && route_is_remote(task->route));
}

/* One thread at a time finds out whether a source that failed is back. */
static bool may_begin(const struct forwarding *forwarding, const struct task *task) {
    if (breaker_is_open(&task->source->breaker) && task->source->busy > 0)
        return false;
    return !task_may_hang(task) || forwarding->busy_remote < FORWARD_REMOTE_THREADS;
}

static void consider(const struct forwarding *forwarding, struct task *best, struct task task) {
    if (breaker_is_open(&task.source->breaker))
        task.at_ms = later(task.at_ms, task.source->breaker.until_ms);
    if (may_begin(forwarding, &task) && (!best->source || task.at_ms < best->at_ms))
        *best = task;
}

static void consider_source(const struct forwarding *forwarding, struct source *source, struct task *best) {
    if (source->is_gone)
        return;
    if (source->plan.is_wanted && !source->plan.is_busy)
        consider(forwarding, best, (struct task){source, NULL, source->plan.next_ms});
    for (struct route *route = source->routes; route; route = route->next)
        if (!route->is_busy && !route->is_gone && !route->is_paused)
            consider(forwarding, best, (struct task){source, route, route->next_look_ms});
}

struct task task_choose(const struct forwarding *forwarding) {
    struct task best = {.source = NULL};
    for (struct source *source = forwarding->sources; source; source = source->next)
        consider_source(forwarding, source, &best);
    return best;
}
