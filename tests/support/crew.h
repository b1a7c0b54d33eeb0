/* Several threads doing the same at once, each with a store handle of its own. Assertions do not
 * work off the main thread: a member that meets trouble returns a text, and crew_run() asserts
 * that none did. */
#ifndef BOXCAR_TESTS_CREW_H
#define BOXCAR_TESTS_CREW_H

#include "fixture.h"

enum { CREW_MAX = 16 };

struct crew_member {
    struct fixture *f; /* shared: read only */
    boxcar_store *store;
    boxcar_owner owner;
    boxcar_error err;
    int number;    /* 0 to size - 1 */
    void *context; /* shared by all */
};

/* NULL = fine, else what went wrong (err says more). */
typedef const char *(*crew_fn)(struct crew_member *member);

void crew_run(struct fixture *f, int size, crew_fn work, void *context);
/* The same without opening a store for each member. */
void crew_run_bare(struct fixture *f, int size, crew_fn work, void *context);

#endif
