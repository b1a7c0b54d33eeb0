/* boxcar/subscription.h: further readers of a box.
 *
 * Each box has one log. Its main reader is the one that everything else in these headers means. A subscription is one
 * more named reader of the same log: it gets each message whose topic matches its patterns, besides the main reader,
 * with retries, order, halts and dead letters of its own. Nothing is copied, and enqueue does nothing for it.
 *
 *     boxcar_new_subscription audit = BOXCAR_NEW_SUBSCRIPTION_INIT;
 *     const boxcar_str topics[] = {BOXCAR_STR("orders.*")};
 *     audit.name = BOXCAR_STR("audit");
 *     audit.patterns = topics;
 *     audit.pattern_count = 1;
 *     boxcar_subscription_add(store, &audit, &reader, &err);
 *     claimer.box = reader;      and claim, settle and look at messages as ever
 *
 * A reader's number can be given wherever an argument or a field is a boxcar_box and a reader is meant: claimers,
 * settling, reaping, filters, dead letters, streams, figures. (A worker takes the name instead, and coordinators serve
 * the main readers only.) Numbers are never used twice. A number that is not that of a reader is BOXCAR_E_NOT_FOUND
 * with the argument "subscription".
 *
 * Joins, keys and stages belong to the message and follow the main reader. */
#ifndef BOXCAR_SUBSCRIPTION_H
#define BOXCAR_SUBSCRIPTION_H

#include "error.h"
#include "inspect.h"
#include "message.h"
#include "store.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOXCAR_SUBSCRIPTION_NAME_MAX 255 /* characters */
#define BOXCAR_PATTERN_COUNT_MAX 100
#define BOXCAR_MAX_LAG_MS_MIN 1000
#define BOXCAR_MAX_LAG_MS_MAX BOXCAR_DELAY_MS_MAX

/* A place in the log. */
typedef enum boxcar_start {
    BOXCAR_START_END = 0,       /* what is stored from now on */
    BOXCAR_START_BEGINNING = 1, /* everything that is kept */
    BOXCAR_START_TIME = 2,      /* what was stored at this time or later */
    BOXCAR_START_WORK_ID = 3    /* this message and those behind it; only to rewind */
} boxcar_start;

/* ---- making, changing, removing ---- */

typedef struct boxcar_new_subscription {
    size_t struct_size;
    boxcar_str name; /* 1 to 255 characters without control characters and /; neither "outbox" nor "inbox", the names
                        of the main readers */
    boxcar_box box;  /* whose messages: BOXCAR_OUTBOX or BOXCAR_INBOX */
    const boxcar_str *patterns; /* 1 to 100: topics, or prefixes followed by * */
    size_t pattern_count;
    boxcar_start start;     /* BOXCAR_START_END, _BEGINNING or _TIME */
    boxcar_time start_time; /* for BOXCAR_START_TIME */
    bool only;              /* the main reader does not get messages with these topics any more, from what it
                               has not read yet on. They cannot be members of joins */
    int64_t max_lag_ms;     /* maintenance gives up its oldest unread messages when they are older than this (dead
                               letters: expired); at least 1 second, 0 = never */
    int64_t max_lag_count;  /* the same when there are more of them than this; 0 = never */
} boxcar_new_subscription;

#ifdef __cplusplus
#define BOXCAR_NEW_SUBSCRIPTION_INIT (boxcar_new_subscription{sizeof(boxcar_new_subscription), {0, 0}, BOXCAR_OUTBOX, \
    0, 0, BOXCAR_START_END, BOXCAR_TIME_NONE, false, 0, 0})
#else
#define BOXCAR_NEW_SUBSCRIPTION_INIT ((boxcar_new_subscription){ \
    .struct_size = sizeof(boxcar_new_subscription), .start_time = BOXCAR_TIME_NONE})
#endif

/* Makes a subscription. It never skips what commits late: a message whose transaction began before is not missed.
 * *ret_reader (may be NULL) is its number. BOXCAR_E_CONFLICT: the name is taken. */
BOXCAR_API boxcar_status boxcar_subscription_add(boxcar_store *store, const boxcar_new_subscription *subscription,
                                                 boxcar_box *ret_reader, boxcar_error *err);

/* A pause: claims bring nothing, so that workers of the subscription have nothing to do and drains end. What is leased
 * is settled and renewed as ever. Other readers and enqueue do not notice. Pausing twice is fine.
 * BOXCAR_E_NOT_FOUND: there is no such subscription; so for all calls below. */
BOXCAR_API boxcar_status boxcar_subscription_pause(boxcar_store *store, boxcar_str name, boxcar_error *err);
BOXCAR_API boxcar_status boxcar_subscription_resume(boxcar_store *store, boxcar_str name, boxcar_error *err);

#define BOXCAR_UNCHANGED INT64_C(-1)

/* What shall change; the rest stays. */
typedef struct boxcar_subscription_changes {
    size_t struct_size;
    const boxcar_str *patterns; /* new patterns; they count for what it has not read yet */
    size_t pattern_count;       /* 0 = they stay */
    int64_t max_lag_ms;         /* BOXCAR_UNCHANGED, 0 = off */
    int64_t max_lag_count;
} boxcar_subscription_changes;

