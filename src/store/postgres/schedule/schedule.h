/* Scheduled fanout: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_SCHEDULE_SCHEDULE_H
#define BOXCAR_STORE_POSTGRES_SCHEDULE_SCHEDULE_H

#include "store/store.h"

boxcar_status pg_schedule_change(struct boxcar_store *store, const struct schedule_change *change,
                                 bool *ret_changed, boxcar_error *err);
boxcar_status pg_schedule_plan(struct boxcar_store *store, const boxcar_plan *plan,
                               boxcar_planned *ret_planned, boxcar_error *err);
boxcar_status pg_schedule_read(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                               struct schedule_rows **ret_list, boxcar_error *err);
boxcar_status pg_schedule_slices(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                 struct slice_rows **ret_list, boxcar_error *err);

#endif
