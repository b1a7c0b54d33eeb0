/* The parts of the trial of joins. */
#ifndef BOXCAR_TESTS_JOIN_TRIAL_H
#define BOXCAR_TESTS_JOIN_TRIAL_H

#include "join_plan.h"
#include "trial.h"

/* Starts and fills the joins first, first + stride, ... from a process of its own. */
pid_t join_load_start(struct trial *trial, int first, int stride);

/* Watches over the joins from within the database: what must hold at every commit, and what is wrong is
 * written into a table of the trial's own. */
void join_guard_install(struct trial *trial);
void join_guard_judge(struct trial *trial);
/* Joins whose counters differ from what their members say, at one moment. */
int64_t count_inexact_joins(struct trial *trial);

/* Counts everything in the end. */
void check_joins(struct trial *trial);

#endif
