/* The environment of a handler's program: a few variables of the worker's own, and the message. What
 * else the worker has stays with it: BOXCAR_STORE and PG* may hold passwords. */
#ifndef BOXCAR_WORKER_EXEC_ENVIRONMENT_H
#define BOXCAR_WORKER_EXEC_ENVIRONMENT_H

#include "base/arena.h"
#include "boxcar/message.h"

/* Copies from `environment` what programs inherit: PATH, HOME, USER, LOGNAME, LANG, LC_*, TZ, TMPDIR.
 * Ends with NULL. NULL = out of memory. */
char **exec_environment_inherit(struct arena *arena, char *const *environment);

/* The variable that marks the processes of one run of a program. */
#define EXEC_RUN_ID "BOXCAR_RUN_ID"

/* The inherited variables, the id of the run (NULL = none) and those of the message; fields that are absent
 * have none, except that BOXCAR_HEADERS is {} then. Ends with NULL. NULL = out of memory. */
char **exec_environment_build(struct arena *arena, char *const *inherited, const boxcar_message *message,
                              const char *store_id, const char *run_id);

#endif
