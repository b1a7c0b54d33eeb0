/* boxcar/join.h: joins: wait until many messages have ended, then enqueue one more.
 *
 * A join counts steps. Its members are messages. An acked member counts as a completed step; a member that
 * dies (failed, attempts used up, expired, cancelled) counts as a failed one. The transaction that ends a
 * message also counts the step. Handlers know nothing of joins. When all expected steps are counted, the join
 * is completed, or failed if any step failed. After that, nothing about it changes. A wait is a message that
 * stays in the store until the join has ended, and spends no attempts. Its continuation then replaces it:
 * exactly one message, or none.
 *
 * The transaction that ends a join evaluates its waits. Workers and maintenance evaluate what is left. On a store made
 * from a borrowed handle each call is part of the caller's transaction. */
#ifndef BOXCAR_JOIN_H
#define BOXCAR_JOIN_H

#include "error.h"
#include "message.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum boxcar_join_status {
    BOXCAR_JOIN_PENDING = 0,
    BOXCAR_JOIN_COMPLETED = 1,
    BOXCAR_JOIN_FAILED = 2,
    BOXCAR_JOIN_CANCELLED = 3
} boxcar_join_status;

typedef enum boxcar_member_status {
    BOXCAR_MEMBER_PENDING = 0,
    BOXCAR_MEMBER_COMPLETED = 1,
    BOXCAR_MEMBER_FAILED = 2
} boxcar_member_status;

/* Why a join ended before its steps were counted. */
typedef enum boxcar_join_reason {
    BOXCAR_JOIN_REASON_NONE = 0,
    BOXCAR_JOIN_REASON_TIMED_OUT = 1 /* its deadline came; the status is failed */
} boxcar_join_reason;

BOXCAR_API const char *boxcar_join_status_name(boxcar_join_status status);
BOXCAR_API const char *boxcar_member_status_name(boxcar_member_status status);
BOXCAR_API const char *boxcar_join_reason_name(boxcar_join_reason reason); /* "none", "timed_out" */

/* ---- starting and filling ---- */

#define BOXCAR_GROUPING_KEY_MAX 255 /* characters */
#define BOXCAR_EXPECTED_STEPS_MAX INT32_MAX

/* What start takes. Only expected_steps is required. */
typedef struct boxcar_new_join {
    size_t struct_size;
    int64_t expected_steps;  /* 1 to 2^31 - 1: how many steps end the join */
    boxcar_str grouping_key; /* what it belongs to: a customer, an order, ...; empty = none */
    boxcar_str metadata;     /* any text, usually JSON; opaque to Boxcar. As large as a payload at most */
    boxcar_time deadline;    /* if the join is still pending then, it fails (timed_out); BOXCAR_TIME_NONE = never.
                                The deadline may be in the past: the join fails as soon as an operation
                                touches it */
    int64_t deadline_ms;     /* the same, from the database's current time on; 0 = none. Not together with deadline */
    boxcar_join_id join_id;  /* none = a new one. Starting an id that exists changes nothing */
} boxcar_new_join;

#ifdef __cplusplus
#define BOXCAR_NEW_JOIN_INIT (boxcar_new_join{sizeof(boxcar_new_join), 0, {0, 0}, {0, 0}, BOXCAR_TIME_NONE, 0, {{{0}}}})
#else
#define BOXCAR_NEW_JOIN_INIT ((boxcar_new_join){.struct_size = sizeof(boxcar_new_join), .deadline = BOXCAR_TIME_NONE})
#endif

/* ret_join_id is required: NULL is BOXCAR_E_INVALID. It is the id of the new join, or of the one that
 * existed; the call does not tell which. */
BOXCAR_API boxcar_status boxcar_join_start(boxcar_store *store, const boxcar_new_join *join,
                                           boxcar_join_id *ret_join_id, boxcar_error *err);

typedef struct boxcar_attached {
    size_t struct_size;
    bool is_new;          /* false: the message was a member already */
    bool message_exists;  /* false: no message has this id (yet); it counts when one comes and ends */
} boxcar_attached;

#ifdef __cplusplus
#define BOXCAR_ATTACHED_INIT (boxcar_attached{sizeof(boxcar_attached), false, false})
#else
#define BOXCAR_ATTACHED_INIT ((boxcar_attached){.struct_size = sizeof(boxcar_attached)})
#endif

/* Makes messages members; boxcar_new_message.join_id does the same while enqueueing. Counts nothing: a
 * message that has ended already is counted later, at the latest by maintenance or when a wait is
 * enqueued or evaluated. A join may have more members than expected steps: the first to end count.
 * BOXCAR_E_NOT_FOUND: no such join. BOXCAR_E_CONFLICT: the join has ended and a message is not a
 * member yet; nothing is attached then. ret_attached has room for `count` entries and struct_size set in the first, or
 * is NULL. */
BOXCAR_API boxcar_status boxcar_join_attach(boxcar_store *store, boxcar_join_id join_id,
                                            const boxcar_message_id *message_ids, size_t count,
                                            boxcar_attached *ret_attached, boxcar_error *err);

/* Counts a step by hand, completed or failed, for work that is not a message. The first outcome of a member
 * wins; later ones change nothing: *ret_counted (may be NULL) is false. BOXCAR_E_NOT_FOUND: no such join, or
 * the message is not a member. BOXCAR_E_CONFLICT: the join has ended without this step. */
