/* boxcar/process.h: everything that is asked of a store at once.
 *
 * A batch holds new messages, results of work, renewals, a heartbeat and how much to claim, for the outbox
 * and the inbox. Storing and settling are one durable transaction, claiming follows in the same round trip.
 * The answer says for each id what happened. boxcar_enqueue(), boxcar_ack() and their siblings are batches
 * with one list filled in; a worker's steady state is one batch after the other.
 *
 *     boxcar_batch_part outbox = BOXCAR_BATCH_PART_INIT;
 *     outbox.acks = done;
 *     outbox.ack_count = done_count;
 *     outbox.claim_size = 50;
 *     boxcar_batch batch = BOXCAR_BATCH_INIT;
 *     batch.owner = me;
 *     batch.outbox = &outbox;
 *     boxcar_process(store, &batch, &result, &err);
 *     ... boxcar_batch_result_claimed(result, BOXCAR_OUTBOX) ...
 *     boxcar_batch_result_free(result);
 *
 * Threads: as for the store that is asked. A result may be read by any thread once it is there. */
#ifndef BOXCAR_PROCESS_H
#define BOXCAR_PROCESS_H

#include "error.h"
#include "inbox.h"
#include "message.h"
#include "outbox.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is asked of one box. Lists may be NULL when their count is 0; everything is borrowed for the call.
 * Stages come first, then the lists in the order in which they stand here. */
typedef struct boxcar_batch_part {
    size_t struct_size;
    const boxcar_settlement *acks;
    size_t ack_count;
    const boxcar_settlement *abandons;
    size_t abandon_count;
    const boxcar_settlement *defers;
    size_t defer_count;
    const boxcar_settlement *fails;
    size_t fail_count;
    const boxcar_settlement *renews;
    size_t renew_count;
    int64_t lease_ms;         /* of renewals and claims, 100 ms to 24 h */
    int claim_size;           /* 0 = claim nothing; at most 10,000 */
    const boxcar_str *topics; /* claim only these; each exact, or ending in * for a prefix */
    size_t topic_count;       /* 0 = every topic */
    const boxcar_settlement *stages; /* recorded first, before the acks; the leases stay */
    size_t stage_count;
    int64_t claim_bytes; /* 1 KiB to 1 GiB: claim no further message once the payloads have this many bytes */
} boxcar_batch_part;

#ifdef __cplusplus
#define BOXCAR_BATCH_PART_INIT (boxcar_batch_part{sizeof(boxcar_batch_part), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
    BOXCAR_LEASE_MS_DEFAULT, 0, 0, 0, 0, 0, BOXCAR_BATCH_BYTES_DEFAULT})
#else
#define BOXCAR_BATCH_PART_INIT ((boxcar_batch_part){.struct_size = sizeof(boxcar_batch_part), \
    .lease_ms = BOXCAR_LEASE_MS_DEFAULT, .claim_bytes = BOXCAR_BATCH_BYTES_DEFAULT})
#endif

/* The owner lives and works, for people and for `boxcar doctor`: it is registered in each box that the batch has a
 * part for, on that part's topics. A batch without parts brings up to date what is registered, and registers an owner
 * that is not known in both boxes, on every topic. From then on each call that names the owner says that it lives, in
 * both boxes. Silent for longer than the setting instance_timeout (30 seconds), it is removed and its leases are
 * released. An owner that never registered keeps its leases until they end. */
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

typedef struct boxcar_batch {
    size_t struct_size;
    boxcar_owner owner;                 /* of the settlements, the claims and the heartbeat */
    const boxcar_new_message *messages; /* into the outbox */
    size_t message_count;
    const boxcar_batch_part *outbox;    /* NULL = nothing is asked of it */
    const boxcar_batch_part *inbox;
    const boxcar_heartbeat *heartbeat;  /* NULL = none */
    bool sent_before;                   /* an earlier try of this very batch ended with
                                           err->outcome_unknown: what it did counts as done by this one */
    const boxcar_new_inbox_message *inbox_messages; /* into the inbox, each once for its key */
    size_t inbox_message_count;
    int64_t stale_threshold_ms; /* instances that were silent for this long are removed, 1 s to 1 d; 0 = with a
                                   heartbeat the setting instance_timeout counts, without one nobody is removed */
} boxcar_batch;

#ifdef __cplusplus
#define BOXCAR_BATCH_INIT (boxcar_batch{sizeof(boxcar_batch), {{{0}}}, 0, 0, 0, 0, 0, false, 0, 0, 0})
#else
#define BOXCAR_BATCH_INIT ((boxcar_batch){.struct_size = sizeof(boxcar_batch)})
#endif

typedef struct boxcar_batch_result boxcar_batch_result;

/* Does all of it. Bad input changes nothing: BOXCAR_E_INVALID, err->argument is the first fault's place
 * ("messages[1].topic", "inbox.acks[3].work_id", "inbox.messages[3].source"; the last one is of
 * inbox_messages), err->message says it and how many there are; boxcar_batch_faults() lists them all. Ids
 * that are not leased to the owner are passed over, as everywhere. A batch that asks nothing succeeds.
 *
 * Repeating a batch is safe when err->outcome_unknown says that nobody knows: set sent_before, and give
 * the messages ids or keys of their own, so that those which are there already are found; they are
 * duplicates then, whoever stored them. Messages of the inbox always have a key.
 *
 * On a store made from a borrowed handle everything belongs to the caller's transaction, claims too: a
 * claim holds other claimers back until that ends. The caller owns *ret_result. */
BOXCAR_API boxcar_status boxcar_process(boxcar_store *store, const boxcar_batch *batch,
                                        boxcar_batch_result **ret_result, boxcar_error *err);

/* Called for each fault of a batch: its place, and what is wrong and what to do. Texts are lent. */
typedef void (*boxcar_fault_fn)(void *context, const char *argument, const char *message);

/* Lists every fault that boxcar_process() would refuse the batch for, in the order of the struct; asks no
 * store. Returns how many; `report` may be NULL. */
BOXCAR_API size_t boxcar_batch_faults(const boxcar_batch *batch, boxcar_fault_fn report, void *context);

/* What became of the i-th message; NULL = there was no such message. */
BOXCAR_API const boxcar_enqueued *boxcar_batch_result_enqueued(const boxcar_batch_result *result, size_t i);
/* The same for the i-th message of the inbox. */
BOXCAR_API const boxcar_inbox_enqueued *boxcar_batch_result_inbox_enqueued(const boxcar_batch_result *result,
                                                                           size_t i);

/* The work ids that were settled in a way; an id that is missing was not the owner's any more. Lent by
 * the result. */
BOXCAR_API const boxcar_work_id *boxcar_batch_result_affected(const boxcar_batch_result *result, boxcar_box box,
                                                              boxcar_settle_kind kind, size_t *ret_count);

/* What was claimed from a box, never NULL. Lent by the result: boxcar_list_free() is not for it. */
BOXCAR_API const boxcar_message_list *boxcar_batch_result_claimed(const boxcar_batch_result *result,
                                                                  boxcar_box box);

/* Frees everything that the result lent; NULL is fine. */
BOXCAR_API void boxcar_batch_result_free(boxcar_batch_result *result);

#ifdef __cplusplus
}
#endif
#endif
