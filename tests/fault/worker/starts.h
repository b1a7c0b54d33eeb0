/* The evidence: one line for every start of a handler, written by the handler itself. */
#ifndef BOXCAR_TESTS_STARTS_H
#define BOXCAR_TESTS_STARTS_H

#include <stddef.h>
#include <stdint.h>

#define START_LINE_MAX 256
/* event (start, told), message id, work id, attempt, pid of the handler, of its worker, monotonic us */
#define START_FORMAT "%s %s %lld %d %d %d %lld\n"

struct start {
    char event[8];
    int64_t work_id;
    int attempt;
    int pid;
    int worker_pid;
    int64_t at_us;
};

struct starts {
    struct start *rows; /* by work id and time */
    size_t count;
};

/* A file that is not there has no lines. Ends the process when a line cannot be understood. */
void starts_read(struct starts *starts, const char *path);
void starts_free(struct starts *starts);
/* How many lines there are with this event, of one message or (0) of all. */
int64_t starts_count(const struct starts *starts, const char *event, int64_t work_id);
/* The first one at or after the given time, or NULL. */
const struct start *starts_first(const struct starts *starts, const char *event, int64_t work_id,
                                 int64_t after_us);

#endif
