/* Waiting for the server, never for ever. */
#ifndef BOXCAR_STORE_POSTGRES_CONNECTION_WAIT_H
#define BOXCAR_STORE_POSTGRES_CONNECTION_WAIT_H

#include <stdatomic.h>

#include "store/postgres/state.h"

/* Each exchange stands between begin and end, which gets what begin returned; a connection of ours that was
 * cut meanwhile is closed at the end. */
bool pg_talk_begin(struct pg_store *pg);
void pg_talk_end(struct pg_store *pg, bool was_nonblocking);
/* Sends what is unsent and waits until the next result is there, or the connection is lost or cut. */
void pg_await(struct pg_store *pg);
/* pg_await() and PQgetResult(). */
PGresult *pg_next_result(struct pg_store *pg);
/* All results of one request, of which the first failure counts, or else the first. NULL = the connection is
 * lost. */
PGresult *pg_receive(struct pg_store *pg);
bool pg_is_success(const PGresult *result); /* rows or none, but no failure; NULL is one */
/* As PQexec(), with a begin and an end of its own. */
PGresult *pg_run_text(struct pg_store *pg, const char *text);
/* The same, but it ends soon once *is_over. */
PGresult *pg_run_text_until(struct pg_store *pg, const char *text, const atomic_bool *is_over);
/* How long connecting may take, for libpq. */
int pg_connect_seconds(const struct pg_store *pg);
/* The server was silent for too long or talked nonsense, and nothing has been connected since. */
bool pg_is_cut(const struct pg_store *pg);

#endif
