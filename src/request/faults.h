/* Finds every fault of a request. */
#ifndef BOXCAR_REQUEST_FAULTS_H
#define BOXCAR_REQUEST_FAULTS_H

#include "base/arena.h"
#include "boxcar/request.h"

/* The whole request, with defaults where the caller's structs end earlier. */
struct whole_request {
    boxcar_request request;
    boxcar_request_part parts[BOXCAR_BOXES]; /* one that was not given asks nothing */
    bool given[BOXCAR_BOXES];
    boxcar_heartbeat heartbeat;
};

/* BOXCAR_E_NO_MEMORY: the check itself could not be made. Else *ret_count says how many faults there are;
 * then *err describes the first one. The arena has messages of another size than today's. */
boxcar_status faults_find(struct arena *arena, const boxcar_request *given, struct whole_request *ret_whole,
                          boxcar_fault_fn report, void *context, size_t *ret_count, boxcar_error *err);

#endif
