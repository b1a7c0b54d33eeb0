#include "text_pool.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)64 * 1024)

struct text_block {
    struct text_block *next;
    size_t used, size;
    char bytes[];
};

static bool add_block(struct text_pool *pool, size_t size) {
    struct text_block *block = malloc(sizeof(*block) + size);
    if (!block)
        return false;
    *block = (struct text_block){.next = pool->blocks, .size = size};
    pool->blocks = block;
    return true;
}

char *text_pool_reserve(struct text_pool *pool, size_t length) {
    bool fits = pool->blocks && pool->blocks->size - pool->blocks->used >= length;
    if (!fits && !add_block(pool, length > BLOCK_SIZE ? length : BLOCK_SIZE))
        return NULL;
    struct text_block *block = pool->blocks;
    char *bytes = block->bytes + block->used;
    block->used += length;
    pool->size += length;
    return bytes;
}

void text_pool_give_back(struct text_pool *pool, size_t length) {
    pool->blocks->used -= length;
    pool->size -= length;
}

boxcar_str text_pool_copy(struct text_pool *pool, boxcar_str text) {
    char *bytes = text_pool_reserve(pool, text.len);
    if (!bytes)
        return BOXCAR_NO_STR;
    memcpy(bytes, text.data, text.len);
    return (boxcar_str){bytes, text.len};
}

void text_pool_release(struct text_pool *pool) {
    for (struct text_block *block = pool->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *pool = (struct text_pool){.blocks = NULL};
}
