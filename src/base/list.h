/* Lists: an array in an arena of its own. Inside the library a list is allocated with malloc and begins with
 * LIST_OF(item). A list for the caller has pointers to its items, so that items may grow; see
 * docs/decisions/0042. */
#ifndef BOXCAR_BASE_LIST_H
#define BOXCAR_BASE_LIST_H

#include "arena.h"
#include "boxcar/error.h"

/* The members that every private list begins with. */
#define LIST_OF(type)                                                                                        \
    struct arena arena;                                                                                      \
    type *items;                                                                                             \
    size_t count, capacity

/* One more item at the end of a private list, all zero; NULL = out of memory. */
void *list_add(void *list, size_t item_size);
/* Empties a private list, so that it can be filled anew. */
void list_clear(void *list);
/* Frees a private list and what its arena holds; NULL is fine. */
void list_free(void *list);

/* Pointers to the items of an array, in the arena, with NULL behind the last. NULL = out of memory. */
const void *list_pointers(struct arena *arena, const void *items, size_t count, size_t item_size);

/* Turns a private list into the public one of the same items, for boxcar_list_free(). Takes the private one
 * over, also on failure. Use LIST_GIVE, which checks that both have items of the same type. */
boxcar_status list_give(void *list, size_t item_size, size_t public_size, void *ret_list, boxcar_error *err);
#define LIST_GIVE(list, ret_list, err)                                                                       \
    (__extension__({                                                                                         \
        _Static_assert(__builtin_types_compatible_p(__typeof__((*(ret_list))->items),                        \
                                                    const __typeof__(*(list)->items) *const *),              \
                       "both lists have items of the same type");                                            \
        list_give((list), sizeof(*(list)->items), sizeof(**(ret_list)), (ret_list), (err));                  \
    }))

#endif
