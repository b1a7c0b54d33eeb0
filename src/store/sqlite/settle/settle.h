/* Settling what a request names. */
#ifndef BOXCAR_STORE_SQLITE_SETTLE_SETTLE_H
#define BOXCAR_STORE_SQLITE_SETTLE_SETTLE_H

#include "store/sqlite/state.h"

boxcar_status sqlite_settle(struct sqlite_store *store, const struct request *request, boxcar_box box,
                            boxcar_settle_kind kind, struct result *result, boxcar_error *err);
/* Counts acked messages in their joins and writes down that they are done. */
boxcar_status sqlite_finish(struct sqlite_store *store, boxcar_owner owner, const struct work_id_list *acked,
                            boxcar_error *err);

#endif
