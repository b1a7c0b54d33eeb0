/* When verdicts go out, if nothing else takes them along before: every round trip carries all of them, and a
 * claim, a renewal or a heartbeat is reason enough for one.
 *
 * The strategies are those of coordinators (request/schedule.h). Immediate: as soon as the loop comes round;
 * what finishes during a round trip goes with the next one. Interval and size: a verdict waits for others, so
 * that a store has fewer and larger transactions, while its lease is renewed like all that is held. It waits
 * only as long as others may come, and as long as nothing waits for it. */
#include "pump.h"

void pump_set_strategy(struct pump *pump) {
    const struct tuning *tuning = pump_tuning(pump);
    bool at_once = tuning->strategy == BOXCAR_STRATEGY_IMMEDIATE;
    pump->schedule =
        schedule_of(tuning->strategy, (size_t)tuning->flush_size, at_once ? 0 : tuning->flush_interval_ms);
}

void pump_note_finished(struct pump *pump) {
    if (pump->finished.count > 0)
        (void)schedule_queued(&pump->schedule, pump->now_ms);
}

void pump_note_flushed(struct pump *pump) {
    schedule_flushed(&pump->schedule, pump->finished.count, false, pump->now_ms);
}

/* A worker that ends, or a suspect that runs only when all else is settled; or there are no others to come.
 */
static bool is_pressed(const struct pump *pump) {
    return pump->stopping || pump->waiting || pump->held_count == pump->finished.count;
}

bool pump_flush_is_due(const struct pump *pump) {
    if (pump_is_refused(pump))
        return pump->now_ms >= pump_next_verdict_ms(pump);
    if (pump->finished.count == 0)
        return false;
    return schedule_is_full(&pump->schedule, pump->finished.count) || pump->now_ms >= pump->schedule.due_ms ||
           is_pressed(pump);
}

int64_t pump_next_flush_ms(const struct pump *pump) {
    if (pump_is_refused(pump))
        return pump_next_verdict_ms(pump);
    return pump->finished.count > 0 ? pump->schedule.due_ms : INT64_MAX;
}
