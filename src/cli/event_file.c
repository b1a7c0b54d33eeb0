#include "event_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"
#include "report.h"
#include "suggest.h"

/* One line while it is read. */
struct line {
    const struct cli *cli;
    size_t number;
    boxcar_str text;
    json_t *root;
    boxcar_new_event event;
    char *texts[2];
};

enum { TEXT_PAYLOAD, TEXT_HEADERS };

static bool refuse(const struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(const struct line *line, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cli_usage(line->cli, "line %zu: %s", line->number, text);
    return false;
}

/* A reader takes one member of the object into the event. */
struct field {
    const char *name;
    bool (*read)(struct line *line, const struct field *field, const json_t *value);
    size_t offset; /* of the text in the event */
};

static boxcar_str text_of(const json_t *value) {
    return (boxcar_str){json_string_value(value), json_string_length(value)};
}

static bool read_text(struct line *line, const struct field *field, const json_t *value) {
    if (!json_is_string(value))
        return refuse(line, "%s is not a string: give text in quotes", field->name);
    *(boxcar_str *)((char *)&line->event + field->offset) = text_of(value);
    return true;
}

/* Keeps the text of a member as it was written. */
static bool keep_text(struct line *line, const struct field *field, int which) {
    size_t length = 0;
    line->texts[which] = json_text_member(line->text, field->name, &length);
    if (!line->texts[which])
        return refuse(line, "out of memory");
    *(boxcar_str *)((char *)&line->event + field->offset) = (boxcar_str){line->texts[which], length};
    return true;
}

static bool read_payload(struct line *line, const struct field *field, const json_t *value) {
    return json_is_string(value) ? read_text(line, field, value) : keep_text(line, field, TEXT_PAYLOAD);
}

static bool read_headers(struct line *line, const struct field *field, const json_t *value) {
    if (!json_is_object(value))
        return refuse(line, "headers is not an object: give an object whose values are strings");
    return keep_text(line, field, TEXT_HEADERS);
}

static bool read_event_id(struct line *line, const struct field *field, const json_t *value) {
    (void)field;
    return (json_is_string(value) && boxcar_event_id_parse(text_of(value), &line->event.event_id) &&
            !boxcar_event_id_is_none(line->event.event_id)) ||
           refuse(line, "event_id is not a UUID: give 36 characters such as "
                        "\"0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69\"");
}

#define AT(member) offsetof(boxcar_new_event, member)
static const struct field FIELDS[] = {
    {"type", read_text, AT(type)},
    {"payload", read_payload, AT(payload)},
    {"event_id", read_event_id, 0},
    {"headers", read_headers, AT(headers)},
    {"correlation_id", read_text, AT(correlation_id)},
    {"topic", read_text, AT(topic)},
};
enum { FIELD_COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

static bool unknown_field(const struct line *line, const char *name) {
    struct suggestion suggestion = {.typed = name};
    for (size_t i = 0; i < FIELD_COUNT; i++)
        suggest_consider(&suggestion, FIELDS[i].name);
    if (suggestion.best)
        return refuse(line, "unknown field '%.64s', did you mean '%s'?", name, suggestion.best);
    return refuse(line, "unknown field '%.64s': see boxcar help event append", name);
}

static bool read_field(struct line *line, const char *name, const json_t *value) {
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(FIELDS[i].name, name) == 0)
            return json_is_null(value) || FIELDS[i].read(line, &FIELDS[i], value);
    return unknown_field(line, name);
}

/* null is what leaving a field out means, but a payload cannot be left out. */
static bool read_fields(struct line *line) {
    const char *name;
    json_t *value;
    json_object_foreach(line->root, name, value) {
        if (!read_field(line, name, value))
            return false;
    }
    if (!line->event.type.data)
        return refuse(line, "type is missing: give 1 to 255 characters");
    return line->event.payload.data ||
           refuse(line, "payload is %s: give text or a JSON value, it may be empty",
                  json_object_get(line->root, "payload") ? "null" : "missing");
}

/* jansson quotes the place that is wrong, which may be a payload: that part is left out. */
static bool not_json(const struct line *line, const json_error_t *error) {
    const char *quoted = strstr(error->text, " near ");
    int length = quoted ? (int)(quoted - error->text) : (int)strlen(error->text);
    return refuse(line, "not valid JSON at column %d: %.*s", error->column, length, error->text);
}

/* Integers are read as reals because payloads, kept as they were written, may have any. */
static bool parse(struct line *line) {
    json_error_t error;
    if (memchr(line->text.data, '\0', line->text.len))
        return refuse(line, "contains a NUL byte: give one JSON object a line");
    line->root = json_loadb(
        line->text.data, line->text.len,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
    if (!line->root)
        return not_json(line, &error);
    if (!json_is_object(line->root))
        return refuse(line, "is not a JSON object: give {\"type\": ..., \"payload\": ...}");
    return read_fields(line);
}

static bool reserve(struct event_file *file) {
    if (file->count < file->capacity)
        return true;
    size_t capacity = file->capacity ? file->capacity * 2 : 64;
    boxcar_new_event *events = reallocarray(file->events, capacity, sizeof(*events));
    file->events = events ? events : file->events;
    size_t *lines = reallocarray(file->lines, capacity, sizeof(*lines));
    file->lines = lines ? lines : file->lines;
    json_t **roots = reallocarray(file->roots, capacity, sizeof(*roots));
    file->roots = roots ? roots : file->roots;
    char **texts = reallocarray(file->texts, capacity, 2 * sizeof(*texts));
    file->texts = texts ? texts : file->texts;
    if (!events || !lines || !roots || !texts)
        return false;
    file->capacity = capacity;
    return true;
}

static bool is_blank(boxcar_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\0' || !strchr(" \t\r\n", text.data[i]))
            return false;
    return true;
}

static int read_line(const struct cli *cli, size_t number, boxcar_str text, struct event_file *file) {
    struct line line = {.cli = cli, .number = number, .text = text, .event = BOXCAR_NEW_EVENT_INIT};
    if (is_blank(text))
        return CLI_DONE;
    if (!reserve(file))
        return cli_no_memory(cli);
    bool good = parse(&line);
    size_t i = file->count++;
    file->events[i] = line.event;
    file->lines[i] = number;
    file->roots[i] = line.root;
    memcpy(file->texts + 2 * i, line.texts, sizeof(line.texts));
    return good ? CLI_DONE : CLI_USAGE;
}

static int check_count(const struct cli *cli, const struct event_file *file) {
    if (file->count >= 1 && file->count <= BOXCAR_EVENT_COUNT_MAX)
        return CLI_DONE;
    return cli_usage(cli, "--batch has %s events: give 1 to %d, an append is all or nothing",
                     file->count == 0 ? "no" : "too many", BOXCAR_EVENT_COUNT_MAX);
}

int event_file_read(const struct cli *cli, FILE *in, struct event_file *ret_file) {
    char *text = NULL;
    size_t size = 0;
    int result = CLI_DONE;
    *ret_file = (struct event_file){0};
    for (size_t number = 1; result == CLI_DONE && ret_file->count <= BOXCAR_EVENT_COUNT_MAX; number++) {
        errno = 0;
        ssize_t length = getline(&text, &size, in);
        if (length < 0)
            break;
        result = read_line(cli, number, (boxcar_str){text, (size_t)length}, ret_file);
    }
    if (result == CLI_DONE && ret_file->count <= BOXCAR_EVENT_COUNT_MAX && !feof(in))
        result = cli_fail(cli, CLI_ERROR, "cannot read the batch: %s", strerror(errno));
    free(text);
    return result == CLI_DONE ? check_count(cli, ret_file) : result;
}

void event_file_release(struct event_file *file) {
    for (size_t i = 0; i < file->count; i++) {
        json_decref(file->roots[i]);
        free(file->texts[2 * i]);
        free(file->texts[2 * i + 1]);
    }
    free(file->events);
    free(file->lines);
    free(file->roots);
    free(file->texts);
    *file = (struct event_file){0};
}

int event_file_fail(const struct cli *cli, const struct event_file *file, const boxcar_error *err) {
    size_t index = 0;
    bool many = sscanf(err->argument, "events[%zu]", &index) == 1 && index < file->count;
    const char *dot = strrchr(err->argument, '.');
    char where[32];
    if (!many)
        return cli_fail_with(cli, err);
    snprintf(where, sizeof(where), "line %zu", file->lines[index]);
    return cli_fail_at(cli, where, dot ? dot + 1 : err->argument, err);
}
