/* Handlers that are programs, and the parts of their commands. */
#ifndef BOXCAR_WORKER_EXEC_EXEC_H
#define BOXCAR_WORKER_EXEC_EXEC_H

#include "base/arena.h"
#include "boxcar/worker.h"

struct exec_command;

/* Splits COMMAND into words and finds the program (in PATH when it has no slash), so that mistakes
 * show at the start. BOXCAR_E_INVALID names `command`; BOXCAR_E_NOT_FOUND: no such program;
 * BOXCAR_E_DENIED: there is one, but it may not be executed. */
boxcar_status exec_command_new(boxcar_str command, struct exec_command **ret_command, boxcar_error *err);
void exec_command_free(struct exec_command *command);

/* A boxcar_handler_fn; the context is the command. */
boxcar_verdict exec_run(void *command, boxcar_delivery *delivery);

/* Splits a command into words, the way a shell reads quotes, without anything else a shell does: no
 * variables, no patterns, no pipes. Pure.
 *
 * Blanks (space, tab, newline) separate words. 'single quotes' keep everything as it is; in "double
 * quotes" a backslash stands for \" and \\, and for itself before anything else; outside quotes a
 * backslash takes the next character as it is. Quoted and plain pieces that touch are one word.
 *
 * *ret_words: the words and a NULL behind them, all in the arena. BOXCAR_E_INVALID names `command`: no word,
 * an open quote, a backslash at the end, a NUL byte or text that is not UTF-8. */
boxcar_status exec_words_split(struct arena *arena, boxcar_str command, char ***ret_words, boxcar_error *err);

/* Finds the program that a command names. A name with a slash is a path and stays as it is; any other is
 * looked for in the folders of `search_path` (as PATH: colons between, an empty one is the current folder;
 * NULL = the system's usual folders). *ret_path is in the arena. BOXCAR_E_NOT_FOUND: there is none;
 * BOXCAR_E_DENIED: there is, but it is not a file that this process may execute. */
boxcar_status exec_find_program(struct arena *arena, const char *name, const char *search_path,
                                const char **ret_path, boxcar_error *err);

/* The environment of a program: some variables of the worker's own, and the message. What else the worker has
 * stays with it: BOXCAR_STORE and PG* may hold passwords. */

/* Copies from `environment` what programs inherit: PATH, HOME, USER, LOGNAME, LANG, LC_*, TZ, TMPDIR.
 * Ends with NULL. NULL = out of memory. */
char **exec_environment_inherit(struct arena *arena, char *const *environment);

/* The variable that marks the processes of one run of a program. */
#define EXEC_RUN_ID "BOXCAR_RUN_ID"

/* The inherited variables, the id of the run (NULL = none) and those of the message; fields that are absent
 * have none, except that BOXCAR_HEADERS is {} then. `subscription`: to which it is delivered; absent = the
 * main reader. Ends with NULL. NULL = out of memory. */
char **exec_environment_build(struct arena *arena, char *const *inherited, const boxcar_message *message,
                              boxcar_str subscription, const char *store_id, const char *run_id);

#endif
