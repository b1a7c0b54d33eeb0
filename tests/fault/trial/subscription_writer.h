/* Writers of the trial of many subscriptions. */
#ifndef BOXCAR_TESTS_SUBSCRIPTION_WRITER_H
#define BOXCAR_TESTS_SUBSCRIPTION_WRITER_H

#include <sys/types.h>

#include "subscription_trial.h"

/* In memory that all processes share. */
struct desk {
    _Atomic int64_t committed; /* messages */
    _Atomic int64_t done;      /* by the reader that wants all: writers do not run away from it */
    _Atomic int64_t target;    /* writers go home when so many are committed */
    _Atomic int64_t numbers[WRITERS];
};

struct desk *desk_new(void);
void writers_start(struct trial *trial, struct desk *desk, pid_t pids[WRITERS]);
/* Until all have gone home. */
void writers_wait(struct trial *trial, const pid_t pids[WRITERS]);

#endif
