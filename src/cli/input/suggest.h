/* "Did you mean ...?" */
#ifndef BOXCAR_CLI_INPUT_SUGGEST_H
#define BOXCAR_CLI_INPUT_SUGGEST_H

#include <stddef.h>

/* Keeps the best candidate seen so far. Start with {typed, NULL, 0}. */
struct suggestion {
    const char *typed;
    const char *best; /* NULL = nothing is near enough */
    size_t distance;
};

void suggest_consider(struct suggestion *suggestion, const char *candidate);

#endif
