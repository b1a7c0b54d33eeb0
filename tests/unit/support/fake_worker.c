#include "fake_worker.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/list.h"

struct boxcar_worker {
    pthread_mutex_t lock;
    boxcar_worker_stats stats;
    const boxcar_handler_stats *handlers;
    size_t handler_count;
};

static struct boxcar_worker worker = {.lock = PTHREAD_MUTEX_INITIALIZER};

boxcar_worker *fake_worker(void) { return &worker; }

void fake_worker_set(const boxcar_worker_stats *stats) {
    pthread_mutex_lock(&worker.lock);
    worker.stats = *stats;
    pthread_mutex_unlock(&worker.lock);
}

void fake_worker_set_handlers(const boxcar_handler_stats *handlers, size_t count) {
    pthread_mutex_lock(&worker.lock);
    worker.handlers = handlers;
    worker.handler_count = count;
    pthread_mutex_unlock(&worker.lock);
}

void boxcar_worker_stats_read(boxcar_worker *fake, boxcar_worker_stats *ret_stats) {
    pthread_mutex_lock(&fake->lock);
    *ret_stats = fake->stats;
    pthread_mutex_unlock(&fake->lock);
}

/* It has one store. */
boxcar_status boxcar_worker_fleet_read(boxcar_worker *fake, boxcar_fleet_store_list **ret_list,
                                       boxcar_error *err) {
    struct rows {
        LIST_OF(boxcar_fleet_store);
    } *rows = calloc(1, sizeof(*rows));

    (void)fake;
    return rows ? LIST_GIVE(rows, ret_list, err) : BOXCAR_E_NO_MEMORY;
}

bool boxcar_worker_handler_stats_read(boxcar_worker *fake, size_t i, boxcar_handler_stats *ret_stats) {
    pthread_mutex_lock(&fake->lock);
    bool exists = i < fake->handler_count;
    if (exists)
        *ret_stats = fake->handlers[i];
    pthread_mutex_unlock(&fake->lock);
    return exists;
}

/* It forwards for one policy. */
bool boxcar_worker_forward_stats_read(boxcar_worker *fake, size_t i, boxcar_forward_stats *ret_stats) {
    (void)fake;
    *ret_stats = BOXCAR_FORWARD_STATS_INIT;
    ret_stats->store_id = "sqlite:/a.db";
    ret_stats->route = BOXCAR_STR("copies/copy");
    ret_stats->forwarded = 5;
    return i == 0;
}

boxcar_owner boxcar_worker_owner(const boxcar_worker *fake) {
    (void)fake;
    return (boxcar_owner){{{1}}};
}

const char *boxcar_worker_state_name(boxcar_worker_state state) {
    static const char *const NAMES[] = {"idle", "starting", "running", "detached", "stopping", "stopped"};
    return NAMES[state];
}

double boxcar_handler_bucket_seconds(size_t i) { return 0.5 * (double)(i + 1); }
