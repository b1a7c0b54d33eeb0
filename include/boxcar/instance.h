/* boxcar/instance.h: the workers of a store, and which streams each of them is preferred for.
 *
 * Workers send heartbeats (boxcar/worker.h does it for its own). The keys of streams are spread over
 * partitions (the first 8 bytes of the key's SHA-256, modulo the store's setting partition_count), and the
 * partitions over the live workers, by rank. A claimer gets the streams of its own partitions first, so that
 * a stream stays with one worker while that worker lives. Partitions are only a preference: leases alone
 * ensure that one worker at a time has a stream. */
#ifndef BOXCAR_INSTANCE_H
#define BOXCAR_INSTANCE_H

#include "error.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOXCAR_PARTITION_COUNT_DEFAULT 10000
#define BOXCAR_PARTITION_COUNT_MAX 1000000

/* The partition of a stream. -1 when partition_count is out of range. Any thread. */
BOXCAR_API int boxcar_stream_partition(boxcar_str stream, int partition_count);

/* A worker that gave a sign of life within the setting instance_timeout (30 seconds). Text is lent by its list. */
typedef struct boxcar_instance {
    boxcar_owner owner;
    boxcar_box box;              /* or the subscription that it works for. A worker that serves both boxes is
                                    listed for each */
    boxcar_str host;
    int64_t pid;
    int concurrency;
    boxcar_time started_at, seen_at;
    int rank;                    /* among the live workers of this box, from 0, by owner */
    int first_partition;         /* the first partition that it is preferred for */
    int partition_count;         /* the number of these partitions, from first_partition on */
    int64_t leased;              /* messages it holds */
    boxcar_time oldest_lease_at; /* since when it holds the oldest of them; BOXCAR_TIME_NONE = none */
} boxcar_instance;

typedef struct boxcar_instance_list {
    const boxcar_instance *const *items;
    size_t count;
} boxcar_instance_list;
/* Whether this is the worker with this owner's id, even if the list hides that id. Any thread. */
BOXCAR_API bool boxcar_instance_is(const boxcar_instance *instance, boxcar_owner owner);

/* All live workers by box and rank. The caller owns *ret_list. With an owner's id a caller could settle the
 * messages of that owner. So on PostgreSQL a role without admin access gets other ids instead of the owners'
 * ids. */
BOXCAR_API boxcar_status boxcar_instance_read(boxcar_store *store, boxcar_instance_list **ret_list, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
