/* Texts, names and numbers that stand in many arguments. */
#include "limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/json.h"
#include "core/topic.h"

boxcar_status limits_check_range(int64_t value, const char *argument, int64_t min, int64_t max,
                                 boxcar_error *err) {
    if (value >= min && value <= max)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is out of range: give %" PRId64 " to %" PRId64, argument, min,
                         max);
}

boxcar_status limits_check_time(boxcar_time time, const char *argument, boxcar_error *err) {
    if (time == BOXCAR_TIME_NONE || (time >= 0 && time <= LIMITS_TIME_MAX))
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is out of range: give a time in the years 1970 to 9999",
                         argument);
}

boxcar_status limits_check_text(boxcar_str text, const char *argument, size_t max_characters,
                                boxcar_error *err) {
    if (str_is_absent(text) && text.len > 0)
        return error_invalid(err, argument, "%s has a length but no data: set both or neither", argument);
    if (!utf8_is_valid(text))
        return error_invalid(
            err, argument, "%s is not valid UTF-8: encode it, binary data for instance as base64", argument);
    if (str_has_nul(text))
        return error_invalid(err, argument, "%s contains a NUL byte: remove it", argument);
    if (text.len > max_characters && utf8_length(text) > max_characters)
        return error_invalid(err, argument, "%s is too long: give at most %zu characters", argument,
                             max_characters);
    return BOXCAR_OK;
}

boxcar_status limits_check_name(boxcar_str text, const char *argument, size_t max_characters,
                                boxcar_error *err) {
    if (str_is_empty(text))
        return error_invalid(err, argument, "%s is empty: give 1 to %zu characters", argument,
                             max_characters);
    return limits_check_text(text, argument, max_characters, err);
}

boxcar_status limits_check_control(boxcar_str text, const char *argument, boxcar_error *err) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];

        if (c < 0x20 || c == 0x7f)
            return error_invalid(err, argument, "%s has a control character: remove it", argument);
    }
    return BOXCAR_OK;
}

boxcar_status limits_check_payload(boxcar_str payload, boxcar_error *err) {
    if (str_is_absent(payload))
        return error_invalid(err, "payload", "payload is absent: give text, empty if there is none");
    return limits_check_text(payload, "payload", SIZE_MAX, err);
}

boxcar_status limits_check_topic(boxcar_str topic, const char *argument, boxcar_error *err) {
    return limits_check_name(topic, argument, BOXCAR_TOPIC_MAX, err);
}

/* A * in any other place would stand for itself: such a pattern matches next to nothing, and not what was
 * meant. */
static boxcar_status check_star(boxcar_str pattern, const char *argument, boxcar_error *err) {
    if (pattern.len < 2 || !memchr(pattern.data, '*', pattern.len - 1))
        return BOXCAR_OK;
    return error_invalid(
        err, argument, "%s has a * before its end, where it stands for itself: give a whole name, or PREFIX*",
        argument);
}

boxcar_status limits_check_topic_pattern(boxcar_str pattern, const char *argument, boxcar_error *err) {
    if (pattern.data)
        TRY(check_star(pattern, argument, err));
    if (!pattern.data || !topic_is_prefix_pattern(pattern))
        return limits_check_topic(pattern, argument, err);
    return limits_check_text((boxcar_str){pattern.data, pattern.len - 1}, argument, BOXCAR_TOPIC_MAX, err);
}

boxcar_status limits_check_array(const void *items, size_t count, const char *argument,
                                 const char *count_argument, const char *wanted, boxcar_error *err) {
    if (count > 0 && !items)
        return error_invalid(err, argument, "%s is NULL: give %s", argument, wanted);
    if (count > LIMITS_COUNT_MAX)
        return error_invalid(err, count_argument, "%s is too large: give at most %zu", count_argument,
                             LIMITS_COUNT_MAX);
    return BOXCAR_OK;
}

boxcar_status limits_check_topic_patterns(const boxcar_str *patterns, size_t count, const char *list,
                                          boxcar_error *err) {
    for (size_t i = 0; i < count; i++) {
        char argument[40];
        snprintf(argument, sizeof(argument), "%s[%zu]", list, i);
        TRY(limits_check_topic_pattern(patterns[i], argument, err));
    }
    return BOXCAR_OK;
}

