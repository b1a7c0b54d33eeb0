/* boxcar/message.h: a message from enqueue to its end.
 *
 * The life of a message: enqueue makes it ready; claim leases it to an owner; the owner settles it by ack (done),
 * abandon (try again later, one attempt spent), defer (later, no attempt spent) or fail (dead letter). A lease that
 * expires spends an attempt and makes the message ready again. See docs/guarantees.md.
 *
 * There are two boxes: what this program sends is in the outbox, what others deliver to it is in the inbox
 * (boxcar/inbox.h). They share this lifecycle and these functions.
 *
 * Each call is one transaction and one round trip: it happens as a whole or not at all. boxcar/request.h has many of
 * them in one. */
#ifndef BOXCAR_MESSAGE_H
#define BOXCAR_MESSAGE_H

#include "error.h"
#include "store.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOXCAR_TOPIC_MAX 255          /* characters, not bytes */
#define BOXCAR_CORRELATION_ID_MAX 255
#define BOXCAR_CAUSATION_ID_MAX 255
#define BOXCAR_STREAM_MAX 255
#define BOXCAR_KEY_MAX 1024
#define BOXCAR_SOURCE_MAX 255
#define BOXCAR_EXTERNAL_ID_MAX 255
#define BOXCAR_CONTENT_HASH_MAX 255
#define BOXCAR_MAX_ATTEMPTS_MAX 1000000
#define BOXCAR_ERROR_TEXT_MAX 4096    /* bytes kept of an error text */

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

/* ---- storing ---- */

/* Whether a message is an event of its stream (docs/events.md): then it is also appended to the event stream of the same name,
 * with the next version, in the same transaction, once however often it is enqueued or delivered. */
enum {
    BOXCAR_EVENT_BY_TYPE = 0, /* if it has a stream and an event_type, or a stream and a topic that ends in "Event" */
    BOXCAR_EVENT_YES = 1,     /* it needs a stream */
    BOXCAR_EVENT_NO = 2
};

/* What enqueue takes. Start from BOXCAR_NEW_MESSAGE_INIT and fill in topic and payload, in the inbox also source and
 * external_id; everything else is optional. All text is UTF-8 without NUL bytes and is borrowed for the call. */
typedef struct boxcar_new_message {
    size_t struct_size;
    boxcar_str topic;          /* 1 to 255 characters, case-sensitive */
    boxcar_str payload;        /* may be empty, not absent; opaque to Boxcar. At most 64 MiB (the setting
                                  payload_bytes_max) */
    boxcar_str correlation_id; /* at most 255 characters; empty = absent */
    boxcar_str stream;         /* at most 255 characters; empty = absent. Messages of one
                                  stream are handed out one at a time, in order */
    boxcar_str headers;        /* a JSON object whose values are strings. At most 64 KiB (the setting
                                  headers_bytes_max) */
    boxcar_time due_at;        /* not claimed before; BOXCAR_TIME_NONE or past = now */
    int64_t delay_ms;          /* due this long after the database's now; 0 = none. Not
                                  together with due_at */
    int64_t ttl_ms;            /* dead (expired) if not finished this long after enqueueing
                                  and not leased; 0 = never */
    int max_attempts;          /* 0 = the store's setting */

    /* In the outbox. */
    bool unique;                  /* the key is free again once its message has ended (done or dead); each
                                     message with it has a new id. Needs a key */
    boxcar_str key;               /* derives message_id from the topic and this text; not together with it.
                                     The same key again in the same topic is a duplicate, in another
                                     topic another message. Remembered as long as its message */
    boxcar_message_id message_id; /* none = a new one. An id that is already in the store
                                     makes the enqueue a no-op, reported as duplicate */
    boxcar_join_id join_id;       /* none, or the join to attach the message to */

    /* In the inbox: see boxcar/inbox.h. Two sources may use the same external id. */
    boxcar_str source;       /* 1 to 255 characters */
    boxcar_str external_id;  /* 1 to 255 characters: the message's id at its source */
    boxcar_str content_hash; /* at most 255 characters, opaque; empty = none. The first that is given for a key
                                stays; another one later is reported and logged (WARN), and nothing else */

    /* In both. */
    boxcar_str causation_id; /* of the message or call that caused this one; at most 255 characters; empty = absent */
    boxcar_str metadata;     /* a JSON object, of any values, for the caller's own use. At most 64 KiB (the setting
                                headers_bytes_max) */
    int is_event;            /* BOXCAR_EVENT_BY_TYPE, _YES or _NO */
} boxcar_new_message;

#ifdef __cplusplus
#define BOXCAR_NEW_MESSAGE_INIT (boxcar_new_message{sizeof(boxcar_new_message), {0, 0}, {0, 0}, {0, 0}, {0, 0}, \
    {0, 0}, BOXCAR_TIME_NONE, 0, 0, 0, false, {0, 0}, {{{0}}}, {{{0}}}, {0, 0}, {0, 0}, {0, 0}, \
    {0, 0}, {0, 0}, 0, {0, 0}})
