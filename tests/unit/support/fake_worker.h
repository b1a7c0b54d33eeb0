/* A worker that says what a test wants, for what only reads a worker's numbers. */
#ifndef BOXCAR_TESTS_FAKE_WORKER_H
#define BOXCAR_TESTS_FAKE_WORKER_H

#include <boxcar.h>

/* The one and only; given to everything that wants a worker. */
boxcar_worker *fake_worker(void);

/* What its functions say from now on. Any thread. */
void fake_worker_set(const boxcar_worker_stats *stats);
void fake_worker_set_handlers(const boxcar_handler_stats *handlers, size_t count);

#endif
