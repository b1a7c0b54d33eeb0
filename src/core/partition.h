/* Which worker should have which streams: keys are spread over partitions, partitions over workers. */
#ifndef BOXCAR_CORE_PARTITION_H
#define BOXCAR_CORE_PARTITION_H

#include "boxcar/types.h"

#define PARTITION_NONE (-1)

/* `count` neighbouring partitions, from `first` on. */
struct partition_range {
    int first, count;
};

/* The partitions of the worker with this rank (from 0) among `workers`, at most `cap` of them; 0 = no limit.
 * Every partition has at most one worker, and exactly one without a cap. */
struct partition_range partition_range_of(int64_t rank, int64_t workers, int partition_count, int cap);
/* Whether no worker has this partition: there are no workers, or the cap leaves it over. */
bool partition_is_free(int partition, int64_t workers, int partition_count, int cap);

static inline bool partition_is_in(struct partition_range range, int partition) {
    return partition >= range.first && partition - range.first < range.count;
}

#endif
