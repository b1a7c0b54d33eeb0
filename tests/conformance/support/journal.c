#include "journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"

struct journal *journal_new(void) {
    struct journal *journal = calloc(1, sizeof(*journal));
    assert_non_null(journal);
    assert_int_equal(pthread_mutex_init(&journal->mutex, NULL), 0);
    return journal;
}

void journal_free(struct journal *journal) {
    pthread_mutex_destroy(&journal->mutex);
    free(journal);
}

/* Leaves out what does not fit, but not the end of the line. */
static void append(struct journal *journal, const char *bytes, size_t len) {
    if (journal->len + len + 2 > sizeof(journal->text))
        return;
    memcpy(journal->text + journal->len, bytes, len);
    journal->len += len;
}

static void append_text(struct journal *journal, const char *text) { append(journal, text, strlen(text)); }

static void keep(void *context, const boxcar_log_record *record) {
    struct journal *journal = context;
    pthread_mutex_lock(&journal->mutex);
    append_text(journal, boxcar_log_level_name(record->level));
    append_text(journal, " ");
    append_text(journal, record->event);
    append_text(journal, " ");
    append_text(journal, record->text);
    for (size_t i = 0; i < record->field_count; i++) {
        append_text(journal, " ");
        append_text(journal, record->fields[i].name);
        append_text(journal, "=");
        if (record->fields[i].value.data)
            append(journal, record->fields[i].value.data, record->fields[i].value.len);
    }
    append_text(journal, " \n");
    pthread_mutex_unlock(&journal->mutex);
}

void journal_attach(struct journal *journal, boxcar_store_options *options) {
    options->log = keep;
    options->log_context = journal;
    options->log_level = BOXCAR_LOG_DEBUG;
}

void journal_reopen(struct journal *journal, struct fixture *f) {
    boxcar_store_options options = fixture_options(f);
    journal_attach(journal, &options);
    boxcar_store_close(f->store);
    f->store = NULL;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
}

static bool line_has(const char *line, size_t len, const char *part) {
    return !part || memmem(line, len, part, strlen(part)) != NULL;
}

size_t journal_count(struct journal *journal, const char *first, const char *second, const char *third,
                     const char *fourth) {
    size_t count = 0;
    pthread_mutex_lock(&journal->mutex);
    const char *line = journal->text, *end = journal->text + journal->len;
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((stop ? stop : end) - line);
        count += line_has(line, len, first) && line_has(line, len, second) && line_has(line, len, third) &&
                 line_has(line, len, fourth);
        line += len + 1;
    }
    pthread_mutex_unlock(&journal->mutex);
    return count;
}

bool journal_has(struct journal *journal, const char *first, const char *second, const char *third,
                 const char *fourth) {
    return journal_count(journal, first, second, third, fourth) > 0;
}
