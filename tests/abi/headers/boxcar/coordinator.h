/* boxcar/coordinator.h: queue operations from any thread, flush them as one batch.
 *
 * A coordinator collects what a program wants to say to a store (new messages, acks, abandons, defers,
 * fails, renewals, stages) and sends it as one batch: one transaction, one round trip. Its strategy says when.
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
 * Each queued operation has a ticket; tickets rise. A failed flush loses nothing: what was queued is
 * still queued, in order, and the very same batch is sent again by the next flush; it takes effect
 * once. An operation that the store refuses for good is dropped alone and reported with its error.
 * See docs/coordinator.md.
 *
 * Threads: every function but new, close and free may be called from any thread at any time. The
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
    bool enqueues;                /* a new message; else `kind` says how a message is settled */
    boxcar_settle_kind kind;
    boxcar_box box;
    boxcar_outcome outcome;
    boxcar_work_id work_id;       /* of the message; 0 for an enqueue that was refused, for a duplicate in the
                                     inbox that has no message (any more), and for a settlement by a message
                                     id that the box does not have */
    boxcar_message_id message_id; /* of an enqueue; for a duplicate that of what is there. Of a settlement by
                                     message id: that id; else none */
    const boxcar_error *error;    /* of a refused operation, else NULL */
} boxcar_flushed;

/* What one flush did: a result for each operation that is done with, in the order of the tickets. */
typedef struct boxcar_flush {
    const boxcar_flushed *const *items;
    size_t count;
    size_t refused_count; /* of the results are BOXCAR_OUTCOME_REFUSED */
    const boxcar_message_list *claimed[BOXCAR_BOXES]; /* by box, never NULL; boxcar_list_free() is not for them */
    const boxcar_error *error; /* why the rest is still queued; NULL when nothing is left of what had been queued */
} boxcar_flush;

/* The result of a ticket; NULL when this flush did not carry it. */
BOXCAR_API const boxcar_flushed *boxcar_flush_find(const boxcar_flush *flush, uint64_t ticket);
BOXCAR_API void boxcar_flush_free(boxcar_flush *flush); /* NULL is fine */

/* Called after each flush that had something to do, successful or not, on the thread that flushed; by
 * several threads at once if several flush. The flush is lent for the call. It may queue and flush,
 * but not close the coordinator. */
typedef void (*boxcar_on_flush_fn)(void *context, const boxcar_flush *flush);

#define BOXCAR_QUEUE_MAX_DEFAULT 100000
#define BOXCAR_QUEUE_MAX_MAX 10000000

typedef struct boxcar_coordinator_options {
    size_t struct_size;
    const boxcar_store_options *store; /* where to: it opens a connection of its own; copied */
    boxcar_owner owner;       /* of all settlements and claims; none = a new one */
    boxcar_strategy strategy;
    int64_t interval_ms;      /* up to 1 h; 0 = 100 ms with the strategy interval. With size: how long fewer than
                                 `size` wait; 0 = 1 s, or on a lent store until somebody flushes */
    size_t size;              /* of the strategy size: 1 to queue_max; 0 = 100 */
    size_t queue_max;         /* the most operations that are kept; 0 = 100,000 */
    boxcar_on_flush_fn on_flush; /* may be NULL */
    void *on_flush_context;
    boxcar_store *lent;       /* instead of `store`: one that is open and stays the caller's, for a
                                 coordinator that lives as long as a request. Only who flushes uses it, so
                                 strategies with a thread cannot. On a borrowed handle a flush is part of
                                 the caller's transaction, and undone with it: then queue it again. */
} boxcar_coordinator_options;

#ifdef __cplusplus
#define BOXCAR_COORDINATOR_OPTIONS_INIT (boxcar_coordinator_options{sizeof(boxcar_coordinator_options), 0, \
    {{{0}}}, BOXCAR_STRATEGY_IMMEDIATE, 0, 0, 0, 0, 0, 0, 0, 0})
