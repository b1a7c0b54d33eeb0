#include "memory.h"

#include <string.h>

char *memory_copy_text(boxcar_str text) {
    char *copy;

    if (!text.data || text.len == SIZE_MAX)
        return NULL;
    copy = malloc(text.len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}
