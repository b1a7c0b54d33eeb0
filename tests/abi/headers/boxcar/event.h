/* boxcar/event.h: events: facts that are kept for ever, in streams, and followed in one order.
 *
 * An event belongs to a stream and has a version there: 1, 2, 3, ... without gaps. Appending can name the
 * version that the stream must have, so that two writers who decided on the same state do not both win.
 * Every event also gets a position among the events of all streams. A follower remembers the last
 * position it has seen and asks for what is behind it: an event that commits late gets a later position, so
 * nothing is missed, version 2 never comes before version 1, and nobody waits for open transactions.
 *
 * Nothing removes events. On a store made from a borrowed handle, and in a handler's transaction, each call
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
    boxcar_str topic;          /* absent or empty: only an event. Else a message as well: this topic, the
                                  event's payload, stream, correlation and causation id and headers, its id as
                                  message id */
    boxcar_event_id event_id;  /* none = a new one. Give your own to be able to repeat an append */
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
} boxcar_appended;

#ifdef __cplusplus
#define BOXCAR_APPENDED_INIT (boxcar_appended{sizeof(boxcar_appended), {{{0}}}, 0, false})
#else
#define BOXCAR_APPENDED_INIT ((boxcar_appended){.struct_size = sizeof(boxcar_appended)})
#endif

#define BOXCAR_ANY_VERSION INT64_C(-1)

/* Appends 1 to 10,000 events to a stream (1 to 255 characters), all of them or none. expected_version is
 * the version the stream must have, 0 = it must have no events, BOXCAR_ANY_VERSION = whatever it has. Events
 * whose id the stream has already are told as duplicates; if all are, the call succeeds whatever was
 * expected: it repeats one whose answer was lost. An id given twice in one call is appended once.
 * BOXCAR_E_CONFLICT: the stream has another version than expected (err->argument is "expected_version", the
 * message says both), or an id belongs to another stream, or, of an event with a topic, to a message that was
 * enqueued by itself ("event_id"); nothing is stored then.
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
} boxcar_event;

typedef struct boxcar_event_list {
    const boxcar_event *const *items;
    size_t count;
    int64_t position; /* of a list from boxcar_event_read_all(): how far it has looked; `after` of the next call */
} boxcar_event_list;

/* The events of one stream, in order, from this version on (0 or 1 = the first); at most `limit`, 1 to
 * 10,000, and at most BOXCAR_EVENT_PAGE_BYTES of them. So a list may be shorter than `limit` although more events
 * come: go on behind the last version, and only an empty list is the end. A stream that does not exist has none. The
 * caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_event_read(boxcar_store *store, boxcar_str stream, int64_t from_version,
                                           int limit, boxcar_event_list **ret_list, boxcar_error *err);

typedef struct boxcar_event_filter {
    size_t struct_size;
    int64_t after;           /* the last position that was seen; 0 = from the beginning */
    int limit;               /* 1 to 10,000: the most this call returns */
    const boxcar_str *types; /* only these; each exact, or ending in * for a prefix */
    size_t type_count;       /* 0 = every type */
} boxcar_event_filter;

#ifdef __cplusplus
#define BOXCAR_EVENT_FILTER_INIT (boxcar_event_filter{sizeof(boxcar_event_filter), 0, 1000, 0, 0, {0, 0}})
#else
#define BOXCAR_EVENT_FILTER_INIT ((boxcar_event_filter){.struct_size = sizeof(boxcar_event_filter), .limit = 1000})
#endif

/* Events of all streams behind a position, in the order of positions. One call looks through a bounded number
 * of events and returns at most BOXCAR_EVENT_PAGE_BYTES of them, so a list can be short or empty although some that match come later: go on at
 * the list's `position`, and only when that is still `after` there is no more. The caller owns
 * *ret_list.
 *
 * In a transaction of your own (a borrowed handle's, a handler's): if it is rolled back, forget the positions
 * you read in it, they may be given to other events; and until it ends, others may have to wait for new
 * positions. So keep it short, and keep your own position in it. */
BOXCAR_API boxcar_status boxcar_event_read_all(boxcar_store *store, const boxcar_event_filter *filter,
                                               boxcar_event_list **ret_list, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
