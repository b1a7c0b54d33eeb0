/* Dead letters: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_DEAD_H
#define BOXCAR_STORE_POSTGRES_ADMIN_DEAD_H

#include "store/postgres/state.h"

boxcar_status pg_message_change(struct boxcar_store *store, const struct message_choice *choice,
                                enum message_action action, boxcar_str note,
                                struct message_change *ret_change, boxcar_error *err);
/* ---- parts of the seam, for others, too ---- */
boxcar_status pg_dead_page(struct boxcar_store *store, const struct message_choice *choice,
                           struct message_rows **ret_list, boxcar_error *err);
boxcar_status pg_cancel(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                        boxcar_error *err);

#endif
