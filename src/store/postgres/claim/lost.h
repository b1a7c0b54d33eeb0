/* Claims whose answer did not arrive. */
#ifndef BOXCAR_STORE_POSTGRES_CLAIM_LOST_H
#define BOXCAR_STORE_POSTGRES_CLAIM_LOST_H

#include "store/postgres/state.h"

/* A number for the next claim; 0 = there is none (no randomness), then
 * nothing is noted either. pg_give_back_lost() asks the server for those that are due, outside of
 * transactions. */
int64_t pg_claim_number(struct pg_store *pg);
void pg_note_lost_claim(struct pg_store *pg, boxcar_owner owner, boxcar_box box, int64_t number,
                        int64_t lease_ms);
void pg_give_back_lost(struct pg_store *pg);

#endif
