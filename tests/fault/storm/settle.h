/* Leases in worker, and settling them, with everything written down. */
#ifndef BOXCAR_TESTS_SETTLE_H
#define BOXCAR_TESTS_SETTLE_H

#include "storm.h"

#define HELD_MAX 1000

struct held {
    size_t count;
    int64_t before; /* the claim began */
    int64_t after;
    int64_t lease_ms;
    boxcar_work_id ids[HELD_MAX];
    boxcar_epoch epochs[HELD_MAX];
    int retry_counts[HELD_MAX];
    int64_t settled_before;  /* the last settle_some() began */
    bool affected[HELD_MAX]; /* by it */
};

struct settling {
    enum verb verb;
    int64_t ms; /* delay, or the new lease */
    bool without_epochs;
    bool in_transaction; /* the outcome is known later: see settle_end() */
};

/* Claims on the given store and looks at what came. What is claimed outside of a transaction is
 * written down at once, else by held_note() after the commit. */
bool held_claim(struct held *held, struct client *client, boxcar_store *store, const boxcar_claimer *options,
                bool in_transaction);
void held_note(struct held *held, struct client *client);

/* Settles the chosen ones; false: no answer. */
bool settle_some(struct held *held, struct client *client, boxcar_store *store, const struct settling *how,
                 const bool *chosen);
/* After the end of the transaction in which settle_some() ran. */
void settle_end(struct held *held, struct client *client, const struct settling *how, const bool *chosen,
                bool committed);
/* Settles as somebody else would: must affect nothing. */
void settle_wrongly(struct held *held, struct client *client);

#endif
