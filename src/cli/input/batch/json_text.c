#include "json_text.h"

#include <jansson.h>
#include <string.h>

#include "base/utf8.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static inline const char *skip_blanks(const char *at, const char *end) {
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* ---- JSON that was found valid ---- */

/* `at` is on the opening quote; returns what follows the closing one. */
static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* Returns what follows the value: the comma or bracket of the object around it. */
static const char *skip_value(const char *at, const char *end) {
    for (int depth = 0; at < end;) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (depth == 0 && (*at == ',' || *at == '}'))
            return at;
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
    }
    return end;
}

/* `from` and `to` are its quotes. A key with escapes ("pay\u006coad") is read by jansson. */
static bool key_is(const char *from, const char *to, const char *name) {
    size_t length = (size_t)(to - from);
    if (!memchr(from, '\\', length))
        return strlen(name) + 2 == length && memcmp(from + 1, name, length - 2) == 0;
    json_auto_t *key = json_loadb(from, length, JSON_DECODE_ANY, NULL);
    return key && strcmp(json_string_value(key), name) == 0;
}

const char *json_text_find(boxcar_str text, const char *name) {
    const char *end = text.data + text.len;
    const char *at = skip_blanks(text.data, end);
    while (at < end && (*at == '{' || *at == ',')) {
        const char *key = skip_blanks(at + 1, end);
        if (key == end || *key != '"')
            break;
        const char *key_end = skip_string(key, end);
        const char *colon = skip_blanks(key_end, end);
        if (colon == end || *colon != ':')
            break;
        const char *value = skip_blanks(colon + 1, end);
        if (key_is(key, key_end, name))
            return value;
        at = skip_value(value, end);
    }
    return NULL;
}

boxcar_str json_text_member(boxcar_str text, const char *name) {
    const char *end = text.data + text.len;
    const char *value = json_text_find(text, name);
    return value ? (boxcar_str){value, (size_t)(skip_value(value, end) - value)} : BOXCAR_NO_STR;
}

size_t json_text_compact(boxcar_str value, char *into) {
    const char *from = value.data, *to = value.data + value.len;
    char *at = into;
    while (from < to) {
        const char *next = *from == '"' ? skip_string(from, to) : from + 1;
        if (!is_blank(*from))
            at = mempcpy(at, from, (size_t)(next - from));
        from = next;
    }
    return (size_t)(at - into);
}

/* ---- plain JSON ---- */

enum { DEPTH_MAX = 16, MEMBERS_MAX = 32, DIGITS_MAX = 64 };

/* Where the reading is, and where the writing. */
struct copy {
    const char *at, *end;
    char *into;
};

static bool copy_value(struct copy *copy, int depth);

static bool is_next(const struct copy *copy, char c) { return copy->at < copy->end && *copy->at == c; }

static bool copy_until(struct copy *copy, const char *to) {
    size_t length = (size_t)(to - copy->at);
    memcpy(copy->into, copy->at, length);
    copy->into += length;
    copy->at = to;
    return true;
}

static inline bool copy_char(struct copy *copy, char c) {
    if (!is_next(copy, c))
        return false;
    *copy->into++ = c;
    copy->at++;
    return true;
}

static inline void leave_blanks(struct copy *copy) { copy->at = skip_blanks(copy->at, copy->end); }

/* Of a character of a string, an escape included; 0 = it is not plain. */
static size_t character_size(const char *at, const char *end) {
    unsigned char byte = (unsigned char)*at;
    if (byte >= ' ' && byte < 0x80 && byte != '\\')
        return 1;
    if (byte == '\\')
        return end - at >= 2 && at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
    return byte < ' ' ? 0 : utf8_char_size(at, (size_t)(end - at));
}

/* *ret_text: what is between its quotes. */
static bool copy_string(struct copy *copy, boxcar_str *ret_text) {
    const char *at = copy->at + 1;
    if (!is_next(copy, '"'))
        return false;
    while (at < copy->end && *at != '"') {
        size_t size = character_size(at, copy->end);
        if (size == 0)
            return false;
        at += size;
    }
    if (at >= copy->end)
        return false;
    *ret_text = (boxcar_str){copy->at + 1, (size_t)(at - copy->at) - 1};
    return copy_until(copy, at + 1);
}

static const char *skip_digits(const char *at, const char *end) {
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?, and no exponent behind it. */
static bool copy_number(struct copy *copy) {
    const char *start = copy->at + is_next(copy, '-');
    const char *at = skip_digits(start, copy->end);
    if (at == start || (*start == '0' && at > start + 1))
        return false;
    if (at < copy->end && *at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(fraction, copy->end);
        if (at == fraction)
            return false;
    }
    if (at - start > DIGITS_MAX || (at < copy->end && (*at == 'e' || *at == 'E')))
        return false;
    return copy_until(copy, at);
}

static bool copy_word(struct copy *copy, boxcar_str word) {
    return (size_t)(copy->end - copy->at) >= word.len && memcmp(copy->at, word.data, word.len) == 0 &&
           copy_until(copy, copy->at + word.len);
}

/* Names with escapes may be the same though they look different. */
static bool is_new_name(const boxcar_str *names, size_t count, boxcar_str name) {
    if (count == MEMBERS_MAX || memchr(name.data, '\\', name.len))
        return false;
    for (size_t i = 0; i < count; i++)
        if (str_equal(names[i], name))
            return false;
    return true;
}

static bool copy_name(struct copy *copy, boxcar_str *names, size_t count) {
    boxcar_str name;
    if (!copy_string(copy, &name) || !is_new_name(names, count, name))
        return false;
    names[count] = name;
    leave_blanks(copy);
    if (!copy_char(copy, ':'))
        return false;
    leave_blanks(copy);
    return true;
}

/* An object or an array. */
static bool copy_list(struct copy *copy, int depth, char closing) {
    boxcar_str names[MEMBERS_MAX];
    size_t count = 0;
    copy_char(copy, *copy->at);
    leave_blanks(copy);
    if (copy_char(copy, closing))
        return true;
    do {
        leave_blanks(copy);
        if (closing == '}' && !copy_name(copy, names, count++))
            return false;
        if (!copy_value(copy, depth))
            return false;
        leave_blanks(copy);
    } while (copy_char(copy, ','));
    return copy_char(copy, closing);
}

static bool copy_value(struct copy *copy, int depth) {
    boxcar_str text;
    if (copy->at == copy->end || depth == DEPTH_MAX)
        return false;
    switch (*copy->at) {
    case '{':
        return copy_list(copy, depth + 1, '}');
    case '[':
        return copy_list(copy, depth + 1, ']');
    case '"':
        return copy_string(copy, &text);
    case 't':
        return copy_word(copy, BOXCAR_STR("true"));
    case 'f':
        return copy_word(copy, BOXCAR_STR("false"));
    case 'n':
        return copy_word(copy, BOXCAR_STR("null"));
    default:
        return copy_number(copy);
    }
}

size_t json_plain_copy(boxcar_str text, char *into, size_t *ret_length) {
    struct copy copy = {text.data, text.data + text.len, into};
    if (text.len == 0 || (*text.data != '{' && *text.data != '[') || !copy_value(&copy, 0))
        return 0;
    *ret_length = (size_t)(copy.into - into);
    return (size_t)(copy.at - text.data);
}
