/* The worker as a service of systemd: says when it is ready, what it is doing, that it is stopping, and
 * that it still lives (sd_notify(3)). Does nothing where no one listens ($NOTIFY_SOCKET). */
#ifndef BOXCAR_CLI_SERVICE_SERVICE_H
#define BOXCAR_CLI_SERVICE_SERVICE_H

#include "cli/cli.h"

struct service;

/* Call it before boxcar_worker_run(): a thread watches the worker from then on. It sends READY when the
 * worker first runs. It feeds the watchdog, if systemd set one, only while the work loop turns. *ret_service
 * is NULL without systemd. Returns an enum cli_exit and has reported what went wrong. */
int service_start(const struct cli *cli, boxcar_worker *worker, struct service **ret_service);

/* Around reading the configuration again. */
void service_reloading(struct service *service);
void service_reloaded(struct service *service);

/* Call it when boxcar_worker_run() has returned; NULL is fine. */
void service_stop(struct service *service);

#endif
