/* Upkeep and the audit. */
#ifndef BOXCAR_STORE_SQLITE_ADMIN_MAINTAIN_H
#define BOXCAR_STORE_SQLITE_ADMIN_MAINTAIN_H

#include "store/sqlite/state.h"

boxcar_status sqlite_maintain(struct boxcar_store *store, boxcar_maintenance *ret_maintenance,
                              boxcar_error *err);
boxcar_status sqlite_upkeep(struct boxcar_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err);
/* The same in a transaction of the caller. */
boxcar_status sqlite_upkeep_look(struct sqlite_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err);
boxcar_status sqlite_audit(struct boxcar_store *store, bool repair, boxcar_audit *ret_audit,
                           boxcar_error *err);

#endif
