/* Making subscriptions. */
#ifndef BOXCAR_STORE_SQLITE_SUBSCRIPTION_MAKE_H
#define BOXCAR_STORE_SQLITE_SUBSCRIPTION_MAKE_H

#include "store/sqlite/state.h"

/* A subscription that does not exist yet. */
struct new_reader {
    boxcar_new_subscription given;
    const boxcar_str *destinations; /* of a policy */
    size_t destination_count;       /* 0 = it is none of a policy */
    boxcar_str then_topic, else_topic;
};

/* BOXCAR_E_CONFLICT: a subscription or a policy has the name. */
boxcar_status sqlite_reader_check_name(struct sqlite_store *store, boxcar_str name, boxcar_error *err);
/* `only`: the topics can be taken from the main reader. BOXCAR_E_CONFLICT. */
boxcar_status sqlite_reader_check_taking(struct sqlite_store *store, boxcar_box box,
                                         const boxcar_str *patterns, size_t count, boxcar_error *err);
/* The same for what the main reader has not read yet, when the subscription is there. */
boxcar_status sqlite_reader_check_unread(struct sqlite_store *store, boxcar_box box, int64_t number,
                                         const boxcar_str *patterns, size_t count, boxcar_error *err);
/* Makes it, after these checks. */
boxcar_status sqlite_reader_make(struct sqlite_store *store, const struct new_reader *reader,
                                 int64_t *ret_number, boxcar_error *err);

/* A JSON array, in the scratch arena. */
boxcar_status sqlite_texts_format(struct sqlite_store *store, const boxcar_str *texts, size_t count,
                                  boxcar_str *ret_json, boxcar_error *err);

#endif
