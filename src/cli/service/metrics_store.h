/* Reads the store's numbers again and again, on a thread and a connection of its own, so that no client of
 * the metrics waits for a store that is slow or gone. */
#ifndef BOXCAR_CLI_SERVICE_METRICS_STORE_H
#define BOXCAR_CLI_SERVICE_METRICS_STORE_H

#include "cli/cli.h"
#include "metrics_text.h"

struct metrics_store;

/* `owner`: the worker whose partitions are told. NULL = no memory or no thread. */
struct metrics_store *metrics_store_start(struct cli *cli, boxcar_owner owner);
/* The numbers of both boxes that were read last, and how long ago; false = none yet. Any thread. */
bool metrics_store_read(struct metrics_store *store, boxcar_stats ret_stats[2],
                        struct metrics_streams *ret_streams, double *ret_age_seconds);
/* Leaves a thread that is waiting for the store to itself after a moment. NULL is fine. */
void metrics_store_stop(struct metrics_store *store);

#endif
