/* Every fault of a batch that somebody wants to send. */
#ifndef BOXCAR_API_MESSAGE_BATCH_FAULTS_H
#define BOXCAR_API_MESSAGE_BATCH_FAULTS_H

#include "boxcar/process.h"

/* The whole batch, with defaults where the caller's structs end earlier. */
struct whole_batch {
    boxcar_batch batch;
    boxcar_batch_part parts[2]; /* by box; one that was not given asks nothing */
    bool given[2];
    boxcar_heartbeat heartbeat;
};

/* BOXCAR_E_NO_MEMORY: the check itself could not be made. Else *ret_count says how many faults there are;
 * then *err describes the first one. */
boxcar_status batch_faults_find(const boxcar_batch *given, struct whole_batch *ret_whole, boxcar_fault_fn report,
                                void *context, size_t *ret_count, boxcar_error *err);

#endif
