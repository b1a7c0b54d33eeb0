#include "arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK_SIZE ((size_t)4096)
#define FIRST_ARRAY_SIZE ((size_t)2048) /* of one that grows */
#define LARGEST_BLOCK_SIZE ((size_t)1 << 20)

struct arena_block {
    struct arena_block *next; /* older */
    size_t size;              /* of data */
    alignas(max_align_t) unsigned char data[];
};

struct arena_resource {
    struct arena_resource *next; /* attached earlier */
    void *resource;
    void (*release)(void *resource);
};

static size_t round_up(size_t size) {
    size_t unit = alignof(max_align_t);

    return size == 0 ? unit : (size + unit - 1) / unit * unit;
}

static size_t next_block_size(const struct arena *arena) {
    size_t doubled = arena->blocks ? arena->blocks->size * 2 : 0;

    if (doubled < FIRST_BLOCK_SIZE)
        return FIRST_BLOCK_SIZE;
    return doubled < LARGEST_BLOCK_SIZE ? doubled : LARGEST_BLOCK_SIZE;
}

static struct arena_block *add_block(struct arena_block **before, size_t size) {
    struct arena_block *block = calloc(1, sizeof(*block) + size);

    if (!block)
        return NULL;
    block->size = size;
    block->next = *before;
    *before = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size) {
    if (size > SIZE_MAX / 2)
        return NULL;
    size = round_up(size);
    if (!arena->blocks || arena->blocks->size - arena->used < size) {
        size_t block_size = next_block_size(arena);
        bool is_big = size > block_size / 4;

        /* A big piece gets a block of its own behind the newest one, whose room stays usable. */
        if (is_big && arena->blocks) {
            struct arena_block *block = add_block(&arena->blocks->next, size);
            return block ? block->data : NULL;
        }
        if (!add_block(&arena->blocks, is_big ? size : block_size))
            return NULL;
        arena->used = 0;
    }
    arena->used += size;
    return arena->blocks->data + arena->used - size;
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return arena_alloc(arena, count * size);
}

void *arena_make_room(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity)
        return array;
    /* At first as many as fit into this many bytes, and a few of large ones. */
    size_t first = size < FIRST_ARRAY_SIZE / 8 ? FIRST_ARRAY_SIZE / size : 8;
    size_t more = *capacity == 0 ? first : *capacity * 2;
    void *larger = arena_alloc_array(arena, more, size);
    if (!larger)
        return NULL;
    if (count > 0)
        memcpy(larger, array, count * size);
    *capacity = more;
    return larger;
}

char *arena_alloc_text(struct arena *arena, size_t len) {
    return len == SIZE_MAX ? NULL : arena_alloc(arena, len + 1);
}

bool arena_copy_str(struct arena *arena, boxcar_str text, boxcar_str *ret_copy) {
    if (!text.data) {
        *ret_copy = BOXCAR_NO_STR;
        return true;
    }
    char *copy = arena_alloc_text(arena, text.len);
    if (!copy)
        return false;
    memcpy(copy, text.data, text.len);
    *ret_copy = (boxcar_str){copy, text.len};
    return true;
}

bool arena_attach(struct arena *arena, void *resource, void (*release)(void *resource)) {
    struct arena_resource *entry = arena_alloc(arena, sizeof(*entry));

    if (!entry)
        return false;
    *entry = (struct arena_resource){.next = arena->resources, .resource = resource, .release = release};
    arena->resources = entry;
    return true;
}

static void adopt_blocks(struct arena *into, struct arena *from) {
    if (!into->blocks) {
        into->blocks = from->blocks;
        into->used = from->used;
        return;
    }
    struct arena_block *oldest = from->blocks;
    while (oldest->next)
        oldest = oldest->next;
    oldest->next = into->blocks->next;
    into->blocks->next = from->blocks;
}

static void adopt_resources(struct arena *into, struct arena *from) {
    struct arena_resource *oldest = from->resources;

    if (!oldest)
        return;
    while (oldest->next)
        oldest = oldest->next;
    oldest->next = into->resources;
    into->resources = from->resources;
}

void arena_adopt(struct arena *into, struct arena *from) {
    if (from->blocks) {
        adopt_blocks(into, from);
        adopt_resources(into, from);
    }
    *from = ARENA_INIT;
}

void arena_release(struct arena *arena) {
    for (struct arena_resource *entry = arena->resources; entry; entry = entry->next)
        entry->release(entry->resource);
    for (struct arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = ARENA_INIT;
}
