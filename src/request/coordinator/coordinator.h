/* The queue of a coordinator, and which thread flushes it when.
 *
 * The mutex guards the queue. It is never held during a call of the store or of the caller's function. The
 * turn is the right to use the store: one flush has it at a time, and the others wait for it. When a flush
 * begins, it seals the queued operations. Operations that are queued meanwhile go into new generations behind
 * them. */
#ifndef BOXCAR_REQUEST_COORDINATOR_COORDINATOR_H
#define BOXCAR_REQUEST_COORDINATOR_COORDINATOR_H

#include <pthread.h>

#include "generation.h"
#include "presence.h"
#include "request/schedule.h"

struct boxcar_coordinator {
    struct boxcar_store *store; /* whose turn it is uses it */
    bool owns_store;
    boxcar_owner owner;
    size_t queue_max;
    boxcar_on_flush_fn on_flush;
    void *on_flush_context;

    pthread_mutex_t mutex;
    pthread_cond_t turn_ended;
    pthread_cond_t changed; /* for the thread: something is queued, or it is to stop */
    bool taken;             /* the turn */
    struct generation *head, *tail, *spare;
    size_t queued;
    uint64_t next_ticket;
    struct schedule schedule; /* when the queue is flushed: by a call that queues, or by the thread */
    bool closed;              /* nothing is queued any more, and the store is let go */
    bool stopping;
    bool has_thread; /* the schedule has an interval */
    pthread_t thread;
    struct presence presence; /* what the thread says about the owner */
};

/* Takes the store over, also when it fails; without one it uses options->lent. `options` are checked and
 * complete. */
boxcar_status coordinator_start(const boxcar_coordinator_options *options, struct boxcar_store *store,
                                struct boxcar_coordinator **ret_coordinator, boxcar_error *err);

/* Many operations, wherever they come from. */
struct operations {
    size_t count;
    void (*get)(const void *from, size_t i, struct operation *ret_operation);
    const void *from;
};

/* Queues all of it or nothing, and flushes if the strategy says so. See boxcar_coordinator_enqueue() for
 * ticket, which is not NULL. */
boxcar_status coordinator_queue(struct boxcar_coordinator *coordinator, const struct operations *operations,
                                uint64_t *ticket, boxcar_error *err);

/* asked: checked, the claims complete; NULL = nothing. *told (may be NULL) is always written. */
boxcar_status coordinator_flush(struct boxcar_coordinator *coordinator, const boxcar_flush_options *asked,
                                boxcar_flush **told, boxcar_error *err);

/* A flush that never waits: it does nothing if another thread flushes, or will. */
void coordinator_flush_at_once(struct boxcar_coordinator *coordinator, boxcar_flush **told);

boxcar_status coordinator_close(struct boxcar_coordinator *coordinator, boxcar_error *err);
void coordinator_free(struct boxcar_coordinator *coordinator);
bool coordinator_is_owner(const struct boxcar_coordinator *coordinator, boxcar_owner owner);
size_t coordinator_queued(struct boxcar_coordinator *coordinator);

#endif
