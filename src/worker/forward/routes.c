/* Sources and routes: made from what a store says of its policies, and forgotten. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "core/fanout.h"
#include "state.h"
#include "visit.h"

/* A store with many routes looks at each less often: what arrives is told. */
#define ROUTES_PER_POLL 8

double forwarding_chance(struct forwarding *forwarding) {
    return rand_r(&forwarding->random) / (RAND_MAX + 1.0);
}

int64_t route_longest_pause_ms(const struct source *source) {
    int64_t count = 0;
    for (const struct route *route = source->routes; route; route = route->next)
        count++;
    return source->poll_ms * (count > ROUTES_PER_POLL ? count / ROUTES_PER_POLL : 1);
}

bool source_fails_alone(const struct source *source) {
    return source->failures_alone >= FORWARD_TRIES &&
           (!source->awake || (atomic_load(&source->awake->state) != BOXCAR_WORKER_DETACHED &&
                               atomic_load(&source->awake->count.detachments) == source->detachments));
}

/* ---- found ---- */

struct source *source_find(const struct forwarding *forwarding, const char *store_id) {
    struct source *source = forwarding->sources;
    while (source && (source->is_gone || strcmp(source->id, store_id) != 0))
        source = source->next;
    return source;
}

struct route *route_find(const struct source *source, boxcar_box reader) {
    struct route *route = source ? source->routes : NULL;
    while (route && (route->is_gone || route->reader != reader))
        route = route->next;
    return route;
}

/* ---- freed ---- */

void route_free(struct route *route) {
    struct arena arena = route->arena;
    atomic_store(&route->stats->is_away, false);
    tenants_free(route);
    arena_release(&arena);
}

void source_free(struct source *source) {
    for (struct route *route = source->routes, *next; route; route = next) {
        next = route->next;
        route_free(route);
    }
    arena_release(&source->arena);
    free(source->id);
    free(source);
}

static void sweep_routes(struct source *source) {
    for (struct route **at = &source->routes, *route; (route = *at) != NULL;) {
        if (!route->is_gone || route->is_busy) {
            at = &route->next;
            continue;
        }
        *at = route->next;
        route_free(route);
    }
}

void routes_sweep(struct forwarding *forwarding) {
    for (struct source **at = &forwarding->sources, *source; (source = *at) != NULL;) {
        sweep_routes(source);
        if (!source->is_gone || source->busy > 0) {
            at = &source->next;
            continue;
        }
        *at = source->next;
        source_free(source);
    }
}

/* ---- made ---- */

static bool copy_list(struct arena *arena, const boxcar_str *from, size_t count,
                      const boxcar_str **ret_list) {
    boxcar_str *list = arena_alloc_array(arena, count, sizeof(*list));
    for (size_t i = 0; list && i < count; i++)
        if (!arena_copy_str(arena, from[i], &list[i]))
            return false;
    *ret_list = list;
    return list != NULL;
}

static bool copy_texts(struct route *route, const boxcar_subscription *row) {
    struct arena *arena = &route->arena;
    return arena_copy_str(arena, row->name, &route->name) &&
           arena_copy_str(arena, str_unless_empty(row->then_topic), &route->then_topic) &&
           arena_copy_str(arena, str_unless_empty(row->else_topic), &route->else_topic) &&
           copy_list(arena, row->destinations, row->destination_count, &route->destinations);
}

static enum route_kind kind_of(const struct route *route) {
    struct destination destination;
    if (!str_is_absent(route->then_topic))
        return ROUTE_SCATTER;
    if (destination_parse(route->destinations[0], "destination", &destination, NULL) != BOXCAR_OK)
        return ROUTE_LOCAL; /* its messages say what is wrong */
    return destination.kind == DESTINATION_STORE    ? ROUTE_STORE
           : destination.kind == DESTINATION_TENANT ? ROUTE_TENANT
                                                    : ROUTE_LOCAL;
}

static struct route *route_new(struct forwarding *forwarding, struct source *source,
                               const boxcar_subscription *row) {
    struct arena arena = ARENA_INIT;
    struct route *route = arena_alloc(&arena, sizeof(*route));
    boxcar_str destination;
    if (route)
        route->arena = arena;
    if (!route || !copy_texts(route, row) || !fanout_split_name(route->name, &route->policy, &destination) ||
        !(route->stats = route_stats_of(forwarding, source->id, route->name))) {
        arena = route ? route->arena : arena;
        arena_release(&arena);
        return NULL;
    }
    route->source = source;
    route->reader = row->reader;
    route->box = row->box;
    route->destination_count = row->destination_count;
    route->kind = kind_of(route);
    route->next = source->routes;
    source->routes = route;
    return route;
}

/* Everything that makes the copies is the same. One of the same name that was made anew has another number.
 */
