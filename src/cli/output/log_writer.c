#include "log_writer.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "progress.h"
#include "redact.h"
#include "text.h"

/* Takes the text; without passwords; NULL = out of memory. */
static char *redacted(char *text) {
    AUTO_FREE char *open = text;
    return open ? redact(open) : NULL;
}

static void put_logfmt(FILE *out, const char *name, boxcar_str value) {
    AUTO_FREE char *text = redacted(text_printable(value, NULL));
    if (!text)
        return;
    bool has_quotes = text[0] == '\0' || strpbrk(text, " =\"\\");
    fprintf(out, " %s=%s", name, has_quotes ? "\"" : "");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', out);
        fputc(*c, out);
    }
    fputs(has_quotes ? "\"" : "", out);
}

static void write_logfmt(FILE *out, const boxcar_log_record *record, const char *now) {
    fprintf(out, "time=%s level=%s event=%s", now, boxcar_log_level_name(record->level),
            record->event ? record->event : "log");
    put_logfmt(out, "store", boxcar_str_of(record->store_id ? record->store_id : ""));
    put_logfmt(out, "text", boxcar_str_of(record->text ? record->text : ""));
    for (size_t i = 0; i < record->field_count; i++)
        put_logfmt(out, record->fields[i].name, record->fields[i].value);
}

/* Fields that are numbers. Others may look like one, as a topic or a correlation id does by chance. */
static bool is_number_name(const char *name) {
    static const char *const NAMES[] = {
        "acked",   "attempt",  "away_ms", "claimed", "completed_steps", "concurrency",    "count",
        "dead",    "deferred", "failed",  "lost",    "retried",         "expected_steps", "failed_steps",
        "running", "version",  "work_id"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (strcmp(name, NAMES[i]) == 0)
            return true;
    return false;
}

static json_t *number_of(const char *text) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return errno == 0 && end > text && *end == '\0' ? json_integer(number) : NULL;
}

static void put_json(json_t *object, const char *name, boxcar_str value) {
    AUTO_FREE char *text = redacted(text_for_json(value));
    json_t *number = text && is_number_name(name) ? number_of(text) : NULL;
    json_object_set_new(object, name, number ? number : text ? json_string(text) : json_null());
}

static void write_json(FILE *out, const boxcar_log_record *record, const char *now) {
    json_t *object = json_object();
    put_json(object, "time", boxcar_str_of(now));
    put_json(object, "level", boxcar_str_of(boxcar_log_level_name(record->level)));
    put_json(object, "event", boxcar_str_of(record->event ? record->event : "log"));
    put_json(object, "store", boxcar_str_of(record->store_id ? record->store_id : ""));
    put_json(object, "text", boxcar_str_of(record->text ? record->text : ""));
    for (size_t i = 0; i < record->field_count; i++)
        put_json(object, record->fields[i].name, record->fields[i].value);
    json_dumpf(object, out, JSON_COMPACT);
    json_decref(object);
}

void log_writer_write(void *context, const boxcar_log_record *record) {
    const struct log_writer *writer = context;
    if (record->level < writer->level)
        return;
    char *line = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&line, &size);
    if (!out)
        return;
    struct timespec clock;
    char now[BOXCAR_TIME_TEXT_SIZE];
    clock_gettime(CLOCK_REALTIME, &clock);
    boxcar_time_format((boxcar_time)clock.tv_sec * 1000000 + clock.tv_nsec / 1000, now);
    if (writer->clears_line)
        fputs(PROGRESS_WIPE, out);
    (writer->format == LOG_FORMAT_JSON ? write_json : write_logfmt)(out, record, now);
    fputc('\n', out);
    if (fclose(out) == 0) /* unbuffered and under the stream's lock: one write for the whole line */
        fwrite(line, 1, size, stderr);
    free(line);
}

void log_writer_say(const struct log_writer *writer, boxcar_log_level level, const char *event,
                    const char *text, const char *name, const char *value) {
    const boxcar_log_field field = {name, boxcar_str_of(value)};
    log_writer_write((void *)writer,
                     &(boxcar_log_record){
                         .level = level, .event = event, .text = text, .fields = &field, .field_count = 1});
}
