/* Runs messages stream by stream; see boxcar/ordered.h. */
#ifndef BOXCAR_WORKER_ORDERED_H
#define BOXCAR_WORKER_ORDERED_H

#include "base/arena.h"
#include "boxcar/ordered.h"

/* What the caller gets, and what lends it. */
struct ordered_results {
    boxcar_ordered_results list; /* first: the caller's pointer */
    struct arena arena;          /* of the results and their texts */
    boxcar_ordered_result *items;
};

void ordered_results_free(struct ordered_results *results); /* NULL is fine */

/* Arguments are checked, but for messages that are there twice. */
boxcar_status ordered_run(const boxcar_message *const *messages, size_t count, int concurrency,
                          boxcar_handler_fn handle, void *context, boxcar_ordered_results **ret_results,
                          boxcar_error *err);

#endif
