/* When verdicts go out. */
#ifndef BOXCAR_WORKER_LOOP_FLUSH_H
#define BOXCAR_WORKER_LOOP_FLUSH_H

#include "pump.h"

void pump_set_strategy(struct pump *pump); /* as the tuning says */
void pump_note_finished(struct pump *pump);
void pump_note_flushed(struct pump *pump);
bool pump_flush_is_due(const struct pump *pump);
int64_t pump_next_flush_ms(const struct pump *pump); /* if not now; INT64_MAX = none ahead */

#endif
