#include "json.h"

#include <string.h>

#include "base/utf8.h"

#define DEPTH_MAX 2048 /* as in jansson */

struct scan {
    const char *at, *end;
    size_t depth;
    size_t string_bytes; /* of all strings so far, keys included, in UTF-8 and without escapes */
    unsigned char objects[DEPTH_MAX / 8]; /* a bit for each level that is open: 1 = an object, 0 = an array */
};

static void skip_blanks(struct scan *scan) {
    while (scan->at < scan->end && strchr(" \t\n\r", *scan->at) && *scan->at != '\0')
        scan->at++;
}

static bool take(struct scan *scan, char wanted) {
    if (scan->at == scan->end || *scan->at != wanted)
        return false;
    scan->at++;
    return true;
}

/* ---- strings ---- */

/* The four digits of \uXXXX; -1 = they are not there. */
static int read_unit(struct scan *scan) {
    int unit = 0;

    for (int i = 0; i < 4; i++, scan->at++) {
        if (scan->at == scan->end)
            return -1;
        if (*scan->at >= '0' && *scan->at <= '9')
            unit = unit * 16 + (*scan->at - '0');
        else if ((*scan->at | 32) >= 'a' && (*scan->at | 32) <= 'f')
            unit = unit * 16 + ((*scan->at | 32) - 'a' + 10);
        else
            return -1;
    }
    return unit;
}

/* A character beyond U+FFFF is two units, in this order; half of one is no character. */
static bool skip_unicode(struct scan *scan) {
    int unit = read_unit(scan);

    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF))
        return false;
    scan->string_bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : unit < 0xD800 || unit > 0xDBFF ? 3 : 4;
    if (unit < 0xD800 || unit > 0xDBFF)
        return true;
    if (!take(scan, '\\') || !take(scan, 'u'))
        return false;
    unit = read_unit(scan);
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

static bool skip_string(struct scan *scan) {
    if (!take(scan, '"'))
        return false;
    while (scan->at < scan->end) {
        char c = *scan->at++;

        if (c == '"')
            return true;
        if ((unsigned char)c < 0x20)
            return false;
        if (c == '\\' && take(scan, 'u')) {
            if (!skip_unicode(scan))
                return false;
            continue;
        }
        scan->string_bytes++;
        if (c == '\\' && (scan->at == scan->end || *scan->at == '\0' || !strchr("\"\\/bfnrt", *scan->at++)))
            return false;
    }
    return false;
}

/* ---- numbers and names ---- */

static bool skip_digits(struct scan *scan) {
    const char *from = scan->at;

    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    return scan->at > from;
}

static bool skip_number(struct scan *scan) {
    (void)take(scan, '-');
    if (!take(scan, '0') && !skip_digits(scan))
        return false;
    if (take(scan, '.') && !skip_digits(scan))
        return false;
    if (!take(scan, 'e') && !take(scan, 'E'))
        return true;
    if (!take(scan, '+'))
        (void)take(scan, '-');
    return skip_digits(scan);
}

static bool skip_name(struct scan *scan, const char *name) {
    size_t len = strlen(name);

    if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, name, len) != 0)
        return false;
    scan->at += len;
    return true;
}

/* ---- values ---- */

static bool is_in_object(const struct scan *scan) {
    size_t level = scan->depth - 1;

    return scan->objects[level / 8] >> (level % 8) & 1;
}

static bool enter(struct scan *scan, bool object) {
    if (scan->depth == DEPTH_MAX)
        return false;
    scan->objects[scan->depth / 8] &= (unsigned char)~(1u << (scan->depth % 8));
    scan->objects[scan->depth / 8] |= (unsigned char)((unsigned)object << (scan->depth % 8));
    scan->depth++;
    return true;
}

static bool skip_key(struct scan *scan) {
    skip_blanks(scan);
    if (!skip_string(scan))
        return false;
    skip_blanks(scan);
    return take(scan, ':');
}

static bool skip_plain(struct scan *scan) {
    switch (*scan->at) {
    case '"':
        return skip_string(scan);
    case 't':
        return skip_name(scan, "true");
    case 'f':
        return skip_name(scan, "false");
    case 'n':
        return skip_name(scan, "null");
    default:
        return skip_number(scan);
    }
}

