#include "flush.h"

#include <stdlib.h>

struct boxcar_flush *flush_new(uint64_t first, size_t room) {
    struct boxcar_flush *flush = calloc(1, sizeof(*flush));

    if (!flush)
        return NULL;
    flush->first = first;
    flush->items = arena_alloc_array(&flush->arena, room, sizeof(*flush->items));
    if (!flush->items) {
        boxcar_flush_free(flush);
        return NULL;
    }
    return flush;
}

bool flush_is_empty(const struct boxcar_flush *flush) {
    return flush->count == 0 && flush->claimed[BOXCAR_OUTBOX].count == 0 &&
           flush->claimed[BOXCAR_INBOX].count == 0 && flush->error.status == BOXCAR_OK;
}

void boxcar_flush_free(boxcar_flush *flush) {
    if (!flush)
        return;
    arena_release(&flush->arena);
    free(flush);
}

size_t boxcar_flush_count(const boxcar_flush *flush) { return flush ? flush->count : 0; }

const boxcar_flushed *boxcar_flush_get(const boxcar_flush *flush, size_t i) {
    return flush && i < flush->count ? &flush->items[i] : NULL;
}

const boxcar_flushed *boxcar_flush_find(const boxcar_flush *flush, uint64_t ticket) {
    return flush && ticket >= flush->first ? boxcar_flush_get(flush, (size_t)(ticket - flush->first)) : NULL;
}

size_t boxcar_flush_refused_count(const boxcar_flush *flush) { return flush ? flush->refused_count : 0; }

const boxcar_message_list *boxcar_flush_claimed(const boxcar_flush *flush, boxcar_box box) {
    static const boxcar_message_list nothing = {.items = NULL};

    return flush && (unsigned)box < BOXES ? &flush->claimed[box] : &nothing;
}

const boxcar_error *boxcar_flush_error(const boxcar_flush *flush) {
    return flush && flush->error.status != BOXCAR_OK ? &flush->error : NULL;
}
