/* Runs messages stream by stream; see boxcar/ordered.h. */
#ifndef BOXCAR_FLOW_ORDERED_H
#define BOXCAR_FLOW_ORDERED_H

#include "base/arena.h"
#include "base/buf.h"
#include "boxcar/ordered.h"

struct boxcar_ordered_report {
    const boxcar_message *message;
    struct buf error; /* clean and cut already */
    bool has_error;
    int64_t delay_ms;
    int stages;
};

struct boxcar_ordered_results {
    struct arena arena; /* of the results and their texts */
    boxcar_ordered_result *items;
    size_t count;
};

/* Arguments are checked, but for messages that are there twice. */
boxcar_status ordered_run(const boxcar_message *const *messages, size_t count, int concurrency,
                          boxcar_ordered_fn handle, void *context,
                          struct boxcar_ordered_results **ret_results, boxcar_error *err);

#endif
