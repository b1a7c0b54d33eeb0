/* Schedules and their planners. */
#include "limits.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

#define SLICES_MAX 10000 /* that one plan enqueues */

boxcar_status limits_check_schedule_key(boxcar_str topic, boxcar_str work_key, boxcar_error *err) {
    const size_t frame =
        sizeof(BOXCAR_SLICE_TOPIC_PREFIX); /* with the colon between them instead of the NUL */

    TRY(limits_check_topic(topic, "topic", err));
    TRY(limits_check_control(topic, "topic", err));
    if (memchr(topic.data, ':', topic.len))
        return error_invalid(err, "topic",
                             "topic has a colon, which ends it in %s{topic}:{work key}: use "
                             "another character",
                             BOXCAR_SLICE_TOPIC_PREFIX);
    TRY(limits_check_topic(work_key, "work_key", err));
    TRY(limits_check_control(work_key, "work_key", err));
    if (frame + utf8_length(topic) + utf8_length(work_key) > BOXCAR_TOPIC_MAX)
        return error_invalid(err, "work_key",
                             "work_key is too long: %s{topic}:{work key} has at most %d characters",
                             BOXCAR_SLICE_TOPIC_PREFIX, BOXCAR_TOPIC_MAX);
    return BOXCAR_OK;
}

boxcar_status limits_check_new_schedule(const boxcar_new_schedule *schedule, boxcar_error *err) {
    TRY(limits_check_schedule_key(schedule->topic, schedule->work_key, err));
    TRY(limits_check_range(schedule->every_ms, "every_ms", BOXCAR_EVERY_MS_MIN, BOXCAR_EVERY_MS_MAX, err));
    TRY(limits_check_range(schedule->jitter_ms, "jitter_ms", 0, schedule->every_ms, err));
    TRY(limits_check_range(schedule->shards, "shards", 1, BOXCAR_SHARDS_MAX, err));
    return limits_check_continuation(schedule->then_topic, schedule->else_topic, err);
}

boxcar_status limits_check_slice(int shard, int64_t slice, boxcar_error *err) {
    TRY(limits_check_range(shard, "shard", 0, BOXCAR_SHARDS_MAX - 1, err));
    return limits_check_range(slice, "slice", 1, INT64_MAX, err);
}

boxcar_status limits_check_plan(const boxcar_plan *plan, boxcar_error *err) {
    TRY(limits_check_owner(plan->owner, err));
    TRY(limits_check_lease_ms(plan->lease_ms, err));
    TRY(limits_check_not_negative(plan->fence, "fence", err));
    return limits_check_range(plan->most, "most", 1, SLICES_MAX, err);
}
