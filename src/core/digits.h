/* Reading whole numbers out of text, without a locale and without overflow; and the units
 * of durations. */
#ifndef BOXCAR_CORE_DIGITS_H
#define BOXCAR_CORE_DIGITS_H

#include "boxcar/types.h"

/* Takes the digits (at least one) off the front of *text. False leaves everything alone: no
 * digit there, or a number beyond INT64_MAX. */
bool digits_take(boxcar_str *text, int64_t *ret_number);
/* As digits_take(), with exactly `count` digits (at most 18); more may follow. */
bool digits_take_exactly(boxcar_str *text, size_t count, int64_t *ret_number);
/* Takes a decimal point and 1 to `max` digits; those behind the sixth do not count. No point: 0. */
bool digits_take_millionths(boxcar_str *text, size_t max, int64_t *ret_millionths);

struct duration_unit {
    const char *name;
    int64_t ms;
};

const struct duration_unit *duration_unit_find(boxcar_str name); /* NULL = no such */
/* The largest unit that divides `ms` without a rest. */
const struct duration_unit *duration_unit_of(int64_t ms);

#endif
