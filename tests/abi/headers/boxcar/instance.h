/* boxcar/instance.h: the workers of a store, and which streams each of them should have.
 *
 * Workers say that they live (boxcar/worker.h does it for its own). The keys of streams are spread over
 * partitions (core: the first 8 bytes of the key's SHA-256, modulo the store's setting partition_count), and
 * the partitions over the live workers, by rank. Whoever claims is given the streams of his own partitions first,
 * so that a stream stays with one worker while it lives; that nobody else has it is a matter of leases alone. */
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

/* A worker that was heard of within the setting instance_timeout (30 seconds). Text is lent by its list. */
typedef struct boxcar_instance {
    boxcar_owner owner;
    boxcar_box box;              /* a worker that serves both is listed for each */
    boxcar_str host;
    int64_t pid;
    int concurrency;
    boxcar_time started_at, seen_at;
    int rank;                    /* among the live ones of this box, from 0, by owner */
    int first_partition;         /* it should have these: first_partition and so many ... */
    int partition_count;         /* ... from there on */
    int64_t leased;              /* messages it holds */
} boxcar_instance;

typedef struct boxcar_instance_list {
    const boxcar_instance *const *items;
    size_t count;
} boxcar_instance_list;
/* Whether this is the worker with this owner's id, also where another id stands for it. Any thread. */
BOXCAR_API bool boxcar_instance_is(const boxcar_instance *instance, boxcar_owner owner);

/* All live workers by box and rank. The caller owns *ret_list. On PostgreSQL, roles without admin access are not told the
 * owners' ids, with which they could settle what others hold, but other ids that stand for them. */
BOXCAR_API boxcar_status boxcar_instance_read(boxcar_store *store, boxcar_instance_list **ret_list, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
