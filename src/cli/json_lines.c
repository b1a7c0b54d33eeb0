#include "json_lines.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"
#include "progress.h"
#include "report.h"
#include "suggest.h"

/* ---- fields ---- */

enum { TEXT_PAYLOAD, TEXT_HEADERS };

bool json_line_refuse(const struct json_line *line, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cli_usage(line->cli, "line %zu: %s", line->number, text);
    return false;
}

void *json_line_place(const struct json_line *line, const struct json_field *field) {
    return (char *)line->item + field->offset;
}

boxcar_str json_line_text_of(const json_t *value) {
    return (boxcar_str){json_string_value(value), json_string_length(value)};
}

bool json_line_need_string(const struct json_line *line, const struct json_field *field, const json_t *value,
                           const char *what) {
    return json_is_string(value) || json_line_refuse(line, "%s is not a string: give %s", field->name, what);
}

bool json_line_read_text(struct json_line *line, const struct json_field *field, const json_t *value) {
    if (!json_line_need_string(line, field, value, "text in quotes"))
        return false;
    *(boxcar_str *)json_line_place(line, field) = json_line_text_of(value);
    return true;
}

/* Keeps the text of a member as it was written. */
static bool keep_text(struct json_line *line, const struct json_field *field, int which) {
    size_t length = 0;
    line->texts[which] = json_text_member(line->text, field->name, &length);
    if (!line->texts[which])
        return json_line_refuse(line, "out of memory");
    *(boxcar_str *)json_line_place(line, field) = (boxcar_str){line->texts[which], length};
    return true;
}

bool json_line_read_payload(struct json_line *line, const struct json_field *field, const json_t *value) {
    return json_is_string(value) ? json_line_read_text(line, field, value)
                                 : keep_text(line, field, TEXT_PAYLOAD);
}

bool json_line_read_headers(struct json_line *line, const struct json_field *field, const json_t *value) {
    if (!json_is_object(value))
        return json_line_refuse(line, "headers is not an object: give an object whose values are strings");
    return keep_text(line, field, TEXT_HEADERS);
}

/* ---- lines ---- */

static const struct json_field *find_field(const struct json_lines_kind *kind, const char *name) {
    for (size_t i = 0; i < kind->field_count; i++)
        if (strcmp(kind->fields[i].name, name) == 0)
            return &kind->fields[i];
    return NULL;
}

static bool unknown_field(const struct json_line *line, const struct json_lines_kind *kind,
                          const char *name) {
    struct suggestion suggestion = {.typed = name};
    for (size_t i = 0; i < kind->field_count; i++)
        suggest_consider(&suggestion, kind->fields[i].name);
    if (suggestion.best)
        return json_line_refuse(line, "unknown field '%.64s', did you mean '%s'?", name, suggestion.best);
    return json_line_refuse(line, "unknown field '%.64s': see boxcar help %s", name, kind->command);
}

/* null is what leaving a field out means, but a payload cannot be left out. */
static bool missing(const struct json_line *line, const struct json_field *field) {
    if (field->read != json_line_read_payload)
        return json_line_refuse(line, "%s is missing: give 1 to 255 characters", field->name);
    return json_line_refuse(line, "payload is %s: give text or a JSON value, it may be empty",
                            json_object_get(line->root, field->name) ? "null" : "missing");
}

static bool read_fields(struct json_line *line, const struct json_lines_kind *kind) {
    const char *name;
    json_t *value;
    json_object_foreach(line->root, name, value) {
        const struct json_field *field = find_field(kind, name);
        if (!field)
            return unknown_field(line, kind, name);
        if (!json_is_null(value) && !field->read(line, field, value))
            return false;
    }
    for (size_t i = 0; i < kind->field_count; i++) {
        const struct json_field *field = &kind->fields[i];
        if (field->required && !((const boxcar_str *)json_line_place(line, field))->data)
            return missing(line, field);
    }
    return true;
}

/* jansson quotes the place that is wrong, which may be a payload: that part is left out. */
static bool not_json(const struct json_line *line, const json_error_t *error) {
    const char *quoted = strstr(error->text, " near ");
    int length = quoted ? (int)(quoted - error->text) : (int)strlen(error->text);
    return json_line_refuse(line, "not valid JSON at column %d: %.*s", error->column, length, error->text);
}

