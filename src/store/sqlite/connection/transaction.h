/* Transactions: one for each call, or one that spans calls. */
#ifndef BOXCAR_STORE_SQLITE_CONNECTION_TRANSACTION_H
#define BOXCAR_STORE_SQLITE_CONNECTION_TRANSACTION_H

#include "store/sqlite/state.h"

/* Runs again from the start when the file was busy: what it returns must be reset at its start. */
typedef boxcar_status (*sqlite_work_fn)(struct sqlite_store *store, void *context, boxcar_error *err);
enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_WRITE_RELAXED };
boxcar_status sqlite_transaction(struct sqlite_store *store, enum access access, sqlite_work_fn work,
                                 void *context, boxcar_error *err);
/* Takes the write lock and gives it back at once, after waiting for so long at most. Not inside of a
 * transaction. */
boxcar_status sqlite_try_turn(struct sqlite_store *store, int64_t longest_ms, bool *ret_had_turn,
                              boxcar_error *err);
/* A transaction that spans calls; see store/store.h. */
boxcar_status sqlite_handler_transaction(struct boxcar_store *store, enum transaction_step step,
                                         boxcar_error *err);

#endif
