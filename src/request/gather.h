/* Settlements that go out with the next request, and whose they are.
 *
 * Each settlement of a list has a tag that means something to the caller: a number or a
 * pointer. The answer of a store names work ids; gather_match() turns it back into tags. The arrays are
 * kept from one round to the next: nothing is allocated for each settlement. */
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

/* Some neighbours of a list; lent. */
struct gather_range {
    const boxcar_settlement *items;
    const union gather_tag *tags;
    size_t count;
};

/* false = out of memory. The error text is borrowed. */
bool gather_add(struct gather_list *list, const boxcar_settlement *settlement, union gather_tag tag);
void gather_clear(struct gather_list *list); /* memory kept */
void gather_release(struct gather_list *list);

struct gather_range gather_all(const struct gather_list *list);
/* Of a list whose tags are rising numbers: what lies in [from, to). */
struct gather_range gather_between(const struct gather_list *list, uint64_t from, uint64_t to);
/* The same for any array of rising numbers: where the first one that is not below `number` stands. */
size_t gather_position(const uint64_t *numbers, size_t count, uint64_t number);

/* Calls `found` for every settlement of a range, saying whether its work id is among the affected.
 * The affected ids are sorted in place. */
void gather_match(struct gather_range range, struct work_id_list *affected,
                  void (*found)(void *context, union gather_tag tag, const boxcar_settlement *settlement,
                                bool affected),
                  void *context);

#endif
