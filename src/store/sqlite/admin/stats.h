/* Counters for people: the seam. */
#ifndef BOXCAR_STORE_SQLITE_ADMIN_STATS_H
#define BOXCAR_STORE_SQLITE_ADMIN_STATS_H

#include "store/sqlite/state.h"

boxcar_status sqlite_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                           struct stats_rows **ret_list, boxcar_error *err);

#endif
