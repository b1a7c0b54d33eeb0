/* Many texts that are freed at once. */
#ifndef BOXCAR_CLI_INPUT_BATCH_TEXT_POOL_H
#define BOXCAR_CLI_INPUT_BATCH_TEXT_POOL_H

#include <boxcar/types.h>

struct text_block;

struct text_pool {
    struct text_block *blocks; /* newest first */
    size_t size;               /* of all texts */
};

/* Room for `length` bytes; NULL = out of memory. */
char *text_pool_reserve(struct text_pool *pool, size_t length);
/* Takes back the end of what was reserved last. */
void text_pool_give_back(struct text_pool *pool, size_t length);
/* A copy of a text that is there; data NULL = out of memory. */
boxcar_str text_pool_copy(struct text_pool *pool, boxcar_str text);
void text_pool_release(struct text_pool *pool);

#endif
