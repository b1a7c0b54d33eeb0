/* Keys of messages of the outbox. */
#ifndef BOXCAR_STORE_SQLITE_MESSAGE_KEY_H
#define BOXCAR_STORE_SQLITE_MESSAGE_KEY_H

#include "store/sqlite/state.h"

/* The message that has this key already: another one, or the very same, stored by a try whose end was not
 * known. */
boxcar_status sqlite_key_find(struct sqlite_store *store, const boxcar_new_message *message,
                              const struct message_key *key, boxcar_enqueued *ret_enqueued, bool *ret_found,
                              boxcar_error *err);
/* The message with this work id has the unique key from now on. */
boxcar_status sqlite_key_take(struct sqlite_store *store, boxcar_message_id key, int64_t work_id,
                              boxcar_error *err);
/* A dead letter is about to be replayed: it takes its unique key back, if it had one. False: a newer message
 * has it, which has not ended. */
boxcar_status sqlite_key_take_back(struct sqlite_store *store, int64_t work_id, bool *ret_taken,
                                   boxcar_error *err);

#endif
