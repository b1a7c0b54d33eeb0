/* Takes a remedy out of a deployed schema. */
#ifndef BOXCAR_TESTS_TRAPS_MUTATE_H
#define BOXCAR_TESTS_TRAPS_MUTATE_H

#include "trap.h"

/* Fails the test when the piece is nowhere, or the edited function does not compile. */
void mutate(struct fixture *f, const struct mutation *mutation);

#endif
