#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

/* Databases and users put anything into texts; a message stays one line of UTF-8. */
void error_tidy(char *text) {
    size_t len = strlen(text), i = 0;

    while (i < len) {
        size_t size = utf8_char_size(text + i, len - i);
        if (size == 0)
            text[i] = '?';
        else if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = ' ';
        i += size == 0 ? 1 : size;
    }
}

static void fill(boxcar_error *err, boxcar_status status, const char *argument, const char *format,
                 va_list args) {
    if (!err)
        return;
    boxcar_error filled = {.status = status, .retryable = status == BOXCAR_E_UNAVAILABLE};
    int len = vsnprintf(filled.message, sizeof(filled.message), format, args);
    if (len >= (int)sizeof(filled.message)) {
        boxcar_str whole = {filled.message, sizeof(filled.message) - 1};
        filled.message[utf8_cut_partial(whole).len] = '\0';
    }
    error_tidy(filled.message);
    snprintf(filled.argument, sizeof(filled.argument), "%s", argument);
    *err = filled; /* last: the arguments may point into *err */
}

boxcar_status error_set(boxcar_error *err, boxcar_status status, const char *format, ...) {
    va_list args;

    va_start(args, format);
    fill(err, status, "", format, args);
    va_end(args);
    return status;
}

boxcar_status error_invalid(boxcar_error *err, const char *argument, const char *format, ...) {
    va_list args;

    va_start(args, format);
    fill(err, BOXCAR_E_INVALID, argument, format, args);
    va_end(args);
    return BOXCAR_E_INVALID;
}

boxcar_status error_locate(boxcar_status status, const char *where, boxcar_error *err) {
    size_t len = strlen(where), max = sizeof(err->argument) - 1;

    if (status == BOXCAR_OK || !err || err->argument[0] == '\0' || len > max)
        return status;
    memmove(err->argument + len, err->argument, max - len);
    memcpy(err->argument, where, len);
    err->argument[max] = '\0';
    return status;
}

boxcar_status error_locate_item(boxcar_status status, const char *list, size_t i, boxcar_error *err) {
    char where[40];

    if (status == BOXCAR_OK)
        return BOXCAR_OK;
    snprintf(where, sizeof(where), "%s[%zu].", list, i);
    return error_locate(status, where, err);
}

boxcar_status error_no_memory(boxcar_error *err) {
    return error_set(err, BOXCAR_E_NO_MEMORY, "out of memory");
}
