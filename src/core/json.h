/* Reading JSON. */
#ifndef BOXCAR_CORE_JSON_H
#define BOXCAR_CORE_JSON_H

#include <jansson.h>

#include "boxcar/types.h"

/* json_loadb(). NULL = the text is no JSON that these flags allow, or memory is short (*ret_no_memory).
 * jansson itself reports some failed allocations as faults of the text, and after others it returns strings
 * that lack a byte. */
json_t *json_read(boxcar_str text, size_t flags, bool *ret_no_memory);

/* Whether a text is JSON: one value, with blanks around it. Allocates nothing. */
bool json_is_valid(boxcar_str text);

#endif
