/* Finding the program that a command names. */
#ifndef BOXCAR_WORKER_EXEC_FIND_H
#define BOXCAR_WORKER_EXEC_FIND_H

#include "base/arena.h"
#include "boxcar/error.h"

/* A name with a slash is a path and stays as it is; any other is looked for in the folders of
 * `search_path` (as PATH: colons between, an empty one is the current folder; NULL = the system's
 * usual folders). *ret_path is in the arena. BOXCAR_E_NOT_FOUND: there is none; BOXCAR_E_DENIED: there
 * is, but it is not a file that this process may execute. */
boxcar_status exec_find_program(struct arena *arena, const char *name, const char *search_path,
                                const char **ret_path, boxcar_error *err);

#endif
