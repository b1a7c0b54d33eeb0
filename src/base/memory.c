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

bool memory_resize(void *array_pointer, size_t count, size_t size) {
    void *array;
    memcpy(&array, array_pointer, sizeof(array));
    array = realloc(array, count * size);
    if (!array)
        return false;
    memcpy(array_pointer, &array, sizeof(array));
    return true;
}
