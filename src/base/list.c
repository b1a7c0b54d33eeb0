#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

/* What every private list begins with. */
struct private_list {
    LIST_OF(void);
};

/* What every public list begins with. Its arena stands in front of it. */
struct public_list {
    const void *items;
    size_t count;
};

struct given {
    struct arena arena;
    struct public_list list;
};

void *list_add(void *list, size_t item_size) {
    struct private_list *private = list;
    void *items =
        arena_make_room(&private->arena, private->items, private->count, &private->capacity, item_size);
    if (!items)
        return NULL;
    private->items = items;
    return (char *)items + private->count++ * item_size;
}

void list_clear(void *list) {
    struct private_list *private = list;
    arena_release(&private->arena);
    private->items = NULL;
    private->count = private->capacity = 0;
}

void list_free(void *list) {
    struct private_list *private = list;

    if (!private)
        return;
    arena_release(&private->arena);
    free(private);
}

const void *list_pointers(struct arena *arena, const void *items, size_t count, size_t item_size) {
    const void **pointers = arena_alloc_array(arena, count + 1, sizeof(*pointers));

    for (size_t i = 0; pointers && i < count; i++)
        pointers[i] = (const char *)items + i * item_size;
    return pointers;
}

boxcar_status list_give(void *list, size_t item_size, size_t public_size, void *ret_list, boxcar_error *err) {
    struct private_list *from = list;
    struct given *given = calloc(1, offsetof(struct given, list) + public_size);

    if (given)
        given->list.items = list_pointers(&from->arena, from->items, from->count, item_size);
    if (!given || !given->list.items) {
        free(given);
        list_free(from);
        return error_no_memory(err);
    }
    given->list.count = from->count;
    given->arena = from->arena;
    free(from);
    void *public = &given->list;
    memcpy(ret_list, &public, sizeof(public));
    return BOXCAR_OK;
}

void boxcar_list_free(const void *list) {
    if (!list)
        return;
    struct given *given = (struct given *)((char *)(uintptr_t)list - offsetof(struct given, list));
    arena_release(&given->arena);
    free(given);
}
