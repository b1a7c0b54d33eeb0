/* A request while it is tried: what request.c, send.c and receive.c share. */
#ifndef BOXCAR_STORE_POSTGRES_REQUEST_EXCHANGE_H
#define BOXCAR_STORE_POSTGRES_REQUEST_EXCHANGE_H

#include "params.h"
#include "store/postgres/state.h"

struct claim_room {
    int messages;
    int64_t bytes;
};

struct exchange {
    struct pg_store *pg;
    const struct request *request;
    struct result *result;
    bool settle;       /* still to be done */
    bool claim[BOXES]; /* still to be done */
    struct claim_room room[BOXES];
    bool sends_claim[BOXES]; /* by this round: there is room */
    bool unknown;            /* an earlier try may have taken effect */
    bool bury_expired[BOXES];
    bool shares_ends;       /* with earlier calls in the caller's transaction: those are looked for first */
    int losses;             /* answers to claims that did not arrive */
    int64_t numbers[BOXES]; /* of the claims; 0 = none: a rollback gives the messages back */
    int64_t stored_numbers[BOXES]; /* of the claims of what the request stores */
    int64_t began_ms;
    bool together; /* both claims are made in one transaction, the caller's */
};

/* Whether two statements lock leases, streams and joins one after the other. If so, all are locked first, in
 * order. */
bool pg_exchange_locks_ahead(const struct exchange *x);
/* Whether unique keys are locked even before that: they are the first locks of a transaction. */
bool pg_exchange_holds_keys(const struct exchange *x);
/* Whether this request can end a join, and joins that end are to be reported. */
bool pg_exchange_asks_for_ends(const struct exchange *x);
bool pg_exchange_begins_claims(const struct exchange *x);

/* How much a claim may still bring. Messages that the request stores come first: while they may still come,
 * room is kept for them. */
struct claim_room pg_exchange_room(const struct exchange *x, boxcar_box box);
static inline bool claim_room_is_left(struct claim_room room) {
    return room.messages > 0 && room.bytes >= BOXCAR_BATCH_BYTES_MIN;
}

/* The statement that stores the new messages of a box. */
enum pg_statement pg_exchange_enqueues_by(const struct exchange *x, boxcar_box box);
/* The statement that settles messages of a box in this way. */
enum pg_statement pg_exchange_settles_by(const struct exchange *x, boxcar_box box, boxcar_settle_kind kind);
/* Prepares the statements, outside of the pipeline, each once. */
void pg_exchange_prepare(struct exchange *x);
/* Sends what is still to be done, each transaction with a sync of its own at its end. */
boxcar_status pg_exchange_send(struct exchange *x, boxcar_error *err);

/* Reads the answers of the transaction that enqueues and settles, or of the claim from one box, up to its
 * sync. A claim that succeeded is marked as done. */
boxcar_status pg_exchange_receive_settled(struct exchange *x, boxcar_error *err);
boxcar_status pg_exchange_receive_claimed(struct exchange *x, boxcar_box box, boxcar_error *err);

#endif
