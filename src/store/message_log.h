/* What is logged about messages of the outbox that were enqueued, whoever enqueues them. */
#ifndef BOXCAR_STORE_MESSAGE_LOG_H
#define BOXCAR_STORE_MESSAGE_LOG_H

#include "store.h"

/* INFO, "enqueue": each message of the part (OBX-102), with the join it was attached to. */
void message_log_enqueued(const struct boxcar_store *store, const struct batch_part *part,
                          const struct part_result *result);

#endif
