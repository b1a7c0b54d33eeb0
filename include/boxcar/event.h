/* boxcar/event.h: events: facts that are kept for ever, in streams, and followed in one order.
 *
 * An event belongs to a stream and has a version there: 1, 2, 3, ... without gaps. An append can give the
 * version that the stream must have, so that of two writers that decided on the same state only one wins.
 * Every event also gets a position among the events of all streams. A follower remembers the last position it
 * has seen and asks for the events after it. An event that commits late gets a later position. So a follower
 * misses nothing, gets version 1 before version 2, and never waits for open transactions.
 *
 * Events are never removed. On a store made from a borrowed handle, and in a handler's transaction, each call
 * is part of that transaction. */
#ifndef BOXCAR_EVENT_H
#define BOXCAR_EVENT_H

#include "error.h"
#include "message.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOXCAR_EVENT_TYPE_MAX 255   /* characters; a stream has at most BOXCAR_STREAM_MAX */
#define BOXCAR_EVENT_COUNT_MAX 10000 /* events in one append, and in one page */
#define BOXCAR_EVENT_PAGE_BYTES (INT64_C(64) << 20) /* payloads and headers in one page; an event that has more comes alone */

/* ---- appending ---- */

/* What append takes. Start from BOXCAR_NEW_EVENT_INIT and fill in type and payload; everything else is
 * optional. All text is UTF-8 without NUL bytes and is borrowed for the call. */
typedef struct boxcar_new_event {
    size_t struct_size;
    boxcar_str type;           /* 1 to 255 characters, case-sensitive */
    boxcar_str payload;        /* may be empty, not absent; opaque to Boxcar */
    boxcar_str correlation_id; /* at most 255 characters; empty = absent */
    boxcar_str headers;        /* a JSON object whose values are strings */
    boxcar_str topic;          /* absent or empty: only an event. Else a message with this topic is enqueued,
                                  too. It has the event's payload, stream, correlation and causation id and
                                  headers, and the event's id as its message id */
    boxcar_event_id event_id;  /* none = a new one. Give your own id to be able to repeat an append */
    boxcar_str causation_id;   /* of the message or call that caused it; at most 255 characters; empty = absent */
} boxcar_new_event;

#ifdef __cplusplus
#define BOXCAR_NEW_EVENT_INIT (boxcar_new_event{sizeof(boxcar_new_event), {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {{{0}}}, \
    {0, 0}})
#else
#define BOXCAR_NEW_EVENT_INIT ((boxcar_new_event){.struct_size = sizeof(boxcar_new_event)})
#endif

typedef struct boxcar_appended {
    size_t struct_size;
    boxcar_event_id event_id;
    int64_t version;
    bool duplicate; /* the stream has this event already, at this version; it was not appended again */
} boxcar_appended;

#ifdef __cplusplus
#define BOXCAR_APPENDED_INIT (boxcar_appended{sizeof(boxcar_appended), {{{0}}}, 0, false})
#else
#define BOXCAR_APPENDED_INIT ((boxcar_appended){.struct_size = sizeof(boxcar_appended)})
#endif

#define BOXCAR_ANY_VERSION INT64_C(-1)

/* Appends 1 to 10,000 events to a stream (1 to 255 characters), all of them or none. expected_version is the
 * version the stream must have, 0 = it must have no events, BOXCAR_ANY_VERSION = any. Events whose id the
 * stream has already are reported as duplicates. If all are duplicates, the call succeeds with any
 * expected_version: it repeats an append whose answer was lost. An id given twice in one call is appended
 * once. BOXCAR_E_CONFLICT: the stream has another version than expected (err->argument is "expected_version",
 * the message says both); or an id belongs to another stream ("event_id"); or the id of an event with a topic
 * belongs to a message that was enqueued without an event ("event_id"). Nothing is stored then.
 * ret_appended has room for `count` entries, in the order of `events`, and struct_size set in the first; it may be
 * NULL. */
BOXCAR_API boxcar_status boxcar_event_append(boxcar_store *store, boxcar_str stream, int64_t expected_version,
                                             const boxcar_new_event *events, size_t count,
                                             boxcar_appended *ret_appended, boxcar_error *err);

/* ---- reading ---- */

/* An event in the store. Text is lent by the list it came from. */
typedef struct boxcar_event {
    boxcar_event_id event_id;
    boxcar_str stream;
    int64_t version;
    int64_t position; /* 0: it has none yet; never in boxcar_event_read_all() */
    boxcar_str type;
    boxcar_str payload;
    boxcar_str headers; /* JSON object, or absent */
    boxcar_str correlation_id;
    boxcar_time created_at; /* by the database's clock */
    boxcar_str causation_id;
} boxcar_event;

typedef struct boxcar_event_list {
    const boxcar_event *const *items;
    size_t count;
    int64_t position; /* of a list from boxcar_event_read_all(): how far the call has read; `after` of the
                         next call */
} boxcar_event_list;

/* The events of one stream, in order, from this version on (0 or 1 = the first); at most `limit`, 1 to
 * 10,000, and at most BOXCAR_EVENT_PAGE_BYTES of them. So a list may be shorter than `limit` although there
 * are more events. Continue after the last version; only an empty list is the end. A stream that does not
 * exist has no events. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_event_read(boxcar_store *store, boxcar_str stream, int64_t from_version,
                                           int limit, boxcar_event_list **ret_list, boxcar_error *err);

typedef struct boxcar_event_filter {
    size_t struct_size;
    int64_t after;           /* the last position that was seen; 0 = from the beginning */
    int limit;               /* 1 to 10,000: the most this call returns */
    const boxcar_str *types; /* only these; each exact, or ending in * for a prefix */
    size_t type_count;       /* 0 = every type */
    boxcar_str stream;       /* only this one; exact, or ending in * for a prefix; absent = every stream */
} boxcar_event_filter;

#ifdef __cplusplus
#define BOXCAR_EVENT_FILTER_INIT (boxcar_event_filter{sizeof(boxcar_event_filter), 0, 1000, 0, 0, {0, 0}})
#else
#define BOXCAR_EVENT_FILTER_INIT ((boxcar_event_filter){.struct_size = sizeof(boxcar_event_filter), .limit = 1000})
#endif

/* Events of all streams after a position, in the order of positions. One call reads a bounded number of
 * events and returns at most BOXCAR_EVENT_PAGE_BYTES of them. So a list can be short or empty although later
 * events match. Continue at the list's `position`; there are no more events only if it is still `after`. The
 * caller owns *ret_list.
 *
 * In a transaction of your own (a borrowed handle's, a handler's): if it is rolled back, forget the positions
 * you read in it; they may be given to other events. Until it ends, other followers may have to wait for new
 * positions. So keep the transaction short, and store your own position in it. */
BOXCAR_API boxcar_status boxcar_event_read_all(boxcar_store *store, const boxcar_event_filter *filter,
                                               boxcar_event_list **ret_list, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
