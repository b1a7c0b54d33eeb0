/* Asking the server: one statement, its parameters, its answer. */
#ifndef BOXCAR_STORE_POSTGRES_CONNECTION_QUERY_H
#define BOXCAR_STORE_POSTGRES_CONNECTION_QUERY_H

#include "store/postgres/state.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"

boxcar_status pg_send(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                      boxcar_error *err);
/* Prepares a statement that is going to be used again, if the session is ours. Between pg_talk_begin() and
 * the end, not in a pipeline. */
void pg_prepare(struct pg_store *pg, enum pg_statement statement);
/* One statement as a transaction of its own (or in the caller's), repeated after deadlocks and lost
 * connections unless it is PG_ONCE. The caller clears *ret_result. Afterwards pg->repeated says whether the
 * answer to a first try was lost, which may have done what the second then found done. */
boxcar_status pg_query(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                       PGresult **ret_result, boxcar_error *err);
/* The same once, without connecting first or trying again. */
boxcar_status pg_query_once(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                            PGresult **ret_result, boxcar_error *err);

/* pg_ask(pg, statement, &result, err, P_INT8(..), ...): pg_query() with these parameters. */
boxcar_status pg_ask_values(struct pg_store *pg, enum pg_statement statement, PGresult **ret_result,
                            boxcar_error *err, const struct pg_value *values, size_t count);
#define pg_ask(pg, statement, ret_result, err, ...)                                                          \
    pg_ask_values((pg), (statement), (ret_result), (err), PG_VALUES(__VA_ARGS__))
/* pg_do(pg, statement, err, P_INT8(..), ...): the answer does not matter. */
boxcar_status pg_do_values(struct pg_store *pg, enum pg_statement statement, boxcar_error *err,
                           const struct pg_value *values, size_t count);
#define pg_do(pg, statement, err, ...) pg_do_values((pg), (statement), (err), PG_VALUES(__VA_ARGS__))
/* pg_ask_list(pg, statement, read, &list, err, P_INT8(..), ...): its rows as a list of store/store.h. */
boxcar_status pg_ask_list_values(struct pg_store *pg, enum pg_statement statement, struct pg_list_kind kind,
                                 void *ret_list, boxcar_error *err, const struct pg_value *values,
                                 size_t count);
#define pg_ask_list(pg, statement, read, ret_list, err, ...)                                                 \
    pg_ask_list_values((pg), (statement), PG_LIST_KIND((read), (ret_list)), (ret_list), (err),               \
                       PG_VALUES(__VA_ARGS__))

static inline void pg_result_cleanup(PGresult **result) { PQclear(*result); }
#define AUTO_RESULT __attribute__((cleanup(pg_result_cleanup)))

#endif
