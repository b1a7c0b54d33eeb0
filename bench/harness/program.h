/* The program `boxcar`, as a process of its own. */
#ifndef BOXCAR_BENCH_PROGRAM_H
#define BOXCAR_BENCH_PROGRAM_H

#include <sys/types.h>

#include "bench.h"

/* Starts `boxcar ARGUMENT...` for a place; the list ends with NULL. What it prints goes nowhere if `quiet`.
 */
pid_t program_start(const struct place *place, const char *const *arguments, bool quiet);
/* Sends a signal (0 = none), waits, and ends this program unless that one ended well. Returns its peak
 * memory in bytes. */
double program_end(pid_t pid, int signal_number);

#endif
