/* Whose knowledge statements are about, and what subscriptions want. */
#ifndef BOXCAR_STORE_SQLITE_SUBSCRIPTION_READER_H
#define BOXCAR_STORE_SQLITE_SUBSCRIPTION_READER_H

#include "store/sqlite/state.h"

/* From now on, in this transaction, statements are about what this reader knows: store->reader is set for a
 * subscription, and NULL for a main reader. BOXCAR_E_NOT_FOUND: there is none with this number. */
boxcar_status sqlite_reader_enter(struct sqlite_store *store, boxcar_box number, boxcar_error *err);
static inline void sqlite_reader_leave(struct sqlite_store *store) { store->reader = NULL; }
/* Enters the subscription with the next number. *ret_found false: there is none, and none is entered. */
boxcar_status sqlite_reader_next(struct sqlite_store *store, int *number, bool *ret_found, boxcar_error *err);
/* The box of the messages that a reader reads, which was entered. */
static inline boxcar_box sqlite_reader_box(const struct sqlite_store *store, boxcar_box number) {
    return store->reader != NULL ? store->reader->box : number;
}
/* For error texts. */
static inline const char *sqlite_reader_kind(const struct sqlite_store *store, boxcar_box number) {
    return store->reader != NULL ? "subscription" : boxcar_box_name(number);
}

/* Whether its patterns choose the topic. */
bool sqlite_reader_wants(const struct reader *reader, boxcar_str topic);
/* Whether a subscription has taken the topic from the main reader of the box. */
boxcar_status sqlite_reader_takes(struct sqlite_store *store, boxcar_box box, boxcar_str topic,
                                  bool *ret_takes, boxcar_error *err);

/* A JSON array of patterns, copied into the arena; none if it is damaged. */
boxcar_status sqlite_patterns_parse(boxcar_str json, struct arena *arena, boxcar_str **ret_patterns,
                                    size_t *ret_count, boxcar_error *err);

/* ---- what the main reader passes over (passed.c) ---- */
boxcar_status sqlite_pass(struct sqlite_store *store, int64_t work_id, boxcar_error *err);

#endif
