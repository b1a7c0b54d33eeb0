/* A generation: the operations of one request. They are copied when they are queued, and do not change once
 * the request was sent.
 *
 * A request applies its lists in an order of its own. The outcome must be that of the order in which
 * operations were queued. So a generation settles no message twice, records stages of a message once and
 * before it is settled, and has one length of renewed leases for each box. In each box all settlements name
 * their messages by work ids, or all by message ids, because the coordinator does not know which work id a
 * message id has. An operation that would break these rules goes into the next generation (generation_fits).
 *
 * Tickets are consecutive, and every list is in their order: a stretch of tickets is a stretch of each
 * list, so any part of a generation can be sent without copying. */
#ifndef BOXCAR_REQUEST_COORDINATOR_GENERATION_H
#define BOXCAR_REQUEST_COORDINATOR_GENERATION_H

#include "boxcar/coordinator.h"
#include "request/gather.h"
#include "request/refusal.h"
#include "store/store.h"

/* One thing to queue. Validated; borrowed. */
struct operation {
    boxcar_box box;
    const boxcar_new_message *message; /* enqueue; NULL = a settlement */
    boxcar_settle_kind kind;           /* of a settlement */
    const boxcar_settlement *settlement;
    int64_t lease_ms; /* renew */
};

struct queued_messages {
    boxcar_new_message *items;
    struct message_key *keys; /* of the outbox; NULL until one has a key */
    uint64_t *tickets;
    size_t count, capacity;
    bool has_ids, has_keys; /* some came with an id, or with a key of the outbox */
};

/* Messages by box and work id, or message id. */
struct id_set {
    uint64_t *slots; /* 0 = free */
    size_t count, capacity;
};

struct generation {
    struct generation *next;
    struct arena arena; /* of the texts */
    uint64_t first;     /* ticket */
    size_t count;       /* of tickets */
    size_t decided;     /* of them have a result */
    struct queued_messages messages[BOXES];
    struct gather_list settle[BOXES][BOXCAR_SETTLE_KINDS];
    int64_t renew_lease_ms[BOXES];
    struct id_set settled, recorded;
    bool by_work_id[BOXES], by_message_id[BOXES]; /* how settlements name their messages */
    bool sealed;                                  /* nothing is added any more */
    bool sent_before;                             /* a try may have taken effect */
    struct refusal_search search;
};

struct generation *generation_new(void); /* NULL = out of memory */
void generation_free(struct generation *generation);
/* Empty, for tickets from `first` on; arrays are kept. */
void generation_reset(struct generation *generation, uint64_t first);

/* Whether an operation may be in one request with the others. */
bool generation_fits(const struct generation *generation, const struct operation *operation);
/* Copies the operation; its ticket is first + count. false = out of memory, nothing was added. */
bool generation_add(struct generation *generation, const struct operation *operation);
/* Takes the last ones back until `count` are left. */
void generation_truncate(struct generation *generation, size_t count);

/* Before it is sent: every message gets an id, once, and settlements by message id get the work ids. Nothing
 * is added any more. */
boxcar_status generation_prepare(struct generation *generation, struct boxcar_store *store,
                                 boxcar_error *err);
/* Fills a request with `count` operations from the `from`-th on. */
void generation_fill(const struct generation *generation, size_t from, size_t count, struct request *request);

/* Writes what an answer says about these operations; `results` belongs to the `from`-th. */
void generation_take_answer(const struct generation *generation, size_t from, size_t count,
                            struct result *answer, boxcar_flushed *results);
/* The same for one that was refused. */
void generation_take_refusal(const struct generation *generation, size_t at, const boxcar_error *error,
                             boxcar_flushed *result);

#endif
