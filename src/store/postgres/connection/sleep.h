/* Waiting for work without asking for it all the time. */
#ifndef BOXCAR_STORE_POSTGRES_CONNECTION_SLEEP_H
#define BOXCAR_STORE_POSTGRES_CONNECTION_SLEEP_H

#include "store/postgres/state.h"

void pg_sleep(struct boxcar_store *store, const struct nap *nap);
/* Takes in the notifications that have arrived, so that they do not pile up. */
void pg_hear(struct pg_store *pg);

#endif
