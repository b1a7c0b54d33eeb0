/* The steps that tests of schedules are made of. The schedule of a test has the topic "reindex" and the work
 * key "products", unless it says otherwise, and a cadence of an hour. */
#ifndef BOXCAR_TESTS_SCHEDULES_H
#define BOXCAR_TESTS_SCHEDULES_H

#include "boxcar/schedule.h"
#include "conformance.h"

#define TOPIC_OF_SLICES "fanout:reindex:products"
#define HOUR_MS (INT64_C(60) * 60 * 1000)
#define REINDEX BOXCAR_STR("reindex"), BOXCAR_STR("products")

boxcar_new_schedule new_schedule(int shards);
void add_schedule(struct fixture *f, const boxcar_new_schedule *schedule);
void add_shards(struct fixture *f, int shards);

/* Plans as f->owner, with a lease that outlasts the test; how many slices were enqueued. */
int64_t plan_slices(struct fixture *f);
boxcar_planned plan_as(struct fixture *f, boxcar_owner owner, int64_t lease_ms);
/* Every shard without an open slice is due since a moment ago. */
void make_slices_due(struct fixture *f);

boxcar_schedule read_schedule(struct fixture *f); /* its texts are left out */
boxcar_slice slice_of(struct fixture *f, int shard);
/* Claims all slices that can be had, exactly `count`; by work id. */
void take_slices(struct fixture *f, struct taken *ret_taken, size_t count);
/* The same of one slice. */
struct taken take_slice(struct fixture *f);
bool complete(struct fixture *f, int shard, int64_t slice);

#endif
