/* boxcar/postgres.h: messages in your own PostgreSQL transaction.
 *
 * Needs libpq-fe.h. This is the only public header that does. */
#ifndef BOXCAR_POSTGRES_H
#define BOXCAR_POSTGRES_H

#include <libpq-fe.h>

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a store over a connection that you own. While a transaction of yours is open,
 * every call becomes part of it; nothing is ever begun, committed or rolled back on your
 * behalf. A call that the server refuses leaves your transaction aborted
 * (err->must_roll_back), as any failed statement does; argument errors are found before
 * anything is sent and do not. Without an open transaction each call commits by itself.
 *
 * A claim made inside a transaction of yours delays nobody while that is open, and gives its messages back if it rolls
 * back. New messages of streams may come only with the claim after the next commit.
 *
 * `options` may be NULL; of its fields schema, log, log_context and answer_timeout_ms count. With
 * the latter, a connection whose server is silent for so long during a call is shut down and fails from then
 * on; without, a call waits as long as your own statements would. The connection
 * must be in blocking mode and not in pipeline mode, and is again after each call. Its client_encoding must be UTF8. Lost connections
 * are reported, never reopened. Close the store before the connection; closing it leaves `conn` open. */
BOXCAR_API boxcar_status boxcar_store_borrow_postgres(PGconn *conn, const boxcar_store_options *options,
                                                      boxcar_store **ret_store, boxcar_error *err);

/* The connection of a store, for statements of your own in a handler's transaction (worker.h,
 * boxcar_delivery_begin). Lent: do not finish it, nor end its transaction. NULL when the store is not
 * PostgreSQL's. */
BOXCAR_API PGconn *boxcar_store_postgres_handle(boxcar_store *store);

#ifdef __cplusplus
}
#endif
#endif
