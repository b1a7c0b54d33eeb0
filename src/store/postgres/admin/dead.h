/* Dead letters: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_DEAD_H
#define BOXCAR_STORE_POSTGRES_ADMIN_DEAD_H

#include "store/postgres/state.h"

boxcar_status pg_dead_page(struct boxcar_store *store, const boxcar_dead_filter *filter, int limit,
                           boxcar_work_id after, struct message_rows **ret_list, boxcar_error *err);
boxcar_status pg_dead_act(struct boxcar_store *store, const boxcar_dead_filter *filter,
                          enum dead_action action, boxcar_str note, int limit, boxcar_work_id *cursor,
                          int64_t *ret_count, boxcar_error *err);
boxcar_status pg_cancel(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                        boxcar_error *err);

#endif
