/* State that the members of a crew share in tests of joins. */
#ifndef BOXCAR_TESTS_RACE_H
#define BOXCAR_TESTS_RACE_H

#include <stdatomic.h>

#include "joins.h"

enum { RACE_HANDS = CREW_MAX, RACE_MESSAGES = 192, RACE_JOINS = 8 };

struct race {
    boxcar_join_id joins[RACE_JOINS];
    boxcar_enqueued waits[RACE_JOINS];
    struct taken taken[RACE_MESSAGES];
    boxcar_message_id ids[RACE_MESSAGES];
    boxcar_owner owner;                                          /* of everything taken: f->owner */
    _Atomic int done;                                            /* messages settled, or pairs attached */
    _Atomic int completed[RACE_MESSAGES], failed[RACE_MESSAGES]; /* reports that counted */
    _Atomic int cancelled[RACE_JOINS];
    _Atomic int outcomes[RACE_JOINS]; /* of waits */
};

/* The caller frees it. */
struct race *race_new(struct fixture *f);
/* `count` messages, leased to the race's owner, members of no join. */
void race_take(struct fixture *f, struct race *race, int count);

#endif