BOXCAR_API boxcar_status boxcar_join_report(boxcar_store *store, boxcar_join_id join_id,
                                            boxcar_message_id message_id, boxcar_member_status outcome,
                                            bool *ret_counted, boxcar_error *err);

/* Ends a pending join; its waits take the failure path (on_fail). BOXCAR_E_NOT_FOUND: no such join.
 * BOXCAR_E_CONFLICT: it has ended already. */
BOXCAR_API boxcar_status boxcar_join_cancel(boxcar_store *store, boxcar_join_id join_id, boxcar_error *err);

/* ---- waiting ---- */

/* A wait, and the messages that may replace it when the join has ended. */
typedef struct boxcar_new_wait {
    size_t struct_size;
    boxcar_join_id join_id;
    bool allow_failures;           /* false: any failed step leads to on_fail; true: the wait takes
                                      on_complete even if steps have failed. A join that timed out
                                      or was cancelled always leads to on_fail */
    boxcar_str on_complete_topic;  /* required, 1 to 255 characters */
    boxcar_str on_complete_payload; /* required; may be empty */
    boxcar_str on_fail_topic;      /* absent: nothing is enqueued on failure; not empty */
    boxcar_str on_fail_payload;
    boxcar_str correlation_id;     /* of the wait and of its continuation; empty = none */
    boxcar_message_id message_id;  /* of the wait; none = a new one. An id that exists changes nothing */
    boxcar_str causation_id;       /* of the wait; empty = none. The continuation's is the wait's message id */
} boxcar_new_wait;

#ifdef __cplusplus
#define BOXCAR_NEW_WAIT_INIT (boxcar_new_wait{sizeof(boxcar_new_wait), {{{0}}}, false, {0, 0}, {0, 0}, {0, 0}, {0, 0}, \
    {0, 0}, {{{0}}}, {0, 0}})
#else
#define BOXCAR_NEW_WAIT_INIT ((boxcar_new_wait){.struct_size = sizeof(boxcar_new_wait)})
#endif

/* Enqueues a wait; also for a join that has ended. Each wait yields a continuation of its own.
 * BOXCAR_E_NOT_FOUND: no such join. ret_enqueued (may be NULL) names the wait's own message. */
BOXCAR_API boxcar_status boxcar_join_wait(boxcar_store *store, const boxcar_new_wait *wait,
                                          boxcar_enqueued *ret_enqueued, boxcar_error *err);

/* The message id of a wait's continuation: the same however often the wait is evaluated. */
BOXCAR_API boxcar_message_id boxcar_join_continuation_id(boxcar_message_id wait_id);

/* ---- looking ---- */

/* A join in the store. Text is lent by the list it came from. */
typedef struct boxcar_join {
    boxcar_join_id join_id;
    boxcar_str grouping_key;
    int64_t expected_steps, completed_steps, failed_steps;
    boxcar_join_status status;
    boxcar_join_reason reason;
    boxcar_time created_at, last_updated_at;
    boxcar_time deadline;
    boxcar_str metadata;
} boxcar_join;

typedef struct boxcar_join_list {
    const boxcar_join *const *items;
    size_t count;
} boxcar_join_list;

/* One join: the list has exactly one entry. BOXCAR_E_NOT_FOUND: no such join. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_join_find(boxcar_store *store, boxcar_join_id join_id,
                                          boxcar_join_list **ret_list, boxcar_error *err);

typedef struct boxcar_join_filter {
    size_t struct_size;
    boxcar_str grouping_key; /* absent = any */
    bool by_status;          /* only joins with `status` */
    boxcar_join_status status;
    boxcar_time before;      /* created before; BOXCAR_TIME_NONE = any */
    int limit;               /* 1 to 10,000 */
    boxcar_join_id after;    /* continue a listing: only joins older than this one */
    boxcar_message_id message_id; /* only joins that have this message as a member; none = any */
} boxcar_join_filter;

#ifdef __cplusplus
#define BOXCAR_JOIN_FILTER_INIT (boxcar_join_filter{sizeof(boxcar_join_filter), {0, 0}, false, BOXCAR_JOIN_PENDING, \
    BOXCAR_TIME_NONE, 50, {{{0}}}, {{{0}}}})
#else
#define BOXCAR_JOIN_FILTER_INIT ((boxcar_join_filter){.struct_size = sizeof(boxcar_join_filter), \
    .before = BOXCAR_TIME_NONE, .limit = 50})
#endif

/* One page of joins, newest first. The caller owns *ret_list. BOXCAR_E_NOT_FOUND: there is no join `after`. */
BOXCAR_API boxcar_status boxcar_join_page(boxcar_store *store, const boxcar_join_filter *filter,
                                          boxcar_join_list **ret_list, boxcar_error *err);

typedef struct boxcar_join_member {
    boxcar_message_id message_id;
    boxcar_work_id work_id; /* 0: no message has this id yet */
    boxcar_member_status status;
    boxcar_time created_at;
} boxcar_join_member;

typedef struct boxcar_join_member_list {
    const boxcar_join_member *const *items;
    size_t count;
} boxcar_join_member_list;

/* One page of a join's members by message id, starting after `after` (none = the first). The caller
 * owns *ret_list. BOXCAR_E_NOT_FOUND: no such join. */
BOXCAR_API boxcar_status boxcar_join_member_page(boxcar_store *store, boxcar_join_id join_id,
                                             boxcar_message_id after, int limit,
                                             boxcar_join_member_list **ret_list, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
