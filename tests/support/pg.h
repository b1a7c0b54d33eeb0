/* Plain SQL on a PostgreSQL connection, as a program in any language would send it. */
#ifndef BOXCAR_TESTS_PG_H
#define BOXCAR_TESTS_PG_H

#include "actions.h"

/* Runs a statement made from a format; asserts that it works. */
void pg_exec(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The first column of the first row as a number (t and f are 1 and 0); -1 when there is no row or
 * it is null. */
int64_t pg_number(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Asserts that the statement fails with an SQLSTATE that begins so; its message is in the log. */
void pg_fails(PGconn *conn, const char *sqlstate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Wait until the server shows that this session waits for a lock; that somebody waits for this one. */
void pg_await_blocked(PGconn *watcher, const PGconn *waiting);
void pg_await_blocking(PGconn *watcher, const PGconn *holder);

#endif
