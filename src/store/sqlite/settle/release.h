/* How a lease ends without success, and how a message ends for good. */
#ifndef BOXCAR_STORE_SQLITE_SETTLE_RELEASE_H
#define BOXCAR_STORE_SQLITE_SETTLE_RELEASE_H

#include "lease.h"
#include "store/sqlite/message/park.h"

struct release {
    const char *outcome; /* of the attempt; NULL = none was spent */
    bool crashed;
    bool cleared;     /* it is no suspect any more */
    int64_t delay_ms; /* BOXCAR_BACKOFF = the store's */
    boxcar_str error;
};

boxcar_status sqlite_release(struct sqlite_store *store, const struct lease *lease, const struct release *how,
                             boxcar_error *err);
/* Releases a lease as if it had expired. */
boxcar_status sqlite_release_expired(struct sqlite_store *store, int64_t work_id, boxcar_error *err);
/* Releases at most `limit` expired leases, of either box. */
boxcar_status sqlite_reap(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err);
/* All of one box. */
boxcar_status sqlite_reap_box(struct sqlite_store *store, boxcar_box box, int64_t *ret_count,
                              boxcar_error *err);
/* Buries at most `limit` parked messages whose time to live has ended. */
boxcar_status sqlite_expire(struct sqlite_store *store, int limit, int64_t *ret_count, boxcar_error *err);

struct burial {
    int64_t work_id;
    int box;
    boxcar_str topic;
    boxcar_reason reason;
    const char *outcome;       /* written into the history; NULL = it is there already */
    const struct lease *lease; /* that ended with it, or NULL */
    int retry_count, crash_count;
    boxcar_str error;      /* of this end */
    boxcar_str last_error; /* shown with the dead letter */
};

/* The message is in no lease and not parked any more. */
boxcar_status sqlite_bury(struct sqlite_store *store, const struct burial *burial, boxcar_error *err);
boxcar_status sqlite_bury_parked(struct sqlite_store *store, const struct parked *row, boxcar_reason reason,
                                 const char *outcome, boxcar_error *err);
/* A parked message whose time to live is over; nothing happens if it is not there any more. */
boxcar_status sqlite_bury_expired(struct sqlite_store *store, int64_t work_id, boxcar_error *err);

struct attempt {
    int64_t work_id;
    int retry_count;
    const char *outcome;
    const struct lease *lease;
    boxcar_str error;
};
boxcar_status sqlite_attempt_write(struct sqlite_store *store, const struct attempt *attempt,
                                   boxcar_error *err);

#endif