/* Behind a value: closes what ends here. *ret_more: another value of the level that is open follows. */
static bool leave(struct scan *scan, bool *ret_more) {
    *ret_more = false;
    while (scan->depth > 0) {
        skip_blanks(scan);
        if (take(scan, ',')) {
            *ret_more = true;
            return !is_in_object(scan) || skip_key(scan);
        }
        if (!take(scan, is_in_object(scan) ? '}' : ']'))
            return false;
        scan->depth--;
    }
    return true;
}

/* One value, or the beginning of an array or object whose first value follows (*ret_more). */
static bool skip_value(struct scan *scan, bool *ret_more) {
    skip_blanks(scan);
    if (scan->at == scan->end)
        return false;
    if (*scan->at != '{' && *scan->at != '[')
        return skip_plain(scan) && leave(scan, ret_more);
    bool object = *scan->at++ == '{';
    if (!enter(scan, object))
        return false;
    skip_blanks(scan);
    if (scan->at < scan->end && *scan->at == (object ? '}' : ']'))
        return leave(scan, ret_more);
    *ret_more = true;
    return !object || skip_key(scan);
}

static bool scan_all(boxcar_str text, size_t *ret_string_bytes) {
    struct scan scan = {.at = text.data, .end = text.data + text.len};
    bool more = true;

    if (text.len == 0 || !utf8_is_valid(text))
        return false;
    while (more)
        if (!skip_value(&scan, &more))
            return false;
    skip_blanks(&scan);
    *ret_string_bytes = scan.string_bytes;
    return scan.at == scan.end;
}

bool json_is_valid(boxcar_str text) {
    size_t string_bytes;

    return scan_all(text, &string_bytes);
}

/* ---- reading ---- */

static bool is_container(boxcar_str text) {
    struct scan scan = {.at = text.data, .end = text.data + text.len};

    skip_blanks(&scan);
    return scan.at < scan.end && (*scan.at == '{' || *scan.at == '[');
}

static bool is_shortage(boxcar_str text, size_t flags, const json_error_t *problem) {
    switch (json_error_code(problem)) {
    case json_error_unknown:
    case json_error_out_of_memory:
        return true;
    case json_error_duplicate_key:
    case json_error_numeric_overflow:
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return false; /* JSON, but not what is wanted */
    default:
        return (is_container(text) || flags & JSON_DECODE_ANY) && json_is_valid(text);
    }
}

/* As deep as jansson goes. */
static size_t count_string_bytes(const json_t *value) {
    size_t bytes = json_string_length(value), i;
    const char *key;
    json_t *item;

    json_array_foreach(value, i, item) bytes += count_string_bytes(item);
    json_object_foreach((json_t *)value, key, item) bytes += strlen(key) + count_string_bytes(item);
    return bytes;
}

static bool has_duplicates(boxcar_str text, size_t flags) {
    json_error_t problem;
    json_t *value = json_loadb(text.data, text.len, flags | JSON_REJECT_DUPLICATES, &problem);
    bool has = !value && json_error_code(&problem) == json_error_duplicate_key;

    json_decref(value);
    return has;
}

/* Of keys that are there twice, jansson has the last value only. */
static bool is_whole(const json_t *value, size_t string_bytes, boxcar_str text, size_t flags) {
    return count_string_bytes(value) == string_bytes || has_duplicates(text, flags);
}

json_t *json_read(boxcar_str text, size_t flags, bool *ret_no_memory) {
    /* jansson leaves the code alone if it finds no memory at once. */
    json_error_t problem = {.line = 0};
    json_t *value = json_loadb(text.data, text.len, flags, &problem);
    size_t string_bytes = 0;
    bool is_json =
        value && scan_all(text, &string_bytes); /* jansson overlooks a NUL after a name or a number */

    if (value)
        *ret_no_memory = is_json && !is_whole(value, string_bytes, text, flags);
    else
        *ret_no_memory = is_shortage(text, flags, &problem);
    if (is_json && !*ret_no_memory)
        return value;
    json_decref(value);
    return NULL;
}