/* Integers are read as reals because payloads, kept as they were written, may have any. */
static bool parse(struct json_line *line, const struct json_lines_kind *kind) {
    json_error_t error;
    if (memchr(line->text.data, '\0', line->text.len))
        return json_line_refuse(line, "contains a NUL byte: give one JSON object a line");
    line->root = json_loadb(
        line->text.data, line->text.len,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
    if (!line->root)
        return not_json(line, &error);
    if (!json_is_object(line->root))
        return json_line_refuse(line, "is not a JSON object: give %s", kind->example);
    return read_fields(line, kind);
}

/* ---- files ---- */

static bool reserve(struct json_lines *lines) {
    if (lines->count < lines->capacity)
        return true;
    size_t capacity = lines->capacity ? lines->capacity * 2 : 64;
    void *items = reallocarray(lines->items, capacity, lines->kind->item_size);
    lines->items = items ? items : lines->items;
    size_t *numbers = reallocarray(lines->numbers, capacity, sizeof(*numbers));
    lines->numbers = numbers ? numbers : lines->numbers;
    json_t **roots = reallocarray(lines->roots, capacity, sizeof(*roots));
    lines->roots = roots ? roots : lines->roots;
    char **texts = reallocarray(lines->texts, capacity, 2 * sizeof(*texts));
    lines->texts = texts ? texts : lines->texts;
    if (!items || !numbers || !roots || !texts)
        return false;
    lines->capacity = capacity;
    return true;
}

static bool is_blank(boxcar_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\0' || !strchr(" \t\r\n", text.data[i]))
            return false;
    return true;
}

/* The end of the line is no part of the JSON: what ends too early does so at a column. */
static boxcar_str without_line_end(boxcar_str text) {
    while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
        text.len--;
    return text;
}

static int read_line(const struct cli *cli, size_t number, boxcar_str text, struct json_lines *lines) {
    struct json_line line = {.cli = cli, .number = number, .text = without_line_end(text)};
    if (is_blank(text))
        return CLI_DONE;
    if (!reserve(lines))
        return cli_no_memory(cli);
    size_t i = lines->count++;
    line.item = (char *)lines->items + i * lines->kind->item_size;
    lines->kind->start(line.item);
    bool good = parse(&line, lines->kind);
    lines->numbers[i] = number;
    lines->roots[i] = line.root;
    memcpy(lines->texts + 2 * i, line.texts, sizeof(line.texts));
    return good ? CLI_DONE : CLI_USAGE;
}

static int read_lines(const struct cli *cli, FILE *in, struct progress *progress, struct json_lines *lines) {
    char *text = NULL;
    size_t size = 0;
    int result = CLI_DONE;
    for (size_t number = 1; result == CLI_DONE && lines->count <= lines->kind->most; number++) {
        errno = 0;
        ssize_t length = getline(&text, &size, in);
        if (length < 0)
            break;
        result = read_line(cli, number, (boxcar_str){text, (size_t)length}, lines);
        progress_count(progress, (int64_t)lines->count);
    }
    if (result == CLI_DONE && lines->count <= lines->kind->most && !feof(in))
        result = cli_fail(cli, CLI_ERROR, "cannot read the batch: %s", strerror(errno));
    free(text);
    return result;
}

int json_lines_load(struct cli *cli, const char *path, const struct json_lines_kind *kind,
                    struct json_lines *ret_lines) {
    bool is_stdin = strcmp(path, "-") == 0;
    *ret_lines = (struct json_lines){.kind = kind};
    FILE *in = is_stdin ? stdin : fopen(path, "r");
    if (!in)
        return cli_usage(cli, "--batch: cannot open '%.200s': %s", path, strerror(errno));
    struct progress *progress = progress_begin(cli, kind->doing);
    int result = read_lines(cli, in, progress, ret_lines);
    progress_end(progress);
    if (!is_stdin)
        fclose(in);
    return result;
}

void json_lines_release(struct json_lines *lines) {
    for (size_t i = 0; i < lines->count; i++) {
        json_decref(lines->roots[i]);
        free(lines->texts[2 * i]);
        free(lines->texts[2 * i + 1]);
    }
    free(lines->items);
    free(lines->numbers);
    free(lines->roots);
    free(lines->texts);
    *lines = (struct json_lines){0};
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

int json_lines_fail(const struct cli *cli, const struct json_lines *lines, const boxcar_error *err) {
    const char *index_text = strchr(err->argument, '[');
    size_t index = 0;
    /* Calls that take one or many leave the place out when there is one. */
    bool is_placed = index_text ? sscanf(index_text, "[%zu]", &index) == 1
                                : lines->count == 1 && find_field(lines->kind, field_name(err->argument)) != NULL;
    if (!is_placed || index >= lines->count)
        return cli_fail_with(cli, err);
    char where[32];
    snprintf(where, sizeof(where), "line %zu", lines->numbers[index]);
    return cli_fail_at(cli, where, field_name(err->argument), err);
}
