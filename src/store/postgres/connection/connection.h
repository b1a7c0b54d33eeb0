/* Connecting and connecting again, transactions that span calls, sleeping, notices. */
#ifndef BOXCAR_STORE_POSTGRES_CONNECTION_CONNECTION_H
#define BOXCAR_STORE_POSTGRES_CONNECTION_CONNECTION_H

#include "store/postgres/state.h"

/* BOXCAR_E_INVALID for a URL that libpq could not read; never repeats it. */
boxcar_status pg_check_url(const char *url, boxcar_error *err);

/* identity.c: host, port, database and schema, as boxcar_store_id() says them. *ret_id is malloc'ed. */
boxcar_status pg_identify_url(const char *url, const char *schema, char **ret_id, boxcar_error *err);
boxcar_status pg_identify(const struct pg_store *pg, char **ret_id, boxcar_error *err);

boxcar_status pg_connect(struct pg_store *pg, boxcar_error *err);
bool pg_is_connected(const struct pg_store *pg);
void pg_disconnect(struct pg_store *pg);
/* For the start of a call: connects if there is no connection. BOXCAR_E_TRANSACTION when a transaction
 * that was begun is not open any more. */
boxcar_status pg_ready(struct pg_store *pg, boxcar_error *err);
/* After a loss in the middle of a call: connects again, patiently, and says so in the log. `status` and
 * `err` describe the loss; an impatient store just passes them on. */
boxcar_status pg_reconnect(struct pg_store *pg, boxcar_status status, boxcar_error *err);
/* The transaction belongs to the caller or a handler: never reconnect, retry, begin or commit. */
bool pg_is_joined(const struct pg_store *pg);
bool pg_in_transaction(const struct pg_store *pg); /* such a one */
/* Its database has no encoding: it keeps any bytes as text. */
bool pg_is_sql_ascii(const PGconn *conn);
/* A pause that grows with `round` and is never the same for two. */
void pg_pause(int round);

/* transaction.c: one that spans calls, for handlers. */
boxcar_status pg_handler_transaction(struct boxcar_store *store, enum transaction_step step,
                                     boxcar_error *err);

/* sleep.c: waits for work without asking for it all the time. */
void pg_sleep(struct boxcar_store *store, const struct nap *nap);
/* Takes in the notifications that have arrived, so that they do not pile up. */
void pg_hear(struct pg_store *pg);

/* notice.c: what the server says besides its answers; `context` is the store. When a transaction has ended it
 * is logged, or forgotten if that failed. */
void pg_notice_receive(void *context, const PGresult *notice);
void pg_notice_tell(struct pg_store *pg, boxcar_status status);

#endif
