/* "Did you mean ...?" */
#ifndef BOXCAR_CLI_INPUT_SUGGEST_H
#define BOXCAR_CLI_INPUT_SUGGEST_H

#include <stddef.h>

/* How many letters have to be changed, added, left out or swapped with their neighbour. */
size_t suggest_distance(const char *a, const char *b);

/* Keeps the best candidate seen so far. Start with {typed, NULL, 0}. */
struct suggestion {
    const char *typed;
    const char *best; /* NULL = nothing is near enough */
    size_t distance;
};

void suggest_consider(struct suggestion *suggestion, const char *candidate);

#endif
