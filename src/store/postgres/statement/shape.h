/* What each answer must look like. */
#ifndef BOXCAR_STORE_POSTGRES_STATEMENT_SHAPE_H
#define BOXCAR_STORE_POSTGRES_STATEMENT_SHAPE_H

#include "store/postgres/state.h"

/* A statement's answer has the columns and rows that the functions of rows.h read, each field of its type and
 * length. Else BOXCAR_E_STORE; the connection is given up, and whether the statement took effect is not
 * known. */
boxcar_status pg_check_answer(struct pg_store *pg, enum pg_statement statement, const PGresult *result,
                              boxcar_error *err);
/* The same for what no shape says. */
boxcar_status pg_malformed(struct pg_store *pg, const char *why, boxcar_error *err);
/* The one text of an answer to pg_run_text(); NULL = it has none, or more. */
const char *pg_only_text(const PGresult *result);

#endif
