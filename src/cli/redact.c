#include "redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MASK[] = "***";

/* The password of "scheme://user:password@host" in `text`. It may itself contain any of
 * ":/?@ ", typed without encoding, so it ends at the last @. */
static const char *find_url_password(const char *text, const char **ret_end) {
    const char *scheme = strstr(text, "://");
    if (!scheme)
        return NULL;
    const char *at = strrchr(scheme, '@');
    const char *colon = strchr(scheme + 3, ':');
    if (!at || !colon || colon > at || colon + 1 == at)
        return NULL;
    *ret_end = at;
    return colon + 1;
}

/* The value of "password=..." (also sslpassword) in `text`. */
static const char *find_password_value(const char *text, const char **ret_end) {
    static const char KEY[] = "password=";
    const char *found = strstr(text, KEY);
    if (!found)
        return NULL;
    const char *value = found + sizeof(KEY) - 1;
    bool quoted = *value == '\'';
    const char *end = quoted ? strchr(value + 1, '\'') : value + strcspn(value, "& \t\n'\"");
    *ret_end = end ? end + quoted : value + strlen(value);
    return value;
}

static char *replace(const char *text, const char *from, const char *to) {
    char *result = NULL;
    if (asprintf(&result, "%.*s%s%s", (int)(from - text), text, MASK, to) < 0)
        return NULL;
    return result;
}

/* Masks every "password=" from `start` on, so that a mask is not masked again. */
static char *redact_values(char *text, size_t start) {
    const char *end;
    const char *from = find_password_value(text + start, &end);
    if (!from)
        return text;
    size_t next = (size_t)(from - text) + sizeof(MASK) - 1;
    char *result = replace(text, from, end);
    free(text);
    return result ? redact_values(result, next) : NULL;
}

char *redact(const char *text) {
    const char *end;
    const char *from = find_url_password(text, &end);
    char *copy = from ? replace(text, from, end) : strdup(text);
    return copy ? redact_values(copy, 0) : NULL;
}

bool redact_needed(const char *url) {
    const char *end;
    return find_url_password(url, &end) || find_password_value(url, &end);
}
