/* Subscriptions: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_SUBSCRIPTION_SUBSCRIPTION_H
#define BOXCAR_STORE_POSTGRES_SUBSCRIPTION_SUBSCRIPTION_H

#include "store/store.h"

boxcar_status pg_subscription_change(struct boxcar_store *store, const struct subscription_change *change,
                                     boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err);
boxcar_status pg_subscription_read(struct boxcar_store *store, const struct subscription_choice *choice,
                                   struct subscription_rows **ret_list, boxcar_error *err);

#endif
