/* Reads the store's numbers again and again, on a thread and a connection of its own, so that no client of
 * the metrics waits for a store that is slow or gone. */
#ifndef BOXCAR_CLI_SERVICE_METRICS_STORE_H
#define BOXCAR_CLI_SERVICE_METRICS_STORE_H

#include "cli/cli.h"
#include "metrics_text.h"

struct metrics_store;

/* `owner`: the worker whose partitions are told. NULL = no memory or no thread. */
struct metrics_store *metrics_store_start(struct cli *cli, boxcar_owner owner);
/* What was read last. */
struct metrics_reading {
    boxcar_stats stats[2]; /* by box */
    struct metrics_streams streams;
    struct metrics_subscription *subscriptions; /* malloc'ed; NULL = there are none */
    size_t subscription_count;
    double age_seconds;
};

/* false = nothing was read yet, or out of memory. The caller frees ret_reading->subscriptions. Any thread. */
bool metrics_store_read(struct metrics_store *store, struct metrics_reading *ret_reading);
/* Leaves a thread that is waiting for the store to itself after a moment. NULL is fine. */
void metrics_store_stop(struct metrics_store *store);

#endif
