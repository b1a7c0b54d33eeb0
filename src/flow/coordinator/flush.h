/* What one flush did; see boxcar/coordinator.h. */
#ifndef BOXCAR_FLOW_COORDINATOR_FLUSH_H
#define BOXCAR_FLOW_COORDINATOR_FLUSH_H

#include "boxcar/coordinator.h"
#include "store/batch.h"

struct boxcar_flush {
    struct arena arena;    /* of everything, messages included */
    uint64_t first;        /* ticket of the first result */
    boxcar_flushed *items; /* by ticket */
    size_t count;          /* of those that are decided: the first ones */
    size_t refused_count;
    boxcar_message_list claimed[BOXES];
    boxcar_error error;    /* status BOXCAR_OK = nothing is left */
};

/* Room for `room` results from this ticket on; NULL = out of memory. */
struct boxcar_flush *flush_new(uint64_t first, size_t room);
/* Whether there is something to tell. */
bool flush_is_empty(const struct boxcar_flush *flush);

#endif
