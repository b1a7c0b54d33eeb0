/* Log records about messages of the outbox that were enqueued, in any way. */
#ifndef BOXCAR_STORE_MESSAGE_LOG_H
#define BOXCAR_STORE_MESSAGE_LOG_H

#include "store.h"

/* INFO, "enqueue": each of the messages (OBX-102), with the join it was attached to. */
void message_log_enqueued(const struct boxcar_store *store, boxcar_new_message_list messages,
                          const boxcar_enqueued *enqueued);
/* WARN, "damaged": how many messages were buried because their rows are damaged; the first, and its field
 * that is. */
void message_log_damaged(const struct boxcar_store *store, size_t count, boxcar_work_id first,
                         const char *field);

#endif
