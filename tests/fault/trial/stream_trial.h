/* Trials of streams: what they share. */
#ifndef BOXCAR_TESTS_STREAM_TRIAL_H
#define BOXCAR_TESTS_STREAM_TRIAL_H

#include "trial.h"

/* From what the handlers wrote down: no message was begun before the one before it in its stream was handled
 * with success, and none was handled again after a later one had been handled for the last time (BX-006,
 * BX-062). And the store has seen nothing else. */
void check_order(struct trial *trial);

#endif
