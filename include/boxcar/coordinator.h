/* boxcar/coordinator.h: queue operations from any thread, flush them as one request.
 *
 * A coordinator collects the operations of a program (new messages, acks, abandons, defers, fails, renewals,
 * stages) and sends them to the store as one request: one transaction, one round trip. Its strategy says
 * when.
 *
 *     boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
 *     options.store = &store_options;
 *     options.strategy = BOXCAR_STRATEGY_SCOPED;
 *     boxcar_coordinator_new(&options, &coordinator, &err);
 *     boxcar_coordinator_enqueue(coordinator, BOXCAR_OUTBOX, &message, 1, &ticket, &err);
 *     boxcar_coordinator_settle(coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, &settlement, 1, 0, NULL, &err);
 *     boxcar_coordinator_flush(coordinator, NULL, &flush, &err);      what became of each ticket
 *     boxcar_flush_free(flush);
 *     boxcar_coordinator_close(coordinator, &err);                     flushes what is left
 *     boxcar_coordinator_free(coordinator);
 *
 * Each queued operation has a ticket. Each ticket is higher than the one before. A failed flush loses
 * nothing: its operations are still queued, in order. The next flush sends the very same request again, and
 * the request takes effect once. An operation that the store refuses for good is dropped alone and reported
 * with its error. See docs/coordinator.md.
 *
 * Threads: every function except new, close and free may be called from any thread at any time. The
 * log function of the store may be called from several threads; it must not use the coordinator. */
#ifndef BOXCAR_COORDINATOR_H
#define BOXCAR_COORDINATOR_H

#include "error.h"
#include "message.h"
#include "request.h"
#include "store.h"
#include "strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct boxcar_coordinator boxcar_coordinator;

typedef enum boxcar_outcome {
    BOXCAR_OUTCOME_ENQUEUED = 0,  /* a new message */
    BOXCAR_OUTCOME_DUPLICATE = 1, /* the message id, or the key, was known: nothing was stored */
    BOXCAR_OUTCOME_SETTLED = 2,   /* the settlement took effect */
    BOXCAR_OUTCOME_LOST = 3,      /* the owner does not hold the message (any more): no effect */
    BOXCAR_OUTCOME_REFUSED = 4    /* the store refuses it for good: `error` says why; dropped */
} boxcar_outcome;

/* "enqueued", "duplicate", ... */
BOXCAR_API const char *boxcar_outcome_name(boxcar_outcome outcome);

/* What became of one operation. Lent by its boxcar_flush. */
typedef struct boxcar_flushed {
    uint64_t ticket;
    bool enqueues; /* a new message; else `kind` says how a message is settled */
    boxcar_settle_kind kind;
    boxcar_box box;
    boxcar_outcome outcome;
    boxcar_work_id work_id;       /* of the message; 0 for an enqueue that was refused, for a duplicate in the
                                     inbox that has no message (any more), and for a settlement by a message
                                     id that the box does not have */
    boxcar_message_id message_id; /* of an enqueue; for a duplicate, the id of the message that is there. Of a
                                     settlement by message id: that id; else none */
    const boxcar_error *error;    /* of a refused operation, else NULL */
    bool hash_mismatch;           /* of an enqueue into the inbox: its key came with another hash before */
} boxcar_flushed;

/* What one flush did: a result for each operation that has left the queue, in the order of the tickets. */
typedef struct boxcar_flush {
    const boxcar_flushed *const *items;
    size_t count;
    size_t refused_count;                             /* how many results are BOXCAR_OUTCOME_REFUSED */
    const boxcar_message_list *claimed[BOXCAR_BOXES]; /* by box, never NULL; freed with the flush */
    const boxcar_error *error; /* why operations are still queued; NULL when the flush left none behind */
    const boxcar_message_list *returned[BOXCAR_BOXES]; /* what boxcar_flush_options.returns asks for, as in
                                                          boxcar_result; never NULL; freed with the flush */
} boxcar_flush;

/* The result of a ticket; NULL when this flush did not carry it. */
BOXCAR_API const boxcar_flushed *boxcar_flush_find(const boxcar_flush *flush, uint64_t ticket);
BOXCAR_API void boxcar_flush_free(boxcar_flush *flush); /* NULL is fine */

/* Called after each flush that had something to do, successful or not, on the thread that flushed. If several
 * threads flush, they call it at the same time. The flush is lent for the call. The function may queue and
 * flush, but not close the coordinator. */
typedef void (*boxcar_on_flush_fn)(void *context, const boxcar_flush *flush);

#define BOXCAR_QUEUE_MAX_DEFAULT 100000
#define BOXCAR_QUEUE_MAX_MAX 10000000

typedef struct boxcar_coordinator_options {
    size_t struct_size;
    const boxcar_store_options *store; /* copied; the coordinator opens its own connection to this store */
    boxcar_owner owner;                /* of all settlements and claims; none = a new one */
    boxcar_strategy strategy;
    int64_t interval_ms; /* up to 1 h; 0 = 100 ms with the strategy interval. With size: how long fewer
                            than `size` operations wait; 0 = 1 s, or on a lent store until the program
                            flushes */
    size_t size;         /* of the strategy size: 1 to queue_max; 0 = 100 */
    size_t queue_max;    /* the most operations that are kept; 0 = 100,000 */
    boxcar_on_flush_fn on_flush; /* may be NULL */
    void *on_flush_context;
    boxcar_store *lent;  /* instead of `store`: an open store that stays the caller's, for a coordinator
                            that lives as long as one request. Only the thread that flushes uses the
                            store, so strategies with a thread are refused. On a borrowed handle a flush
                            is part of the caller's transaction. If that is rolled back, queue the
                            operations again. */
    int partition_count; /* how many partitions the store must have, 0 = any: as in boxcar/request.h. Asked
                            once, when the coordinator is made */
    int64_t
        stale_threshold_ms; /* instances that were silent for this long are removed, 1 s to 1 d. A coordinator
                               with a thread does it with its heartbeats, one without with each flush that
                               claims or asks for work back. 0 = it removes none; maintenance does */
} boxcar_coordinator_options;

