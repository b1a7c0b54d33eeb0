/* Dead letters, and what removes messages for good. */
#ifndef BOXCAR_STORE_SQLITE_ADMIN_DEAD_H
#define BOXCAR_STORE_SQLITE_ADMIN_DEAD_H

#include "store/sqlite/state.h"

boxcar_status sqlite_dead_page(struct boxcar_store *store, const boxcar_dead_filter *filter, int limit,
                               boxcar_work_id after, struct message_rows **ret_list,
                               boxcar_error *err);
boxcar_status sqlite_dead_act(struct boxcar_store *store, const boxcar_dead_filter *filter,
                              enum dead_action action, boxcar_str note, int limit, boxcar_work_id *cursor,
                              int64_t *ret_count, boxcar_error *err);
boxcar_status sqlite_cancel(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                            boxcar_error *err);
boxcar_status sqlite_dead_remove(struct sqlite_store *store, int64_t work_id, bool *ret_removed,
                                 boxcar_error *err);

/* Makes one dead letter ready again. *ret_counted: it is a step that a join has counted. */
boxcar_status sqlite_dead_replay_one(struct sqlite_store *store, int64_t work_id, bool *ret_found,
                                     bool *ret_counted, boxcar_error *err);

/* Removes messages that have ended, with their history; their numbers are never used again. */
boxcar_status sqlite_message_remove(struct sqlite_store *store, int64_t first, int64_t last,
                                    boxcar_error *err);

#endif
