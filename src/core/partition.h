/* Which worker should have which streams: keys are spread over partitions, partitions over workers. */
#ifndef BOXCAR_CORE_PARTITION_H
#define BOXCAR_CORE_PARTITION_H

#include "boxcar/types.h"

#define PARTITION_NONE (-1)

/* Neighbouring partitions, `first` and so many from there on. */
struct partition_range {
    int first, count;
};

/* Those of the worker with this rank (from 0) among `workers`; `cap`: no more than so many, 0 = as many as
 * there are. Every partition has at most one worker, and exactly one without a cap. */
struct partition_range partition_range_of(int64_t rank, int64_t workers, int partition_count, int cap);
/* Whether no worker has this partition: there is none, or the cap leaves it over. */
bool partition_is_free(int partition, int64_t workers, int partition_count, int cap);

static inline bool partition_is_in(struct partition_range range, int partition) {
    return partition >= range.first && partition - range.first < range.count;
}

#endif
