/* What goes out to one box with the next round trip: verdicts, stages, renewals. Tags are jobs.
 *
 * The arrays are kept from one round to the next: nothing is allocated per message. */
#ifndef BOXCAR_WORKER_LOOP_OUTBOUND_H
#define BOXCAR_WORKER_LOOP_OUTBOUND_H

#include "request/gather.h"
#include "worker/crew/job.h"

struct outbound {
    struct gather_list lists[BOXCAR_SETTLE_KINDS];
    struct wait *waits; /* in the order of lists[BOXCAR_RESOLVE] */
    size_t wait_capacity;
};

void outbound_clear(struct outbound *out); /* memory kept */
void outbound_release(struct outbound *out);
bool outbound_is_empty(const struct outbound *out);

/* Adds a job to a list; false = out of memory. The job's error text is borrowed. */
bool outbound_add(struct outbound *out, boxcar_settle_kind kind, struct job *job);

static inline struct job *outbound_job(const struct gather_list *list, size_t i) {
    return list->tags[i].pointer;
}

#endif
