/* A transaction that spans calls: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_CONNECTION_TRANSACTION_H
#define BOXCAR_STORE_POSTGRES_CONNECTION_TRANSACTION_H

#include "store/postgres/state.h"

boxcar_status pg_handler_transaction(struct boxcar_store *store, enum transaction_step step,
                                     boxcar_error *err);

#endif