#ifdef __cplusplus
#define BOXCAR_SUBSCRIPTION_CHANGES_INIT (boxcar_subscription_changes{sizeof(boxcar_subscription_changes), 0, 0, \
    BOXCAR_UNCHANGED, BOXCAR_UNCHANGED})
#else
#define BOXCAR_SUBSCRIPTION_CHANGES_INIT ((boxcar_subscription_changes){ \
    .struct_size = sizeof(boxcar_subscription_changes), \
    .max_lag_ms = BOXCAR_UNCHANGED, .max_lag_count = BOXCAR_UNCHANGED})
#endif

BOXCAR_API boxcar_status boxcar_subscription_change(boxcar_store *store, boxcar_str name,
                                                    const boxcar_subscription_changes *changes, boxcar_error *err);

/* Where to go back to. */
typedef struct boxcar_place {
    size_t struct_size;
    boxcar_start start;     /* BOXCAR_START_BEGINNING, _TIME or _WORK_ID */
    boxcar_time time;       /* for BOXCAR_START_TIME */
    boxcar_work_id work_id; /* for BOXCAR_START_WORK_ID */
} boxcar_place;

#ifdef __cplusplus
#define BOXCAR_PLACE_INIT (boxcar_place{sizeof(boxcar_place), BOXCAR_START_BEGINNING, BOXCAR_TIME_NONE, {0}})
#else
#define BOXCAR_PLACE_INIT ((boxcar_place){.struct_size = sizeof(boxcar_place), \
    .start = BOXCAR_START_BEGINNING, .time = BOXCAR_TIME_NONE})
#endif

/* Delivers again what is kept from this place on. What the subscription knows of these messages is forgotten: leases
 * (their owners' settlements then change nothing), retries, dead letters, what is done. The rewind itself is recorded.
 * *ret_count (may be NULL) is how many messages are ahead now, as far as the store can tell.
 * BOXCAR_E_CONFLICT: the place lies before what is kept; the error says where that begins. */
BOXCAR_API boxcar_status boxcar_subscription_rewind(boxcar_store *store, boxcar_str name, const boxcar_place *place,
                                                    int64_t *ret_count, boxcar_error *err);

/* Removes a subscription. What it knew is removed in small steps by maintenance. Its messages stay for the other
 * readers. BOXCAR_E_CONFLICT: messages are leased; with `force` these leases end, too. */
BOXCAR_API boxcar_status boxcar_subscription_remove(boxcar_store *store, boxcar_str name, bool force,
                                                    boxcar_error *err);

/* ---- looking ---- */

/* Text is lent by the list. */
typedef struct boxcar_subscription {
    boxcar_str name;
    boxcar_box reader; /* its number */
    boxcar_box box;    /* whose messages it reads */
    const boxcar_str *patterns;
    size_t pattern_count;
    bool only;
    boxcar_time created_at;
    boxcar_str start_at;    /* what was asked: "end", "beginning" or a time */
    boxcar_time paused_at;  /* BOXCAR_TIME_NONE = it runs */
    boxcar_time rewound_at; /* last; BOXCAR_TIME_NONE = never */
    int64_t max_lag_ms;     /* 0 = off */
    int64_t max_lag_count;
    int64_t ready;          /* what it has not begun: claimable now or later; an estimate when there are many */
    int64_t in_progress;
    int64_t failed;         /* dead letters */
    boxcar_time oldest_unread_at; /* when the oldest message that it has not ended was stored; BOXCAR_TIME_NONE =
                                     there is none */
    double lag_seconds;     /* the age of that; 0 = there is none */
    int64_t held_messages;  /* messages that are past their retention, or that no other reader wants, and are kept
                               for this subscription; an estimate when there are many */
    const boxcar_str *destinations; /* of a policy (boxcar/fanout.h): where it forwards to. Most have none */
    size_t destination_count;
    boxcar_str then_topic, else_topic; /* of a policy; absent = none */
} boxcar_subscription;

typedef struct boxcar_subscription_list {
    const boxcar_subscription *const *items;
    size_t count;
} boxcar_subscription_list;

/* The number of a subscription. BOXCAR_E_NOT_FOUND: there is none of that name. */
BOXCAR_API boxcar_status boxcar_subscription_find(boxcar_store *store, boxcar_str name, boxcar_box *ret_reader,
                                                  boxcar_error *err);

/* One subscription, or all of them by name if `name` is absent. BOXCAR_E_NOT_FOUND: there is none of that name. The
 * main readers are not listed. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_subscription_read(boxcar_store *store, boxcar_str name,
                                                  boxcar_subscription_list **ret_list, boxcar_error *err);

/* The history of a message with this reader, as boxcar_attempt_read(), which is about the main reader. */
BOXCAR_API boxcar_status boxcar_subscription_attempt_read(boxcar_store *store, boxcar_box reader,
                                                          boxcar_work_id work_id, boxcar_attempt_list **ret_list,
                                                          boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
