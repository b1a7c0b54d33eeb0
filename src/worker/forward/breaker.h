/* When a destination that fails is tried again: arithmetic only, times are arguments. */
#ifndef BOXCAR_WORKER_FORWARD_BREAKER_H
#define BOXCAR_WORKER_FORWARD_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#define BREAKER_FIRST_MS 200
#define BREAKER_LONGEST_MS 30000

struct breaker {
    int failures; /* in a row; 0 = it works */
    int64_t until_ms;
};

static inline bool breaker_is_open(const struct breaker *breaker) { return breaker->failures > 0; }
/* Nothing is sent before its time. */
static inline bool breaker_blocks(const struct breaker *breaker, int64_t now_ms) {
    return breaker->failures > 0 && now_ms < breaker->until_ms;
}
/* The longest that the pause after the next failure may be. */
int64_t breaker_next_pause_ms(const struct breaker *breaker);
/* One more failure. `chance` in [0, 1) keeps many workers from coming back at once. true = it is the first:
 * worth a line in the log. */
bool breaker_fail(struct breaker *breaker, int64_t now_ms, double chance);
/* It has worked. true = it had failed before. */
bool breaker_close(struct breaker *breaker);

#endif
