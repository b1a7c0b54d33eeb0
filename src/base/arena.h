/* An arena: many small allocations, freed at once. Results of a batch live in one. */
#ifndef BOXCAR_BASE_ARENA_H
#define BOXCAR_BASE_ARENA_H

#include "boxcar/types.h"

struct arena_block;
struct arena_resource;

struct arena {
    struct arena_block *blocks;       /* newest first */
    size_t used;                      /* bytes used in the newest block */
    struct arena_resource *resources; /* what else ends with the arena, newest first */
};

#define ARENA_INIT ((struct arena){.blocks = NULL, .used = 0, .resources = NULL})

/* NULL when out of memory. Memory is zeroed and aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);
/* As arena_alloc(count * size), NULL on overflow. count == 0 gives a valid pointer. */
void *arena_alloc_array(struct arena *arena, size_t count, size_t size);
/* Room for one more item in an array of the arena that has `count` of *capacity (0 at first: there is none
 * yet): the array itself, or a copy with more room. NULL = out of memory; the array is as it was. */
void *arena_make_room(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size);
/* Copies bytes and adds a NUL behind them; an absent text stays absent and is no failure:
 * false only when out of memory. */
bool arena_copy_str(struct arena *arena, boxcar_str text, boxcar_str *ret_copy);
/* Room for text that the caller fills in; one byte more than len is allocated. */
char *arena_alloc_text(struct arena *arena, size_t len);
/* Hands over something that is not plain memory, such as a database's result that texts are
 * lent from; `release` is called with it when the arena is released. False when out of memory:
 * the resource is still the caller's then. */
bool arena_attach(struct arena *arena, void *resource, void (*release)(void *resource));
/* Moves everything from `from` into `into`; `from` is empty afterwards. */
void arena_adopt(struct arena *into, struct arena *from);
void arena_release(struct arena *arena); /* frees everything; the arena can be used again */

#endif
