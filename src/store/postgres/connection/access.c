/* Which access a role needs to execute a function. The lists are in grant_access.sql, which is part of the
 * library anyway; they are read from there, so that there is no second one to keep. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "error.h"
#include "store/postgres/deploy/objects.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz_0123456789"

/* The text of the file that makes a function; NULL: we have no such function. */
static const char *text_of(const char *function) {
    for (const struct sql_file *file = SQL_POSTGRES; file->name; file++)
        if (pg_is_function_file(file) && str_equal(pg_object_of_file(file), boxcar_str_of(function)))
            return file->text;
    return NULL;
}

/* Whether the list of this name has the function in it. */
static bool lists(const char *text, const char *list, const char *function) {
    char head[64], entry[80];
    const char *start, *end, *found;

    snprintf(head, sizeof(head), "    %s constant text[] :=", list);
    snprintf(entry, sizeof(entry), "'%s'", function);
    start = text ? strstr(text, head) : NULL;
    end = start ? strstr(start, "];") : NULL;
    found = end ? strstr(start, entry) : NULL;
    return found && found < end;
}

/* The function is the last word of the server's message, in every language. */
const char *pg_access_needed(const char *message, bool *ret_for_workers) {
    static const struct {
        const char *list, *access;
    } LISTS[] = {{"producer", "producer"}, {"doctor", "viewer"}, {"viewer", "viewer"}, {"worker", "worker"}};
    const char *text = text_of("grant_access");
    char name[64];
    size_t end = strlen(message), start = end;

    while (start > 0 && strchr(NAME_CHARACTERS, message[start - 1]))
        start--;
    snprintf(name, sizeof(name), "%.*s", (int)(end - start), message + start);
    *ret_for_workers = lists(text, "worker", name) || lists(text, "doctor", name);
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++)
        if (lists(text, LISTS[i].list, name))
            return LISTS[i].access;
    return text_of(name) ? "admin" : NULL;
}
