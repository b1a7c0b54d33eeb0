/* Instances of workers: that they live, and whether work is left for them. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_INSTANCE_H
#define BOXCAR_STORE_POSTGRES_ADMIN_INSTANCE_H

#include "store/postgres/state.h"
#include "store/postgres/statement/params.h"

void pg_params_for_instance(struct pg_params *params, const struct instance *instance);
boxcar_status pg_instances(struct boxcar_store *store, struct instance_rows **ret_list, boxcar_error *err);
boxcar_status pg_is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                            size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms, bool *ret_drained,
                            boxcar_error *err);

#endif
