#include "join.h"

bool join_is_overdue(const boxcar_join *join, boxcar_time now) {
    return join->status == BOXCAR_JOIN_PENDING && join->deadline != BOXCAR_TIME_NONE && join->deadline <= now;
}

/* Counters alone decide (JOIN-041): what a wait thinks of failures is the wait's business. */
static void end_if_full(boxcar_join *join) {
    if (join_remaining(join) > 0)
        return;
    join->status = join->failed_steps > 0 ? BOXCAR_JOIN_FAILED : BOXCAR_JOIN_COMPLETED;
}

int64_t join_count(boxcar_join *join, boxcar_member_status outcome, int64_t steps, boxcar_time now) {
    int64_t room = join_remaining(join);
    int64_t counted = steps < room ? steps : room;

    if (join->status != BOXCAR_JOIN_PENDING || counted <= 0)
        return 0;
    if (outcome == BOXCAR_MEMBER_COMPLETED)
        join->completed_steps += counted;
    else
        join->failed_steps += counted;
    join->last_updated_at = now;
    end_if_full(join);
    return counted;
}

void join_time_out(boxcar_join *join, boxcar_time now) {
    join->status = BOXCAR_JOIN_FAILED;
    join->reason = BOXCAR_JOIN_REASON_TIMED_OUT;
    join->last_updated_at = now;
}

void join_cancel(boxcar_join *join, boxcar_time now) {
    join->status = BOXCAR_JOIN_CANCELLED;
    join->last_updated_at = now;
}
