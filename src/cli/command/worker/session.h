/* One run of `boxcar worker`: what its thread for signals and its main thread share. */
#ifndef BOXCAR_CLI_COMMAND_WORKER_SESSION_H
#define BOXCAR_CLI_COMMAND_WORKER_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "cli/config/config.h"
#include "cli/service/service.h"

struct worker_session {
    struct cli *cli;
    const struct config_given *given; /* for reading the configuration again */
    boxcar_worker *worker;
    char *store_id;
    boxcar_backoff_curve store_curve; /* as it was at the start */
    bool shows_progress;
    struct service *service;

    /* signals.c */
    pthread_t thread;
    atomic_bool is_over;
};

/* A line of the program's own in the worker's log. Any thread. */
void worker_session_log(const struct worker_session *session, boxcar_log_level level, const char *event,
                        const char *text, const boxcar_log_field *fields, size_t field_count);

/* Call it before any other thread is started: signals are for the one below. They stay blocked to the end
 * of the process. */
void worker_signals_block(void);
/* From here on SIGTERM and SIGINT stop the worker, a second one more than a second later ends it at once, and
 * SIGHUP reads the configuration again: on a thread of their own. Returns an enum cli_exit and has reported
 * what went wrong.
 */
int worker_signals_begin(struct worker_session *session);
/* Ends the thread. */
void worker_signals_end(struct worker_session *session);

/* Reads the configuration again and applies what can be; says what changed, and what needs a restart. A
 * broken file changes nothing. */
void worker_reload(struct worker_session *session);

#endif
