/* How much to hold and how long to wait: pure arithmetic, times are arguments.
 *
 * A worker holds no more than it expects to finish in a fraction of a lease (BX-023): with slow
 * handlers nothing beyond what its threads run, with fast ones whole batches. Until the
 * first message has finished it expects the worst. */
#ifndef BOXCAR_WORKER_LOOP_PACE_H
#define BOXCAR_WORKER_LOOP_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pace {
    bool known;
    double message_us; /* what a message takes in a handler, smoothed */
    size_t grown;      /* what batches have grown to; below batch_size: not at all */
    bool woken;        /* the next look happens because the store woke the worker */
    int64_t deaf_ms;   /* how long to ignore the store after a look it asked for in vain */
};

#define PACE_PAUSE_FIRST_MS 1

/* A message took this long. */
void pace_learn(struct pace *pace, int64_t microseconds);

struct pace_view {
    size_t concurrency, batch_size;
    size_t batch_limit; /* how far batches may grow */
    size_t queued, running;
    size_t behind;      /* held back: they wait for the one before them in their stream */
    int64_t elapsed_ms; /* how long the running ones have been at it, on average */
    int64_t lease_ms;
};

/* How many to ask for now; 0 = enough is here. */
size_t pace_claim_size(const struct pace *pace, const struct pace_view *view);

/* Notes what a claim was asked for and has brought, by box. Batches double while claims come back full, since
 * each claim costs a round trip. They grow no further than the threads finish in a moment. A claim that is
 * not full ends it: there are no more messages, or they are large. */
void pace_grow(struct pace *pace, const struct pace_view *view, const int asked[2], const size_t brought[2]);

/* How many of them to ask which box for. A box that is asked gets half, or everything if it is the only
 * one; what cannot be halved goes to each in turn. */
void pace_share(size_t size, const bool asked[2], unsigned turn, int ret_sizes[2]);

/* After a look at a box that found nothing: how long to wait before the next one. *pause_ms doubles up to
 * poll_ms as long as looks find nothing. */
int64_t pace_pause(int64_t *pause_ms, int64_t poll_ms);
/* A look, at whatever boxes, found something, or nothing. */
void pace_found(struct pace *pace);
void pace_in_vain(struct pace *pace);
/* The store says that there may be work. When it was wrong before, as it is while others enqueue
 * what is not for this worker, it is ignored for some milliseconds after each look. */
void pace_wake(struct pace *pace);

/* After the `failures`-th failure of the store in a row: how long to wait before the next try. `chance`
 * in [0, 1) keeps many workers from coming back at once. */
int64_t pace_retry_ms(int failures, double chance);

#endif
