#include "breaker.h"

int64_t breaker_next_pause_ms(const struct breaker *breaker) {
    int64_t pause = BREAKER_FIRST_MS;
    for (int i = 0; i < breaker->failures && pause < BREAKER_LONGEST_MS; i++)
        pause *= 2;
    return pause < BREAKER_LONGEST_MS ? pause : BREAKER_LONGEST_MS;
}

bool breaker_fail(struct breaker *breaker, int64_t now_ms, double chance) {
    int64_t pause = breaker_next_pause_ms(breaker);
    breaker->until_ms = now_ms + pause / 2 + (int64_t)((double)(pause / 2) * chance);
    if (breaker->failures < INT16_MAX)
        breaker->failures++;
    return breaker->failures == 1;
}

bool breaker_close(struct breaker *breaker) {
    bool was_open = breaker->failures > 0;
    *breaker = (struct breaker){.failures = 0};
    return was_open;
}
