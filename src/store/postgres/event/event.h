/* Events: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_EVENT_EVENT_H
#define BOXCAR_STORE_POSTGRES_EVENT_EVENT_H

#include "store/postgres/state.h"

boxcar_status pg_event_append(struct boxcar_store *store, boxcar_str stream, int64_t expected_version,
                              const boxcar_new_event *events, size_t count, boxcar_appended *ret_appended,
                              boxcar_error *err);
boxcar_status pg_event_read(struct boxcar_store *store, const boxcar_event_filter *filter,
                            int64_t from_version, struct event_rows **ret_list, boxcar_error *err);

#endif
