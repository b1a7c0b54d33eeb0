/* Which rows are wanted. Scenarios ask before each row; a first pass only collects the names, so that
 * --list can print them and a name that is none is refused before anything is measured. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define NAMES_MAX 128

static char names[NAMES_MAX][48];
static size_t name_count;
static const char *current = "";

static bool is_known(const char *name) {
    for (size_t i = 0; i < name_count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void collect(const char *name) {
    if (is_known(name))
        return;
    if (name_count == NAMES_MAX)
        bench_die("too many rows");
    snprintf(names[name_count++], sizeof(names[0]), "%s", name);
}

/* `wanted` is the row, or the scenario that it belongs to. */
static bool matches(const char *wanted, size_t length, const char *name) {
    return strncmp(wanted, name, length) == 0 && (name[length] == '\0' || name[length] == '/');
}

static bool is_wanted(const char *only, const char *name) {
    for (const char *at = only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (matches(at, strcspn(at, ","), name))
            return true;
    return !only;
}

bool bench_wants(const struct bench *b, const char *name) {
    if (b->collect_only) {
        collect(name);
        return false;
    }
    if (!is_wanted(b->only, name))
        return false;
    current = name;
    return true;
}

const char *rows_current(void) { return current; }

static bool matches_some(const char *wanted, size_t length) {
    for (size_t i = 0; i < name_count; i++)
        if (matches(wanted, length, names[i]))
            return true;
    return false;
}

void rows_check(const char *only) {
    for (const char *at = only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!matches_some(at, strcspn(at, ",")))
            bench_die("--only: there is no row or scenario '%.*s' (see --list)", (int)strcspn(at, ","), at);
}

void rows_print(void) {
    for (size_t i = 0; i < name_count; i++)
        puts(names[i]);
}
