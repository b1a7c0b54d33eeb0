/* Looking at messages: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_MESSAGE_INSPECT_H
#define BOXCAR_STORE_POSTGRES_MESSAGE_INSPECT_H

#include "store/postgres/state.h"

boxcar_status pg_find(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                      struct message_rows **ret_list, boxcar_error *err);
/* The same; its texts and its payload are gone. False = there is none, or it cannot be told. */
bool pg_glance(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
               boxcar_message *ret_message);
boxcar_status pg_message_read(struct boxcar_store *store, const struct message_choice *choice,
                              struct message_rows **ret_list, boxcar_error *err);
boxcar_status pg_work_ids(struct boxcar_store *store, boxcar_box box, const boxcar_message_id *ids,
                          size_t count, boxcar_work_id *ret_ids, boxcar_error *err);
boxcar_status pg_attempts(struct boxcar_store *store, boxcar_box reader, boxcar_work_id work_id,
                          struct attempt_rows **ret_list, boxcar_error *err);

#endif
