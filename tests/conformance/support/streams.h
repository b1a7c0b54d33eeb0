/* The steps that tests of streams are made of, in addition to actions.h. */
#ifndef BOXCAR_TESTS_STREAMS_H
#define BOXCAR_TESTS_STREAMS_H

#include "conformance.h"

enum { HOUR = 3600000, RUN_MAX = 128 };

/* What one claim brought, in its order. */
struct batch_taken {
    struct taken items[RUN_MAX];
    char streams[RUN_MAX][32]; /* "" = none */
    size_t count;
};

/* `count` messages of a stream, topic "t", in one call. */
void enqueue_run(struct fixture *f, const char *stream, size_t count, boxcar_work_id *ret_ids);
boxcar_work_id enqueue_in_stream(struct fixture *f, const char *stream, const char *topic);
boxcar_work_id enqueue_fragile(struct fixture *f, const char *stream, int max_attempts);

struct batch_taken claim_batch(struct fixture *f, boxcar_owner owner, int size);
struct batch_taken claim_batch_for(struct fixture *f, boxcar_owner owner, int size, int64_t lease_ms);
/* Exactly these came, in this order. */
void assert_taken(const struct batch_taken *batch, const boxcar_work_id *ids, size_t count);
/* Claims with more than twice the room that they need, and asserts that just these come. What a store gives
 * to one stream while there is room is at least half of it, so enqueue no more of the stream than should
 * come. */
struct batch_taken take_run(struct fixture *f, boxcar_owner owner, const boxcar_work_id *ids, size_t count);
struct batch_taken take_run_for(struct fixture *f, boxcar_owner owner, const boxcar_work_id *ids,
                                size_t count, int64_t lease_ms);
/* One call for all of them. */
size_t ack_batch(struct fixture *f, boxcar_owner owner, const struct batch_taken *batch);
int64_t violations(struct fixture *f);

/* One stream, its texts left out; its state alone. */
boxcar_stream stream_of(struct fixture *f, const char *stream);
void assert_stream_state(struct fixture *f, const char *stream, boxcar_stream_state wanted);
void assert_no_stream(struct fixture *f, const char *stream);
void resume(struct fixture *f, const char *stream, bool replay);
void set_rule(struct fixture *f, const char *pattern, boxcar_stream_policy policy);

/* Says that a worker lives; as if everyone had been silent for 31 s. */
void beat(struct fixture *f, boxcar_owner owner);
void go_silent_31s(struct fixture *f);

#endif
