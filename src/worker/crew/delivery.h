/* One message in the hands of a handler: what the handler may ask and say.
 *
 * A delivery belongs to the thread that runs the handler. Others only cancel it: the flag is
 * atomic, the descriptor a timer that is made to fire at once. */
#ifndef BOXCAR_WORKER_CREW_DELIVERY_H
#define BOXCAR_WORKER_CREW_DELIVERY_H

#include <stdatomic.h>

#include "boxcar/worker.h"
#include "store/store.h"

/* Why a handler was told to stop. */
enum cancel_reason { CANCEL_NONE, CANCEL_TIMEOUT, CANCEL_LEASE_LOST, CANCEL_STOP };

struct boxcar_delivery {
    const boxcar_message *message;
    const char *store_id;
    boxcar_str subscription;                   /* absent = the message is the main reader's */
    const boxcar_store_options *store_options; /* for the connection of its own */
    struct boxcar_store *store;                /* opened when first needed, kept for later messages */
    bool in_transaction;
    int timer_fd;          /* fires at the deadline, or when cancelled */
    int64_t deadline_ms;   /* monotonic; INT64_MAX = none */
    _Atomic int cancelled; /* enum cancel_reason */
    _Atomic int *stages;   /* the job's, of the message in hand */
    _Atomic bool *news;    /* set when a handler records a stage: the work loop looks for it */
    int64_t delay_ms;      /* as the handler set it; BOXCAR_BACKOFF = not set */
    bool is_shortage;      /* deferred because the machine has too little of something */
    char *error;           /* malloc'ed, or NULL */
    size_t error_len;
};

/* false = no timer or no memory. */
bool delivery_init(struct boxcar_delivery *delivery, const char *store_id,
                   const boxcar_store_options *store_options);
void delivery_release(struct boxcar_delivery *delivery);

/* Makes it ready for a message. */
void delivery_start(struct boxcar_delivery *delivery, const boxcar_message *message, int64_t deadline_ms);
/* Tells the handler to stop; the first reason stays. Any thread. */
void delivery_cancel(struct boxcar_delivery *delivery, enum cancel_reason reason);
/* Why it was cancelled; a passed deadline is CANCEL_TIMEOUT. */
enum cancel_reason delivery_cancel_reason(const struct boxcar_delivery *delivery);

/* The handler's verdict and delay, corrected: a verdict that exists, and a delay in range. */
boxcar_verdict delivery_check_verdict(struct boxcar_delivery *delivery, boxcar_verdict verdict);
int64_t delivery_delay_ms(const struct boxcar_delivery *delivery, boxcar_verdict verdict);
/* Takes the error text that the handler has set. The text is the caller's from now on. */
char *delivery_take_error(struct boxcar_delivery *delivery, size_t *ret_len);

/* Ends the handler's transaction: settles the message in it and commits. *ret_acked is false when the lease
 * was lost. An error means that nothing took effect, or (outcome_unknown) that nobody can tell. */
boxcar_status delivery_ack(struct boxcar_delivery *delivery, bool *ret_acked, boxcar_error *err);
void delivery_roll_back(struct boxcar_delivery *delivery);

#endif
