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
    bool once; /* the statement is not kept for the next time */
};

/* A parameter: Q_INT, Q_NUMBER, Q_TEXT (absent = null), Q_ID (16 bytes; all zero = null) or Q_TIME
 * (BOXCAR_TIME_NONE = null). */
struct query_value {
    enum { QUERY_INT, QUERY_NUMBER, QUERY_TEXT, QUERY_ID, QUERY_TIME } kind;
    union {
        int64_t integer;
        double number;
        boxcar_str text;
        const uint8_t *id;
    } value;
};
#define Q_INT(given) ((struct query_value){QUERY_INT, {.integer = (given)}})
#define Q_NUMBER(given) ((struct query_value){QUERY_NUMBER, {.number = (given)}})
#define Q_TEXT(given) ((struct query_value){QUERY_TEXT, {.text = (given)}})
#define Q_ID(given) ((struct query_value){QUERY_ID, {.id = (given)}})
#define Q_TIME(given) ((struct query_value){QUERY_TIME, {.integer = (given)}})

struct query query_on(struct sqlite_store *store, enum statement statement);
/* A statement that has no name, because it runs once in a connection's life or so. */
struct query query_once(struct sqlite_store *store, const char *sql);
void query_bind(struct query *query, const struct query_value *values, size_t count);
#define QUERY_VALUES(...)                                                                                    \
    (const struct query_value[]){__VA_ARGS__},                                                               \
        sizeof((struct query_value[]){__VA_ARGS__}) / sizeof(struct query_value)

/* query_with(store, statement, Q_INT(..), ...): a statement with all its parameters. */
struct query query_start(struct sqlite_store *store, enum statement statement,
                         const struct query_value *values, size_t count);
#define query_with(store, statement, ...) query_start(store, statement, QUERY_VALUES(__VA_ARGS__))

/* query_do(store, statement, err, Q_INT(..), ...): runs a statement that yields no rows. Here and below a
 * statement may have no parameters. */
boxcar_status query_execute(struct sqlite_store *store, enum statement statement, boxcar_error *err,
                            const struct query_value *values, size_t count);
#define query_do(store, statement, err, ...) query_execute(store, statement, err, QUERY_VALUES(__VA_ARGS__))

/* query_find_int(store, statement, &value, err, Q_INT(..), ...): the first column of the first row; null = 0.
 * Without a row *ret_value stays as it is. */
boxcar_status query_first_int(struct sqlite_store *store, enum statement statement, int64_t *ret_value,
                              boxcar_error *err, const struct query_value *values, size_t count);
#define query_find_int(store, statement, ret_value, err, ...)                                                \
    query_first_int(store, statement, ret_value, err, QUERY_VALUES(__VA_ARGS__))

/* One more parameter. */
static inline void query_number(struct query *query, double value) { query_bind(query, &Q_NUMBER(value), 1); }
static inline void query_int(struct query *query, int64_t value) { query_bind(query, &Q_INT(value), 1); }
static inline void query_text(struct query *query, boxcar_str text) { query_bind(query, &Q_TEXT(text), 1); }
static inline void query_id(struct query *query, const uint8_t *id) { query_bind(query, &Q_ID(id), 1); }
static inline void query_time(struct query *query, boxcar_time at) { query_bind(query, &Q_TIME(at), 1); }

/* For a table of our own; see message/bulk.c. Borrowed like text. */
void query_pointer(struct query *query, const void *pointer, const char *type);

boxcar_status query_step(struct query *query, bool *ret_row, boxcar_error *err);
/* The rows one by one: while (query_next(&query)) ...; then query_status(), for a failure ends them, too. */
bool query_next(struct query *query);
boxcar_status query_status(const struct query *query, boxcar_error *err);
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
