/* Sends generations, one after the other, and finds out what became of each operation.
 *
 * An outage ends the flush: everything that has no answer stays, and goes out again as it is, marked as
 * sent before if it may have taken effect. A refusal is looked into (refusal.h): what is refused alone is
 * passed over and the others go on. Whether it really is the operation and not the store shows when
 * the store takes something else in the same flush; until then a refusal that may be either is
 * undecided, and if nothing else is taken, it stays queued like the rest. */
#ifndef BOXCAR_REQUEST_COORDINATOR_FLUSHER_H
#define BOXCAR_REQUEST_COORDINATOR_FLUSHER_H

#include "generation.h"

/* What one flush did: what the caller gets (see boxcar/coordinator.h), and what lends it. */
struct flush {
    boxcar_flush
        base; /* first: the caller's pointer. Its count is of those that are decided: the first ones */
    struct arena arena;    /* of everything, messages included */
    uint64_t first;        /* ticket of the first result */
    boxcar_flushed *items; /* by ticket */
    size_t room;           /* of them */
    boxcar_message_list claimed[BOXES], returned[BOXES];
    boxcar_error error; /* why the rest is still queued; status BOXCAR_OK = nothing is left */
};

/* Room for `room` results from this ticket on; NULL = out of memory. */
struct flush *flush_new(uint64_t first, size_t room);

struct flusher {
    /* Given. */
    struct boxcar_store *store;
    boxcar_owner owner;
    struct generation *head, *last;    /* what to send, sealed; NULL = nothing */
    const boxcar_flush_options *asked; /* what comes back with the last request; NULL = nothing */
    int64_t stale_threshold_ms;        /* with the same request; 0 = none is removed */
    struct flush *flush;               /* has room for all of them */
    size_t patience;                   /* this many undecided refusals end the flush */
    /* Its own. */
    bool answered;    /* what was asked for came back */
    bool proven;      /* the store has taken something */
    size_t undecided; /* refusals */
};

/* BOXCAR_OK = nothing is left. In any case `decided` of each generation says how far it came, and the
 * flush has results for just these. */
boxcar_status flusher_run(struct flusher *flusher, boxcar_error *err);

#endif
