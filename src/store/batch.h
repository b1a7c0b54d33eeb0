/* One request, one round trip: everything that is asked of a store at once.
 *
 * Enqueueing, settling and reaping are one durable transaction; claiming follows it in the
 * same round trip. Every public operation is a batch with one part filled in. */
#ifndef BOXCAR_STORE_BATCH_H
#define BOXCAR_STORE_BATCH_H

#include "base/arena.h"
#include "boxcar/message.h"
#include "boxcar/join.h"
#include "boxcar/outbox.h"
#include "core/wait.h"

struct settlement_list {
    const boxcar_settlement *items;
    size_t count;
};

/* The ways to settle, in the order in which a batch applies them. */
enum settle_kind {
    SETTLE_ACK,
    SETTLE_ABANDON,
    SETTLE_DEFER,
    SETTLE_FAIL,
    SETTLE_RESOLVE, /* evaluate waits: ack with a continuation, defer, or fail */
    SETTLE_RENEW,
    SETTLE_KINDS
};

/* Everything here is borrowed for the call and has been validated: stores trust it. */
struct batch {
    boxcar_box box;
    boxcar_owner owner;                    /* of the settlements and the claim */
    const boxcar_new_message *messages;    /* message_id is always set, key already derived */
    size_t message_count;
    bool fresh_ids;                        /* the library made every message id in this very
                                              call: none can be a duplicate */
    bool sent_before;                      /* a try of this very batch may have taken effect: what it
                                              settled counts as settled by this one */
    struct settlement_list settle[SETTLE_KINDS];
    boxcar_reason fail_reason;             /* for settle[SETTLE_FAIL]; NONE = rejected */
    const struct wait *waits;              /* for settle[SETTLE_RESOLVE], in the same order */
    int64_t renew_lease_ms;                /* for settle[SETTLE_RENEW] */
    bool reap;
    int claim_size;                        /* 0 = claim nothing */
    int64_t claim_lease_ms;
    bool no_suspects;                      /* claim none: one of them is being tried already */
    const boxcar_str *topics;              /* patterns; none = every topic */
    size_t topic_count;
};

/* A message list is what its public name says: an array in an arena. */
struct boxcar_message_list {
    struct arena arena;
    boxcar_message *items;
    size_t count;
};

struct work_id_list {
    boxcar_work_id *items;
    size_t count;
};

/* The answer; lives in one arena, released once with batch_result_release(). */
struct batch_result {
    struct arena arena;
    boxcar_enqueued *enqueued; /* one per message, in order */
    struct work_id_list settled[SETTLE_KINDS];
    enum wait_outcome *waits;  /* one per wait that was to be resolved, in order */
    boxcar_join *ended;        /* joins that ended by this batch, without their texts; only looked for
                                  when the store logs at INFO */
    size_t ended_count;
    int64_t reaped;            /* messages, when the batch asked to reap */
    boxcar_message *claimed;
    size_t claimed_count;
};

void batch_result_release(struct batch_result *result);
/* The claimed messages as a list of their own; takes the arena over. NULL = out of memory. */
struct boxcar_message_list *batch_result_into_list(struct batch_result *result);

#endif
