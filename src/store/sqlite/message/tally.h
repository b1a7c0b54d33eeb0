/* The counters of topics (struct tally in state.h). */
#ifndef BOXCAR_STORE_SQLITE_MESSAGE_TALLY_H
#define BOXCAR_STORE_SQLITE_MESSAGE_TALLY_H

#include "store/sqlite/state.h"

void sqlite_tally_add(struct sqlite_store *store, int box, boxcar_str topic, enum tally_kind kind,
                      int64_t delta);
boxcar_status sqlite_tally_flush(struct sqlite_store *store, boxcar_error *err);
/* Only what has to do with open parked messages: for a look at those in the middle of a transaction. */
boxcar_status sqlite_tally_flush_parked(struct sqlite_store *store, boxcar_error *err);
void sqlite_tally_clear(struct tally *tally);

#endif
