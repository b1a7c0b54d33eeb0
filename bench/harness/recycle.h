/* A PostgreSQL place is made new again instead of being dropped: deploying takes half a second, and the
 * scenarios need hundreds of places. */
#ifndef BOXCAR_BENCH_RECYCLE_H
#define BOXCAR_BENCH_RECYCLE_H

#include "bench.h"

/* Right after the deployment: keeps a copy of all rows, in the schema SCHEMA_kept. */
void recycle_keep(const struct place *place);
/* Makes the place as it was then: empty files, no statistics, sequences at their start. */
void recycle_reset(const struct place *place);

#endif
