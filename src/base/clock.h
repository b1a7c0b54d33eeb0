#ifndef BOXCAR_BASE_CLOCK_H
#define BOXCAR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Time that only goes forward, in microseconds and in milliseconds: for saying when to do something, and how
 * long it took. */
static inline int64_t clock_us(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline int64_t clock_ms(void) { return clock_us() / 1000; }

#endif
