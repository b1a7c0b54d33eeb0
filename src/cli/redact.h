/* Keeping passwords out of everything the program prints. */
#ifndef BOXCAR_CLI_REDACT_H
#define BOXCAR_CLI_REDACT_H

#include <stdbool.h>

/* A copy of `text` with the passwords of connection URLs replaced by ***; free() it.
 * NULL = out of memory. Takes too much rather than too little. */
char *redact(const char *text);

/* Whether a store URL carries a password. */
bool redact_needed(const char *url);

#endif
