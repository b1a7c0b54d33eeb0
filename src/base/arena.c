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

static bool round_up(size_t size, size_t *ret_size) {
    size_t unit = alignof(max_align_t);

    if (size > SIZE_MAX / 2)
        return false;
    *ret_size = size == 0 ? unit : (size + unit - 1) / unit * unit;
    return true;
}

static struct arena_block *block_new(size_t size) {
    struct arena_block *block = calloc(1, sizeof(*block) + size);

    if (block)
        block->size = size;
    return block;
}

static size_t next_block_size(const struct arena *arena) {
    if (!arena->blocks)
        return FIRST_BLOCK_SIZE;
    if (arena->blocks->size >= LARGEST_BLOCK_SIZE / 2)
        return LARGEST_BLOCK_SIZE;
    return arena->blocks->size < FIRST_BLOCK_SIZE ? FIRST_BLOCK_SIZE : arena->blocks->size * 2;
}

/* A big piece gets a block of its own behind the newest one, whose room stays usable. */
static void *alloc_alone(struct arena *arena, size_t size) {
    struct arena_block *block = block_new(size);

    if (!block)
        return NULL;
    if (!arena->blocks) {
        arena->blocks = block;
        arena->used = size;
        return block->data;
    }
    block->next = arena->blocks->next;
    arena->blocks->next = block;
    return block->data;
}

static bool add_block(struct arena *arena, size_t size) {
    struct arena_block *block = block_new(size);

    if (!block)
        return false;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->used = 0;
    return true;
}

void *arena_alloc(struct arena *arena, size_t size) {
    size_t rounded;
    void *memory;

    if (!round_up(size, &rounded))
        return NULL;
    if (!arena->blocks || arena->blocks->size - arena->used < rounded) {
        size_t block_size = next_block_size(arena);
        if (rounded > block_size / 4)
            return alloc_alone(arena, rounded);
        if (!add_block(arena, block_size))
            return NULL;
    }
    memory = arena->blocks->data + arena->used;
    arena->used += rounded;
    return memory;
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return arena_alloc(arena, count * size);
}

/* As many as fit into this many bytes, and a few of large ones. */
static size_t first_capacity(size_t size) {
    return size < FIRST_ARRAY_SIZE / 8 ? FIRST_ARRAY_SIZE / size : 8;
}

void *arena_make_room(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size) {
    size_t more = *capacity == 0 ? first_capacity(size) : *capacity * 2;
    void *larger;

    if (count < *capacity)
        return array;
    larger = arena_alloc_array(arena, more, size);
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
    char *copy;

    if (!text.data) {
        *ret_copy = BOXCAR_NO_STR;
        return true;
    }
    copy = arena_alloc_text(arena, text.len);
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
    struct arena_block *oldest = from->blocks;

    if (!into->blocks) {
        into->blocks = from->blocks;
        into->used = from->used;
        return;
    }
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
    struct arena_block *block = arena->blocks;

    for (struct arena_resource *entry = arena->resources; entry; entry = entry->next)
        entry->release(entry->resource);
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    *arena = ARENA_INIT;
}
