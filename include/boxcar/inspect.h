/* boxcar/inspect.h: looking at a store without changing it. */
#ifndef BOXCAR_INSPECT_H
#define BOXCAR_INSPECT_H

#include "error.h"
#include "message.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names a message by either id: exactly one is set. */
typedef struct boxcar_message_ref {
    boxcar_work_id work_id;
    boxcar_message_id message_id;
} boxcar_message_ref;

/* Finds one message, payload included. The list has exactly one entry; BOXCAR_E_NOT_FOUND
 * when there is none. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_message_find(boxcar_store *store, boxcar_box box,
                                             boxcar_message_ref ref, boxcar_message_list **ret_list,
                                             boxcar_error *err);

#define BOXCAR_LIST_LIMIT_MAX 10000

/* Ready messages are of two kinds, as boxcar_stats counts them. */
typedef enum boxcar_readiness {
    BOXCAR_READINESS_ANY = 0,
    BOXCAR_CLAIMABLE = 1, /* now */
    BOXCAR_WAITING = 2    /* due later, backing off, or behind in a stream */
} boxcar_readiness;

typedef struct boxcar_message_filter {
    size_t struct_size;
    boxcar_box box; /* or the number of a subscription: what it has to do with, as it sees it */
    bool by_status; /* only messages with `status` */
    boxcar_message_status status;
    boxcar_str topic;     /* absent = all; exact, or ending in * */
    int limit;            /* 1 to 10,000 */
    boxcar_work_id after; /* continue a listing: only messages older than this one */
    boxcar_readiness readiness; /* with status BOXCAR_READY: only this kind of them */
} boxcar_message_filter;

#ifdef __cplusplus
#define BOXCAR_MESSAGE_FILTER_INIT (boxcar_message_filter{sizeof(boxcar_message_filter), BOXCAR_OUTBOX, \
    false, BOXCAR_READY, {0, 0}, 50, {0}, BOXCAR_READINESS_ANY})
#else
#define BOXCAR_MESSAGE_FILTER_INIT ((boxcar_message_filter){.struct_size = sizeof(boxcar_message_filter), .limit = 50})
#endif

/* One page of messages, newest first, without payloads. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_message_page(boxcar_store *store, const boxcar_message_filter *options,
                                             boxcar_message_list **ret_list, boxcar_error *err);

/* One bad end of a message, or a replay. */
typedef struct boxcar_attempt {
    boxcar_time at;
    int retry_count;     /* of the message, after this */
    boxcar_str outcome;  /* "abandoned", "lease_expired", "failed", "expired", "cancelled",
                            "replayed" */
    boxcar_owner owner;  /* of the lease, if there was one */
    boxcar_epoch epoch;
    boxcar_str error;
} boxcar_attempt;

typedef struct boxcar_attempt_list {
    const boxcar_attempt *const *items;
    size_t count;
} boxcar_attempt_list;

/* The history of a message, oldest first; empty if no attempt ended badly. Kept as
 * long as the message. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_attempt_read(boxcar_store *store, boxcar_work_id work_id,
                                                 boxcar_attempt_list **ret_list, boxcar_error *err);

/* Flags for the numbers of boxcar_stats. */
typedef enum boxcar_stats_number {
    BOXCAR_STATS_READY = 1,
    BOXCAR_STATS_WAITING = 2,
    BOXCAR_STATS_IN_PROGRESS = 4,
    BOXCAR_STATS_DONE = 8,
    BOXCAR_STATS_FAILED = 16,
    BOXCAR_STATS_AGE = 32
} boxcar_stats_number;

typedef struct boxcar_stats {
    boxcar_str topic; /* absent in the row for all topics */
    int64_t ready;    /* claimable now */
    int64_t waiting;  /* due later, backing off, or behind in a stream */
    int64_t in_progress;
    int64_t done;   /* retained */
    int64_t failed; /* dead letters */
    double oldest_ready_age_seconds; /* 0 when nothing is ready */
    bool exact;     /* false: some numbers were too large to count and are estimates */
    unsigned estimated; /* which numbers are estimates: BOXCAR_STATS_ flags; 0 if exact */
} boxcar_stats;

typedef struct boxcar_stats_list {
    const boxcar_stats *const *items;
    size_t count;
} boxcar_stats_list;

/* Row 0 is for the whole box; with by_topic a row per topic follows, by name. The cost of the
 * call does not grow with the number of messages. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_stats_read(boxcar_store *store, boxcar_box box, bool by_topic,
                                           boxcar_stats_list **ret_list, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
