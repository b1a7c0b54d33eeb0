/* Upkeep and the audit. */
#ifndef BOXCAR_STORE_SQLITE_ADMIN_MAINTAIN_H
#define BOXCAR_STORE_SQLITE_ADMIN_MAINTAIN_H

#include "store/sqlite/state.h"

boxcar_status sqlite_maintain(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                              boxcar_error *err);
boxcar_status sqlite_facts(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err);
/* When upkeep ran last; in a transaction of the caller. */
boxcar_status sqlite_upkeep_look(struct sqlite_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err);
/* audit.c */
boxcar_status sqlite_audit(struct sqlite_store *store, bool repair, boxcar_audit *ret_audit,
                           boxcar_error *err);

#endif
