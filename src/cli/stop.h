/* SIGTERM and SIGINT for commands that go on until they are told to stop. */
#ifndef BOXCAR_CLI_STOP_H
#define BOXCAR_CLI_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* From here on a signal only makes stop_wanted() true; a second one ends the program at once. */
void stop_catch_signals(void);
bool stop_wanted(void);
/* Waits, unless a signal has come or comes. */
void stop_wait_ms(int64_t ms);
/* The same; returns false at once when nobody reads our output any more. */
bool stop_wait_read_ms(int64_t ms);

#endif
