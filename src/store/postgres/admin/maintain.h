/* Upkeep and the audit: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_MAINTAIN_H
#define BOXCAR_STORE_POSTGRES_ADMIN_MAINTAIN_H

#include "store/postgres/state.h"

boxcar_status pg_maintain(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                          boxcar_error *err);
boxcar_status pg_facts(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err);

/* When upkeep ran last. */
boxcar_status pg_upkeep(struct pg_store *pg, boxcar_upkeep *ret_upkeep, boxcar_error *err);

#endif
