/* A request while it is tried: what request.c, send.c, receive.c and params.c share. */
#ifndef BOXCAR_STORE_POSTGRES_REQUEST_EXCHANGE_H
#define BOXCAR_STORE_POSTGRES_REQUEST_EXCHANGE_H

#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/query.h"

struct claim_room {
    int messages;
    int64_t bytes;
};

/* A statement of the transaction that enqueues and settles. */
struct step {
    enum pg_statement statement;
    boxcar_box box;                  /* if it is about one */
    boxcar_settle_kind kind;         /* if it settles */
    const struct instance *instance; /* if it registers one */
    PGresult *brought;               /* messages that are read once the transaction is committed */
};
#define STEPS_MAX (10 + BOXES * (BOXCAR_SETTLE_KINDS + 6))

struct exchange {
    struct pg_store *pg;
    const struct request *request;
    struct result *result;
    bool settle;       /* the first transaction is still to be done */
    bool claim[BOXES]; /* still to be done */
    struct step
        steps[STEPS_MAX]; /* of the first transaction, in the order in which every request takes locks */
    size_t step_count;
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

/* ---- send.c ---- */

/* How much a claim may still bring. Messages that the request stores come first: while they may still come,
 * room is kept for them. */
struct claim_room pg_exchange_room(const struct exchange *x, boxcar_box box);
static inline bool claim_room_is_left(struct claim_room room) {
    return room.messages > 0 && room.bytes >= BOXCAR_BATCH_BYTES_MIN;
}

/* Plans what is still to be done, and prepares the statements, outside of the pipeline, each once. */
void pg_exchange_prepare(struct exchange *x);
/* Sends it, each transaction with a sync of its own at its end. */
boxcar_status pg_exchange_send(struct exchange *x, boxcar_error *err);
/* A claim is a transaction by itself, which its sync ends. In most sessions that is READ COMMITTED, and to
 * say so would be two statements more. */
bool pg_exchange_begins_claims(const struct exchange *x);

/* ---- receive.c ---- */

/* Reads the answers of the transaction that enqueues and settles, or of the claim from one box, up to its
 * sync. A claim that succeeded is marked as done. */
boxcar_status pg_exchange_receive_settled(struct exchange *x, boxcar_error *err);
boxcar_status pg_exchange_receive_claimed(struct exchange *x, boxcar_box box, boxcar_error *err);

/* ---- params.c ---- */

/* How many messages have a key, unique or not. */
size_t pg_count_keys(const struct new_messages *messages, bool unique);
/* How many settlements may count in joins. */
size_t pg_count_counting(const boxcar_request_part *part);
/* The new messages of a box. Ids that were made in this call may be there already when it is tried again. */
struct new_messages pg_exchange_messages(const struct exchange *x, boxcar_box box);
/* What stores these messages. */
enum pg_statement pg_enqueue_statement(const struct new_messages *messages, boxcar_box box);
/* Neighbours under one epoch, as a claim brings them: PG_ACK_RUN acks them without arrays. */
bool pg_is_run(boxcar_settlement_list list);
void pg_params_for_step(struct pg_params *params, const struct exchange *x, const struct step *step);
void pg_params_for_claim(struct pg_params *params, const struct exchange *x, boxcar_box box);

#endif
