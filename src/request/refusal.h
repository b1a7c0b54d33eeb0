/* When a store does not take a request: is the store the cause, or one operation in the request? And which
 * one?
 *
 * After an outage the same request is sent again. A refusal would come again with the same request. So the
 * refused operation has to be found, or it would hold back the others for ever. */
#ifndef BOXCAR_REQUEST_REFUSAL_H
#define BOXCAR_REQUEST_REFUSAL_H

#include "boxcar/error.h"

enum refusal {
    REFUSAL_NONE,    /* an outage, or another cause in the store as a whole */
    REFUSAL_CERTAIN, /* an operation in the request: a bad argument, a join that does not exist or has
                        ended */
    REFUSAL_MAYBE    /* either: it is an operation if the store takes other requests */
};

enum refusal refusal_of(boxcar_status status);

/* The search in a list of operations. Those before `from` are decided. At the start all fields are zero
 * except `end`. The search sends halves: it finds one refused operation among n in about log2(n) tries. */
struct refusal_search {
    size_t from, end;
    size_t bad_end; /* an operation in [from, bad_end) is refused; if the range is empty, none is known */
};

/* How many operations to send next, starting at `from`; 0 = the end is reached. */
size_t refusal_next(const struct refusal_search *search);
/* The store accepted the next `count` operations. */
void refusal_taken(struct refusal_search *search, size_t count);
/* The store refused the next `count` operations. true = `count` is 1: this is the refused one, and the search
 * continues after it. */
bool refusal_refused(struct refusal_search *search, size_t count);
/* Goes back to `from`, which was refused alone, and tries it alone again. */
void refusal_rewind(struct refusal_search *search, size_t from);

#endif
