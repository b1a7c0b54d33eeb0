#include "message_file.h"

#include "cli/input/values.h"

static bool read_time(struct json_line *line, const struct json_field *field, const json_t *value) {
    boxcar_time *due_at = json_line_place(line, field);
    if (!json_line_need_string(line, field, value, "an RFC 3339 time such as \"2026-01-31T12:00:00Z\""))
        return false;
    if (*due_at != BOXCAR_TIME_NONE)
        return json_line_refuse(line, "due and due_at are both given: give one of them");
    return boxcar_time_parse(json_line_text_of(value), due_at) ||
           json_line_refuse(line, "%s is no time: give an RFC 3339 time such as \"2026-01-31T12:00:00Z\"",
                            field->name);
}

static bool read_duration(struct json_line *line, const struct json_field *field, const json_t *value,
                          int64_t min_ms) {
    int64_t *ms = json_line_place(line, field);
    char max[VALUE_DURATION_SIZE];
    if (!json_line_need_string(line, field, value, "a duration such as \"30s\""))
        return false;
    if (!boxcar_duration_parse(json_line_text_of(value), ms))
        return json_line_refuse(line, "%s is no duration: give 500ms, 30s, 5m, 2h or 7d", field->name);
    value_format_duration(BOXCAR_DELAY_MS_MAX, max);
    return (*ms >= min_ms && *ms <= BOXCAR_DELAY_MS_MAX) ||
           json_line_refuse(line, "%s is out of range: give %dms to %s", field->name, (int)min_ms, max);
}

static bool read_delay(struct json_line *line, const struct json_field *field, const json_t *value) {
    return read_duration(line, field, value, 0);
}

static bool read_ttl(struct json_line *line, const struct json_field *field, const json_t *value) {
    return read_duration(line, field, value, 1);
}

static bool read_message_id(struct json_line *line, const struct json_field *field, const json_t *value) {
    boxcar_message_id *id = json_line_place(line, field);
    return json_line_need_string(line, field, value, "a UUID") &&
           ((boxcar_uuid_parse(json_line_text_of(value), &id->uuid) && !boxcar_uuid_is_none(id->uuid)) ||
            json_line_refuse(line, "message_id is not a UUID: give 36 characters such as "
                                   "\"0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69\""));
}

static bool read_join(struct json_line *line, const struct json_field *field, const json_t *value) {
    boxcar_join_id *id = json_line_place(line, field);
    if (!json_line_need_string(line, field, value, "a UUID"))
        return false;
    if (!boxcar_uuid_is_none(id->uuid))
        return json_line_refuse(line, "join and join_id are both given: give one of them");
    return (boxcar_uuid_parse(json_line_text_of(value), &id->uuid) && !boxcar_uuid_is_none(id->uuid)) ||
           json_line_refuse(line, "%s is not a UUID: give the id of a join", field->name);
}

/* Integers arrive as reals here, see json_lines.c. */
static bool read_count(struct json_line *line, const struct json_field *field, const json_t *value) {
    double number = json_number_value(value);
    if (!json_is_number(value) || number < 1 || number > BOXCAR_MAX_ATTEMPTS_MAX ||
        number != (double)(int)number) {
        return json_line_refuse(line, "%s is not a count: give a whole number from 1 to %d", field->name,
                                BOXCAR_MAX_ATTEMPTS_MAX);
    }
    *(int *)json_line_place(line, field) = (int)number;
    return true;
}

static bool read_flag(struct json_line *line, const struct json_field *field, const json_t *value) {
    if (!json_is_boolean(value))
        return json_line_refuse(line, "%s is neither true nor false", field->name);
    *(bool *)json_line_place(line, field) = json_is_true(value);
    return true;
}

static bool read_is_event(struct json_line *line, const struct json_field *field, const json_t *value) {
    if (!json_is_boolean(value))
        return json_line_refuse(line, "%s is neither true nor false", field->name);
    *(int *)json_line_place(line, field) = json_is_true(value) ? BOXCAR_EVENT_YES : BOXCAR_EVENT_NO;
    return true;
}

#define AT(member) offsetof(boxcar_new_message, member)

/* The fields that both boxes have. */
#define SHARED_FIELDS                                                                                        \
    {"topic", json_line_read_text, AT(topic), true}, {"payload", json_line_read_payload, AT(payload), true}, \
        {"correlation_id", json_line_read_text, AT(correlation_id), false},                                  \
        {"due", read_time, AT(due_at), false}, {"due_at", read_time, AT(due_at), false},                     \
        {"delay", read_delay, AT(delay_ms), false}, {"ttl", read_ttl, AT(ttl_ms), false},                    \
        {"stream", json_line_read_text, AT(stream), false},                                                  \
        {"headers", json_line_read_headers, AT(headers), false},                                             \
        {"max_attempts", read_count, AT(max_attempts), false},                                               \
        {"causation_id", json_line_read_text, AT(causation_id), false},                                      \
        {"metadata", json_line_read_object, AT(metadata), false},                                            \
        {"is_event", read_is_event, AT(is_event), false}, {                                                  \
        "event_type", json_line_read_text, AT(event_type), false                                             \
    }

static const struct json_field OUTBOX_FIELDS[] = {
    SHARED_FIELDS,
    {"message_id", read_message_id, AT(message_id), false},
    {"key", json_line_read_text, AT(key), false},
    {"unique", read_flag, AT(unique), false},
    {"join", read_join, AT(join_id), false},
    {"join_id", read_join, AT(join_id), false},
};

static const struct json_field INBOX_FIELDS[] = {
    {"source", json_line_read_text, AT(source), true},
    {"id", json_line_read_text, AT(external_id), true},
    {"content_hash", json_line_read_text, AT(content_hash), false},
    SHARED_FIELDS,
};

static void start(void *item) { *(boxcar_new_message *)item = BOXCAR_NEW_MESSAGE_INIT; }

static const struct json_lines_kind KINDS[] = {
    [BOXCAR_OUTBOX] =
        {
            .fields = OUTBOX_FIELDS,
            .field_count = sizeof(OUTBOX_FIELDS) / sizeof(OUTBOX_FIELDS[0]),
            .item_size = sizeof(boxcar_new_message),
            .start = start,
            .most = SIZE_MAX,
            .example = "{\"topic\": ..., \"payload\": ...}",
            .command = "enqueue",
            .doing = "reading messages",
        },
    [BOXCAR_INBOX] =
        {
            .fields = INBOX_FIELDS,
            .field_count = sizeof(INBOX_FIELDS) / sizeof(INBOX_FIELDS[0]),
            .item_size = sizeof(boxcar_new_message),
            .start = start,
            .most = SIZE_MAX,
            .example = "{\"source\": ..., \"id\": ..., \"topic\": ..., \"payload\": ...}",
            .command = "inbox enqueue",
            .doing = "reading messages",
        },
};

const struct json_lines_kind *batch_file_kind(boxcar_box box) { return &KINDS[box]; }

int batch_file_load(struct cli *cli, const char *path, boxcar_box box, struct json_lines *ret_messages) {
    return json_lines_load(cli, path, &KINDS[box], ret_messages);
}
