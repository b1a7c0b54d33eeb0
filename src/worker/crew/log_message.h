/* Log records of the worker: about one message (its ids, never its payload), or with a number. */
#ifndef BOXCAR_WORKER_CREW_LOG_MESSAGE_H
#define BOXCAR_WORKER_CREW_LOG_MESSAGE_H

#include "store/store.h"

/* `error` may be absent. */
void log_message(const struct boxcar_store *logger, boxcar_log_level level, const char *event,
                 const boxcar_message *message, boxcar_str error, const char *text);

/* A record about the worker, with one number. */
void log_number(const struct boxcar_store *logger, boxcar_log_level level, const char *event,
                const char *name, int64_t number, const char *text);

#endif
