/* The threads: each takes the route whose time came first, visits it, and says when its time comes again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "choice.h"
#include "core/fanout.h"
#include "visit.h"

#define PAUSE_FIRST_MS 5
#define HELD_UP_MS 50
#define UNKNOWN_MS 5000 /* the list of stores may have grown */
#define DEAF_PER_POLL 4 /* what arrives for others costs a look at most so often per poll */

/* ---- what a visit means for the next one ---- */

static void log_change(const struct source *source, const struct route *route, boxcar_log_level level,
                       const char *event, const char *text, const boxcar_error *err) {
    const boxcar_log_field field = {"route", route->name};
    store_log(&source->logger, level, event, &field, 1, "%s%s%s", text, err ? ": " : "",
              err ? err->message : "");
}

static void note_away(struct forwarding *forwarding, struct route *route, const boxcar_error *err,
                      int64_t now) {
    atomic_fetch_add(&route->stats->failures, 1);
    atomic_store(&route->stats->is_away, true);
    if (breaker_fail(&route->breaker, now, forwarding_chance(forwarding)))
        log_change(route->source, route, BOXCAR_LOG_WARN, "forward_away",
                   "the destination cannot be used, its messages wait", err);
    route->next_look_ms = route->breaker.until_ms;
}

static void note_back(struct route *route) {
    atomic_store(&route->stats->is_away, false);
    if (breaker_close(&route->breaker))
        log_change(route->source, route, BOXCAR_LOG_INFO, "forward_back",
                   "the destination takes messages again", NULL);
    if (route->is_unknown)
        log_change(route->source, route, BOXCAR_LOG_INFO, "forward_known",
                   "the destination is a store of this worker now", NULL);
    route->is_unknown = false;
    route->is_refusing = false;
}

static void note_unknown(struct route *route, int64_t now) {
    if (!route->is_unknown)
        log_change(route->source, route, BOXCAR_LOG_WARN, "forward_unknown",
                   "the destination is no store of this worker, which leaves this route to others: add the "
                   "store to its list",
                   NULL);
    route->is_unknown = true;
    route->next_look_ms = now + UNKNOWN_MS;
}

static void count_alone(struct source *source) {
    int64_t detachments =
        source->awake ? atomic_load(&source->awake->count.detachments) : source->detachments;
    source->failures_alone = detachments == source->detachments ? source->failures_alone + 1 : 1;
    source->detachments = detachments;
}

/* The work loop reports an outage of its store. What fails for forwarding alone is told here. */
static void note_source_away(struct forwarding *forwarding, struct source *source, const boxcar_error *err,
                             int64_t now) {
    if (err->status != BOXCAR_E_UNAVAILABLE) /* it answers */
        return;
    breaker_fail(&source->breaker, now, forwarding_chance(forwarding));
    count_alone(source);
    if (source->is_away_told || !source_fails_alone(source))
        return;
    source->is_away_told = true;
    store_log(&source->logger, BOXCAR_LOG_WARN, "forward_fails", NULL, 0,
              "policies and schedules cannot be served, trying again: %s", err->message);
}

static void note_source_back(struct source *source) {
    breaker_close(&source->breaker);
    source->failures_alone = 0;
    if (source->is_away_told)
        store_log(&source->logger, BOXCAR_LOG_INFO, "forward_back", NULL, 0,
                  "policies and schedules are served again");
    source->is_away_told = false;
}

/* It has trouble with its own store: the others' routes may have none. */
static void note_trouble(struct forwarding *forwarding, struct route *route, const boxcar_error *err,
                         int64_t now) {
    bool is_first = breaker_fail(&route->trouble, now, forwarding_chance(forwarding));
    route->is_refused = err->status != BOXCAR_E_UNAVAILABLE;
    if (is_first && route->is_refused)
        log_change(route->source, route, BOXCAR_LOG_WARN, "forward_fails",
                   "this route cannot be served, trying again", err);
    route->next_look_ms = route->trouble.until_ms;
    note_source_away(forwarding, route->source, err, now);
}

