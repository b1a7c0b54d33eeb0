/* Log records about one message: who it is, never what it carries. */
#ifndef BOXCAR_WORKER_LOG_MESSAGE_H
#define BOXCAR_WORKER_LOG_MESSAGE_H

#include "store/store.h"

/* `error` may be absent. */
void log_message(const struct boxcar_store *face, boxcar_log_level level, const char *event,
                 const boxcar_message *message, boxcar_str error, const char *text);

#endif
