/* boxcar/outbox.h: enqueue, claim, and settle.
 *
 * The life of a message: enqueue makes it ready; claim leases it to an owner; the owner
 * settles it by ack (done), abandon (try again later, one attempt spent), defer (later,
 * no attempt spent) or fail (dead letter). A lease that expires spends an attempt and
 * makes the message ready again. See docs/guarantees.md.
 *
 * Each call is one transaction and one round trip: it happens as a whole or not at all. */
#ifndef BOXCAR_OUTBOX_H
#define BOXCAR_OUTBOX_H

#include "error.h"
#include "message.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ranges of the arguments below. */
#define BOXCAR_LEASE_MS_MIN 100
#define BOXCAR_LEASE_MS_MAX (INT64_C(24) * 60 * 60 * 1000)
#define BOXCAR_LEASE_MS_DEFAULT 30000
#define BOXCAR_BATCH_SIZE_MAX 10000
#define BOXCAR_BATCH_SIZE_DEFAULT 50
#define BOXCAR_BATCH_BYTES_MIN 1024
#define BOXCAR_BATCH_BYTES_MAX (INT64_C(1) << 30)
#define BOXCAR_BATCH_BYTES_DEFAULT (INT64_C(64) << 20)
#define BOXCAR_DELAY_MS_MAX (INT64_C(3650) * 24 * 60 * 60 * 1000)

/* Stores one message durably. When this returns BOXCAR_OK, it will be delivered at least
 * once. On a store made from a borrowed handle it becomes part of the caller's
 * transaction instead, and is delivered if that commits. */
BOXCAR_API boxcar_status boxcar_enqueue(boxcar_store *store, const boxcar_new_message *message,
                                        boxcar_enqueued *ret_enqueued, boxcar_error *err);

/* Stores many messages in one transaction: all or none. ret_enqueued has room for `count`
 * entries, in the order of `messages`; it may be NULL. Argument errors name the message by
 * its index ("messages[3].topic"). */
BOXCAR_API boxcar_status boxcar_enqueue_many(boxcar_store *store, const boxcar_new_message *messages,
                                             size_t count, boxcar_enqueued *ret_enqueued,
                                             boxcar_error *err);

typedef struct boxcar_claim_options {
    size_t struct_size;
    boxcar_owner owner;       /* who claims */
    int64_t lease_ms;         /* 100 ms to 24 h */
    int batch_size;           /* 1 to 10,000: the most this call returns */
    const boxcar_str *topics; /* only these; each exact, or ending in * for a prefix */
    size_t topic_count;       /* 0 = every topic */
    int64_t batch_bytes;      /* 1 KiB to 1 GiB: the claim takes no further message once its payloads have this
                                 many bytes together. So one message of any size can be claimed */
} boxcar_claim_options;

#ifdef __cplusplus
#define BOXCAR_CLAIM_OPTIONS_INIT (boxcar_claim_options{sizeof(boxcar_claim_options), {{{0}}}, \
    BOXCAR_LEASE_MS_DEFAULT, BOXCAR_BATCH_SIZE_DEFAULT, 0, 0, BOXCAR_BATCH_BYTES_DEFAULT})
#else
#define BOXCAR_CLAIM_OPTIONS_INIT ((boxcar_claim_options){.struct_size = sizeof(boxcar_claim_options), \
    .lease_ms = BOXCAR_LEASE_MS_DEFAULT, .batch_size = BOXCAR_BATCH_SIZE_DEFAULT, \
    .batch_bytes = BOXCAR_BATCH_BYTES_DEFAULT})
#endif

