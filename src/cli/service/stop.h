/* SIGTERM and SIGINT for commands that go on until they are told to stop. */
#ifndef BOXCAR_CLI_SERVICE_STOP_H
#define BOXCAR_CLI_SERVICE_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* timeout(1) signals its program and then the group that it is in, and a terminal signals both. A signal this
 * soon after the first is the same one. */
#define STOP_ECHO_MS 1000

/* From here on a signal only makes stop_wanted() true; another one later ends the program at once. */
void stop_catch_signals(void);
bool stop_wanted(void);
/* Waits, unless a signal has come or comes. */
void stop_wait_ms(int64_t ms);
/* The same; returns false at once when nobody reads our output any more. */
bool stop_wait_read_ms(int64_t ms);

#endif
