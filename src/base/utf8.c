#include "utf8.h"

#include <string.h>

static bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/* The second byte decides about overlong forms, surrogates and the end of Unicode. */
static bool second_byte_fits(unsigned char first, unsigned char second) {
    unsigned char min = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char max = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;

    return second >= min && second <= max;
}

static size_t size_by_first(unsigned char first) {
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return 2;
    if (first >= 0xE0 && first <= 0xEF)
        return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

size_t utf8_char_size(const char *data, size_t len) {
    const unsigned char *bytes = (const unsigned char *)data;
    size_t size = len > 0 ? size_by_first(bytes[0]) : 0;

    if (size > len || (size > 1 && !second_byte_fits(bytes[0], bytes[1])))
        return 0;
    for (size_t i = 2; i < size; i++) {
        if (!is_continuation(bytes[i]))
            return 0;
    }
    return size;
}

/* How many bytes of plain ASCII, in steps of 8, stand at the beginning. */
static size_t skip_ascii(const char *data, size_t len) {
    size_t i = 0;

    for (; len - i >= 8; i += 8) {
        uint64_t word;
        memcpy(&word, data + i, sizeof(word));
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    return i;
}

bool utf8_is_valid(boxcar_str text) {
    for (size_t i = skip_ascii(text.data, text.len); i < text.len;) {
        size_t size = utf8_char_size(text.data + i, text.len - i);
        if (size == 0)
            return false;
        i += size;
        i += skip_ascii(text.data + i, text.len - i);
    }
    return true;
}

size_t utf8_length(boxcar_str text) {
    size_t length = 0;

    for (size_t i = 0; i < text.len; i++)
        length += !is_continuation((unsigned char)text.data[i]);
    return length;
}

boxcar_str utf8_cut(boxcar_str text, size_t max_bytes) {
    if (text.len <= max_bytes)
        return text;
    while (max_bytes > 0 && is_continuation((unsigned char)text.data[max_bytes]))
        max_bytes--;
    return (boxcar_str){text.data, max_bytes};
}

boxcar_str utf8_cut_partial(boxcar_str text) {
    for (size_t back = 1; back <= 3 && back <= text.len; back++) {
        unsigned char byte = (unsigned char)text.data[text.len - back];
        if (!is_continuation(byte))
            return (boxcar_str){text.data, size_by_first(byte) > back ? text.len - back : text.len};
    }
    return text;
}

bool str_has_nul(boxcar_str text) { return text.len > 0 && memchr(text.data, '\0', text.len) != NULL; }

bool str_equal(boxcar_str a, boxcar_str b) {
    if (!a.data || !b.data)
        return !a.data && !b.data;
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

bool str_starts_with(boxcar_str text, boxcar_str prefix) {
    if (prefix.len > text.len)
        return false;
    return prefix.len == 0 || memcmp(text.data, prefix.data, prefix.len) == 0;
}

int str_compare(boxcar_str a, boxcar_str b) {
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter > 0 ? memcmp(a.data, b.data, shorter) : 0;
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

uint32_t str_hash(boxcar_str text, uint32_t seed) { /* FNV-1a */
    uint32_t value = 2166136261u ^ seed;
    for (size_t i = 0; i < text.len; i++)
        value = (value ^ (unsigned char)text.data[i]) * 16777619u;
    return value;
}

bool utf8_repair(struct buf *into, boxcar_str text, size_t max_bytes) {
    static const boxcar_str stand_in = {"\xef\xbf\xbd", 3};
    size_t start = into->len;

    if (!buf_reserve(into, 1)) { /* an empty text is a text */
        buf_release(into);
        return false;
    }
    for (size_t i = 0; i < text.len;) {
        size_t size = utf8_char_size(text.data + i, text.len - i);
        bool good = size > 0 && text.data[i] != '\0';
        boxcar_str piece = good ? (boxcar_str){text.data + i, size} : stand_in;

        if (into->len - start + piece.len > max_bytes)
            break;
        buf_append_str(into, piece);
        i += size > 0 ? size : 1;
    }
    if (into->failed)
        buf_release(into);
    return into->data != NULL;
}
