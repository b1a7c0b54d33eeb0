#include "message_file.h"

#include "base/error.h"
#include "cli/input/values.h"
#include "cli/output/report.h"
#include "json_text.h"

/* ---- readers of fields ---- */

static boxcar_str text_of(const json_t *value) {
    return (boxcar_str){json_string_value(value), json_string_length(value)};
}

static bool need_string(const struct json_line *line, const struct json_field *field, const json_t *value,
                        const char *what) {
    return json_is_string(value) || json_line_refuse(line, "%s is not a string: give %s", field->name, what);
}

/* The item borrows a text of the pool: the line and its JSON do not last. */
static bool put_text(struct json_line *line, const struct json_field *field, boxcar_str text) {
    *(boxcar_str *)json_line_place(line, field) = text;
    return text.data || json_fault_no_memory(line->fault);
}

static bool read_text(struct json_line *line, const struct json_field *field, const json_t *value) {
    return need_string(line, field, value, "text in quotes") &&
           put_text(line, field, text_pool_copy(line->texts, text_of(value)));
}

/* The text of a member as it was written. */
static bool keep_written(struct json_line *line, const struct json_field *field) {
    boxcar_str written = json_text_member(line->text, field->name);
    char *kept = text_pool_reserve(line->texts, written.len);
    return put_text(line, field, (boxcar_str){kept, kept ? json_text_compact(written, kept) : 0});
}

/* One that is not a string is kept as it was written, and so are headers and other objects. */
static bool read_payload(struct json_line *line, const struct json_field *field, const json_t *value) {
    if (line->payload.data)
        return put_text(line, field, line->payload);
    return json_is_string(value) ? read_text(line, field, value) : keep_written(line, field);
}

static bool read_object(struct json_line *line, const struct json_field *field, const json_t *value) {
    return json_is_object(value) ? keep_written(line, field)
                                 : json_line_refuse(line, "%s is not an object", field->name);
}

static bool read_headers(struct json_line *line, const struct json_field *field, const json_t *value) {
    return json_is_object(value)
               ? keep_written(line, field)
               : json_line_refuse(line, "headers is not an object: give an object whose values are strings");
}

static bool read_time(struct json_line *line, const struct json_field *field, const json_t *value) {
    boxcar_time *due_at = json_line_place(line, field);
    if (!need_string(line, field, value, "an RFC 3339 time such as \"2026-01-31T12:00:00Z\""))
        return false;
    if (*due_at != BOXCAR_TIME_NONE)
        return json_line_refuse(line, "due and due_at are both given: give one of them");
    return boxcar_time_parse(text_of(value), due_at) ||
           json_line_refuse(line, "%s is no time: give an RFC 3339 time such as \"2026-01-31T12:00:00Z\"",
                            field->name);
}

