#include "json_lines.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/input/suggest.h"
#include "cli/output/progress.h"
#include "cli/output/report.h"
#include "json_text.h"

bool json_line_refuse(const struct json_line *line, const char *format, ...) {
    struct json_fault *fault = line->fault;
    va_list arguments;
    fault->exit = CLI_USAGE;
    int length = snprintf(fault->text, sizeof(fault->text), "line %zu: ", line->number);
    va_start(arguments, format);
    vsnprintf(fault->text + length, sizeof(fault->text) - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

bool json_fault_no_memory(struct json_fault *ret_fault) {
    *ret_fault = (struct json_fault){.exit = CLI_ERROR, .text = "out of memory"};
    return false;
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
    if (strcmp(field->name, "payload") != 0)
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

/* jansson reads on when it cannot allocate, and leaves a byte of a string out: so allocations are watched. */
static _Thread_local bool memory_was_short;

static void *allocate(size_t size) {
    void *memory = malloc(size);
    memory_was_short = memory_was_short || !memory;
    return memory;
}

static void watch_allocations(void) { json_set_alloc_funcs(allocate, free); }

/* Integers are read as reals because payloads, kept as they were written, may have any. */
static json_t *load(boxcar_str text, json_error_t *ret_error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_allocations);
    memory_was_short = false;
    json_t *root = json_loadb(
        text.data, text.len,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, ret_error);
    if (!memory_was_short)
        return root;
    json_decref(root);
    return NULL;
}

/* Most payloads are plain JSON, which is checked and copied in one pass and many times as fast. Then jansson
 * reads the line with `true` in its place, put together in `into`; data NULL = the payload is not so. */
static boxcar_str set_payload_aside(struct json_line *line, char *into, size_t size) {
    const char *end = line->text.data + line->text.len;
    const char *value = json_text_find(line->text, "payload");
    size_t room = value ? (size_t)(end - value) : 0, taken, length = 0;
    char *kept = room > 0 ? text_pool_reserve(line->texts, room) : NULL;
    if (!kept)
        return BOXCAR_NO_STR;
    taken = json_plain_copy((boxcar_str){value, room}, kept, &length);
    text_pool_give_back(line->texts, room - length);
    if (taken == 0 || line->text.len - taken + 4 > size) {
        text_pool_give_back(line->texts, length);
        return BOXCAR_NO_STR;
    }
    size_t before = (size_t)(value - line->text.data), after = room - taken;
    memcpy(into, line->text.data, before);
    memcpy(into + before, "true", 4);
    memcpy(into + before + 4, value + taken, after);
    line->payload = (boxcar_str){kept, length};
    return (boxcar_str){into, before + 4 + after};
}

/* Errors name the line as it is in the file. */
static bool load_line(struct json_line *line) {
    char short_text[512];
    json_error_t error;
    boxcar_str text = set_payload_aside(line, short_text, sizeof(short_text));
    line->root = text.data ? load(text, &error) : NULL;
    if (!line->root) {
        line->payload = BOXCAR_NO_STR;
        line->root = load(line->text, &error);
    }
    if (!line->root && memory_was_short)
        return json_fault_no_memory(line->fault);
    return line->root || not_json(line, &error);
}

static bool parse(struct json_line *line, const struct json_lines_kind *kind) {
    if (memchr(line->text.data, '\0', line->text.len))
        return json_line_refuse(line, "contains a NUL byte: give one JSON object a line");
    if (!load_line(line))
        return false;
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
    if (!items || !numbers)
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

/* Reads an item of the line; a blank one has none. */
static bool add_line(struct json_lines *lines, size_t number, boxcar_str text, struct json_fault *ret_fault) {
    struct json_line line = {
        .number = number, .text = without_line_end(text), .texts = &lines->texts, .fault = ret_fault};
    if (is_blank(text))
        return true;
    if (!reserve(lines))
        return json_fault_no_memory(ret_fault);
    line.item = (char *)lines->items + lines->count * lines->kind->item_size;
    lines->numbers[lines->count] = number;
    lines->kind->start(line.item);
    bool good = parse(&line, lines->kind);
    lines->count += good;
    json_decref(line.root);
    return good;
}

bool json_lines_read(struct json_lines *lines, struct line_reader *in, struct json_fault *ret_fault) {
    boxcar_str text;
    enum line_state state = line_reader_next(in, &text);
    if (state == LINE_READ)
        return add_line(lines, in->number, text, ret_fault);
    if (state == LINE_FAILED) {
        ret_fault->exit = CLI_ERROR;
        snprintf(ret_fault->text, sizeof(ret_fault->text), "cannot read the batch: %s", strerror(errno));
    }
    return false;
}

int json_lines_open(const struct cli *cli, const char *path, struct line_reader *ret_reader) {
    if (line_reader_open(ret_reader, path))
        return CLI_DONE;
    return cli_usage(cli, "--batch: cannot open '%.200s': %s", path, strerror(errno));
}

int json_lines_load(struct cli *cli, const char *path, const struct json_lines_kind *kind,
                    struct json_lines *ret_lines) {
    struct json_fault fault = {.exit = CLI_DONE};
    struct line_reader in;
    *ret_lines = (struct json_lines){.kind = kind};
    TRY(json_lines_open(cli, path, &in));
    struct progress *progress = progress_begin(cli, kind->doing);
    while (ret_lines->count <= kind->most && json_lines_read(ret_lines, &in, &fault))
        progress_count(progress, (int64_t)ret_lines->count);
    if (fault.exit != CLI_DONE)
        cli_fail(cli, fault.exit, "%s", fault.text);
    progress_end(progress);
    line_reader_release(&in);
    return fault.exit;
}

void json_lines_release(struct json_lines *lines) {
    free(lines->items);
    free(lines->numbers);
    text_pool_release(&lines->texts);
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

bool json_lines_index_of(const boxcar_error *err, size_t *ret_index) {
    const char *text = strchr(err->argument, '[');
    return text && sscanf(text, "[%zu]", ret_index) == 1;
}

int json_lines_fail_at(const struct cli *cli, const struct json_lines *lines, size_t index,
                       const boxcar_error *err) {
    char where[32];
    snprintf(where, sizeof(where), "line %zu", lines->numbers[index]);
    return cli_fail_at(cli, where, field_name(err->argument), err);
}

int json_lines_fail(const struct cli *cli, const struct json_lines *lines, const boxcar_error *err) {
    size_t index = 0;
    /* Calls that take one or many leave the place out when there is one. */
    bool is_placed = json_lines_index_of(err, &index) ||
                     (lines->count == 1 && find_field(lines->kind, field_name(err->argument)) != NULL);
    return is_placed && index < lines->count ? json_lines_fail_at(cli, lines, index, err)
                                             : cli_fail_with(cli, err);
}
