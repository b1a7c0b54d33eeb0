#include "json_plain.h"

#include <string.h>

#include "cli/output/text.h"

enum { DEPTH_MAX = 16, MEMBERS_MAX = 32, DIGITS_MAX = 64 };

/* Where the reading is, and where the writing. */
struct copy {
    const char *at, *end;
    char *into;
};

static bool copy_value(struct copy *copy, int depth);

static void skip_blanks(struct copy *copy) {
    while (copy->at < copy->end &&
           (*copy->at == ' ' || *copy->at == '\t' || *copy->at == '\r' || *copy->at == '\n'))
        copy->at++;
}

static bool is_next(const struct copy *copy, char c) { return copy->at < copy->end && *copy->at == c; }

static bool copy_char(struct copy *copy, char c) {
    if (!is_next(copy, c))
        return false;
    *copy->into++ = c;
    copy->at++;
    return true;
}

static void copy_until(struct copy *copy, const char *to) {
    size_t length = (size_t)(to - copy->at);
    memcpy(copy->into, copy->at, length);
    copy->into += length;
    copy->at = to;
}

/* Of a character of a string, an escape included; 0 = it is not plain. */
static size_t character_size(const char *at, const char *end) {
    unsigned char byte = (unsigned char)*at;
    if (byte == '\\')
        return end - at >= 2 && at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
    if (byte < 0x80)
        return byte >= ' ';
    return text_character_size((boxcar_str){at, (size_t)(end - at)});
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
    copy_until(copy, at + 1);
    return true;
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
    copy_until(copy, at);
    return true;
}

static bool copy_word(struct copy *copy, boxcar_str word) {
    if ((size_t)(copy->end - copy->at) < word.len || memcmp(copy->at, word.data, word.len) != 0)
        return false;
    copy_until(copy, copy->at + word.len);
    return true;
}

/* Names with escapes may be the same though they look different. */
static bool is_new_name(const boxcar_str *names, size_t count, boxcar_str name) {
    if (count == MEMBERS_MAX || memchr(name.data, '\\', name.len))
        return false;
    for (size_t i = 0; i < count; i++)
        if (names[i].len == name.len && memcmp(names[i].data, name.data, name.len) == 0)
            return false;
    return true;
}

/* Reads on after an item of a list. true = another item follows; *ret_good false = neither an item nor the
 * end. */
static bool copy_comma(struct copy *copy, char closing, bool *ret_good) {
    skip_blanks(copy);
    *ret_good = true;
    if (copy_char(copy, ',')) {
        skip_blanks(copy);
        return true;
    }
    *ret_good = copy_char(copy, closing);
    return false;
}

static bool copy_member(struct copy *copy, boxcar_str *names, size_t count, int depth) {
    boxcar_str name;
    if (!copy_string(copy, &name) || !is_new_name(names, count, name))
        return false;
    names[count] = name;
    skip_blanks(copy);
    if (!copy_char(copy, ':'))
        return false;
    skip_blanks(copy);
    return copy_value(copy, depth);
}

static bool copy_object(struct copy *copy, int depth) {
    boxcar_str names[MEMBERS_MAX];
    size_t count = 0;
    bool good;
    copy_char(copy, '{');
    skip_blanks(copy);
    if (copy_char(copy, '}'))
        return true;
    do
        good = copy_member(copy, names, count++, depth);
    while (good && copy_comma(copy, '}', &good));
    return good;
}

static bool copy_array(struct copy *copy, int depth) {
    bool good;
    copy_char(copy, '[');
    skip_blanks(copy);
    if (copy_char(copy, ']'))
        return true;
    do
        good = copy_value(copy, depth);
    while (good && copy_comma(copy, ']', &good));
    return good;
}

static bool copy_value(struct copy *copy, int depth) {
    boxcar_str text;
    if (copy->at == copy->end || depth == DEPTH_MAX)
        return false;
    switch (*copy->at) {
    case '{':
        return copy_object(copy, depth + 1);
    case '[':
        return copy_array(copy, depth + 1);
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
