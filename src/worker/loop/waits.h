/* Waits for joins. */
#ifndef BOXCAR_WORKER_LOOP_WAITS_H
#define BOXCAR_WORKER_LOOP_WAITS_H

#include "pump.h"

/* Once, before anything is claimed: what to ask for. BOXCAR_E_CONFLICT: the waits' topic has a handler. */
boxcar_status pump_set_topics(struct pump *pump, boxcar_str wait_topic, boxcar_error *err);
bool pump_is_wait(const struct pump *pump, const struct job *job);
void pump_admit_wait(struct pump *pump, struct job *job);
/* Takes the outcomes of the waits that were sent. sent_before: they may have been sent twice. */
void pump_take_waits(struct pump *pump, const struct result *result, bool sent_before);
/* Whether waits are evaluated apart from claims: without a handler of the outbox nothing is claimed there. */
bool pump_looks_after_waits(const struct pump *pump);
/* Evaluates those that are due, when it is time. true = there were some. */
bool pump_evaluate_waits(struct pump *pump);

#endif
