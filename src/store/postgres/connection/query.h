/* Asking the server: one statement, its parameters, its answer. */
#ifndef BOXCAR_STORE_POSTGRES_CONNECTION_QUERY_H
#define BOXCAR_STORE_POSTGRES_CONNECTION_QUERY_H

#include "store/postgres/state.h"
#include "store/postgres/statement/params.h"

boxcar_status pg_send(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                      boxcar_error *err);
/* Prepares a statement that is going to be used again, if the session is ours. Between pg_talk_begin() and
 * the end, not in a pipeline. */
void pg_prepare(struct pg_store *pg, enum pg_statement statement);
/* One statement as a transaction of its own (or in the caller's), repeated after deadlocks and
 * lost connections; only for what may safely run twice. The caller clears *ret_result. */
boxcar_status pg_query(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                       PGresult **ret_result, boxcar_error *err);
/* The same; *ret_repeated: the answer to a first try was lost, which may have done what the second then found
 * done. */
boxcar_status pg_query_telling(struct pg_store *pg, enum pg_statement statement,
                               const struct pg_params *params, PGresult **ret_result, bool *ret_repeated,
                               boxcar_error *err);
/* The same for what must not run twice: a connection that is lost meanwhile is an error, outcome unknown. */
boxcar_status pg_query_unrepeated(struct pg_store *pg, enum pg_statement statement,
                                  const struct pg_params *params, PGresult **ret_result, boxcar_error *err);
/* The same once, without connecting first or trying again. */
boxcar_status pg_query_once(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                            PGresult **ret_result, boxcar_error *err);

static inline void pg_result_cleanup(PGresult **result) { PQclear(*result); }
#define AUTO_RESULT __attribute__((cleanup(pg_result_cleanup)))

#endif
