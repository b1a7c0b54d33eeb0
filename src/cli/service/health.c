#include "health.h"

bool health_is_alive(const boxcar_worker_stats *stats) {
    switch (stats->state) {
    case BOXCAR_WORKER_RUNNING:
    case BOXCAR_WORKER_DETACHED:
    case BOXCAR_WORKER_STOPPING:
        return stats->loop_age_ms <= HEALTH_LOOP_AGE_MS_MAX;
    default:
        return true;
    }
}
