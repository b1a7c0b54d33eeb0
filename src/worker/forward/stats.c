#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "state.h"

/* Routes beyond these share one set of figures, so that metrics stay bounded. */
#define STATS_MAX 200
#define REST_NAME "(others)"

static struct route_stats *find(const struct forwarding *forwarding, const char *store_id, boxcar_str name) {
    struct route_stats *stats = forwarding->stats;
    while (stats && !(strcmp(stats->store_id, store_id) == 0 && str_equal(boxcar_str_of(stats->name), name)))
        stats = stats->next;
    return stats;
}

static struct route_stats *add(struct forwarding *forwarding, const char *store_id, boxcar_str name) {
    struct route_stats *stats = calloc(1, sizeof(*stats)), **end = &forwarding->stats;
    if (!stats)
        return NULL;
    stats->store_id = strdup(store_id);
    stats->name = memory_copy_text(name);
    if (!stats->store_id || !stats->name) {
        free(stats->store_id);
        free(stats->name);
        free(stats);
        return NULL;
    }
    while (*end)
        end = &(*end)->next;
    *end = stats;
    forwarding->stats_count++;
    return stats;
}

struct route_stats *route_stats_of(struct forwarding *forwarding, const char *store_id, boxcar_str name) {
    struct route_stats *stats = find(forwarding, store_id, name);
    if (stats)
        return stats;
    if (forwarding->stats_count < STATS_MAX)
        return add(forwarding, store_id, name);
    stats = find(forwarding, "", BOXCAR_STR(REST_NAME));
    return stats ? stats : add(forwarding, "", BOXCAR_STR(REST_NAME));
}

void route_stats_free(struct forwarding *forwarding) {
    for (struct route_stats *stats = forwarding->stats, *next; stats; stats = next) {
        next = stats->next;
        free(stats->store_id);
        free(stats->name);
        free(stats);
    }
}

bool forwarding_read_stats(struct forwarding *forwarding, size_t i, boxcar_forward_stats *ret_stats) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&forwarding->mutex);
    struct route_stats *stats = forwarding->stats;
    for (; stats && i > 0; i--)
        stats = stats->next;
    if (!stats)
        return false;
    const boxcar_forward_stats found = {.store_id = stats->store_id,
                                        .route = boxcar_str_of(stats->name),
                                        .forwarded = atomic_load(&stats->forwarded),
                                        .failures = atomic_load(&stats->failures),
                                        .is_away = atomic_load(&stats->is_away)};
    answers_write(ret_stats, &found, 1, sizeof(found));
    return true;
}
