#include "wait.h"

#include "base/error.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "core/limits/limits.h"
#include "json.h"

#define UUID_NAMESPACE_CONTINUATION "boxcar:continuation:"

boxcar_message_id boxcar_join_continuation_id(boxcar_message_id wait_id) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_message_id id;

    boxcar_uuid_format(wait_id.uuid, text);
    uuid_derive(UUID_NAMESPACE_CONTINUATION, boxcar_str_of(text), id.uuid.bytes);
    return id;
}

/* ---- the payload ---- */

enum field { JOIN_ID, STRICT, COMPLETE_TOPIC, COMPLETE_PAYLOAD, FAIL_TOPIC, FAIL_PAYLOAD, FIELDS };

/* Ours first; the other spellings are read as well. _read_wait.sql reads the same. */
#define SPELLINGS 3
static const char *const NAMES[FIELDS][SPELLINGS] = {
    [JOIN_ID] = {"join_id", "joinId", "JoinId"},
    [STRICT] = {"fail_if_any_step_failed", "failIfAnyStepFailed", "FailIfAnyStepFailed"},
    [COMPLETE_TOPIC] = {"on_complete_topic", "onCompleteTopic", "OnCompleteTopic"},
    [COMPLETE_PAYLOAD] = {"on_complete_payload", "onCompletePayload", "OnCompletePayload"},
    [FAIL_TOPIC] = {"on_fail_topic", "onFailTopic", "OnFailTopic"},
    [FAIL_PAYLOAD] = {"on_fail_payload", "onFailPayload", "OnFailPayload"},
};

/* NULL: not there, or null. */
static json_t *find(const json_t *object, enum field field) {
    json_t *value = NULL;

    for (int i = 0; i < SPELLINGS && !value; i++)
        value = json_object_get(object, NAMES[field][i]);
    return json_is_null(value) ? NULL : value;
}

static boxcar_status refuse(enum field field, const char *problem, boxcar_error *err) {
    return error_invalid(err, NAMES[field][0], "the payload of a wait: %s %s", NAMES[field][0], problem);
}

