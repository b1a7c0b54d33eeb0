/* Counters for people: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_STATS_H
#define BOXCAR_STORE_POSTGRES_ADMIN_STATS_H

#include "store/postgres/state.h"

boxcar_status pg_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                       struct stats_rows **ret_list, boxcar_error *err);

#endif
