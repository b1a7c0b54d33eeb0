/* Events: the seam. */
#ifndef BOXCAR_STORE_SQLITE_EVENT_EVENT_H
#define BOXCAR_STORE_SQLITE_EVENT_EVENT_H

#include "store/sqlite/state.h"

boxcar_status sqlite_event_append(struct boxcar_store *store, boxcar_str stream, int64_t expected_version,
                                  const boxcar_new_event *events, size_t count, boxcar_appended *ret_appended,
                                  boxcar_error *err);
boxcar_status sqlite_event_read(struct boxcar_store *store, const boxcar_event_filter *filter,
                                int64_t from_version, struct event_rows **ret_list, boxcar_error *err);

/* Appends the event that a message is, with the next version of its stream, in the caller's transaction. An
 * event that is there already stays as it is: the message was removed, and enqueued again. */
boxcar_status sqlite_event_of_message(struct sqlite_store *store, const boxcar_new_message *message,
                                      boxcar_error *err);

#endif
