/* Streams and their rules: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_STREAM_STREAM_H
#define BOXCAR_STORE_POSTGRES_STREAM_STREAM_H

#include "store/postgres/state.h"

boxcar_status pg_stream_page(struct boxcar_store *store, const boxcar_stream_filter *filter,
                             boxcar_str stream, struct stream_rows **ret_list, boxcar_error *err);
boxcar_status pg_stream_change(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                               enum stream_action action, boxcar_work_id *ret_work_id, boxcar_error *err);
boxcar_status pg_stream_rule_write(struct boxcar_store *store, boxcar_str pattern,
                                   boxcar_stream_policy policy, boxcar_error *err);
boxcar_status pg_stream_rules(struct boxcar_store *store, struct stream_rule_rows **ret_list,
                              boxcar_error *err);

#endif
