/* Scheduled fanout: the seam, and what its files share. */
#ifndef BOXCAR_STORE_SQLITE_SCHEDULE_SCHEDULE_H
#define BOXCAR_STORE_SQLITE_SCHEDULE_SCHEDULE_H

#include "store/sqlite/state.h"

boxcar_status sqlite_schedule_change(struct boxcar_store *store, const struct schedule_change *change,
                                     bool *ret_changed, boxcar_error *err);
boxcar_status sqlite_schedule_plan(struct boxcar_store *store, const boxcar_plan *plan,
                                   boxcar_planned *ret_planned, boxcar_error *err);
boxcar_status sqlite_schedule_read(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                   struct schedule_rows **ret_list, boxcar_error *err);
boxcar_status sqlite_schedule_slices(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                     struct slice_rows **ret_list, boxcar_error *err);

/* ---- rows ---- */

/* A schedule that is planned. Texts are in the scratch arena. */
struct schedule {
    int64_t id, joins;
    boxcar_str topic, work_key, then_topic, else_topic; /* the latter two may be absent */
    int64_t every_ms, jitter_ms;
    int shards;
    boxcar_time created_at;
};

/* A slice that is to be enqueued. */
struct slice {
    int shard, tries;
    int64_t number;
};

struct slice_list {
    struct slice *items; /* in the scratch arena */
    size_t count, capacity;
};

boxcar_status sqlite_slice_add(struct sqlite_store *store, struct slice_list *list, const struct slice *slice,
                               boxcar_error *err);

/* Refuses a row with a value that Boxcar never wrote. `types` has a letter for each column: t a text that is
 * not empty, T the same or null, i a number that is not negative, I the same or null, b an id or null.
 * BOXCAR_E_STORE. */
boxcar_status sqlite_schedule_check_row(struct sqlite_store *store, const struct query *row,
                                        const char *types, const char *what, boxcar_error *err);

/* fanout:{topic}:{work key}, in the scratch arena. */
boxcar_status sqlite_slice_topic(struct sqlite_store *store, boxcar_str topic, boxcar_str work_key,
                                 boxcar_str *ret_topic, boxcar_error *err);

/* ---- enqueueing (slice.c) ---- */
/* New slices of a schedule; with its then_topic they are a join. */
boxcar_status sqlite_slices_enqueue_new(struct sqlite_store *store, const struct schedule *schedule,
                                        const struct slice_list *slices, boxcar_error *err);
/* Slices that did not end well. */
boxcar_status sqlite_slices_enqueue_again(struct sqlite_store *store, const struct schedule *schedule,
                                          const struct slice_list *slices, boxcar_error *err);

/* ---- ends (ends.c) ---- */
/* Looks at the open slices: those that were done are completed, those that ended otherwise are listed, at
 * most `most`. */
boxcar_status sqlite_slices_look(struct sqlite_store *store, const struct schedule *schedule, size_t most,
                                 struct slice_list *failed, boxcar_error *err);
/* These messages are about to be removed: those that were done complete their slices. */
boxcar_status sqlite_slices_settle_range(struct sqlite_store *store, int64_t first, int64_t last,
                                         boxcar_error *err);
/* The reader that counts gives this message up: if it was not done, its slice is due again. */
boxcar_status sqlite_slice_give_up(struct sqlite_store *store, int64_t work_id, boxcar_error *err);
/* The same for what only a removed subscription would have read. Before: it is there still, and what it has
 * done is completed. */
boxcar_status sqlite_slices_complete(struct sqlite_store *store, boxcar_error *err);
boxcar_status sqlite_slices_give_up_passed(struct sqlite_store *store, boxcar_error *err);

#endif