boxcar_status limits_check_headers(boxcar_str headers, const char *argument, boxcar_error *err) {
    TRY(limits_check_text(headers, argument, SIZE_MAX, err));
    if (str_is_absent(headers))
        return BOXCAR_OK;
    bool no_memory;
    json_auto_t *object = json_read(headers, JSON_REJECT_DUPLICATES, &no_memory);
    if (no_memory)
        return error_no_memory(err);
    if (!object)
        return error_invalid(err, argument,
                             "%s is not a JSON object: give {\"name\": \"value\", ...}, each name once",
                             argument);
    if (!json_is_object(object))
        return error_invalid(err, argument, "%s is JSON but not an object: give {\"name\": \"value\", ...}",
                             argument);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        if (!json_is_string(value))
            return error_invalid(err, argument, "%s has a value that is not a string: put it in quotes",
                                 argument);
    }
    return BOXCAR_OK;
}

boxcar_status limits_check_metadata(boxcar_str metadata, const char *argument, boxcar_error *err) {
    TRY(limits_check_text(metadata, argument, SIZE_MAX, err));
    if (str_is_absent(metadata))
        return BOXCAR_OK;
    bool no_memory;
    json_auto_t *value = json_read(metadata, JSON_REJECT_DUPLICATES, &no_memory);
    if (no_memory)
        return error_no_memory(err);
    if (!json_is_object(value))
        return error_invalid(
            err, argument, "%s is not a JSON object: give {\"name\": value, ...}, each name once", argument);
    return BOXCAR_OK;
}

boxcar_status limits_check_not_nil(boxcar_str text, const char *argument, boxcar_error *err) {
    static const char NIL[] = "00000000-0000-0000-0000-000000000000";

    if (text.len != sizeof(NIL) - 1 || memcmp(text.data, NIL, sizeof(NIL) - 1) != 0)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is the nil UUID: give a real one", argument);
}

boxcar_status limits_check_size(size_t size, int64_t max, const char *argument, const char *setting,
                                boxcar_error *err) {
    if (size <= (size_t)max)
        return BOXCAR_OK;
    return error_invalid(err, argument,
                         "%s has %zu bytes, more than the %" PRId64 " that the setting %s allows", argument,
                         size, max, setting);
}

boxcar_status limits_check_sizes(size_t payload, int64_t payload_max, size_t headers, int64_t headers_max,
                                 boxcar_error *err) {
    TRY(limits_check_size(payload, payload_max, "payload", "payload_bytes_max", err));
    return limits_check_size(headers, headers_max, "headers", "headers_bytes_max", err);
}

boxcar_status limits_check_owner(boxcar_owner owner, boxcar_error *err) {
    if (boxcar_uuid_is_none(owner.uuid))
        return error_invalid(
            err, "owner",
            "owner is the nil UUID: give the worker's own, see (boxcar_owner){boxcar_uuid_new()}");
    return BOXCAR_OK;
}

boxcar_status limits_check_box(boxcar_box box, boxcar_error *err) {
    if (box != BOXCAR_OUTBOX && box != BOXCAR_INBOX)
        return error_invalid(err, "box", "box is unknown: give BOXCAR_OUTBOX or BOXCAR_INBOX");
    return BOXCAR_OK;
}

boxcar_status limits_check_reader(boxcar_box reader, const char *argument, boxcar_error *err) {
    if (reader >= 0 && reader <= BOXCAR_READER_MAX)
        return BOXCAR_OK;
    return error_invalid(err, argument,
                         "%s is unknown: give BOXCAR_OUTBOX, BOXCAR_INBOX or the number of a subscription",
                         argument);
}

boxcar_status limits_check_message_id(boxcar_message_id message_id, const char *argument, boxcar_error *err) {
    if (boxcar_uuid_is_none(message_id.uuid))
        return error_invalid(err, argument, "%s is the nil UUID: give the id of a message", argument);
    return BOXCAR_OK;
}

boxcar_status limits_check_message_ids(const boxcar_message_id *message_ids, size_t count,
                                       boxcar_error *err) {
    TRY(limits_check_array(message_ids, count, "message_ids", "count", "`count` of them", err));
    for (size_t i = 0; i < count; i++) {
        char argument[40];
        snprintf(argument, sizeof(argument), "message_ids[%zu]", i);
        TRY(limits_check_message_id(message_ids[i], argument, err));
    }
    return BOXCAR_OK;
}