#else
#define BOXCAR_NEW_MESSAGE_INIT \
    ((boxcar_new_message){.struct_size = sizeof(boxcar_new_message), .due_at = BOXCAR_TIME_NONE})
#endif

/* What enqueue says about one message. */
typedef struct boxcar_enqueued {
    boxcar_work_id work_id;       /* 0 in the inbox: the key is known, but has no message: it was accepted, or the
                                     message is gone */
    boxcar_message_id message_id;
    bool duplicate;     /* nothing was stored: the message id existed, or the key was taken or known. These are the
                           ids of what is there */
    bool hash_mismatch; /* in the inbox: the key came with another content hash before */
} boxcar_enqueued;

/* Stores one message durably. When this returns BOXCAR_OK, it will be delivered at least
 * once. On a store made from a borrowed handle it becomes part of the caller's
 * transaction instead, and is delivered if that commits. */
BOXCAR_API boxcar_status boxcar_enqueue(boxcar_store *store, boxcar_box box, const boxcar_new_message *message,
                                        boxcar_enqueued *ret_enqueued, boxcar_error *err);

/* Stores many messages in one transaction: all or none. ret_enqueued has room for `count`
 * entries, in the order of `messages`; it may be NULL. Argument errors name the message by
 * its index ("messages[3].topic"). */
BOXCAR_API boxcar_status boxcar_enqueue_many(boxcar_store *store, boxcar_box box,
                                             const boxcar_new_message *messages, size_t count,
                                             boxcar_enqueued *ret_enqueued, boxcar_error *err);

/* ---- reading ---- */

/* A message in the store. Text is lent by the boxcar_message_list it came from. Fields
 * that do not apply are absent (data == NULL, BOXCAR_TIME_NONE, zero id). */
typedef struct boxcar_message {
    boxcar_work_id work_id;
    boxcar_message_id message_id;
    boxcar_box box;
    boxcar_message_status status;
    boxcar_str topic;
    boxcar_str payload; /* absent in lists; present from claim and find */
    boxcar_str correlation_id;
    boxcar_str stream;
    boxcar_str headers; /* JSON object */
    boxcar_time created_at;
    boxcar_time due_at;
    boxcar_time available_at; /* when it may be claimed next, as far as known */
    boxcar_time expires_at;
    int retry_count; /* attempts that ended badly or never ended */
    int crash_count; /* those of them that never ended: a lease expired. Above 0 the
                        message is suspect and always claimed alone; from 3 on run it with
                        nothing else in flight */
    int max_attempts; /* the message's own, or 0 for the store's setting */
    boxcar_str last_error;
    boxcar_owner owner; /* of the lease, while in progress */
    boxcar_epoch epoch;
    boxcar_time locked_until;
    boxcar_time processed_at; /* when done */
    boxcar_str processed_by;  /* the owner that acked it, as text */
    boxcar_reason reason;     /* when failed */
    boxcar_time died_at;
    boxcar_str source;      /* of a message of the inbox, see boxcar/inbox.h; absent in the outbox */
    boxcar_str external_id;
    int stages; /* what is done of it: boxcar_stage flags */
    boxcar_str causation_id;
    boxcar_str metadata;   /* JSON object */
} boxcar_message;

/* Stages of a message's processing, for handlers that work in parts: a retry sees which are done. Boxcar sets the first
 * three itself: every message is stored, an event is event_stored, and a message of the outbox that is done is published.
 * The others are the caller's. A caller may also record that a message is published before it acks it. They are recorded with
 * boxcar_process() or boxcar_delivery_record_stages() while the message is leased, and are gone with the message. */
typedef enum boxcar_stage {
    BOXCAR_STAGE_STORED = 1,
    BOXCAR_STAGE_EVENT_STORED = 2,
    BOXCAR_STAGE_PUBLISHED = 4,
    BOXCAR_STAGE_RECEPTOR_PROCESSED = 8,
    BOXCAR_STAGE_PERSPECTIVE_PROCESSED = 16
} boxcar_stage;

#define BOXCAR_STAGES_ALL 31

/* Messages; see boxcar_list_free() in boxcar/types.h. */
typedef struct boxcar_message_list {
    const boxcar_message *const *items;
    size_t count;
} boxcar_message_list;

/* ---- claiming ---- */

/* Who works on which box: claims from it and settles there. */
typedef struct boxcar_claimer {
    size_t struct_size;
    boxcar_box box;
    boxcar_owner owner;       /* who it is: (boxcar_owner){boxcar_uuid_new()}, one for each worker */
    int64_t lease_ms;         /* of claims and renewals, 100 ms to 24 h */
    int batch_size;           /* 1 to 10,000: the most that one claim returns */
    int64_t batch_bytes;      /* 1 KiB to 1 GiB: a claim takes no further message once payloads, headers and
                                 metadata have this many bytes together. So one message of any size can be claimed */
} boxcar_claimer;

