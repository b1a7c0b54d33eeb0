/* Filling in a boxcar_error. Each function returns the status, so that the place where
 * something goes wrong can `return error_set(...)`. `err` may be NULL. BOXCAR_E_UNAVAILABLE is
 * marked retryable, every other status is not; a caller that knows better changes it afterwards. */
#ifndef BOXCAR_BASE_ERROR_H
#define BOXCAR_BASE_ERROR_H

#include "boxcar/error.h"

/* Passes a failure up: leaves the function with the status of the call unless it is 0 (BOXCAR_OK). What the
 * function owns by then is released by cleanup attributes (memory.h). */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        __typeof__(call) try_status = (call);                                                                \
        if (try_status != 0)                                                                                 \
            return try_status;                                                                               \
    } while (0)

boxcar_status error_set(boxcar_error *err, boxcar_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As error_set(BOXCAR_E_INVALID), naming the argument at fault. */
boxcar_status error_invalid(boxcar_error *err, const char *argument, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts `where` ("messages[3].") in front of the argument that a failed check has named; with
 * BOXCAR_OK it does nothing. Returns `status`. */
boxcar_status error_locate(boxcar_status status, const char *where, boxcar_error *err);
/* The same for item `i` of a list. */
boxcar_status error_locate_item(boxcar_status status, const char *list, size_t i, boxcar_error *err);
boxcar_status error_no_memory(boxcar_error *err);
/* Makes one line of UTF-8 of a text that came from anywhere, in place. */
void error_tidy(char *text);

#endif
