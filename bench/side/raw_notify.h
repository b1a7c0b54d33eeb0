/* The quickest that PostgreSQL alone can wake somebody: INSERT and NOTIFY in a transaction, and a listener
 * that deletes the row. */
#ifndef BOXCAR_BENCH_RAW_NOTIFY_H
#define BOXCAR_BENCH_RAW_NOTIFY_H

#include "bench.h"

/* Sends `messages` at `rate` a second. Milliseconds from the start of the transaction that sent a message to
 * the start of the one that deleted it go to ret_ms, sorted. */
void raw_notify_run(const struct place *place, size_t messages, double rate, double *ret_ms);

#endif
