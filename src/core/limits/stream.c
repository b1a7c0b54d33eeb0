/* Streams, their rules and their listing. */
#include "limits.h"

#include "base/error.h"
#include "base/utf8.h"
#include "core/topic.h"

boxcar_status limits_check_stream(boxcar_str stream, const char *argument, boxcar_error *err) {
    if (str_is_empty(stream))
        return error_invalid(err, argument, "%s is empty: give 1 to %d characters", argument,
                             BOXCAR_STREAM_MAX);
    return limits_check_text(stream, argument, BOXCAR_STREAM_MAX, err);
}

boxcar_status limits_check_stream_pattern(boxcar_str pattern, boxcar_error *err) {
    boxcar_str prefix = {pattern.data, pattern.len - 1};

    if (!pattern.data || !topic_is_prefix_pattern(pattern))
        return limits_check_stream(pattern, "pattern", err);
    return limits_check_text(prefix, "pattern", BOXCAR_STREAM_MAX, err);
}

boxcar_status limits_check_stream_policy(boxcar_stream_policy policy, boxcar_error *err) {
    return limits_check_range(policy, "policy", BOXCAR_STREAM_DEFAULT, BOXCAR_STREAM_HALT, err);
}

boxcar_status limits_check_stream_filter(const boxcar_stream_filter *filter, boxcar_error *err) {
    boxcar_status status = limits_check_box(filter->box, err);

    if (status == BOXCAR_OK)
        status = limits_check_text(filter->prefix, "prefix", BOXCAR_STREAM_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(filter->after, "after", BOXCAR_STREAM_MAX, err);
    return status == BOXCAR_OK ? limits_check_limit(filter->limit, err) : status;
}
