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
/* Hands a failure over that was described elsewhere, unless the status is BOXCAR_OK. Returns the status. */
boxcar_status pg_error_pass(boxcar_status status, const boxcar_error *why, boxcar_error *err);
/* access.c: the least access that the function named at the end of this message needs, NULL = it is none of
 * ours; and whether workers need it, too. */
const char *pg_access_needed(const char *message, bool *ret_for_workers);

/* Which failure it is, by a list of SQLSTATEs. */
bool pg_error_is(const boxcar_error *err, const char *sqlstates);
#define PG_LOCK_TIMEOUT "55P03"
/* The same request may succeed if it is simply repeated now. */
#define PG_TRANSIENT "40001 40P01 " PG_LOCK_TIMEOUT
/* A prepared statement is gone (DISCARD, DEALLOCATE), or a deployment changed what it returns. */
#define PG_STALE_STATEMENT "26000 0A000"
/* The server goes down or comes up: as good as no connection. */
#define PG_SHUTDOWN "57P01 57P02 57P03"
#define PG_NOT_READ_COMMITTED "BX004" /* a claim in a transaction of another isolation level */
#define PG_FOREIGN "BX005"            /* restored from elsewhere */

#endif