#else
#define BOXCAR_COORDINATOR_OPTIONS_INIT \
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
 * boxcar_settle(): what is wrong is refused at once, and then nothing of the call is queued.
 * *ticket (may be NULL) is always written: the ticket; of a call with several operations that of the first, the
 * others follow it; 0 when the call leaves nothing behind, neither queued nor stored.
 *
 * When the answer to a request is lost and it is sent again, what the first try stored in the inbox is a duplicate: keys
 * are the caller's, and nobody can tell.
 *
 * BOXCAR_E_UNAVAILABLE: the queue is full and could not be flushed; nothing was queued.
 * With the strategy immediate the error may also be that of the flush. Then *ticket tells: not 0 = it
 * is still queued and goes with the next flush; 0 = it was refused at once or for good. */
BOXCAR_API boxcar_status boxcar_coordinator_enqueue(boxcar_coordinator *coordinator, boxcar_box box,
                                                    const boxcar_new_message *messages, size_t count,
                                                    uint64_t *ticket, boxcar_error *err);
/* The owner is the coordinator's. lease_ms: of BOXCAR_RENEW, else not looked at. */
BOXCAR_API boxcar_status boxcar_coordinator_settle(boxcar_coordinator *coordinator, boxcar_box box,
                                                   boxcar_settle_kind kind, const boxcar_settlement *settlements,
                                                   size_t count, int64_t lease_ms, uint64_t *ticket,
                                                   boxcar_error *err);

/* What a flush asks for on its way back. The owner of a claimer is the coordinator's: leave it none. Its box is the
 * place where it stands here. */
typedef struct boxcar_flush_options {
    size_t struct_size;
    const boxcar_claimer *claims[BOXCAR_BOXES]; /* by box; NULL = claim nothing there */
    bool best_effort; /* waits for nobody and never fails: what somebody else is flushing, or the thread of the strategy
                         will, is left to them, and what a store does not take now stays queued. Without claims */
    bool claim_stored; /* the claims take first what the last request of this flush stores, as in
                          boxcar/request.h. A flush is one request, unless operations cannot go together or some
                          are refused */
} boxcar_flush_options;

#ifdef __cplusplus
#define BOXCAR_FLUSH_OPTIONS_INIT (boxcar_flush_options{sizeof(boxcar_flush_options), {0, 0}, false, false, \
    {BOXCAR_RETURN_NONE, BOXCAR_RETURN_NONE}})
#else
#define BOXCAR_FLUSH_OPTIONS_INIT ((boxcar_flush_options){.struct_size = sizeof(boxcar_flush_options)})
#endif

/* Sends everything that was queued before the call; waits for a flush that is under way and then sends
 * what is left. `options` (may be NULL) add claims, which come with the last batch: results go out and
 * work comes back in one round trip. *flush (may be NULL) is always written: what this call flushed
 * (others' flushes are told to on_flush), also when the call fails in the end; NULL when there is
 * nothing to tell. The caller frees it.
 *
 * An error says that something is still queued. Refused operations are no error of the flush. */
BOXCAR_API boxcar_status boxcar_coordinator_flush(boxcar_coordinator *coordinator,
                                                  const boxcar_flush_options *options, boxcar_flush **flush,
                                                  boxcar_error *err);

/* Flushes, stops the thread and closes the connection. From then on nothing can be queued; closing it again does
 * nothing. When the flush fails, the error is returned and the coordinator goes on as before: close it again later, or
 * free it. NULL is fine. */
BOXCAR_API boxcar_status boxcar_coordinator_close(boxcar_coordinator *coordinator, boxcar_error *err);

/* Frees the coordinator, which nobody else may use any more. What is queued is not flushed: close it before, or give
 * that up. NULL is fine. */
BOXCAR_API void boxcar_coordinator_free(boxcar_coordinator *coordinator);

#ifdef __cplusplus
}
#endif
#endif
