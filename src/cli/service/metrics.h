/* A small HTTP server with a thread of its own: it serves the worker's counters to Prometheus, and health
 * checks to the program that restarts the worker.
 *
 *     GET /metrics    the numbers, as text (docs/metrics.md)
 *     GET /healthz    200 while the work loop turns, else 503
 *     GET /readyz     200 while the worker is running, else 503
 *
 * There is no authentication and nothing to hide: no payload, no id, no topic but the patterns that
 * handlers are registered for. */
#ifndef BOXCAR_CLI_SERVICE_METRICS_H
#define BOXCAR_CLI_SERVICE_METRICS_H

#include "cli/cli.h"

/* Prometheus, a health check and a user need few connections; the others are room for slow clients until the
 * guard cuts them off. More clients wait in the backlog. */
#define METRICS_CONNECTIONS_MAX 128

struct metrics;

/* Serves until metrics_stop(). `listen` is ADDRESS:PORT, [ADDRESS]:PORT or :PORT (loopback); port 0 is
 * any that is free, and the log says which (event "metrics", field "address"). The store's numbers are
 * read on a connection of its own; those of many stores are not, only what the worker knows
 * of each. `worker` must outlive it. Returns an enum cli_exit and has reported
 * what went wrong; the caller owns *ret_metrics. */
int metrics_start(struct cli *cli, boxcar_worker *worker, bool many_stores, const char *listen,
                  struct metrics **ret_metrics);
/* Where it listens, with the port that it has got: 127.0.0.1:9464. Lent. */
const char *metrics_address(const struct metrics *metrics);

/* NULL is fine. Does not wait for a store that does not answer. */
void metrics_stop(struct metrics *metrics);

#endif
