/* The connection to the file: opening it, waiting for others, the clock, checkpoints, errors. */
#ifndef BOXCAR_STORE_SQLITE_CONNECTION_CONNECTION_H
#define BOXCAR_STORE_SQLITE_CONNECTION_CONNECTION_H

#include "store/sqlite/state.h"

boxcar_status sqlite_connect(struct sqlite_store *store, bool create, boxcar_error *err);
boxcar_status sqlite_prepare_journal(struct sqlite_store *store, boxcar_error *err);
void sqlite_disconnect(struct sqlite_store *store);
/* If the open file has lost its name (removed, or another one is in its place), opens the one that has it
 * now. BOXCAR_E_UNAVAILABLE: there is none that can be used; the old one stays open then. */
boxcar_status sqlite_follow_name(struct sqlite_store *store, boxcar_error *err);
boxcar_status sqlite_set_durable(struct sqlite_store *store, bool durable, boxcar_error *err);
/* Runs statements that yield no rows. */
boxcar_status sqlite_exec(struct sqlite_store *store, const char *sql, boxcar_error *err);
boxcar_time sqlite_clock(void); /* the host's clock is the database's clock here */
void sqlite_busy_start(struct busy *busy, int64_t timeout_ms);
bool sqlite_busy_wait(struct busy *busy, int tries); /* false = the deadline has passed */
int sqlite_busy_handler(void *busy, int tries);
uint64_t sqlite_draw(struct busy *busy); /* chance, not secrets */

/* ---- checkpoints (checkpoint.c) ---- */
void sqlite_checkpoint_watch(struct sqlite_store *store);
void sqlite_checkpoint_if_due(struct sqlite_store *store); /* after a commit */

/* ---- errors (error.c) ---- */
boxcar_status sqlite_error(struct sqlite_store *store, int rc, boxcar_error *err);
bool sqlite_is_busy(int rc);
boxcar_status sqlite_error_not_deployed(struct sqlite_store *store, boxcar_error *err);

/* ---- sleeping until another connection has committed (sleep.c) ---- */
void sqlite_sleep(struct boxcar_store *store, const struct nap *nap);
/* Remembers what a claim has seen: only what others commit later ends a sleep. */
boxcar_status sqlite_sleep_note(struct sqlite_store *store, boxcar_error *err);
void sqlite_sleep_end(struct sqlite_store *store); /* stops watching the WAL; a next sleep starts again */

#endif
