#include "limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "json.h"
#include "topic.h"

#define SCHEMA_NAME_MAX 63

static boxcar_status check_range(int64_t value, const char *argument, int64_t min, int64_t max,
                                 boxcar_error *err) {
    if (value >= min && value <= max)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is out of range: give %" PRId64 " to %" PRId64, argument, min,
                         max);
}

boxcar_status limits_check_text(boxcar_str text, const char *argument, size_t max_characters,
                                boxcar_error *err) {
    if (str_is_absent(text) && text.len > 0)
        return error_invalid(err, argument, "%s has a length but no data: set both or neither", argument);
    if (!utf8_is_valid(text))
        return error_invalid(err, argument, "%s is not valid UTF-8: encode it, binary data for instance as base64",
                             argument);
    if (str_has_nul(text))
        return error_invalid(err, argument, "%s contains a NUL byte: remove it", argument);
    if (text.len > max_characters && utf8_length(text) > max_characters)
        return error_invalid(err, argument, "%s is too long: give at most %zu characters", argument,
                             max_characters);
    return BOXCAR_OK;
}

boxcar_status limits_check_topic(boxcar_str topic, const char *argument, boxcar_error *err) {
    if (str_is_empty(topic))
        return error_invalid(err, argument, "%s is empty: give 1 to %d characters", argument,
                             BOXCAR_TOPIC_MAX);
    return limits_check_text(topic, argument, BOXCAR_TOPIC_MAX, err);
}

/* A * in any other place would stand for itself: such a pattern matches next to nothing, and not what was
 * meant. */
static boxcar_status check_star(boxcar_str pattern, const char *argument, boxcar_error *err) {
    if (pattern.len < 2 || !memchr(pattern.data, '*', pattern.len - 1))
        return BOXCAR_OK;
    return error_invalid(err, argument,
                         "%s has a * before its end, where it stands for itself: give a whole name, or PREFIX*",
                         argument);
}

boxcar_status limits_check_topic_pattern(boxcar_str pattern, const char *argument, boxcar_error *err) {
    boxcar_str prefix = {pattern.data, pattern.len - 1};

    if (pattern.data && check_star(pattern, argument, err) != BOXCAR_OK)
        return BOXCAR_E_INVALID;
    if (!pattern.data || !topic_is_prefix_pattern(pattern))
        return limits_check_topic(pattern, argument, err);
    return limits_check_text(prefix, argument, BOXCAR_TOPIC_MAX, err);
}

static boxcar_status check_header_values(json_t *object, const char *argument, boxcar_error *err) {
    const char *key;
    json_t *value;

    if (!json_is_object(object))
        return error_invalid(err, argument, "%s is JSON but not an object: give {\"name\": \"value\", ...}",
                             argument);
    json_object_foreach (object, key, value) {
        if (!json_is_string(value))
            return error_invalid(err, argument, "%s has a value that is not a string: put it in quotes",
                                 argument);
    }
    return BOXCAR_OK;
}

boxcar_status limits_check_headers(boxcar_str headers, const char *argument, boxcar_error *err) {
    boxcar_status status = limits_check_text(headers, argument, SIZE_MAX, err);
    bool no_memory;
    json_t *object;

    if (status != BOXCAR_OK || str_is_absent(headers))
        return status;
    object = json_read(headers, JSON_REJECT_DUPLICATES, &no_memory);
    if (no_memory)
        return error_no_memory(err);
    if (!object)
        return error_invalid(err, argument, "%s is not a JSON object: give {\"name\": \"value\", ...}, each name once", argument);
    status = check_header_values(object, argument, err);
    json_decref(object);
    return status;
}

boxcar_status limits_check_metadata(boxcar_str metadata, const char *argument, boxcar_error *err) {
    boxcar_status status = limits_check_text(metadata, argument, SIZE_MAX, err);
    bool no_memory;
    json_t *value;

    if (status != BOXCAR_OK || str_is_absent(metadata))
        return status;
    value = json_read(metadata, JSON_REJECT_DUPLICATES, &no_memory);
    if (no_memory)
        status = error_no_memory(err);
    else if (!json_is_object(value))
        status = error_invalid(err, argument, "%s is not a JSON object: give {\"name\": value, ...}, each name once", argument);
    json_decref(value);
    return status;
}

boxcar_status limits_check_not_nil(boxcar_str text, const char *argument, boxcar_error *err) {
    static const char NIL[] = "00000000-0000-0000-0000-000000000000";

    if (text.len != sizeof(NIL) - 1 || memcmp(text.data, NIL, sizeof(NIL) - 1) != 0)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is the nil UUID: give a real one", argument);
}

