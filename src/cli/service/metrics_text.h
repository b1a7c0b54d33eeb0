/* Numbers as Prometheus text (exposition format 0.0.4). Pure: no clock, no store, no worker. */
#ifndef BOXCAR_CLI_SERVICE_METRICS_TEXT_H
#define BOXCAR_CLI_SERVICE_METRICS_TEXT_H

#include <boxcar.h>
#include <stddef.h>

#define METRICS_TEXT_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* The store's numbers are left out when they are older: a graph with a gap says more than a flat line. */
#define METRICS_STORE_AGE_SECONDS_MAX 60

/* What the store knows about streams, workers and its upkeep. */
struct metrics_streams {
    int64_t instances;     /* live workers */
    int64_t partitions[2]; /* by box: what this one is preferred for */
    double oldest_lease_seconds;
    int64_t halted[2]; /* by box */
    int64_t violations;
    double upkeep_age_seconds;
};

/* A subscription of the store. */
#define METRICS_NAME_SIZE (BOXCAR_SUBSCRIPTION_NAME_MAX * 4 + 1)
struct metrics_subscription {
    char name[METRICS_NAME_SIZE];
    boxcar_box box;
    bool is_paused;
    int64_t ready, in_progress, failed, held;
    double lag_seconds;
};

struct metrics_numbers {
    const char *version;
    boxcar_str subscription; /* that the worker is for; absent = the main readers */
    const boxcar_worker_stats *worker;
    const boxcar_handler_stats *handlers;
    size_t handler_count;
    const boxcar_stats *store;             /* of the outbox and of the inbox; NULL = not known */
    const struct metrics_streams *streams; /* read with them; NULL = not known */
    const struct metrics_subscription *subscriptions;
    size_t subscription_count;
    const boxcar_fleet_store *const *fleet; /* of a worker with many stores */
    size_t fleet_count;
    const boxcar_forward_stats *routes;
    size_t route_count;
    double store_age_seconds; /* how old the store's numbers are */
};

/* *ret_text is the caller's to free(), NULL when memory ran out; returns its length. */
size_t metrics_text(const struct metrics_numbers *numbers, char **ret_text);

#endif
