/* boxcar/request.h: many operations on a store in one round trip.
 *
 * A request holds new messages, results of work, renewals, a heartbeat and how much to claim, for the outbox and the
 * inbox. Storing and settling are one durable transaction, claiming follows in the same round trip. The answer says for
 * each id what happened. boxcar_enqueue(), boxcar_settle() and boxcar_claim() are requests with one list filled in; a
 * worker's steady state is one request after the other.
 *
 *     boxcar_request_part outbox = BOXCAR_REQUEST_PART_INIT;
 *     outbox.settle[BOXCAR_ACK] = (boxcar_settlement_list){done, done_count};
 *     outbox.claim_size = 50;
 *     boxcar_request request = BOXCAR_REQUEST_INIT;
 *     request.owner = me;
 *     request.parts[BOXCAR_OUTBOX] = &outbox;
 *     boxcar_process(store, &request, &result, &err);
 *     ... result->claimed[BOXCAR_OUTBOX] ...
 *     boxcar_result_free(result);
 *
 * Threads: as for the store. Any thread may read a result. */
#ifndef BOXCAR_REQUEST_H
#define BOXCAR_REQUEST_H

#include "error.h"
#include "message.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOXCAR_BOXES 2 /* a box is an index */

/* Lists of a request: lent for the call. */
typedef struct boxcar_new_message_list {
    const boxcar_new_message *items;
    size_t count;
} boxcar_new_message_list;

typedef struct boxcar_settlement_list {
    const boxcar_settlement *items;
    size_t count;
} boxcar_settlement_list;

/* Which leased messages come back with the answer, in addition to those that are claimed. It is for a program
 * that has lost its copies, for instance because it was restarted with the same owner. */
typedef enum boxcar_return {
    BOXCAR_RETURN_NONE = 0,
    BOXCAR_RETURN_RENEWED = 1, /* those that this request has renewed */
    BOXCAR_RETURN_OWNED = 2    /* all that the owner holds in the box */
} boxcar_return;

/* What is asked of one box, or of one subscription. */
typedef struct boxcar_request_part {
    size_t struct_size;
    boxcar_settlement_list settle[BOXCAR_SETTLE_MAX]; /* by kind, each as for boxcar_settle(). Leave the places of
                                                         BOXCAR_RESOLVE and after the last kind empty */
    int64_t lease_ms;       /* of claims, 100 ms to 24 h */
    int64_t renew_lease_ms; /* of renewals; 0 = lease_ms */
    bool reap;              /* release what has expired: boxcar_reap() */
    int claim_size;         /* 0 = claim nothing; at most 10,000 */
    int64_t claim_bytes;    /* 1 KiB to 1 GiB: claim no further message once the payloads have this many bytes */
    const boxcar_str *topics; /* claim only these; each exact, or ending in * for a prefix */
    size_t topic_count;       /* 0 = every topic */
    bool claim_stored;        /* first claim the messages that this request stores in the box, if they are
                                 due: no other claimer can have them before. Messages of streams come as in
                                 any claim, because the order decides: the stream may have earlier messages */
    boxcar_return returns;    /* see boxcar_result.returned */
    boxcar_box reader;        /* 0 = the box itself. Else the number of a subscription: the settlements, the reap and
                                 the claim of this part are its own, whichever box it reads; not together with
                                 claim_stored. BOXCAR_E_NOT_FOUND (argument "subscription"): there is none with
                                 this number; nothing is done */
} boxcar_request_part;

#ifdef __cplusplus
#define BOXCAR_REQUEST_PART_INIT (boxcar_request_part{sizeof(boxcar_request_part), {{0, 0}}, \
    BOXCAR_LEASE_MS_DEFAULT, 0, false, 0, BOXCAR_BATCH_BYTES_DEFAULT, 0, 0, false, BOXCAR_RETURN_NONE, 0})
#else
#define BOXCAR_REQUEST_PART_INIT ((boxcar_request_part){.struct_size = sizeof(boxcar_request_part), \
    .lease_ms = BOXCAR_LEASE_MS_DEFAULT, .claim_bytes = BOXCAR_BATCH_BYTES_DEFAULT})
#endif

/* Registers the owner as live, for people and for `boxcar doctor`: in each box that the request has a part
 * for, on that part's topics. A request without parts updates the registrations that are there; if there are
 * none, it registers the owner in both boxes, on every topic. From then on each call that names the owner
 * counts as a sign of life in both boxes. An owner that is silent for longer than the setting
 * instance_timeout (30 seconds) is removed, and its leases are released. An owner that never registered keeps
 * its leases until they end. */
