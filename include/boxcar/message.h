/* boxcar/message.h: a message from enqueue to its end.
 *
 * The life of a message: enqueue makes it ready; claim leases it to an owner; the owner settles it by ack
 * (done), abandon (try again later, one attempt spent), defer (later, no attempt spent) or fail (dead
 * letter). A lease that expires spends an attempt and makes the message ready again. See docs/guarantees.md.
 *
 * There are two boxes: the outbox has the messages that this program sends, the inbox those that other
 * programs deliver to it (boxcar/inbox.h). Both share this lifecycle and these functions.
 *
 * Each call is one transaction and one round trip: it happens as a whole or not at all. boxcar/request.h
 * combines many operations in one call. */
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

/* Whether a message is an event of its stream (docs/events.md). An event is also appended to the event stream
 * of the same name, with the next version, in the same transaction. It is appended once, even if the message
 * is enqueued or delivered again. */
enum {
    BOXCAR_EVENT_BY_TYPE = 0, /* yes if it has a stream, and an event_type or a topic that ends in "Event" */
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
    boxcar_time due_at;        /* not claimed before this time; BOXCAR_TIME_NONE or past = now */
    int64_t delay_ms;          /* due this long after the database's current time; 0 = at
                                  once. Not together with due_at */
    int64_t ttl_ms;            /* dead (expired) if not finished this long after enqueueing
                                  and not leased; 0 = never */
    int max_attempts;          /* 0 = the store's setting */

    /* In the outbox. */
    bool unique;                  /* the key is free again once its message has ended (done or dead); each
                                     message with this key has a new id. Needs a key */
    boxcar_str key;               /* message_id is made from the topic and this text; give one of the two.
                                     The same key again in the same topic is a duplicate, in another
                                     topic another message. Kept as long as its message */
    boxcar_message_id message_id; /* none = a new one. An id that is already in the store
                                     makes the enqueue a no-op, reported as duplicate */
    boxcar_join_id join_id;       /* none, or the join to attach the message to */

    /* In the inbox: see boxcar/inbox.h. Two sources may use the same external id. */
    boxcar_str source;       /* 1 to 255 characters */
    boxcar_str external_id;  /* 1 to 255 characters: the message's id at its source */
    boxcar_str content_hash; /* at most 255 characters, opaque; empty = none. The first hash of a key stays. A
                                different one later is only reported and logged (WARN) */

    /* In both. */
    boxcar_str causation_id; /* of the message or call that caused this one; at most 255 characters; empty = absent */
    boxcar_str metadata;     /* a JSON object, of any values, for the caller's own use. At most 64 KiB (the setting
                                headers_bytes_max) */
    int is_event;            /* BOXCAR_EVENT_BY_TYPE, _YES or _NO */
    boxcar_str event_type;   /* of the event, 1 to 255 characters; absent = the last part of the topic, after the last
                                dot, colon or slash */
} boxcar_new_message;

#ifdef __cplusplus
#define BOXCAR_NEW_MESSAGE_INIT (boxcar_new_message{sizeof(boxcar_new_message), {0, 0}, {0, 0}, {0, 0}, {0, 0}, \
    {0, 0}, BOXCAR_TIME_NONE, 0, 0, 0, false, {0, 0}, {{{0}}}, {{{0}}}, {0, 0}, {0, 0}, {0, 0}, \
    {0, 0}, {0, 0}, 0, {0, 0}})
#else
#define BOXCAR_NEW_MESSAGE_INIT \
    ((boxcar_new_message){.struct_size = sizeof(boxcar_new_message), .due_at = BOXCAR_TIME_NONE})
#endif

/* The result of enqueueing one message. */
typedef struct boxcar_enqueued {
    boxcar_work_id work_id;       /* 0 only in the inbox: the key is known and has no message, because it was
                                     accepted or the message was purged */
    boxcar_message_id message_id;
    bool duplicate;     /* nothing was stored: the message id existed, or the key was taken or known. The ids
                           are those of the message that is there */
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
    boxcar_box box; /* where the message lies; see also `reader` */
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
    int stages; /* the stages that are done: boxcar_stage flags */
    boxcar_str causation_id;
    boxcar_str metadata;   /* JSON object */
    boxcar_str event_type; /* absent = the message is not an event */
    boxcar_box reader;     /* whose delivery this is: the box's main reader, or a subscription. Status, attempts,
                              lease and end are those of this delivery. Settle with this number as the box */
} boxcar_message;

/* Stages of a message's processing, for handlers that work in parts: a retry sees which stages are done.
 * Boxcar sets the first three itself: every message is stored, an event is event_stored, and a message of the
 * outbox that is done is published. The caller sets the others. It may also set published before it acks.
 * boxcar_process() and boxcar_delivery_record_stages() record stages while the message is leased. They are
 * kept as long as the message. */
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

