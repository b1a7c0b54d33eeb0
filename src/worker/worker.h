/* A worker from the inside: what it was told, what it counts, and the loop that does the work. */
#ifndef BOXCAR_WORKER_WORKER_H
#define BOXCAR_WORKER_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "boxcar/worker.h"
#include "store/store.h"
#include "worker/crew/handler.h"

struct crew;
struct forwarding;
struct seat;

#define KEEP_LOG_LEVEL (-1)

/* What may change while the worker runs. */
struct tuning {
    int concurrency;
    int batch_size;
    int batch_limit;
    int64_t batch_bytes;
    int64_t lease_ms, poll_ms, handler_timeout_ms, grace_ms, maintain_ms;
    bool fail_unhandled;
    boxcar_strategy strategy;
    int64_t flush_interval_ms;
    int flush_size;
    int log_level;                 /* boxcar_log_level, or KEEP_LOG_LEVEL */
    boxcar_backoff_policy *policy; /* NULL = the store's backoff */
    struct arena arena;            /* of the policy */
};

/* Counted by the loop, read by anybody. */
struct worker_counters {
    _Atomic int64_t queued, running, concurrency;
    _Atomic int64_t claims, claimed, held_up, given_back, unhandled;
    _Atomic int64_t leases_renewed, leases_lost, reaped;
    _Atomic int64_t store_errors, detachments, handlers_abandoned;
};

struct boxcar_worker {
    boxcar_store_options store;
    struct arena arena; /* of the store's texts */
    boxcar_owner owner;
    bool drain;
    boxcar_str subscription; /* that it works for; absent = the main readers. When the store is open: ... */
    _Atomic int reader;      /* ... its number, ... */
    _Atomic int subscribed_box; /* ... and the only box that is served */
    boxcar_status (*open)(const boxcar_store_options *options, struct boxcar_store **ret_store,
                          boxcar_error *err); /* store_open() */
    struct handler_table *handlers;
    struct handler *wait_handler; /* built in: what became of the waits for joins ... */
    struct handler
        own_wait_handler;          /* ... of this worker, or of the one with many stores that it is part of */
    struct forwarding *forwarding; /* forward/forward.h; of a store of a fleet: the whole one's. NULL = off */
    struct fleet *fleet;           /* what makes it serve many stores; NULL = it serves one */
    struct crew *crew;             /* of a store of a fleet: shared by all of them; NULL = it has its own */
    struct seat *seat;             /* of a store of a fleet: see share/share.h */
    int64_t patience_ms; /* of a store of a fleet: the longest timeouts of its loop and its upkeep; 0 = any */
    int wake_fd;
    _Atomic int stop_requests;
    _Atomic int64_t stop_asked_ms; /* when the first of them came; 0 = there was none */
    _Atomic int state;             /* boxcar_worker_state */
    _Atomic int64_t turned_at_ms;  /* the loop */
    struct worker_counters count;
    bool is_hopeless;            /* its handlers hang, so that it had to end */
    bool has_unsettled;          /* it ended with messages whose results the store did not take */
    _Atomic int64_t maintain_ms; /* of a fleet: as the tuning says, for the thread of upkeep */
    struct tuning tuning;        /* the loop's while it runs */
    pthread_mutex_t mutex;
    struct tuning *pending; /* under the mutex: to be taken over by the loop */
};

/* Copies what may change, for another worker. `tuning_free` it. */
boxcar_status tuning_copy(const struct tuning *tuning, struct tuning **ret_copy, boxcar_error *err);
void tuning_free(struct tuning *tuning); /* NULL is fine */

boxcar_status worker_new(const boxcar_worker_options *options, struct boxcar_worker **ret_worker,
                         boxcar_error *err);
void worker_free(struct boxcar_worker *worker);
/* A worker for one store of a whole one with many: the same handlers and the same owner. Its store is to be
 * set. */
void worker_part_init(struct boxcar_worker *part, const struct boxcar_worker *whole);
void worker_part_release(struct boxcar_worker *part);
boxcar_status worker_reconfigure(struct boxcar_worker *worker, const boxcar_worker_options *options,
                                 boxcar_error *err);
/* Whose messages of a box it handles: the main reader's, or its subscription's. */
static inline boxcar_box worker_reader(const struct boxcar_worker *worker, int box) {
    int reader = atomic_load(&worker->reader);
    return reader > 0 && worker->subscribed_box == box ? reader : box;
}
/* Opens the worker's store for its loop or its upkeep. */
boxcar_status worker_open_store(struct boxcar_worker *worker, const boxcar_store_options *options,
                                struct boxcar_store **ret_store, boxcar_error *err);
/* See boxcar_worker_stop(). Safe in a signal handler. */
void worker_stop(struct boxcar_worker *worker);
/* Makes its loop come round. Safe in a signal handler. */
void worker_wake(const struct boxcar_worker *worker);
/* Hands the worker new settings, or takes those that its loop has not seen yet; returns the ones before. */
struct tuning *worker_swap_pending(struct boxcar_worker *worker, struct tuning *tuning);
/* The worker has the new settings from now on, if there are any; false = there are none. */
bool worker_take_pending(struct boxcar_worker *worker);

/* The upkeep of a store, a round at a time: it reaps, expires, purges, and logs topics that no worker
 * handles. Any thread, one at a time, but for keeper_hurry(). */
struct keeper;

/* `worker` is the store's; `logger` is for logging. Both outlive the keeper. NULL = out of memory. */
struct keeper *keeper_new(struct boxcar_worker *worker, struct boxcar_store *logger);
void keeper_round(struct keeper *keeper);
void keeper_hurry(
    struct keeper *keeper); /* the round that is under way ends soon, and there will be no other */
void keeper_free(struct keeper *keeper); /* NULL is fine */

/* The upkeep of a worker: it reaps, expires, purges, and logs topics that no worker handles. It has a thread
 * and a connection of its own, so that the work loop never waits for it. */
struct steward;

/* `logger` is for logging and outlives the steward. NULL = no thread could be started. */
struct steward *steward_start(struct boxcar_worker *worker, struct boxcar_store *logger, int64_t interval_ms);
void steward_set_interval(struct steward *steward, int64_t interval_ms); /* 0 = none */
void steward_stop(struct steward *steward);                              /* waits for it; NULL is fine */

#endif
