#include "text.h"

#include <string.h>

#include "base/utf8.h"

/* C0 and C1 controls and DEL: terminals act on them. */
static bool is_control(const char *character, size_t size) {
    const unsigned char *bytes = (const unsigned char *)character;
    return (size == 1 && (bytes[0] < 0x20 || bytes[0] == 0x7F)) ||
           (size == 2 && bytes[0] == 0xC2 && bytes[1] < 0xA0);
}

/* What JSON has an escape of its own for. */
static bool is_for_json(const char *character, size_t size) {
    return size == 1 && character[0] > 0 && character[0] < 0x20;
}

static void put_escape(struct buf *out, char byte) {
    static const char BYTES[] = "\n\r\t", LETTERS[] = "nrt";
    const char *found = byte ? strchr(BYTES, byte) : NULL;
    if (found)
        buf_append_format(out, "\\%c", LETTERS[found - BYTES]);
    else
        buf_append_format(out, "\\x%02x", (unsigned char)byte);
}

/* Appends the character at the start of `rest`; returns how many bytes of it are used up. */
static size_t put_character(struct buf *out, boxcar_str rest, bool for_json, size_t *width) {
    size_t size = utf8_char_size(rest.data, rest.len), used = size ? size : 1, before = out->len;
    if (size && (!is_control(rest.data, size) || (for_json && is_for_json(rest.data, size)))) {
        buf_append(out, rest.data, size);
        *width += 1;
        return size;
    }
    for (size_t i = 0; i < used; i++)
        put_escape(out, rest.data[i]);
    *width += out->len - before;
    return used;
}

static char *copy(boxcar_str text, bool for_json, size_t *ret_width) {
    struct buf out = BUF_INIT;
    size_t width = 0;
    buf_reserve(&out, text.len); /* a copy of an empty text is a text */
    for (size_t used = 0; used < text.len;)
        used += put_character(&out, (boxcar_str){text.data + used, text.len - used}, for_json, &width);
    if (out.failed)
        buf_release(&out);
    else if (ret_width)
        *ret_width = width;
    return out.data;
}

char *text_printable(boxcar_str text, size_t *ret_width) { return copy(text, false, ret_width); }

char *text_for_json(boxcar_str text) { return copy(text, true, NULL); }
