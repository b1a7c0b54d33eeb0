/* Stopping and draining. */
#ifndef BOXCAR_WORKER_LOOP_STOP_H
#define BOXCAR_WORKER_LOOP_STOP_H

#include "pump.h"

void pump_drive_stop(struct pump *pump);
int64_t pump_next_stop_event(const struct pump *pump); /* INT64_MAX = none ahead */
/* Gives up on handlers that do not stop: those that are overdue, or all. */
void pump_supervise(struct pump *pump, bool all);

#endif
