#include "fanout.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "digits.h"
#include "json.h"
#include "limits/limits.h"

#define SEPARATOR '\x1f' /* between the parts of what an id derives from; names have none */
#define NAMESPACE_COPY "boxcar fanout"
#define NAMESPACE_JOIN "boxcar fanout join"
#define NAMESPACE_WAIT "boxcar fanout wait"

static const boxcar_str AS_IT_IS = {FANOUT_PLACEHOLDER, sizeof(FANOUT_PLACEHOLDER) - 1};

/* ---- destinations ---- */

static bool take_prefix(boxcar_str *text, boxcar_str prefix) {
    if (!str_starts_with(*text, prefix))
        return false;
    *text = (boxcar_str){text->data + prefix.len, text->len - prefix.len};
    return true;
}

/* Cuts the text at its first slash: *ret_rest is what comes after it, absent = there is none. */
static boxcar_str cut_at_slash(boxcar_str text, boxcar_str *ret_rest) {
    const char *slash = text.len > 0 ? memchr(text.data, '/', text.len) : NULL;

    if (!slash) {
        *ret_rest = BOXCAR_NO_STR;
        return text;
    }
    size_t len = (size_t)(slash - text.data);
    *ret_rest = (boxcar_str){slash + 1, text.len - len - 1};
    return (boxcar_str){text.data, len};
}

bool fanout_has_placeholder(boxcar_str destination) {
    for (; destination.len > 0; destination = (boxcar_str){destination.data + 1, destination.len - 1})
        if (str_starts_with(destination, AS_IT_IS))
            return true;
    return false;
}

/* The topic of a destination: {topic} is the only placeholder, and a * would match nothing.
 * _check_destinations of PostgreSQL has the same rules. */
static boxcar_status check_template(boxcar_str topic, const char *argument, boxcar_error *err) {
    if (topic.len == 0)
        return error_invalid(err, argument, "%s has no topic: give one, for example audit.{topic}", argument);
    if (memchr(topic.data, '*', topic.len))
        return error_invalid(err, argument, "%s has a *: give one topic; {topic} stands for the message's",
                             argument);
    bool is_open = false;
    while (topic.len > 0) {
        if (take_prefix(&topic, AS_IT_IS))
            continue;
        if (topic.data[0] == '}' && is_open)
            return error_invalid(
                err, argument, "%s has something else in braces: {topic} is the only placeholder", argument);
        is_open = is_open || topic.data[0] == '{';
        topic = (boxcar_str){topic.data + 1, topic.len - 1};
    }
    return BOXCAR_OK;
}

static boxcar_status parse_store(boxcar_str text, const char *argument, struct destination *into,
                                 boxcar_error *err) {
    boxcar_str rest, box;

    into->kind = DESTINATION_STORE;
    into->store = cut_at_slash(text, &rest);
    if (into->store.len == 0)
        return error_invalid(err, argument, "%s has no name of a store: give store:NAME", argument);
    if (str_is_absent(rest))
        return BOXCAR_OK;
    box = cut_at_slash(rest, &text);
    if (str_equal(box, BOXCAR_STR("inbox"))) {
        into->box = BOXCAR_INBOX;
        rest = text;
    }
    if (str_is_absent(rest))
        return BOXCAR_OK;
    into->topic = rest;
    return check_template(rest, argument, err);
}

boxcar_status destination_parse(boxcar_str text, const char *argument, struct destination *ret_destination,
                                boxcar_error *err) {
    struct destination destination = {.box = BOXCAR_OUTBOX, .topic = AS_IT_IS};

    TRY(limits_check_name(text, argument, BOXCAR_TOPIC_MAX, err));
    TRY(limits_check_control(text, argument, err));
    if (take_prefix(&text, BOXCAR_STR("store:"))) {
        TRY(parse_store(text, argument, &destination, err));
    } else if (take_prefix(&text, BOXCAR_STR("tenant:"))) {
        if (text.len == 0)
            return error_invalid(err, argument, "%s has no header: give tenant:HEADER", argument);
        destination.kind = DESTINATION_TENANT;
        destination.header = text;
    } else {
        destination.topic = text;
        TRY(check_template(text, argument, err));
    }
    *ret_destination = destination;
    return BOXCAR_OK;
}

static void expand(boxcar_str pattern, boxcar_str topic, struct buf *into) {
    while (pattern.len > 0) {
        if (take_prefix(&pattern, AS_IT_IS)) {
            buf_append_str(into, topic);
        } else {
            buf_append_char(into, pattern.data[0]);
            pattern = (boxcar_str){pattern.data + 1, pattern.len - 1};
        }
    }
}

boxcar_status destination_topic(const struct destination *destination, boxcar_str topic, struct arena *arena,
                                boxcar_str *ret_topic, boxcar_error *err) {
    if (str_equal(destination->topic, AS_IT_IS)) {
        *ret_topic = topic;
        return BOXCAR_OK;
    }
    struct buf text = BUF_INIT;
    expand(destination->topic, topic, &text);
    boxcar_str expanded = {text.data, text.len};
    boxcar_status status = text.failed ? error_no_memory(err) : BOXCAR_OK;
    if (status == BOXCAR_OK && utf8_length(expanded) > BOXCAR_TOPIC_MAX)
        status = error_invalid(err, "topic",
                               "the topic of the copy has %zu characters, at most %d are possible: make "
                               "that of the destination shorter",
                               utf8_length(expanded), BOXCAR_TOPIC_MAX);
    if (status == BOXCAR_OK && !arena_copy_str(arena, expanded, ret_topic))
        status = error_no_memory(err);
    buf_release(&text);
    return status;
}

