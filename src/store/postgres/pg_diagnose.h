/* What the parts of the doctor on PostgreSQL share. */
#ifndef BOXCAR_STORE_POSTGRES_PG_DIAGNOSE_H
#define BOXCAR_STORE_POSTGRES_PG_DIAGNOSE_H

#include "pg_store.h"
#include "store/finding.h"

/* Whether a claim works just now, and who is in its way. `may_claim`: the role has the right to try one. */
boxcar_status pg_check_claim(struct pg_store *pg, boxcar_box box, bool may_claim, struct findings *findings,
                             boxcar_error *err);

#endif
