/* What one flush did; see boxcar/coordinator.h. */
#ifndef BOXCAR_REQUEST_COORDINATOR_FLUSH_H
#define BOXCAR_REQUEST_COORDINATOR_FLUSH_H

#include "boxcar/coordinator.h"
#include "store/request.h"

/* What the caller gets, and what lends it. */
struct flush {
    boxcar_flush
        base; /* first: the caller's pointer. Its count is of those that are decided: the first ones */
    struct arena arena;    /* of everything, messages included */
    uint64_t first;        /* ticket of the first result */
    boxcar_flushed *items; /* by ticket */
    size_t room;           /* of them */
    boxcar_message_list claimed[BOXES], returned[BOXES];
    boxcar_error error; /* status BOXCAR_OK = nothing is left */
};

/* Room for `room` results from this ticket on; NULL = out of memory. */
struct flush *flush_new(uint64_t first, size_t room);
/* Why the rest is still queued. */
void flush_set_error(struct flush *flush, boxcar_status status, const boxcar_error *why);
/* Whether there is something to tell. */
bool flush_is_empty(const struct flush *flush);

#endif
