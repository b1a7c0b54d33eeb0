/* Which store claims next: the rules, without locks and clocks.
 *
 * Stores are known by their order, a number that rises in the order of the list of stores. */
#ifndef BOXCAR_WORKER_SHARE_SELECT_H
#define BOXCAR_WORKER_SHARE_SELECT_H

#include "boxcar/fleet.h"

/* The claim before. */
struct select_last {
    int64_t order;   /* of its store; 0 = there was none */
    int64_t claimed; /* how many messages it brought */
};

/* The index of the one that claims next. There is at least one candidate; they are in their order. */
size_t select_next(boxcar_selection selection, const boxcar_candidate *const *candidates, size_t count,
                   struct select_last last);

#endif
