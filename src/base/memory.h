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
char *memory_copy_text(boxcar_str text);
/* realloc() of the array that *array_pointer points to. false = out of memory: it is as it was. */
bool memory_resize(void *array_pointer, size_t count, size_t size);

#endif
