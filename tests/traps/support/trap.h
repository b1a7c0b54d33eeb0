/* The traps of the storage layout: each was a loss, a deadlock or a collapse once.
 *
 * A trap is a promise with a scenario that tries to break it, and mutations: small edits of the
 * deployed functions that take the remedy out. The scenario runs in a fresh schema as it is, where
 * the promise must hold, and once more per mutation, where it must be found broken in just the way
 * the mutation says. So neither a remedy nor its test can wear off unnoticed. */
#ifndef BOXCAR_TESTS_TRAP_H
#define BOXCAR_TESTS_TRAP_H

#include "fixture.h"
#include "sql.h"

enum { MUTATIONS_MAX = 6 };

struct mutation {
    const char *name;     /* what is taken out; NULL ends the list */
    const char *function; /* of the schema; "*" = every one that has the piece */
    const char *piece;    /* as pg_get_functiondef() shows it, with :"schema" for the schema */
    const char *instead;
    const char *verdict; /* what the scenario must say then */
};

struct trap {
    const char *name;
    /* NULL = the promise held, else in what way it did not. Asserts only what has to be so with
     * and without the remedy. */
    const char *(*scenario)(struct fixture *f);
    struct mutation without[MUTATIONS_MAX];
};

/* Each file defines one, `const struct trap_group NAME_TRAPS`; its name is in its room's meson.build. */
struct trap_group {
    const struct trap *traps;
    size_t count;
};

#define TRAP_GROUP(group_traps)                                                                              \
    { .traps = (group_traps), .count = sizeof(group_traps) / sizeof((group_traps)[0]) }

#endif
