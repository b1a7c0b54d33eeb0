/* What is logged about messages of the outbox that were enqueued, whoever enqueues them. */
#ifndef BOXCAR_STORE_MESSAGE_LOG_H
#define BOXCAR_STORE_MESSAGE_LOG_H

#include "store.h"

/* INFO, "enqueue": each of the messages (OBX-102), with the join it was attached to. */
void message_log_enqueued(const struct boxcar_store *store, boxcar_new_message_list messages,
                          const boxcar_enqueued *enqueued);

#endif
