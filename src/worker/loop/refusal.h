/* Verdicts that the store does not take. */
#ifndef BOXCAR_WORKER_LOOP_REFUSAL_H
#define BOXCAR_WORKER_LOOP_REFUSAL_H

#include "pump.h"

/* Whether there are any, or one is searched for: nothing is claimed then, and verdicts go by themselves. */
bool pump_is_refused(const struct pump *pump);
/* Which verdicts go out now: the first *ret_count of the list. */
struct job_list *pump_choose_verdicts(struct pump *pump, size_t *ret_count);
/* When some may; INT64_MAX = there are none. */
int64_t pump_next_verdict_ms(const struct pump *pump);
/* The first `count` finished jobs are decided. */
void pump_pass_verdicts(struct pump *pump, size_t count);
/* Those that are on their way: how many, and what the store did. Taken; not taken, which says nothing about
 * them; refused. */
size_t pump_count_verdicts(const struct pump *pump);
void pump_take_verdicts(struct pump *pump);
void pump_keep_verdicts(struct pump *pump);
void pump_take_refusal(struct pump *pump, const boxcar_error *err);

#endif
