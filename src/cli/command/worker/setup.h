/* From settings to the options of the library's worker. */
#ifndef BOXCAR_CLI_COMMAND_WORKER_SETUP_H
#define BOXCAR_CLI_COMMAND_WORKER_SETUP_H

#include "cli/config/config.h"

/* The worker's own backoff. Release it when the options are used. */
struct worker_backoff {
    boxcar_backoff_policy policy;
    boxcar_backoff_topic *topics; /* their text is the configuration's */
};

/* The store's curve, which holds wherever the configuration says nothing. Returns an enum cli_exit and
 * has reported what went wrong. */
int worker_store_curve(struct cli *cli, boxcar_backoff_curve *ret_curve);

/* That the worker is for; absent = none. Lent by the configuration. */
boxcar_str worker_subscription(const struct config *config);

/* Fills in everything but store, owner and drain. `ret_backoff` must live as long as `ret_options`.
 * false = out of memory. */
bool worker_options_read(const struct config *config, const boxcar_backoff_curve *store_curve,
                         boxcar_worker_options *ret_options, struct worker_backoff *ret_backoff);
void worker_backoff_release(struct worker_backoff *backoff);

/* Checks what only the library knows (topics, commands) with a worker that never runs. */
bool worker_check(const struct config *config, struct complaints *complaints);

#endif
