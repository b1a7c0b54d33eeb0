/* Why a statement or a connection failed. Never quotes parameters. */
#ifndef BOXCAR_STORE_POSTGRES_CONNECTION_ERROR_H
#define BOXCAR_STORE_POSTGRES_CONNECTION_ERROR_H

#include "store/postgres/state.h"

/* Describes why a result or the connection failed. */
boxcar_status pg_error_from_result(struct pg_store *pg, const PGresult *result, boxcar_error *err);
boxcar_status pg_error_from_connection(struct pg_store *pg, boxcar_error *err);
/* refusal.c: the same for a connection that could not be made, after asking the server once more for its
 * SQLSTATE: a wrong password is BOXCAR_E_DENIED, a database that does not exist BOXCAR_E_NOT_FOUND. Only for
 * the first connection of a store; later ones are worth a retry, whatever the server says. */
boxcar_status pg_explain_refusal(struct pg_store *pg, const char *const *keywords, const char *const *values,
                                 boxcar_error *err);
/* access.c: the least access that the function named at the end of this message needs, NULL = it is none of
 * ours; and whether workers need it, too. */
const char *pg_access_needed(const char *message, bool *ret_for_workers);
/* Would the same request have a chance if it were simply repeated now? */
bool pg_error_is_transient(const boxcar_error *err);
bool pg_error_is_lock_timeout(const boxcar_error *err); /* a lock did not come in time */
/* A prepared statement is gone (DISCARD, DEALLOCATE), or a deployment changed what it returns. */
bool pg_error_is_stale_statement(const boxcar_error *err);
/* The server goes down or comes up: as good as no connection. */
bool pg_error_is_shutdown(const boxcar_error *err);
bool pg_error_is_isolation(
    const boxcar_error *err); /* BX004: a claim in a transaction that is not READ COMMITTED */
bool pg_error_is_foreign(const boxcar_error *err); /* BX005: restored from elsewhere */

#endif
