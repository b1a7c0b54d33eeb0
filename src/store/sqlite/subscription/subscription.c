/* Making, changing and listing subscriptions. */
#include "subscription.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/utf8.h"

boxcar_status sqlite_subscription_change(struct boxcar_store *store, const struct subscription_change *change,
                                         boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err) {
    (void)store, (void)ret_reader, (void)ret_count;
    if (change->action != SUBSCRIPTION_ADD)
        return store_refuse_subscription(change->name, err);
    return error_set(err, BOXCAR_E_UNSUPPORTED, "this store has no subscriptions");
}

boxcar_status sqlite_subscription_read(struct boxcar_store *store, boxcar_str name,
                                       struct subscription_rows **ret_list, boxcar_error *err) {
    (void)store;
    if (!str_is_absent(name))
        return store_refuse_subscription(name, err);
    struct subscription_rows *list = calloc(1, sizeof(*list));
    if (!list)
        return error_no_memory(err);
    *ret_list = list;
    return BOXCAR_OK;
}
