/* Scheduled fanout. */
#include "schedule.h"

#include "base/error.h"

static boxcar_status refuse(boxcar_error *err) {
    return error_set(err, BOXCAR_E_UNSUPPORTED, "schedules are not available");
}

boxcar_status pg_schedule_change(struct boxcar_store *store, const struct schedule_change *change,
                                 bool *ret_changed, boxcar_error *err) {
    (void)store, (void)change, (void)ret_changed;
    return refuse(err);
}

boxcar_status pg_schedule_plan(struct boxcar_store *store, const boxcar_plan *plan,
                               boxcar_planned *ret_planned, boxcar_error *err) {
    (void)store, (void)plan, (void)ret_planned;
    return refuse(err);
}

boxcar_status pg_schedule_read(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                               struct schedule_rows **ret_list, boxcar_error *err) {
    (void)store, (void)topic, (void)work_key, (void)ret_list;
    return refuse(err);
}

boxcar_status pg_schedule_slices(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                 struct slice_rows **ret_list, boxcar_error *err) {
    (void)store, (void)topic, (void)work_key, (void)ret_list;
    return refuse(err);
}
