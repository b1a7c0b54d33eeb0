#include "pause.h"

#define IDLE_LONGEST_LEAST_MS 2000
#define FILE_LOOKS 10 /* the looks that such a file is spared */

int64_t pause_down_ms(int64_t failures, double chance) {
    int64_t pause = PAUSE_DOWN_FIRST_MS;
    for (int64_t i = 1; i < failures && pause < PAUSE_DOWN_LONGEST_MS; i++)
        pause *= 2;
    if (pause > PAUSE_DOWN_LONGEST_MS)
        pause = PAUSE_DOWN_LONGEST_MS;
    return pause / 2 + (int64_t)((double)(pause / 2) * chance);
}

int64_t pause_idle_longest_ms(size_t stores, int64_t look_ms) {
    int64_t longest = (int64_t)stores * PAUSE_BETWEEN_LOOKS_MS;
    if (longest < IDLE_LONGEST_LEAST_MS)
        longest = IDLE_LONGEST_LEAST_MS;
    return longest < look_ms ? longest : look_ms;
}

int64_t pause_file_ms(int64_t look_ms) { return look_ms * FILE_LOOKS; }

int64_t pause_idle_ms(int64_t before_ms, int64_t poll_ms, int64_t longest_ms) {
    int64_t pause = before_ms > 0 ? before_ms * 2 : poll_ms;
    return pause < longest_ms ? pause : longest_ms;
}
