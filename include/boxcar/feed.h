/* boxcar/feed.h: messages that come chunk by chunk, stored in one transaction.
 *
 * A feed is for messages that are not in an array yet: a file that is read, the rows of a query. The store
 * takes one chunk while the caller prepares the next one, for instance on another thread. Otherwise a feed is
 * like boxcar_enqueue_many(): all or none, in the given order. */
#ifndef BOXCAR_FEED_H
#define BOXCAR_FEED_H

#include "error.h"
#include "message.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* About 1,000 messages or 1 MiB are a good size. */
typedef struct boxcar_chunk {
    const boxcar_new_message *messages; /* messages and texts are lent until boxcar_enqueue_feed() returns */
    size_t count;                       /* 0 = none came in time, or is_last */
    boxcar_enqueued *enqueued;          /* room for `count` answers, or NULL. The answers are valid once
                                           boxcar_enqueue_feed() has returned BOXCAR_OK */
    bool is_last;                       /* no chunk follows */
} boxcar_chunk;

/* Fills in the next chunk; *ret_chunk is all zero before. Waits for the chunk, but no longer than wait_ms (-1
 * = as long as it takes). Any status but BOXCAR_OK ends boxcar_enqueue_feed(): nothing is stored, and its
 * caller gets that status and error. Runs on the caller's thread. */
typedef boxcar_status (*boxcar_feed_fn)(void *context, int64_t wait_ms, boxcar_chunk *ret_chunk, boxcar_error *err);

/* Stores all chunks in one transaction: all or none. Argument errors name the message by its index in the whole feed
 * ("messages[3].topic").
 *
 * A slow feed does not delay other programs: the time that the transaction waits for chunks is at most the
 * time that it spends on storing, plus 200 ms. After that it is rolled back, and everything is stored once
 * the feed has ended. The same happens when the connection is lost. So the messages are kept in memory until
 * the end. Some messages lock something that other programs may want: a message id or a key of the caller's,
 * or a join; in the inbox every message does. The first such message and all after it are stored when the
 * feed has ended.
 *
 * On a store made from a borrowed handle and in a handler's transaction everything is stored after the end,
 * as one call of boxcar_enqueue_many(). `next` must not use `store`. */
BOXCAR_API boxcar_status boxcar_enqueue_feed(boxcar_store *store, boxcar_box box, boxcar_feed_fn next,
                                             void *context, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