static bool read_duration(struct json_line *line, const struct json_field *field, const json_t *value,
                          int64_t min_ms) {
    int64_t *ms = json_line_place(line, field);
    char max[VALUE_UNITS_SIZE];
    if (!need_string(line, field, value, "a duration such as \"30s\""))
        return false;
    if (!boxcar_duration_parse(text_of(value), ms))
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

/* The id of a new event; a struct of an id is its UUID. */
static bool read_event_id(struct json_line *line, const struct json_field *field, const json_t *value) {
    return value_parse_uuid(text_of(value), json_line_place(line, field)) ||
           json_line_refuse(
               line, "%s is not a UUID: give 36 characters such as \"0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69\"",
               field->name);
}

static bool read_message_id(struct json_line *line, const struct json_field *field, const json_t *value) {
    return need_string(line, field, value, "a UUID") && read_event_id(line, field, value);
}

static bool read_join(struct json_line *line, const struct json_field *field, const json_t *value) {
    boxcar_join_id *id = json_line_place(line, field);
    if (!need_string(line, field, value, "a UUID"))
        return false;
    if (!boxcar_uuid_is_none(id->uuid))
        return json_line_refuse(line, "join and join_id are both given: give one of them");
    return value_parse_uuid(text_of(value), &id->uuid) ||
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

static bool need_boolean(const struct json_line *line, const struct json_field *field, const json_t *value) {
    return json_is_boolean(value) || json_line_refuse(line, "%s is neither true nor false", field->name);
}

static bool read_flag(struct json_line *line, const struct json_field *field, const json_t *value) {
    if (!need_boolean(line, field, value))
        return false;
    *(bool *)json_line_place(line, field) = json_is_true(value);
    return true;
}

static bool read_is_event(struct json_line *line, const struct json_field *field, const json_t *value) {
    if (!need_boolean(line, field, value))
        return false;
    *(int *)json_line_place(line, field) = json_is_true(value) ? BOXCAR_EVENT_YES : BOXCAR_EVENT_NO;
    return true;
}

/* ---- what objects have ---- */

#define AT(member) offsetof(boxcar_new_message, member)

/* The fields that both boxes have. */
#define SHARED_FIELDS                                                                                        \
    {"topic", read_text, AT(topic), true}, {"payload", read_payload, AT(payload), true},                     \
        {"correlation_id", read_text, AT(correlation_id), false}, {"due", read_time, AT(due_at), false},     \
        {"due_at", read_time, AT(due_at), false}, {"delay", read_delay, AT(delay_ms), false},                \
        {"ttl", read_ttl, AT(ttl_ms), false}, {"stream", read_text, AT(stream), false},                      \
        {"headers", read_headers, AT(headers), false},                                                       \
        {"max_attempts", read_count, AT(max_attempts), false},                                               \
        {"causation_id", read_text, AT(causation_id), false},                                                \
        {"metadata", read_object, AT(metadata), false}, {"is_event", read_is_event, AT(is_event), false}, {  \
        "event_type", read_text, AT(event_type), false                                                       \
    }

static const struct json_field OUTBOX_FIELDS[] = {
    SHARED_FIELDS,
    {"message_id", read_message_id, AT(message_id), false},
    {"key", read_text, AT(key), false},
    {"unique", read_flag, AT(unique), false},
    {"join", read_join, AT(join_id), false},
    {"join_id", read_join, AT(join_id), false},
};

static const struct json_field INBOX_FIELDS[] = {
    {"source", read_text, AT(source), true},
    {"id", read_text, AT(external_id), true},
    {"content_hash", read_text, AT(content_hash), false},
    SHARED_FIELDS,
};

#define EVENT_AT(member) offsetof(boxcar_new_event, member)

static const struct json_field EVENT_FIELDS[] = {
    {"type", read_text, EVENT_AT(type), true},
    {"payload", read_payload, EVENT_AT(payload), true},
    {"event_id", read_event_id, EVENT_AT(event_id), false},
    {"headers", read_headers, EVENT_AT(headers), false},
    {"correlation_id", read_text, EVENT_AT(correlation_id), false},
    {"causation_id", read_text, EVENT_AT(causation_id), false},
    {"topic", read_text, EVENT_AT(topic), false},
};

static void start_message(void *item) { *(boxcar_new_message *)item = BOXCAR_NEW_MESSAGE_INIT; }

static void start_event(void *item) { *(boxcar_new_event *)item = BOXCAR_NEW_EVENT_INIT; }

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
enum { EVENTS = BOXCAR_INBOX + 1 };
static const struct json_lines_kind KINDS[] = {
    [BOXCAR_OUTBOX] = {OUTBOX_FIELDS, COUNT_OF(OUTBOX_FIELDS), sizeof(boxcar_new_message), start_message,
                       SIZE_MAX, "{\"topic\": ..., \"payload\": ...}", "enqueue", "reading messages"},
    [BOXCAR_INBOX] = {INBOX_FIELDS, COUNT_OF(INBOX_FIELDS), sizeof(boxcar_new_message), start_message,
                      SIZE_MAX, "{\"source\": ..., \"id\": ..., \"topic\": ..., \"payload\": ...}",
                      "inbox enqueue", "reading messages"},
    [EVENTS] = {EVENT_FIELDS, COUNT_OF(EVENT_FIELDS), sizeof(boxcar_new_event), start_event,
                BOXCAR_EVENT_COUNT_MAX, "{\"type\": ..., \"payload\": ...}", "event append",
                "reading events"},
};

const struct json_lines_kind *batch_file_kind(boxcar_box box) { return &KINDS[box]; }

int batch_file_load(struct cli *cli, const char *path, boxcar_box box, struct json_lines *ret_messages) {
    return json_lines_load(cli, path, &KINDS[box], ret_messages);
}

int event_file_load(struct cli *cli, const char *path, struct json_lines *ret_events) {
    TRY(json_lines_load(cli, path, &KINDS[EVENTS], ret_events));
    if (ret_events->count >= 1 && ret_events->count <= BOXCAR_EVENT_COUNT_MAX)
        return CLI_DONE;
    return cli_usage(cli, "--batch has %s events: give 1 to %d, an append is all or nothing",
                     ret_events->count == 0 ? "no" : "too many", BOXCAR_EVENT_COUNT_MAX);
}
