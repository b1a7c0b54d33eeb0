/* What every public function checks first. */
#ifndef BOXCAR_API_CHECK_H
#define BOXCAR_API_CHECK_H

#include "base/error.h"

/* A pointer that the call cannot do without. */
static inline boxcar_status check_given(const void *pointer, const char *argument, boxcar_error *err) {
    return pointer ? BOXCAR_OK : error_invalid(err, argument, "%s is NULL: it is required", argument);
}

#endif
