/* What the server says besides its answers. */
#ifndef BOXCAR_STORE_POSTGRES_CONNECTION_NOTICE_H
#define BOXCAR_STORE_POSTGRES_CONNECTION_NOTICE_H

#include "store/postgres/state.h"

/* `context` is the store. When a transaction has ended it is logged, or forgotten if that failed. */
void pg_notice_receive(void *context, const PGresult *notice);
void pg_notice_tell(struct pg_store *pg, boxcar_status status);

#endif
