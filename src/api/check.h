/* What public functions check first. */
#ifndef BOXCAR_API_CHECK_H
#define BOXCAR_API_CHECK_H

#include "base/error.h"
#include "core/limits/limits.h"

/* A pointer that the call cannot do without. */
static inline boxcar_status check_given(const void *pointer, const char *argument, boxcar_error *err) {
    return pointer ? BOXCAR_OK : error_invalid(err, argument, "%s is NULL: it is required", argument);
}

/* A store, and where its answer goes. */
static inline boxcar_status check_read(const boxcar_store *store, const void *ret_list, boxcar_error *err) {
    TRY(check_given(store, "store", err));
    return check_given(ret_list, "ret_list", err);
}

/* A store, and which reader of it. */
static inline boxcar_status check_store_and_reader(const boxcar_store *store, boxcar_box reader,
                                                   boxcar_error *err) {
    TRY(check_given(store, "store", err));
    return limits_check_reader(reader, "box", err);
}

static inline boxcar_status check_store_and_box(const boxcar_store *store, boxcar_box box,
                                                boxcar_error *err) {
    TRY(check_given(store, "store", err));
    return limits_check_box(box, err);
}

#endif
