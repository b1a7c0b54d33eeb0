#include "log_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"

struct log_capture *log_capture_new(void) {
    struct log_capture *captured = calloc(1, sizeof(*captured));
    assert_non_null(captured);
    assert_int_equal(pthread_mutex_init(&captured->mutex, NULL), 0);
    return captured;
}

void log_capture_free(struct log_capture *captured) {
    pthread_mutex_destroy(&captured->mutex);
    free(captured);
}

/* Leaves out what does not fit, but not the end of the line. */
static void append(struct log_capture *captured, const char *bytes, size_t len) {
    if (captured->len + len + 2 > sizeof(captured->text))
        return;
    memcpy(captured->text + captured->len, bytes, len);
    captured->len += len;
}

static void append_text(struct log_capture *captured, const char *text) {
    append(captured, text, strlen(text));
}

static void keep(void *context, const boxcar_log_record *record) {
    struct log_capture *captured = context;
    pthread_mutex_lock(&captured->mutex);
    append_text(captured, boxcar_log_level_name(record->level));
    append_text(captured, " ");
    append_text(captured, record->event);
    append_text(captured, " ");
    append_text(captured, record->text);
    for (size_t i = 0; i < record->field_count; i++) {
        append_text(captured, " ");
        append_text(captured, record->fields[i].name);
        append_text(captured, "=");
        if (record->fields[i].value.data)
            append(captured, record->fields[i].value.data, record->fields[i].value.len);
    }
    append_text(captured, " \n");
    pthread_mutex_unlock(&captured->mutex);
}

void log_capture_attach(struct log_capture *captured, boxcar_store_options *options) {
    options->log = keep;
    options->log_context = captured;
    options->log_level = BOXCAR_LOG_DEBUG;
}

void log_capture_reopen(struct log_capture *captured, struct fixture *f) {
    boxcar_store_options options = fixture_options(f);
    log_capture_attach(captured, &options);
    boxcar_store_close(f->store);
    f->store = NULL;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
}

static bool line_has(const char *line, size_t len, const char *part) {
    return !part || memmem(line, len, part, strlen(part)) != NULL;
}

size_t log_capture_count(struct log_capture *captured, const char *first, const char *second,
                         const char *third, const char *fourth) {
    size_t count = 0;
    pthread_mutex_lock(&captured->mutex);
    const char *line = captured->text, *end = captured->text + captured->len;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((stop ? stop : end) - line);
        count += line_has(line, len, first) && line_has(line, len, second) && line_has(line, len, third) &&
                 line_has(line, len, fourth);
        line += len + 1;
    }
    pthread_mutex_unlock(&captured->mutex);
    return count;
}

bool log_capture_has(struct log_capture *captured, const char *first, const char *second, const char *third,
                     const char *fourth) {
    return log_capture_count(captured, first, second, third, fourth) > 0;
}