static boxcar_status read_text(const json_t *object, enum field field, struct arena *arena,
                               boxcar_str *ret_text, boxcar_error *err) {
    json_t *value = find(object, field);
    boxcar_str text = {json_string_value(value), json_string_length(value)}; /* absent unless it is one */

    if (value && !json_is_string(value))
        return refuse(field, "is not a string", err);
    if (str_has_nul(text))
        return refuse(field, "contains a NUL", err);
    return arena_copy_str(arena, text, ret_text) ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status read_topic(const json_t *object, enum field field, struct arena *arena,
                                boxcar_str *ret_topic, boxcar_error *err) {
    TRY(read_text(object, field, arena, ret_topic, err));
    if (field == FAIL_TOPIC && str_is_empty(*ret_topic))
        *ret_topic = BOXCAR_NO_STR;
    else if (limits_check_topic(*ret_topic, NAMES[field][0], NULL) != BOXCAR_OK)
        return refuse(field, "must have 1 to 255 characters", err);
    return BOXCAR_OK;
}

static boxcar_status read_join_id(const json_t *object, boxcar_join_id *ret_id, boxcar_error *err) {
    json_t *value = find(object, JOIN_ID);

    if (!json_is_string(value))
        return refuse(JOIN_ID, "is missing or not a string", err);
    if (!boxcar_uuid_parse((boxcar_str){json_string_value(value), json_string_length(value)},
                           &ret_id->uuid) ||
        boxcar_uuid_is_none(ret_id->uuid))
        return refuse(JOIN_ID, "is not the id of a join", err);
    return BOXCAR_OK;
}

/* Left out it means true, the careful choice. */
static boxcar_status read_flag(const json_t *object, bool *ret_allow_failures, boxcar_error *err) {
    json_t *value = find(object, STRICT);

    if (value && !json_is_boolean(value))
        return refuse(STRICT, "is neither true nor false", err);
    *ret_allow_failures = json_is_false(value);
    return BOXCAR_OK;
}

static boxcar_str absent_is_empty(boxcar_str text) { return str_is_absent(text) ? BOXCAR_STR("") : text; }

boxcar_status wait_parse(boxcar_str payload, struct arena *arena, struct wait *ret_wait, boxcar_error *err) {
    struct wait wait = *ret_wait;
    bool no_memory;
    json_auto_t *object = json_read(payload, JSON_ALLOW_NUL, &no_memory);

    if (no_memory)
        return error_no_memory(err);
    if (!json_is_object(object))
        return error_invalid(err, "payload", "the payload of a wait must be a JSON object");
    TRY(read_join_id(object, &wait.join_id, err));
    TRY(read_flag(object, &wait.allow_failures, err));
    TRY(read_topic(object, COMPLETE_TOPIC, arena, &wait.on_complete_topic, err));
    TRY(read_text(object, COMPLETE_PAYLOAD, arena, &wait.on_complete_payload, err));
    TRY(read_topic(object, FAIL_TOPIC, arena, &wait.on_fail_topic, err));
    TRY(read_text(object, FAIL_PAYLOAD, arena, &wait.on_fail_payload, err));
    wait.on_complete_payload = absent_is_empty(wait.on_complete_payload);
    wait.on_fail_payload = absent_is_empty(wait.on_fail_payload);
    *ret_wait = wait;
    return BOXCAR_OK;
}

static bool set_text(json_t *object, enum field field, boxcar_str text) {
    json_t *value = str_is_absent(text) ? json_null() : json_stringn(text.data, text.len);

    return json_object_set_new(object, NAMES[field][0], value) == 0;
}

static int append(const char *bytes, size_t len, void *context) {
    buf_append(context, bytes, len);
    return 0;
}

boxcar_status wait_format(const boxcar_new_wait *wait, struct buf *ret_payload, boxcar_error *err) {
    char join_id[BOXCAR_UUID_TEXT_SIZE];
    json_auto_t *object = json_object();

    boxcar_uuid_format(wait->join_id.uuid, join_id);
    bool ok = object && set_text(object, JOIN_ID, boxcar_str_of(join_id)) &&
              json_object_set_new(object, NAMES[STRICT][0], json_boolean(!wait->allow_failures)) == 0 &&
              set_text(object, COMPLETE_TOPIC, wait->on_complete_topic) &&
              set_text(object, COMPLETE_PAYLOAD, absent_is_empty(wait->on_complete_payload)) &&
              set_text(object, FAIL_TOPIC, str_unless_empty(wait->on_fail_topic)) &&
              set_text(object, FAIL_PAYLOAD, wait->on_fail_payload) &&
              json_dump_callback(object, append, ret_payload, JSON_COMPACT) == 0 && !ret_payload->failed;
    return ok ? BOXCAR_OK : error_no_memory(err);
}

/* ---- the rules ---- */

/* A join that timed out or was cancelled has failed, whatever its counters say (BX-046). */
static bool has_failed(const struct wait *wait, const boxcar_join *join) {
    if (join->status == BOXCAR_JOIN_CANCELLED || join->reason != BOXCAR_JOIN_REASON_NONE)
        return true;
    return !wait->allow_failures && join->failed_steps > 0;
}

enum wait_outcome wait_decide(const struct wait *wait, const boxcar_join *join) {
    if (!join)
        return WAIT_NO_JOIN;
    if (join->status == BOXCAR_JOIN_PENDING)
        return WAIT_DEFERRED;
    if (!has_failed(wait, join))
        return WAIT_COMPLETED;
    return str_is_absent(wait->on_fail_topic) ? WAIT_SILENT : WAIT_FAILED;
}

int64_t wait_delay_ms(boxcar_time now, boxcar_time created_at, boxcar_time deadline) {
    int64_t delay = (now - created_at) / 1000;

    if (delay < WAIT_DELAY_MIN_MS)
        delay = WAIT_DELAY_MIN_MS;
    if (delay > WAIT_DELAY_MAX_MS)
        delay = WAIT_DELAY_MAX_MS;
    if (deadline != BOXCAR_TIME_NONE && (deadline - now) / 1000 < delay)
        delay = deadline > now ? (deadline - now + 999) / 1000 : 0;
    return delay;
}
