/* Whether a worker lives: one rule for /healthz and for the watchdog. */
#ifndef BOXCAR_CLI_SERVICE_HEALTH_H
#define BOXCAR_CLI_SERVICE_HEALTH_H

#include <boxcar/worker.h>

/* The work loop comes round many times a minute. One round may take long without being stuck: a call to
 * the store has a patience of 30 seconds, and a round makes a few of them. */
#define HEALTH_LOOP_AGE_MS_MAX 120000

/* Before the first round and after the last there is no loop that could be stuck. */
static inline bool health_is_alive(const boxcar_worker_stats *stats) {
    bool has_loop = stats->state >= BOXCAR_WORKER_RUNNING && stats->state <= BOXCAR_WORKER_STOPPING;
    return !has_loop || stats->loop_age_ms <= HEALTH_LOOP_AGE_MS_MAX;
}

#endif
