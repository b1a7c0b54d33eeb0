/* boxcar/sqlite.h: messages in your own SQLite transaction.
 *
 * Needs sqlite3.h. This is the only public header that does. */
#ifndef BOXCAR_SQLITE_H
#define BOXCAR_SQLITE_H

#include <sqlite3.h>

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a store over a connection that you own and that has Boxcar's tables (deploy them
 * with boxcar_store_open() on the same file). While a transaction of yours is open, every
 * call becomes part of it. Boxcar never commits it or rolls it back: a call that fails
 * undoes only itself (a savepoint). Without an open transaction each call
 * is a transaction of its own. `options` may be NULL; url, schema, deploy and durability
 * are ignored. Close the store before the connection; closing it leaves `db` open.
 * The same threads may use the store as may use `db`, and never two at a time. */
BOXCAR_API boxcar_status boxcar_store_borrow_sqlite(sqlite3 *db, const boxcar_store_options *options,
                                                    boxcar_store **ret_store, boxcar_error *err);

/* The connection of a store, for statements of your own in a handler's transaction (worker.h,
 * boxcar_delivery_begin). Lent: do not close it, and do not end its transaction. NULL when the store is not
 * SQLite's. */
BOXCAR_API sqlite3 *boxcar_store_sqlite_handle(boxcar_store *store);

#ifdef __cplusplus
}
#endif
#endif
