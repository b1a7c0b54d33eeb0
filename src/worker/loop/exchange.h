/* The round trip, and what a store that fails means. */
#ifndef BOXCAR_WORKER_LOOP_EXCHANGE_H
#define BOXCAR_WORKER_LOOP_EXCHANGE_H

#include "pump.h"

/* Sends verdicts, renewals and the heartbeat, and asks each box for the given number of messages. false =
 * there was nothing to send or ask. */
bool pump_exchange(struct pump *pump, const int claim_sizes[BOXES], bool renew);
/* Looks at every box as soon as there is room. */
void pump_look_soon(struct pump *pump);
double pump_chance(struct pump *pump);                    /* in [0, 1) */
void pump_count_lost(struct pump *pump, struct job *job); /* its lease ended before it was settled */
/* The store failed: says so once and waits longer each time. */
void pump_set_patience(struct pump *pump);
void pump_detach(struct pump *pump, const boxcar_error *err);
void pump_attach(struct pump *pump); /* it has answered */

#endif