bool fanout_split_name(boxcar_str name, boxcar_str *ret_policy, boxcar_str *ret_destination) {
    boxcar_str destination, policy = cut_at_slash(name, &destination);

    if (str_is_empty(policy) || str_is_empty(destination))
        return false;
    *ret_policy = policy;
    *ret_destination = destination;
    return true;
}

boxcar_str fanout_policy_of(boxcar_str name) {
    boxcar_str policy, destination;

    return fanout_split_name(name, &policy, &destination) ? policy : name;
}

/* ---- headers ---- */

/* The headers as an object of the caller's; an empty one if there are none. */
static boxcar_status read_headers(boxcar_str headers, json_t **ret_object, boxcar_error *err) {
    bool no_memory = false;
    json_t *object = str_is_absent(headers) ? json_object() : json_read(headers, 0, &no_memory);

    if (no_memory || (!object && str_is_absent(headers)))
        return error_no_memory(err);
    if (!json_is_object(object)) {
        json_decref(object);
        return error_invalid(err, "headers",
                             "headers are not a JSON object: give {\"name\": \"value\", ...}");
    }
    *ret_object = object;
    return BOXCAR_OK;
}

boxcar_status fanout_find_header(boxcar_str headers, boxcar_str name, struct arena *arena,
                                 boxcar_str *ret_value, boxcar_error *err) {
    json_auto_t *object = NULL;
    boxcar_str key; /* with a NUL behind it */

    if (!arena_copy_str(arena, name, &key))
        return error_no_memory(err);
    TRY(read_headers(headers, &object, err));
    const json_t *value = json_object_get(object, key.data);
    boxcar_str text = {json_string_value(value), json_string_length(value)}; /* absent unless it is one */
    return arena_copy_str(arena, text, ret_value) ? BOXCAR_OK : error_no_memory(err);
}

static int count_hops(const json_t *headers) {
    const json_t *value = json_object_get(headers, BOXCAR_HOPS_HEADER);
    boxcar_str text = {json_string_value(value), json_string_length(value)};
    boxcar_str rest = text;
    int64_t number;

    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return 0;
    if (text.len == 0)
        return 0;
    /* More than INT64_MAX is more than enough. */
    return digits_take(&rest, &number) && number < BOXCAR_HOPS_MAX ? (int)number : BOXCAR_HOPS_MAX;
}

static int append(const char *bytes, size_t len, void *context) {
    buf_append(context, bytes, len);
    return 0;
}

boxcar_status fanout_raise_hops(boxcar_str headers, struct arena *arena, int *ret_hops,
                                boxcar_str *ret_headers, boxcar_error *err) {
    json_auto_t *object = NULL;
    struct buf text = BUF_INIT;
    char number[16];

    TRY(read_headers(headers, &object, err));
    int hops = count_hops(object);
    snprintf(number, sizeof(number), "%d", hops + 1);
    bool ok = json_object_set_new(object, BOXCAR_HOPS_HEADER, json_string(number)) == 0 &&
              json_dump_callback(object, append, &text, JSON_COMPACT) == 0 && !text.failed &&
              arena_copy_str(arena, (boxcar_str){text.data, text.len}, ret_headers);
    buf_release(&text);
    if (!ok)
        return error_no_memory(err);
    *ret_hops = hops;
    return BOXCAR_OK;
}

/* ---- ids ---- */

static boxcar_status derive(const char *name_space, boxcar_str policy, boxcar_str destination,
                            boxcar_message_id source, boxcar_uuid *ret_id, boxcar_error *err) {
    char id[BOXCAR_UUID_TEXT_SIZE];
    struct buf text = BUF_INIT;
    boxcar_uuid derived = {{0}};

    boxcar_uuid_format(source.uuid, id);
    buf_append_str(&text, policy);
    buf_append_char(&text, SEPARATOR);
    if (!str_is_absent(destination)) {
        buf_append_str(&text, destination);
        buf_append_char(&text, SEPARATOR);
    }
    buf_append_text(&text, id);
    if (!text.failed)
        uuid_derive(name_space, (boxcar_str){text.data, text.len}, derived.bytes);
    buf_release(&text);
    if (boxcar_uuid_is_none(derived))
        return error_no_memory(err);
    *ret_id = derived;
    return BOXCAR_OK;
}

boxcar_status fanout_copy_id(boxcar_str policy, boxcar_str destination, boxcar_message_id source,
                             boxcar_message_id *ret_id, boxcar_error *err) {
    return derive(NAMESPACE_COPY, policy, destination, source, &ret_id->uuid, err);
}

boxcar_status fanout_join_id(boxcar_str policy, boxcar_message_id source, boxcar_join_id *ret_id,
                             boxcar_error *err) {
    return derive(NAMESPACE_JOIN, policy, BOXCAR_NO_STR, source, &ret_id->uuid, err);
}

boxcar_status fanout_wait_id(boxcar_str policy, boxcar_message_id source, boxcar_message_id *ret_id,
                             boxcar_error *err) {
    return derive(NAMESPACE_WAIT, policy, BOXCAR_NO_STR, source, &ret_id->uuid, err);
}
