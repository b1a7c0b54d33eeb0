#include "json_text.h"

#include <jansson.h>
#include <string.h>

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && is_blank(*at))
        at++;
    return at;
}

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
    json_t *key = json_loadb(from, length, JSON_DECODE_ANY, NULL);
    bool same = key && strcmp(json_string_value(key), name) == 0;
    json_decref(key);
    return same;
}

size_t json_text_compact(boxcar_str value, char *into) {
    const char *from = value.data, *to = value.data + value.len;
    size_t length = 0;
    while (from < to) {
        const char *next = *from == '"' ? skip_string(from, to) : from + 1;
        if (!is_blank(*from)) {
            memcpy(into + length, from, (size_t)(next - from));
            length += (size_t)(next - from);
        }
        from = next;
    }
    return length;
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
