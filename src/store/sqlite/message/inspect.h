/* Looking at messages: the seam. */
#ifndef BOXCAR_STORE_SQLITE_MESSAGE_INSPECT_H
#define BOXCAR_STORE_SQLITE_MESSAGE_INSPECT_H

#include "store/sqlite/state.h"

boxcar_status sqlite_message_read(struct boxcar_store *store, const struct message_choice *choice,
                                  struct message_rows **ret_list, boxcar_error *err);
boxcar_status sqlite_work_ids(struct boxcar_store *store, boxcar_box box, const boxcar_message_id *ids,
                              size_t count, boxcar_work_id *ret_ids, boxcar_error *err);
boxcar_status sqlite_attempts(struct boxcar_store *store, boxcar_box reader, boxcar_work_id work_id,
                              struct attempt_rows **ret_list, boxcar_error *err);

#endif
