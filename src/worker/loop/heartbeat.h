/* That the worker lives. */
#ifndef BOXCAR_WORKER_LOOP_HEARTBEAT_H
#define BOXCAR_WORKER_LOOP_HEARTBEAT_H

#include "pump.h"

bool pump_heartbeat_is_due(const struct pump *pump);
/* Whether it must not go along with a request. */
bool pump_beats_alone(const struct pump *pump);
/* Fills pump->heartbeat.instances and returns how many there are. */
size_t pump_fill_instances(struct pump *pump);
/* The store took a request, with the heartbeat or without. */
void pump_take_heartbeat(struct pump *pump, bool along);
/* The store did not take it. true = perhaps because of the heartbeat: the same again without it. */
bool pump_suspects_heartbeat(struct pump *pump, bool along, const boxcar_error *err);
/* By itself. */
void pump_beat(struct pump *pump);

#endif
