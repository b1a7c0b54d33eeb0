/* Option structs that grow: each begins with its struct_size. */
#ifndef BOXCAR_BASE_OPTIONS_H
#define BOXCAR_BASE_OPTIONS_H

#include "boxcar/error.h"

/* Lays the caller's struct over `options`, which holds the defaults and is `known_size` big.
 * A smaller one comes from a program built for an older library: its missing end keeps the
 * defaults. A size of 0 (not initialized) or beyond the known one is invalid. */
boxcar_status options_read(void *options, size_t known_size, const void *given, const char *argument,
                           boxcar_error *err);

#endif
