/* Keys of the inbox: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_INBOX_INBOX_H
#define BOXCAR_STORE_POSTGRES_INBOX_INBOX_H

#include "store/postgres/state.h"

boxcar_status pg_inbox_ask(struct boxcar_store *store, const struct inbox_origin *origin,
                           enum inbox_question question, bool *ret_answer, bool *ret_hash_mismatch,
                           boxcar_error *err);
boxcar_status pg_inbox_find(struct boxcar_store *store, boxcar_inbox_key key,
                            struct inbox_receipt_rows **ret_list, boxcar_error *err);

#endif
