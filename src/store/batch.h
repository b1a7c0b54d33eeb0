/* One request, one round trip: everything that is asked of a store at once.
 *
 * A batch has a part for each box. Enqueueing, settling and reaping in both boxes are one durable
 * transaction; claiming follows it in the same round trip, box by box. A part that asks nothing costs
 * nothing. Every public operation is a batch with one list of one part filled in.
 *
 * Stores apply the parts in one order, so that two batches never wait for each other: messages of the
 * inbox come first, because their keys are locked before everything else; then what both boxes'
 * settlements will need is locked; then messages of the outbox are enqueued, the outbox is settled, the
 * inbox is settled; then the outbox is claimed from, then the inbox. */
#ifndef BOXCAR_STORE_BATCH_H
#define BOXCAR_STORE_BATCH_H

#include "base/list.h"
#include "boxcar/inbox.h"
#include "boxcar/join.h"
#include "boxcar/message.h"
#include "boxcar/outbox.h"
#include "core/wait.h"

struct instance; /* store.h */

struct settlement_list {
    const boxcar_settlement *items;
    size_t count;
};

/* The ways to settle in the order in which stores apply them: what is recorded about a message comes before its end. */
static inline boxcar_settle_kind settle_kind_at(int i) {
    return (boxcar_settle_kind)((i + BOXCAR_RECORD) % BOXCAR_SETTLE_KINDS);
}

#define BOXES 2 /* a boxcar_box is an index */

/* Where a message of the inbox comes from. */
struct inbox_origin {
    boxcar_str source, external_id;
    boxcar_str content_hash;      /* absent = none was given */
    boxcar_message_id message_id; /* derives from source and external_id */
};

/* What the key of a message of the outbox stands for. */
struct message_key {
    boxcar_message_id id; /* none = it has no key. Else the id that programs of schema version 9 give to the
                             key: a message of the same topic with that id is the same message */
    bool unique;          /* the id is that of topic and key; the key is free if its message has ended */
};

/* What is asked of one box. */
struct batch_part {
    const boxcar_new_message *messages;    /* message_id is always set, key already derived */
    const struct inbox_origin *origins;    /* one for each message of the inbox, with the same
                                              message_id; NULL in the outbox */
    const struct message_key *keys;        /* one for each message of the outbox; NULL: none has a key */
    size_t message_count;
    bool fresh_ids;                        /* the library made every message id in this very
                                              call: none can be a duplicate; never in the inbox, and not
                                              with unique keys */
    struct settlement_list settle[BOXCAR_SETTLE_KINDS];
    boxcar_reason fail_reason;             /* for settle[BOXCAR_FAIL]; NONE = rejected */
    const struct wait *waits;              /* for settle[BOXCAR_RESOLVE], in the same order */
    int64_t renew_lease_ms;                /* for settle[BOXCAR_RENEW] */
    bool reap;
    int claim_size;                        /* 0 = claim nothing */
    int64_t claim_lease_ms;
    int64_t claim_bytes;                   /* of payload, give or take a message; 0 = the default */
    bool no_suspects;                      /* claim none: one of them is being tried already */
    const boxcar_str *topics;              /* patterns; none = every topic */
    size_t topic_count;
};

static inline int64_t batch_part_claim_bytes(const struct batch_part *part) {
    return part->claim_bytes > 0 ? part->claim_bytes : BOXCAR_BATCH_BYTES_DEFAULT;
}

/* Everything here is borrowed for the call and has been validated: stores trust it. */
struct batch {
    boxcar_owner owner; /* of the settlements and the claims */
    bool sent_before;   /* a try of this very batch may have taken effect: what it settled counts
                           as settled by this one, and fresh_ids that are there were stored by it. Of
                           ids and keys that the caller chose nobody can tell: they are duplicates */
    struct batch_part parts[BOXES];
    const struct instance *instances; /* that the owner lives and works, a row a box */
    size_t instance_count;
    bool remove_stale;  /* instances that were silent for long are removed, after the heartbeat ... */
    int64_t stale_ms;   /* ... for this long; 0 = the store's setting */
};

struct message_rows {
    LIST_OF(boxcar_message);
};

struct work_id_list {
    boxcar_work_id *items;
    size_t count;
};

/* What became of one part. */
struct part_result {
    boxcar_enqueued *enqueued; /* one per message of the outbox, in order */
    boxcar_inbox_enqueued *inbox_enqueued; /* one per message of the inbox, in order */
    struct work_id_list settled[BOXCAR_SETTLE_KINDS];
    enum wait_outcome *waits;  /* one per wait that was to be resolved, in order */
    int64_t reaped;            /* messages, when the part asked to reap */
    boxcar_message *claimed;
    size_t claimed_count;
    bool held_up;              /* the claim's turn did not come in time: there may be more */
};

/* The answer; lives in one arena, released once with batch_result_release(). */
struct batch_result {
    struct arena arena;
    struct part_result parts[BOXES];
    boxcar_join *ended;        /* joins that ended by this batch, without their texts; only looked for
                                  when the store logs at INFO */
    size_t ended_count;
    boxcar_error claim_error;  /* why a claim failed, where the rest stands; BOXCAR_OK = none did */
};

void batch_result_release(struct batch_result *result);
/* What was claimed from a box as a list of its own; takes the arena over. NULL = out of memory. */
struct message_rows *batch_result_into_list(struct batch_result *result, boxcar_box box);
/* What was claimed from a box, lent by the result. Empty also when out of memory: those leases will expire. */
boxcar_message_list batch_result_lend(struct batch_result *result, boxcar_box box);

/* Whether a part has something for the durable transaction: all but claims. */
bool batch_part_changes(const struct batch_part *part);

#endif
