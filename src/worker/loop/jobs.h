/* Taking messages in and letting them go. */
#ifndef BOXCAR_WORKER_LOOP_JOBS_H
#define BOXCAR_WORKER_LOOP_JOBS_H

#include "pump.h"

/* Claimed messages become jobs: discarded, queued, or kept waiting if they are suspects. */
void pump_admit(struct pump *pump, struct result *result, int64_t asked_at_ms);
/* One of them, whose handler is known; those for the crew are added to `ready`. */
void pump_admit_one(struct pump *pump, struct job *job, struct job_list *ready);
/* It goes back to the store, without an attempt. */
void pump_give_back_one(struct pump *pump, struct job *job, int64_t delay_ms);
/* The job is settled, or lost: it is forgotten. */
void pump_forget(struct pump *pump, struct job *job);
/* The job has a verdict. */
void pump_finish(struct pump *pump, struct job *job, boxcar_verdict verdict, int64_t delay_ms);
/* Takes finished jobs from the crew; logs and learns from them. */
void pump_collect(struct pump *pump);
/* Lets a waiting suspect run, if it may now. */
void pump_release_suspect(struct pump *pump);
/* Whether this message may only run with nothing else in flight. */
bool pump_runs_alone(const struct job *job);
/* Gives back what is queued and has waited too long behind slow handlers; with `all`, everything
 * that no handler has begun. */
void pump_give_back(struct pump *pump, bool all);

/* ---- streams.c: one after the other ---- */
/* The messages of a load that have a stream. */
void pump_admit_streams(struct pump *pump, struct load *load, size_t streamed, struct job_list *ready);
/* The job is not done after all: what is behind it in its stream and not begun goes back. */
void pump_give_back_behind(struct pump *pump, struct job *job);

/* ---- attempts.c: the last attempt ---- */
/* Whether a message that was to be retried, and is settled now, had no attempt left. */
bool pump_was_last_attempt(struct pump *pump, const struct job *job);

#endif