static void note_plan_fails(struct forwarding *forwarding, struct source *source, const boxcar_error *err,
                            int64_t now) {
    bool is_first = breaker_fail(&source->plan.breaker, now, forwarding_chance(forwarding));
    if (is_first && err->status != BOXCAR_E_UNAVAILABLE)
        store_log(&source->logger, BOXCAR_LOG_WARN, "plan_fails", NULL, 0,
                  "schedules cannot be planned, trying again: %s", err->message);
    source->plan.next_ms = source->plan.breaker.until_ms;
    note_source_away(forwarding, source, err, now);
}

static bool is_anyone_waiting(const struct source *source) {
    for (const struct route *route = source->routes; route; route = route->next)
        if (route->waits && !route->is_gone)
            return true;
    return false;
}

/* Its loop is to wake up for arrivals from now on. */
static void begin_waiting(struct source *source, struct route *route) {
    bool was_waiting = is_anyone_waiting(source);
    route->waits = true;
    if (!was_waiting && source->awake)
        worker_wake(source->awake);
}

/* What was poked in vain is deaf for a while after its next looks, longer each time. */
static int64_t grow_deaf(const struct source *source, int64_t deaf_ms) {
    int64_t longest_ms = source->poll_ms / DEAF_PER_POLL, ms = deaf_ms * 2 + 1;
    return ms < longest_ms ? ms : longest_ms;
}

static void note_empty(struct source *source, struct route *route, bool found, int64_t now) {
    bool in_vain = route->was_in_vain && !found;
    route->deaf_ms = in_vain ? grow_deaf(source, route->deaf_ms) : 0;
    if (route->was_poked) { /* during the visit: something may have come behind the last claim */
        route->was_poked = false;
        route->was_in_vain = true;
        route->next_look_ms = now + route->deaf_ms;
        return;
    }
    route->was_in_vain = false;
    route->pause_ms = found || route->pause_ms == 0 ? PAUSE_FIRST_MS : route->pause_ms * 2;
    if (route->pause_ms > route_longest_pause_ms(source))
        route->pause_ms = route_longest_pause_ms(source);
    route->next_look_ms = source->awake ? now + route->pause_ms : INT64_MAX;
    begin_waiting(source, route);
}

/* The route's own store; a connection of the pool shows nothing. */
static bool has_answered(const struct visit *visit, enum visit_end end) {
    return end == VISIT_EMPTY || end == VISIT_HELD_UP || end == VISIT_MORE || end == VISIT_GONE ||
           (visit->found && end != VISIT_SOURCE_AWAY);
}

static void conclude(struct forwarding *forwarding, const struct visit *visit, enum visit_end end) {
    struct source *source = visit->source;
    struct route *route = visit->route;
    int64_t now = clock_ms();
    route->looked_at_ms = now;
    source->moved += visit->found;
    if ((end == VISIT_EMPTY || end == VISIT_HELD_UP || end == VISIT_MORE) &&
        (visit->has_worked || !route->is_refusing))
        note_back(route);
    if (has_answered(visit, end)) {
        breaker_close(&route->trouble);
        note_source_back(source);
    }
    switch (end) {
    case VISIT_EMPTY:
        note_empty(source, route, visit->found, now);
        break;
    case VISIT_HELD_UP:
        route->next_look_ms = now + HELD_UP_MS;
        break;
    case VISIT_MORE:
        route->next_look_ms = now;
        break;
    case VISIT_AWAY:
        route->is_refusing = route->is_refusing || visit->is_away;
        note_away(forwarding, route, &visit->err, now);
        break;
    case VISIT_UNKNOWN:
        note_unknown(route, now);
        break;
    case VISIT_SOURCE_AWAY:
        note_trouble(forwarding, route, &visit->err, now);
        break;
    case VISIT_GONE:
        route->is_gone = true;
        break;
    }
}

/* ---- tasks (the mutex is held at both ends) ---- */

