#include "select.h"

/* The first one behind the last, or the first of all. */
static size_t next_in_turn(const boxcar_candidate *const *candidates, size_t count, int64_t last) {
    for (size_t i = 0; i < count; i++)
        if (candidates[i]->order > last)
            return i;
    return 0;
}

static size_t same_again(const boxcar_candidate *const *candidates, size_t count, int64_t last) {
    for (size_t i = 0; i < count; i++)
        if (candidates[i]->order == last)
            return i;
    return next_in_turn(candidates, count, last);
}

size_t select_next(boxcar_selection selection, const boxcar_candidate *const *candidates, size_t count,
                   struct select_last last) {
    if (selection == BOXCAR_SELECT_DRAIN_FIRST && last.claimed > 0)
        return same_again(candidates, count, last.order);
    return next_in_turn(candidates, count, last.order);
}
