/* boxcar/message.h: a message as it is written, and as it is read back. */
#ifndef BOXCAR_MESSAGE_H
#define BOXCAR_MESSAGE_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOXCAR_TOPIC_MAX 255          /* characters, not bytes */
#define BOXCAR_CORRELATION_ID_MAX 255
#define BOXCAR_STREAM_MAX 255
#define BOXCAR_KEY_MAX 1024
#define BOXCAR_MAX_ATTEMPTS_MAX 1000000
#define BOXCAR_ERROR_TEXT_MAX 4096    /* bytes kept of an error text */

/* What enqueue takes. Start from BOXCAR_NEW_MESSAGE_INIT and fill in topic and payload;
 * everything else is optional. All text is UTF-8 without NUL bytes and is borrowed for
 * the call. */
typedef struct boxcar_new_message {
    boxcar_str topic;          /* 1 to 255 characters, case-sensitive */
    boxcar_str payload;        /* may be empty, not absent; opaque to Boxcar. At most 64 MiB (the setting
                                  payload_bytes_max) */
    boxcar_str correlation_id; /* at most 255 characters; empty = absent */
    boxcar_str stream;         /* at most 255 characters; empty = absent. Messages of one
                                  stream are handed out one at a time, in order */
    boxcar_str headers;        /* a JSON object whose values are strings. At most 64 KiB (the setting
                                  headers_bytes_max) */
    boxcar_time due_at;        /* not claimed before; BOXCAR_TIME_NONE or past = now */
    int64_t delay_ms;          /* due this long after the database's now; 0 = none. Not
                                  together with due_at */
    int64_t ttl_ms;            /* dead (expired) if not finished this long after enqueueing
                                  and not leased; 0 = never */
    boxcar_message_id message_id; /* none = a new one. An id that is already in the store
                                     makes the enqueue a no-op, reported as duplicate */
    boxcar_str key;            /* derives message_id from the topic and this text; not together with it.
                                  The same key again in the same topic is a duplicate, in another
                                  topic another message. Remembered as long as its message */
    int max_attempts;          /* 0 = the store's setting */
    boxcar_join_id join_id;    /* none, or the join to attach the message to */
    uintptr_t unique;          /* 1: the key is free again once its message has ended (done or dead); each
                                  message with it has a new id. Needs a key. 0: see key */
    uintptr_t reserved[3];     /* zero */
} boxcar_new_message;

#ifdef __cplusplus
#define BOXCAR_NEW_MESSAGE_INIT (boxcar_new_message{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, \
    BOXCAR_TIME_NONE, 0, 0, {{{0}}}, {0, 0}, 0, {{{0}}}, 0, {0}})
#else
#define BOXCAR_NEW_MESSAGE_INIT ((boxcar_new_message){.due_at = BOXCAR_TIME_NONE})
#endif

/* What enqueue says about one message. */
typedef struct boxcar_enqueued {
    boxcar_work_id work_id;
    boxcar_message_id message_id;
    bool duplicate; /* the message id existed, or the key was taken; these are the ids of what is there */
} boxcar_enqueued;

/* A message in the store. Text is lent by the boxcar_message_list it came from. Fields
 * that do not apply are absent (data == NULL, BOXCAR_TIME_NONE, zero id). */
typedef struct boxcar_message {
    boxcar_work_id work_id;
    boxcar_message_id message_id;
    boxcar_box box;
    boxcar_message_status status;
    boxcar_str topic;
    boxcar_str payload; /* absent in lists; present from claim and find */
    boxcar_str correlation_id;
    boxcar_str stream;
    boxcar_str headers; /* JSON object */
    boxcar_time created_at;
    boxcar_time due_at;
    boxcar_time available_at; /* when it may be claimed next, as far as known */
    boxcar_time expires_at;
    int retry_count; /* attempts that ended badly or never ended */
    int crash_count; /* those of them that never ended: a lease expired. Above 0 the
                        message is suspect and always claimed alone; from 3 on run it with
                        nothing else in flight */
    int max_attempts; /* the message's own, or 0 for the store's setting */
    boxcar_str last_error;
    boxcar_owner owner; /* of the lease, while in progress */
    boxcar_epoch epoch;
    boxcar_time locked_until;
    boxcar_time processed_at; /* when done */
    boxcar_str processed_by;  /* the owner that acked it, as text */
    boxcar_reason reason;     /* when failed */
    boxcar_time died_at;
    boxcar_str source;      /* of a message of the inbox, see boxcar/inbox.h; absent in the outbox */
    boxcar_str external_id;
} boxcar_message;

/* Stages of a message's processing, for who does it in parts: a retry sees which are done. Recorded with
 * boxcar_process() or boxcar_delivery_record_stages() while the message is leased; gone with the message. */
typedef enum boxcar_stage {
    BOXCAR_STAGE_STORED = 1,
    BOXCAR_STAGE_EVENT_STORED = 2,
    BOXCAR_STAGE_PUBLISHED = 4,
    BOXCAR_STAGE_RECEPTOR_PROCESSED = 8,
    BOXCAR_STAGE_PERSPECTIVE_PROCESSED = 16
} boxcar_stage;

#define BOXCAR_STAGES_ALL 31

/* Messages; see boxcar_list_free() in boxcar/types.h. */
typedef struct boxcar_message_list {
    const boxcar_message *const *items;
    size_t count;
} boxcar_message_list;

#ifdef __cplusplus
}
#endif
#endif
