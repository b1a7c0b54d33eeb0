/* A request: everything in one transaction. */
#ifndef BOXCAR_STORE_SQLITE_REQUEST_H
#define BOXCAR_STORE_SQLITE_REQUEST_H

#include "state.h"

boxcar_status sqlite_process(struct boxcar_store *store, const struct request *request,
                             struct result *ret_result, boxcar_error *err);

#endif
