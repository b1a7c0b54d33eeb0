#include "redact.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"

static const char MASK[] = "***";

/* From `start` on, `length` characters are a secret. */
struct span {
    size_t start, length;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* ---- scheme://user:password@host ---- */

/* The password may itself contain any of ":/?@ ", typed without encoding, so it ends at the last @. */
static struct span find_user_password(const char *text) {
    const char *scheme = strstr(text, "://");
    const char *at = scheme ? strrchr(scheme, '@') : NULL;
    const char *colon = scheme ? strchr(scheme + 3, ':') : NULL;
    if (!at || !colon || colon > at)
        return (struct span){0};
    return (struct span){(size_t)(colon + 1 - text), (size_t)(at - colon - 1)};
}

/* A text that was cut may have lost the @: what follows the colon is a port, or it is hidden. */
static struct span find_cut_password(const char *text) {
    const char *scheme = strstr(text, "://");
    const char *host = scheme ? scheme + 3 : "";
    size_t length = strcspn(host, ":/?#@[ \t\r\n");
    if (!scheme || strchr(host, '@') || host[length] != ':')
        return (struct span){0};
    const char *port = host + length + 1;
    size_t digits = strspn(port, "0123456789");
    if (port[digits] == '\0' || strchr(",/?# \t\r\n'\"", port[digits]))
        return (struct span){0};
    return (struct span){(size_t)(port - text), strcspn(port, " \t\r\n")};
}

/* ---- name=value ---- */

static bool is_name_character(char c) { return isalnum((unsigned char)c) || c == '_' || c == '%'; }

static int hex_digit(char c) {
    if (isdigit((unsigned char)c))
        return c - '0';
    return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* In small letters and without %XX; names that are too long for the room are none of ours. */
static bool decode_name(const char *start, const char *end, char *into, size_t size) {
    size_t length = 0;
    while (start < end) {
        bool is_encoded =
            start[0] == '%' && end - start > 2 && hex_digit(start[1]) >= 0 && hex_digit(start[2]) >= 0;
        char c = is_encoded ? (char)(hex_digit(start[1]) * 16 + hex_digit(start[2])) : start[0];
        if (length + 1 >= size)
            return false;
        into[length++] = (char)tolower((unsigned char)c);
        start += is_encoded ? 3 : 1;
    }
    into[length] = '\0';
    return true;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool is_password_name(const char *name) {
    return ends_with(name, "password") || ends_with(name, "secret") ||
           strcmp(name, "scram_client_key") == 0 || strcmp(name, "scram_server_key") == 0;
}

/* Settings of a session may be anything. */
static bool is_hidden_name(const char *name) {
    return is_password_name(name) || strcmp(name, "options") == 0;
}

/* Where a value of NAME = VALUE ends, quoted or not; \ takes the next character as it is. */
static const char *end_of_value(const char *value) {
    bool is_quoted = *value == '\'';
    const char *at = value + is_quoted;
    while (*at && (is_quoted ? *at != '\'' : !is_blank(*at)))
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return at + (is_quoted && *at);
}

/* The value behind the = at `equals`, if its name is a secret one. In a URL only & ends it. */
static struct span find_value(const char *text, const char *equals, bool (*is_secret)(const char *name)) {
    const char *end = equals, *value = equals + 1;
    while (end > text && is_blank(end[-1]))
        end--;
    const char *start = end;
    while (start > text && is_name_character(start[-1]))
        start--;
    char name[64];
    if (!decode_name(start, end, name, sizeof(name)) || !is_secret(name))
        return (struct span){0};
    if (start > text && (start[-1] == '?' || start[-1] == '&'))
        return (struct span){(size_t)(value - text), strcspn(value, "&\n")};
    while (is_blank(*value))
        value++;
    return (struct span){(size_t)(value - text), (size_t)(end_of_value(value) - value)};
}

/* ---- all of them ---- */

static void mark(bool *hidden, struct span span) { memset(hidden + span.start, true, span.length); }

/* For each character of the text, whether it is hidden; free() it. NULL = out of memory. */
static bool *find_hidden(const char *text) {
    bool *hidden = calloc(strlen(text) + 1, sizeof(*hidden));
    if (!hidden)
        return NULL;
    mark(hidden, find_user_password(text));
    mark(hidden, find_cut_password(text));
    for (const char *equals = strchr(text, '='); equals; equals = strchr(equals + 1, '='))
        mark(hidden, find_value(text, equals, is_hidden_name));
    return hidden;
}

char *redact(const char *text) {
    AUTO_FREE bool *hidden = find_hidden(text);
    char *result = hidden ? malloc(strlen(text) * (sizeof(MASK) - 1) + 1) : NULL, *at = result;
    if (!result)
        return NULL;
    for (size_t i = 0; text[i]; i++) {
        if (!hidden[i])
            *at++ = text[i];
        else if (i == 0 || !hidden[i - 1]) /* every run of hidden characters as one mask */
            at = mempcpy(at, MASK, sizeof(MASK) - 1);
    }
    *at = '\0';
    return result;
}

void redact_in_place(char *text) {
    AUTO_FREE bool *hidden = find_hidden(text);
    for (size_t i = 0; text[i]; i++)
        if (!hidden || hidden[i])
            text[i] = '*';
}

bool redact_needed(const char *url) {
    bool found = find_user_password(url).length > 0;
    for (const char *equals = strchr(url, '='); equals && !found; equals = strchr(equals + 1, '='))
        found = find_value(url, equals, is_password_name).length > 0;
    return found;
}
