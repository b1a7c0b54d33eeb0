/* Connections that nobody uses now: the next visit takes them. Those that nobody used for some seconds are
 * closed, so that an idle store keeps none. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "state.h"

#define IDLE_MS 5000
#define POOL_MAX 16

static int64_t shorter(int64_t ms) { return ms > 0 && ms < FORWARD_CALL_MS ? ms : FORWARD_CALL_MS; }

static boxcar_status open_anew(struct forwarding *forwarding, const boxcar_store_options *given,
                               struct boxcar_store **ret_store, boxcar_error *err) {
    boxcar_store_options options = *given;
    struct boxcar_store *store;
    options.deploy = false; /* who serves the store has, or must */
    options.answer_timeout_ms = shorter(options.answer_timeout_ms);
    options.busy_timeout_ms = shorter(options.busy_timeout_ms);
    TRY(forwarding->worker->open(&options, &store, err));
    store->impatient = true;
    store->call_ms = FORWARD_CALL_MS;
    *ret_store = store;
    return BOXCAR_OK;
}

static struct boxcar_store *find(struct forwarding *forwarding, const char *id) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    for (struct pooled **at = &forwarding->pool; *at; at = &(*at)->next) {
        struct pooled *pooled = *at;
        if (strcmp(pooled->id, id) != 0)
            continue;
        struct boxcar_store *store = pooled->store;
        *at = pooled->next;
        forwarding->pool_count--;
        free(pooled->id);
        free(pooled);
        return store;
    }
    return NULL;
}

boxcar_status pool_take(struct forwarding *forwarding, const boxcar_store_options *options, const char *id,
                        struct boxcar_store **ret_store, bool *ret_is_used, boxcar_error *err) {
    struct boxcar_store *store = find(forwarding, id);
    *ret_is_used = store != NULL;
    if (!store)
        return open_anew(forwarding, options, ret_store, err);
    store->log_level = (int)options->log_level;
    *ret_store = store;
    return BOXCAR_OK;
}

static bool keep(struct forwarding *forwarding, struct boxcar_store *store, const char *id) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    struct pooled *pooled = forwarding->pool_count < POOL_MAX ? calloc(1, sizeof(*pooled)) : NULL;
    char *copy = pooled ? strdup(id) : NULL;
    if (!copy) {
        free(pooled);
        return false;
    }
    *pooled = (struct pooled){forwarding->pool, copy, store, clock_ms()};
    forwarding->pool = pooled;
    forwarding->pool_count++;
    return true;
}

void pool_give(struct forwarding *forwarding, struct boxcar_store *store, const char *id, bool is_good) {
    if (store && (!is_good || !keep(forwarding, store, id)))
        store->ops->close(store);
}

static void close_one(struct pooled *pooled) {
    pooled->store->ops->close(pooled->store);
    free(pooled->id);
    free(pooled);
}

/* The newest come first: what is behind one that has expired has expired, too. */
int64_t pool_expire(struct forwarding *forwarding, int64_t now_ms) {
    struct pooled **at = &forwarding->pool;
    int64_t next_ms = INT64_MAX;
    while (*at && now_ms - (*at)->since_ms < IDLE_MS) {
        next_ms = (*at)->since_ms + IDLE_MS;
        at = &(*at)->next;
    }
    struct pooled *old = *at;
    *at = NULL;
    if (!old)
        return next_ms;
    for (const struct pooled *each = old; each; each = each->next)
        forwarding->pool_count--;
    pthread_mutex_unlock(&forwarding->mutex);
    for (struct pooled *next; old; old = next) {
        next = old->next;
        close_one(old);
    }
    pthread_mutex_lock(&forwarding->mutex);
    return now_ms; /* the world may have changed: look again */
}

void pool_close(struct forwarding *forwarding) {
    while (forwarding->pool) {
        struct pooled *pooled = forwarding->pool;
        forwarding->pool = pooled->next;
        close_one(pooled);
    }
    forwarding->pool_count = 0;
}
