/* What was logged, for tests of it. May be written from several threads at once. */
#ifndef BOXCAR_TESTS_LOG_CAPTURE_H
#define BOXCAR_TESTS_LOG_CAPTURE_H

#include <pthread.h>

#include "fixture.h"

struct log_capture {
    pthread_mutex_t mutex;
    size_t len;
    char text[1 << 18]; /* a line per record: level, event, text, name=value ... */
};

struct log_capture *log_capture_new(void);
void log_capture_free(struct log_capture *captured);
/* Makes these options log into it. */
void log_capture_attach(struct log_capture *captured, boxcar_store_options *options);
/* Opens the fixture's store again, with this log. */
void log_capture_reopen(struct log_capture *captured, struct fixture *f);

/* How many lines have all of these in them, and whether any has; NULL = nothing in particular. */
size_t log_capture_count(struct log_capture *captured, const char *first, const char *second,
                         const char *third, const char *fourth);
bool log_capture_has(struct log_capture *captured, const char *first, const char *second, const char *third,
                     const char *fourth);

#endif
