/* Handlers that are programs. */
#ifndef BOXCAR_WORKER_EXEC_EXEC_H
#define BOXCAR_WORKER_EXEC_EXEC_H

#include "boxcar/worker.h"

struct exec_command;

/* Splits COMMAND into words and finds the program (in PATH when it has no slash), so that mistakes
 * show at the start. BOXCAR_E_INVALID names `command`; BOXCAR_E_NOT_FOUND: no such program;
 * BOXCAR_E_DENIED: there is one, but it may not be executed. */
boxcar_status exec_command_new(boxcar_str command, struct exec_command **ret_command, boxcar_error *err);
void exec_command_free(struct exec_command *command);

/* A boxcar_handler_fn; the context is the command. */
boxcar_verdict exec_run(void *command, boxcar_delivery *delivery);

#endif
