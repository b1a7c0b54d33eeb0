/* Ownership at the declaration: cleanup attributes and small allocation helpers. */
#ifndef BOXCAR_BASE_MEMORY_H
#define BOXCAR_BASE_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"

#define CLEANUP(function) __attribute__((cleanup(function)))

static inline void memory_free_cleanup(void *pointer) { free(*(void **)pointer); }
#define AUTO_FREE CLEANUP(memory_free_cleanup)
#define AUTO_BUF CLEANUP(buf_release)
#define AUTO_ARENA CLEANUP(arena_release)

/* A NUL-terminated copy; NULL when out of memory or the text is absent. */
static inline char *memory_copy_text(boxcar_str text) {
    char *copy = text.data && text.len < SIZE_MAX ? malloc(text.len + 1) : NULL;

    if (copy) {
        memcpy(copy, text.data, text.len);
        copy[text.len] = '\0';
    }
    return copy;
}

#endif
