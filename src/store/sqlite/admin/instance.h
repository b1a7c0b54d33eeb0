/* Instances of workers: that they live, and whether work is left for them. */
#ifndef BOXCAR_STORE_SQLITE_ADMIN_INSTANCE_H
#define BOXCAR_STORE_SQLITE_ADMIN_INSTANCE_H

#include "store/sqlite/state.h"

boxcar_status sqlite_instances(struct boxcar_store *store, struct instance_rows **ret_list,
                               boxcar_error *err);
/* A heartbeat, and a farewell. */
boxcar_status sqlite_instance_write(struct sqlite_store *store, const struct instance *instance,
                                    boxcar_error *err);
boxcar_status sqlite_instance_delete(struct sqlite_store *store, boxcar_owner owner, boxcar_error *err);
/* A call names the owner: if it is registered, that is noted in both boxes, at these intervals. */
#define SQLITE_SIGN_US (INT64_C(500) * 1000)
/* The transaction writes anyway; a claim that found nothing. */
enum sign_kind { SIGN_WITH_WORK, SIGN_IN_VAIN };
boxcar_status sqlite_instance_sign(struct sqlite_store *store, boxcar_owner owner, enum sign_kind kind,
                                   boxcar_error *err);
/* Removes one of those that were silent for this long (0 = the setting), with at most `limit` of its leases:
 * as if they had expired. *ret_more: there may be others. */
boxcar_status sqlite_instance_remove_silent(struct sqlite_store *store, int64_t threshold_ms, int limit,
                                            int64_t *ret_released, bool *ret_more, boxcar_error *err);
boxcar_status sqlite_is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                                size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms,
                                bool *ret_drained, boxcar_error *err);

#endif
