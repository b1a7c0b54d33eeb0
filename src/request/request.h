/* The one place where stores are asked. Single calls, coordinators, workers and feeds fill a request
 * (store/request.h); here it is sent, and what it did is logged. */
#ifndef BOXCAR_REQUEST_REQUEST_H
#define BOXCAR_REQUEST_REQUEST_H

#include "base/memory.h"
#include "store/store.h"

#define AUTO_RESULT CLEANUP(result_release)

/* Sends a request that is in the form that stores want. `store` logs: each message that was stored, joins
 * that ended, what was reaped (INFO); what was settled and claimed (DEBUG). *ret_result is released by the
 * caller. */
boxcar_status request_send(struct boxcar_store *store, const struct request *request,
                           struct result *ret_result, boxcar_error *err);
/* What it logs of new messages; see request.logs_messages_later. */
void request_log_messages(const struct boxcar_store *store, boxcar_box box, boxcar_new_message_list messages,
                          const boxcar_enqueued *enqueued);

/* Brings a request that was validated into that form and sends it. */
boxcar_status request_run(struct boxcar_store *store, struct request *request, struct result *ret_result,
                          boxcar_error *err);

/* That an owner lives, a row for each box that it serves; that it goes, from both. Instances that were silent
 * for the threshold are removed; 0 = none is. */
boxcar_status request_beat(struct boxcar_store *store, const struct instance *instances, size_t count,
                           int64_t stale_threshold_ms, boxcar_error *err);
boxcar_status request_farewell(struct boxcar_store *store, boxcar_owner owner, boxcar_error *err);

/* Where in a request of one part that of a reader is: a subscription's has the index of the outbox. */
static inline int request_index(boxcar_box reader) {
    return reader == BOXCAR_INBOX ? BOXCAR_INBOX : BOXCAR_OUTBOX;
}
boxcar_request_part *request_part_of(struct request *request, boxcar_box reader);
/* What a claimer asks of its box. */
void request_set_claim(struct request *request, const boxcar_claimer *claimer);

/* A whole request of a caller, with defaults where the caller's structs end earlier. */
struct whole_request {
    boxcar_request request;
    boxcar_request_part parts[BOXCAR_BOXES]; /* one that was not given asks nothing */
    bool given[BOXCAR_BOXES];
    boxcar_heartbeat heartbeat;
};

/* Finds every fault of it. BOXCAR_E_NO_MEMORY: the check itself could not be made. Else *ret_count says how
 * many faults there are; then *err describes the first one. The arena has messages of another size than
 * today's. */
boxcar_status faults_find(struct arena *arena, const boxcar_request *given, struct whole_request *ret_whole,
                          boxcar_fault_fn report, void *context, size_t *ret_count, boxcar_error *err);

#endif
