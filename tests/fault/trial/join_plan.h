/* What a trial of joins does, all of it following from its seed: the parent that judges and the processes
 * that start joins ask here, so that nothing has to be written down. */
#ifndef BOXCAR_TESTS_JOIN_PLAN_H
#define BOXCAR_TESTS_JOIN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "boxcar/join.h"

#define JOIN_STEPS_MAX 100
#define JOIN_WAITS 2

enum join_kind {
    JOIN_ORDINARY, /* as many members as are expected */
    JOIN_OVERFULL, /* more of them */
    JOIN_SHORT,    /* one too few: it never ends */
    JOIN_DEADLINE, /* may time out before it is done */
    JOIN_CANCELLED /* unless it was done before */
};

/* What the handler of a step says; the payload of its message tells it. */
enum step_kind {
    STEP_GOOD,
    STEP_AGAIN, /* fails twice, then works */
    STEP_BAD,   /* fails for good */
    STEP_NEVER  /* uses its attempts up */
};
#define STEP_ATTEMPTS 3 /* of those that use them up */

/* How a message becomes a member. */
enum step_way {
    WAY_ENQUEUED, /* while it is enqueued */
    WAY_ATTACHED, /* some time after it was enqueued, often after its end */
    WAY_AWAITED,  /* some time before */
    WAY_REPORTED  /* there is no message: its end is reported by hand */
};

struct step {
    enum step_kind kind;
    enum step_way way;
};

struct join_plan {
    int64_t number;
    boxcar_join_id join_id;
    enum join_kind kind;
    int step_count;
    struct step steps[JOIN_STEPS_MAX];
    bool borrows; /* its last member is the last step of the join before it */
    int64_t expected;
    int64_t deadline_ms; /* 0 = none */
    bool waits_first;    /* waits come before the members */
    bool has_on_fail[JOIN_WAITS];
};

/* `wide`: sizes from 1 to 100 alike; otherwise small ones are as frequent as big ones. */
void join_plan_make(struct join_plan *plan, uint64_t seed, bool wide, int64_t number);
/* Whether the join may end before everything that belongs to it is attached. */
bool join_plan_may_end_early(const struct join_plan *plan);
boxcar_message_id step_id(int64_t join_number, int step);
boxcar_message_id wait_id(int64_t join_number, int wait);
const char *step_payload(enum step_kind kind);
bool step_succeeds(enum step_kind kind);
/* The first wait of a join is strict, the second one is not. */
static inline bool wait_allows_failures(int wait) { return wait == 1; }

#define STEP_TOPIC "step"
#define ON_COMPLETE_TOPIC "then.complete"
#define ON_FAIL_TOPIC "then.fail"

#endif
