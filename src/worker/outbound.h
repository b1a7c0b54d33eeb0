/* What goes out with the next round trip: verdicts, renewals, and whose they are.
 *
 * The arrays are kept from one round to the next: nothing is allocated per message. */
#ifndef BOXCAR_WORKER_OUTBOUND_H
#define BOXCAR_WORKER_OUTBOUND_H

#include "job.h"

struct outbound_list {
    boxcar_settlement *items;
    struct job **jobs; /* in the same order */
    size_t count, capacity;
};

struct outbound {
    struct outbound_list lists[SETTLE_KINDS];
    struct wait *waits; /* in the order of lists[SETTLE_RESOLVE] */
    size_t wait_capacity;
    int *stages; /* in the order of lists[SETTLE_RECORD] */
    size_t stage_capacity;
};

void outbound_clear(struct outbound *out); /* memory kept */
void outbound_release(struct outbound *out);
bool outbound_is_empty(const struct outbound *out);

/* Adds a job to a list; false = out of memory. The job's error text is borrowed. */
bool outbound_add(struct outbound *out, enum settle_kind kind, struct job *job);

/* Calls `found` for every job of a list, saying whether its id is among the affected. The affected ids
 * are sorted in place. */
void outbound_match(const struct outbound_list *list, struct work_id_list *affected,
                    void (*found)(void *context, struct job *job, bool affected), void *context);

#endif
