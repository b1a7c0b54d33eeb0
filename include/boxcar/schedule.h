/* boxcar/schedule.h: scheduled fanout: work that is done again and again, in slices.
 *
 * A schedule has a topic, a work key, a cadence (every_ms) and a number of shards. Each shard is due again when its last
 * completed slice is older than the cadence. Then one message for its next slice is enqueued, with the topic
 * fanout:{topic}:{work key} and this payload:
 *
 *     {"topic": "reindex", "work_key": "products", "shard": 3, "shards": 16, "slice": 7}
 *
 * A slice is completed when its message is done, which the next plan notes, or earlier by boxcar_schedule_complete(). If
 * the message ends otherwise (it is dead, or cancelled), the slice is enqueued again, from the third time on due after
 * growing pauses. A completed slice never is, and a shard has one slice at a time.
 *
 * Workers plan. The one that holds the planners' lease enqueues what is due. A planner that has lost the lease changes
 * nothing, because its fence is too low. */
#ifndef BOXCAR_SCHEDULE_H
#define BOXCAR_SCHEDULE_H

#include "error.h"
#include "message.h"
#include "store.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOXCAR_SHARDS_MAX 10000
#define BOXCAR_EVERY_MS_MIN 1000
#define BOXCAR_EVERY_MS_MAX (INT64_C(366) * 24 * 60 * 60 * 1000)
#define BOXCAR_SLICE_TOPIC_PREFIX "fanout:"

typedef struct boxcar_new_schedule {
    size_t struct_size;
    boxcar_str topic;    /* at least one character; without a colon and control characters */
    boxcar_str work_key; /* at least one character; without control characters. fanout:{topic}:{work key} has at
                            most 255 */
    int64_t every_ms;    /* 1 s to 366 d: from the completion of a slice to the next one */
    int64_t jitter_ms;   /* each shard is late by a part of this, so that not all are due at once; up to every_ms */
    int shards;          /* 1 to 10,000 */
    boxcar_str then_topic; /* slices that are enqueued together are the steps of a join, and when all of them are done, a
                              message with this topic and the payload {"topic", "work_key", "slices"} is enqueued. Absent = no
                              join */
    boxcar_str else_topic; /* instead, if a step failed; absent = nothing is enqueued then */
} boxcar_new_schedule;

#ifdef __cplusplus
#define BOXCAR_NEW_SCHEDULE_INIT (boxcar_new_schedule{sizeof(boxcar_new_schedule), {0, 0}, {0, 0}, 0, 0, 1, {0, 0}, {0, 0}})
#else
#define BOXCAR_NEW_SCHEDULE_INIT ((boxcar_new_schedule){.struct_size = sizeof(boxcar_new_schedule), .shards = 1})
#endif

/* Makes a schedule; its shards are due at once, but for the jitter. BOXCAR_E_CONFLICT: there is one with this topic and
 * work key. */
BOXCAR_API boxcar_status boxcar_schedule_add(boxcar_store *store, const boxcar_new_schedule *schedule, boxcar_error *err);
/* Nothing more is planned; what is enqueued stays. BOXCAR_E_NOT_FOUND: there is no such schedule; so for all calls below. */
BOXCAR_API boxcar_status boxcar_schedule_pause(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                               boxcar_error *err);
BOXCAR_API boxcar_status boxcar_schedule_resume(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                                boxcar_error *err);
/* Messages that are enqueued stay. */
BOXCAR_API boxcar_status boxcar_schedule_remove(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                                boxcar_error *err);
/* Marks a slice as completed, for example in the handler's own transaction. *ret_changed (may be NULL): it was the shard's
 * slice, and not completed yet. */
BOXCAR_API boxcar_status boxcar_schedule_complete(boxcar_store *store, boxcar_str topic, boxcar_str work_key, int shard,
                                                  int64_t slice, bool *ret_changed, boxcar_error *err);

/* ---- planning ---- */

typedef struct boxcar_plan {
    size_t struct_size;
    boxcar_owner owner; /* who plans */
    int64_t lease_ms;   /* how long no other planner may plan, 100 ms to 24 h */
    int64_t fence;      /* of the planner's lease; 0 = take the lease, if it is free, has run out, or is this owner's */
    int most;           /* slices to enqueue, 1 to 10,000 */
} boxcar_plan;

#ifdef __cplusplus
#define BOXCAR_PLAN_INIT (boxcar_plan{sizeof(boxcar_plan), {{{0}}}, BOXCAR_LEASE_MS_DEFAULT, 0, 1000})
#else
#define BOXCAR_PLAN_INIT ((boxcar_plan){ \
    .struct_size = sizeof(boxcar_plan), .lease_ms = BOXCAR_LEASE_MS_DEFAULT, .most = 1000})
#endif

typedef struct boxcar_planned {
    size_t struct_size;
    int64_t fence;           /* of the lease: rises whenever it goes to another owner; 0 = another planner holds it */
    int64_t count;           /* slices that were enqueued */
    boxcar_time next_due_at; /* when to plan again at the latest; BOXCAR_TIME_NONE = there is no schedule that runs */
} boxcar_planned;

#ifdef __cplusplus
#define BOXCAR_PLANNED_INIT (boxcar_planned{sizeof(boxcar_planned), 0, 0, BOXCAR_TIME_NONE})
#else
#define BOXCAR_PLANNED_INIT ((boxcar_planned){ \
    .struct_size = sizeof(boxcar_planned), .next_due_at = BOXCAR_TIME_NONE})
#endif

/* Enqueues the slices that are due, in one transaction. BOXCAR_E_CONFLICT: the fence is not that of the lease (any more);
 * nothing is done. Workers do this; a program of its own need not. */
BOXCAR_API boxcar_status boxcar_schedule_plan(boxcar_store *store, const boxcar_plan *plan, boxcar_planned *ret_planned,
                                              boxcar_error *err);

/* ---- looking ---- */

/* Text is lent by the list. */
typedef struct boxcar_schedule {
    boxcar_str topic, work_key;
    int64_t every_ms, jitter_ms;
    int shards;
    boxcar_str then_topic, else_topic; /* absent = none */
    boxcar_time created_at;
    boxcar_time paused_at;   /* BOXCAR_TIME_NONE = it runs */
    int open_slices;         /* enqueued and not completed */
    boxcar_time next_due_at; /* of its shards without an open slice; BOXCAR_TIME_NONE = all have one */
} boxcar_schedule;

typedef struct boxcar_schedule_list {
    const boxcar_schedule *const *items;
    size_t count;
} boxcar_schedule_list;

/* One schedule, or all of them by topic and work key if both are absent. */
BOXCAR_API boxcar_status boxcar_schedule_read(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                              boxcar_schedule_list **ret_list, boxcar_error *err);

typedef struct boxcar_slice {
    int shard;                    /* from 0 on */
    int64_t slice;                /* the newest one, from 1 on; 0 = there was none */
    boxcar_message_id message_id; /* the newest of its messages; none = there is none */
    int tries;                    /* how often it was enqueued */
    boxcar_time enqueued_at;      /* the newest message */
    boxcar_time completed_at;     /* BOXCAR_TIME_NONE = it is not */
    boxcar_time due_at;           /* the next one; BOXCAR_TIME_NONE = this one is not completed */
} boxcar_slice;

typedef struct boxcar_slice_list {
    const boxcar_slice *const *items;
    size_t count;
} boxcar_slice_list;

/* The shards of a schedule, in their order. */
BOXCAR_API boxcar_status boxcar_schedule_slice_read(boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                                    boxcar_slice_list **ret_list, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