/* Leases up to batch_size messages that are ready, oldest first as far as the store can
 * tell cheaply. An empty list means nothing is ready. A message released by an expired
 * lease comes alone, so that a message which kills its worker harms no other.
 * The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_claim(boxcar_store *store, const boxcar_claim_options *options,
                                      boxcar_message_list **ret_list, boxcar_error *err);

/* The ways to settle. A request applies them in this order, but for the records of stages: those come first. */
typedef enum boxcar_settle_kind {
    BOXCAR_ACK = 0,     /* done */
    BOXCAR_ABANDON = 1, /* try again later; an attempt is spent */
    BOXCAR_DEFER = 2,   /* later; no attempt is spent */
    BOXCAR_FAIL = 3,    /* a dead letter */
    BOXCAR_RESOLVE = 4, /* evaluate a wait for a join: workers do that, others may not */
    BOXCAR_RENEW = 5,   /* the lease begins anew */
    BOXCAR_RECORD = 6   /* these stages are done; the lease stays */
} boxcar_settle_kind;
#define BOXCAR_SETTLE_KINDS 7

/* "ack", "abandon", "defer", "fail", "resolve", "renew", "record"; "?" for a number out of range. */
BOXCAR_API const char *boxcar_settle_kind_name(boxcar_settle_kind kind);

/* Says how one message ended. `epoch` fences: with it only the lease it names is touched,
 * without (0) any lease this owner holds on the message. */
typedef struct boxcar_settlement {
    boxcar_work_id work_id;
    boxcar_epoch epoch;
    int64_t delay_ms; /* abandon: BOXCAR_BACKOFF (-1) = the store's backoff; defer: 0 or
                         BOXCAR_BACKOFF = now */
    boxcar_str error; /* abandon and fail: kept as last_error, cut at 4 KiB; optional */
    int stages;       /* record: boxcar_stage flags, at least one, beside those recorded before; else 0 */
} boxcar_settlement;

#define BOXCAR_BACKOFF INT64_C(-1)

#ifdef __cplusplus
#define BOXCAR_SETTLEMENT_INIT (boxcar_settlement{{0}, {0}, BOXCAR_BACKOFF, {0, 0}, 0})
#else
#define BOXCAR_SETTLEMENT_INIT ((boxcar_settlement){.delay_ms = BOXCAR_BACKOFF})
#endif

/* The five ways to settle. Ids that do not exist, are not leased to `owner`, or are leased
 * under another epoch are passed over without an error. ret_affected has room for `count`
 * work ids and receives those that were changed, *ret_affected_count how many; both may be
 * NULL. An id given twice counts once. A late call whose lease expired still counts as long
 * as nobody reaped or claimed the message in between. */
BOXCAR_API boxcar_status boxcar_ack(boxcar_store *store, boxcar_owner owner,
                                    const boxcar_settlement *settlements, size_t count,
                                    boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                    boxcar_error *err);
BOXCAR_API boxcar_status boxcar_abandon(boxcar_store *store, boxcar_owner owner,
                                        const boxcar_settlement *settlements, size_t count,
                                        boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                        boxcar_error *err);
BOXCAR_API boxcar_status boxcar_defer(boxcar_store *store, boxcar_owner owner,
                                      const boxcar_settlement *settlements, size_t count,
                                      boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                      boxcar_error *err);
BOXCAR_API boxcar_status boxcar_fail(boxcar_store *store, boxcar_owner owner,
                                     const boxcar_settlement *settlements, size_t count,
                                     boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                     boxcar_error *err);
/* Renews: the leases now end lease_ms from the database's now (never earlier than before). */
BOXCAR_API boxcar_status boxcar_renew(boxcar_store *store, boxcar_owner owner,
                                      const boxcar_settlement *settlements, size_t count,
                                      int64_t lease_ms, boxcar_work_id *ret_affected,
                                      size_t *ret_affected_count, boxcar_error *err);

/* Releases every message whose lease has expired, counting an attempt for each.
 * *ret_count (may be NULL) receives how many messages that were. Claim does the same on
 * its way; this is for programs that only watch. */
BOXCAR_API boxcar_status boxcar_reap(boxcar_store *store, int64_t *ret_count, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
