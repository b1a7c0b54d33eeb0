/* The upkeep of a worker: it reaps, expires, purges, and logs topics that no worker handles. It has a thread
 * and a connection of its own, so that the work loop never waits for it. */
#ifndef BOXCAR_WORKER_STEWARD_H
#define BOXCAR_WORKER_STEWARD_H

#include "worker.h"

struct steward;

/* `logger` is for logging and outlives the steward. NULL = no thread could be started. */
struct steward *steward_start(struct boxcar_worker *worker, struct boxcar_store *logger, int64_t interval_ms);
void steward_set_interval(struct steward *steward, int64_t interval_ms); /* 0 = none */
void steward_stop(struct steward *steward);                              /* waits for it; NULL is fine */

#endif
