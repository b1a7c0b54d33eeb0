/* Messages that are kept for subscriptions, and upkeep of what subscriptions know. Each step is bounded, in a
 * transaction of the caller. */
#ifndef BOXCAR_STORE_SQLITE_SUBSCRIPTION_KEEP_H
#define BOXCAR_STORE_SQLITE_SUBSCRIPTION_KEEP_H

#include "store/sqlite/join/join.h"
#include "store/sqlite/state.h"

/* Which of these messages a subscription wants or knows, by rising ids; in the scratch arena. */
boxcar_status sqlite_keep_ids(struct sqlite_store *store, int64_t first, int64_t last, int64_t **ret_ids,
                              size_t *ret_count, boxcar_error *err);
/* Whether there are subscriptions at all. */
boxcar_status sqlite_keep_any(struct sqlite_store *store, bool *ret_any, boxcar_error *err);

/* Done messages and dead letters of the main readers past their retention, and what was passed over: those
 * that no subscription wants are removed (keep.c). `more`: the look is not through; it goes on with the next
 * step. */
boxcar_status sqlite_keep_done_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err);
boxcar_status sqlite_keep_dead_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err);
boxcar_status sqlite_keep_passed_step(struct sqlite_store *store, struct join_upkeep *done,
                                      boxcar_error *err);

/* Moves the main readers over what is not theirs (passed.c). */
boxcar_status sqlite_pass_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err);

/* Expired leases and messages of subscriptions, what is past its retention there, what lags too far behind,
 * and what a removed one knew (upkeep.c). Counts messages. */
boxcar_status sqlite_reader_reap_step(struct sqlite_store *store, struct join_upkeep *done,
                                      boxcar_error *err);
boxcar_status sqlite_reader_expire_step(struct sqlite_store *store, struct join_upkeep *done,
                                        boxcar_error *err);
boxcar_status sqlite_reader_forget_step(struct sqlite_store *store, struct join_upkeep *done,
                                        boxcar_error *err);
boxcar_status sqlite_reader_lag_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err);
boxcar_status sqlite_reader_vanish_step(struct sqlite_store *store, struct join_upkeep *done,
                                        boxcar_error *err);

#endif
