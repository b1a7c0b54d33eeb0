#include "event.h"

#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "limits.h"

/* Topics, streams and types obey the same rule. */
_Static_assert(BOXCAR_EVENT_TYPE_MAX == BOXCAR_TOPIC_MAX && BOXCAR_STREAM_MAX == BOXCAR_TOPIC_MAX,
               "they are checked alike");

boxcar_status limits_check_event_stream(boxcar_str stream, boxcar_error *err) {
    boxcar_status status = limits_check_topic(stream, "stream", err);

    return status == BOXCAR_OK ? limits_check_not_nil(stream, "stream", err) : status;
}

static boxcar_status check_texts(const boxcar_new_event *event, boxcar_error *err) {
    boxcar_status status = limits_check_topic(event->type, "type", err);

    if (status == BOXCAR_OK && str_is_absent(event->payload))
        status = error_invalid(err, "payload", "payload is absent: give text, empty if there is none");
    if (status == BOXCAR_OK)
        status = limits_check_text(event->payload, "payload", SIZE_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(event->correlation_id, "correlation_id", BOXCAR_CORRELATION_ID_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(event->causation_id, "causation_id", BOXCAR_CAUSATION_ID_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_headers(event->headers, "headers", err);
    if (status == BOXCAR_OK)
        status = limits_check_text(event->topic, "topic", BOXCAR_TOPIC_MAX, err);
    return status;
}

boxcar_status limits_check_new_events(const boxcar_new_event *events, size_t count, boxcar_error *err) {
    char where[40] = "";

    if (!events)
        return error_invalid(err, "events", "events is NULL: give `count` of them");
    if (count < 1 || count > BOXCAR_EVENT_COUNT_MAX)
        return error_invalid(err, "count", "count is out of range: give 1 to %d events",
                             BOXCAR_EVENT_COUNT_MAX);
    for (size_t i = 0; i < count; i++) {
        boxcar_status status = check_texts(&events[i], err);

        if (status == BOXCAR_OK)
            continue;
        if (count > 1)
            snprintf(where, sizeof(where), "events[%zu].", i);
        return error_locate(status, where, err);
    }
    return BOXCAR_OK;
}

boxcar_status limits_check_expected_version(int64_t version, boxcar_error *err) {
    if (version >= BOXCAR_ANY_VERSION)
        return BOXCAR_OK;
    return error_invalid(err, "expected_version",
                         "expected_version is negative: give the version the stream must have, 0 for a new "
                         "one, or BOXCAR_ANY_VERSION");
}

static boxcar_status check_not_negative(int64_t number, const char *argument, boxcar_error *err) {
    return number >= 0 ? BOXCAR_OK : error_invalid(err, argument, "%s is negative: give 0 or more", argument);
}

boxcar_status limits_check_from_version(int64_t version, boxcar_error *err) {
    return check_not_negative(version, "from_version", err);
}

boxcar_status limits_check_event_filter(const boxcar_event_filter *filter, boxcar_error *err) {
    boxcar_status status = check_not_negative(filter->after, "after", err);
    char argument[40];

    if (status == BOXCAR_OK)
        status = limits_check_limit(filter->limit, err);
    if (status == BOXCAR_OK && filter->type_count > 0 && !filter->types)
        return error_invalid(err, "types", "types is NULL: give type_count patterns, or a count of 0");
    if (status == BOXCAR_OK && filter->type_count > LIMITS_COUNT_MAX)
        return error_invalid(err, "type_count", "type_count is too large: give at most %zu",
                             LIMITS_COUNT_MAX);
    for (size_t i = 0; i < filter->type_count && status == BOXCAR_OK; i++) {
        snprintf(argument, sizeof(argument), "types[%zu]", i);
        status = limits_check_topic_pattern(filter->types[i], argument, err);
    }
    if (status == BOXCAR_OK && (!str_is_absent(filter->stream) || filter->stream.len > 0))
        status = limits_check_topic_pattern(filter->stream, "stream", err);
    return status;
}
