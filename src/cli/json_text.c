#include "json_text.h"

#include <jansson.h>
#include <stdlib.h>
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

/* A key may be written with escapes ("pay\u006coad"), so jansson reads it. */
static bool key_is(const char *from, const char *to, const char *name) {
    json_t *key = json_loadb(from, (size_t)(to - from), JSON_DECODE_ANY, NULL);
    bool same = key && strcmp(json_string_value(key), name) == 0;
    json_decref(key);
    return same;
}

static char *compact(const char *from, const char *to, size_t *ret_length) {
    char *result = malloc((size_t)(to - from) + 1);
    size_t length = 0;
    if (!result)
        return NULL;
    while (from < to) {
        const char *next = *from == '"' ? skip_string(from, to) : from + 1;
        if (!is_blank(*from)) {
            memcpy(result + length, from, (size_t)(next - from));
            length += (size_t)(next - from);
        }
        from = next;
    }
    result[length] = '\0';
    *ret_length = length;
    return result;
}

char *json_text_member(boxcar_str text, const char *name, size_t *ret_length) {
    const char *end = text.data + text.len;
    const char *at = skip_blanks(text.data, end);
    while (at < end && (*at == '{' || *at == ',')) {
        const char *key = skip_blanks(at + 1, end);
        if (key == end || *key != '"')
            return NULL;
        const char *key_end = skip_string(key, end);
        const char *colon = skip_blanks(key_end, end);
        const char *value = colon < end ? colon + 1 : end;
        at = skip_value(value, end);
        if (key_is(key, key_end, name))
            return compact(value, at, ret_length);
    }
    return NULL;
}
