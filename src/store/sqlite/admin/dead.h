/* Dead letters, and what removes messages for good. */
#ifndef BOXCAR_STORE_SQLITE_ADMIN_DEAD_H
#define BOXCAR_STORE_SQLITE_ADMIN_DEAD_H

#include "store/sqlite/state.h"

boxcar_status sqlite_message_change(struct boxcar_store *store, const struct message_choice *choice,
                                    enum message_action action, boxcar_str note,
                                    struct message_change *ret_change, boxcar_error *err);
/* A page of dead letters. */
boxcar_status sqlite_dead_list(struct sqlite_store *store, const struct message_choice *choice,
                               struct message_rows *list, boxcar_error *err);
boxcar_status sqlite_dead_remove(struct sqlite_store *store, int64_t work_id, bool *ret_removed,
                                 boxcar_error *err);

/* Buries a message that the subscription which was entered has not met (reason cancelled). */
boxcar_status sqlite_cancel_unread(struct sqlite_store *store, int64_t work_id, boxcar_error *err);

/* Makes one dead letter ready again. *ret_counted: it is a step that a join has counted. */
boxcar_status sqlite_dead_replay_one(struct sqlite_store *store, int64_t work_id, bool *ret_found,
                                     bool *ret_counted, boxcar_error *err);

/* Removes messages that have ended, with their history; their numbers are never used again. */
boxcar_status sqlite_message_remove(struct sqlite_store *store, int64_t first, int64_t last,
                                    boxcar_error *err);

#endif