boxcar_status limits_check_size(size_t size, int64_t max, const char *argument, const char *setting, boxcar_error *err) {
    if (size <= (size_t)max)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s has %zu bytes, more than the %" PRId64 " that the setting %s allows", argument,
                         size, max, setting);
}

boxcar_status limits_check_sizes(size_t payload, int64_t payload_max, size_t headers, int64_t headers_max,
                                 boxcar_error *err) {
    boxcar_status status = limits_check_size(payload, payload_max, "payload", "payload_bytes_max", err);

    return status == BOXCAR_OK ? limits_check_size(headers, headers_max, "headers", "headers_bytes_max", err) : status;
}

static boxcar_status check_message_texts(const boxcar_new_message *message, boxcar_error *err) {
    boxcar_status status = limits_check_topic(message->topic, "topic", err);

    if (status == BOXCAR_OK && str_is_absent(message->payload))
        status = error_invalid(err, "payload", "payload is absent: give text, empty if there is none");
    if (status == BOXCAR_OK)
        status = limits_check_text(message->payload, "payload", SIZE_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(message->correlation_id, "correlation_id", BOXCAR_CORRELATION_ID_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(message->causation_id, "causation_id", BOXCAR_CAUSATION_ID_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(message->stream, "stream", BOXCAR_STREAM_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_not_nil(message->stream, "stream", err);
    if (status == BOXCAR_OK)
        status = limits_check_headers(message->headers, "headers", err);
    if (status == BOXCAR_OK)
        status = limits_check_metadata(message->metadata, "metadata", err);
    return status;
}

static boxcar_status check_event(const boxcar_new_message *message, boxcar_error *err) {
    bool has_type = !str_is_absent(message->event_type) || message->event_type.len > 0;

    if (message->is_event < BOXCAR_EVENT_BY_TYPE || message->is_event > BOXCAR_EVENT_NO)
        return error_invalid(err, "is_event", "is_event is unknown: start from BOXCAR_NEW_MESSAGE_INIT");
    if (message->is_event == BOXCAR_EVENT_YES && str_is_empty(message->stream))
        return error_invalid(err, "is_event", "is_event needs a stream: the event is stored as its next version");
    if (!has_type)
        return BOXCAR_OK;
    if (message->is_event == BOXCAR_EVENT_NO)
        return error_invalid(err, "event_type", "event_type is given, but is_event says that the message is no event");
    if (str_is_empty(message->stream))
        return error_invalid(err, "event_type", "event_type needs a stream: the event is stored as its next version");
    return limits_check_topic(message->event_type, "event_type", err);
}

static boxcar_status check_time(boxcar_time time, const char *argument, boxcar_error *err) {
    if (time == BOXCAR_TIME_NONE || (time >= 0 && time <= LIMITS_TIME_MAX))
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is out of range: give a time in the years 1970 to 9999", argument);
}

static boxcar_status check_due(const boxcar_new_message *message, boxcar_error *err) {
    boxcar_status status = check_range(message->delay_ms, "delay_ms", 0, BOXCAR_DELAY_MS_MAX, err);

    if (status == BOXCAR_OK && message->due_at != BOXCAR_TIME_NONE && message->delay_ms != 0)
        return error_invalid(err, "delay_ms", "delay_ms and due_at are both given: give one of them");
    return status == BOXCAR_OK ? check_time(message->due_at, "due_at", err) : status;
}

static boxcar_status check_outbox_identity(const boxcar_new_message *message, boxcar_error *err) {
    if (message->source.data || message->external_id.data || message->content_hash.data)
        return error_invalid(err, "source", "source, external_id and content_hash are for the inbox: leave them absent");
    if (str_is_absent(message->key) && message->key.len == 0) {
        if (message->unique)
            return error_invalid(err, "unique", "unique needs a key: give one, or leave unique false");
        return BOXCAR_OK;
    }
    if (!boxcar_uuid_is_none(message->message_id.uuid))
        return error_invalid(err, "key", "key and message_id are both given: give one of them");
    if (str_is_empty(message->key))
        return error_invalid(err, "key", "key is empty: give 1 to %d characters, or none", BOXCAR_KEY_MAX);
    return limits_check_text(message->key, "key", BOXCAR_KEY_MAX, err);
}

/* Its key is its source and its id there; it is attached to a join by the id that this key stands for. */
static boxcar_status check_inbox_identity(const boxcar_new_message *message, boxcar_error *err) {
    if (message->key.data || message->unique || !boxcar_uuid_is_none(message->message_id.uuid) ||
        !boxcar_uuid_is_none(message->join_id.uuid))
        return error_invalid(err, "key", "key, unique, message_id and join_id are for the outbox: leave them out");
    return limits_check_inbox_key((boxcar_inbox_key){message->source, message->external_id}, message->content_hash,
                                  err);
}

boxcar_status limits_check_new_message(boxcar_box box, const boxcar_new_message *message, const char *where,
                                       boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (box == BOXCAR_INBOX)
        status = check_inbox_identity(message, err);
    if (status == BOXCAR_OK)
        status = check_message_texts(message, err);
    if (status == BOXCAR_OK)
        status = check_due(message, err);
    if (status == BOXCAR_OK)
        status = check_range(message->ttl_ms, "ttl_ms", 0, BOXCAR_DELAY_MS_MAX, err);
    if (status == BOXCAR_OK && box == BOXCAR_OUTBOX)
        status = check_outbox_identity(message, err);
    if (status == BOXCAR_OK)
        status = check_event(message, err);
    if (status == BOXCAR_OK)
        status = check_range(message->max_attempts, "max_attempts", 0, BOXCAR_MAX_ATTEMPTS_MAX, err);
    return error_locate(status, where, err);
}

boxcar_status limits_check_new_messages(boxcar_box box, boxcar_new_message_list messages, size_t first,
                                        boxcar_error *err) {
    char where[40];

    if (messages.count > 0 && !messages.items)
        return error_invalid(err, "messages", "messages is NULL: give `count` of them");
    if (messages.count > LIMITS_COUNT_MAX - first)
        return error_invalid(err, "count", "count is too large: give at most %zu", LIMITS_COUNT_MAX);
    for (size_t i = 0; i < messages.count; i++) {
        boxcar_status status = limits_check_new_message(box, &messages.items[i], "", err);
        if (status == BOXCAR_OK)
            continue;
        snprintf(where, sizeof(where), "messages[%zu].", first + i);
        return error_locate(status, where, err);
    }
    return BOXCAR_OK;
}

boxcar_status limits_read_new_messages(struct arena *arena, boxcar_box box, boxcar_new_message_list *messages,
                                       size_t first, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (messages->count <= LIMITS_COUNT_MAX)
        status = OPTIONS_READ_ARRAY(arena, BOXCAR_NEW_MESSAGE_INIT, &messages->items, messages->count, "messages", err);
    if (status != BOXCAR_OK)
        return status;
    return limits_check_new_messages(box, *messages, first, err);
}

boxcar_status limits_check_owner(boxcar_owner owner, boxcar_error *err) {
    if (boxcar_uuid_is_none(owner.uuid))
        return error_invalid(err, "owner",
                             "owner is the nil UUID: give the worker's own, see (boxcar_owner){boxcar_uuid_new()}");
    return BOXCAR_OK;
}

boxcar_status limits_check_box(boxcar_box box, boxcar_error *err) {
    if (box != BOXCAR_OUTBOX && box != BOXCAR_INBOX)
        return error_invalid(err, "box", "box is unknown: give BOXCAR_OUTBOX or BOXCAR_INBOX");
    return BOXCAR_OK;
}

boxcar_status limits_check_lease_ms(int64_t lease_ms, boxcar_error *err) {
    return check_range(lease_ms, "lease_ms", BOXCAR_LEASE_MS_MIN, BOXCAR_LEASE_MS_MAX, err);
}

boxcar_status limits_check_batch_size(int64_t batch_size, boxcar_error *err) {
    return check_range(batch_size, "batch_size", 1, BOXCAR_BATCH_SIZE_MAX, err);
}

boxcar_status limits_check_batch_bytes(int64_t batch_bytes, const char *argument, boxcar_error *err) {
    return check_range(batch_bytes, argument, BOXCAR_BATCH_BYTES_MIN, BOXCAR_BATCH_BYTES_MAX, err);
}

boxcar_status limits_check_topic_patterns(const boxcar_str *topics, size_t count, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;
    char argument[40];

    if (count > 0 && !topics)
        return error_invalid(err, "topics", "topics is NULL: give topic_count patterns, or a count of 0");
    if (count > LIMITS_COUNT_MAX)
        return error_invalid(err, "topic_count", "topic_count is too large: give at most %zu",
                             LIMITS_COUNT_MAX);
    for (size_t i = 0; i < count && status == BOXCAR_OK; i++) {
        snprintf(argument, sizeof(argument), "topics[%zu]", i);
        status = limits_check_topic_pattern(topics[i], argument, err);
    }
    return status;
}

boxcar_status limits_check_claimer(const boxcar_claimer *options, boxcar_error *err) {
    boxcar_status status = limits_check_box(options->box, err);

    if (status == BOXCAR_OK)
        status = limits_check_owner(options->owner, err);
    return status == BOXCAR_OK ? limits_check_lease_ms(options->lease_ms, err) : status;
}

boxcar_status limits_check_claim(const boxcar_claimer *options, boxcar_error *err) {
    boxcar_status status = limits_check_claimer(options, err);

    if (status == BOXCAR_OK)
        status = limits_check_batch_size(options->batch_size, err);
    if (status == BOXCAR_OK)
        status = limits_check_batch_bytes(options->batch_bytes, "batch_bytes", err);
    if (status == BOXCAR_OK)
        status = limits_check_topic_patterns(options->topics, options->topic_count, err);
    return status;
}

boxcar_status limits_check_settle_kind(boxcar_settle_kind kind, boxcar_error *err) {
    if ((unsigned)kind < BOXCAR_SETTLE_KINDS && kind != BOXCAR_RESOLVE)
        return BOXCAR_OK;
    return error_invalid(err, "kind", "kind is none that a caller settles by: give BOXCAR_ACK or one of its siblings");
}

boxcar_status limits_check_stages(int stages, boxcar_error *err) {
    if (stages <= 0 || (stages & ~BOXCAR_STAGES_ALL) != 0)
        return error_invalid(err, "stages", "stages is %d, which has unknown flags or none: give a sum of 1, 2, 4, 8 "
                             "and 16", stages);
    return BOXCAR_OK;
}

boxcar_status limits_check_settlement(boxcar_settle_kind kind, const boxcar_settlement *settlement, boxcar_error *err) {
    boxcar_status status = check_range(settlement->work_id.value, "work_id", 1, INT64_MAX, err);

    if (status == BOXCAR_OK)
        status = check_range(settlement->epoch.value, "epoch", 0, INT64_MAX, err);
    if (status == BOXCAR_OK && settlement->delay_ms != BOXCAR_BACKOFF)
        status = check_range(settlement->delay_ms, "delay_ms", 0, BOXCAR_DELAY_MS_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(settlement->error, "error", SIZE_MAX, err);
    if (status == BOXCAR_OK && (kind == BOXCAR_RECORD || settlement->stages != 0))
        status = limits_check_stages(settlement->stages, err);
    return status;
}

boxcar_status limits_check_settlements(boxcar_settle_kind kind, const boxcar_settlement *settlements, size_t count,
                                       boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;
    char where[40];

    if (count > 0 && !settlements)
        return error_invalid(err, "settlements", "settlements is NULL: give `count` of them");
    if (count > LIMITS_COUNT_MAX)
        return error_invalid(err, "count", "count is too large: give at most %zu", LIMITS_COUNT_MAX);
    for (size_t i = 0; i < count; i++) {
        status = limits_check_settlement(kind, &settlements[i], err);
        if (status == BOXCAR_OK)
            continue;
        snprintf(where, sizeof(where), "settlements[%zu].", i);
        return error_locate(status, where, err);
    }
    return BOXCAR_OK;
}

boxcar_status limits_check_ref(boxcar_message_ref ref, const char *argument, boxcar_error *err) {
    bool has_message_id = !boxcar_uuid_is_none(ref.message_id.uuid);

    if (ref.work_id.value < 0)
        return error_invalid(err, argument, "work_id is negative: work ids begin at 1");
    if (has_message_id == (ref.work_id.value != 0))
        return error_invalid(err, argument, "%s: give either a work id or a message id", argument);
    return BOXCAR_OK;
}

boxcar_status limits_check_limit(int64_t limit, boxcar_error *err) {
    return check_range(limit, "limit", 1, BOXCAR_LIST_LIMIT_MAX, err);
}

boxcar_status limits_check_page(int64_t limit, boxcar_work_id after, boxcar_error *err) {
    boxcar_status status = limits_check_limit(limit, err);

    return status == BOXCAR_OK ? check_range(after.value, "after", 0, INT64_MAX, err) : status;
}

static boxcar_status check_topic_condition(boxcar_str topic, boxcar_error *err) {
    return str_is_absent(topic) && topic.len == 0 ? BOXCAR_OK
                                                  : limits_check_topic_pattern(topic, "topic", err);
}

boxcar_status limits_check_list(const boxcar_message_filter *options, boxcar_error *err) {
    boxcar_status status = limits_check_box(options->box, err);

    if (status == BOXCAR_OK && options->by_status)
        status = check_range(options->status, "status", BOXCAR_READY, BOXCAR_FAILED, err);
    if (status == BOXCAR_OK)
        status = check_range(options->readiness, "readiness", BOXCAR_READINESS_ANY, BOXCAR_WAITING, err);
    if (status == BOXCAR_OK && options->readiness != BOXCAR_READINESS_ANY &&
        (!options->by_status || options->status != BOXCAR_READY))
        return error_invalid(err, "readiness", "readiness is given without the status ready: set by_status and status");
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
        status = check_range(filter->reason, "reason", BOXCAR_REASON_NONE, BOXCAR_REASON_CANCELLED, err);
    if (status == BOXCAR_OK)
        status = check_time(filter->before, "before", err);
    return status == BOXCAR_OK ? check_refs(filter->refs, filter->ref_count, err) : status;
}

boxcar_status limits_check_join_id(boxcar_join_id join_id, const char *argument, boxcar_error *err) {
    if (boxcar_uuid_is_none(join_id.uuid))
        return error_invalid(err, argument, "%s is the nil UUID: give the id of a join", argument);
    return BOXCAR_OK;
}

static boxcar_status check_deadline(const boxcar_new_join *join, boxcar_error *err) {
    boxcar_status status = check_range(join->deadline_ms, "deadline_ms", 0, BOXCAR_DELAY_MS_MAX, err);

    if (status == BOXCAR_OK && join->deadline != BOXCAR_TIME_NONE && join->deadline_ms != 0)
        return error_invalid(err, "deadline_ms", "deadline_ms and deadline are both given: give one of them");
    return status == BOXCAR_OK ? check_time(join->deadline, "deadline", err) : status;
}

boxcar_status limits_check_new_join(const boxcar_new_join *join, boxcar_error *err) {
    boxcar_status status =
        check_range(join->expected_steps, "expected_steps", 1, BOXCAR_EXPECTED_STEPS_MAX, err);

    if (status == BOXCAR_OK)
        status = limits_check_text(join->grouping_key, "grouping_key", BOXCAR_GROUPING_KEY_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(join->metadata, "metadata", SIZE_MAX, err);
    return status == BOXCAR_OK ? check_deadline(join, err) : status;
}

/* No topic: nothing is enqueued on failure, whatever the payload. */
static boxcar_status check_given_payload(boxcar_str payload, boxcar_error *err) {
    if (str_is_absent(payload))
        return error_invalid(err, "on_complete_payload",
                             "on_complete_payload is missing: give a text, empty if there is nothing to say");
    return limits_check_text(payload, "on_complete_payload", SIZE_MAX, err);
}

static boxcar_status check_on_fail(const boxcar_new_wait *wait, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (wait->on_fail_topic.data || wait->on_fail_topic.len > 0) /* absent is fine, empty is not */
        status = limits_check_topic(wait->on_fail_topic, "on_fail_topic", err);
    return status == BOXCAR_OK ? limits_check_text(wait->on_fail_payload, "on_fail_payload", SIZE_MAX, err)
                               : status;
}

boxcar_status limits_check_new_wait(const boxcar_new_wait *wait, boxcar_error *err) {
    boxcar_status status = limits_check_join_id(wait->join_id, "join_id", err);

    if (status == BOXCAR_OK)
        status = limits_check_topic(wait->on_complete_topic, "on_complete_topic", err);
    if (status == BOXCAR_OK)
        status = check_given_payload(wait->on_complete_payload, err);
    if (status == BOXCAR_OK)
        status = check_on_fail(wait, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(wait->correlation_id, "correlation_id", BOXCAR_CORRELATION_ID_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(wait->causation_id, "causation_id", BOXCAR_CAUSATION_ID_MAX, err);
    return status;
}

/* Joins without a key have none: an empty one would find nothing, where somebody meant everything. */
static boxcar_status check_key_condition(boxcar_str key, boxcar_error *err) {
    if (!str_is_absent(key) && str_is_empty(key))
        return error_invalid(err, "grouping_key", "grouping_key is empty: give 1 to %d characters, or none",
                             BOXCAR_GROUPING_KEY_MAX);
    return limits_check_text(key, "grouping_key", BOXCAR_GROUPING_KEY_MAX, err);
}

boxcar_status limits_check_join_filter(const boxcar_join_filter *filter, boxcar_error *err) {
    boxcar_status status = check_key_condition(filter->grouping_key, err);

    if (status == BOXCAR_OK && filter->by_status)
        status = check_range(filter->status, "status", BOXCAR_JOIN_PENDING, BOXCAR_JOIN_CANCELLED, err);
    if (status == BOXCAR_OK)
        status = check_time(filter->before, "before", err);
    return status == BOXCAR_OK ? limits_check_limit(filter->limit, err) : status;
}

static boxcar_status check_key_part(boxcar_str text, const char *argument, size_t max_characters,
                                    boxcar_error *err) {
    if (str_is_empty(text))
        return error_invalid(err, argument, "%s is empty: give 1 to %zu characters", argument, max_characters);
    return limits_check_text(text, argument, max_characters, err);
}

boxcar_status limits_check_inbox_key(boxcar_inbox_key key, boxcar_str content_hash, boxcar_error *err) {
    boxcar_status status = check_key_part(key.source, "source", BOXCAR_SOURCE_MAX, err);

    if (status == BOXCAR_OK)
        status = check_key_part(key.external_id, "external_id", BOXCAR_EXTERNAL_ID_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(content_hash, "content_hash", BOXCAR_CONTENT_HASH_MAX, err);
    return status;
}

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

boxcar_status limits_check_join_outcome(boxcar_member_status outcome, boxcar_error *err) {
    return check_range(outcome, "outcome", BOXCAR_MEMBER_COMPLETED, BOXCAR_MEMBER_FAILED, err);
}

boxcar_status limits_check_stream_policy(boxcar_stream_policy policy, boxcar_error *err) {
    return check_range(policy, "policy", BOXCAR_STREAM_DEFAULT, BOXCAR_STREAM_HALT, err);
}

boxcar_status limits_check_stream_filter(const boxcar_stream_filter *filter, boxcar_error *err) {
    boxcar_status status = limits_check_box(filter->box, err);

    if (status == BOXCAR_OK)
        status = limits_check_text(filter->prefix, "prefix", BOXCAR_STREAM_MAX, err);
    if (status == BOXCAR_OK)
        status = limits_check_text(filter->after, "after", BOXCAR_STREAM_MAX, err);
    return status == BOXCAR_OK ? limits_check_limit(filter->limit, err) : status;
}

boxcar_status limits_check_message_id(boxcar_message_id message_id, const char *argument, boxcar_error *err) {
    if (boxcar_uuid_is_none(message_id.uuid))
        return error_invalid(err, argument, "%s is the nil UUID: give the id of a message", argument);
    return BOXCAR_OK;
}

boxcar_status limits_check_message_ids(const boxcar_message_id *message_ids, size_t count, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;
    char argument[40];

    if (count > 0 && !message_ids)
        return error_invalid(err, "message_ids", "message_ids is NULL: give `count` of them");
    if (count > LIMITS_COUNT_MAX)
        return error_invalid(err, "count", "count is too large: give at most %zu", LIMITS_COUNT_MAX);
    for (size_t i = 0; i < count && status == BOXCAR_OK; i++) {
        snprintf(argument, sizeof(argument), "message_ids[%zu]", i);
        status = limits_check_message_id(message_ids[i], argument, err);
    }
    return status;
}

static bool is_name_start(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

static bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

static bool is_schema_name(boxcar_str schema) {
    if (!schema.data || schema.len == 0 || schema.len > SCHEMA_NAME_MAX || !is_name_start(schema.data[0]))
        return false;
    for (size_t i = 1; i < schema.len; i++) {
        if (!is_name_char(schema.data[i]))
            return false;
    }
    return true;
}

boxcar_status limits_check_schema_name(boxcar_str schema, boxcar_error *err) {
    if (str_is_absent(schema) && schema.len == 0)
        return BOXCAR_OK;
    if (!is_schema_name(schema))
        return error_invalid(
            err, "schema",
            "schema is not a valid name: give 1 to %d letters, digits or _, not starting with "
            "a digit",
            SCHEMA_NAME_MAX);
    if (str_starts_with(schema, BOXCAR_STR("pg_")))
        return error_invalid(err, "schema",
                             "schema starts with pg_, which PostgreSQL keeps for itself: give "
                             "another name");
    return BOXCAR_OK;
}
