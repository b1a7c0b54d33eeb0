/* The inbox in the SQLite store. One writer at a time makes it simple: read the key, then write it. */
#ifndef BOXCAR_STORE_SQLITE_INBOX_INBOX_H
#define BOXCAR_STORE_SQLITE_INBOX_INBOX_H

#include "store/sqlite/state.h"

/* Where a message of the inbox came from. */
boxcar_status sqlite_inbox_read_key(struct sqlite_store *store, struct arena *arena, boxcar_message *message,
                                    boxcar_error *err);
/* Removes at most `limit` keys past their retention; in a transaction of the caller. */
boxcar_status sqlite_inbox_sweep(struct sqlite_store *store, int limit, int64_t *ret_count,
                                 boxcar_error *err);

/* The request's messages of the inbox; in a transaction of the caller. */
boxcar_status sqlite_inbox_enqueue(struct sqlite_store *store, const struct request *request,
                                   struct result *result, boxcar_error *err);

/* ---- the seam ---- */
boxcar_status sqlite_inbox_ask(struct boxcar_store *store, const struct inbox_origin *origin,
                               enum inbox_question question, bool *ret_answer, bool *ret_hash_mismatch,
                               boxcar_error *err);
boxcar_status sqlite_inbox_find(struct boxcar_store *store, boxcar_inbox_key key,
                                struct inbox_receipt_rows **ret_list, boxcar_error *err);

#endif
