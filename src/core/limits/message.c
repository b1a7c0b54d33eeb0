/* New messages of either box, and keys of the inbox. */
#include "limits.h"

#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"

static boxcar_status check_texts(const boxcar_new_message *message, boxcar_error *err) {
    TRY(limits_check_topic(message->topic, "topic", err));
    TRY(limits_check_payload(message->payload, err));
    TRY(limits_check_text(message->correlation_id, "correlation_id", BOXCAR_CORRELATION_ID_MAX, err));
    TRY(limits_check_text(message->causation_id, "causation_id", BOXCAR_CAUSATION_ID_MAX, err));
    TRY(limits_check_text(message->stream, "stream", BOXCAR_STREAM_MAX, err));
    TRY(limits_check_not_nil(message->stream, "stream", err));
    TRY(limits_check_headers(message->headers, "headers", err));
    return limits_check_metadata(message->metadata, "metadata", err);
}

static boxcar_status check_event(const boxcar_new_message *message, boxcar_error *err) {
    bool has_type = !str_is_absent(message->event_type) || message->event_type.len > 0;

    if (message->is_event < BOXCAR_EVENT_BY_TYPE || message->is_event > BOXCAR_EVENT_NO)
        return error_invalid(err, "is_event", "is_event is unknown: start from BOXCAR_NEW_MESSAGE_INIT");
    if (message->is_event == BOXCAR_EVENT_YES && str_is_empty(message->stream))
        return error_invalid(err, "is_event",
                             "is_event needs a stream: the event is stored as its next version");
    if (!has_type)
        return BOXCAR_OK;
    if (message->is_event == BOXCAR_EVENT_NO)
        return error_invalid(err, "event_type",
                             "event_type is given, but is_event says that the message is no event");
    if (str_is_empty(message->stream))
        return error_invalid(err, "event_type",
                             "event_type needs a stream: the event is stored as its next version");
    return limits_check_topic(message->event_type, "event_type", err);
}

static boxcar_status check_due(const boxcar_new_message *message, boxcar_error *err) {
    TRY(limits_check_range(message->delay_ms, "delay_ms", 0, BOXCAR_DELAY_MS_MAX, err));
    if (message->due_at != BOXCAR_TIME_NONE && message->delay_ms != 0)
        return error_invalid(err, "delay_ms", "delay_ms and due_at are both given: give one of them");
    return limits_check_time(message->due_at, "due_at", err);
}

static boxcar_status check_outbox_identity(const boxcar_new_message *message, boxcar_error *err) {
    if (message->source.data || message->external_id.data || message->content_hash.data)
        return error_invalid(err, "source",
                             "source, external_id and content_hash are for the inbox: leave them absent");
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
        return error_invalid(err, "key",
                             "key, unique, message_id and join_id are for the outbox: leave them out");
    return limits_check_inbox_key((boxcar_inbox_key){message->source, message->external_id},
                                  message->content_hash, err);
}

boxcar_status limits_check_new_message(boxcar_box box, const boxcar_new_message *message, boxcar_error *err) {
    if (box == BOXCAR_INBOX)
        TRY(check_inbox_identity(message, err));
    TRY(check_texts(message, err));
    TRY(check_due(message, err));
    TRY(limits_check_range(message->ttl_ms, "ttl_ms", 0, BOXCAR_DELAY_MS_MAX, err));
    if (box == BOXCAR_OUTBOX)
        TRY(check_outbox_identity(message, err));
    TRY(check_event(message, err));
    return limits_check_range(message->max_attempts, "max_attempts", 0, BOXCAR_MAX_ATTEMPTS_MAX, err);
}

boxcar_status limits_read_new_messages(struct arena *arena, boxcar_box box, boxcar_new_message_list *messages,
                                       size_t first, boxcar_error *err) {
    size_t count = messages->count, total = count > LIMITS_COUNT_MAX ? count : first + count;

    if (count == 0)
        return BOXCAR_OK;
    TRY(limits_check_array(messages->items, total, "messages", "count", "`count` of them", err));
    TRY(OPTIONS_READ_ARRAY(arena, BOXCAR_NEW_MESSAGE_INIT, &messages->items, count, "messages", err));
    for (size_t i = 0; i < count; i++)
        TRY(error_locate_item(limits_check_new_message(box, &messages->items[i], err), "messages", first + i,
                              err));
    return BOXCAR_OK;
}

boxcar_status limits_check_inbox_key(boxcar_inbox_key key, boxcar_str content_hash, boxcar_error *err) {
    TRY(limits_check_name(key.source, "source", BOXCAR_SOURCE_MAX, err));
    TRY(limits_check_name(key.external_id, "external_id", BOXCAR_EXTERNAL_ID_MAX, err));
    return limits_check_text(content_hash, "content_hash", BOXCAR_CONTENT_HASH_MAX, err);
}
