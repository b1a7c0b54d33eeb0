#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "state.h"

struct forwarding *forwarding_new(struct boxcar_worker *worker) {
    struct forwarding *forwarding = calloc(1, sizeof(*forwarding));
    if (!forwarding)
        return NULL;
    forwarding->worker = worker;
    forwarding->owner = (boxcar_owner){boxcar_uuid_new()};
    memcpy(&forwarding->random, forwarding->owner.uuid.bytes + 12, sizeof(forwarding->random));
    pthread_mutex_init(&forwarding->mutex, NULL);
    cond_init(&forwarding->changed);
    return forwarding;
}

void forwarding_set_stores(struct forwarding *forwarding, forward_locate_fn *locate,
                           forward_arrived_fn *arrived, void *context) {
    forwarding->locate = locate;
    forwarding->arrived = arrived;
    forwarding->stores = context;
}

void forwarding_hurry(struct forwarding *forwarding) {
    if (!forwarding || atomic_load(&forwarding->stopping))
        return;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    atomic_store(&forwarding->stopping, true);
    pthread_cond_broadcast(&forwarding->changed);
}

void forwarding_end(struct forwarding *forwarding) {
    if (!forwarding)
        return;
    forwarding_hurry(forwarding);
    for (size_t i = 0; i < forwarding->thread_count; i++)
        pthread_join(forwarding->threads[i], NULL);
    forwarding->thread_count = 0;
    planning_end(forwarding);
    pool_close(forwarding);
}

void forwarding_free(struct forwarding *forwarding) {
    if (!forwarding)
        return;
    forwarding_end(forwarding);
    for (struct source *source = forwarding->sources, *next; source; source = next) {
        next = source->next;
        source_free(source);
    }
    route_stats_free(forwarding);
    pthread_cond_destroy(&forwarding->changed);
    pthread_mutex_destroy(&forwarding->mutex);
    free(forwarding);
}

/* ---- the loop of a store ---- */

/* It is looked at now, or as soon as it may be woken again. */
static bool poke(struct route *route, int64_t now) {
    int64_t at_ms = route->looked_at_ms + route->deaf_ms;
    route->was_poked = route->was_poked || route->is_busy;
    if (!route->waits || route->is_paused || breaker_blocks(&route->breaker, now))
        return false;
    route->waits = false;
    route->was_in_vain = true; /* until it finds something */
    route->next_look_ms = at_ms > now ? at_ms : now;
    return true;
}

bool forwarding_poke(struct forwarding *forwarding, const char *store_id) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    struct source *source = source_find(forwarding, store_id);
    int64_t now = clock_ms();
    bool any = false;
    for (struct route *route = source ? source->routes : NULL; route; route = route->next)
        any = poke(route, now) || any;
    if (any)
        pthread_cond_broadcast(&forwarding->changed);
    return any;
}

bool forwarding_waits(struct forwarding *forwarding, const char *store_id) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    struct source *source = source_find(forwarding, store_id);
    for (struct route *route = source ? source->routes : NULL; route; route = route->next)
        if (route->waits && !route->is_gone && !route->is_paused)
            return true;
    return false;
}

bool forwarding_plans(struct forwarding *forwarding, const char *store_id) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    const struct source *source = source_find(forwarding, store_id);
    return source && source->plan.is_wanted;
}

void forwarding_rest(struct forwarding *forwarding, const char *store_id) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    struct source *source = source_find(forwarding, store_id);
    if (!source)
        return;
    source->awake = NULL;
    for (struct route *route = source->routes; route; route = route->next)
        if (route->waits)
            route->next_look_ms = INT64_MAX;
}

void forwarding_withdraw(struct forwarding *forwarding, const char *store_id) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    struct source *source = source_find(forwarding, store_id);
    if (!source)
        return;
    source->is_gone = true;
    source->awake = NULL;
    for (struct route *route = source->routes; route; route = route->next)
        route->is_gone = true;
    routes_sweep(forwarding);
}

/* ---- a drain ---- */

static bool was_tried_in_vain(const struct breaker *breaker) { return breaker->failures >= FORWARD_TRIES; }

bool forwarding_is_excused(struct forwarding *forwarding, const char *store_id, boxcar_box reader,
                           const char **ret_why) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    const struct route *route = route_find(source_find(forwarding, store_id), reader);
    if (!route)
        return false;
    *ret_why =
        route->is_paused                     ? "it is paused"
        : route->is_unknown                  ? "its destination is no store of this worker"
        : was_tried_in_vain(&route->breaker) ? "its destination is away"
        : (route->is_refused && was_tried_in_vain(&route->trouble)) || source_fails_alone(route->source)
            ? "the store does not let it be served"
            : NULL;
    return *ret_why != NULL;
}

bool forwarding_has_away(struct forwarding *forwarding, const char *store_id, boxcar_box reader) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    const struct route *route = route_find(source_find(forwarding, store_id), reader);
    return route && atomic_load(&route->away_tenants) > 0;
}

bool forwarding_is_busy(struct forwarding *forwarding, const char *store_id) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    const struct source *source = source_find(forwarding, store_id);
    return source && source->busy > 0;
}

int64_t forwarding_moved(struct forwarding *forwarding, const char *store_id) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    const struct source *source = source_find(forwarding, store_id);
    return source ? source->moved : 0;
}

int64_t forwarding_count(struct forwarding *forwarding) { return atomic_load(&forwarding->forwarded); }
