/* Binding, stepping and reading a prepared statement. A failure while binding is kept and
 * comes out of the next step, so that the caller checks once. Bound text is borrowed until
 * the statement has been stepped for the last time. */
#ifndef BOXCAR_STORE_SQLITE_STATEMENT_QUERY_H
#define BOXCAR_STORE_SQLITE_STATEMENT_QUERY_H

#include <sqlite3.h>

#include "base/memory.h"
#include "boxcar/error.h"
#include "statement.h"

struct sqlite_store;

struct query {
    struct sqlite_store *store;
    sqlite3_stmt *stmt;
    int bound; /* parameters so far */
    int rc;
};

struct query query_on(struct sqlite_store *store, enum statement statement);
void query_int(struct query *query, int64_t value);
void query_number(struct query *query, double value);
void query_text(struct query *query, boxcar_str text);       /* absent = null */
void query_id(struct query *query, const uint8_t bytes[16]); /* all zero = null */
void query_time(struct query *query, boxcar_time time);      /* BOXCAR_TIME_NONE = null */

/* For a table of our own; see message/bulk.c. Borrowed like text. */
void query_pointer(struct query *query, const void *pointer, const char *type);

boxcar_status query_step(struct query *query, bool *ret_row, boxcar_error *err);
/* Steps a statement that yields no rows, and ends it. */
boxcar_status query_run(struct query *query, boxcar_error *err);
void query_end(struct query *query); /* fine more than once */
#define AUTO_QUERY CLEANUP(query_end)

/* Of the current row. Text is lent until the next step. */
bool query_is_null(const struct query *query, int column);
int64_t query_get_int(const struct query *query, int column); /* null = 0 */
boxcar_time query_get_time(const struct query *query, int column);
boxcar_str query_get_text(const struct query *query, int column);
void query_get_id(const struct query *query, int column, uint8_t ret_bytes[16]); /* null = zero */
/* As query_get_text, copied. */
boxcar_status query_copy_text(struct query *query, int column, struct arena *arena, boxcar_str *ret_text,
                              boxcar_error *err);

#endif
