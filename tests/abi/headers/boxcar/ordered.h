/* boxcar/ordered.h: handle claimed messages in the order of their streams.
 *
 * A claim may bring several consecutive messages of a stream at once; they have to be handled one after
 * the other, stopping the stream at the first that is not done. boxcar_ordered_run() does that: streams
 * run beside each other on `concurrency` threads, the messages of one stream in the order of their work
 * ids, whatever the order of the list. Messages without a stream are on their own.
 *
 *     boxcar_coordinator_flush(coordinator, &claims, &flush, &err);
 *     boxcar_ordered_run(flush->claimed[BOXCAR_OUTBOX], NULL, handle, NULL, &results, &err);
 *     boxcar_ordered_settle(coordinator, results, NULL, &err);
 *     boxcar_coordinator_flush(coordinator, &claims, ...);      what was handled goes out, work comes in
 *
 * Handlers are those of workers (boxcar/worker.h). But leases are not renewed here, nobody stops a handler that takes
 * too long, and boxcar_delivery_begin() is BOXCAR_E_UNSUPPORTED. */
#ifndef BOXCAR_ORDERED_H
#define BOXCAR_ORDERED_H

#include "coordinator.h"
#include "error.h"
#include "message.h"
#include "worker.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What became of one message. Lent by the results. */
typedef struct boxcar_ordered_result {
    const boxcar_message *message; /* as it was given: must outlive the results */
    boxcar_verdict verdict;        /* BOXCAR_VERDICT_DEFER when it did not run */
    bool ran;                      /* no: an earlier message of its stream was not done */
    int64_t delay_ms;              /* BOXCAR_BACKOFF = the store's; of one that did not run 0: no sooner
                                      than its stream goes on anyway */
    boxcar_str error;              /* absent = none */
} boxcar_ordered_result;

/* One result for each message, in the order in which they were given. */
typedef struct boxcar_ordered_results {
    const boxcar_ordered_result *const *items;
    size_t count;
} boxcar_ordered_results;

BOXCAR_API void boxcar_ordered_results_free(boxcar_ordered_results *results); /* NULL is fine */

typedef struct boxcar_ordered_options {
    size_t struct_size;
} boxcar_ordered_options;

#ifdef __cplusplus
#define BOXCAR_ORDERED_OPTIONS_INIT (boxcar_ordered_options{sizeof(boxcar_ordered_options), \
    BOXCAR_CONCURRENCY_DEFAULT})
#else
#define BOXCAR_ORDERED_OPTIONS_INIT ((boxcar_ordered_options){.struct_size = sizeof(boxcar_ordered_options)})
#endif

/* Handles every message of a list, and returns when all have a result. `options` may be NULL. The handler runs on several
 * threads at once, for different streams. The messages are of one store, of one box or of both; one that is in the list
 * twice is BOXCAR_E_INVALID. Where the system gives fewer threads, fewer are used. The caller owns *ret_results. */
BOXCAR_API boxcar_status boxcar_ordered_run(const boxcar_message_list *list, const boxcar_ordered_options *options,
                                            boxcar_handler_fn handle, void *context,
                                            boxcar_ordered_results **ret_results, boxcar_error *err);
/* The same for messages from anywhere. */
BOXCAR_API boxcar_status boxcar_ordered_run_messages(const boxcar_message *const *messages, size_t count,
                                                     const boxcar_ordered_options *options,
                                                     boxcar_handler_fn handle, void *context,
                                                     boxcar_ordered_results **ret_results, boxcar_error *err);

/* Queues the results as acks, abandons, fails and defers, and before them the stages of messages that come again; all of
 * it or nothing. The i-th result has the ticket *ticket + i (see boxcar_coordinator_settle(); may be NULL). The messages
 * must have been claimed with the coordinator's owner. */
BOXCAR_API boxcar_status boxcar_ordered_settle(boxcar_coordinator *coordinator,
                                               const boxcar_ordered_results *results, uint64_t *ticket,
                                               boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
