/* What was logged, for tests of it. May be written from several threads at once. */
#ifndef BOXCAR_TESTS_JOURNAL_H
#define BOXCAR_TESTS_JOURNAL_H

#include <pthread.h>

#include "fixture.h"

struct journal {
    pthread_mutex_t mutex;
    size_t len;
    char text[1 << 18]; /* a line per record: level, event, text, name=value ... */
};

struct journal *journal_new(void);
void journal_free(struct journal *journal);
/* Makes these options log into it. */
void journal_attach(struct journal *journal, boxcar_store_options *options);
/* Opens the fixture's store again, with this log. */
void journal_reopen(struct journal *journal, struct fixture *f);

/* How many lines have all of these in them, and whether any has; NULL = nothing in particular. */
size_t journal_count(struct journal *journal, const char *first, const char *second, const char *third,
                     const char *fourth);
bool journal_has(struct journal *journal, const char *first, const char *second, const char *third,
                 const char *fourth);

#endif
