/* A batch: everything in one transaction. */
#ifndef BOXCAR_STORE_SQLITE_BATCH_H
#define BOXCAR_STORE_SQLITE_BATCH_H

#include "state.h"

boxcar_status sqlite_process(struct boxcar_store *store, const struct batch *batch,
                             struct batch_result *ret_result, boxcar_error *err);

#endif
