/* boxcar/inbox.h: messages from outside, each handled once.
 *
 * Other programs may deliver a message twice: a webhook is repeated, a queue redelivers. A message from
 * outside has a key: its source and its id at that source. The inbox remembers every key that it has seen.
 * There are two ways to use it:
 *
 * - boxcar_enqueue() with BOXCAR_INBOX stores the message, once for each key. The message is then claimed,
 *   handled and settled like a message of the outbox (boxcar/message.h). To make an effect happen exactly
 *   once, ack the message in the transaction of the effect, on a store made from a borrowed handle. If the
 *   key is known, nothing is stored, even if its message is done, dead or purged. If the key was only seen
 *   (boxcar_inbox_already_processed), the message is stored now. If two callers store one key at the same
 *   time, one waits until the transaction of the other ends. It then finds a duplicate, or stores the message
 *   itself if the other rolled back. If a call loses its connection to the server and repeats its request, it
 *   may report a message as a duplicate that it has stored itself.
 * - boxcar_inbox_accept() says in the caller's own transaction whether a key is new, and marks it as done
 *   with that transaction. It is for effects that are made at once, without a message.
 *
 * A key is kept for 30 days after it was last used (setting retention_inbox), longer while its message is in
 * the store. Delivering a message again spends no attempt. On a store made from a borrowed handle each call
 * is part of the caller's transaction. */
#ifndef BOXCAR_INBOX_H
#define BOXCAR_INBOX_H

#include "error.h"
#include "inspect.h"
#include "message.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names a message from outside. Both parts are 1 to 255 characters of UTF-8 without NUL bytes, compared byte by
 * byte. Two sources may use the same id. */
typedef struct boxcar_inbox_key {
    boxcar_str source;
    boxcar_str external_id;
} boxcar_inbox_key;

/* The message id that belongs to a key, the same in C, in SQL and on the command line. Use it to find the
 * message, attach it to a join, or cancel it. None (all zero) for a key that is empty or too long. */
BOXCAR_API boxcar_message_id boxcar_inbox_message_id(boxcar_inbox_key key);

/* ---- asking ---- */

/* Has the message with this key been processed: acked, or accepted? The call records that the key was seen.
 * This record is not a message and is never claimed. The call is one atomic step: other callers may ask
 * about, store or accept the key at the same time. content_hash may be absent; *ret_hash_mismatch (may be
 * NULL): the key came with another hash before. */
BOXCAR_API boxcar_status boxcar_inbox_already_processed(boxcar_store *store, boxcar_inbox_key key,
                                                        boxcar_str content_hash, bool *ret_processed,
                                                        bool *ret_hash_mismatch, boxcar_error *err);

/* For the caller's own transaction, on a store made from a borrowed handle or in a handler's transaction: is
 * this key new? *ret_is_new true: the key is done if the transaction commits; make the effect in the same
 * transaction. false: the key was accepted before, or the inbox has a message with it, which a claimer will
 * handle. If several callers ask at the same time, exactly one gets true. The others wait until its
 * transaction ends; if it rolls back, one of them gets true. Otherwise as boxcar_inbox_already_processed. On
 * a store with a connection of its own the key is marked at once, before any effect. If the answer is lost
 * there, the error says that the outcome is unknown. */
BOXCAR_API boxcar_status boxcar_inbox_accept(boxcar_store *store, boxcar_inbox_key key, boxcar_str content_hash,
                                             bool *ret_is_new, bool *ret_hash_mismatch, boxcar_error *err);

/* ---- looking ---- */

/* The state of a key: the status of its message, in fewer words. */
typedef enum boxcar_inbox_state {
    BOXCAR_INBOX_SEEN = 0,       /* only seen, or its message is ready */
    BOXCAR_INBOX_PROCESSING = 1, /* in progress */
    BOXCAR_INBOX_DONE = 2,
    BOXCAR_INBOX_DEAD = 3        /* failed */
} boxcar_inbox_state;

BOXCAR_API const char *boxcar_inbox_state_name(boxcar_inbox_state state); /* "seen", ...; "?" out of range */
BOXCAR_API bool boxcar_inbox_state_parse(boxcar_str name, boxcar_inbox_state *ret_state);
BOXCAR_API boxcar_inbox_state boxcar_inbox_state_of(boxcar_message_status status);

/* Everything the inbox knows about a key. Text is lent by the list it came from. */
typedef struct boxcar_inbox_receipt {
    boxcar_str source;
    boxcar_str external_id;
    boxcar_message_id message_id;
    boxcar_work_id work_id; /* 0: there is no message */
    boxcar_inbox_state state;
    boxcar_str content_hash;
    boxcar_time first_seen_at;
    boxcar_time last_seen_at; /* PostgreSQL: to the second */
    int64_t seen_count;   /* how often it was stored, asked about or accepted */
    boxcar_time ended_at; /* when it was done or died */
} boxcar_inbox_receipt;

typedef struct boxcar_inbox_receipt_list {
    const boxcar_inbox_receipt *const *items;
    size_t count;
} boxcar_inbox_receipt_list;

/* One key: the list has exactly one entry. Changes nothing. BOXCAR_E_NOT_FOUND: the inbox does not know the key.
 * The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_inbox_find(boxcar_store *store, boxcar_inbox_key key,
                                           boxcar_inbox_receipt_list **ret_list, boxcar_error *err);

/* ---- reviving ---- */

/* Makes a dead letter of the inbox ready again and sets its counters to zero. `reason` is required, at least
 * one character, and kept in the history of the message. *ret_work_id (may be NULL) is its work id. To name
 * it by its key, use boxcar_inbox_message_id(key). BOXCAR_E_NOT_FOUND: there is no such message;
 * BOXCAR_E_CONFLICT: it is not dead. */
BOXCAR_API boxcar_status boxcar_inbox_revive(boxcar_store *store, boxcar_message_ref ref, boxcar_str reason,
                                             boxcar_work_id *ret_work_id, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
