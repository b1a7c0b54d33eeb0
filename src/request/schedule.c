#include "schedule.h"

#define RETRY_MS_MAX 1000 /* between tries, unless the interval is longer */
#define DOUBLINGS_MAX 10

struct schedule schedule_of(boxcar_strategy strategy, size_t size, int64_t interval_ms) {
    return (struct schedule){
        .strategy = strategy, .size = size, .interval_ms = interval_ms, .due_ms = SCHEDULE_NEVER};
}

bool schedule_queued(struct schedule *schedule, int64_t now_ms) {
    if (schedule->interval_ms == 0 || schedule->due_ms != SCHEDULE_NEVER)
        return false;
    schedule->due_ms = now_ms + schedule->interval_ms;
    return true;
}

bool schedule_is_full(const struct schedule *schedule, size_t queued) {
    switch (schedule->strategy) {
    case BOXCAR_STRATEGY_IMMEDIATE:
        return queued > 0;
    case BOXCAR_STRATEGY_SIZE:
        return queued >= schedule->left && queued - schedule->left >= schedule->size;
    default:
        return false;
    }
}

static int64_t pause_ms(const struct schedule *schedule) {
    int doublings = schedule->failures < DOUBLINGS_MAX ? schedule->failures : DOUBLINGS_MAX;
    int64_t pause = schedule->interval_ms << doublings;
    if (pause > RETRY_MS_MAX)
        pause = RETRY_MS_MAX;
    return pause < schedule->interval_ms ? schedule->interval_ms : pause;
}

void schedule_flushed(struct schedule *schedule, size_t queued, bool failed, int64_t now_ms) {
    schedule->failures = failed ? schedule->failures + 1 : 0;
    schedule->left = failed ? queued : 0;
    schedule->due_ms = queued > 0 && schedule->interval_ms > 0 ? now_ms + pause_ms(schedule) : SCHEDULE_NEVER;
}

void schedule_put_off(struct schedule *schedule, int64_t now_ms) {
    if (schedule->due_ms != SCHEDULE_NEVER)
        schedule->due_ms = now_ms + schedule->interval_ms;
}
