/* Events. */
#include "limits.h"

#include "base/error.h"
#include "base/utf8.h"

_Static_assert(BOXCAR_EVENT_TYPE_MAX == BOXCAR_TOPIC_MAX, "types are checked as topics");

static boxcar_status check_event(const boxcar_new_event *event, boxcar_error *err) {
    TRY(limits_check_topic(event->type, "type", err));
    TRY(limits_check_payload(event->payload, err));
    TRY(limits_check_text(event->correlation_id, "correlation_id", BOXCAR_CORRELATION_ID_MAX, err));
    TRY(limits_check_text(event->causation_id, "causation_id", BOXCAR_CAUSATION_ID_MAX, err));
    TRY(limits_check_headers(event->headers, "headers", err));
    return limits_check_text(event->topic, "topic", BOXCAR_TOPIC_MAX, err);
}

boxcar_status limits_check_new_events(const boxcar_new_event *events, size_t count, boxcar_error *err) {
    if (!events)
        return error_invalid(err, "events", "events is NULL: give `count` of them");
    if (count < 1 || count > BOXCAR_EVENT_COUNT_MAX)
        return error_invalid(err, "count", "count is out of range: give 1 to %d events",
                             BOXCAR_EVENT_COUNT_MAX);
    if (count == 1)
        return check_event(&events[0], err);
    for (size_t i = 0; i < count; i++)
        TRY(error_locate_item(check_event(&events[i], err), "events", i, err));
    return BOXCAR_OK;
}

boxcar_status limits_check_event_stream(boxcar_str stream, boxcar_error *err) {
    TRY(limits_check_stream(stream, "stream", err));
    return limits_check_not_nil(stream, "stream", err);
}

boxcar_status limits_check_expected_version(int64_t version, boxcar_error *err) {
    if (version >= BOXCAR_ANY_VERSION)
        return BOXCAR_OK;
    return error_invalid(err, "expected_version",
                         "expected_version is negative: give the version the stream must have, 0 for a new "
                         "one, or BOXCAR_ANY_VERSION");
}

boxcar_status limits_check_not_negative(int64_t number, const char *argument, boxcar_error *err) {
    return number >= 0 ? BOXCAR_OK : error_invalid(err, argument, "%s is negative: give 0 or more", argument);
}

boxcar_status limits_check_event_filter(const boxcar_event_filter *filter, boxcar_error *err) {
    TRY(limits_check_not_negative(filter->after, "after", err));
    TRY(limits_check_limit(filter->limit, err));
    TRY(limits_check_array(filter->types, filter->type_count, "types", "type_count",
                           "type_count patterns, or a count of 0", err));
    TRY(limits_check_topic_patterns(filter->types, filter->type_count, "types", err));
    if (!str_is_absent(filter->stream) || filter->stream.len > 0)
        TRY(limits_check_topic_pattern(filter->stream, "stream", err));
    return BOXCAR_OK;
}
