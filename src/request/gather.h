/* Settlements that go out with the next request, and whose they are.
 *
 * Each settlement of a list has a tag that means something to the caller: a number or a pointer. The arrays
 * are kept from one round to the next, when the caller sets the count to 0: nothing is allocated for each
 * settlement. */
#ifndef BOXCAR_REQUEST_GATHER_H
#define BOXCAR_REQUEST_GATHER_H

#include "store/request.h"

union gather_tag {
    uint64_t number;
    void *pointer;
};

struct gather_list {
    boxcar_settlement *items;
    union gather_tag *tags; /* in the same order */
    size_t count, capacity;
};

/* false = out of memory. The error text is borrowed. */
bool gather_add(struct gather_list *list, const boxcar_settlement *settlement, union gather_tag tag);
void gather_release(struct gather_list *list);

/* Some neighbours of an array. */
struct stretch {
    size_t from, count;
};

/* Of an array of rising numbers: what lies in [low, high). */
struct stretch stretch_between(const uint64_t *numbers, size_t count, uint64_t low, uint64_t high);
/* The same of a list whose tags are rising numbers. */
struct stretch gather_between(const struct gather_list *list, uint64_t low, uint64_t high);

/* The answer of a store names the work ids that were affected: they are sorted once, then each settlement can
 * be looked up. Ids of others may be among them. */
void gather_sort(struct work_id_list *affected);
bool gather_affected(const struct work_id_list *affected, const boxcar_settlement *settlement);

#endif