#ifdef __cplusplus
#define BOXCAR_COORDINATOR_OPTIONS_INIT                                                                      \
    (boxcar_coordinator_options{                                                                             \
        sizeof(boxcar_coordinator_options), 0, {{{0}}}, BOXCAR_STRATEGY_IMMEDIATE, 0, 0, 0, 0, 0, 0, 0, 0})
#else
#define BOXCAR_COORDINATOR_OPTIONS_INIT                                                                      \
    ((boxcar_coordinator_options){.struct_size = sizeof(boxcar_coordinator_options)})
#endif

/* Opens the store and starts the thread, if the strategy has one. BOXCAR_E_CONFLICT: the store has another
 * partition_count. The caller owns *ret_coordinator. */
BOXCAR_API boxcar_status boxcar_coordinator_new(const boxcar_coordinator_options *options,
                                                boxcar_coordinator **ret_coordinator, boxcar_error *err);

/* The owner of its settlements and claims. */
BOXCAR_API boxcar_owner boxcar_coordinator_owner(const boxcar_coordinator *coordinator);
/* How many operations are queued now. */
BOXCAR_API size_t boxcar_coordinator_queued(boxcar_coordinator *coordinator);

/* Queueing. Everything is validated and copied now, by the rules of boxcar_enqueue_many() and
 * boxcar_settle(). If anything is wrong, the call fails and queues nothing. *ticket (may be NULL) is always
 * written. It is the ticket of the first operation; the tickets of the others follow it. It is 0 when the
 * call has neither queued nor stored anything.
 *
 * When the answer to a request is lost, the request is sent again. Messages that the first try stored in the
 * inbox are then reported as duplicates: their keys are the caller's, so Boxcar cannot tell which try stored
 * them.
 *
 * BOXCAR_E_UNAVAILABLE: the queue is full and could not be flushed; nothing was queued. With the strategy
 * immediate the error may also be the error of the flush. Then *ticket tells more: 0 = every operation was
 * refused, at once or for good; else those not refused are stored, or queued for the next flush. */
BOXCAR_API boxcar_status boxcar_coordinator_enqueue(boxcar_coordinator *coordinator, boxcar_box box,
                                                    const boxcar_new_message *messages, size_t count,
                                                    uint64_t *ticket, boxcar_error *err);
/* The owner is the coordinator's. lease_ms is for BOXCAR_RENEW and ignored for other kinds. */
BOXCAR_API boxcar_status boxcar_coordinator_settle(boxcar_coordinator *coordinator, boxcar_box box,
                                                   boxcar_settle_kind kind,
                                                   const boxcar_settlement *settlements, size_t count,
                                                   int64_t lease_ms, uint64_t *ticket, boxcar_error *err);

/* What a flush asks for on its way back. Leave the owner of a claimer none: the coordinator's is used. The
 * index in `claims` is the box. */
typedef struct boxcar_flush_options {
    size_t struct_size;
    const boxcar_claimer *claims[BOXCAR_BOXES]; /* by box; NULL = claim nothing there */
    bool best_effort; /* the flush never waits and never fails. It leaves operations to another thread that is
                         flushing, or to the strategy's thread. Operations that the store does not take now
                         stay queued. Not together with claims or returns */
    bool claim_stored; /* the claims first take the messages that the last request of this flush stores, as in
                          boxcar/request.h. A flush is one request, unless operations cannot go together or
                          some are refused */
    boxcar_return returns[BOXCAR_BOXES]; /* by box: which messages of the owner come back with the last
                                            request, besides those that are claimed: all, or those that this
                                            flush has renewed and that the owner still holds */
} boxcar_flush_options;

#ifdef __cplusplus
#define BOXCAR_FLUSH_OPTIONS_INIT                                                                            \
    (boxcar_flush_options{                                                                                   \
        sizeof(boxcar_flush_options), {0, 0}, false, false, {BOXCAR_RETURN_NONE, BOXCAR_RETURN_NONE}})
#else
#define BOXCAR_FLUSH_OPTIONS_INIT ((boxcar_flush_options){.struct_size = sizeof(boxcar_flush_options)})
#endif

/* Sends everything that was queued before the call. It first waits for a flush that is under way and then
 * sends what is left. `options` (may be NULL) add claims, which go with the last request: results go out and
 * work comes back in one round trip. *flush (may be NULL) is always written, also when the call fails: what
 * this call flushed, or NULL when there is nothing to report. (Other calls' flushes are reported to
 * on_flush.) The caller frees it.
 *
 * An error says that something is still queued. A refused operation is not an error of the flush. */
BOXCAR_API boxcar_status boxcar_coordinator_flush(boxcar_coordinator *coordinator,
                                                  const boxcar_flush_options *options, boxcar_flush **flush,
                                                  boxcar_error *err);

/* Flushes, stops the thread and closes the connection. From then on nothing can be queued; closing it again
 * does nothing. When the flush fails, the error is returned and the coordinator works as before: close it
 * again later, or free it. NULL is fine. */
BOXCAR_API boxcar_status boxcar_coordinator_close(boxcar_coordinator *coordinator, boxcar_error *err);

/* Frees the coordinator. No other thread may use it any more. Queued operations are not flushed but lost:
 * close the coordinator first to flush them. NULL is fine. */
BOXCAR_API void boxcar_coordinator_free(boxcar_coordinator *coordinator);

#ifdef __cplusplus
}
#endif
#endif