typedef struct boxcar_heartbeat {
    size_t struct_size;
    boxcar_str host; /* optional */
    int64_t pid;
    int concurrency;
} boxcar_heartbeat;

#ifdef __cplusplus
#define BOXCAR_HEARTBEAT_INIT (boxcar_heartbeat{sizeof(boxcar_heartbeat), {0, 0}, 0, 1})
#else
#define BOXCAR_HEARTBEAT_INIT ((boxcar_heartbeat){.struct_size = sizeof(boxcar_heartbeat), .concurrency = 1})
#endif

typedef struct boxcar_request {
    size_t struct_size;
    boxcar_owner owner; /* of the settlements, the claims and the heartbeat */
    boxcar_new_message_list messages[BOXCAR_BOXES];   /* by box: what to store there */
    const boxcar_request_part *parts[BOXCAR_BOXES];   /* by box: NULL = nothing else is asked of it */
    const boxcar_heartbeat *heartbeat; /* NULL = none */
    bool sent_before;           /* an earlier try of this very request ended with err->outcome_unknown: this
                                   request reports what the earlier try did as its own */
    int64_t stale_threshold_ms; /* instances that were silent for this long are removed, 1 s to 1 d; 0 = with
                                   a heartbeat the setting instance_timeout counts, without one none is
                                   removed */
    int partition_count;        /* the partition count that the store must have, 1 to 1,000,000
                                   (boxcar/instance.h); 0 = any. A store that never had a message in a stream
                                   adopts this number */
} boxcar_request;

#ifdef __cplusplus
#define BOXCAR_REQUEST_INIT (boxcar_request{sizeof(boxcar_request), {{{0}}}, {{0, 0}}, {0, 0}, 0, false, 0, 0})
#else
#define BOXCAR_REQUEST_INIT ((boxcar_request){.struct_size = sizeof(boxcar_request)})
#endif

/* What became of new messages, in their order. */
typedef struct boxcar_enqueued_list {
    const boxcar_enqueued *const *items;
    size_t count;
} boxcar_enqueued_list;

typedef struct boxcar_work_id_list {
    const boxcar_work_id *items;
    size_t count;
} boxcar_work_id_list;

/* The answer to a request, by box. Everything belongs to the result. */
typedef struct boxcar_result {
    boxcar_enqueued_list enqueued[BOXCAR_BOXES];
    boxcar_work_id_list settled[BOXCAR_BOXES][BOXCAR_SETTLE_MAX]; /* by kind: if an id is missing, the owner no longer
                                                                     held that message */
    int64_t reaped[BOXCAR_BOXES];
    const boxcar_message_list *claimed[BOXCAR_BOXES]; /* never NULL; freed with the result */
    const boxcar_message_list *returned[BOXCAR_BOXES]; /* the messages that boxcar_request_part.returns asks
                                                          for, in the order of work ids, with the leases as
                                                          they are now. None of them is among `claimed`. Never
                                                          NULL; freed with the result */
} boxcar_result;

/* Sends a request. If the input is bad, nothing changes: BOXCAR_E_INVALID. err->argument is the place of the
 * first fault ("messages[1].topic", "inbox.acks[3].work_id", "inbox.messages[3].source"). err->message
 * describes this fault and says how many there are; boxcar_request_faults() lists them all. Ids that are not
 * leased to the owner are skipped, as everywhere. A request that asks nothing succeeds. BOXCAR_E_CONFLICT:
 * the store has another partition_count; nothing is done.
 *
 * If err->outcome_unknown is set, repeating the request is safe: set sent_before, and give the messages of
 * the outbox ids or keys of their own, so that the store recognizes those that it has already. It reports
 * these as duplicates, also if another program stored them.
 *
 * On a store made from a borrowed handle everything belongs to the caller's transaction, claims too
 * (boxcar/postgres.h, boxcar/sqlite.h). The caller owns *ret_result. */
BOXCAR_API boxcar_status boxcar_process(boxcar_store *store, const boxcar_request *request,
                                        boxcar_result **ret_result, boxcar_error *err);

/* Frees everything that the result lent; NULL is fine. */
BOXCAR_API void boxcar_result_free(boxcar_result *result);

/* Called for each fault of a request, with its place and a text that says what is wrong and what to do. Texts
 * are lent. */
typedef void (*boxcar_fault_fn)(void *context, const char *argument, const char *message);

/* Lists every fault for which boxcar_process() would refuse the request, in the order of the struct, without
 * asking a store. Returns their number; `report` may be NULL. */
BOXCAR_API size_t boxcar_request_faults(const boxcar_request *request, boxcar_fault_fn report, void *context);

#ifdef __cplusplus
}
#endif
#endif
