/* The handlers of the configuration, given to a worker. */
#ifndef BOXCAR_CLI_COMMAND_WORKER_HANDLERS_H
#define BOXCAR_CLI_COMMAND_WORKER_HANDLERS_H

#include "cli/config/config.h"

/* Registers all of them. Complains about each that is wrong by where it was given: an action that is
 * neither exec:COMMAND nor discard, a topic or a command that the library refuses. */
bool handlers_register(const struct config *config, boxcar_worker *worker, struct complaints *complaints);

/* The topics, with commas and inbox: in front of those of the inbox: for a log line. free() it; NULL = out of
 * memory. */
char *handlers_topics(const struct config *config);

/* Whether both have the same topics with the same actions, in any order. */
bool handlers_are_same(const struct config *a, const struct config *b);

#endif
