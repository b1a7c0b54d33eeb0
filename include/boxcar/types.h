/* boxcar/types.h: the words every other header uses: text, ids, times, statuses.
 *
 * Everything here is a plain value. Nothing is allocated, nothing has to be freed,
 * and every function may be called from any thread. */
#ifndef BOXCAR_TYPES_H
#define BOXCAR_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BOXCAR_API __attribute__((visibility("default")))
#else
#define BOXCAR_API
#endif

/* Text travels with its length and is borrowed, never owned: the caller that passes a
 * boxcar_str keeps the bytes alive for the call. data == NULL means absent (SQL
 * null); data != NULL with len == 0 is the empty text. No NUL terminator is needed
 * or looked for. */
typedef struct boxcar_str {
    const char *data;
    size_t len;
} boxcar_str;

/* BOXCAR_STR("orders.paid"): a boxcar_str from a string literal. */
#ifdef __cplusplus
#define BOXCAR_STR(literal) (boxcar_str{(literal), sizeof(literal) - 1})
#define BOXCAR_NO_STR (boxcar_str{0, 0})
#else
#define BOXCAR_STR(literal) ((boxcar_str){(literal), sizeof(literal) - 1})
#define BOXCAR_NO_STR ((boxcar_str){NULL, 0})
#endif

/* A boxcar_str over a NUL-terminated string; NULL gives the absent text. */
BOXCAR_API boxcar_str boxcar_str_of(const char *text);

/* Ids. Each is a type of its own, so that mixing them up does not compile. All-zero
 * bytes (or the value 0) mean "none". The functions for UUIDs below work on the UUID inside:
 *
 *     boxcar_owner me = {boxcar_uuid_new()};
 *     boxcar_uuid_format(message->message_id.uuid, text); */
typedef struct boxcar_uuid {
    uint8_t bytes[16];
} boxcar_uuid;

typedef struct boxcar_message_id { /* names a message for ever */
    boxcar_uuid uuid;
} boxcar_message_id;

typedef struct boxcar_owner { /* names a claimer, usually a worker */
    boxcar_uuid uuid;
} boxcar_owner;

typedef struct boxcar_join_id {
    boxcar_uuid uuid;
} boxcar_join_id;

/* Names an event for ever. The message of an event with a topic has the same UUID as its message id. */
typedef struct boxcar_event_id {
    boxcar_uuid uuid;
} boxcar_event_id;

typedef struct boxcar_work_id { /* names a message in its store; gives the order of arrival */
    int64_t value;
} boxcar_work_id;

typedef struct boxcar_epoch { /* the number of a lease; every claim gets a higher one */
    int64_t value;
} boxcar_epoch;

/* A point in time: microseconds since 1970-01-01 00:00 UTC. */
typedef int64_t boxcar_time;
#define BOXCAR_TIME_NONE INT64_MIN

/* Which of the two boxes a message is in. Both have the same lifecycle.
 *
 * Claims, settlements and what people look at belong to a *reader* of a box. Each box has a main reader, whose number
 * is that of the box. Subscriptions are further readers, with numbers from 2 on (boxcar/subscription.h). Where a reader
 * is meant, its number is given as the box. */
typedef int boxcar_box;
enum {
    BOXCAR_OUTBOX = 0,
    BOXCAR_INBOX = 1
};
#define BOXCAR_READER_MAX 32767 /* the largest number of a reader */

/* The lifecycle. Numbers and names are the same in C, SQL and JSON. */
typedef enum boxcar_message_status {
    BOXCAR_READY = 0,
    BOXCAR_IN_PROGRESS = 1,
    BOXCAR_DONE = 2,
    BOXCAR_FAILED = 3
} boxcar_message_status;

/* Why a message is dead. NONE for a message that is not dead. */
typedef enum boxcar_reason {
    BOXCAR_REASON_NONE = 0,
    BOXCAR_REASON_REJECTED = 1,   /* it was failed (BOXCAR_FAIL), or its row is damaged */
    BOXCAR_REASON_EXHAUSTED = 2,  /* attempts used up */
    BOXCAR_REASON_EXPIRED = 3,    /* its time to live ended */
    BOXCAR_REASON_NO_HANDLER = 4, /* claimed by a worker that had none for its topic */
    BOXCAR_REASON_CANCELLED = 5
} boxcar_reason;

/* The names used in SQL, JSON and on the command line. "?" for a number out of range, as that of a
 * subscription. Values are consecutive from 0. */
BOXCAR_API const char *boxcar_box_name(boxcar_box box);
BOXCAR_API const char *boxcar_message_status_name(boxcar_message_status status);
BOXCAR_API const char *boxcar_reason_name(boxcar_reason reason);

/* UUID text: 36 characters, lower case, plus the terminating NUL. */
#define BOXCAR_UUID_TEXT_SIZE 37

/* A new UUIDv7 (RFC 9562) from this machine's clock and the system's randomness. It is unique even if the
 * clock is wrong. None (all zero) if the system gives no randomness. */
BOXCAR_API boxcar_uuid boxcar_uuid_new(void);
BOXCAR_API bool boxcar_uuid_is_none(boxcar_uuid uuid);
/* Parsing takes the 36-character form, upper or lower case, and returns false for
 * anything else. Formatting writes 36 characters and a NUL. */
BOXCAR_API bool boxcar_uuid_parse(boxcar_str text, boxcar_uuid *ret_uuid);
BOXCAR_API void boxcar_uuid_format(boxcar_uuid uuid, char ret_text[BOXCAR_UUID_TEXT_SIZE]);

/* The message id made of a topic and a key. The same topic and key give the same id, in C, in SQL and
 * on the command line, so that enqueueing a key twice stores one message. Not for unique keys:
 * their messages have new ids. None when the topic is too long. */
BOXCAR_API boxcar_message_id boxcar_message_id_of_topic_key(boxcar_str topic, boxcar_str key);
/* A message id made of a text alone, to give as message_id. Up to schema version 9 a key gave this id,
 * whatever the topic. */
BOXCAR_API boxcar_message_id boxcar_message_id_of_key(boxcar_str key);

/* Times as RFC 3339 text: parsing takes any offset and up to microseconds, formatting
 * writes UTC with microseconds and Z ("2026-01-31T12:00:00.000000Z", 27 characters).
 * Leap seconds and years outside 1 to 9999 are not accepted; digits beyond microseconds
 * (at most nine) are cut off. BOXCAR_TIME_NONE is written as the empty text. */
#define BOXCAR_TIME_TEXT_SIZE 40
BOXCAR_API bool boxcar_time_parse(boxcar_str text, boxcar_time *ret_time);
BOXCAR_API void boxcar_time_format(boxcar_time time, char ret_text[BOXCAR_TIME_TEXT_SIZE]);

/* Durations as text: a whole number and a unit: 500ms, 30s, 5m, 2h, 7d. A plain 0 is
 * allowed. Returns false for anything else, and for what overflows. */
BOXCAR_API bool boxcar_duration_parse(boxcar_str text, int64_t *ret_ms);

/* Lists. Calls that return several things return a struct with `items`, an array of pointers, and `count`:
 *
 *     for (size_t i = 0; i < list->count; i++)
 *         use(list->items[i]->topic);
 *     boxcar_list_free(list);
 *
 * The items and their texts are lent by the list until it is freed. Any thread may read a list. This function
 * frees a list of any type that the caller owns; NULL is fine. Do not free a list that another object lends,
 * such as the claimed messages of a boxcar_result: it is freed with that object. */
BOXCAR_API void boxcar_list_free(const void *list);

#ifdef __cplusplus
}
#endif
#endif
