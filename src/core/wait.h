/* A wait: the message that stays in the store until a join has ended, and what comes of it. */
#ifndef BOXCAR_CORE_WAIT_H
#define BOXCAR_CORE_WAIT_H

#include "base/arena.h"
#include "base/buf.h"
#include "boxcar/error.h"
#include "boxcar/join.h"

#define WAIT_TOPIC_DEFAULT "join.wait"
/* A wait cannot be the message that kills its worker, and losing it would lose its continuation:
 * crashes around it do not wear it out. */
#define WAIT_MAX_ATTEMPTS BOXCAR_MAX_ATTEMPTS_MAX

/* What a wait's payload says. Texts are borrowed. */
struct wait {
    boxcar_join_id join_id;
    bool allow_failures;
    boxcar_str on_complete_topic, on_complete_payload;
    boxcar_str on_fail_topic; /* absent = no continuation on failure */
    boxcar_str on_fail_payload;
    boxcar_str correlation_id;         /* of the wait's message, passed on to the continuation */
    boxcar_message_id continuation_id; /* derived from the wait's message id */
    boxcar_message_id message_id;      /* the wait's: what causes the continuation */
};

/* The outcome of evaluating a wait. */
enum wait_outcome {
    WAIT_LOST,      /* another owner has its lease: nothing was done */
    WAIT_DEFERRED,  /* the join is pending: later, no attempt spent */
    WAIT_COMPLETED, /* acked, with the continuation on_complete */
    WAIT_FAILED,    /* acked, with the continuation on_fail */
    WAIT_SILENT,    /* acked; the join failed and no continuation is wanted then */
    WAIT_NO_JOIN    /* a dead letter: the join does not exist */
};

/* Reads a payload: a JSON object with the fields join_id, fail_if_any_step_failed, on_complete_topic,
 * on_complete_payload, on_fail_topic, on_fail_payload, or the same in camelCase or PascalCase; others are
 * ignored. Texts are copied into the arena; correlation_id and the ids of messages are left alone.
 * BOXCAR_E_INVALID says what is wrong, never what the payload is. */
boxcar_status wait_parse(boxcar_str payload, struct arena *arena, struct wait *ret_wait, boxcar_error *err);
/* Writes the payload of a wait that has been checked. */
boxcar_status wait_format(const boxcar_new_wait *wait, struct buf *ret_payload, boxcar_error *err);

/* What a wait on this join (NULL = it does not exist) comes to now. */
enum wait_outcome wait_decide(const struct wait *wait, const boxcar_join *join);

/* When to look at a pending join again: the older the wait, the less often, at the latest at its
 * deadline. Only a backup: the end of the join makes its waits due. */
#define WAIT_DELAY_MIN_MS 1000
#define WAIT_DELAY_MAX_MS 60000
int64_t wait_delay_ms(boxcar_time now, boxcar_time created_at, boxcar_time deadline);

#endif
