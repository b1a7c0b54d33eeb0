/* Joins and waits. */
#include "limits.h"

#include "base/error.h"
#include "base/utf8.h"

boxcar_status limits_check_join_id(boxcar_join_id join_id, const char *argument, boxcar_error *err) {
    if (boxcar_uuid_is_none(join_id.uuid))
        return error_invalid(err, argument, "%s is the nil UUID: give the id of a join", argument);
    return BOXCAR_OK;
}

boxcar_status limits_check_new_join(const boxcar_new_join *join, boxcar_error *err) {
    TRY(limits_check_range(join->expected_steps, "expected_steps", 1, BOXCAR_EXPECTED_STEPS_MAX, err));
    TRY(limits_check_text(join->grouping_key, "grouping_key", BOXCAR_GROUPING_KEY_MAX, err));
    TRY(limits_check_text(join->metadata, "metadata", SIZE_MAX, err));
    TRY(limits_check_range(join->deadline_ms, "deadline_ms", 0, BOXCAR_DELAY_MS_MAX, err));
    if (join->deadline != BOXCAR_TIME_NONE && join->deadline_ms != 0)
        return error_invalid(err, "deadline_ms", "deadline_ms and deadline are both given: give one of them");
    return limits_check_time(join->deadline, "deadline", err);
}

boxcar_status limits_check_new_wait(const boxcar_new_wait *wait, boxcar_error *err) {
    TRY(limits_check_join_id(wait->join_id, "join_id", err));
    TRY(limits_check_topic(wait->on_complete_topic, "on_complete_topic", err));
    if (str_is_absent(wait->on_complete_payload))
        return error_invalid(err, "on_complete_payload",
                             "on_complete_payload is missing: give a text, empty if there is nothing to say");
    TRY(limits_check_text(wait->on_complete_payload, "on_complete_payload", SIZE_MAX, err));
    /* Without a topic nothing is enqueued on failure, whatever the payload. An empty one is a mistake. */
    if (wait->on_fail_topic.data || wait->on_fail_topic.len > 0)
        TRY(limits_check_topic(wait->on_fail_topic, "on_fail_topic", err));
    TRY(limits_check_text(wait->on_fail_payload, "on_fail_payload", SIZE_MAX, err));
    TRY(limits_check_text(wait->correlation_id, "correlation_id", BOXCAR_CORRELATION_ID_MAX, err));
    return limits_check_text(wait->causation_id, "causation_id", BOXCAR_CAUSATION_ID_MAX, err);
}

boxcar_status limits_check_join_filter(const boxcar_join_filter *filter, boxcar_error *err) {
    /* No join has an empty key. So this would find nothing, although its author means all joins. */
    if (!str_is_absent(filter->grouping_key) && str_is_empty(filter->grouping_key))
        return error_invalid(err, "grouping_key", "grouping_key is empty: give 1 to %d characters, or none",
                             BOXCAR_GROUPING_KEY_MAX);
    TRY(limits_check_text(filter->grouping_key, "grouping_key", BOXCAR_GROUPING_KEY_MAX, err));
    if (filter->by_status)
        TRY(limits_check_range(filter->status, "status", BOXCAR_JOIN_PENDING, BOXCAR_JOIN_CANCELLED, err));
    TRY(limits_check_time(filter->before, "before", err));
    return limits_check_limit(filter->limit, err);
}

boxcar_status limits_check_join_outcome(boxcar_member_status outcome, boxcar_error *err) {
    return limits_check_range(outcome, "outcome", BOXCAR_MEMBER_COMPLETED, BOXCAR_MEMBER_FAILED, err);
}
