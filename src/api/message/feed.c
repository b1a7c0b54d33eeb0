/* A feed: chunks are stored as they come, in one transaction.
 *
 * If the store fails on the way, the transaction is rolled back and all messages are stored by one call after
 * the end of the feed. That call knows how to try again; a transaction that spans calls cannot. If the feed
 * is slow, the transaction is rolled back, too, and begun again after the end. So every chunk is kept until
 * then, with the message ids that it got. */
#include "boxcar/feed.h"

#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "base/clock.h"
#include "base/memory.h"
#include "request/prepare.h"
#include "request/request.h"

#define PATIENCE_MS 200 /* for which a transaction waits for chunks in any case */

/* A chunk in the form that stores want. */
struct chunk {
    struct chunk *next;
    struct request request;    /* with its messages */
    boxcar_enqueued *enqueued; /* NULL = no answers are wanted */
};

struct feed {
    boxcar_store *store;
    boxcar_box box;
    boxcar_feed_fn next;
    void *context;
    struct arena arena;
    struct chunk *first, *last;
    struct chunk *unsent;         /* the first that is not in the transaction */
    size_t count;                 /* of messages */
    bool sends_at_once;           /* chunks are stored as they come */
    bool is_open;                 /* a transaction */
    bool was_slow;                /* so that one was rolled back */
    int64_t waited_ms, stored_ms; /* while it was open */
};

static void roll_back(struct feed *feed) {
    if (feed->is_open)
        (void)feed->store->ops->transaction(feed->store, TRANSACTION_ROLLBACK, NULL);
    feed->is_open = false;
}

/* From a transaction that cannot go on to what is done at the end. */
static void fall_back(struct feed *feed, const char *why) {
    store_log(feed->store, BOXCAR_LOG_INFO, "feed", NULL, 0,
              "all messages are stored after the end of the feed: %s", why);
    roll_back(feed);
    feed->sends_at_once = false;
    feed->unsent = feed->first;
}

/* ---- taking chunks ---- */

static size_t count_of(const struct feed *feed, const struct chunk *chunk) {
    return chunk->request.base.messages[feed->box].count;
}

static boxcar_status add_chunk(struct feed *feed, const boxcar_chunk *given, boxcar_error *err) {
    boxcar_new_message_list messages = {given->messages, given->count};
    bool logs = store_logs(feed->store, feed->box == BOXCAR_INBOX ? BOXCAR_LOG_WARN : BOXCAR_LOG_INFO);

    TRY(limits_read_new_messages(&feed->arena, feed->box, &messages, feed->count, err));
    struct chunk *chunk = arena_alloc(&feed->arena, sizeof(*chunk));
    if (!chunk)
        return error_no_memory(err);
    TRY(prepare_messages(&feed->arena, &chunk->request, feed->box, messages, err));
    chunk->enqueued = given->enqueued; /* if the caller wants answers; else the log may */
    if (!chunk->enqueued && logs)
        chunk->enqueued = arena_alloc_array(&feed->arena, given->count, sizeof(*chunk->enqueued));
    if (!chunk->enqueued && logs)
        return error_no_memory(err);
    *(feed->last ? &feed->last->next : &feed->first) = chunk;
    feed->last = chunk;
    feed->unsent = feed->unsent ? feed->unsent : chunk;
    feed->count += given->count;
    return BOXCAR_OK;
}

/* A transaction is no more than twice as long as storing takes, but for PATIENCE_MS. */
static int64_t patience_ms(const struct feed *feed) {
    int64_t left = PATIENCE_MS + feed->stored_ms - feed->waited_ms;

    if (!feed->is_open)
        return -1;
    return left > 0 ? left : 0;
}

static boxcar_status take_chunk(struct feed *feed, bool *ret_is_last, boxcar_error *err) {
    int64_t began_ms = clock_ms();
    boxcar_chunk given = {.count = 0};

    TRY(feed->next(feed->context, patience_ms(feed), &given, err));
    feed->waited_ms += feed->is_open ? clock_ms() - began_ms : 0;
    if (given.count > 0)
        TRY(add_chunk(feed, &given, err));
    else if (!given.is_last && feed->is_open) {
        fall_back(feed, "it was slow");
        feed->was_slow = true;
    }
    *ret_is_last = given.is_last;
    return BOXCAR_OK;
}

/* ---- storing ---- */

/* Stores chunks from `from` on by one request. */
static boxcar_status store_as(struct feed *feed, struct chunk *from, struct request *request,
                              boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    size_t done = 0;

    request->logs_messages_later = true;
    TRY(request_send(feed->store, request, &result, err));
    for (struct chunk *chunk = from; chunk && done < request->base.messages[feed->box].count;
         chunk = chunk->next) {
        if (chunk->enqueued)
            memcpy(chunk->enqueued, result.parts[feed->box].enqueued + done,
                   count_of(feed, chunk) * sizeof(*chunk->enqueued));
        done += count_of(feed, chunk);
    }
    return BOXCAR_OK;
}

