/* A batch: one round trip, up to three transactions. */
#ifndef BOXCAR_STORE_POSTGRES_BATCH_BATCH_H
#define BOXCAR_STORE_POSTGRES_BATCH_BATCH_H

#include "store/postgres/state.h"

boxcar_status pg_process(struct boxcar_store *store, const struct batch *batch,
                         struct batch_result *ret_result, boxcar_error *err);
/* Makes a restored store this server's own (BX005 is what others get); false = we may not, or could not. */
bool pg_adopt(struct pg_store *pg);

#endif
