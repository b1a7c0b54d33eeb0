/* A transaction that spans calls: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_CONNECTION_TRANSACTION_H
#define BOXCAR_STORE_POSTGRES_CONNECTION_TRANSACTION_H

#include "store/postgres/state.h"

boxcar_status pg_begin(struct boxcar_store *store, boxcar_error *err);
boxcar_status pg_commit(struct boxcar_store *store, boxcar_error *err);
void pg_rollback(struct boxcar_store *store);

#endif
