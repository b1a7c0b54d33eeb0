/* When a store does not take a request: is it the store, or one thing in the request? And which?
 *
 * An outage is waited out: the same request later. A refusal comes again with the same request, so the
 * one that is refused has to be found, or it would hold back the others for ever. */
#ifndef BOXCAR_REQUEST_REFUSAL_H
#define BOXCAR_REQUEST_REFUSAL_H

#include "boxcar/error.h"

enum refusal {
    REFUSAL_NONE,    /* an outage, or something else that concerns the store as a whole */
    REFUSAL_CERTAIN, /* it is something in the request: an argument, a join that does not exist or has ended */
    REFUSAL_MAYBE    /* either: only a store that takes others shows that it is not the store */
};

enum refusal refusal_of(boxcar_status status);

/* The search among things that stand in a row. Everything before `from` is through. All zero but `end`
 * at the start. It sends halves: of n things, one that is refused is found in about log2(n) tries. */
struct refusal_search {
    size_t from, end;
    size_t bad_end; /* something in [from, bad_end) is refused; none is known if that is empty */
};

/* How many to send next, beginning at `from`; 0 = the end is reached. */
size_t refusal_next(const struct refusal_search *search);
/* The store took so many. */
void refusal_taken(struct refusal_search *search, size_t count);
/* The store refused so many. true = it was one alone: found, and passed over. */
bool refusal_refused(struct refusal_search *search, size_t count);
/* Goes back to `from`, which was refused alone and is tried alone again. */
void refusal_rewind(struct refusal_search *search, size_t from);

#endif