/* Whether the store can be used is found out before its destination is looked at. */
static enum visit_end visit_open(struct visit *visit) {
    bool is_used;
    if (pool_take(visit->forwarding, &visit->source->options, visit->source->id, &visit->store, &is_used,
                  &visit->err) != BOXCAR_OK)
        return VISIT_SOURCE_AWAY;
    enum visit_end end = visit_run(visit);
    /* One that has lost its connection connects again, and gives back claims whose answers were lost. */
    pool_give(visit->forwarding, visit->store, visit->source->id,
              end != VISIT_SOURCE_AWAY || visit->err.status == BOXCAR_E_UNAVAILABLE);
    return end;
}

static void visit_route(struct forwarding *forwarding, struct source *source, struct route *route) {
    struct visit visit = {.forwarding = forwarding,
                          .source = source,
                          .route = route,
                          .began_ms = clock_ms(),
                          .lease_ms =
                              source->lease_ms > FORWARD_LEASE_MS ? source->lease_ms : FORWARD_LEASE_MS,
                          .err = BOXCAR_ERROR_INIT,
                          .arena = ARENA_INIT};
    route->is_busy = true;
    route->waits = false;
    route->was_poked = false;
    pthread_mutex_unlock(&forwarding->mutex);
    enum visit_end end = visit_open(&visit);
    pthread_mutex_lock(&forwarding->mutex);
    route->is_busy = false;
    conclude(forwarding, &visit, end);
}

static void plan(struct forwarding *forwarding, struct source *source) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_planned planned;
    source->plan.is_busy = true;
    pthread_mutex_unlock(&forwarding->mutex);
    bool done = planning_visit(forwarding, source, &planned, &err);
    pthread_mutex_lock(&forwarding->mutex);
    source->plan.is_busy = false;
    if (!done) {
        note_plan_fails(forwarding, source, &err, clock_ms());
        return;
    }
    source->moved += planned.count > 0;
    planning_take(source, &planned, clock_ms());
    breaker_close(&source->plan.breaker);
    note_source_back(source);
}

static void carry_out(struct forwarding *forwarding, const struct task *task) {
    bool may_hang = task_may_hang(task);
    forwarding->busy_remote += may_hang;
    task->source->busy++;
    if (task->route)
        visit_route(forwarding, task->source, task->route);
    else
        plan(forwarding, task->source);
    task->source->busy--;
    forwarding->busy_remote -= may_hang;
    routes_sweep(forwarding);
    pthread_cond_broadcast(&forwarding->changed);
}

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

static void *serve(void *context) {
    struct forwarding *forwarding = context;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    while (!atomic_load(&forwarding->stopping)) {
        struct task task = task_choose(forwarding);
        int64_t now = clock_ms(), at_ms = task.source ? task.at_ms : INT64_MAX;
        if (at_ms <= now)
            carry_out(forwarding, &task);
        else
            (void)cond_wait_until(&forwarding->changed, &forwarding->mutex,
                                  earlier(at_ms, pool_expire(forwarding, now)));
    }
    return NULL;
}

/* ---- started ---- */

static size_t count_tasks(const struct forwarding *forwarding) {
    size_t count = 0;
    for (const struct source *source = forwarding->sources; source; source = source->next) {
        count += source->plan.is_wanted;
        for (const struct route *route = source->routes; route; route = route->next)
            count++;
    }
    return count;
}

void threads_hire(struct forwarding *forwarding) {
    size_t wanted = count_tasks(forwarding);
    if (wanted > FORWARD_THREADS)
        wanted = FORWARD_THREADS;
    while (forwarding->thread_count < wanted && !atomic_load(&forwarding->stopping)) {
        if (thread_start(&forwarding->threads[forwarding->thread_count], serve, forwarding) != 0)
            break;
        forwarding->thread_count++;
    }
    bool is_short = wanted > 0 && forwarding->thread_count == 0;
    if (is_short && !forwarding->is_short)
        store_log(&forwarding->sources->logger, BOXCAR_LOG_WARN, "shortage", NULL, 0,
                  "no thread for forwarding could be started: trying again");
    forwarding->is_short = is_short;
}
