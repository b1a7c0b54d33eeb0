/* boxcar/inbox.h: messages from outside, each handled once.
 *
 * What others deliver to us may come twice: a webhook that is repeated, a queue that redelivers. A message from
 * outside has a key, its source and the id it has there. The inbox remembers every key it has heard of, and
 * there are two ways to use that:
 *
 * - boxcar_enqueue() with BOXCAR_INBOX stores the message, once for each key; it is then claimed, handled and settled
 *   as a message of the outbox is (boxcar/message.h). An ack in the transaction of the handler's effect, on a store
 *   made from a borrowed handle, makes that effect happen exactly once.
 *   It stores nothing if the key is known: also when that message is done, dead, or long gone. A key that was only
 *   seen (boxcar_inbox_already_processed) is stored now. Two callers at once: one stores it, the other waits for the
 *   end of that transaction and then finds a duplicate, or stores it after all. When the connection to a server was
 *   lost and found again in the middle of the call, what it had stored itself may be reported as a duplicate.
 * - boxcar_inbox_accept() says in the caller's own transaction whether a key is new, and marks it as done with
 *   that transaction: for effects that are made at once, without a message.
 *
 * A key is kept for 30 days after it was last mentioned (setting retention_inbox), longer while its message is in
 * the store. Delivering a message again spends no attempt. On a store made from a borrowed handle each call is
 * part of the caller's transaction. */
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

/* The message id that a key stands for, in C, in SQL and on the command line: with it such a message can be found,
 * attached to a join, cancelled. None (all zero) for a key that is empty or too long. */
BOXCAR_API boxcar_message_id boxcar_inbox_message_id(boxcar_inbox_key key);

/* ---- asking ---- */

/* Has the message with this key been processed: acked, or accepted? Leaves a note that it was seen, which is no
 * message and is never claimed. One atomic step, whoever else asks, stores or accepts. content_hash may be absent;
 * *ret_hash_mismatch (may be NULL): the key came with another one before. */
BOXCAR_API boxcar_status boxcar_inbox_already_processed(boxcar_store *store, boxcar_inbox_key key,
                                                        boxcar_str content_hash, bool *ret_processed,
                                                        bool *ret_hash_mismatch, boxcar_error *err);

/* For the caller's own transaction, on a store made from a borrowed handle or in a handler's transaction: is this
 * key new? *ret_is_new true: it is done if the transaction commits; make the effect in the same one. false: it was
 * accepted before, or it is a message of the inbox, which is for whoever claims it. Of those who ask at once the
 * first is told true; the others wait for its commit, and if it rolls back the next one is. Otherwise as
 * boxcar_inbox_already_processed. On a store with a connection of its own the mark is committed at once, before
 * any effect; when the answer is lost there, the error says that the outcome is unknown. */
BOXCAR_API boxcar_status boxcar_inbox_accept(boxcar_store *store, boxcar_inbox_key key, boxcar_str content_hash,
                                             bool *ret_is_new, bool *ret_hash_mismatch, boxcar_error *err);

/* ---- looking ---- */

/* What became of a key: the lifecycle of its message in fewer words. */
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
    int64_t seen_count;   /* how often it was mentioned */
} boxcar_inbox_receipt;

typedef struct boxcar_inbox_receipt_list {
    const boxcar_inbox_receipt *const *items;
    size_t count;
} boxcar_inbox_receipt_list;

/* One key: the list has exactly one entry. Changes nothing. BOXCAR_E_NOT_FOUND. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_inbox_find(boxcar_store *store, boxcar_inbox_key key,
                                           boxcar_inbox_receipt_list **ret_list, boxcar_error *err);

/* ---- reviving ---- */

/* Makes a dead letter of the inbox ready again, its counters at zero. `reason` is required, at least one character,
 * and kept in its history. *ret_work_id (may be NULL) names it. BOXCAR_E_NOT_FOUND: there is no such message;
 * BOXCAR_E_CONFLICT: it is not dead. By key: the ref of boxcar_inbox_message_id(key). */
BOXCAR_API boxcar_status boxcar_inbox_revive(boxcar_store *store, boxcar_message_ref ref, boxcar_str reason,
                                             boxcar_work_id *ret_work_id, boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
