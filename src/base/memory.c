#include "memory.h"

#include <string.h>

char *memory_copy_text(boxcar_str text) {
    char *copy = text.data && text.len < SIZE_MAX ? malloc(text.len + 1) : NULL;
    if (copy) {
        memcpy(copy, text.data, text.len);
        copy[text.len] = '\0';
    }
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
