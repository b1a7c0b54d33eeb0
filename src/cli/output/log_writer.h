/* The library's log records as lines on standard error. */
#ifndef BOXCAR_CLI_OUTPUT_LOG_WRITER_H
#define BOXCAR_CLI_OUTPUT_LOG_WRITER_H

#include <boxcar/log.h>

enum log_format { LOG_FORMAT_LOGFMT, LOG_FORMAT_JSON };

struct log_writer {
    _Atomic boxcar_log_level level; /* records below it are dropped; may change at any time */
    enum log_format format;
    _Atomic bool clears_line; /* a progress line may be in the way on the terminal */
};

/* A boxcar_log_fn; the context is a struct log_writer. One record is one line, written at
 * once, whatever its fields contain. Any thread. */
void log_writer_write(void *context, const boxcar_log_record *record);
/* A record of the program's own, with one field. */
void log_writer_say(const struct log_writer *writer, boxcar_log_level level, const char *event,
                    const char *text, const char *name, const char *value);

#endif
