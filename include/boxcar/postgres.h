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
 * every call becomes part of it. Boxcar never begins, commits or rolls back a transaction
 * for you. A call that the server refuses leaves your transaction aborted
 * (err->must_roll_back), as any failed statement does. Argument errors are found before
 * anything is sent and leave it usable. Without an open transaction each call commits by itself.
 *
 * A claim inside your transaction delays no other claimer. If the transaction rolls back, its messages are
 * given back. Such a claim may miss new messages of streams: commit and claim again to get them.
 *
 * `options` may be NULL; only its fields schema, log, log_context and answer_timeout_ms count. If
 * answer_timeout_ms is set and the server is silent for that long during a call, the connection is shut down
 * and fails from then on. If it is 0, a call waits as long as your own statements would. The connection must
 * be in blocking mode and not in pipeline mode; each call leaves it so. Its client_encoding must be UTF8.
 * Lost connections are reported, never reopened. Close the store before the connection; closing it leaves
 * `conn` open. */
BOXCAR_API boxcar_status boxcar_store_borrow_postgres(PGconn *conn, const boxcar_store_options *options,
                                                      boxcar_store **ret_store, boxcar_error *err);

/* The connection of a store, for statements of your own in a handler's transaction (worker.h,
 * boxcar_delivery_begin). Lent: do not finish it, and do not end its transaction. NULL when the store is not
 * PostgreSQL's. */
BOXCAR_API PGconn *boxcar_store_postgres_handle(boxcar_store *store);

#ifdef __cplusplus
}
#endif
#endif
