/* A claim while it is made: what the files of this folder share. */
#ifndef BOXCAR_STORE_SQLITE_CLAIM_CLAIM_H
#define BOXCAR_STORE_SQLITE_CLAIM_CLAIM_H

#include "core/partition.h"
#include "store/sqlite/message/park.h"

struct frontier {
    int64_t position, epoch, turn;
    bool suspect_last;
};

/* Which streams a claimer is preferred for. */
struct ownership {
    bool loaded;
    bool registered; /* a worker that has sent a heartbeat; other claimers may take every stream */
    int64_t rank, workers;
    struct partition_range own;
};

/* What a claim has of one stream. */
struct run {
    boxcar_str stream;
    int64_t last_id;
    bool ended; /* what comes next cannot be handed out now */
};

struct run_list {
    struct run *items; /* in the scratch arena */
    size_t count, capacity;
};

struct claim {
    boxcar_box box; /* the number of the reader */
    boxcar_owner owner;
    const boxcar_request_part *part;
    bool no_suspects;
    struct part_result *result;
    struct arena *arena; /* of the answer */
    struct frontier frontier;
    boxcar_str waits; /* the topic of waits, if the claim does not name it and so must not get them; else
                         absent */
    size_t capacity;  /* of result->claimed */
    size_t bytes;     /* of payload claimed so far */
    boxcar_time until;
    bool epoch_drawn;
    bool every_topic;
    boxcar_str *topics; /* those with parked messages that match, unless every_topic */
    size_t topic_count;
    struct ownership ownership;
    struct run_list runs;
    bool parked_streamed; /* the window brought streamed messages to the lot */
    bool passes;          /* subscriptions have taken topics from this reader */
};

/* *ret_more: the claim stopped at its work limit before it found anything; call again. */
boxcar_status sqlite_claim(struct sqlite_store *store, const struct request *request, boxcar_box box,
                           struct result *result, bool *ret_more, boxcar_error *err);
bool sqlite_claim_wants(const struct claim *claim, boxcar_str topic);
/* How many messages it may bring. */
static inline size_t sqlite_claim_size(const struct claim *claim) { return (size_t)claim->part->claim_size; }
bool sqlite_claim_is_full(const struct claim *claim, size_t limit);
/* Room for one more; it counts once it is leased. */
boxcar_status sqlite_claim_next(struct claim *claim, boxcar_message **ret_message, boxcar_error *err);
enum lease_way { LEASE_PLAIN, LEASE_PARKED, LEASE_STREAMED }; /* streamed: straight from the log */
/* *ret_taken: false if the message is damaged; then it is a dead letter (damaged.c). */
boxcar_status sqlite_claim_lease(struct sqlite_store *store, struct claim *claim, boxcar_message *message,
                                 enum lease_way way, bool *ret_taken, boxcar_error *err);

/* ---- messages that cannot be handed out (damaged.c) ---- */
/* The first text of the message that is not UTF-8; NULL = none. */
const char *sqlite_claim_find_damage(const boxcar_message *message);
/* Makes a message that was just leased without an owner a dead letter. */
boxcar_status sqlite_claim_bury_damaged(struct sqlite_store *store, const struct claim *claim,
                                        const boxcar_message *message, enum lease_way way, const char *field,
                                        boxcar_error *err);

/* ---- the log (window.c) ---- */
/* Takes fresh messages from the log. *ret_more: stopped at a limit, with rows left. */
boxcar_status sqlite_claim_window(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                  boxcar_error *err);

/* ---- the log, for a subscription (unread.c) ---- */
/* As sqlite_claim_window(). */
boxcar_status sqlite_claim_unread(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                  boxcar_error *err);

/* Whether the row of S_READER_LOOK is one that store->reader has still to meet. No message behind `known_to`
 * is known to it. The settings are loaded. */
boxcar_status sqlite_is_unread(struct sqlite_store *store, const struct query *row, int64_t known_to,
                               bool *ret_unread, boxcar_error *err);

/* A message that no claim has met yet, straight from its row. *ret_taken as above. */
boxcar_status sqlite_claim_fresh(struct sqlite_store *store, struct claim *claim, struct query *row,
                                 enum lease_way way, bool *ret_taken, boxcar_error *err);

/* ---- what a request knows already (own.c) ---- */
/* Takes messages that this very request has stored, if they are due, wanted and in no stream. */
boxcar_status sqlite_claim_stored(struct sqlite_store *store, struct claim *claim,
                                  const boxcar_enqueued *stored, size_t count, boxcar_error *err);
/* Messages that the owner holds, as the part wants them back; without a claim. */
boxcar_status sqlite_read_returned(struct sqlite_store *store, const struct request *request, boxcar_box box,
                                   struct result *result, boxcar_error *err);

/* ---- the parking lot (parked.c) ---- */
/* Takes parked messages in the given state until the claim holds `limit`. */
boxcar_status sqlite_claim_parked(struct sqlite_store *store, struct claim *claim, enum parked_state state,
                                  size_t limit, boxcar_error *err);
boxcar_status sqlite_claim_topics(struct sqlite_store *store, struct claim *claim, boxcar_error *err);
/* One parked message into the claim. *ret_taken NULL: it was too old, or damaged, and is buried. */
boxcar_status sqlite_claim_take(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                enum parked_state state, boxcar_message **ret_taken, boxcar_error *err);

/* ---- streams (stream.c) ---- */
/* Which class of candidates a due message belongs to, for this claimer. */
enum claim_right { RIGHT_OWN, RIGHT_OTHERS, RIGHT_NONE };
boxcar_status sqlite_claim_right(struct sqlite_store *store, struct claim *claim, int partition,
                                 boxcar_time available_at, enum claim_right *ret_right, boxcar_error *err);
/* Whether a stream that lies in the log since then is the claimer's to take at once. */
boxcar_status sqlite_claim_prefers(struct sqlite_store *store, struct claim *claim, boxcar_str stream,
                                   boxcar_time created_at, bool *ret_prefers, boxcar_error *err);
/* Remembers a head that was taken just now, and takes up to `count` of those behind it. */
boxcar_status sqlite_claim_run_begin(struct sqlite_store *store, struct claim *claim,
                                     const boxcar_message *head, size_t count, boxcar_error *err);
/* Uses what room is left for longer runs of the streams that the claim has. */
boxcar_status sqlite_claim_runs_extend(struct sqlite_store *store, struct claim *claim, boxcar_error *err);

#endif
