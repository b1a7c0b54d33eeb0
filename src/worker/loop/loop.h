/* The work loop, as others call it. */
#ifndef BOXCAR_WORKER_LOOP_LOOP_H
#define BOXCAR_WORKER_LOOP_LOOP_H

#include "worker/worker.h"

/* Works until it is told to stop, or until everything is done if the worker drains. The caller's thread does
 * it. */
boxcar_status pump_run(struct boxcar_worker *worker, boxcar_error *err);

#endif
