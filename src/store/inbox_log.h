/* What is logged about keys of the inbox and their messages, whichever way they come in. */
#ifndef BOXCAR_STORE_INBOX_LOG_H
#define BOXCAR_STORE_INBOX_LOG_H

#include "store.h"

/* A line about one key. */
void inbox_log_key(const struct boxcar_store *store, boxcar_log_level level, const char *event,
                   const struct inbox_origin *origin, const char *text);
/* WARN, "inbox_hash_mismatch", if there is one (BX-080). */
void inbox_log_hash(const struct boxcar_store *store, const struct inbox_origin *origin, bool mismatch);
/* INFO, "inbox_enqueue": each of the messages; and its hash. */
void inbox_log_enqueued(const struct boxcar_store *store, boxcar_new_message_list messages,
                        const boxcar_enqueued *enqueued);

#endif
