/* What the files of the older program share. */
#ifndef BOXCAR_TESTS_OLDER_H
#define BOXCAR_TESTS_OLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar/error.h>
#include <boxcar/store.h>

#define GUARD 128

/* A struct, or several of them, with a guard behind. */
#define GUARDED(type, name, many, init)                                                                      \
    struct {                                                                                                 \
        type items[many];                                                                                    \
        unsigned char guard[GUARD];                                                                          \
    } name = {.items = {init}};                                                                              \
    memset(name.guard, 0xA5, GUARD)

#define CHECK_GUARD(name) check_bytes((name).guard, #name)

static inline void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static inline void check(int good, const char *what) {
    if (!good)
        fail(what);
}

static inline void check_bytes(const unsigned char *guard, const char *what) {
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != 0xA5)
            fail(what);
}

static inline void must(boxcar_status status, const boxcar_error *err, const char *what) {
    if (status != BOXCAR_OK) {
        fprintf(stderr, "%s: %s\n", what, err->message);
        exit(1);
    }
}

static inline int is(boxcar_str text, const char *wanted) {
    return text.len == strlen(wanted) && memcmp(text.data, wanted, text.len) == 0;
}

/* Each opens what it needs, in a store that has nothing on these topics. */
void work_with_coordinators(const char *url);
void work_with_workers(boxcar_store *store, const char *url);
void receive(boxcar_store *store);
void feed(boxcar_store *store);

#endif
