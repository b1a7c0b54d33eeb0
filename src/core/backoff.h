/* How long to wait, by a curve alone. */
#ifndef BOXCAR_CORE_BACKOFF_H
#define BOXCAR_CORE_BACKOFF_H

#include "boxcar/backoff.h"

/* The delay after `attempts` bad attempts (1 = the first); otherwise as boxcar_backoff_delay_ms(). */
int64_t backoff_curve_delay_ms(const boxcar_backoff_curve *curve, int attempts, double chance);

#endif
