/* One request, one round trip: everything that is asked of a store at once.
 *
 * A request is what its public struct says (boxcar/request.h), and a few things that only the library asks.
 * Enqueueing, settling and reaping in both boxes are one durable transaction; claiming follows it in the same
 * round trip, box by box. A part that asks nothing costs nothing. Every public operation is a request with
 * one list filled in.
 *
 * Stores apply it in one order, so that two requests never wait for each other: messages of the inbox come
 * first, because their keys are locked before everything else; then what both boxes' settlements will need is
 * locked; then messages of the outbox are enqueued, the outbox is settled, the inbox is settled; then the
 * outbox is claimed from, then the inbox. */
#ifndef BOXCAR_STORE_REQUEST_H
#define BOXCAR_STORE_REQUEST_H

#include "base/list.h"
#include "boxcar/join.h"
#include "boxcar/request.h"
#include "core/wait.h"

struct instance; /* store.h */

#define BOXES BOXCAR_BOXES

/* The ways to settle in the order in which stores apply them: what is recorded about a message comes before
 * its end. */
static inline boxcar_settle_kind settle_kind_at(int i) {
    return (boxcar_settle_kind)((i + BOXCAR_RECORD) % BOXCAR_SETTLE_KINDS);
}

/* What the key of a message of the outbox stands for. */
struct message_key {
    boxcar_message_id id; /* none = it has no key. Else the id that programs of schema version 9 give to the
                             key: a message of the same topic with that id is the same message */
    bool unique;          /* the id is that of topic and key; the key is free if its message has ended */
};

/* What only the library asks of a box. */
struct request_own {
    const struct message_key *keys; /* one for each message of the outbox; NULL: none has a key */
    bool fresh_ids; /* the library made every message id in this very call: none can be a duplicate;
                       never in the inbox, and not with unique keys */
    boxcar_reason fail_reason; /* for settle[BOXCAR_FAIL]; NONE = rejected */
    const struct wait *waits;  /* for settle[BOXCAR_RESOLVE], in the same order */
    bool no_suspects;          /* claim none: one of them is being tried already */
};

/* A part may be that of a subscription, with either index: everything in it but `own.keys`, `own.fresh_ids`
 * and the new messages is about request_reader(). Waits are main readers' only. */

/* Everything here is borrowed for the call and has been validated: stores trust it. Every message has an id,
 * and no key: that has become its id, or is among the keys. Texts that are empty are absent. */
struct request {
    boxcar_request base; /* but for its parts and its heartbeat, which stores find here: */
    boxcar_request_part parts[BOXES];
    struct request_own own[BOXES];
    const struct instance *instances; /* that the owner lives and works, a row a box */
    size_t instance_count;
    bool remove_stale;        /* instances that were silent for base.stale_threshold_ms are removed, after the
                                 heartbeat */
    bool farewell;            /* the owner goes, from both boxes; a request of its own */
    bool logs_messages_later; /* a transaction spans requests: what they store is logged when it is committed
                               */
};

/* Whose the part with this index is: the main reader of that box, or a subscription. */
static inline boxcar_box request_reader(const struct request *request, int box) {
    return request->parts[box].reader > 0 ? request->parts[box].reader : box;
}

/* The new messages of a box, with what the library knows about them. */
struct new_messages {
    const boxcar_new_message *items;
    const struct message_key *keys;
    size_t count;
    bool fresh_ids;
};

static inline struct new_messages request_messages(const struct request *request, boxcar_box box) {
    return (struct new_messages){.items = request->base.messages[box].items,
                                 .keys = request->own[box].keys,
                                 .count = request->base.messages[box].count,
                                 .fresh_ids = request->own[box].fresh_ids};
}

static inline int64_t request_part_claim_bytes(const boxcar_request_part *part) {
    return part->claim_bytes > 0 ? part->claim_bytes : BOXCAR_BATCH_BYTES_DEFAULT;
}

static inline int64_t request_part_renew_ms(const boxcar_request_part *part) {
    return part->renew_lease_ms > 0 ? part->renew_lease_ms : part->lease_ms;
}

/* Where a message of the inbox comes from. */
struct inbox_origin {
    boxcar_str source, external_id;
    boxcar_str content_hash;      /* absent = none was given */
    boxcar_message_id message_id; /* derives from source and external_id */
};

static inline struct inbox_origin inbox_origin_of(const boxcar_new_message *message) {
    return (struct inbox_origin){message->source, message->external_id, message->content_hash,
                                 message->message_id};
}

struct message_rows {
    LIST_OF(boxcar_message);
};

struct work_id_list {
    boxcar_work_id *items;
    size_t count;
};

/* What became of one box. */
struct part_result {
    boxcar_enqueued *enqueued; /* one per new message, in order */
    struct work_id_list settled[BOXCAR_SETTLE_KINDS];
    enum wait_outcome *waits; /* one per wait that was to be resolved, in order */
    int64_t reaped;           /* messages, when the part asked to reap */
    boxcar_message *claimed;
    size_t claimed_count;
    boxcar_message *returned; /* by boxcar_request_part.returns; none of them was claimed */
    size_t returned_count;
    bool held_up; /* the claim's turn did not come in time: there may be more */
};

/* The answer; lives in one arena, released once with result_release(). */
struct result {
    struct arena arena;
    struct part_result parts[BOXES];
    boxcar_join *ended; /* joins that ended by this request, without their texts; only looked for
                           when the store logs at INFO */
    size_t ended_count;
    boxcar_error claim_error; /* why a claim failed, where the rest stands; BOXCAR_OK = none did */
};

void result_release(struct result *result);
/* What was claimed from a box as a list of its own; takes the arena over. NULL = out of memory. */
struct message_rows *result_into_list(struct result *result, boxcar_box box);
/* Messages of the result as a list that it lends. Empty also when out of memory: those leases will expire. */
boxcar_message_list result_lend(struct result *result, const boxcar_message *messages, size_t count);

/* Whether a box is settled, stored to or reaped: all but claims, what the durable transaction is for. */
bool request_changes(const struct request *request, boxcar_box box);
/* Whether there is anything to settle. */
bool request_part_settles(const boxcar_request_part *part);
/* Whether a claim from this box takes first what the request stores there. */
bool request_claims_stored(const struct request *request, boxcar_box box);

/* By work id, which is the order of messages in an answer. */
void messages_sort(boxcar_message *messages, size_t count);
void work_ids_sort(boxcar_work_id *ids, size_t count);
/* Finishes part->returned, which has all that the owner holds, or what it wanted to renew: leaves out what
 * was not renewed and what was claimed just now. */
void request_part_trim_returned(const boxcar_request_part *part, struct part_result *result);

#endif
