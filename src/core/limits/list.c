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
    boxcar_status status = limits_check_limit(limit, err);

    return status == BOXCAR_OK ? limits_check_range(after.value, "after", 0, INT64_MAX, err) : status;
}

static boxcar_status check_topic_condition(boxcar_str topic, boxcar_error *err) {
    return str_is_absent(topic) && topic.len == 0 ? BOXCAR_OK
                                                  : limits_check_topic_pattern(topic, "topic", err);
}

boxcar_status limits_check_list(const boxcar_message_filter *options, boxcar_error *err) {
    boxcar_status status = limits_check_box(options->box, err);

    if (status == BOXCAR_OK && options->by_status)
        status = limits_check_range(options->status, "status", BOXCAR_READY, BOXCAR_FAILED, err);
    if (status == BOXCAR_OK)
        status =
            limits_check_range(options->readiness, "readiness", BOXCAR_READINESS_ANY, BOXCAR_WAITING, err);
    if (status == BOXCAR_OK && options->readiness != BOXCAR_READINESS_ANY &&
        (!options->by_status || options->status != BOXCAR_READY))
        return error_invalid(err, "readiness",
                             "readiness is given without the status ready: set by_status and status");
    if (status == BOXCAR_OK)
        status = check_topic_condition(options->topic, err);
    return status == BOXCAR_OK ? limits_check_page(options->limit, options->after, err) : status;
}

static boxcar_status check_refs(const boxcar_message_ref *refs, size_t count, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;
    char argument[40];

    if (count > 0 && !refs)
        return error_invalid(err, "refs", "refs is NULL: give ref_count of them, or a count of 0");
    if (count > LIMITS_COUNT_MAX)
        return error_invalid(err, "ref_count", "ref_count is too large: give at most %zu", LIMITS_COUNT_MAX);
    for (size_t i = 0; i < count && status == BOXCAR_OK; i++) {
        snprintf(argument, sizeof(argument), "refs[%zu]", i);
        status = limits_check_ref(refs[i], argument, err);
    }
    return status;
}

boxcar_status limits_check_dead_filter(const boxcar_dead_filter *filter, boxcar_error *err) {
    boxcar_status status = limits_check_box(filter->box, err);

    if (status == BOXCAR_OK)
        status = check_topic_condition(filter->topic, err);
    if (status == BOXCAR_OK)
        status =
            limits_check_range(filter->reason, "reason", BOXCAR_REASON_NONE, BOXCAR_REASON_CANCELLED, err);
    if (status == BOXCAR_OK)
        status = limits_check_time(filter->before, "before", err);
    return status == BOXCAR_OK ? check_refs(filter->refs, filter->ref_count, err) : status;
}
