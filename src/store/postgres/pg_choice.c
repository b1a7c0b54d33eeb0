#include "pg_choice.h"

#include "core/topic.h"

void pg_params_ref(struct pg_params *params, boxcar_message_ref ref) {
    if (ref.work_id.value > 0) {
        pg_params_int8(params, ref.work_id.value);
        pg_params_null(params, PG_UUID);
    } else {
        pg_params_null(params, PG_INT8);
        pg_params_uuid(params, ref.message_id.bytes);
    }
}

void pg_params_topic(struct pg_params *params, boxcar_str topic) {
    bool prefix = topic.data && topic_is_prefix_pattern(topic);

    if (prefix)
        topic.len--;
    pg_params_text(params, topic);
    pg_params_bool(params, prefix);
}

void pg_params_after(struct pg_params *params, boxcar_work_id after) {
    if (after.value > 0)
        pg_params_int8(params, after.value);
    else
        pg_params_null(params, PG_INT8);
}
