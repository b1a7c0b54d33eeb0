/* Upkeep and the audit: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_MAINTAIN_H
#define BOXCAR_STORE_POSTGRES_ADMIN_MAINTAIN_H

#include "store/postgres/state.h"

boxcar_status pg_maintain(struct boxcar_store *store, boxcar_maintenance *ret_maintenance, boxcar_error *err);
boxcar_status pg_upkeep(struct boxcar_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err);
boxcar_status pg_audit(struct boxcar_store *store, bool repair, boxcar_audit *ret_audit, boxcar_error *err);

#endif
