/* A lease, and how it ends with a verdict. */
#ifndef BOXCAR_STORE_SQLITE_SETTLE_LEASE_H
#define BOXCAR_STORE_SQLITE_SETTLE_LEASE_H

#include "store/sqlite/state.h"

struct lease {
    int64_t work_id;
    boxcar_epoch epoch;
    boxcar_owner owner;
    int box;
    bool parked;
    boxcar_str topic;  /* in the scratch arena, or borrowed from the statement */
    boxcar_str stream; /* it was leased straight from the log as part of this stream; else absent */
};

/* The owner of leases that the store needs for a moment, in both stores. */
#define LEASE_OF_NOBODY ((boxcar_owner){{{[15] = 1}}})

boxcar_status sqlite_lease_read(struct sqlite_store *store, int64_t work_id, struct lease *ret_lease,
                                bool *ret_found, boxcar_error *err);
boxcar_status sqlite_lease_drop(struct sqlite_store *store, const struct lease *lease, boxcar_error *err);
/* Whether the owner, in the epoch that it says, holds the lease in this box. */
bool sqlite_lease_is_held(const struct lease *lease, boxcar_box box, boxcar_owner owner,
                          const boxcar_settlement *given);
/* The message is done; the evidence is written for many at once, by sqlite_finish(). */
boxcar_status sqlite_lease_ack(struct sqlite_store *store, const struct lease *lease, boxcar_error *err);
boxcar_status sqlite_lease_fail(struct sqlite_store *store, const struct lease *lease, boxcar_reason reason,
                                boxcar_str error, boxcar_error *err);

#endif
