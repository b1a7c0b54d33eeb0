#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/* Bounds of the second byte rule out overlong forms, surrogates and what is above U+10FFFF. */
static bool second_byte_fits(unsigned char first, unsigned char second) {
    switch (first) {
    case 0xE0:
        return second >= 0xA0;
    case 0xED:
        return second <= 0x9F;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second <= 0x8F;
    default:
        return true;
    }
}

size_t text_character_size(boxcar_str text) {
    const unsigned char *bytes = (const unsigned char *)text.data;
    if (text.len == 0)
        return 0;
    size_t size = bytes[0] < 0x80                        ? 1
                  : bytes[0] >= 0xC2 && bytes[0] <= 0xDF ? 2
                  : bytes[0] >= 0xE0 && bytes[0] <= 0xEF ? 3
                  : bytes[0] >= 0xF0 && bytes[0] <= 0xF4 ? 4
                                                         : 0;
    if (size == 0 || size > text.len || (size > 1 && !second_byte_fits(bytes[0], bytes[1])))
        return 0;
    for (size_t i = 1; i < size; i++)
        if (!is_continuation(bytes[i]))
            return 0;
    return size;
}

bool text_is_valid(boxcar_str text) {
    for (size_t at = 0, size; at < text.len; at += size) {
        size = text_character_size((boxcar_str){text.data + at, text.len - at});
        if (!size)
            return false;
    }
    return true;
}

/* C0 and C1 controls and DEL: terminals act on them. */
static bool is_control(const unsigned char *bytes, size_t size) {
    return (size == 1 && (bytes[0] < 0x20 || bytes[0] == 0x7F)) ||
           (size == 2 && bytes[0] == 0xC2 && bytes[1] < 0xA0);
}

static size_t put_escape(FILE *out, unsigned char byte) {
    const char *names = "\n\r\t";
    const char *letters = "nrt";
    const char *found = byte ? strchr(names, byte) : NULL;
    int written = found ? fprintf(out, "\\%c", letters[found - names]) : fprintf(out, "\\x%02x", byte);
    return written > 0 ? (size_t)written : 0;
}

/* What JSON has an escape of its own for. */
static bool is_for_json(const unsigned char *bytes, size_t size) {
    return size == 1 && bytes[0] > 0 && bytes[0] < 0x20;
}

/* Writes the character at the start of `rest`; returns how many bytes of it are used up. */
static size_t put_character(FILE *out, boxcar_str rest, bool for_json, size_t *width) {
    const unsigned char *bytes = (const unsigned char *)rest.data;
    size_t size = text_character_size(rest);
    if (size && (!is_control(bytes, size) || (for_json && is_for_json(bytes, size)))) {
        fwrite(bytes, 1, size, out);
        *width += 1;
        return size;
    }
    size_t used = size ? size : 1;
    for (size_t i = 0; i < used; i++)
        *width += put_escape(out, bytes[i]);
    return used;
}

static char *copy(boxcar_str text, bool for_json, size_t *ret_width) {
    char *result = NULL;
    size_t size = 0, width = 0;
    FILE *out = open_memstream(&result, &size);
    if (!out)
        return NULL;
    while (text.len > 0) {
        size_t used = put_character(out, text, for_json, &width);
        text = (boxcar_str){text.data + used, text.len - used};
    }
    bool whole = !ferror(out); /* no memory to grow: what it has is shorter than the width */
    if (fclose(out) != 0 || !whole) {
        free(result);
        return NULL;
    }
    if (ret_width)
        *ret_width = width;
    return result;
}

char *text_printable(boxcar_str text, size_t *ret_width) { return copy(text, false, ret_width); }

char *text_for_json(boxcar_str text) { return copy(text, true, NULL); }
