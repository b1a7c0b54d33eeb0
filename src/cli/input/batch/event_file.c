#include "event_file.h"

#include "cli/output/report.h"

static bool read_event_id(struct json_line *line, const struct json_field *field, const json_t *value) {
    boxcar_event_id *id = json_line_place(line, field);
    return (json_is_string(value) && boxcar_uuid_parse(json_line_text_of(value), &id->uuid) &&
            !boxcar_uuid_is_none(id->uuid)) ||
           json_line_refuse(line, "event_id is not a UUID: give 36 characters such as "
                                  "\"0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69\"");
}

#define AT(member) offsetof(boxcar_new_event, member)
static const struct json_field FIELDS[] = {
    {"type", json_line_read_text, AT(type), true},
    {"payload", json_line_read_payload, AT(payload), true},
    {"event_id", read_event_id, AT(event_id), false},
    {"headers", json_line_read_headers, AT(headers), false},
    {"correlation_id", json_line_read_text, AT(correlation_id), false},
    {"causation_id", json_line_read_text, AT(causation_id), false},
    {"topic", json_line_read_text, AT(topic), false},
};

static void start(void *item) { *(boxcar_new_event *)item = BOXCAR_NEW_EVENT_INIT; }

static const struct json_lines_kind EVENTS = {
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
    .item_size = sizeof(boxcar_new_event),
    .start = start,
    .most = BOXCAR_EVENT_COUNT_MAX,
    .example = "{\"type\": ..., \"payload\": ...}",
    .command = "event append",
    .doing = "reading events",
};

int event_file_load(struct cli *cli, const char *path, struct json_lines *ret_events) {
    int result = json_lines_load(cli, path, &EVENTS, ret_events);
    if (result != CLI_DONE || (ret_events->count >= 1 && ret_events->count <= BOXCAR_EVENT_COUNT_MAX))
        return result;
    return cli_usage(cli, "--batch has %s events: give 1 to %d, an append is all or nothing",
                     ret_events->count == 0 ? "no" : "too many", BOXCAR_EVENT_COUNT_MAX);
}
