#include "message_json.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "text.h"

json_t *json_from_time(boxcar_time time) {
    char text[BOXCAR_TIME_TEXT_SIZE];
    if (time == BOXCAR_TIME_NONE)
        return json_null();
    boxcar_time_format(time, text);
    return json_string(text);
}

json_t *json_from_number(int64_t number) { return number ? json_integer(number) : json_null(); }

json_t *json_from_message_id(boxcar_message_id id) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(id.uuid, text);
    return json_string(text);
}

json_t *json_from_owner(boxcar_owner owner) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    if (boxcar_uuid_is_none(owner.uuid))
        return json_null();
    boxcar_uuid_format(owner.uuid, text);
    return json_string(text);
}

static json_t *from_reason(boxcar_reason reason) {
    return reason == BOXCAR_REASON_NONE ? json_null() : json_string(boxcar_reason_name(reason));
}

bool json_put(json_t *object, const char *name, json_t *value) {
    return json_object_set_new(object, name, value) == 0;
}

/* ---- texts ---- */

static bool note_damage(json_t *object, const char *name) {
    json_t *names = json_object_get(object, JSON_DAMAGED);
    if (!names)
        return json_put(object, JSON_DAMAGED, json_pack("[s]", name));
    return json_array_append_new(names, json_string(name)) == 0;
}

/* Another program has put it there. Its bytes are shown as \xNN. */
static bool put_damaged(json_t *object, const char *name, boxcar_str text) {
    AUTO_FREE char *readable = text_for_json(text);
    return readable && json_put(object, name, json_string(readable)) && note_damage(object, name);
}

bool json_put_text(json_t *object, const char *name, boxcar_str text) {
    if (!text.data)
        return json_put(object, name, json_null());
    return utf8_is_valid(text) ? json_put(object, name, json_stringn(text.data, text.len))
                               : put_damaged(object, name, text);
}

bool json_put_headers(json_t *object, const char *name, boxcar_str headers) {
    json_t *value =
        headers.data ? json_loadb(headers.data, headers.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL) : NULL;
    /* Headers that are not JSON, which only another program can have stored, are shown as they are. */
    return value ? json_put(object, name, value) : json_put_text(object, name, headers);
}

json_t *json_finish(json_t *object, bool good) {
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

/* Messages of the inbox only. */
static bool put_origin(json_t *object, const boxcar_message *message) {
    boxcar_inbox_state state = boxcar_inbox_state_of(message->status);
    return json_put_text(object, "source", message->source) &&
           json_put_text(object, "external_id", message->external_id) &&
           json_put(object, "state", json_string(boxcar_inbox_state_name(state)));
}

static bool put_identity(json_t *object, const boxcar_message *message) {
    return json_put(object, "work_id", json_integer(message->work_id.value)) &&
           json_put(object, "message_id", json_from_message_id(message->message_id)) &&
           json_put(object, "box", json_string(boxcar_box_name(message->box))) &&
           json_put_text(object, "topic", message->topic) &&
           json_put(object, "status", json_string(boxcar_message_status_name(message->status))) &&
           json_put(object, "created_at", json_from_time(message->created_at)) &&
           json_put(object, "due_at", json_from_time(message->due_at)) &&
           json_put(object, "available_at", json_from_time(message->available_at)) &&
           json_put(object, "expires_at", json_from_time(message->expires_at)) &&
           json_put_text(object, "stream", message->stream) &&
           json_put_text(object, "correlation_id", message->correlation_id) &&
           json_put_text(object, "causation_id", message->causation_id) &&
           json_put_headers(object, "headers", message->headers) &&
           json_put_headers(object, "metadata", message->metadata) &&
           json_put_text(object, "event_type", message->event_type);
}

static bool put_progress(json_t *object, const boxcar_message *message) {
    return json_put(object, "retry_count", json_integer(message->retry_count)) &&
           json_put(object, "crash_count", json_integer(message->crash_count)) &&
           json_put(object, "max_attempts", json_from_number(message->max_attempts)) &&
           json_put_text(object, "last_error", message->last_error) &&
           json_put(object, "owner", json_from_owner(message->owner)) &&
           json_put(object, "epoch", json_from_number(message->epoch.value)) &&
           json_put(object, "locked_until", json_from_time(message->locked_until)) &&
           json_put(object, "processed_at", json_from_time(message->processed_at)) &&
           json_put_text(object, "processed_by", message->processed_by) &&
           json_put(object, "reason", from_reason(message->reason)) &&
           json_put(object, "died_at", json_from_time(message->died_at)) &&
           json_put(object, "stages", json_integer(message->stages));
}

json_t *message_json(const boxcar_message *message, enum message_part part) {
    json_t *object = json_object();
    bool good = put_identity(object, message) && put_progress(object, message) &&
                (message->box == BOXCAR_OUTBOX || put_origin(object, message)) &&
                (part == MESSAGE_WITHOUT_PAYLOAD || json_put_text(object, "payload", message->payload));
    return json_finish(object, good);
}

static json_t *attempt_json(const boxcar_attempt *attempt) {
    json_t *object = json_object();
    bool good = json_put(object, "at", json_from_time(attempt->at)) &&
                json_put_text(object, "outcome", attempt->outcome) &&
                json_put(object, "retry_count", json_integer(attempt->retry_count)) &&
                json_put(object, "owner", json_from_owner(attempt->owner)) &&
                json_put(object, "epoch", json_from_number(attempt->epoch.value)) &&
                json_put_text(object, "error", attempt->error);
    return json_finish(object, good);
}

json_t *attempt_list_json(const boxcar_attempt_list *list) {
    json_t *array = json_array();
    bool good = true;
    for (size_t i = 0; good && i < list->count; i++)
        good = json_array_append_new(array, attempt_json(list->items[i])) == 0;
    return json_finish(array, good);
}

json_t *enqueued_json(const boxcar_enqueued *enqueued) {
    json_t *object = json_object();
    bool good = json_put(object, "work_id", json_integer(enqueued->work_id.value)) &&
                json_put(object, "message_id", json_from_message_id(enqueued->message_id)) &&
                json_put(object, "duplicate", json_boolean(enqueued->duplicate));
    return json_finish(object, good);
}
