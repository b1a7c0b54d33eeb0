#include "batch_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"
#include "progress.h"
#include "report.h"
#include "suggest.h"
#include "values.h"

/* One line while it is read. */
struct line {
    const struct cli *cli;
    size_t number;
    boxcar_str text;
    json_t *root;
    boxcar_box box;
    boxcar_new_message message;
    struct batch_key key;
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

/* A reader takes one member of the object into the message. */
struct field {
    const char *name;
    bool (*read)(struct line *line, const struct field *field, const json_t *value);
    size_t offset; /* of the text in the line, for those that are plain text */
    int boxes;     /* a bit for each box that has such a field */
};

static boxcar_str text_of(const json_t *value) {
    return (boxcar_str){json_string_value(value), json_string_length(value)};
}

static bool need_string(const struct line *line, const struct field *field, const json_t *value,
                        const char *what) {
    return json_is_string(value) || refuse(line, "%s is not a string: give %s", field->name, what);
}

static bool read_text(struct line *line, const struct field *field, const json_t *value) {
    if (!need_string(line, field, value, "text in quotes"))
        return false;
    *(boxcar_str *)((char *)line + field->offset) = text_of(value);
    return true;
}

/* Keeps the text of a member as it was written. */
static bool keep_text(struct line *line, const struct field *field, int which, boxcar_str *ret_text) {
    size_t length = 0;
    line->texts[which] = json_text_member(line->text, field->name, &length);
    if (!line->texts[which])
        return refuse(line, "out of memory");
    *ret_text = (boxcar_str){line->texts[which], length};
    return true;
}

static bool read_payload(struct line *line, const struct field *field, const json_t *value) {
    if (json_is_string(value))
        return read_text(line, field, value);
    return keep_text(line, field, TEXT_PAYLOAD, &line->message.payload);
}

static bool read_headers(struct line *line, const struct field *field, const json_t *value) {
    if (!json_is_object(value))
        return refuse(line, "headers is not an object: give an object whose values are strings");
    return keep_text(line, field, TEXT_HEADERS, &line->message.headers);
}

static bool read_time(struct line *line, const struct field *field, const json_t *value) {
    if (!need_string(line, field, value, "an RFC 3339 time such as \"2026-01-31T12:00:00Z\""))
        return false;
    if (line->message.due_at != BOXCAR_TIME_NONE)
        return refuse(line, "due and due_at are both given: give one of them");
    return boxcar_time_parse(text_of(value), &line->message.due_at) ||
           refuse(line, "%s is no time: give an RFC 3339 time such as \"2026-01-31T12:00:00Z\"", field->name);
}

static bool read_duration(struct line *line, const struct field *field, const json_t *value, int64_t min_ms,
                          int64_t *ret_ms) {
    char max[VALUE_DURATION_SIZE];
    if (!need_string(line, field, value, "a duration such as \"30s\""))
        return false;
    if (!boxcar_duration_parse(text_of(value), ret_ms))
        return refuse(line, "%s is no duration: give 500ms, 30s, 5m, 2h or 7d", field->name);
    value_format_duration(BOXCAR_DELAY_MS_MAX, max);
    return (*ret_ms >= min_ms && *ret_ms <= BOXCAR_DELAY_MS_MAX) ||
           refuse(line, "%s is out of range: give %dms to %s", field->name, (int)min_ms, max);
}

static bool read_delay(struct line *line, const struct field *field, const json_t *value) {
    return read_duration(line, field, value, 0, &line->message.delay_ms);
}

static bool read_ttl(struct line *line, const struct field *field, const json_t *value) {
    return read_duration(line, field, value, 1, &line->message.ttl_ms);
}

static bool read_message_id(struct line *line, const struct field *field, const json_t *value) {
    return need_string(line, field, value, "a UUID") &&
           ((boxcar_message_id_parse(text_of(value), &line->message.message_id) &&
             !boxcar_message_id_is_none(line->message.message_id)) ||
            refuse(line, "message_id is not a UUID: give 36 characters such as "
                         "\"0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69\""));
}

static bool read_join(struct line *line, const struct field *field, const json_t *value) {
    if (!need_string(line, field, value, "a UUID"))
        return false;
    if (!boxcar_join_id_is_none(line->message.join_id))
        return refuse(line, "join and join_id are both given: give one of them");
    return (boxcar_join_id_parse(text_of(value), &line->message.join_id) &&
            !boxcar_join_id_is_none(line->message.join_id)) ||
           refuse(line, "%s is not a UUID: give the id of a join", field->name);
}

/* Integers arrive as reals here, see parse(). */
static bool read_count(struct line *line, const struct field *field, const json_t *value) {
    double number = json_number_value(value);
    if (!json_is_number(value) || number < 1 || number > BOXCAR_MAX_ATTEMPTS_MAX ||
        number != (double)(int)number) {
        return refuse(line, "%s is not a count: give a whole number from 1 to %d", field->name,
                      BOXCAR_MAX_ATTEMPTS_MAX);
    }
    line->message.max_attempts = (int)number;
    return true;
}

#define AT(member) offsetof(struct line, message.member)
#define KEY_AT(member) offsetof(struct line, key.member)
enum { OUT = 1 << BOXCAR_OUTBOX, IN = 1 << BOXCAR_INBOX };
static const struct field FIELDS[] = {
    {"source", read_text, KEY_AT(source), IN},
    {"id", read_text, KEY_AT(external_id), IN},
    {"content_hash", read_text, KEY_AT(content_hash), IN},
    {"topic", read_text, AT(topic), IN | OUT},
    {"payload", read_payload, AT(payload), IN | OUT},
    {"correlation_id", read_text, AT(correlation_id), IN | OUT},
    {"due", read_time, 0, IN | OUT},
    {"due_at", read_time, 0, IN | OUT},
    {"delay", read_delay, 0, IN | OUT},
    {"ttl", read_ttl, 0, IN | OUT},
    {"stream", read_text, AT(stream), IN | OUT},
    {"headers", read_headers, 0, IN | OUT},
    {"message_id", read_message_id, 0, OUT},
    {"key", read_text, AT(key), OUT},
    {"max_attempts", read_count, 0, IN | OUT},
    {"join", read_join, 0, OUT},
    {"join_id", read_join, 0, OUT},
};
enum { FIELD_COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

static bool is_field(const struct line *line, const struct field *field) {
    return (field->boxes & (1 << line->box)) != 0;
}

static const struct field *find_field(const struct line *line, const char *name) {
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (is_field(line, &FIELDS[i]) && strcmp(FIELDS[i].name, name) == 0)
            return &FIELDS[i];
    return NULL;
}

static bool unknown_field(const struct line *line, const char *name) {
    struct suggestion suggestion = {.typed = name};
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (is_field(line, &FIELDS[i]))
            suggest_consider(&suggestion, FIELDS[i].name);
    if (suggestion.best)
        return refuse(line, "unknown field '%.64s', did you mean '%s'?", name, suggestion.best);
    return refuse(line, "unknown field '%.64s': see boxcar help enqueue", name);
}

/* null is what leaving a field out means, but a payload cannot be left out. */
static bool read_fields(struct line *line) {
    const char *name;
    json_t *value;
    json_object_foreach(line->root, name, value) {
        const struct field *field = find_field(line, name);
        if (!field)
            return unknown_field(line, name);
        if (!json_is_null(value) && !field->read(line, field, value))
            return false;
    }
    if (line->box == BOXCAR_INBOX && (!line->key.source.data || !line->key.external_id.data))
        return refuse(line, "%s is missing: give 1 to 255 characters", line->key.source.data ? "id" : "source");
    if (!line->message.topic.data)
        return refuse(line, "topic is missing: give 1 to 255 characters");
    return line->message.payload.data ||
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
        return refuse(line, "is not a JSON object: give {\"topic\": ..., \"payload\": ...}");
    return read_fields(line);
}

static bool reserve(struct batch_file *file) {
    if (file->count < file->capacity)
        return true;
    size_t capacity = file->capacity ? file->capacity * 2 : 64;
    boxcar_new_message *messages = reallocarray(file->messages, capacity, sizeof(*messages));
    file->messages = messages ? messages : file->messages;
    size_t *lines = reallocarray(file->lines, capacity, sizeof(*lines));
    file->lines = lines ? lines : file->lines;
    struct batch_key *keys = reallocarray(file->keys, capacity, sizeof(*keys));
    file->keys = keys ? keys : file->keys;
    json_t **roots = reallocarray(file->roots, capacity, sizeof(*roots));
    file->roots = roots ? roots : file->roots;
    char **texts = reallocarray(file->texts, capacity, 2 * sizeof(*texts));
    file->texts = texts ? texts : file->texts;
    if (!messages || !lines || !keys || !roots || !texts)
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

static int read_line(const struct cli *cli, size_t number, boxcar_str text, struct batch_file *file) {
    struct line line = {.cli = cli, .number = number, .text = text, .box = file->box, .message = BOXCAR_NEW_MESSAGE_INIT};
    if (is_blank(text))
        return CLI_DONE;
    if (!reserve(file))
        return cli_no_memory(cli);
    bool good = parse(&line);
    size_t i = file->count++;
    file->messages[i] = line.message;
    file->lines[i] = number;
    file->keys[i] = line.key;
    file->roots[i] = line.root;
    memcpy(file->texts + 2 * i, line.texts, sizeof(line.texts));
    return good ? CLI_DONE : CLI_USAGE;
}

static int read_lines(const struct cli *cli, FILE *in, struct progress *progress, struct batch_file *ret_file) {
    char *text = NULL;
    size_t size = 0;
    int result = CLI_DONE;
    for (size_t number = 1; result == CLI_DONE; number++) {
        errno = 0;
        ssize_t length = getline(&text, &size, in);
        if (length < 0)
            break;
        result = read_line(cli, number, (boxcar_str){text, (size_t)length}, ret_file);
        progress_count(progress, (int64_t)ret_file->count);
    }
    if (result == CLI_DONE && !feof(in))
        result = cli_fail(cli, CLI_ERROR, "cannot read the batch: %s", strerror(errno));
    free(text);
    return result;
}

int batch_file_load(struct cli *cli, const char *path, boxcar_box box, struct batch_file *ret_file) {
    bool is_stdin = strcmp(path, "-") == 0;
    *ret_file = (struct batch_file){.box = box};
    FILE *in = is_stdin ? stdin : fopen(path, "r");
    if (!in)
        return cli_usage(cli, "--batch: cannot open '%.200s': %s", path, strerror(errno));
    struct progress *progress = progress_begin(cli, "reading messages");
    int result = read_lines(cli, in, progress, ret_file);
    progress_end(progress);
    if (!is_stdin)
        fclose(in);
    return result;
}

void batch_file_release(struct batch_file *file) {
    for (size_t i = 0; i < file->count; i++) {
        json_decref(file->roots[i]);
        free(file->texts[2 * i]);
        free(file->texts[2 * i + 1]);
    }
    free(file->messages);
    free(file->lines);
    free(file->keys);
    free(file->roots);
    free(file->texts);
    *file = (struct batch_file){0};
}

/* "delay" for messages[3].delay_ms: the library's names are those of the file but for these. */
static const char *field_name(const char *argument) {
    static const char *const RENAMED[][2] = {{"delay_ms", "delay"}, {"ttl_ms", "ttl"}, {"external_id", "id"}};
    const char *dot = strrchr(argument, '.');
    const char *name = dot ? dot + 1 : argument;
    for (size_t i = 0; i < sizeof(RENAMED) / sizeof(RENAMED[0]); i++)
        if (strcmp(name, RENAMED[i][0]) == 0)
            return RENAMED[i][1];
    return name;
}

int batch_file_fail(const struct cli *cli, const struct batch_file *file, const boxcar_error *err) {
    size_t index = 0;
    if (sscanf(err->argument, "messages[%zu]", &index) != 1 || index >= file->count)
        return cli_fail_with(cli, err);
    char where[32];
    snprintf(where, sizeof(where), "line %zu", file->lines[index]);
    return cli_fail_at(cli, where, field_name(err->argument), err);
}
