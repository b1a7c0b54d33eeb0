/* boxcar/stream.h: streams: messages that are handled one at a time, in order.
 *
 * boxcar_new_message.stream names the stream of a message. Within a stream messages are handled in the order
 * of arrival, across retries, crashes and any number of workers; streams never wait for each other. While a
 * message waits for its retry, its stream waits. When a message dies, its stream continues or halts. The
 * policy of the stream decides: a rule for the stream, or else the store's setting stream_policy. A halted
 * stream waits until an operator resumes it.
 *
 * A claim may bring several messages of one stream: they are neighbours, in the order of their work ids.
 * Handle them in that order, and stop at the first that is not acked: give the rest back (defer). */
#ifndef BOXCAR_STREAM_H
#define BOXCAR_STREAM_H

#include "error.h"
#include "message.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum boxcar_stream_state {
    BOXCAR_STREAM_READY = 0,       /* its next message can be claimed now */
    BOXCAR_STREAM_WAITING = 1,     /* its next message is due later, or backing off */
    BOXCAR_STREAM_IN_PROGRESS = 2, /* a message of it is leased */
    BOXCAR_STREAM_HALTED = 3       /* a message of it died, and it waits for boxcar_stream_resume() */
} boxcar_stream_state;

/* "ready", "waiting", "in_progress", "halted"; "?" for a number out of range. */
BOXCAR_API const char *boxcar_stream_state_name(boxcar_stream_state state);

#define BOXCAR_STREAM_PENDING_MAX 1000 /* counting stops here */

/* A stream that has unfinished messages, or that is halted. Text is lent by its list. */
typedef struct boxcar_stream {
    boxcar_str stream;
    boxcar_box box;            /* or the subscription: each reader has its own place in a stream */
    boxcar_stream_state state;
    int partition;
    int64_t pending;           /* unfinished messages, leased ones too; BOXCAR_STREAM_PENDING_MAX: that many
                                  or more */
    boxcar_work_id head;       /* the first unfinished message; none when there is none */
    boxcar_str topic;          /* of the head */
    boxcar_time available_at;  /* when the head may be claimed; BOXCAR_TIME_NONE while leased or halted */
    int retry_count;           /* of the head */
    boxcar_owner owner;        /* while in progress: the owner that holds the head */
    boxcar_time halted_at;     /* BOXCAR_TIME_NONE = it is not halted */
    boxcar_work_id halted_by;  /* the dead letter that halted it */
} boxcar_stream;

typedef struct boxcar_stream_list {
    const boxcar_stream *const *items;
    size_t count;
} boxcar_stream_list;

typedef struct boxcar_stream_filter {
    size_t struct_size;
    boxcar_box box;
    bool halted;       /* only those that are halted */
    boxcar_str prefix; /* only those whose key begins with it; absent or empty = all */
    int limit;         /* 1 to 10,000 */
    boxcar_str after;  /* continue a listing: only keys after this one */
} boxcar_stream_filter;

#ifdef __cplusplus
#define BOXCAR_STREAM_FILTER_INIT (boxcar_stream_filter{sizeof(boxcar_stream_filter), BOXCAR_OUTBOX, false, {0, 0}, \
    50, {0, 0}})
#else
#define BOXCAR_STREAM_FILTER_INIT ((boxcar_stream_filter){.struct_size = sizeof(boxcar_stream_filter), .limit = 50})
#endif

/* One page of streams by key (in the order of its bytes). The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_stream_page(boxcar_store *store, const boxcar_stream_filter *filter,
                                            boxcar_stream_list **ret_list, boxcar_error *err);

/* One stream. BOXCAR_E_NOT_FOUND: it has no unfinished message and is not halted. */
BOXCAR_API boxcar_status boxcar_stream_find(boxcar_store *store, boxcar_box box, boxcar_str stream,
                                            boxcar_stream_list **ret_list, boxcar_error *err);

/* Resumes a halted stream with the message after the dead letter that halted it. With `replay` it first
 * replays that dead letter, like boxcar_dead_replay(). boxcar_dead_replay() of that dead letter resumes the
 * stream, too.
 * BOXCAR_E_NOT_FOUND: there is no such stream; BOXCAR_E_CONFLICT: it is not halted. */
BOXCAR_API boxcar_status boxcar_stream_resume(boxcar_store *store, boxcar_box box, boxcar_str stream, bool replay,
                                              boxcar_error *err);

/* Skips the next message of a stream: it becomes a dead letter (cancelled), and the stream continues with the
 * message after it, whatever its policy. A halted stream is only resumed, because the message that halted it
 * is dead already; *ret_work_id is then that message. BOXCAR_E_NOT_FOUND: the stream has no message;
 * BOXCAR_E_CONFLICT: the message is in progress. */
BOXCAR_API boxcar_status boxcar_stream_skip(boxcar_store *store, boxcar_box box, boxcar_str stream,
                                            boxcar_work_id *ret_work_id, boxcar_error *err);

/* ---- what happens when a message of a stream dies ---- */

typedef enum boxcar_stream_policy {
    BOXCAR_STREAM_DEFAULT = -1, /* only for boxcar_stream_rule_write(): remove the rule */
    BOXCAR_STREAM_CONTINUE = 0,
    BOXCAR_STREAM_HALT = 1
} boxcar_stream_policy;

BOXCAR_API const char *boxcar_stream_policy_name(boxcar_stream_policy policy); /* "continue", "halt" */

/* Gives streams a policy: the stream whose key is `pattern`, or, if `pattern` ends in *, every stream whose
 * key begins with it. The longest match wins; without a match the setting stream_policy counts.
 * BOXCAR_STREAM_DEFAULT removes the rule of the pattern; BOXCAR_E_NOT_FOUND: there is none. Cancelling a
 * message never halts its stream. */
BOXCAR_API boxcar_status boxcar_stream_rule_write(boxcar_store *store, boxcar_str pattern, boxcar_stream_policy policy,
                                                  boxcar_error *err);

typedef struct boxcar_stream_rule {
    boxcar_str pattern;
    boxcar_stream_policy policy;
} boxcar_stream_rule;

typedef struct boxcar_stream_rule_list {
    const boxcar_stream_rule *const *items;
    size_t count;
} boxcar_stream_rule_list;
/* All rules by pattern. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_stream_rule_read(boxcar_store *store, boxcar_stream_rule_list **ret_list,
                                                  boxcar_error *err);

/* How often a message of a stream was acked while an earlier message of that stream, claimed before, was
 * unfinished. A claimer that does this does not handle its messages in order. The evidence is kept as long as
 * dead letters. */
BOXCAR_API boxcar_status boxcar_stream_violation_count(boxcar_store *store, int64_t *ret_count, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
