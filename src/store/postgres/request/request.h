/* A request: one round trip, up to three transactions. */
#ifndef BOXCAR_STORE_POSTGRES_REQUEST_REQUEST_H
#define BOXCAR_STORE_POSTGRES_REQUEST_REQUEST_H

#include "store/postgres/state.h"

boxcar_status pg_process(struct boxcar_store *store, const struct request *request, struct result *ret_result,
                         boxcar_error *err);
/* Makes a restored store this server's own (BX005 is what others get); false = we may not, or could not. */
bool pg_adopt(struct pg_store *pg);

#endif
