/* Streams, their rules and their listing. */
#include "limits.h"

#include "base/error.h"
#include "core/topic.h"

boxcar_status limits_check_stream(boxcar_str stream, const char *argument, boxcar_error *err) {
    return limits_check_name(stream, argument, BOXCAR_STREAM_MAX, err);
}

boxcar_status limits_check_stream_pattern(boxcar_str pattern, boxcar_error *err) {
    if (!pattern.data || !topic_is_prefix_pattern(pattern))
        return limits_check_stream(pattern, "pattern", err);
    return limits_check_text((boxcar_str){pattern.data, pattern.len - 1}, "pattern", BOXCAR_STREAM_MAX, err);
}

boxcar_status limits_check_stream_policy(boxcar_stream_policy policy, boxcar_error *err) {
    return limits_check_range(policy, "policy", BOXCAR_STREAM_DEFAULT, BOXCAR_STREAM_HALT, err);
}

boxcar_status limits_check_stream_filter(const boxcar_stream_filter *filter, boxcar_error *err) {
    TRY(limits_check_reader(filter->box, "box", err));
    TRY(limits_check_text(filter->prefix, "prefix", BOXCAR_STREAM_MAX, err));
    TRY(limits_check_text(filter->after, "after", BOXCAR_STREAM_MAX, err));
    return limits_check_limit(filter->limit, err);
}
