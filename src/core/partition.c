#include "partition.h"

#include "base/digest.h"
#include "boxcar/instance.h"

int boxcar_stream_partition(boxcar_str stream, int partition_count) {
    uint8_t digest[DIGEST_SIZE];
    uint64_t number = 0;

    if (partition_count < 1 || partition_count > BOXCAR_PARTITION_COUNT_MAX ||
        !digest_sha256("", stream, digest))
        return PARTITION_NONE;
    for (int i = 0; i < 8; i++)
        number = number << 8 | digest[i];
    return (int)(number % (uint64_t)partition_count);
}

/* At most a million partitions: the products fit for any number of workers that a table can hold. */
struct partition_range partition_range_of(int64_t rank, int64_t workers, int partition_count, int cap) {
    int first = (int)(rank * partition_count / workers);
    int count = (int)((rank + 1) * partition_count / workers) - first;

    return (struct partition_range){first, cap > 0 && count > cap ? cap : count};
}

/* The last rank whose partitions begin at or before this one would have it. */
bool partition_is_free(int partition, int64_t workers, int partition_count, int cap) {
    if (partition < 0 || partition >= partition_count || workers < 1)
        return true;
    int64_t rank = (((int64_t)partition + 1) * workers - 1) / partition_count;
    return !partition_is_in(partition_range_of(rank, workers, partition_count, cap), partition);
}
