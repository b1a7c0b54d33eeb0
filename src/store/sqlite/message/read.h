/* Rows become messages; which messages a reference or a pattern of topics names. */
#ifndef BOXCAR_STORE_SQLITE_MESSAGE_READ_H
#define BOXCAR_STORE_SQLITE_MESSAGE_READ_H

#include "store/sqlite/state.h"

boxcar_status sqlite_read_message(struct query *query, struct arena *arena, boxcar_message *message,
                                  boxcar_error *err);
/* What is done of a message: what was recorded, and what the store knows by itself. */
int sqlite_stages_of(const boxcar_message *message, int64_t recorded);
boxcar_status sqlite_read_found(struct query *query, bool payload, struct arena *arena,
                                boxcar_message *message, boxcar_error *err);
/* Reads the messages with these work ids, in this order; those that are not there are left out. */
boxcar_status sqlite_read_messages(struct sqlite_store *store, const int64_t *ids, size_t count,
                                   bool payloads, struct arena *arena, boxcar_message **ret_items,
                                   size_t *ret_count, boxcar_error *err);
/* The same as a list, without payloads. */
boxcar_status sqlite_read_list(struct sqlite_store *store, const int64_t *ids, size_t count,
                               struct message_rows *list, boxcar_error *err);
boxcar_status sqlite_ref_resolve(struct sqlite_store *store, boxcar_box box, boxcar_message_ref ref,
                                 int64_t *ret_work_id, bool *ret_found, boxcar_error *err);

/* The bytes between which exactly the topics of a pattern lie; absent = every topic. The
 * texts live in the scratch arena. */
struct topic_range {
    boxcar_str low, high;
};
boxcar_status sqlite_topic_range(struct sqlite_store *store, boxcar_str pattern,
                                 struct topic_range *ret_range, boxcar_error *err);
/* Runs a statement that yields work ids; they live in the scratch arena. */
boxcar_status sqlite_collect_ids(struct sqlite_store *store, struct query *query, int64_t **ret_ids,
                                 size_t *ret_count, boxcar_error *err);

#endif
