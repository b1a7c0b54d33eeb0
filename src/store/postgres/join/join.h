/* Joins. */
#ifndef BOXCAR_STORE_POSTGRES_JOIN_JOIN_H
#define BOXCAR_STORE_POSTGRES_JOIN_JOIN_H

#include "store/postgres/state.h"

/* Joins that the caller's own transaction had ended before this call, which are not told again: looked for
 * before a call that pg_log_ended() follows, and by a request. */
bool pg_shares_ends(const struct pg_store *pg);
void pg_look_for_ends(struct pg_store *pg);
void pg_forget_ends(struct pg_store *pg);
bool pg_had_ended(const struct pg_store *pg, boxcar_join_id join_id);
/* Says in the log that these joins have ended: a uuid[] in one field. */
void pg_log_ended(struct pg_store *pg, const PGresult *result, int column);
/* Steps, status and reason of a join, in five columns from this one on. */
void pg_read_join_counts(const PGresult *result, int row, int column, boxcar_join *join);

/* Evaluates some of the waits that are due and not leased. */
boxcar_status pg_evaluate_waits(struct pg_store *pg, int64_t *ret_count, boxcar_error *err);

/* ---- the seam ---- */
boxcar_status pg_join_start(struct boxcar_store *store, const boxcar_new_join *join, boxcar_error *err);
boxcar_status pg_join_attach(struct boxcar_store *store, boxcar_join_id join_id,
                             const boxcar_message_id *message_ids, size_t count,
                             boxcar_attached *ret_attached, boxcar_error *err);
boxcar_status pg_join_end(struct boxcar_store *store, boxcar_join_id join_id, const struct step_end *step,
                          struct join_change *ret_change, boxcar_error *err);
boxcar_status pg_join_wait(struct boxcar_store *store, boxcar_join_id join_id,
                           const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                           struct join_change *ret_change, boxcar_error *err);
boxcar_status pg_join_page(struct boxcar_store *store, const boxcar_join_filter *filter,
                           boxcar_join_id join_id, struct join_rows **ret_list, boxcar_error *err);
boxcar_status pg_join_members(struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                              int limit, struct join_member_rows **ret_list, boxcar_error *err);

#endif
