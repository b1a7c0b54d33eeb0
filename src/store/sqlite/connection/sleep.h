/* Sleeping until another connection has committed. */
#ifndef BOXCAR_STORE_SQLITE_CONNECTION_SLEEP_H
#define BOXCAR_STORE_SQLITE_CONNECTION_SLEEP_H

#include "store/sqlite/state.h"

void sqlite_sleep(struct boxcar_store *store, const struct nap *nap);
/* Remembers what a claim has seen: only what others commit later ends a sleep. */
boxcar_status sqlite_sleep_note(struct sqlite_store *store, boxcar_error *err);
void sqlite_sleep_end(struct sqlite_store *store); /* for good */

#endif