/* All chunks from `from` on as one. */
static boxcar_status unite(struct feed *feed, const struct chunk *from, struct request *ret_request,
                           boxcar_error *err) {
    struct request_own own = {.fresh_ids = true};
    size_t count = 0, done = 0;

    for (const struct chunk *chunk = from; chunk; chunk = chunk->next)
        count += count_of(feed, chunk);
    boxcar_new_message *messages = arena_alloc_array(&feed->arena, count, sizeof(*messages));
    struct message_key *keys = arena_alloc_array(&feed->arena, count, sizeof(*keys));
    if (!messages || !keys)
        return error_no_memory(err);
    for (const struct chunk *chunk = from; chunk; chunk = chunk->next) {
        struct new_messages new = request_messages(&chunk->request, feed->box);

        memcpy(messages + done, new.items, new.count * sizeof(*messages));
        if (new.keys) {
            memcpy(keys + done, new.keys, new.count * sizeof(*keys));
            own.keys = keys;
        }
        own.fresh_ids = own.fresh_ids && new.fresh_ids;
        done += new.count;
    }
    *ret_request = (struct request){.instances = NULL};
    ret_request->base.messages[feed->box] = (boxcar_new_message_list){messages, count};
    ret_request->own[feed->box] = own;
    return BOXCAR_OK;
}

/* Everything that is not in the transaction, by one call: without a transaction it is one by itself. */
static boxcar_status store_rest(struct feed *feed, bool sent_before, boxcar_error *err) {
    struct chunk *from = feed->unsent;

    if (!from)
        return BOXCAR_OK;
    struct request request = from->request;
    if (from->next)
        TRY(unite(feed, from, &request, err));
    request.base.sent_before = sent_before;
    return store_as(feed, from, &request, err);
}

/* Whether storing these takes no lock that another transaction may want: such locks are left to one call at
 * the end, which knows their order. */
static bool is_free(struct new_messages new) {
    for (size_t i = 0; new.fresh_ids &&i < new.count; i++)
        if (!boxcar_uuid_is_none(new.items[i].join_id.uuid))
            return false;
    return new.fresh_ids;
}

/* A chunk that is not free is stored at the end, with all chunks after it, so that the order is kept. */
static void send_chunk(struct feed *feed, struct chunk *chunk) {
    int64_t began_ms = clock_ms();
    boxcar_error why = BOXCAR_ERROR_INIT;

    feed->sends_at_once = is_free(request_messages(&chunk->request, feed->box));
    if (feed->sends_at_once && !feed->is_open) /* a borrowed store cannot, and gets everything at the end */
        feed->is_open = feed->sends_at_once =
            feed->store->ops->transaction(feed->store, TRANSACTION_BEGIN, NULL) == BOXCAR_OK;
    if (!feed->sends_at_once)
        return;
    if (store_as(feed, chunk, &chunk->request, &why) != BOXCAR_OK) {
        fall_back(feed, why.message);
        return;
    }
    feed->unsent = chunk->next;
    feed->stored_ms += clock_ms() - began_ms;
}

/* A feed of one chunk needs no transaction around its only call. */
static boxcar_status take_all(struct feed *feed, boxcar_error *err) {
    bool is_last = false;

    while (!is_last) {
        TRY(take_chunk(feed, &is_last, err));
        if (feed->sends_at_once && feed->unsent && (feed->is_open || !is_last))
            send_chunk(feed, feed->unsent);
    }
    return BOXCAR_OK;
}

/* If the answer to the commit was lost, the outcome is unknown. Then the ids tell whether the messages are
 * there. */
static bool commit(struct feed *feed, bool *ret_unknown) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = store_rest(feed, false, &why);

    if (status == BOXCAR_OK) {
        status = feed->store->ops->transaction(feed->store, TRANSACTION_COMMIT, &why);
        *ret_unknown = status != BOXCAR_OK && why.outcome_unknown;
    }
    if (status != BOXCAR_OK)
        fall_back(feed, why.message);
    feed->is_open = false;
    return status == BOXCAR_OK;
}

static boxcar_status run(struct feed *feed, boxcar_error *err) {
    bool unknown = false;

    TRY(take_all(feed, err));
    if (feed->was_slow) { /* nothing has to be waited for any more */
        feed->sends_at_once = true;
        while (feed->sends_at_once && feed->unsent)
            send_chunk(feed, feed->unsent);
    }
    if (!feed->is_open || !commit(feed, &unknown))
        TRY(store_rest(feed, unknown, err));
    for (const struct chunk *chunk = feed->first; chunk && chunk->enqueued; chunk = chunk->next)
        request_log_messages(feed->store, feed->box, chunk->request.base.messages[feed->box],
                             chunk->enqueued);
    return BOXCAR_OK;
}

boxcar_status boxcar_enqueue_feed(boxcar_store *store, boxcar_box box, boxcar_feed_fn next, void *context,
                                  boxcar_error *err) {
    struct feed feed = {.store = store,
                        .box = box,
                        .next = next,
                        .context = context,
                        .arena = ARENA_INIT,
                        .sends_at_once = true};

    TRY(check_store_and_box(store, box, err));
    if (!next)
        return error_invalid(err, "next", "next is NULL: it is required");
    boxcar_status status = run(&feed, err);
    if (status != BOXCAR_OK)
        roll_back(&feed);
    arena_release(&feed.arena);
    return status;
}