static bool is_same(const struct route *route, const boxcar_subscription *row) {
    return str_equal(route->name, row->name);
}

static void offer_one(struct forwarding *forwarding, struct source *source, const boxcar_subscription *row) {
    struct route *route = route_find(source, row->reader);
    if (row->destination_count == 0)
        return;
    if (route && !is_same(route, row)) {
        route->is_gone = true;
        route = NULL;
    }
    if (!route)
        route = route_new(forwarding, source, row);
    if (!route)
        return; /* no memory: the next offer brings it again */
    route->is_offered = true;
    bool was_paused = route->is_paused;
    route->is_paused = row->paused_at != BOXCAR_TIME_NONE;
    if (was_paused && !route->is_paused)
        route->next_look_ms = 0;
}

/* ---- sources ---- */

static bool take_options(struct source *source, const struct boxcar_worker *worker,
                         const struct boxcar_store *store) {
    struct arena arena = ARENA_INIT;
    boxcar_store_options options = worker->store;
    if (!arena_copy_str(&arena, options.url, &options.url) ||
        !arena_copy_str(&arena, options.schema, &options.schema)) {
        arena_release(&arena);
        return false;
    }
    options.log_level = (boxcar_log_level)store->log_level;
    arena_release(&source->arena);
    source->arena = arena;
    source->options = options;
    source->logger = (struct boxcar_store){.log = options.log,
                                           .log_context = options.log_context,
                                           .log_level = store->log_level,
                                           .id = source->id};
    source->lease_ms = worker->tuning.lease_ms;
    source->poll_ms = worker->tuning.poll_ms;
    source->batch_bytes =
        worker->tuning.batch_bytes < FORWARD_BYTES_MAX ? worker->tuning.batch_bytes : FORWARD_BYTES_MAX;
    return true;
}

static struct source *source_new(struct forwarding *forwarding, const char *store_id) {
    struct source *source = calloc(1, sizeof(*source));
    char *id = source ? strdup(store_id) : NULL;
    if (!id) {
        free(source);
        return NULL;
    }
    source->id = id;
    source->next = forwarding->sources;
    forwarding->sources = source;
    return source;
}

/* NULL = no memory. What is visited now keeps its options. */
static struct source *source_take(struct forwarding *forwarding, struct boxcar_worker *worker,
                                  const struct boxcar_store *store) {
    struct source *source = source_find(forwarding, store->id);
    bool is_new = source == NULL;
    if (is_new)
        source = source_new(forwarding, store->id);
    if (source && source->busy == 0 && !take_options(source, worker, store) && is_new) {
        source->is_gone = true;
        return NULL;
    }
    if (source)
        source->awake = worker;
    return source;
}

static bool has_policies(const struct subscription_rows *rows) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].destination_count > 0)
            return true;
    return false;
}

/* A loop that begins looks at everything. */
static void wake_all(struct source *source, int64_t now_ms) {
    for (struct route *route = source->routes; route; route = route->next) {
        route->was_poked = route->was_poked || route->is_busy;
        if (breaker_blocks(&route->breaker, now_ms) || breaker_is_open(&route->trouble) ||
            route->next_look_ms <= now_ms)
            continue;
        route->waits = false; /* so that it is looked at, even if the loop ends before */
        route->next_look_ms = now_ms;
    }
}

void forwarding_offer(struct forwarding *forwarding, struct boxcar_worker *worker,
                      const struct boxcar_store *store, const struct subscription_rows *rows) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    struct source *source = source_find(forwarding, store->id);
    if (!source && !has_policies(rows))
        return;
    bool was_awake = source && source->awake;
    source = source_take(forwarding, worker, store);
    if (!source)
        return;
    for (struct route *route = source->routes; route; route = route->next)
        route->is_offered = false;
    for (size_t i = 0; i < rows->count; i++)
        offer_one(forwarding, source, &rows->items[i]);
    for (struct route *route = source->routes; route; route = route->next)
        route->is_gone = route->is_gone || !route->is_offered;
    if (!was_awake)
        wake_all(source, clock_ms());
    routes_sweep(forwarding);
    threads_hire(forwarding);
    pthread_cond_broadcast(&forwarding->changed);
}

void forwarding_plan(struct forwarding *forwarding, struct boxcar_worker *worker,
                     const struct boxcar_store *store, boxcar_time due_at) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    struct source *source = source_take(forwarding, worker, store);
    if (!source)
        return;
    if (source->plan.is_wanted)
        planning_hear(source, due_at, clock_ms());
    else if (!source->plan.is_busy)
        source->plan.next_ms = 0;
    source->plan.is_wanted = true;
    threads_hire(forwarding);
    pthread_cond_broadcast(&forwarding->changed);
}
