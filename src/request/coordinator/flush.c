#include "flush.h"

#include <stdlib.h>

struct flush *flush_new(uint64_t first, size_t room) {
    struct flush *flush = calloc(1, sizeof(*flush));
    const boxcar_flushed **lent;

    if (!flush)
        return NULL;
    flush->first = first;
    flush->room = room;
    flush->items = arena_alloc_array(&flush->arena, room, sizeof(*flush->items));
    lent = arena_alloc_array(&flush->arena, room, sizeof(*lent));
    if (!flush->items || !lent) {
        boxcar_flush_free(&flush->base);
        return NULL;
    }
    for (size_t i = 0; i < room; i++)
        lent[i] = &flush->items[i];
    flush->base.items = lent;
    for (int box = 0; box < BOXES; box++) {
        flush->base.claimed[box] = &flush->claimed[box];
        flush->base.returned[box] = &flush->returned[box];
    }
    return flush;
}

void flush_set_error(struct flush *flush, boxcar_status status, const boxcar_error *why) {
    flush->error = *why;
    flush->error.status = status;
    flush->base.error = &flush->error;
}

bool flush_is_empty(const struct flush *flush) {
    size_t messages = 0;

    for (int box = 0; box < BOXES; box++)
        messages += flush->claimed[box].count + flush->returned[box].count;
    return flush->base.count == 0 && messages == 0 && flush->error.status == BOXCAR_OK;
}

void boxcar_flush_free(boxcar_flush *flush) {
    struct flush *memory = (struct flush *)flush;

    if (!memory)
        return;
    arena_release(&memory->arena);
    free(memory);
}

const boxcar_flushed *boxcar_flush_find(const boxcar_flush *flush, uint64_t ticket) {
    uint64_t first = flush && flush->count > 0 ? flush->items[0]->ticket : 0;

    return first > 0 && ticket >= first && ticket - first < flush->count ? flush->items[ticket - first]
                                                                         : NULL;
}