#ifdef __cplusplus
#define BOXCAR_CLAIMER_INIT (boxcar_claimer{sizeof(boxcar_claimer), BOXCAR_OUTBOX, {{{0}}}, \
    BOXCAR_LEASE_MS_DEFAULT, BOXCAR_BATCH_SIZE_DEFAULT, BOXCAR_BATCH_BYTES_DEFAULT, 0, 0})
#else
#define BOXCAR_CLAIMER_INIT ((boxcar_claimer){.struct_size = sizeof(boxcar_claimer), \
    .lease_ms = BOXCAR_LEASE_MS_DEFAULT, .batch_size = BOXCAR_BATCH_SIZE_DEFAULT, \
    .batch_bytes = BOXCAR_BATCH_BYTES_DEFAULT})
#endif

/* Leases up to batch_size messages that are ready, oldest first as far as the store can
 * tell cheaply. An empty list means nothing is ready. A message released by an expired
 * lease comes alone, so that a message which kills its worker harms no other.
 * The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_claim(boxcar_store *store, const boxcar_claimer *claimer,
                                      boxcar_message_list **ret_list, boxcar_error *err);

/* Releases every message of a box whose lease has expired, counting an attempt for each.
 * *ret_count (may be NULL) receives how many messages that were. Claim does the same on
 * its way; this is for programs that only watch. */
BOXCAR_API boxcar_status boxcar_reap(boxcar_store *store, boxcar_box box, int64_t *ret_count, boxcar_error *err);

/* ---- settling ---- */

/* The ways to settle. A request applies them in this order, but for the records of stages: those come first. */
typedef enum boxcar_settle_kind {
    BOXCAR_ACK = 0,     /* done */
    BOXCAR_ABANDON = 1, /* try again later; an attempt is spent */
    BOXCAR_DEFER = 2,   /* later; no attempt is spent */
    BOXCAR_FAIL = 3,    /* a dead letter */
    BOXCAR_RESOLVE = 4, /* evaluate a wait for a join: workers do that, others may not */
    BOXCAR_RENEW = 5,   /* the lease begins anew */
} boxcar_settle_kind;
#define BOXCAR_SETTLE_KINDS 6
#define BOXCAR_SETTLE_MAX 16 /* places in arrays by way: more ways may come, these arrays do not grow */

/* "ack", "abandon", "defer", "fail", "resolve", "renew", "record"; "?" for a number out of range. */
BOXCAR_API const char *boxcar_settle_kind_name(boxcar_settle_kind kind);

/* Says how one message ended. Name it by its work id or by its message id. `epoch` fences: with it only
 * the lease it names is touched, without (0) any lease this owner holds on the message. */
typedef struct boxcar_settlement {
    size_t struct_size;
    boxcar_work_id work_id;
    boxcar_epoch epoch;
    int64_t delay_ms; /* abandon: BOXCAR_BACKOFF (-1) = the store's backoff; defer: 0 or
                         BOXCAR_BACKOFF = now */
    boxcar_str error; /* abandon and fail: kept as last_error, cut at 4 KiB; optional */
    int stages;       /* boxcar_stage flags that are done, recorded before the result; 0 = none. A record needs one */
} boxcar_settlement;

#define BOXCAR_BACKOFF INT64_C(-1)

#ifdef __cplusplus
#define BOXCAR_SETTLEMENT_INIT (boxcar_settlement{sizeof(boxcar_settlement), {0}, {0}, BOXCAR_BACKOFF, \
    {0, 0}, 0, {{{0}}}})
#else
#define BOXCAR_SETTLEMENT_INIT \
    ((boxcar_settlement){.struct_size = sizeof(boxcar_settlement), .delay_ms = BOXCAR_BACKOFF})
#endif

/* Settles messages in one way. Of `claimer` the box and the owner count, and for BOXCAR_RENEW lease_ms: the leases end
 * that long after the database's now, never earlier than before.
 *
 * Ids that do not exist, are not leased to the owner in this box, or are leased under another epoch are passed over
 * without an error. ret_affected has room for `count` work ids and receives those that were changed,
 * *ret_affected_count how many; both may be NULL. A message given twice counts once. A late call whose lease expired still
 * counts as long as nobody reaped or claimed the message in between. */
BOXCAR_API boxcar_status boxcar_settle(boxcar_store *store, const boxcar_claimer *claimer, boxcar_settle_kind kind,
                                       const boxcar_settlement *settlements, size_t count,
                                       boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                       boxcar_error *err);

/* BOXCAR_ACK. For an effect that happens exactly once: claim; begin a transaction; make the effect; boxcar_ack() on a
 * store made from that connection; roll back unless it affected the message; commit. */
static inline boxcar_status boxcar_ack(boxcar_store *store, const boxcar_claimer *claimer,
                                       const boxcar_settlement *settlements, size_t count,
                                       boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                       boxcar_error *err) {
    return boxcar_settle(store, claimer, BOXCAR_ACK, settlements, count, ret_affected, ret_affected_count, err);
}

#ifdef __cplusplus
}
#endif
#endif
