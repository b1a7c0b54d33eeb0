/* The rules of joins: which members are counted, and when a join has ended. Pure. */
#ifndef BOXCAR_CORE_JOIN_H
#define BOXCAR_CORE_JOIN_H

#include "boxcar/join.h"

static inline int64_t join_remaining(const boxcar_join *join) {
    return join->expected_steps - join->completed_steps - join->failed_steps;
}

/* Whether a pending join's deadline has come. */
bool join_is_overdue(const boxcar_join *join, boxcar_time now);
/* Counts up to `steps` steps with this outcome in a pending join, never more than are expected, and ends
 * the join with the last one. Returns how many it counted. */
int64_t join_count(boxcar_join *join, boxcar_member_status outcome, int64_t steps, boxcar_time now);
/* Ends a pending join before its time. */
void join_time_out(boxcar_join *join, boxcar_time now);
void join_cancel(boxcar_join *join, boxcar_time now);

#endif