/* A claimer: it claims messages from one box and settles them there. */
typedef struct boxcar_claimer {
    size_t struct_size;
    boxcar_box box;           /* or the number of a subscription: then all this is done for it alone.
                                 BOXCAR_E_NOT_FOUND (argument "subscription"): there is none with this number */
    boxcar_owner owner;       /* the claimer's id: (boxcar_owner){boxcar_uuid_new()}, one for each worker */
    int64_t lease_ms;         /* of claims and renewals, 100 ms to 24 h */
    int batch_size;           /* 1 to 10,000: the most that one claim returns */
    int64_t batch_bytes;      /* 1 KiB to 1 GiB: a claim takes no further message once payloads, headers and
                                 metadata have this many bytes together. A single message may be larger */
    const boxcar_str *topics; /* claim only these; each exact, or ending in * for a prefix */
    size_t topic_count;       /* 0 = every topic */
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
 * tell cheaply. An empty list means nothing is ready. A message that was released by an
 * expired lease comes alone: if it kills its worker, no other message is affected.
 * The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_claim(boxcar_store *store, const boxcar_claimer *claimer,
                                      boxcar_message_list **ret_list, boxcar_error *err);

/* Releases every message of a box, or of a subscription, whose lease has expired, and counts an attempt for each.
 * *ret_count (may be NULL) receives the number of these messages. A claim does the same
 * first; this function is for programs that do not claim. */
BOXCAR_API boxcar_status boxcar_reap(boxcar_store *store, boxcar_box box, int64_t *ret_count, boxcar_error *err);

/* ---- settling ---- */

/* The ways to settle. A request records stages first and then applies the others in this order. */
typedef enum boxcar_settle_kind {
    BOXCAR_ACK = 0,     /* done */
    BOXCAR_ABANDON = 1, /* try again later; an attempt is spent */
    BOXCAR_DEFER = 2,   /* later; no attempt is spent */
    BOXCAR_FAIL = 3,    /* a dead letter */
    BOXCAR_RESOLVE = 4, /* evaluate a wait for a join: only for workers */
    BOXCAR_RENEW = 5,   /* the lease begins anew */
    BOXCAR_RECORD = 6   /* these stages are done; the lease stays */
} boxcar_settle_kind;
#define BOXCAR_SETTLE_KINDS 7
#define BOXCAR_SETTLE_MAX 16 /* size of arrays that have a place for each way; leaves room for new ways */

/* "ack", "abandon", "defer", "fail", "resolve", "renew", "record"; "?" for a number out of range. */
BOXCAR_API const char *boxcar_settle_kind_name(boxcar_settle_kind kind);

/* Says how one message ended. Name it by its work id or by its message id. With an `epoch`, only the lease
 * with this epoch is settled; without (0), any lease that this owner holds on the message. */
typedef struct boxcar_settlement {
    size_t struct_size;
    boxcar_work_id work_id;
    boxcar_epoch epoch;
    int64_t delay_ms; /* abandon: BOXCAR_BACKOFF (-1) = the store's backoff; defer: 0 or
                         BOXCAR_BACKOFF = now */
    boxcar_str error; /* abandon and fail: kept as last_error, cut at 4 KiB; optional */
    int stages;       /* boxcar_stage flags that are done, recorded before the result; 0 = none. BOXCAR_RECORD
                         needs at least one */
    boxcar_message_id message_id; /* instead of work_id. If a call has any, the store is asked for the work
                                     ids first: on PostgreSQL that is one more round trip */
} boxcar_settlement;

#define BOXCAR_BACKOFF INT64_C(-1)

#ifdef __cplusplus
#define BOXCAR_SETTLEMENT_INIT (boxcar_settlement{sizeof(boxcar_settlement), {0}, {0}, BOXCAR_BACKOFF, \
    {0, 0}, 0, {{{0}}}})
#else
#define BOXCAR_SETTLEMENT_INIT \
    ((boxcar_settlement){.struct_size = sizeof(boxcar_settlement), .delay_ms = BOXCAR_BACKOFF})
#endif

/* Settles messages in one way. Only the box and the owner of `claimer` count, and for BOXCAR_RENEW also
 * lease_ms: the leases end that long after the database's current time, never earlier than before.
 *
 * Ids that do not exist, are not leased to the owner in this box, or are leased under another epoch are
 * skipped without an error. ret_affected has room for `count` work ids and receives those that were changed,
 * *ret_affected_count their number; both may be NULL. A message given twice counts once. If a lease has
 * expired, the call still counts unless the message was reaped or claimed in the meantime. */
BOXCAR_API boxcar_status boxcar_settle(boxcar_store *store, const boxcar_claimer *claimer, boxcar_settle_kind kind,
                                       const boxcar_settlement *settlements, size_t count,
                                       boxcar_work_id *ret_affected, size_t *ret_affected_count,
                                       boxcar_error *err);

/* BOXCAR_ACK. For an effect that happens exactly once: claim; begin a transaction; make the effect;
 * boxcar_ack() on a store made from that connection. If the ack affected the message, commit; otherwise roll
 * back. */
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
