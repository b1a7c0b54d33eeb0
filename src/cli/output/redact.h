/* Keeping passwords out of everything the program prints. */
#ifndef BOXCAR_CLI_OUTPUT_REDACT_H
#define BOXCAR_CLI_OUTPUT_REDACT_H

#include <stdbool.h>

/* A copy of `text` with the secrets of connection strings replaced by ***; free() it. Secrets are the
 * password of a URL, and the values of password, sslpassword, options and other parameters that libpq keeps
 * to itself, in URLs (also with %XX in their names) and in NAME=VALUE form. NULL = out of memory. Takes too
 * much rather than too little. */
char *redact(const char *text);

/* The same in place: every character of a secret becomes a *. */
void redact_in_place(char *text);

/* Whether a store URL carries a password. */
bool redact_needed(const char *url);

#endif
