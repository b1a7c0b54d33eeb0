/* What listings and choices of messages look at. */
#include "limits.h"

#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"

boxcar_status limits_check_ref(boxcar_message_ref ref, const char *argument, boxcar_error *err) {
    bool has_message_id = !boxcar_uuid_is_none(ref.message_id.uuid);

    if (ref.work_id.value < 0)
        return error_invalid(err, argument, "work_id is negative: work ids begin at 1");
    if (has_message_id == (ref.work_id.value != 0))
        return error_invalid(err, argument, "%s: give either a work id or a message id", argument);
    return BOXCAR_OK;
}

boxcar_status limits_check_limit(int64_t limit, boxcar_error *err) {
    return limits_check_range(limit, "limit", 1, BOXCAR_LIST_LIMIT_MAX, err);
}

boxcar_status limits_check_page(int64_t limit, boxcar_work_id after, boxcar_error *err) {
    TRY(limits_check_limit(limit, err));
    return limits_check_range(after.value, "after", 0, INT64_MAX, err);
}

static boxcar_status check_topic_condition(boxcar_str topic, boxcar_error *err) {
    return str_is_absent(topic) && topic.len == 0 ? BOXCAR_OK
                                                  : limits_check_topic_pattern(topic, "topic", err);
}

boxcar_status limits_check_list(const boxcar_message_filter *options, boxcar_error *err) {
    TRY(limits_check_reader(options->box, "box", err));
    if (options->by_status)
        TRY(limits_check_range(options->status, "status", BOXCAR_READY, BOXCAR_FAILED, err));
    TRY(limits_check_range(options->readiness, "readiness", BOXCAR_READINESS_ANY, BOXCAR_WAITING, err));
    if (options->readiness != BOXCAR_READINESS_ANY &&
        (!options->by_status || options->status != BOXCAR_READY))
        return error_invalid(err, "readiness",
                             "readiness is given without the status ready: set by_status and status");
    TRY(check_topic_condition(options->topic, err));
    return limits_check_page(options->limit, options->after, err);
}

boxcar_status limits_check_dead_filter(const boxcar_dead_filter *filter, boxcar_error *err) {
    TRY(limits_check_reader(filter->box, "box", err));
    TRY(check_topic_condition(filter->topic, err));
    TRY(limits_check_range(filter->reason, "reason", BOXCAR_REASON_NONE, BOXCAR_REASON_CANCELLED, err));
    TRY(limits_check_time(filter->before, "before", err));
    TRY(limits_check_array(filter->refs, filter->ref_count, "refs", "ref_count",
                           "ref_count of them, or a count of 0", err));
    for (size_t i = 0; i < filter->ref_count; i++) {
        char argument[40];
        snprintf(argument, sizeof(argument), "refs[%zu]", i);
        TRY(limits_check_ref(filter->refs[i], argument, err));
    }
    return BOXCAR_OK;
}
